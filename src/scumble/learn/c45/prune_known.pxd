"""The rows below a node of which none lacks a value, while its subtree is pruned."""

from scumble.learn.c45.nodes cimport Node
from scumble.learn.c45.pruner cimport Pruner

cdef void start_subtree(Pruner* p, Py_ssize_t top) noexcept nogil
cdef double errors_when_raised(
    Pruner* p, const Node* node, Py_ssize_t largest, double enough
) noexcept nogil
cdef void join_lists(Pruner* p, Py_ssize_t node) noexcept nogil
cdef void move_others(Pruner* p, Py_ssize_t i, Py_ssize_t largest) noexcept nogil
