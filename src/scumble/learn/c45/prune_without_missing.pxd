"""What pruning a tree needs at hand, and the rows below a node of which none lacks a value."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from scumble.learn.c45.arithmetic cimport TINY, added_errors, training_errors
from scumble.learn.c45.grower cimport Settings
from scumble.learn.c45.memory cimport Memory
from scumble.learn.c45.nodes cimport Node, Nodes, counts_of
from scumble.learn.c45.rows cimport RowsView

cdef enum:
    BATCH = 256  # rows sent down at once, at the most


cdef struct Visit:  # A node on the way from the top to the one in hand.
    Py_ssize_t node
    bint known  # no value that it or a node below asks for is missing
    int64_t turn  # its next child; -1 before its rows are counted
    int64_t low  # its rows among those on the way
    int64_t high
    int64_t shares  # where those of its branches begin


cdef struct Pruner:
    Memory* memory
    Nodes* nodes
    const RowsView* rows
    const int64_t* n_values
    const int32_t* y
    const double* weights  # by row of the whole, where known; NULL where every row weighs 1
    const Settings* settings
    uint32_t* members  # rows of a node: members[low:high]
    double* errors  # estimated errors of each subtree
    int32_t* waiting  # scratch, a number a node
    Visit* visits
    int64_t work  # rows sent down since Ctrl-C was last looked for
    # Where no value is missing: rows brought to a leaf by raising are in a list of its own.
    uint32_t* head
    uint32_t* tail
    uint32_t* after
    uint32_t* moved_rows  # places of rows in a list that are not in the stretch of the top
    int64_t n_moved_rows
    int32_t* sources
    int32_t* goals
    Py_ssize_t n_goals
    double* more  # counts of rows sent down on trial, n_classes a node
    uint8_t* changed
    double* buffer  # the stored cells of a row, spread out
    bint has_stored
    uint32_t[BATCH] batch
    int32_t[BATCH] reached
    # Where values are missing: the rows along the way, with their weights.
    uint32_t* path_rows
    double* path_weights
    Visit* passed
    double* cells
    double* tally
    double* weight_of
    uint8_t* row_has_missing
    double* shares


cdef inline Py_ssize_t list_subtree(
    const Pruner* p, Py_ssize_t top, int32_t* found
) noexcept nogil:
    """List the nodes of a subtree, parents before their children; return how many there are."""
    cdef Py_ssize_t n_found = 0
    cdef Py_ssize_t n_waiting = 1
    cdef const Node* node
    cdef int32_t child
    p.waiting[0] = <int32_t> top
    while n_waiting:
        n_waiting -= 1
        found[n_found] = p.waiting[n_waiting]
        node = &p.nodes.at[found[n_found]]
        n_found += 1
        if node.feature >= 0:
            for child in range(node.first, node.first + node.width):
                p.waiting[n_waiting] = child
                n_waiting += 1
    return n_found


cdef inline Py_ssize_t list_leaves_or_inner_nodes(
    const Pruner* p, Py_ssize_t top, int32_t* found, bint leaves
) noexcept nogil:
    """List the leaves of a subtree, or its inner nodes; return how many there are."""
    cdef Py_ssize_t n_found = 0
    cdef Py_ssize_t k
    for k in range(list_subtree(p, top, found)):
        if (p.nodes.at[found[k]].feature < 0) == leaves:
            found[n_found] = found[k]
            n_found += 1
    return n_found


cdef inline double estimate_errors(
    const Pruner* p, const double* counts, const double* more
) noexcept nogil:
    """Give the pessimistic estimate_errors of the errors of a leaf with some rows and ``more`` of them."""
    cdef double total
    cdef double errors = training_errors(counts, more, p.nodes.n_classes, &total)
    if total < TINY:
        return 0.0
    return errors + added_errors(total, errors, p.settings.confidence, p.settings.deviate)


cdef inline double estimate_leaf_errors(const Pruner* p, Py_ssize_t node) noexcept nogil:
    """Estimate the errors of a leaf with the rows it has and those sent on trial."""
    return estimate_errors(p, counts_of(p.nodes, node), p.more + node * p.nodes.n_classes)


cdef void start_subtree(Pruner* p, Py_ssize_t top) noexcept nogil
cdef double errors_when_raised(
    Pruner* p, const Node* node, Py_ssize_t largest, double enough
) noexcept nogil
cdef void merge_leaf_lists(Pruner* p, Py_ssize_t node) noexcept nogil
cdef void move_other_branches(Pruner* p, Py_ssize_t i, Py_ssize_t largest) noexcept nogil
