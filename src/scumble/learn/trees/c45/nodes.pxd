"""The nodes of trees while they are grown and pruned."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from scumble.learn.trees.c45.memory cimport Memory


cdef struct Node:  # A node; its children have the indices ``first`` to ``first + width - 1``.
    double cut
    double branch  # weight of the training rows that reached the node
    int64_t low  # its rows are members[low:high] if no value is missing
    int64_t high
    int32_t feature  # -1 at a leaf
    int32_t first
    int32_t width
    uint8_t empty  # whether no training row reached it


cdef struct Nodes:  # The nodes of a tree, or of several trees one after another.
    Memory* memory
    Py_ssize_t n
    Py_ssize_t n_classes
    Node* records
    double* counts  # n_classes numbers per node


cdef inline double* counts_of(const Nodes* nodes, Py_ssize_t node) noexcept nogil:
    """Return a pointer to the weights of the classes in a node."""
    return nodes.counts + node * nodes.n_classes
