"""The rows and entries of nodes: copied for the root, and sent down the branches."""

from scumble.learn.c45.grower cimport Grower, Waiting

cdef int fill_lists(Grower* g, Waiting* root) except -1 nogil
cdef void mark_entries(Grower* g) noexcept nogil
cdef void part_rows(Grower* g) noexcept nogil
cdef void part_lists(Grower* g, Py_ssize_t depth) noexcept nogil
cdef int copy_branches(Grower* g, Py_ssize_t depth) except -1 nogil
