"""Splits for two classes where rows are counted: no missing values, no fractions of a row.

Numeric columns are lists of entries, whose cuts are judged in `cuts`. Nominal columns are counted
row by row in one pass over the node's items (a column and a value other than its most frequent
one). Of two branches only the smaller is counted, and subtracted from its parent. A branch that is
not the largest has at most half of its parent's rows, so waiting nodes need no more than log2(n)
levels of counts.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from scumble.learn.c45.arithmetic cimport LN2, TINY
from scumble.learn.c45.two_class_cuts cimport find_numeric_cuts
from scumble.learn.c45.grower cimport (
    COUNT, COUNT_AND_SUBTRACT, READY, RECOUNT, EntryRun, Candidate, Grower, TwoClassState, StackRecord,
    add_gain, set_branch,
)
from scumble.learn.c45.layout cimport MAX_ENTRY_WEIGHT, WEIGHT_BIT, Items, row_of
from scumble.learn.c45.memory cimport lower_bound, reserve
from scumble.learn.c45.nodes cimport Node, counts_of

cdef enum:
    POSITIVE_BIT = 32  # an item's counts: rows in the lower half, positive rows in the upper


cdef inline uint64_t times(const Grower* g, uint64_t row) noexcept nogil:
    """Tell how often a row counts."""
    return 1 if g.sample.weights == NULL else <uint64_t> g.sample.weights[row]


cdef int start_two_classes(Grower* g) except -1 nogil:
    """Count the training rows and decide how entries tell what a row counts."""
    cdef TwoClassState* two = &g.two
    cdef uint64_t most = 1
    cdef uint64_t row, often
    cdef Py_ssize_t i
    g.n = two.positive = 0
    for i in range(g.sample.n):
        row = g.sample.rows[i]
        often = times(g, row)
        g.n += often
        two.positive += often * g.sample.y[row]
        most = max(most, often)
    # Rows that count several times have one entry that says so, where it has room for that.
    two.heavy = 1 < most <= MAX_ENTRY_WEIGHT and g.sample.n_table < 1 << 24
    g.row_bit = 2 * WEIGHT_BIT if two.heavy else 1
    g.least_entries = 1 if two.heavy else g.settings.min_objects
    if g.n_listed:
        reserve(g.memory, <void**> &two.bits, g.sample.n_table, sizeof(uint8_t))
        for i in range(g.sample.n):
            row = g.sample.rows[i]
            two.bits[row] = g.sample.y[row]
            if two.heavy:
                often = times(g, row)
                two.bits[row] = often << WEIGHT_BIT | often * g.sample.y[row]
        reserve_tables(g)
    g.nodes.counts[0] = g.n - two.positive
    g.nodes.counts[1] = two.positive
    return 0


cdef int reserve_tables(Grower* g) except -1 nogil:
    cdef TwoClassState* two = &g.two
    cdef Py_ssize_t size = g.n + 1
    reserve(g.memory, <void**> &two.ones, size, sizeof(double))
    reserve(g.memory, <void**> &two.zeros, size, sizeof(double))
    reserve(g.memory, <void**> &g.sizes, size, sizeof(double))
    reserve(g.memory, <void**> &two.ones_bar, size, sizeof(uint32_t))
    reserve(g.memory, <void**> &two.zeros_bar, size, sizeof(uint32_t))
    reserve(g.memory, <void**> &two.opened, size // 8 + 1, sizeof(EntryRun))
    reserve(g.memory, <void**> &two.run_ones, size // 8 + 1, sizeof(uint32_t))
    reserve(g.memory, <void**> &two.run_sizes, size // 8 + 1, sizeof(uint32_t))
    return 0


cdef int start_items(Grower* g) except -1 nogil:
    """Count the nominal columns of the training rows."""
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
    if two.place_of != NULL:
        for i in range(g.sample.n):
            two.place_of[g.rows[i]] = i
    return 0


cdef void count_positive_items(Grower* g) noexcept nogil:
    """Add the items of positive rows, where all rows are counted already."""
    cdef uint64_t* counts = g.two.item_counts
    cdef const uint32_t* indices = g.items.indices
    cdef uint64_t row
    cdef int64_t at
    cdef Py_ssize_t i
    for i in range(g.sample.n):
        row = g.rows[i]
        if g.sample.y[row]:
            for at in range(g.items.indptr[row], g.items.indptr[row + 1]):
                counts[indices[at]] += <uint64_t> 1 << POSITIVE_BIT


cdef void count_items(
    Grower* g, int64_t low, int64_t high, uint64_t sign, uint64_t* counts
) noexcept nogil:
    """Add the items of some rows to ``counts``, or take them off: a sign of -1 wraps around."""
    cdef const uint32_t* indices = g.items.indices
    cdef const int64_t* indptr = g.items.indptr
    cdef uint64_t row, packed
    cdef int64_t i, at
    for i in range(low, high):
        row = g.rows[i]
        packed = (1 | <uint64_t> g.sample.y[row] << POSITIVE_BIT) * times(g, row) * sign
        for at in range(indptr[row], indptr[row + 1]):
            counts[indices[at]] += packed


cdef void score_two_class_columns(Grower* g) noexcept nogil:
    """Judge all columns of the node in hand; gains are in nats times rows."""
    cdef const double* counts = counts_of(&g.nodes, g.now.node)
    g.two.positive = <int64_t> counts[1]
    g.n = g.two.positive + <int64_t> counts[0]
    judge_items(g)
    find_numeric_cuts(g)


cdef void judge_items(Grower* g) noexcept nogil:
    """Count and judge the nominal columns; those that cannot split any more are dropped."""
    cdef TwoClassState* two = &g.two
    cdef int64_t level = g.now.level
    cdef int64_t above = level
    cdef uint64_t* counts = two.item_counts + level * g.items.n
    cdef int64_t k, column
    if g.now.counting == COUNT or g.now.counting == COUNT_AND_SUBTRACT:
        above = level - 1
    if two.n_open[above] == 0:
        two.n_open[level] = 0
        return
    if g.now.counting != READY:
        for k in range(two.n_open[above]):
            column = two.open_columns[above * two.n_nominal + k]
            memset(
                counts + g.items.first[column], 0,
                (g.items.first[column + 1] - g.items.first[column]) * sizeof(uint64_t),
            )
        count_items(g, g.now.low, g.now.high, 1, counts)
        g.work += (g.now.high - g.now.low) * (g.items.indptr[g.sample.n_table] // g.sample.n_table)
    judge_open_columns(g, above)


cdef void judge_open_columns(Grower* g, int64_t above) noexcept nogil:
    """Judge the columns open at level ``above`` by the node's counts, taken off those there."""
    cdef TwoClassState* two = &g.two
    cdef const double* table = g.table
    cdef const int64_t* first = g.items.first
    cdef const int64_t* columns = two.open_columns + above * two.n_nominal
    cdef int64_t* open_here = two.open_columns + g.now.level * two.n_nominal
    cdef uint64_t* counts = two.item_counts + g.now.level * g.items.n
    cdef uint64_t* parents = two.item_counts + above * g.items.n
    cdef double* gains = two.gains
    cdef double* branch_sums = two.branch_sums
    cdef int64_t n_columns = two.n_open[above]
    cdef double gain_sum = 0.0
    cdef bint subtract = g.now.counting == COUNT_AND_SUBTRACT
    cdef uint64_t n = g.n
    cdef uint64_t ones = two.positive
    cdef uint64_t least = g.settings.min_objects
    cdef double before = table[n] - table[ones] - table[n - ones]
    cdef uint64_t packed, a, b, p, q
    cdef double branches, classes, saved
    cdef int64_t i, low, column
    cdef int64_t kept = 0
    for i in range(n_columns):
        column = columns[i]
        low = first[column]
        if first[column + 1] - low == 1:
            packed = counts[low]
            if subtract:
                parents[low] -= packed
            a = packed & 0xFFFFFFFFU
            p = packed >> POSITIVE_BIT
            b = n - a
            if a < least or b < least:
                continue
            q = ones - p
            branches = table[a] + table[b]
            classes = table[p] + table[a - p] + table[q] + table[b - q]
        elif not sum_up_values(
            g, column, counts, parents if subtract else NULL, &branches, &classes
        ):
            continue
        saved = before + classes - branches
        saved = saved if saved >= TINY * LN2 else 0.0
        open_here[kept] = column
        gains[kept] = saved
        branch_sums[kept] = branches
        gain_sum += saved
        kept += 1
    two.n_open[g.now.level] = kept
    if g.all_in_mean:
        g.gain_sum, g.n_valid = gain_sum, kept
        return
    for i in range(kept):
        add_gain(g, gains[i], g.columns.n_values[open_here[i]])


cdef bint sum_up_values(
    Grower* g, int64_t column, const uint64_t* counts, uint64_t* parents, double* branches,
    double* classes,
) noexcept nogil:
    """Sum x ln x over the branches of a column of several items; False if it cannot split."""
    cdef const double* table = g.table
    cdef uint64_t least = g.settings.min_objects
    cdef uint64_t rest = g.n
    cdef uint64_t rest_ones = g.two.positive
    cdef double over_branches = 0.0
    cdef double over_classes = 0.0
    cdef int64_t heavy = 0
    cdef uint64_t a, p
    cdef int64_t item
    for item in range(g.items.first[column], g.items.first[column + 1]):
        if parents != NULL:
            parents[item] -= counts[item]
        a = counts[item] & 0xFFFFFFFFU
        p = counts[item] >> POSITIVE_BIT
        rest -= a
        rest_ones -= p
        heavy += a >= least
        over_branches += table[a]
        over_classes += table[p] + table[a - p]
    heavy += rest >= least
    branches[0] = over_branches + table[rest]
    classes[0] = over_classes + (table[rest_ones] + table[rest - rest_ones])
    return heavy >= 2


cdef void count_two_class_branches(Grower* g) noexcept nogil:
    """Write the counts of the branches; one gets what the others leave."""
    cdef const uint64_t* packed = g.two.item_counts + g.now.level * g.items.n
    cdef double* counts = counts_of(&g.nodes, g.split.child)
    cdef int64_t column = g.split.column
    cdef int64_t rest = g.split.rest
    cdef double zeros = g.n - g.two.positive
    cdef double ones = g.two.positive
    cdef Candidate* found
    cdef int64_t item, b
    if g.split.place >= 0:
        found = &g.candidates[g.split.place]
        counts[0] = found.left - found.left_positive
        counts[1] = found.left_positive
        rest = 1
    else:
        for item in range(g.items.first[column], g.items.first[column + 1]):
            b = g.items.codes[item]
            counts[2 * b + 1] = packed[item] >> POSITIVE_BIT
            counts[2 * b] = (packed[item] & 0xFFFFFFFFU) - (packed[item] >> POSITIVE_BIT)
    for b in range(g.split.n_branches):
        if b != rest:
            zeros -= counts[2 * b]
            ones -= counts[2 * b + 1]
    counts[2 * rest], counts[2 * rest + 1] = zeros, ones


cdef void set_branches_by_items(Grower* g) noexcept nogil:
    """Note the branch of every row of a node that is split by a nominal column."""
    cdef int64_t column = g.split.column
    cdef int64_t first = g.items.first[column]
    cdef int64_t last = g.items.first[column + 1]
    cdef int64_t i, item, at
    cdef int32_t code
    if g.items.stops[last - 1] - g.items.starts[first] >= 16 * (g.now.high - g.now.low):
        for i in range(g.now.low, g.now.high):
            item = find_item(&g.items, g.rows[i], first, last)
            set_branch(g, g.rows[i], g.items.codes[item] if item >= 0 else g.split.rest)
        return
    for i in range(g.now.low, g.now.high):
        set_branch(g, g.rows[i], g.split.rest)
    for item in range(first, last):
        code = g.items.codes[item]
        for at in range(g.items.starts[item], g.items.stops[item]):
            set_branch(g, row_of(g.columns.entries[at], 0), code)


cdef inline int64_t find_item(
    const Items* items, uint64_t row, int64_t first, int64_t last
) noexcept nogil:
    """Find which of the items first..last a row has; -1 where it has none."""
    cdef int64_t stop = items.indptr[row + 1]
    cdef int64_t at = lower_bound(items.indices, items.indptr[row], stop, <uint32_t> first)
    return items.indices[at] if at < stop and items.indices[at] < last else -1


cdef void swap_rows(Grower* g) noexcept nogil:
    """Bring the rows with an item to one end of a node's stretch, the others to the other.

    They change places with others, so the work is that of the item's rows, not of the node's.
    """
    cdef int64_t item = g.items.first[g.split.column]
    cdef int64_t low = g.now.low
    cdef int64_t high = g.now.high
    cdef bint first_holds = g.split.rest == 1  # rows with the item are branch 0
    cdef int64_t edge = low if first_holds else high
    cdef int64_t at, place
    if g.items.stops[item] - g.items.starts[item] < 8 * (high - low):
        for at in range(g.items.starts[item], g.items.stops[item]):
            place = g.two.place_of[row_of(g.columns.entries[at], 0)]
            if low <= place < high:
                edge = move_to_edge(g, place, edge, first_holds)
    else:
        place = low
        while place < (high if first_holds else edge):
            if find_item(&g.items, g.rows[place], item, item + 1) >= 0:
                edge = move_to_edge(g, place, edge, first_holds)
                place += first_holds  # else another row has come to this place
            else:
                place += 1
    g.bounds[0], g.bounds[1], g.bounds[2] = low, edge, high


cdef inline int64_t move_to_edge(
    Grower* g, int64_t place, int64_t edge, bint first_holds
) noexcept nogil:
    """Let a row change places with the one at the edge; return the edge beyond it."""
    cdef uint32_t row = g.rows[place]
    cdef int64_t to = edge if first_holds else edge - 1
    cdef uint32_t other = g.rows[to]
    g.rows[place] = other
    g.two.place_of[other] = <uint32_t> place
    g.rows[to] = row
    g.two.place_of[row] = <uint32_t> to
    return edge + 1 if first_holds else to


cdef void queue_two_class_counts(Grower* g, Py_ssize_t depth) noexcept nogil:
    """Decide how the branches that go on come by the counts of their nominal columns.

    The in_place_branch's are what remains of its parent's when all others are taken off, unless counting
    it anew is less work.
    """
    cdef uint64_t* counts = g.two.item_counts + g.now.level * g.items.n
    cdef Node* children = &g.nodes.at[g.split.child]
    cdef Node* in_place_branch = &children[g.split.in_place_branch]
    cdef int64_t dead = 0
    cdef StackRecord* waiting
    cdef bint subtract
    cdef int64_t b
    for b in range(g.split.n_branches):
        if g.slot[b] < 0:
            dead += children[b].high - children[b].low
    subtract = dead <= in_place_branch.high - in_place_branch.low
    for b in range(g.split.n_branches):
        if g.slot[b] < 0:
            if subtract and g.two.n_open[g.now.level]:
                count_items(g, children[b].low, children[b].high, <uint64_t> -1, counts)
            continue
        waiting = &g.waiting[depth + g.slot[b]]
        if b == g.split.in_place_branch:
            waiting.level = g.now.level
            waiting.counting = READY if subtract else RECOUNT
        else:
            waiting.level = g.now.level + 1
            waiting.counting = COUNT_AND_SUBTRACT if subtract else COUNT
