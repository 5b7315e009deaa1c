"""Splits for two classes where rows are counted: no missing values, no fractions of a row.

Numeric columns are lists of entries, whose cuts are compared in `two_class_cuts`. Nominal columns
are counted row by row in one pass over the items of the node's rows (an item is a nominal column
with one of its values, except the most frequent one). Of two branches only the smaller one is
counted and subtracted from the counts of the parent. A branch that is not the largest has at most
half of its parent's rows, so the waiting nodes need at most log2(n) levels of counts.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from scumble.learn.trees.c45.arithmetic cimport LN2, TOLERANCE
from scumble.learn.trees.c45.grower cimport (
    COUNT, COUNT_AND_SUBTRACT, READY, RECOUNT, Candidate, EntryRun, Grower, StackRecord,
    TwoClassState, add_gain, set_branch,
)
from scumble.learn.trees.c45.layout cimport MAX_ENTRY_WEIGHT, WEIGHT_BIT, Items, row_of
from scumble.learn.trees.c45.memory cimport lower_bound, reserve
from scumble.learn.trees.c45.nodes cimport Node, counts_of
from scumble.learn.trees.c45.two_class_cuts cimport find_numeric_cuts

cdef enum:
    POSITIVE_BIT = 32  # an item's count: rows in the lower half, positive rows in the upper half


cdef struct ColumnSums:  # Sums over the branches of a nominal column.
    double branches  # of x ln x of the number of rows
    double classes  # of x ln x of the numbers of positive and negative rows


cdef inline uint64_t repetitions(const Grower* g, uint64_t row) noexcept nogil:
    """Return how often a row is counted."""
    return 1 if g.sample.weights == NULL else <uint64_t> g.sample.weights[row]


cdef int start_two_classes(Grower* g) except -1 nogil:
    """Count the training rows and choose what the lowest bits of entries store."""
    cdef TwoClassState* two = &g.two
    cdef uint64_t largest = 1
    cdef uint64_t row, n_times
    cdef Py_ssize_t i
    g.n_counted = two.n_positive = 0
    for i in range(g.sample.n):
        row = g.sample.rows[i]
        n_times = repetitions(g, row)
        g.n_counted += n_times
        two.n_positive += n_times * g.sample.y[row]
        largest = max(largest, n_times)
    # A repeated row has one entry that stores its weight, if the bits are sufficient for it.
    two.has_entry_weights = 1 < largest <= MAX_ENTRY_WEIGHT and g.sample.n_table < 1 << 24
    g.row_shift = 2 * WEIGHT_BIT if two.has_entry_weights else 1
    g.min_entries = 1 if two.has_entry_weights else g.settings.min_objects
    if g.n_list_columns:
        reserve(g.memory, <void**> &two.row_bits, g.sample.n_table, sizeof(uint8_t))
        for i in range(g.sample.n):
            row = g.sample.rows[i]
            two.row_bits[row] = g.sample.y[row]
            if two.has_entry_weights:
                n_times = repetitions(g, row)
                two.row_bits[row] = n_times << WEIGHT_BIT | n_times * g.sample.y[row]
        reserve_cut_arrays(g)
    g.nodes.counts[0] = g.n_counted - two.n_positive
    g.nodes.counts[1] = two.n_positive
    return 0


cdef int reserve_cut_arrays(Grower* g) except -1 nogil:
    """Make room for the arrays that comparing cuts needs."""
    cdef TwoClassState* two = &g.two
    cdef Py_ssize_t size = g.n_counted + 1
    cdef Py_ssize_t max_runs = size // 8 + 1  # the shortest runs have 8 entries
    reserve(g.memory, <void**> &two.positive_terms, size, sizeof(double))
    reserve(g.memory, <void**> &two.negative_terms, size, sizeof(double))
    reserve(g.memory, <void**> &g.size_terms, size, sizeof(double))
    reserve(g.memory, <void**> &two.min_positive, size, sizeof(uint32_t))
    reserve(g.memory, <void**> &two.min_negative, size, sizeof(uint32_t))
    reserve(g.memory, <void**> &two.runs, max_runs, sizeof(EntryRun))
    reserve(g.memory, <void**> &two.run_positive, max_runs, sizeof(uint32_t))
    reserve(g.memory, <void**> &two.run_rows, max_runs, sizeof(uint32_t))
    return 0


cdef int start_items(Grower* g) except -1 nogil:
    """Count the items of the training rows."""
    cdef TwoClassState* two = &g.two
    cdef Py_ssize_t n_items = g.items.n
    cdef Py_ssize_t i
    two.n_levels = 3
    while (<Py_ssize_t> 1) << (two.n_levels - 3) < g.sample.n:
        two.n_levels += 1
    reserve(g.memory, <void**> &two.gains, two.n_nominal, sizeof(double))
    reserve(g.memory, <void**> &two.branch_sums, two.n_nominal, sizeof(double))
    reserve(g.memory, <void**> &two.n_open, two.n_levels, sizeof(int64_t))
    two.n_open[0] = two.n_nominal
    if two.n_nominal == 0:
        return 0
    reserve(g.memory, <void**> &two.item_counts, two.n_levels * n_items, sizeof(uint64_t))
    reserve(g.memory, <void**> &two.open_columns, two.n_levels * two.n_nominal, sizeof(int64_t))
    memcpy(two.open_columns, two.nominal, two.n_nominal * sizeof(int64_t))
    if g.sample.n == g.sample.n_table and g.sample.weights == NULL:
        for i in range(n_items):
            two.item_counts[i] = g.items.stops[i] - g.items.starts[i]
        count_positive_items(g)
    else:
        memset(two.item_counts, 0, n_items * sizeof(uint64_t))
        count_items(g, 0, g.sample.n, 1, two.item_counts)
    if two.position_of != NULL:
        for i in range(g.sample.n):
            two.position_of[g.rows[i]] = i
    return 0


cdef void count_positive_items(Grower* g) noexcept nogil:
    """Add the positive rows to the item counts of the root, which hold the numbers of rows."""
    cdef uint64_t* counts = g.two.item_counts
    cdef const uint32_t* indices = g.items.indices
    cdef uint64_t row
    cdef int64_t position
    cdef Py_ssize_t i
    for i in range(g.sample.n):
        row = g.rows[i]
        if g.sample.y[row]:
            for position in range(g.items.indptr[row], g.items.indptr[row + 1]):
                counts[indices[position]] += <uint64_t> 1 << POSITIVE_BIT


cdef void count_items(
    Grower* g, int64_t low, int64_t high, uint64_t sign, uint64_t* counts
) noexcept nogil:
    """Add the items of rows ``low`` to ``high`` - 1 of the tree to ``counts``, or subtract them.

    A ``sign`` of -1 subtracts, because unsigned arithmetic wraps around.
    """
    cdef const uint32_t* indices = g.items.indices
    cdef const int64_t* indptr = g.items.indptr
    cdef uint64_t row, increment
    cdef int64_t i, position
    for i in range(low, high):
        row = g.rows[i]
        increment = (1 | <uint64_t> g.sample.y[row] << POSITIVE_BIT) * repetitions(g, row) * sign
        for position in range(indptr[row], indptr[row + 1]):
            counts[indices[position]] += increment


cdef void score_two_class_columns(Grower* g) noexcept nogil:
    """Compute the best split of every column of the current node; gains are in nats times rows."""
    cdef const double* counts = counts_of(&g.nodes, g.current.node)
    g.two.n_positive = <int64_t> counts[1]
    g.n_counted = g.two.n_positive + <int64_t> counts[0]
    score_nominal_columns(g)
    find_numeric_cuts(g)


cdef void score_nominal_columns(Grower* g) noexcept nogil:
    """Count the items of the current node and score the nominal columns.

    Columns that cannot split this node cannot split its branches either and are dropped.
    """
    cdef TwoClassState* two = &g.two
    cdef int64_t level = g.current.level
    cdef int64_t parent_level = level
    cdef uint64_t* counts = two.item_counts + level * g.items.n
    cdef int64_t k, column
    if g.current.counting == COUNT or g.current.counting == COUNT_AND_SUBTRACT:
        parent_level = level - 1
    if two.n_open[parent_level] == 0:
        two.n_open[level] = 0
        return
    if g.current.counting != READY:
        for k in range(two.n_open[parent_level]):
            column = two.open_columns[parent_level * two.n_nominal + k]
            memset(
                counts + g.items.column_indptr[column], 0,
                (g.items.column_indptr[column + 1] - g.items.column_indptr[column])
                * sizeof(uint64_t),
            )
        count_items(g, g.current.low, g.current.high, 1, counts)
        g.work += (g.current.high - g.current.low) * (
            g.items.indptr[g.sample.n_table] // g.sample.n_table
        )
    score_open_columns(g, parent_level)


cdef void score_open_columns(Grower* g, int64_t parent_level) noexcept nogil:
    """Score the columns that are open at ``parent_level`` by the item counts of the node.

    With `COUNT_AND_SUBTRACT` the counts are subtracted from those of the parent at the same time.
    """
    cdef TwoClassState* two = &g.two
    cdef const double* x_ln_x_table = g.x_ln_x_table
    cdef const int64_t* column_indptr = g.items.column_indptr
    cdef const int64_t* columns = two.open_columns + parent_level * two.n_nominal
    cdef int64_t* still_open = two.open_columns + g.current.level * two.n_nominal
    cdef uint64_t* counts = two.item_counts + g.current.level * g.items.n
    cdef uint64_t* parent_counts = two.item_counts + parent_level * g.items.n
    cdef double* gains = two.gains
    cdef double* branch_sums = two.branch_sums
    cdef int64_t n_columns = two.n_open[parent_level]
    cdef double gain_sum = 0.0
    cdef bint subtract = g.current.counting == COUNT_AND_SUBTRACT
    cdef uint64_t n = g.n_counted
    cdef uint64_t n_positive = two.n_positive
    cdef uint64_t min_objects = g.settings.min_objects
    cdef double information = (
        x_ln_x_table[n] - x_ln_x_table[n_positive] - x_ln_x_table[n - n_positive]
    )
    cdef uint64_t count, size, other_size, positive, other_positive
    cdef ColumnSums sums
    cdef double gain
    cdef int64_t i, item, column
    cdef int64_t n_open = 0
    for i in range(n_columns):
        column = columns[i]
        item = column_indptr[column]
        if column_indptr[column + 1] - item == 1:  # two values: no loop over branches
            count = counts[item]
            if subtract:
                parent_counts[item] -= count
            size = count & 0xFFFFFFFFU
            positive = count >> POSITIVE_BIT
            other_size = n - size
            if size < min_objects or other_size < min_objects:
                continue
            other_positive = n_positive - positive
            sums.branches = x_ln_x_table[size] + x_ln_x_table[other_size]
            sums.classes = (
                x_ln_x_table[positive]
                + x_ln_x_table[size - positive]
                + x_ln_x_table[other_positive]
                + x_ln_x_table[other_size - other_positive]
            )
        elif not sum_over_values(
            g, column, counts, parent_counts if subtract else NULL, &sums
        ):
            continue
        gain = information + sums.classes - sums.branches
        gain = gain if gain >= TOLERANCE * LN2 else 0.0
        still_open[n_open] = column
        gains[n_open] = gain
        branch_sums[n_open] = sums.branches
        gain_sum += gain
        n_open += 1
    two.n_open[g.current.level] = n_open
    if g.all_columns_in_mean:
        g.gain_sum, g.n_valid = gain_sum, n_open
        return
    for i in range(n_open):
        add_gain(g, gains[i], g.columns.n_values[still_open[i]])


cdef bint sum_over_values(
    Grower* g, int64_t column, const uint64_t* counts, uint64_t* parent_counts, ColumnSums* sums
) noexcept nogil:
    """Sum x ln x over the branches of a column with several items; False if it cannot split.

    The counts are subtracted from ``parent_counts`` unless that is NULL.
    """
    cdef const double* x_ln_x_table = g.x_ln_x_table
    cdef uint64_t min_objects = g.settings.min_objects
    cdef uint64_t n_default = g.n_counted
    cdef uint64_t default_positive = g.two.n_positive
    cdef double branches = 0.0
    cdef double classes = 0.0
    cdef int64_t n_large = 0
    cdef uint64_t size, positive
    cdef int64_t item
    for item in range(g.items.column_indptr[column], g.items.column_indptr[column + 1]):
        if parent_counts != NULL:
            parent_counts[item] -= counts[item]
        size = counts[item] & 0xFFFFFFFFU
        positive = counts[item] >> POSITIVE_BIT
        n_default -= size
        default_positive -= positive
        n_large += size >= min_objects
        branches += x_ln_x_table[size]
        classes += x_ln_x_table[positive] + x_ln_x_table[size - positive]
    n_large += n_default >= min_objects
    sums.branches = branches + x_ln_x_table[n_default]
    sums.classes = classes + (
        x_ln_x_table[default_positive] + x_ln_x_table[n_default - default_positive]
    )
    return n_large >= 2


cdef void count_two_class_branches(Grower* g) noexcept nogil:
    """Store the class counts of the branches; the last one gets what remains."""
    cdef const uint64_t* item_counts = g.two.item_counts + g.current.level * g.items.n
    cdef double* counts = counts_of(&g.nodes, g.split.first_child)
    cdef int64_t column = g.split.column
    cdef int64_t last_branch = g.split.default_branch
    cdef double n_negative = g.n_counted - g.two.n_positive
    cdef double n_positive = g.two.n_positive
    cdef Candidate* candidate
    cdef int64_t item, b
    if g.split.range_index >= 0:
        candidate = &g.candidates[g.split.range_index]
        counts[0] = candidate.left_weight - candidate.left_positive
        counts[1] = candidate.left_positive
        last_branch = 1
    else:
        for item in range(g.items.column_indptr[column], g.items.column_indptr[column + 1]):
            b = g.items.codes[item]
            counts[2 * b + 1] = item_counts[item] >> POSITIVE_BIT
            counts[2 * b] = (item_counts[item] & 0xFFFFFFFFU) - (item_counts[item] >> POSITIVE_BIT)
    for b in range(g.split.n_branches):
        if b != last_branch:
            n_negative -= counts[2 * b]
            n_positive -= counts[2 * b + 1]
    counts[2 * last_branch] = n_negative
    counts[2 * last_branch + 1] = n_positive


cdef void set_branches_by_items(Grower* g) noexcept nogil:
    """Store the branch of every row of a node that is split by a nominal column."""
    cdef int64_t column = g.split.column
    cdef int64_t first = g.items.column_indptr[column]
    cdef int64_t stop = g.items.column_indptr[column + 1]
    cdef int64_t i, item, position
    cdef int32_t code
    # A search in the items of a row costs more than reading an entry, hence the factor.
    if g.items.stops[stop - 1] - g.items.starts[first] >= 16 * (g.current.high - g.current.low):
        for i in range(g.current.low, g.current.high):
            item = find_item(&g.items, g.rows[i], first, stop)
            set_branch(
                g, g.rows[i], g.items.codes[item] if item >= 0 else g.split.default_branch
            )
        return
    for i in range(g.current.low, g.current.high):
        set_branch(g, g.rows[i], g.split.default_branch)
    for item in range(first, stop):
        code = g.items.codes[item]
        for position in range(g.items.starts[item], g.items.stops[item]):
            set_branch(g, row_of(g.columns.entries[position], 0), code)


cdef inline int64_t find_item(
    const Items* items, uint64_t row, int64_t first, int64_t stop
) noexcept nogil:
    """Return the first item of a row from ``first`` on and before ``stop``; -1 if it has none."""
    cdef int64_t row_stop = items.indptr[row + 1]
    cdef int64_t position = lower_bound(
        items.indices, items.indptr[row], row_stop, <uint32_t> first
    )
    if position < row_stop and items.indices[position] < stop:
        return items.indices[position]
    return -1


cdef void swap_rows(Grower* g) noexcept nogil:
    """Divide the rows of a node in two by an item: move the rows with the item to one end.

    Rows are swapped, so the cost depends on the number of rows with the item, not on the node's.
    """
    cdef int64_t item = g.items.column_indptr[g.split.column]
    cdef int64_t low = g.current.low
    cdef int64_t high = g.current.high
    cdef bint to_front = g.split.default_branch == 1  # rows with the item are branch 0
    cdef int64_t edge = low if to_front else high
    cdef int64_t entry, position
    if g.items.stops[item] - g.items.starts[item] < 8 * (high - low):
        for entry in range(g.items.starts[item], g.items.stops[item]):
            position = g.two.position_of[row_of(g.columns.entries[entry], 0)]
            if low <= position < high:
                edge = move_to_edge(g, position, edge, to_front)
    else:
        position = low
        while position < (high if to_front else edge):
            if find_item(&g.items, g.rows[position], item, item + 1) >= 0:
                edge = move_to_edge(g, position, edge, to_front)
                position += to_front  # else another row has been moved to this position
            else:
                position += 1
    g.branch_bounds[0], g.branch_bounds[1], g.branch_bounds[2] = low, edge, high


cdef inline int64_t move_to_edge(
    Grower* g, int64_t position, int64_t edge, bint to_front
) noexcept nogil:
    """Swap a row with the one at the edge; return the new edge."""
    cdef uint32_t row = g.rows[position]
    cdef int64_t target = edge if to_front else edge - 1
    cdef uint32_t other_row = g.rows[target]
    g.rows[position] = other_row
    g.two.position_of[other_row] = <uint32_t> position
    g.rows[target] = row
    g.two.position_of[row] = <uint32_t> target
    return edge + 1 if to_front else target


cdef void queue_two_class_counts(Grower* g, Py_ssize_t depth) noexcept nogil:
    """Set how the item counts of the waiting branches will be computed.

    The counts of the in-place branch are those of its parent less those of all other branches,
    unless counting its rows again takes less time.
    """
    cdef uint64_t* counts = g.two.item_counts + g.current.level * g.items.n
    cdef Node* children = &g.nodes.records[g.split.first_child]
    cdef Node* in_place_branch = &children[g.split.in_place_branch]
    cdef int64_t n_closed_rows = 0
    cdef StackRecord* record
    cdef bint subtract
    cdef int64_t b
    for b in range(g.split.n_branches):
        if g.slots[b] < 0:
            n_closed_rows += children[b].high - children[b].low
    subtract = n_closed_rows <= in_place_branch.high - in_place_branch.low
    for b in range(g.split.n_branches):
        if g.slots[b] < 0:
            if subtract and g.two.n_open[g.current.level]:
                count_items(g, children[b].low, children[b].high, <uint64_t> -1, counts)
            continue
        record = &g.stack[depth + g.slots[b]]
        if b == g.split.in_place_branch:
            record.level = g.current.level
            record.counting = READY if subtract else RECOUNT
        else:
            record.level = g.current.level + 1
            record.counting = COUNT_AND_SUBTRACT if subtract else COUNT
