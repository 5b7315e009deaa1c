"""Send the rows of a node, and its stretches of the columns, down its branches."""

from libc.stdint cimport int64_t

from scumble.learn.c45.grower cimport TWO_CLASSES, Grower, Waiting


cdef inline int64_t full_size(const Grower* g, const Waiting* node) noexcept nogil:
    """Tell how many entries a column has in a node if no row has its default value."""
    if g.strategy == TWO_CLASSES and not g.two.heavy:
        return <int64_t> g.nodes.at[node.node].branch
    return node.high - node.low


cdef void mark_entries(Grower* g) noexcept nogil
cdef void part_rows(Grower* g) noexcept nogil
cdef void part_lists(Grower* g, Py_ssize_t depth) noexcept nogil
cdef int copy_branches(Grower* g, Py_ssize_t depth) except -1 nogil
