"""Splits for many classes where each row counts once."""

from scumble.learn.c45.grower cimport Grower

cdef int start_many(Grower* g) except -1 nogil
cdef void judge_many(Grower* g) noexcept nogil
