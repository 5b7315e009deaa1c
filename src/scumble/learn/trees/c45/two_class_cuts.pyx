"""The best cuts of numeric columns, for two classes where rows are counted.

A cut that leaves p positive and q negative rows on its left side has the score

    positive_terms[p] + negative_terms[q] - size_terms[p + q]

where each table holds x ln x + (total - x) ln (total - x); apart from these tables no logarithm is
computed for a node. Scores are convex in (p, q). Therefore no cut within a run of entries scores
more than the corners of the rectangle of positive and negative rows that the run covers, and most
runs can be skipped.
"""

from libc.math cimport log
from libc.stdint cimport int64_t, uint32_t, uint64_t

from scumble.learn.trees.c45.grower cimport (
    Candidate, EntryRange, EntryRun, Grower, NumericColumn, add_gain, fill_terms, finish_best_cut,
    init_best_cut, init_column, init_node,
)
from scumble.learn.trees.c45.layout cimport (
    MAX_CUT_DISTANCE, MAX_ENTRY_WEIGHT, MIN_VALUE_GAP, WEIGHT_BIT, can_cut_between, code_of,
    cut_distance_of, entry_weight,
)

cdef extern from "scumble/learn/trees/c45/fields.h" nogil:
    int64_t count_cuts "scumble_count_cuts"(const uint64_t* entries, int64_t n)
    uint64_t sum_field "scumble_sum_field"(
        const uint64_t* entries, int64_t n, int shift, uint64_t mask
    )
    void sum_runs "scumble_sum_runs"(
        const uint64_t* entries, int64_t n, int64_t length, int shift, uint64_t mask, uint32_t* sums
    )


cdef struct Scan:  # The position of a scan through the entries of a column.
    uint64_t position
    uint64_t n_left  # rows left of the next cut
    uint64_t n_left_positive  # the positive ones among them
    uint64_t previous_code  # code of the entry before the position
    Candidate* candidate  # the best cut so far


cdef void find_numeric_cuts(Grower* g) noexcept nogil:
    """Find the best cut of every numeric column of the current node."""
    cdef int64_t n_ranges = g.current.range_high - g.current.range_low
    cdef bint can_cut = n_ranges > 0 and prepare_terms(g)
    cdef int64_t n_rows = g.current.high - g.current.low
    cdef int64_t many_cuts = (n_rows - 2 * g.min_side) * 3 // 4
    cdef int64_t full_size = n_rows if g.two.has_entry_weights else g.n_counted
    cdef int64_t k
    for k in range(n_ranges):
        g.candidates[k].gain, g.candidates[k].n_cuts = -1.0, -1
        if not can_cut:
            continue
        if g.settings.mdl and many_cuts > 1:
            find_cut_of_many(g, k, full_size, many_cuts)
        if g.candidates[k].n_cuts < 0:
            find_cut(g, k, full_size)
        finish_best_cut(g, &g.candidates[k])
        add_gain(g, g.candidates[k].gain, 0)


cdef bint prepare_terms(Grower* g) noexcept nogil:
    """Tabulate the terms of scores for a node; return False if it has too few rows for a cut."""
    cdef int64_t n_positive = g.two.n_positive
    cdef int64_t n_negative = g.n_counted - n_positive
    if not init_node(g):
        return False
    g.two.has_minimums = False
    g.information = (
        g.x_ln_x_table[g.n_counted] - g.x_ln_x_table[n_positive] - g.x_ln_x_table[n_negative]
    )
    fill_terms(g.two.positive_terms, g.x_ln_x_table, n_positive)
    fill_terms(g.two.negative_terms, g.x_ln_x_table, n_negative)
    return True


cdef inline void start_scan(
    Grower* g, int64_t k, int64_t full_size, NumericColumn* column, Scan* scan
) noexcept nogil:
    """Set the fields of the k-th column of the node, and the scan to its first entry."""
    init_column(g, k, full_size, column)
    scan[0] = Scan(column.start, 0, 0, 0, &g.candidates[k])


cdef inline void skip_to_min_side(
    const Grower* g, const NumericColumn* column, Scan* scan, uint64_t stop
) noexcept nogil:
    """Advance to the first cut with enough rows on its left side."""
    cdef bint has_weights = g.two.has_entry_weights
    cdef uint64_t entry
    while scan.n_left < <uint64_t> g.min_side and scan.position < stop:
        entry = column.entries[scan.position]
        scan.n_left_positive += entry & (MAX_ENTRY_WEIGHT if has_weights else 1)
        scan.n_left += entry_weight(entry) if has_weights else 1
        scan.previous_code = code_of(entry)
        scan.position += 1


cdef inline double cut_score(
    const Grower* g, uint64_t n_positive, uint64_t n_negative
) noexcept nogil:
    """Return the score of a cut by the numbers of rows on its left side."""
    return (
        g.two.positive_terms[n_positive]
        + g.two.negative_terms[n_negative]
        - g.size_terms[n_positive + n_negative]
    )


cdef inline double max_score_within(
    const Grower* g, uint64_t left_positive, uint64_t left_negative, uint64_t run_positive,
    uint64_t run_negative,
) noexcept nogil:
    """Return an upper bound of the scores of the cuts within a run of entries.

    ``left_*`` count the rows before the run, ``run_*`` those of the run.
    """
    cdef uint64_t end_positive = left_positive + run_positive
    cdef uint64_t end_negative = left_negative + run_negative
    return max(
        max(cut_score(g, left_positive, left_negative), cut_score(g, end_positive, end_negative)),
        max(cut_score(g, end_positive, left_negative), cut_score(g, left_positive, end_negative)),
    )


# Columns with an entry for each row, in which cuts are possible at most positions. Their gain is
# reduced by the logarithm of the number of cuts, and only few runs contain cuts that exceed this.

cdef void find_cut_of_many(
    Grower* g, int64_t k, int64_t full_size, int64_t many_cuts
) noexcept nogil:
    """Set the candidate of a column with all entries and at least ``many_cuts`` possible cuts.

    For other columns, and if other cuts may be equal to the best one, the number of cuts stays -1.
    """
    cdef EntryRange* entry_range = &g.ranges[g.current.range_low + k]
    cdef double min_score = max(log(<double> many_cuts), g.score_tolerance) - g.information
    cdef NumericColumn column
    cdef Scan scan
    cdef int64_t n_right = 0
    cdef int64_t n_cuts, n_runs
    if entry_range.stop - entry_range.start < full_size:
        return
    if g.columns.n_codes[entry_range.column] < many_cuts:
        return
    start_scan(g, k, full_size, &column, &scan)
    skip_to_min_side(g, &column, &scan, column.stop)
    while n_right < g.min_side:  # the last cut needs enough rows on its right side
        column.stop -= 1
        n_right += entry_weight(column.entries[column.stop]) if g.two.has_entry_weights else 1
    column.stop += 1
    if <int64_t> scan.position >= column.stop:
        return
    n_cuts = count_cuts(g.entries + scan.position, column.stop - scan.position)
    if n_cuts < many_cuts:
        return
    if not g.two.has_minimums:
        g.two.has_minimums = True
        fill_minimums(g, min_score - 1e-3 * g.score_tolerance)
    scan.candidate.gain = min_score
    n_runs = collect_runs(g, &column, &scan, run_length(full_size))
    if scan_runs(g, &column, &scan, n_runs, run_length(full_size)):
        scan.candidate.n_cuts = n_cuts


cdef inline uint64_t run_length(int64_t full_size) noexcept nogil:
    """Return the number of entries per run: longer runs in longer columns."""
    if full_size < 128:
        return 8
    return 16 if full_size < 1024 else 32


cdef void fill_minimums(const Grower* g, double min_score) noexcept nogil:
    """Tabulate which left sides of a cut may score more than ``min_score``.

    ``min_positive[q]`` is the number of positive rows that are needed besides q negative rows,
    ``min_negative[p]`` the number of negative rows besides p positive rows. The score is lowest
    where both sides of the cut have the same share of positive rows, so both tables ascend.
    """
    cdef uint64_t n_positive = g.two.n_positive
    cdef uint64_t n_negative = g.n_counted - g.two.n_positive
    cdef uint64_t p = 0
    cdef uint64_t q
    for q in range(n_negative + 1):
        while p <= n_positive and cut_score(g, p, q) <= min_score:
            p += 1
        g.two.min_positive[q] = <uint32_t> p
    q = 0
    for p in range(n_positive + 1):
        while q <= n_negative and cut_score(g, p, q) <= min_score:
            q += 1
        g.two.min_negative[p] = <uint32_t> q


cdef int64_t collect_runs(
    const Grower* g, const NumericColumn* column, Scan* scan, uint64_t length
) noexcept nogil:
    """Collect the runs that may contain a cut above the minimum; return their number.

    A cut at the start of such a run raises the score that other cuts have to exceed.
    """
    cdef const uint64_t* entries = column.entries
    cdef const uint32_t* min_positive = g.two.min_positive
    cdef const uint32_t* min_negative = g.two.min_negative
    cdef bint has_weights = g.two.has_entry_weights
    cdef uint64_t stop = column.stop
    cdef int64_t n_entries = stop - scan.position
    cdef uint64_t start = scan.position
    cdef uint64_t n_left = scan.n_left
    cdef uint64_t left_positive = scan.n_left_positive
    cdef uint64_t n_rows = length
    cdef uint64_t run_positive, left_negative
    cdef int64_t n_runs = 0
    cdef EntryRun* run
    cdef int64_t k
    sum_runs(
        entries + start, n_entries, length, 0, MAX_ENTRY_WEIGHT if has_weights else 1,
        g.two.run_positive,
    )
    if has_weights:
        sum_runs(
            entries + start, n_entries, length, WEIGHT_BIT, MAX_ENTRY_WEIGHT, g.two.run_rows
        )
    for k in range((n_entries + <int64_t> length - 1) // <int64_t> length):
        if has_weights:
            n_rows = g.two.run_rows[k]
        elif start + length > stop:
            n_rows = stop - start
        run_positive = g.two.run_positive[k]
        left_negative = n_left - left_positive
        if (
            left_positive + run_positive >= min_positive[left_negative]
            or left_negative + n_rows - run_positive >= min_negative[left_positive]
        ):
            run = &g.two.runs[n_runs]
            run.start = start
            run.n_left = n_left
            run.n_left_positive = left_positive
            run.n_rows = n_rows
            run.n_positive = run_positive
            n_runs += 1
            if can_cut_between(column.values, code_of(entries[start - 1]), entries[start]):
                scan.candidate.gain = max(
                    scan.candidate.gain,
                    cut_score(g, left_positive, left_negative) - 2.0 * g.score_tolerance,
                )
        n_left += n_rows
        left_positive += run_positive
        start += length
    return n_runs


cdef bint scan_runs(
    const Grower* g, const NumericColumn* column, Scan* scan, int64_t n_runs, uint64_t length
) noexcept nogil:
    """Find the best cut within the collected runs; False if others may be equal to it."""
    cdef const uint64_t* entries = column.entries
    cdef uint64_t constant_weight = 0 if g.two.has_entry_weights else 1
    cdef uint64_t weight_mask = MAX_ENTRY_WEIGHT if g.two.has_entry_weights else 0
    cdef uint64_t positive_mask = MAX_ENTRY_WEIGHT if g.two.has_entry_weights else 1
    cdef double min_score = scan.candidate.gain
    cdef double rounding_error = 1e-3 * g.score_tolerance
    cdef double max_score, score
    cdef bint is_ambiguous = False
    cdef uint64_t position, n_left, left_positive
    cdef EntryRun* run
    cdef int64_t i
    scan.candidate.left_weight = scan.candidate.left_positive = 0
    for i in range(n_runs):
        run = &g.two.runs[i]
        n_left, left_positive = run.n_left, run.n_left_positive
        max_score = max_score_within(
            g, left_positive, n_left - left_positive, run.n_positive, run.n_rows - run.n_positive
        )
        if max_score + rounding_error < scan.candidate.gain:
            continue
        for position in range(run.start, min(run.start + length, <uint64_t> column.stop)):
            score = cut_score(g, left_positive, n_left - left_positive)
            if score > scan.candidate.gain and can_cut_between(
                column.values, code_of(entries[position - 1]), entries[position]
            ):
                # The first cut must exceed all cuts that were skipped by the tolerance.
                is_ambiguous |= score <= min_score + g.score_tolerance
                scan.candidate.gain = score + g.score_tolerance
                scan.position = position
                scan.candidate.left_weight = n_left
                scan.candidate.left_positive = left_positive
            n_left += constant_weight + (entries[position] >> WEIGHT_BIT & weight_mask)
            left_positive += entries[position] & positive_mask
    scan.candidate.code_below = code_of(entries[scan.position - 1])
    scan.candidate.code_above = code_of(entries[scan.position])
    return not is_ambiguous


# Any column: first the entries below the default value, then the rows with the default value, which
# have no entries, then the entries above it.

cdef void find_cut(Grower* g, int64_t k, int64_t full_size) noexcept nogil:
    """Set the candidate of the k-th column of the node to its best cut."""
    cdef uint64_t max_left = g.n_counted - g.min_side
    cdef NumericColumn column
    cdef Scan scan
    start_scan(g, k, full_size, &column, &scan)
    init_best_cut(g, scan.candidate)
    scan_entries(g, &column, &scan, column.default_position)
    if column.n_default and scan.n_left <= max_left:
        if (
            scan.n_left >= <uint64_t> g.min_side
            and column.values[scan.previous_code] + MIN_VALUE_GAP
            < column.values[column.default_code]
        ):
            scan.candidate.n_cuts += 1
            try_cut(g, &scan, column.default_code)
        pass_default_rows(g, &column, &scan)
        scan_entries(g, &column, &scan, column.stop)


cdef inline void try_cut(const Grower* g, Scan* scan, uint64_t code_above) noexcept nogil:
    """Compare the cut at the position of the scan with the best one so far."""
    cdef double score = cut_score(g, scan.n_left_positive, scan.n_left - scan.n_left_positive)
    if score > scan.candidate.gain:
        scan.candidate.gain = score + g.score_tolerance
        scan.candidate.left_weight = scan.n_left
        scan.candidate.left_positive = scan.n_left_positive
        scan.candidate.code_below = scan.previous_code
        scan.candidate.code_above = code_above


cdef void pass_default_rows(
    const Grower* g, const NumericColumn* column, Scan* scan
) noexcept nogil:
    """Move the rows without entries to the left side: all rows less those of the entries."""
    cdef const uint64_t* entries = column.entries + column.start
    cdef int64_t n_entries = column.stop - column.start
    cdef bint has_weights = g.two.has_entry_weights
    cdef uint64_t n_default = column.n_default
    if has_weights:
        n_default = g.n_counted - sum_field(entries, n_entries, WEIGHT_BIT, MAX_ENTRY_WEIGHT)
    scan.n_left += n_default
    scan.n_left_positive += g.two.n_positive - sum_field(
        entries, n_entries, 0, MAX_ENTRY_WEIGHT if has_weights else 1
    )
    scan.previous_code = column.default_code


cdef void scan_entries(
    const Grower* g, const NumericColumn* column, Scan* scan, uint64_t stop
) noexcept nogil:
    """Compare the cuts before each of the entries up to ``stop``."""
    cdef uint64_t max_left = g.n_counted - g.min_side
    cdef uint64_t length, end
    skip_to_min_side(g, column, scan, stop)
    if scan.n_left > max_left:
        return
    end = min(stop, scan.position + (max_left - scan.n_left) + 1)
    if g.two.has_entry_weights:
        compare_cuts(g, column, scan, end, True)
        return
    if g.n_counted >= 2048:  # in smaller nodes too few runs can be skipped
        length = 32 if g.n_counted < 16384 else 128
        while length <= end - scan.position:
            if not skip_run(g, column, scan, length):
                compare_cuts(g, column, scan, scan.position + length, False)
    compare_cuts(g, column, scan, end, False)


cdef bint skip_run(
    const Grower* g, const NumericColumn* column, Scan* scan, uint64_t length
) noexcept nogil:
    """Skip a run of entries in which no cut can be the best one; return False if one can."""
    cdef const uint64_t* run = column.entries + scan.position
    cdef uint64_t run_positive = sum_field(run, length, 0, 1)
    cdef double max_score = max_score_within(
        g, scan.n_left_positive, scan.n_left - scan.n_left_positive, run_positive,
        length - run_positive,
    )
    cdef int64_t n_cuts
    if max_score + 1e-3 * g.score_tolerance >= scan.candidate.gain:
        return False
    if cut_distance_of(run[0]) == MAX_CUT_DISTANCE:
        return False
    n_cuts = count_cuts(run + 1, length - 1)
    if n_cuts < 0:
        return False
    n_cuts += scan.previous_code + cut_distance_of(run[0]) <= code_of(run[0])
    scan.candidate.n_cuts += n_cuts
    scan.n_left_positive += run_positive
    scan.n_left += length
    scan.position += length
    scan.previous_code = code_of(run[length - 1])
    return True


cdef inline void compare_cuts(
    const Grower* g, const NumericColumn* column, Scan* scan, uint64_t end, bint has_weights
) noexcept nogil:
    """Compare the cuts before each entry up to ``end`` with the best one.

    ``has_weights`` is a constant in each call, so that the compiler makes a loop for entries with
    weights and one for entries without.
    """
    cdef const uint64_t* entries = column.entries
    cdef const double* values = column.values
    cdef const double* positive_terms = g.two.positive_terms
    cdef const double* negative_terms = g.two.negative_terms
    cdef const double* size_terms = g.size_terms
    cdef double tolerance = g.score_tolerance
    cdef uint64_t max_left = g.n_counted - g.min_side
    cdef uint64_t position = scan.position
    cdef uint64_t n_left = scan.n_left
    cdef uint64_t left_positive = scan.n_left_positive
    cdef uint64_t previous_code = scan.previous_code
    cdef double best = scan.candidate.gain
    cdef int64_t n_cuts = scan.candidate.n_cuts
    cdef uint64_t entry, code
    cdef double score
    cdef bint is_cut
    while position < end and (not has_weights or n_left <= max_left):
        entry = entries[position]
        code = code_of(entry)
        is_cut = can_cut_between(values, previous_code, entry)
        n_cuts += is_cut
        score = (
            positive_terms[left_positive]
            + negative_terms[n_left - left_positive]
            - size_terms[n_left]
        )
        if score > best and is_cut:
            best = score + tolerance
            scan.candidate.left_weight = n_left
            scan.candidate.left_positive = left_positive
            scan.candidate.code_below = previous_code
            scan.candidate.code_above = code
        previous_code = code
        n_left += entry_weight(entry) if has_weights else 1
        left_positive += entry & (MAX_ENTRY_WEIGHT if has_weights else 1)
        position += 1
    scan.position = position
    scan.n_left = n_left
    scan.n_left_positive = left_positive
    scan.previous_code = previous_code
    scan.candidate.gain = best
    scan.candidate.n_cuts = n_cuts
