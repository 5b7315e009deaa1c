"""The rows and entries of nodes: copied for the root, and divided among the branches."""

from scumble.learn.trees.c45.grower cimport Grower, StackRecord

cdef int copy_training_entries(Grower* g, StackRecord* root) except -1 nogil
cdef void set_branches_by_entries(Grower* g) noexcept nogil
cdef void partition_rows(Grower* g) noexcept nogil
cdef void partition_entries(Grower* g, Py_ssize_t depth) noexcept nogil
cdef int copy_branches(Grower* g, Py_ssize_t depth) except -1 nogil
