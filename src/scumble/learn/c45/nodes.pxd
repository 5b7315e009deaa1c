"""The nodes of trees while they are grown and pruned."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from scumble.learn.c45.memory cimport Memory


cdef struct Node:  # One node; its children stand side by side from ``first`` on.
    double cut
    double branch  # weight of the training rows that came down
    int64_t low  # its rows are members[low:high] where no value is missing
    int64_t high
    int32_t feature  # -1 at a leaf
    int32_t first
    int32_t width
    uint8_t empty  # no training row reached it


cdef struct Nodes:  # The nodes of a tree, or of several one after another.
    Memory* memory
    Py_ssize_t n
    Py_ssize_t n_classes
    Node* at
    double* counts  # n_classes a node


cdef inline double* counts_of(const Nodes* nodes, Py_ssize_t node) noexcept nogil:
    return nodes.counts + node * nodes.n_classes
