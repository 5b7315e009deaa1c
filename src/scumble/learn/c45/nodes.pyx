"""The nodes of trees while they are grown and pruned, and as arrays when they are done."""

from libc.math cimport NAN, fabs
from libc.string cimport memcpy, memset

import numpy as np

from scumble.learn.c45.arithmetic cimport TINY, sum_of, training_errors
from scumble.learn.c45.memory cimport reserve

NODE = np.dtype(  # a `Node` as numpy sees it
    [("cut", "f8"), ("branch", "f8"), ("low", "i8"), ("high", "i8"),
     ("feature", "i4"), ("first", "i4"), ("width", "i4"), ("empty", "u1")],
    align=True,
)


cdef int add_leaves(Nodes* nodes, Py_ssize_t n) except -1 nogil:
    """Append leaves without rows."""
    cdef Py_ssize_t node
    cdef Py_ssize_t wanted = nodes.n + n
    reserve(nodes.memory, <void**> &nodes.at, wanted, sizeof(Node))
    reserve(nodes.memory, <void**> &nodes.counts, wanted * nodes.n_classes, sizeof(double))
    memset(counts_of(nodes, nodes.n), 0, n * nodes.n_classes * sizeof(double))
    memset(&nodes.at[nodes.n], 0, n * sizeof(Node))
    for node in range(nodes.n, wanted):
        nodes.at[node].feature = -1
        nodes.at[node].first = -1
    nodes.n = wanted
    return 0


cdef void collapse(Nodes* nodes, double* below) noexcept nogil:
    """Make a leaf of each node whose subtree saves no training error, from the top down.

    ``below`` has room for two numbers a node.
    """
    cdef double* own = below + nodes.n
    cdef Py_ssize_t i, child
    cdef Node* node
    for i in range(nodes.n - 1, -1, -1):  # children come after their parents
        node = &nodes.at[i]
        own[i] = training_errors(counts_of(nodes, i), nodes.n_classes)
        below[i] = own[i]
        if node.feature >= 0:
            below[i] = 0.0
            for child in range(node.first, node.first + node.width):
                below[i] += below[child]
    for i in range(nodes.n):
        node = &nodes.at[i]
        if node.feature >= 0 and below[i] >= own[i] - 1e-3:
            node.feature = -1
        node.empty = fabs(sum_of(counts_of(nodes, i), nodes.n_classes)) < TINY


cdef int settle(
    const Nodes* nodes, const Columns* columns, int32_t* order, Nodes* out
) except -1 nogil:
    """Append the nodes still in the tree to others, brothers together and parents first.

    ``order`` has room for a number a node. Children are counted from the root of their tree.
    """
    cdef Py_ssize_t n = 1
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t root = out.n
    cdef int32_t child
    cdef Node* node
    order[0] = 0
    while at < n:
        node = &nodes.at[order[at]]
        if node.feature >= 0:
            for child in range(node.first, node.first + node.width):
                order[n] = child
                n += 1
        at += 1
    add_leaves(out, n)
    child = 1
    for at in range(n):
        node = &out.at[root + at]
        node[0] = nodes.at[order[at]]
        memcpy(
            counts_of(out, root + at), counts_of(nodes, order[at]),
            nodes.n_classes * sizeof(double),
        )
        if node.feature < 0:
            node.cut, node.first, node.width = NAN, -1, 0
            continue
        if columns.n_values[node.feature] > 0:
            node.cut = NAN
        node.first = child
        child += node.width
    return 0


cdef object as_arrays(const Nodes* nodes):
    """Copy nodes into arrays: feature, cut, first, width, branch, empty, counts."""
    cdef Py_ssize_t n = nodes.n
    records, counts = np.empty(n, NODE), np.empty((n, nodes.n_classes))
    cdef uint8_t[::1] copied = records.view(np.uint8)
    cdef double[:, ::1] copied_counts = counts
    if n:
        memcpy(&copied[0], nodes.at, n * sizeof(Node))
        memcpy(&copied_counts[0, 0], nodes.counts, n * nodes.n_classes * sizeof(double))
    names = ("feature", "cut", "first", "width", "branch", "empty")
    return *(records[name].copy() for name in names), counts
