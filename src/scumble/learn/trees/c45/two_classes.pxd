"""Splits for two classes where rows are counted."""

from scumble.learn.trees.c45.grower cimport Grower

cdef int start_two_classes(Grower* g) except -1 nogil
cdef int start_items(Grower* g) except -1 nogil
cdef void score_two_class_columns(Grower* g) noexcept nogil
cdef void count_two_class_branches(Grower* g) noexcept nogil
cdef void set_branches_by_items(Grower* g) noexcept nogil
cdef void swap_rows(Grower* g) noexcept nogil
cdef void queue_two_class_counts(Grower* g, Py_ssize_t depth) noexcept nogil
