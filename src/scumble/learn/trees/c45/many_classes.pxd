"""Splits for many classes where each row counts once."""

from scumble.learn.trees.c45.grower cimport Grower

cdef int start_many_classes(Grower* g) except -1 nogil
cdef void score_many_class_columns(Grower* g) noexcept nogil
