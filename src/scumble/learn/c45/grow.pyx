"""Grow trees: one loop for every kind of target.

A node is taken from the stack. The strategy of the target judges its columns: two classes counted,
many classes counted, or weights with missing values. The best column splits the node, rows and
entries are parted among the branches, and the branches that can be split again are put on the
stack. Then the tree is collapsed, pruned and its nodes put in order.
"""

from libc.math cimport NAN, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from scumble._core.interrupt cimport check_stop
from scumble.learn.c45.arithmetic cimport LN2, TINY, lowered_cut, sum_of, training_errors, x_ln_x
from scumble.learn.c45.grower cimport (
    MANY_CLASSES, READY, TWO_CLASSES, WEIGHTED, Candidate, Chord, Grower, EntryRange, StackRecord,
    has_few_values,
)
from scumble.learn.c45.layout cimport SortedColumns, view_columns, view_items
from scumble.learn.c45.many_classes cimport score_many_class_columns, start_many_classes
from scumble.learn.c45.memory cimport Memory, release, reserve, reserve_zeros, data_pointer
from scumble.learn.c45.nodes cimport Node, Nodes, counts_of
from scumble.learn.c45.partition cimport copy_branches, copy_training_entries, set_branches_by_entries, partition_entries, partition_rows
from scumble.learn.c45.prune cimport Pruner, prune
from scumble.learn.c45.two_classes cimport (
    count_two_class_branches, score_two_class_columns, set_branches_by_items, queue_two_class_counts, start_items, start_two_classes, swap_rows,
)
from scumble.learn.c45.weighted cimport count_weighted_branches, score_weighted_columns, start_weighted
from scumble.learn.c45.rows cimport RowsView, view_rows

NODE = np.dtype(  # a `Node` as numpy sees it
    [("cut", "f8"), ("branch", "f8"), ("low", "i8"), ("high", "i8"),
     ("feature", "i4"), ("first", "i4"), ("width", "i4"), ("empty", "u1")],
    align=True,
)

cdef enum:
    STEPS_BETWEEN_LOOKS = 20_000_000  # entries, before Ctrl-C is looked for: some 50 ms


cdef class _Growing:
    """What grows and prunes trees, all zeros at first; its arrays are freed with it."""

    cdef Memory memory
    cdef Grower g
    cdef Pruner p
    cdef Nodes done  # the finished trees, one after another

    def __dealloc__(self):
        release(&self.memory)


def tabulate_x_ln_x(Py_ssize_t size):
    """Tabulate x ln x for whole numbers below ``size``, and for 0 and 1 at least."""
    cdef double[::1] table = np.empty(max(size, 2))
    cdef Py_ssize_t x
    for x in range(table.shape[0]):
        table[x] = x_ln_x(x)
    return np.asarray(table)


def grow_trees(table, targets, settings, const double[::1] x_ln_x_table):
    """Grow a tree for each target; a call from Python takes longer than a small tree to grow.

    Returns the trees' numbers of nodes, and the arrays of the nodes, one tree after another.
    """
    cdef const int64_t[::1] starts = targets.starts
    cdef const uint32_t* listed = data_pointer[uint32_t](targets.rows)
    cdef const int32_t* codes = data_pointer[int32_t](targets.y)
    cdef const double* weights = data_pointer[double](targets.weights)
    cdef Py_ssize_t n_trees = starts.shape[0] - 1
    cdef RowsView rows = view_rows(table.rows)
    cdef _Growing growing = _Growing()
    cdef Grower* g = &growing.g
    cdef Py_ssize_t t, start
    reached = np.empty(n_trees, np.int64)
    cdef int64_t[::1] ends = reached
    g.memory = growing.done.memory = &growing.memory
    growing.done.n_classes = targets.n_classes
    growing.p.rows = &rows
    g.table = &x_ln_x_table[0]
    g.table_length = x_ln_x_table.shape[0]
    prepare(g, table, targets, settings)
    with nogil:
        for t in range(n_trees):
            start = starts[t]
            take_sample(
                g, listed + start, codes + start, weights + start if weights != NULL else NULL,
                starts[t + 1] - start,
            )
            grow(g)
            finish(g, &growing.p, &growing.done)
            ends[t] = growing.done.n
            release_sample(g)
    return np.diff(reached, prepend=0), *as_arrays(&growing.done)


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


cdef int prepare(Grower* g, table, targets, settings) except -1:
    """Set up what all trees of the batch share."""
    cdef Py_ssize_t n_rows = table.n_rows
    cdef bint weighed = len(targets.weights) > 0
    g.columns, g.items = view_columns(table.columns), view_items(table.items)
    g.has_missing = table.has_missing
    g.settings = {**vars(settings), "deviate": settings.deviate}
    g.sample.n_table = n_rows
    g.sample.n_classes = g.nodes.n_classes = targets.n_classes
    g.nodes.memory = g.memory
    g.sample.repeated = targets.repeated
    reserve(g.memory, <void**> &g.sample.y, n_rows, sizeof(int32_t))
    if weighed:
        reserve(g.memory, <void**> &g.sample.weights, n_rows, sizeof(double))
    reserve_zeros(g.memory, <void**> &g.in_set, n_rows, sizeof(uint8_t))
    reserve(g.memory, <void**> &g.flags, n_rows, sizeof(uint8_t))
    reserve(g.memory, <void**> &g.side, n_rows, sizeof(int32_t))
    g.strategy = WEIGHTED
    if not g.has_missing and g.sample.n_classes == 2 and (targets.repeated or not weighed):
        g.strategy = TWO_CLASSES
    elif not g.has_missing and not weighed:
        g.strategy = MANY_CLASSES
    elif g.sample.n_classes == 2:
        fill_chords(g)
    choose_columns(g, targets.columns)
    if g.n_listed and len(targets.rows) < n_rows * (len(targets.starts) - 1):
        g.n_seen = len(table.columns.values)
    return 0


cdef int choose_columns(Grower* g, const int64_t[::1] columns) except -1:
    """Take all columns as lists, or the nominal ones by items."""
    cdef Py_ssize_t n_rows = g.sample.n_table
    cdef int64_t column
    reserve(g.memory, <void**> &g.listed, columns.shape[0], sizeof(int64_t))
    reserve(g.memory, <void**> &g.two.nominal, columns.shape[0], sizeof(int64_t))
    for column in columns:
        if g.strategy == TWO_CLASSES and g.columns.n_values[column] > 0:
            g.two.nominal[g.two.n_nominal] = column
            g.two.n_nominal += 1
        else:
            g.listed[g.n_listed] = column
            g.n_listed += 1
    reserve(g.memory, <void**> &g.candidates, g.n_listed, sizeof(Candidate))
    if g.strategy == TWO_CLASSES and g.n_listed == 0:
        reserve(g.memory, <void**> &g.two.place_of, n_rows, sizeof(uint32_t))
        memset(g.two.place_of, 255, n_rows * sizeof(uint32_t))
    return 0


cdef int fill_chords(Grower* g) except -1:
    """Tabulate x ln x between whole numbers."""
    cdef Py_ssize_t n = <Py_ssize_t> g.table_length
    cdef Chord* chord
    cdef Py_ssize_t x
    reserve(g.memory, <void**> &g.weighted.chords, n, sizeof(Chord))
    for x in range(n - 1):
        chord = &g.weighted.chords[x]
        chord.value = g.table[x]
        chord.slope = g.table[x + 1] - g.table[x]
        chord.lowered = g.table[x] - (0.125 / x if x else 0.37)  # 1 / e at 0
    return 0


cdef int take_sample(
    Grower* g, const uint32_t* rows, const int32_t* codes, const double* weights, Py_ssize_t n
) except -1 nogil:
    """Lay out classes and weights by row."""
    cdef double total = 0.0
    cdef Py_ssize_t i
    reserve(g.memory, <void**> &g.rows, n, sizeof(uint32_t))
    memcpy(g.rows, rows, n * sizeof(uint32_t))
    for i in range(n):
        g.sample.y[rows[i]] = codes[i]
        g.in_set[rows[i]] = 1
        if weights != NULL:
            g.sample.weights[rows[i]] = weights[i]
            total += weights[i]
    if g.n_seen:
        reserve_zeros(g.memory, <void**> &g.seen, g.n_seen, sizeof(uint8_t))
    g.sample.rows = <uint32_t*> rows
    g.sample.n = n
    g.sample.n_counted = total if weights != NULL and g.sample.repeated else n
    return 0


cdef void release_sample(Grower* g) noexcept nogil:
    """Forget the rows of a tree."""
    cdef Py_ssize_t i
    for i in range(g.sample.n):
        g.in_set[g.sample.rows[i]] = 0
        if g.two.place_of != NULL:
            g.two.place_of[g.sample.rows[i]] = 0xFFFFFFFFU


cdef int finish(Grower* g, Pruner* p, Nodes* done) except -1 nogil:
    """Collapse and prune the tree, and append its nodes to those done."""
    reserve(g.memory, <void**> &g.buffer, 2 * g.nodes.n, sizeof(uint64_t))
    collapse(&g.nodes, <double*> g.buffer)
    if g.settings.prune:
        if g.strategy == WEIGHTED and g.weighted.divided:
            memcpy(g.rows, g.sample.rows, g.sample.n * sizeof(uint32_t))
        prune(p, g)
    settle(&g.nodes, &g.columns, <int32_t*> g.buffer, done)
    return 0


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
    cdef double total
    cdef Py_ssize_t i, child
    cdef Node* node
    for i in range(nodes.n - 1, -1, -1):  # children come after their parents
        node = &nodes.at[i]
        own[i] = training_errors(counts_of(nodes, i), NULL, nodes.n_classes, &total)
        node.empty = fabs(total) < TINY
        below[i] = own[i]
        if node.feature >= 0:
            below[i] = 0.0
            for child in range(node.first, node.first + node.width):
                below[i] += below[child]
    for i in range(nodes.n):
        node = &nodes.at[i]
        if node.feature >= 0 and below[i] >= own[i] - 1e-3:
            node.feature = -1


cdef int settle(
    const Nodes* nodes, const SortedColumns* columns, int32_t* order, Nodes* out
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


cdef int grow(Grower* g) except -1 nogil:
    """Grow one tree."""
    start_tree(g)
    while g.n_waiting:
        g.n_waiting -= 1
        g.now = g.waiting[g.n_waiting]
        if g.work > STEPS_BETWEEN_LOOKS:
            g.work = 0
            check_stop()
        g.gain_sum = 0.0
        g.n_valid = 0
        if g.strategy == TWO_CLASSES:
            score_two_class_columns(g)
        elif g.strategy == MANY_CLASSES:
            score_many_class_columns(g)
        else:
            score_weighted_columns(g)
        if g.n_valid and choose(g):
            add_branches(g)
            queue_branches(g)
    return 0


cdef int start_tree(Grower* g) except -1 nogil:
    """Make the root, and the lists of all its columns."""
    cdef Py_ssize_t k
    cdef Py_ssize_t n_few = 0
    cdef StackRecord* root
    g.nodes.n = 0
    add_leaves(&g.nodes, 1)
    if g.strategy == TWO_CLASSES:
        start_two_classes(g)
    elif g.strategy == MANY_CLASSES:
        start_many_classes(g)
    else:
        start_weighted(g)
    g.nodes.at[0].high = g.sample.n
    g.nodes.at[0].branch = sum_of(g.nodes.counts, g.sample.n_classes)
    for k in range(g.n_listed):
        n_few += has_few_values(g, g.columns.n_values[g.listed[k]])
    for k in range(g.two.n_nominal):
        n_few += has_few_values(g, g.columns.n_values[g.two.nominal[k]])
    g.all_in_mean = n_few == 0 or n_few == g.n_listed + g.two.n_nominal
    reserve(g.memory, <void**> &g.waiting, 1, sizeof(StackRecord))
    root = &g.waiting[0]
    memset(root, 0, sizeof(StackRecord))
    root.high = g.sample.n
    root.counting = READY
    copy_training_entries(g, root)
    root.row_free = g.sample.n
    if g.strategy == TWO_CLASSES:
        start_items(g)
    g.n_waiting = 1 if may_split(g, 0) else 0
    return 0


cdef bint may_split(const Grower* g, Py_ssize_t node) noexcept nogil:
    """Tell whether a node is heavy and mixed enough to look for a split."""
    cdef const double* counts = counts_of(&g.nodes, node)
    cdef double total = 0.0
    cdef double most = 0.0
    cdef Py_ssize_t c
    for c in range(g.sample.n_classes):
        total += counts[c]
        most = max(most, counts[c])
    return 2.0 * g.settings.min_objects - total <= TINY and total - most >= TINY


cdef bint choose(Grower* g) noexcept nogil:
    """Take the largest ratio among the columns of at least average gain; the first of equals.

    SortedColumns counted by items and columns with lists are both in order; False if none splits.
    """
    cdef int64_t n_lists = g.now.list_high - g.now.list_low
    cdef int64_t n_open = g.two.n_open[g.now.level] if g.strategy == TWO_CLASSES else 0
    cdef const int64_t* open_columns = g.two.open_columns + g.now.level * g.two.n_nominal
    cdef const double* gains = g.two.gains
    cdef const double* branch_sums = g.two.branch_sums
    cdef double total = 0.0
    cdef double best = 0.0
    cdef double least = g.gain_sum / g.n_valid - 1e-3
    cdef int64_t i = 0
    cdef int64_t j = 0
    cdef double ratio, info
    cdef Candidate* found
    g.split.column = -1
    if g.strategy != WEIGHTED:
        total = g.table[g.n]
        least = g.gain_sum / g.n_valid - 1e-3 * LN2 * g.n  # gains are in nats times rows
    while i < n_open or j < n_lists:
        if j == n_lists or (
            i < n_open and open_columns[i] < g.lists[g.now.list_low + j].column
        ):
            info = total - branch_sums[i]
            if gains[i] >= least and gains[i] > best * info:
                ratio = gains[i] / info if info >= TINY * LN2 else 0.0
                if ratio - best > TINY:
                    best = ratio
                    g.split.column, g.split.place = open_columns[i], -1
            i += 1
        else:
            found = &g.candidates[j]
            if found.gain >= 0.0 and found.gain >= least and found.ratio - best > TINY:
                best = found.ratio
                g.split.column, g.split.place = g.lists[g.now.list_low + j].column, j
            j += 1
    return g.split.column >= 0


cdef int add_branches(Grower* g) except -1 nogil:
    """Give the node the branches of the chosen split, and part its rows among them."""
    cdef int64_t column = g.split.column
    cdef int64_t n_values = g.columns.n_values[column]
    cdef int64_t n_branches = n_values if n_values else 2
    cdef int64_t begin = g.columns.begins[column]
    cdef const double* values = g.columns.values + begin
    cdef Candidate* found
    cdef Node* node
    g.split.child = g.nodes.n
    g.split.n_branches = n_branches
    g.split.n_missing = 0
    g.split.rest = g.columns.defaults[column]
    add_leaves(&g.nodes, n_branches)
    node = &g.nodes.at[g.now.node]
    node.feature, node.first, node.width = column, g.split.child, n_branches
    if n_values == 0:
        found = &g.candidates[g.split.place]
        g.split.rest = g.columns.defaults[column] > found.below
        node.cut = lowered_cut(
            values, g.seen + begin if g.seen != NULL else NULL, g.columns.n_codes[column],
            values[found.below], values[found.above],
        )
    reserve(g.memory, <void**> &g.slot, n_branches, sizeof(int64_t))
    reserve(g.memory, <void**> &g.bounds, n_branches + 1, sizeof(int64_t))
    reserve_zeros(g.memory, <void**> &g.branch_rows, n_branches, sizeof(int64_t))
    if g.split.place < 0 and g.n_listed == 0 and n_branches == 2:
        swap_rows(g)
    elif g.split.place < 0:
        set_branches_by_items(g)
        partition_rows(g)
    else:
        set_branches_by_entries(g)
        if g.strategy == WEIGHTED:
            count_weighted_branches(g)
        if g.split.n_missing == 0:
            partition_rows(g)
    settle_branches(g)
    return 0


cdef void settle_branches(Grower* g) noexcept nogil:
    """Write which rows the branches have, and how many of each class."""
    cdef double* counts
    cdef int64_t b, i
    cdef Node* child
    if g.split.n_missing:
        return
    if g.strategy == WEIGHTED:
        for i in range(g.now.low, g.now.high):
            g.row_weights[i] = g.weighted.weight_of[g.rows[i]]
    elif g.strategy == TWO_CLASSES:
        count_two_class_branches(g)
        if g.two.place_of != NULL and g.split.n_branches > 2:
            for i in range(g.now.low, g.now.high):
                g.two.place_of[g.rows[i]] = <uint32_t> i
    for b in range(g.split.n_branches):
        child = &g.nodes.at[g.split.child + b]
        counts = counts_of(&g.nodes, g.split.child + b)
        child.low, child.high = g.bounds[b], g.bounds[b + 1]
        g.branch_rows[b] = child.high - child.low
        if g.strategy == MANY_CLASSES:
            for i in range(child.low, child.high):
                counts[g.sample.y[g.rows[i]]] += 1.0
        if g.strategy != WEIGHTED:
            child.branch = sum_of(counts, g.sample.n_classes)


cdef int queue_branches(Grower* g) except -1 nogil:
    """Let the branches that can be split again wait; the largest takes over the node's place."""
    cdef Py_ssize_t depth = g.n_waiting
    cdef int64_t n_list = g.now.list_high - g.now.list_low
    cdef int64_t next_slot = 1
    cdef int64_t b
    cdef StackRecord* waiting
    g.split.n_live = 0
    g.split.in_place_branch = -1
    for b in range(g.split.n_branches):
        g.slot[b] = -1
        if may_split(g, g.split.child + b):
            g.slot[b] = 0
            g.split.n_live += 1
            if g.split.in_place_branch < 0 or g.branch_rows[b] > g.branch_rows[g.split.in_place_branch]:
                g.split.in_place_branch = b
    if g.split.n_live == 0:
        return 0
    reserve(g.memory, <void**> &g.waiting, depth + g.split.n_live, sizeof(StackRecord))
    reserve(g.memory, <void**> &g.lists, g.now.list_low + g.split.n_live * n_list, sizeof(EntryRange))
    for b in range(g.split.n_branches):
        if g.slot[b] < 0:
            continue
        if b != g.split.in_place_branch:
            g.slot[b] = next_slot
            next_slot += 1
        waiting = &g.waiting[depth + g.slot[b]]
        waiting[0] = g.now
        waiting.node = g.split.child + b
        waiting.low, waiting.high = g.nodes.at[waiting.node].low, g.nodes.at[waiting.node].high
        waiting.list_low = g.now.list_low + g.slot[b] * n_list
        waiting.list_high = waiting.list_low
    if g.strategy == TWO_CLASSES and g.two.n_nominal:
        queue_two_class_counts(g, depth)
    if g.split.n_missing:
        copy_branches(g, depth)
    else:
        partition_entries(g, depth)
    g.n_waiting = depth + g.split.n_live
    return 0
