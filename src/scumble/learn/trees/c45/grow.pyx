"""Grow trees: one main loop for all kinds of targets.

A node is taken from the stack. The strategy for the target scores its columns: two classes whose
rows are counted, many classes whose rows are counted, or weights with missing values. The best
column splits the node, rows and entries are divided among the branches, and branches that can be
split again are put on the stack. Afterwards subtrees without benefit are replaced by leaves, the
tree is pruned and its nodes are stored in breadth-first order.
"""

from libc.math cimport NAN, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from scumble._core.interrupt cimport check_stop
from scumble.learn.trees.c45.arithmetic cimport (
    LN2, TOLERANCE, cut_value_between, sum_numbers, training_errors, x_ln_x,
)
from scumble.learn.trees.c45.grower cimport (
    MANY_CLASSES, READY, TWO_CLASSES, WEIGHTED, Candidate, Chord, EntryRange, Grower, Settings,
    StackRecord, has_few_values,
)
from scumble.learn.trees.c45.layout cimport SortedColumns, view_columns, view_items
from scumble.learn.trees.c45.many_classes cimport score_many_class_columns, start_many_classes
from scumble.learn.trees.c45.memory cimport Memory, data_pointer, release, reserve, reserve_zeros
from scumble.learn.trees.c45.nodes cimport Node, Nodes, counts_of
from scumble.learn.trees.c45.partition cimport (
    copy_branches, copy_training_entries, partition_entries, partition_rows,
    set_branches_by_entries,
)
from scumble.learn.trees.c45.prune cimport Pruner, prune
from scumble.learn.trees.c45.rows cimport RowsView, view_rows
from scumble.learn.trees.c45.two_classes cimport (
    count_two_class_branches, queue_two_class_counts, score_two_class_columns,
    set_branches_by_items, start_items, start_two_classes, swap_rows,
)
from scumble.learn.trees.c45.weighted cimport (
    count_weighted_branches, score_weighted_columns, start_weighted,
)

NODE = np.dtype(  # the struct `Node`
    [("cut", "f8"), ("branch", "f8"), ("low", "i8"), ("high", "i8"),
     ("feature", "i4"), ("first", "i4"), ("width", "i4"), ("empty", "u1")],
    align=True,
)

cdef enum:
    STEPS_BETWEEN_CHECKS = 20_000_000  # entries between two checks for Ctrl-C: about 50 ms


cdef class _Growing:
    """The state of growing and pruning, initially zero; its arrays are freed with it."""

    cdef Memory memory
    cdef Grower grower
    cdef Pruner pruner
    cdef Nodes finished  # the nodes of finished trees, one tree after another

    def __dealloc__(self):
        release(&self.memory)


def tabulate_x_ln_x(Py_ssize_t size):
    """Return x ln x for 0, 1, ..., ``size`` - 1, and for 0 and 1 at least."""
    cdef double[::1] table = np.empty(max(size, 2))
    cdef Py_ssize_t x
    for x in range(table.shape[0]):
        table[x] = x_ln_x(x)
    return np.asarray(table)


def grow_trees(table, targets, settings, const double[::1] x_ln_x_table):
    """Grow a tree for each target of a batch.

    One call grows many trees, because a call from Python takes longer than growing a small tree.
    Returns the fields of `scumble.learn.trees.c45.tree.Nodes`, except for ``n_classes``, by name.
    """
    cdef const int64_t[::1] starts = targets.starts
    cdef const uint32_t* target_rows = data_pointer[uint32_t](targets.rows)
    cdef const int32_t* y = data_pointer[int32_t](targets.y)
    cdef const double* weights = data_pointer[double](targets.weights)
    cdef Py_ssize_t n_trees = starts.shape[0] - 1
    cdef RowsView rows = view_rows(table.rows)
    cdef _Growing growing = _Growing()
    cdef Grower* g = &growing.grower
    cdef Py_ssize_t t, start
    cdef int64_t[::1] stops = np.empty(n_trees, np.int64)
    g.memory = growing.finished.memory = &growing.memory
    growing.finished.n_classes = targets.n_classes
    growing.pruner.rows = &rows
    g.x_ln_x_table = &x_ln_x_table[0]
    g.x_ln_x_length = x_ln_x_table.shape[0]
    prepare_batch(g, table, targets, settings)
    with nogil:
        for t in range(n_trees):
            start = starts[t]
            load_sample(
                g, target_rows + start, y + start, weights + start if weights != NULL else NULL,
                starts[t + 1] - start,
            )
            grow_tree(g)
            finish_tree(g, &growing.pruner, &growing.finished)
            stops[t] = growing.finished.n
            release_sample(g)
    return {"sizes": np.diff(np.asarray(stops), prepend=0), **as_arrays(&growing.finished)}


cdef dict as_arrays(const Nodes* nodes):
    """Return the fields of nodes, except for their rows, as new arrays by name."""
    cdef Py_ssize_t n = nodes.n
    records = np.empty(n, NODE)
    counts = np.empty((n, nodes.n_classes))
    cdef uint8_t[::1] record_bytes = records.view(np.uint8)
    cdef double[:, ::1] counts_view = counts
    if n:
        memcpy(&record_bytes[0], nodes.records, n * sizeof(Node))
        memcpy(&counts_view[0, 0], nodes.counts, n * nodes.n_classes * sizeof(double))
    names = ("feature", "cut", "first", "width", "branch", "empty")
    return {**{name: records[name].copy() for name in names}, "counts": counts}


cdef Settings view_settings(settings) except *:
    """Return the parameters of C4.5 as a struct."""
    cdef Settings view
    view.min_objects = settings.min_objects
    view.mdl = settings.mdl
    view.prune = settings.prune
    view.subtree_raising = settings.subtree_raising
    view.confidence = settings.confidence
    view.normal_quantile = settings.normal_quantile
    return view


cdef int prepare_batch(Grower* g, table, targets, settings) except -1:
    """Set the table, the settings and the strategy that all trees of the batch share."""
    cdef Py_ssize_t n_rows = table.n_rows
    cdef bint has_weights = len(targets.weights) > 0
    g.columns = view_columns(table.columns)
    g.items = view_items(table.items)
    g.has_missing = table.has_missing
    g.settings = view_settings(settings)
    g.sample.n_table = n_rows
    g.sample.n_classes = g.nodes.n_classes = targets.n_classes
    g.nodes.memory = g.memory
    g.sample.repeated = targets.repeated
    reserve(g.memory, <void**> &g.sample.y, n_rows, sizeof(int32_t))
    if has_weights:
        reserve(g.memory, <void**> &g.sample.weights, n_rows, sizeof(double))
    reserve_zeros(g.memory, <void**> &g.in_sample, n_rows, sizeof(uint8_t))
    reserve(g.memory, <void**> &g.flags, n_rows, sizeof(uint8_t))
    reserve(g.memory, <void**> &g.branches, n_rows, sizeof(int32_t))
    g.strategy = WEIGHTED
    if not g.has_missing and g.sample.n_classes == 2 and (targets.repeated or not has_weights):
        g.strategy = TWO_CLASSES
    elif not g.has_missing and not has_weights:
        g.strategy = MANY_CLASSES
    elif g.sample.n_classes == 2:
        fill_chords(g)
    set_columns(g, targets.columns)
    if g.n_list_columns and len(targets.rows) < n_rows * (len(targets.starts) - 1):
        g.n_value_slots = len(table.columns.values)
    return 0


cdef int set_columns(Grower* g, const int64_t[::1] columns) except -1:
    """Set which of the columns are used as lists of entries, and which are counted by items.

    The latter are the nominal columns if the strategy is `TWO_CLASSES`.
    """
    cdef Py_ssize_t n_rows = g.sample.n_table
    cdef int64_t column
    reserve(g.memory, <void**> &g.list_columns, columns.shape[0], sizeof(int64_t))
    reserve(g.memory, <void**> &g.two.nominal, columns.shape[0], sizeof(int64_t))
    for column in columns:
        if g.strategy == TWO_CLASSES and g.columns.n_values[column] > 0:
            g.two.nominal[g.two.n_nominal] = column
            g.two.n_nominal += 1
        else:
            g.list_columns[g.n_list_columns] = column
            g.n_list_columns += 1
    reserve(g.memory, <void**> &g.candidates, g.n_list_columns, sizeof(Candidate))
    if g.strategy == TWO_CLASSES and g.n_list_columns == 0:
        reserve(g.memory, <void**> &g.two.position_of, n_rows, sizeof(uint32_t))
        memset(g.two.position_of, 255, n_rows * sizeof(uint32_t))
    return 0


cdef int fill_chords(Grower* g) except -1:
    """Tabulate the linear interpolation of x ln x between whole numbers."""
    cdef Py_ssize_t n = <Py_ssize_t> g.x_ln_x_length
    cdef Chord* chord
    cdef Py_ssize_t x
    reserve(g.memory, <void**> &g.weighted.chords, n, sizeof(Chord))
    for x in range(n - 1):
        chord = &g.weighted.chords[x]
        chord.value = g.x_ln_x_table[x]
        chord.slope = g.x_ln_x_table[x + 1] - g.x_ln_x_table[x]
        # The error is at most 1/8 of the second derivative 1/x; between 0 and 1 it is at most 1/e.
        chord.lower_value = g.x_ln_x_table[x] - (0.125 / x if x else 0.37)
    return 0


cdef int load_sample(
    Grower* g, const uint32_t* rows, const int32_t* y, const double* weights, Py_ssize_t n
) except -1 nogil:
    """Store the rows of a target, and their classes and weights by row of the table.

    ``n`` is the number of its rows; ``weights`` may be NULL.
    """
    cdef double total = 0.0
    cdef Py_ssize_t i
    reserve(g.memory, <void**> &g.rows, n, sizeof(uint32_t))
    memcpy(g.rows, rows, n * sizeof(uint32_t))
    for i in range(n):
        g.sample.y[rows[i]] = y[i]
        g.in_sample[rows[i]] = 1
        if weights != NULL:
            g.sample.weights[rows[i]] = weights[i]
            total += weights[i]
    if g.n_value_slots:
        reserve_zeros(g.memory, <void**> &g.value_occurs, g.n_value_slots, sizeof(uint8_t))
    g.sample.rows = <uint32_t*> rows
    g.sample.n = n
    g.sample.n_counted = total if weights != NULL and g.sample.repeated else n
    return 0


cdef void release_sample(Grower* g) noexcept nogil:
    """Reset the arrays by row of the table that mark a target's rows."""
    cdef Py_ssize_t i
    for i in range(g.sample.n):
        g.in_sample[g.sample.rows[i]] = 0
        if g.two.position_of != NULL:
            g.two.position_of[g.sample.rows[i]] = 0xFFFFFFFFU


cdef int finish_tree(Grower* g, Pruner* p, Nodes* finished) except -1 nogil:
    """Collapse and prune the tree, and append its nodes to the finished ones."""
    reserve(g.memory, <void**> &g.buffer, 2 * g.nodes.n, sizeof(uint64_t))
    collapse(&g.nodes, <double*> g.buffer)
    if g.settings.prune:
        if g.strategy == WEIGHTED and g.weighted.has_divided_rows:
            memcpy(g.rows, g.sample.rows, g.sample.n * sizeof(uint32_t))
        prune(p, g)
    append_reachable_nodes(&g.nodes, &g.columns, <int32_t*> g.buffer, finished)
    return 0


cdef int add_leaves(Nodes* nodes, Py_ssize_t n) except -1 nogil:
    """Append ``n`` leaves without rows."""
    cdef Py_ssize_t node
    cdef Py_ssize_t new_size = nodes.n + n
    reserve(nodes.memory, <void**> &nodes.records, new_size, sizeof(Node))
    reserve(nodes.memory, <void**> &nodes.counts, new_size * nodes.n_classes, sizeof(double))
    memset(counts_of(nodes, nodes.n), 0, n * nodes.n_classes * sizeof(double))
    memset(&nodes.records[nodes.n], 0, n * sizeof(Node))
    for node in range(nodes.n, new_size):
        nodes.records[node].feature = -1
        nodes.records[node].first = -1
    nodes.n = new_size
    return 0


cdef void collapse(Nodes* nodes, double* subtree_errors) noexcept nogil:
    """Replace each subtree that does not reduce the training errors by a leaf, from the top down.

    ``subtree_errors`` has room for two numbers per node.
    """
    cdef double* leaf_errors = subtree_errors + nodes.n
    cdef double total
    cdef Py_ssize_t i, child
    cdef Node* node
    for i in range(nodes.n - 1, -1, -1):  # children come after their parents
        node = &nodes.records[i]
        leaf_errors[i] = training_errors(counts_of(nodes, i), NULL, nodes.n_classes, &total)
        node.empty = fabs(total) < TOLERANCE
        subtree_errors[i] = leaf_errors[i]
        if node.feature >= 0:
            subtree_errors[i] = 0.0
            for child in range(node.first, node.first + node.width):
                subtree_errors[i] += subtree_errors[child]
    for i in range(nodes.n):
        node = &nodes.records[i]
        if node.feature >= 0 and subtree_errors[i] >= leaf_errors[i] - 1e-3:
            node.feature = -1


cdef int append_reachable_nodes(
    const Nodes* nodes, const SortedColumns* columns, int32_t* order, Nodes* out
) except -1 nogil:
    """Append the nodes that are still in the tree to ``out``, in breadth-first order.

    ``order`` has room for a number per node. ``first`` is counted from the root of the tree.
    """
    cdef Py_ssize_t n = 1
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t root = out.n
    cdef int32_t child
    cdef Node* node
    order[0] = 0
    while i < n:
        node = &nodes.records[order[i]]
        if node.feature >= 0:
            for child in range(node.first, node.first + node.width):
                order[n] = child
                n += 1
        i += 1
    add_leaves(out, n)
    child = 1
    for i in range(n):
        node = &out.records[root + i]
        node[0] = nodes.records[order[i]]
        memcpy(
            counts_of(out, root + i), counts_of(nodes, order[i]),
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


cdef int grow_tree(Grower* g) except -1 nogil:
    """Grow the tree of the loaded target: split nodes from the stack until it is empty."""
    start_tree(g)
    while g.stack_size:
        g.stack_size -= 1
        g.current = g.stack[g.stack_size]
        if g.work > STEPS_BETWEEN_CHECKS:
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
        if g.n_valid and select_column(g):
            split_node(g)
            queue_branches(g)
    return 0


cdef int start_tree(Grower* g) except -1 nogil:
    """Add the root, copy the entries of the target's rows, and put the root on the stack.

    The stack stays empty if the root cannot be split.
    """
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
    g.nodes.records[0].high = g.sample.n
    g.nodes.records[0].branch = sum_numbers(g.nodes.counts, g.sample.n_classes)
    for k in range(g.n_list_columns):
        n_few += has_few_values(g, g.columns.n_values[g.list_columns[k]])
    for k in range(g.two.n_nominal):
        n_few += has_few_values(g, g.columns.n_values[g.two.nominal[k]])
    g.all_columns_in_mean = n_few == 0 or n_few == g.n_list_columns + g.two.n_nominal
    reserve(g.memory, <void**> &g.stack, 1, sizeof(StackRecord))
    root = &g.stack[0]
    memset(root, 0, sizeof(StackRecord))
    root.high = g.sample.n
    root.counting = READY
    copy_training_entries(g, root)
    root.first_free_row = g.sample.n
    if g.strategy == TWO_CLASSES:
        start_items(g)
    g.stack_size = 1 if may_split(g, 0) else 0
    return 0


cdef bint may_split(const Grower* g, Py_ssize_t node) noexcept nogil:
    """Return whether a node has enough weight, and at least two classes, to be split."""
    cdef const double* counts = counts_of(&g.nodes, node)
    cdef double total = 0.0
    cdef double largest = 0.0
    cdef Py_ssize_t c
    for c in range(g.sample.n_classes):
        total += counts[c]
        largest = max(largest, counts[c])
    return (
        2.0 * g.settings.min_objects - total <= TOLERANCE and total - largest >= TOLERANCE
    )


cdef bint select_column(Grower* g) noexcept nogil:
    """Select the column of largest gain ratio among those of at least average gain.

    The first of equal columns is selected; columns that are counted by items and columns with
    lists of entries are both in order. Returns False if no column splits the node.
    """
    cdef int64_t n_ranges = g.current.range_high - g.current.range_low
    cdef int64_t n_open = g.two.n_open[g.current.level] if g.strategy == TWO_CLASSES else 0
    cdef const int64_t* open_columns = g.two.open_columns + g.current.level * g.two.n_nominal
    cdef const double* gains = g.two.gains
    cdef const double* branch_sums = g.two.branch_sums
    cdef double node_term = 0.0
    cdef double best_ratio = 0.0
    cdef double min_gain = g.gain_sum / g.n_valid - 1e-3
    cdef int64_t i = 0
    cdef int64_t j = 0
    cdef double ratio, split_information
    cdef Candidate* candidate
    g.split.column = -1
    if g.strategy != WEIGHTED:
        node_term = g.x_ln_x_table[g.n_counted]
        # Here gains are in nats times rows.
        min_gain = g.gain_sum / g.n_valid - 1e-3 * LN2 * g.n_counted
    while i < n_open or j < n_ranges:
        if j == n_ranges or (
            i < n_open and open_columns[i] < g.ranges[g.current.range_low + j].column
        ):
            split_information = node_term - branch_sums[i]
            if gains[i] >= min_gain and gains[i] > best_ratio * split_information:
                ratio = 0.0
                if split_information >= TOLERANCE * LN2:
                    ratio = gains[i] / split_information
                if ratio - best_ratio > TOLERANCE:
                    best_ratio = ratio
                    g.split.column = open_columns[i]
                    g.split.range_index = -1
            i += 1
        else:
            candidate = &g.candidates[j]
            if (
                candidate.gain >= 0.0
                and candidate.gain >= min_gain
                and candidate.ratio - best_ratio > TOLERANCE
            ):
                best_ratio = candidate.ratio
                g.split.column = g.ranges[g.current.range_low + j].column
                g.split.range_index = j
            j += 1
    return g.split.column >= 0


cdef int split_node(Grower* g) except -1 nogil:
    """Add the branches of the selected split to the tree, and divide the rows among them."""
    cdef int64_t column = g.split.column
    cdef int64_t n_values = g.columns.n_values[column]
    cdef int64_t n_branches = n_values if n_values else 2
    cdef int64_t start = g.columns.starts[column]
    cdef const double* values = g.columns.values + start
    cdef Candidate* candidate
    cdef Node* node
    g.split.first_child = g.nodes.n
    g.split.n_branches = n_branches
    g.split.n_missing = 0
    g.split.default_branch = g.columns.defaults[column]
    add_leaves(&g.nodes, n_branches)
    node = &g.nodes.records[g.current.node]
    node.feature = column
    node.first = g.split.first_child
    node.width = n_branches
    if n_values == 0:
        candidate = &g.candidates[g.split.range_index]
        g.split.default_branch = g.columns.defaults[column] > candidate.code_below
        node.cut = cut_value_between(
            values, g.value_occurs + start if g.value_occurs != NULL else NULL,
            g.columns.n_codes[column], values[candidate.code_below], values[candidate.code_above],
        )
    reserve(g.memory, <void**> &g.slots, n_branches, sizeof(int64_t))
    reserve(g.memory, <void**> &g.branch_bounds, n_branches + 1, sizeof(int64_t))
    reserve_zeros(g.memory, <void**> &g.branch_rows, n_branches, sizeof(int64_t))
    if g.split.range_index < 0 and g.n_list_columns == 0 and n_branches == 2:
        swap_rows(g)
    elif g.split.range_index < 0:
        set_branches_by_items(g)
        partition_rows(g)
    else:
        set_branches_by_entries(g)
        if g.strategy == WEIGHTED:
            count_weighted_branches(g)
        if g.split.n_missing == 0:
            partition_rows(g)
    if g.split.n_missing == 0:
        store_branches(g)
    return 0


cdef void store_branches(Grower* g) noexcept nogil:
    """Store the rows, class counts and weights of the branches, if no value is missing."""
    cdef double* counts
    cdef int64_t b, i
    cdef Node* child
    if g.strategy == WEIGHTED:
        for i in range(g.current.low, g.current.high):
            g.row_weights[i] = g.weighted.weight_of[g.rows[i]]
    elif g.strategy == TWO_CLASSES:
        count_two_class_branches(g)
        if g.two.position_of != NULL and g.split.n_branches > 2:
            for i in range(g.current.low, g.current.high):
                g.two.position_of[g.rows[i]] = <uint32_t> i
    for b in range(g.split.n_branches):
        child = &g.nodes.records[g.split.first_child + b]
        counts = counts_of(&g.nodes, g.split.first_child + b)
        child.low, child.high = g.branch_bounds[b], g.branch_bounds[b + 1]
        g.branch_rows[b] = child.high - child.low
        if g.strategy == MANY_CLASSES:
            for i in range(child.low, child.high):
                counts[g.sample.y[g.rows[i]]] += 1.0
        if g.strategy != WEIGHTED:
            child.branch = sum_numbers(counts, g.sample.n_classes)


cdef int queue_branches(Grower* g) except -1 nogil:
    """Put the branches that can be split again on the stack, with their rows and entries.

    The branch with the most rows takes the place of the node in the arrays of rows and entries.
    """
    cdef Py_ssize_t depth = g.stack_size
    cdef int64_t n_ranges = g.current.range_high - g.current.range_low
    cdef int64_t next_slot = 1
    cdef int64_t largest = -1
    cdef int64_t b
    cdef StackRecord* record
    g.split.n_open_branches = 0
    for b in range(g.split.n_branches):
        g.slots[b] = -1
        if may_split(g, g.split.first_child + b):
            g.slots[b] = 0
            g.split.n_open_branches += 1
            if largest < 0 or g.branch_rows[b] > g.branch_rows[largest]:
                largest = b
    g.split.in_place_branch = largest
    if g.split.n_open_branches == 0:
        return 0
    reserve(
        g.memory, <void**> &g.stack, depth + g.split.n_open_branches, sizeof(StackRecord)
    )
    reserve(
        g.memory, <void**> &g.ranges,
        g.current.range_low + g.split.n_open_branches * n_ranges, sizeof(EntryRange),
    )
    for b in range(g.split.n_branches):
        if g.slots[b] < 0:
            continue
        if b != largest:
            g.slots[b] = next_slot
            next_slot += 1
        record = &g.stack[depth + g.slots[b]]
        record[0] = g.current
        record.node = g.split.first_child + b
        record.low = g.nodes.records[record.node].low
        record.high = g.nodes.records[record.node].high
        record.range_low = g.current.range_low + g.slots[b] * n_ranges
        record.range_high = record.range_low
    if g.strategy == TWO_CLASSES and g.two.n_nominal:
        queue_two_class_counts(g, depth)
    if g.split.n_missing:
        copy_branches(g, depth)
    else:
        partition_entries(g, depth)
    g.stack_size = depth + g.split.n_open_branches
    return 0
