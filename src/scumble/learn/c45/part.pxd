"""Send the rows of a node, and its stretches of the columns, down its branches."""

from libc.stdint cimport int64_t

from scumble.learn.c45.grower cimport TWO_CLASSES, Grower, Stretch, Waiting, is_useful


cdef inline int64_t full_size(const Grower* g, const Waiting* node) noexcept nogil:
    """Tell how many entries a column has in a node if no row has its default value."""
    if g.strategy == TWO_CLASSES and not g.two.heavy:
        return <int64_t> g.nodes.at[node.node].branch
    return node.high - node.low


cdef inline bint list_if_useful(
    Grower* g, Waiting* waiting, int64_t column, int64_t start, int64_t stop
) noexcept nogil:
    """Add a column's stretch to the list of a waiting node if it can still split it."""
    if not is_useful(g, start, stop, full_size(g, waiting)):
        return False
    g.lists[waiting.list_high] = Stretch(column, start, stop)
    waiting.list_high += 1
    return True


cdef void mark_entries(Grower* g) noexcept nogil
cdef void part_rows(Grower* g) noexcept nogil
cdef void part_lists(Grower* g, Py_ssize_t depth) noexcept nogil
cdef int copy_branches(Grower* g, Py_ssize_t depth) except -1 nogil
