"""Splits for any classes, weights and missing values."""

from scumble.learn.c45.grower cimport Grower

cdef int start_weighted(Grower* g) except -1 nogil
cdef void judge_weighted(Grower* g) noexcept nogil
cdef int count_branches_weighted(Grower* g) except -1 nogil
