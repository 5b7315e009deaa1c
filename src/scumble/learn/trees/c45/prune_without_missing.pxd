"""The state of pruning a tree, and functions for subtrees in which no row has a missing value."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from scumble.learn.trees.c45.arithmetic cimport TOLERANCE, additional_errors, training_errors
from scumble.learn.trees.c45.grower cimport Settings
from scumble.learn.trees.c45.memory cimport Memory
from scumble.learn.trees.c45.nodes cimport Node, Nodes, counts_of
from scumble.learn.trees.c45.rows cimport RowsView

cdef enum:
    MAX_BATCH = 256  # rows that are sent down together

cdef enum LeafState:  # How a leaf is affected by rows that are sent down.
    UNCHANGED
    CHANGED  # its rows are not those of its error estimate
    HAS_TRIAL_ROWS  # it is in the list of targets


cdef struct Visit:  # A node on the path from the root to the current node.
    Py_ssize_t node
    bint is_sorted  # its rows are sorted by leaf; no value that they need below is missing
    int64_t next_branch  # the branch that is visited next; -1 before its rows are counted
    int64_t low  # its rows are path_rows[low:high]
    int64_t high
    int64_t shares  # position of the share of its first branch


cdef struct Pruner:
    Memory* memory
    Nodes* nodes
    const RowsView* rows
    const int64_t* n_values
    const int32_t* y
    const double* weights  # by row of the table; NULL where every row has weight 1
    const Settings* settings
    uint32_t* members  # the rows of a node are members[low:high]
    double* errors  # estimated errors of each subtree
    int32_t* stack  # a number per node
    Visit* visits
    int64_t work  # rows sent down since the last check for Ctrl-C
    # If no value is missing. Rows that subtree raising moves to a leaf are in a linked list: head
    # and tail are by leaf, successor is by position in members.
    uint32_t* head
    uint32_t* tail
    uint32_t* successor
    uint32_t* moved_rows  # positions of listed rows that are not in the range of the top node
    int64_t n_moved_rows
    int32_t* sources  # nodes from which rows are taken
    int32_t* targets  # nodes to which rows are sent
    Py_ssize_t n_targets
    double* trial_counts  # counts of rows sent down on trial, n_classes numbers per node
    uint8_t* states  # a `LeafState` per node
    double* buffer  # the stored cells of a row, spread out
    bint has_stored_cells
    uint32_t[MAX_BATCH] batch
    int32_t[MAX_BATCH] batch_nodes
    # If values are missing: the rows of all nodes on the path, with their weights.
    uint32_t* path_rows
    double* path_weights
    Visit* trial_visits
    double* cells
    double* class_weights
    double* weight_of
    uint8_t* row_has_missing
    double* shares


cdef inline Py_ssize_t list_subtree(
    const Pruner* p, Py_ssize_t top, int32_t* subtree
) noexcept nogil:
    """List the nodes of a subtree, parents before their children; return their number."""
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t stack_size = 1
    cdef const Node* node
    cdef int32_t child
    p.stack[0] = <int32_t> top
    while stack_size:
        stack_size -= 1
        subtree[n] = p.stack[stack_size]
        node = &p.nodes.records[subtree[n]]
        n += 1
        if node.feature >= 0:
            for child in range(node.first, node.first + node.width):
                p.stack[stack_size] = child
                stack_size += 1
    return n


cdef inline Py_ssize_t list_leaves(
    const Pruner* p, Py_ssize_t top, int32_t* leaves
) noexcept nogil:
    """List the leaves of a subtree; return their number. There is room for all its nodes."""
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t k
    for k in range(list_subtree(p, top, leaves)):
        if p.nodes.records[leaves[k]].feature < 0:
            leaves[n] = leaves[k]
            n += 1
    return n


cdef inline Py_ssize_t list_inner_nodes(
    const Pruner* p, Py_ssize_t top, int32_t* inner_nodes
) noexcept nogil:
    """List the inner nodes of a subtree; return their number. There is room for all its nodes."""
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t k
    for k in range(list_subtree(p, top, inner_nodes)):
        if p.nodes.records[inner_nodes[k]].feature >= 0:
            inner_nodes[n] = inner_nodes[k]
            n += 1
    return n


cdef inline double estimate_errors(
    const Pruner* p, const double* counts, const double* trial_counts
) noexcept nogil:
    """Return the pessimistic estimate of the errors of a leaf with the sum of both counts."""
    cdef double total
    cdef double errors = training_errors(counts, trial_counts, p.nodes.n_classes, &total)
    if total < TOLERANCE:
        return 0.0
    return errors + additional_errors(
        total, errors, p.settings.confidence, p.settings.normal_quantile
    )


cdef inline double estimate_leaf_errors(const Pruner* p, Py_ssize_t node) noexcept nogil:
    """Estimate the errors of a node as a leaf, with its rows and those sent on trial."""
    return estimate_errors(
        p, counts_of(p.nodes, node), p.trial_counts + node * p.nodes.n_classes
    )


cdef void start_subtree(Pruner* p, Py_ssize_t top) noexcept nogil
cdef double errors_when_raised(
    Pruner* p, const Node* node, Py_ssize_t largest, double max_errors
) noexcept nogil
cdef void merge_leaf_lists(Pruner* p, Py_ssize_t node) noexcept nogil
cdef void move_other_branches(Pruner* p, Py_ssize_t i, Py_ssize_t largest) noexcept nogil
