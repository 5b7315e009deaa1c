"""Many trees as arrays, and the way of one row through one of them."""

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t

# Rows that go through a tree together.
cdef enum:
    AT_ONCE = 16


cdef struct Trees:
    # The nodes of many trees, see scumble.learn.forest.Forest.
    Py_ssize_t n_trees
    const int64_t* roots
    const int32_t* feature  # -1 at a leaf
    const double* cut  # NaN where the column is nominal
    const int64_t* first
    const int32_t* width
    const double* share  # -1 for an empty leaf
    const int64_t* leaf
    const double* probabilities
    const int64_t* n_classes


cdef struct Waiting:
    # Nodes that a row with missing values has still to visit, and its part that goes there.
    int64_t* nodes
    double* parts


# The arrays of ``forest`` must outlive the view.
cdef Trees view_trees(forest) except *

cdef int add_branches(
    const Trees* trees, const double* buffer, int64_t top, Py_ssize_t n_classes, double* out,
    Waiting* waiting,
) except -1 nogil

cdef void let_go(Waiting* waiting) noexcept nogil


cdef inline int64_t go_down(const Trees* trees, const double* buffer, int64_t node) noexcept nogil:
    """Find the leaf of the row in a buffer, or the node that asks for a missing value."""
    cdef int32_t column
    cdef double value
    while True:
        column = trees.feature[node]
        if column < 0:
            return node
        value = buffer[column]
        if isnan(value):
            return node
        node = child_of(trees, node, value)


cdef inline int64_t child_of(const Trees* trees, int64_t node, double value) noexcept nogil:
    """Choose the branch for a value that is not missing."""
    cdef double cut = trees.cut[node]
    if cut == cut:
        return trees.first[node] + (value > cut)
    return trees.first[node] + <int64_t>value


cdef inline void go_down_together(
    const Trees* trees, const double* buffers, Py_ssize_t n_features, Py_ssize_t n_rows,
    int64_t root, int64_t* nodes,
) noexcept nogil:
    """Find for a few rows what `go_down` finds for one, a level at a time.

    While one row waits for its node to arrive from memory, the others go on.
    """
    cdef Py_ssize_t[AT_ONCE] moving
    cdef Py_ssize_t n_moving = n_rows
    cdef Py_ssize_t at, i, n_left
    cdef int32_t column
    cdef double value
    for i in range(n_rows):
        nodes[i] = root
        moving[i] = i
    while n_moving:
        n_left = 0
        for at in range(n_moving):
            i = moving[at]
            column = trees.feature[nodes[i]]
            if column < 0:
                continue
            value = buffers[i * n_features + column]
            if isnan(value):
                continue
            nodes[i] = child_of(trees, nodes[i], value)
            moving[n_left] = i
            n_left += 1
        n_moving = n_left
