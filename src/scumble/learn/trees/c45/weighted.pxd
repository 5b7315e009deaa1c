"""Splits for any classes, weights and missing values."""

from scumble.learn.trees.c45.grower cimport Grower

cdef int start_weighted(Grower* g) except -1 nogil
cdef void score_weighted_columns(Grower* g) noexcept nogil
cdef int count_weighted_branches(Grower* g) except -1 nogil
