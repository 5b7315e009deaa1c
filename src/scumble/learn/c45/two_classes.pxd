"""Splits for two classes where rows are counted."""

from scumble.learn.c45.grower cimport Grower

cdef int start_two(Grower* g) except -1 nogil
cdef int start_items(Grower* g) except -1 nogil
cdef void judge_two(Grower* g) noexcept nogil
cdef void count_branches_two(Grower* g) noexcept nogil
cdef void mark_items(Grower* g) noexcept nogil
cdef void swap_rows(Grower* g) noexcept nogil
cdef void queue_counts_two(Grower* g, Py_ssize_t depth) noexcept nogil
