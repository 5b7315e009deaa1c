"""What pruning a tree needs at hand, and the choice it makes at a node."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from scumble.learn.c45.arithmetic cimport TINY
from scumble.learn.c45.grower cimport Settings
from scumble.learn.c45.memory cimport Memory, reserve
from scumble.learn.c45.nodes cimport Node, Nodes
from scumble.learn.c45.rows cimport RowsView

cdef enum:
    BATCH = 256  # rows sent down at once, at the most

cdef enum Verdict:
    AS_TREE
    AS_LEAF
    AS_BRANCH


cdef struct Visit:  # A node on the way from the top to the one in hand.
    Py_ssize_t node
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
    const double* weights  # by row of the whole; NULL where every row weighs 1
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
    uint32_t* strangers  # places of rows in a list that are not in the stretch of the top
    int64_t n_strangers
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
    uint32_t* way_rows
    double* way_weights
    Visit* passed
    double* cells
    double* tally
    double* weight_of
    uint8_t* has_gaps
    int32_t* used
    double* shares


cdef inline Visit* push(
    Pruner* p, Visit** stack, Py_ssize_t depth, Py_ssize_t node, int64_t low, int64_t high
) except NULL nogil:
    """Put a node on a stack of visits."""
    reserve(p.memory, <void**> stack, depth + 1, sizeof(Visit))
    stack[0][depth] = Visit(node, 0, low, high, 0)
    return &stack[0][depth]


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


cdef inline Py_ssize_t list_some(
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


cdef inline Verdict decide(double as_leaf, double as_tree, double as_branch) noexcept nogil:
    """Choose between a leaf, the largest branch and the tree as it is."""
    if as_leaf - (as_tree + 0.1) < 1e-6 and as_leaf - (as_branch + 0.1) < 1e-6:
        return AS_LEAF
    return AS_BRANCH if as_branch - (as_tree + 0.1) < 1e-6 else AS_TREE


cdef inline double enough_errors(double as_leaf, double as_tree) noexcept nogil:
    """Tell from how many errors on raising a branch is out of question."""
    cdef double enough = as_tree + 0.1
    if as_leaf - enough < 1e-6:
        enough = min(enough, as_leaf - 0.1)
    return enough + 1e-6


cdef inline Py_ssize_t largest_branch(
    const Pruner* p, Py_ssize_t node, double* as_tree
) noexcept nogil:
    """Find the branch with the most weight, and sum the errors of all of them."""
    cdef const Node* parent = &p.nodes.at[node]
    cdef Py_ssize_t largest = -1
    cdef double most = 0.0
    cdef double branch
    cdef int32_t child
    as_tree[0] = 0.0
    for child in range(parent.first, parent.first + parent.width):
        branch = p.nodes.at[child].branch
        as_tree[0] += p.errors[child]
        if most - branch < TINY or branch >= most:
            most = branch
            largest = child
    return largest
