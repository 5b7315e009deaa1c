"""Many trees as arrays, and the way of one row through one of them."""

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t


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
    Py_ssize_t room


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
