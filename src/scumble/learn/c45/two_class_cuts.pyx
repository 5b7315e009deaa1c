"""The best cuts of numeric columns, for two classes where rows are counted.

A cut that leaves p positives and q negatives on its left scores

    ones[p] + zeros[q] - sizes[p + q]

where each table holds x ln x + (total - x) ln (total - x): no logarithm is taken in a node beyond
those tables. Scores are convex in (p, q). So no cut within a run of entries scores more than the
corners of the rectangle of positives and negatives which the run crosses, and most runs need not
be looked into.
"""

from libc.math cimport log
from libc.stdint cimport int64_t, uint32_t, uint64_t

from scumble.learn.c45.grower cimport (
    EntryRun, Candidate, NumericColumn, Grower, EntryRange, add_gain, finish_best_cut, fill_table, init_column,
    init_best_cut, init_node,
)
from scumble.learn.c45.layout cimport (
    MAX_REACH, MIN_VALUE_GAP, MAX_ENTRY_WEIGHT, WEIGHT_BIT, code_of, can_cut_between, reach_of, entry_weight,
)

cdef extern from "scumble/learn/c45/fields.h" nogil:
    int64_t count_cuts "scumble_count_cuts"(const uint64_t* entries, int64_t n)
    uint64_t add_up "scumble_add_up"(const uint64_t* entries, int64_t n, int shift, uint64_t mask)
    void sum_runs "scumble_sum_runs"(
        const uint64_t* entries, int64_t n, int64_t length, int shift, uint64_t mask, uint32_t* sums
    )


cdef struct Scan:  # How far the cuts of a column are judged, and the best so far.
    uint64_t at
    uint64_t left  # rows left of the next cut, and the positive ones
    uint64_t positive
    uint64_t last  # code of the entry before
    Candidate* found


cdef void find_numeric_cuts(Grower* g) noexcept nogil:
    """Judge the numeric columns of the node in hand."""
    cdef int64_t n_lists = g.now.list_high - g.now.list_low
    cdef bint cuttable = n_lists > 0 and open_tables(g)
    cdef int64_t fewest = (g.now.high - g.now.low - 2 * g.least) * 3 // 4
    cdef int64_t full = g.now.high - g.now.low if g.two.heavy else g.n
    cdef int64_t k
    for k in range(n_lists):
        g.candidates[k].gain, g.candidates[k].cuts = -1.0, -1
        if not cuttable:
            continue
        if g.settings.mdl and fewest > 1:
            judge_full(g, k, full, fewest)
        if g.candidates[k].cuts < 0:
            judge(g, k, full)
        finish_best_cut(g, &g.candidates[k])
        add_gain(g, g.candidates[k].gain, 0)


cdef bint open_tables(Grower* g) noexcept nogil:
    """Tabulate what the cuts of a node share; False where there are too few rows."""
    cdef int64_t positive = g.two.positive
    if not init_node(g):
        return False
    g.two.has_bars = False
    g.before = g.table[g.n] - g.table[positive] - g.table[g.n - positive]
    fill_table(g.two.ones, g.table, positive)
    fill_table(g.two.zeros, g.table, g.n - positive)
    return True


cdef inline void open_scan(
    Grower* g, int64_t k, int64_t full, NumericColumn* column, Scan* scan
) noexcept nogil:
    """Begin with a column, before its first entry."""
    init_column(g, k, full, column)
    scan[0] = Scan(column.start, 0, 0, 0, &g.candidates[k])


cdef inline void pass_least(
    const Grower* g, const NumericColumn* column, Scan* scan, uint64_t stop
) noexcept nogil:
    """Go on to the first cut with enough rows to its left."""
    while scan.left < <uint64_t> g.least and scan.at < stop:
        scan.positive += column.entries[scan.at] & (MAX_ENTRY_WEIGHT if g.two.heavy else 1)
        scan.left += entry_weight(column.entries[scan.at]) if g.two.heavy else 1
        scan.last = code_of(column.entries[scan.at])
        scan.at += 1


cdef inline double score_at(const Grower* g, uint64_t positive, uint64_t negative) noexcept nogil:
    return g.two.ones[positive] + g.two.zeros[negative] - g.sizes[positive + negative]


cdef inline double most_within(
    const Grower* g, uint64_t positive, uint64_t negative, uint64_t more, uint64_t fewer
) noexcept nogil:
    """Bound the scores of cuts within a run of ``more`` positives and ``fewer`` negatives."""
    return max(
        max(score_at(g, positive, negative), score_at(g, positive + more, negative + fewer)),
        max(score_at(g, positive + more, negative), score_at(g, positive, negative + fewer)),
    )


# Columns with an entry for each row, of which most are possible cuts: a gain must pay for the
# choice among so many, and few runs of entries can.

cdef void judge_full(Grower* g, int64_t k, int64_t full, int64_t fewest) noexcept nogil:
    """Judge a column that is full and has at least ``fewest`` cuts; others are left with -1."""
    cdef EntryRange* stretch = &g.lists[g.now.list_low + k]
    cdef double bar = max(log(<double> fewest), g.tolerance) - g.before
    cdef NumericColumn column
    cdef Scan scan
    cdef int64_t right = 0
    cdef int64_t cuts, n_opened
    if stretch.stop - stretch.start < full or g.columns.n_codes[stretch.column] < fewest:
        return
    open_scan(g, k, full, &column, &scan)
    pass_least(g, &column, &scan, column.stop)
    while right < g.least:  # the last cut must have enough rows to its right, too
        column.stop -= 1
        right += entry_weight(column.entries[column.stop]) if g.two.heavy else 1
    column.stop += 1
    if <int64_t> scan.at >= column.stop:
        return
    cuts = count_cuts(g.entries + scan.at, column.stop - scan.at)
    if cuts < fewest:
        return
    if not g.two.has_bars:
        g.two.has_bars = True
        fill_bars(g, bar - 1e-3 * g.tolerance)
    scan.found.gain = bar
    n_opened = open_runs(g, &column, &scan, run_length(full))
    if look_into_runs(g, &column, &scan, n_opened, run_length(full)):
        scan.found.cuts = cuts


cdef inline uint64_t run_length(int64_t full) noexcept nogil:
    return 8 if full < 128 else 16 if full < 1024 else 32


cdef void fill_bars(const Grower* g, double bar) noexcept nogil:
    """Tabulate which left sides of a cut may score more than ``bar``.

    ``ones_bar[q]`` receives how many positives it takes beside q negatives, ``zeros_bar[p]`` how
    many negatives beside p positives. Scores are lowest where both sides of the cut have the same
    share of positives, so both bars rise from place to place.
    """
    cdef uint64_t most_ones = g.two.positive
    cdef uint64_t most_zeros = g.n - g.two.positive
    cdef uint64_t p = 0
    cdef uint64_t q
    for q in range(most_zeros + 1):
        while p <= most_ones and score_at(g, p, q) <= bar:
            p += 1
        g.two.ones_bar[q] = <uint32_t> p
    q = 0
    for p in range(most_ones + 1):
        while q <= most_zeros and score_at(g, p, q) <= bar:
            q += 1
        g.two.zeros_bar[p] = <uint32_t> q


cdef int64_t open_runs(
    const Grower* g, const NumericColumn* column, Scan* scan, uint64_t length
) noexcept nogil:
    """Set aside the runs that can pay; a cut on their edges tells what must be surpassed."""
    cdef const uint64_t* entries = column.entries
    cdef const uint32_t* ones_bar = g.two.ones_bar
    cdef const uint32_t* zeros_bar = g.two.zeros_bar
    cdef uint64_t stop = column.stop
    cdef int64_t n = stop - scan.at
    cdef uint64_t at = scan.at
    cdef uint64_t left = scan.left
    cdef uint64_t positive = scan.positive
    cdef uint64_t size = length
    cdef uint64_t more, negative
    cdef int64_t n_opened = 0
    cdef EntryRun* run
    cdef int64_t k
    sum_runs(entries + at, n, length, 0, MAX_ENTRY_WEIGHT if g.two.heavy else 1, g.two.run_ones)
    if g.two.heavy:
        sum_runs(entries + at, n, length, WEIGHT_BIT, MAX_ENTRY_WEIGHT, g.two.run_sizes)
    for k in range((n + <int64_t> length - 1) // <int64_t> length):
        if g.two.heavy:
            size = g.two.run_sizes[k]
        elif at + length > stop:
            size = stop - at
        more = g.two.run_ones[k]
        negative = left - positive
        if positive + more >= ones_bar[negative] or negative + size - more >= zeros_bar[positive]:
            run = &g.two.opened[n_opened]
            run.at, run.left, run.positive, run.size, run.more = at, left, positive, size, more
            n_opened += 1
            if can_cut_between(column.values, code_of(entries[at - 1]), entries[at]):
                scan.found.gain = max(
                    scan.found.gain, score_at(g, positive, negative) - 2.0 * g.tolerance
                )
        left += size
        positive += more
        at += length
    return n_opened


cdef bint look_into_runs(
    const Grower* g, const NumericColumn* column, Scan* scan, int64_t n_opened, uint64_t length
) noexcept nogil:
    """Find the best cut within the opened runs; False where it does not stand out enough."""
    cdef const uint64_t* entries = column.entries
    cdef uint64_t once = 0 if g.two.heavy else 1
    cdef uint64_t weight_mask = MAX_ENTRY_WEIGHT if g.two.heavy else 0
    cdef uint64_t ones_mask = MAX_ENTRY_WEIGHT if g.two.heavy else 1
    cdef double floor = scan.found.gain
    cdef double rounding = 1e-3 * g.tolerance
    cdef bint unsure = False
    cdef uint64_t here, left, positive
    cdef double score
    cdef EntryRun* run
    cdef int64_t i
    scan.found.left = scan.found.left_positive = 0
    for i in range(n_opened):
        run = &g.two.opened[i]
        left, positive = run.left, run.positive
        if (
            most_within(g, positive, left - positive, run.more, run.size - run.more) + rounding
            < scan.found.gain
        ):
            continue
        for here in range(run.at, min(run.at + length, <uint64_t> column.stop)):
            score = score_at(g, positive, left - positive)
            if score > scan.found.gain and can_cut_between(
                column.values, code_of(entries[here - 1]), entries[here]
            ):
                # The first must surpass all that was not looked at by the tolerance.
                unsure |= score <= floor + g.tolerance
                scan.found.gain = score + g.tolerance
                scan.at, scan.found.left, scan.found.left_positive = here, left, positive
            left += once + (entries[here] >> WEIGHT_BIT & weight_mask)
            positive += entries[here] & ones_mask
    scan.found.below = code_of(entries[scan.at - 1])
    scan.found.above = code_of(entries[scan.at])
    return not unsure


# Any column: entries below the default value, the block of rows with the default, entries above.

cdef void judge(Grower* g, int64_t k, int64_t full) noexcept nogil:
    """Find the best cut of a column."""
    cdef uint64_t limit = g.n - g.least
    cdef NumericColumn column
    cdef Scan scan
    open_scan(g, k, full, &column, &scan)
    init_best_cut(g, scan.found)
    scan_entries(g, &column, &scan, column.middle)
    if column.block and scan.left <= limit:
        if (
            scan.left >= <uint64_t> g.least
            and column.values[scan.last] + MIN_VALUE_GAP < column.values[column.default]
        ):
            scan.found.cuts += 1
            try_cut(g, &scan, column.default)
        pass_block(g, &column, &scan)
        scan_entries(g, &column, &scan, column.stop)


cdef inline void try_cut(const Grower* g, Scan* scan, uint64_t code) noexcept nogil:
    cdef double score = score_at(g, scan.positive, scan.left - scan.positive)
    if score > scan.found.gain:
        scan.found.gain = score + g.tolerance
        scan.found.left, scan.found.left_positive = scan.left, scan.positive
        scan.found.below, scan.found.above = scan.last, code


cdef void pass_block(const Grower* g, const NumericColumn* column, Scan* scan) noexcept nogil:
    """Count the rows in no entry: those that no entry counts."""
    cdef const uint64_t* entries = column.entries + column.start
    cdef int64_t n_entries = column.stop - column.start
    cdef uint64_t left = column.block
    if g.two.heavy:
        left = g.n - add_up(entries, n_entries, WEIGHT_BIT, MAX_ENTRY_WEIGHT)
    scan.left += left
    scan.last = column.default
    scan.positive += g.two.positive - add_up(entries, n_entries, 0, MAX_ENTRY_WEIGHT if g.two.heavy else 1)


cdef void scan_entries(
    const Grower* g, const NumericColumn* column, Scan* scan, uint64_t stop
) noexcept nogil:
    """Judge the cuts before each of the entries up to ``stop``."""
    cdef uint64_t limit = g.n - g.least
    cdef uint64_t length = g.n + 1 if g.two.heavy or g.n < 2048 else 32 if g.n < 16384 else 128
    cdef uint64_t end
    pass_least(g, column, scan, stop)
    if scan.left > limit:
        return
    end = min(stop, scan.at + (limit - scan.left) + 1)
    if g.two.heavy:
        scan_each(g, column, scan, end, True)
        return
    while length <= end - scan.at:
        if not skip_run(g, column, scan, length):
            scan_each(g, column, scan, scan.at + length, False)
    scan_each(g, column, scan, end, False)


cdef bint skip_run(
    const Grower* g, const NumericColumn* column, Scan* scan, uint64_t length
) noexcept nogil:
    """Pass over a run of entries in which no cut can be the best; False if one might."""
    cdef const uint64_t* run = column.entries + scan.at
    cdef uint64_t more = add_up(run, length, 0, 1)
    cdef double bound = most_within(
        g, scan.positive, scan.left - scan.positive, more, length - more
    )
    cdef int64_t cuts
    if bound + 1e-3 * g.tolerance >= scan.found.gain or reach_of(run[0]) == MAX_REACH:
        return False
    cuts = count_cuts(run + 1, length - 1)
    if cuts < 0:
        return False
    scan.found.cuts += cuts + (scan.last + reach_of(run[0]) <= code_of(run[0]))
    scan.positive += more
    scan.left += length
    scan.at += length
    scan.last = code_of(run[length - 1])
    return True


cdef inline void scan_each(
    const Grower* g, const NumericColumn* column, Scan* scan, uint64_t end, bint heavy
) noexcept nogil:
    """Judge one cut after another; a ``heavy`` entry tells how often its row counts.

    Each of the two kinds becomes a loop of its own, because callers say which it is.
    """
    cdef const uint64_t* entries = column.entries
    cdef const double* values = column.values
    cdef const double* ones = g.two.ones
    cdef const double* zeros = g.two.zeros
    cdef const double* sizes = g.sizes
    cdef double tolerance = g.tolerance
    cdef uint64_t limit = g.n - g.least
    cdef uint64_t at = scan.at
    cdef uint64_t left = scan.left
    cdef uint64_t positive = scan.positive
    cdef uint64_t last = scan.last
    cdef double best = scan.found.gain
    cdef int64_t cuts = scan.found.cuts
    cdef uint64_t entry, code
    cdef double score
    cdef bint apart
    while at < end and (not heavy or left <= limit):
        entry = entries[at]
        code = code_of(entry)
        apart = can_cut_between(values, last, entry)
        cuts += apart
        score = ones[positive] + zeros[left - positive] - sizes[left]
        if score > best and apart:
            best = score + tolerance
            scan.found.left, scan.found.left_positive = left, positive
            scan.found.below, scan.found.above = last, code
        last = code
        left += entry_weight(entry) if heavy else 1
        positive += entry & (MAX_ENTRY_WEIGHT if heavy else 1)
        at += 1
    scan.at, scan.left, scan.positive, scan.last = at, left, positive, last
    scan.found.gain, scan.found.cuts = best, cuts
