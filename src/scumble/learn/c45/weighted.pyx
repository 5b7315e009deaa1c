"""Splits for any classes, weights and missing values.

Rows whose value is missing take part in no cut of the column, and go down every branch with a part
of their weight. As long as all weights in a node are whole numbers, x ln x comes from a table.
"""

from libc.math cimport INFINITY, fabs, log2
from libc.stdint cimport int64_t, uint32_t, uint64_t

from scumble.learn.c45.arithmetic cimport LN2, TINY, x_ln_x
from scumble.learn.c45.grower cimport (
    Candidate, Chord, ClassWeights, Grower, Stretch, Weighted, add_gain, branch_of, least_of,
)
from scumble.learn.c45.layout cimport GAP, MISSING, code_of, is_apart, row_of
from scumble.learn.c45.memory cimport reserve
from scumble.learn.c45.nodes cimport Node, counts_of


cdef struct Column:  # A column of the node in hand while it is judged.
    const uint64_t* entries
    const double* values
    int64_t start
    int64_t stop  # of the known values
    int64_t default
    int64_t n_block  # rows with the default value, in no entry
    double zeros  # known weight of the two classes, and of the block
    double ones
    double block_zeros
    double block_ones
    double before
    double least  # weight on either side of a cut
    double tolerance


cdef struct Best:  # The best cut so far.
    double saved
    int64_t cuts
    int64_t below
    int64_t above
    double left


cdef int start_weighted(Grower* g) except -1 nogil:
    """Lay out the weights of the training rows, and count their classes."""
    cdef Weighted* w = &g.weighted
    cdef Py_ssize_t i
    cdef uint32_t row
    g.row_bit = 0
    g.least_entries = 1
    w.divided = False
    reserve(g.memory, <void**> &w.weight_of, g.sample.n_table, sizeof(double))
    reserve(g.memory, <void**> &w.signed_of, g.sample.n_table, sizeof(double))
    reserve(g.memory, <void**> &w.by_class, g.sample.n_classes, sizeof(ClassWeights))
    reserve(g.memory, <void**> &w.classes, g.sample.n_classes, sizeof(int64_t))
    reserve(g.memory, <void**> &g.row_weights, 2 * g.sample.n, sizeof(double))
    for i in range(g.sample.n):
        row = g.rows[i]
        g.row_weights[i] = 1.0 if g.sample.weights == NULL else g.sample.weights[row]
        g.nodes.counts[g.sample.y[row]] += g.row_weights[i]
    return 0


cdef void judge_weighted(Grower* g) noexcept nogil:
    """Judge all columns of the node in hand; gains are in bits a row."""
    cdef int64_t n_values, k
    cdef Candidate* found
    load_weights(g)
    for k in range(g.now.list_high - g.now.list_low):
        n_values = g.columns.n_values[g.lists[g.now.list_low + k].column]
        found = &g.candidates[k]
        found.gain = -1.0
        if n_values > 0:
            judge_codes(g, k)
        elif g.sample.n_classes == 2:
            judge_numbers_of_two(g, k)
        else:
            judge_numbers(g, k)
        add_gain(g, found, n_values)


cdef void load_weights(Grower* g) noexcept nogil:
    """Look up what is known of the rows and classes of the node."""
    cdef Weighted* w = &g.weighted
    cdef const double* counts = counts_of(&g.nodes, g.now.node)
    cdef double weight
    cdef uint32_t row
    cdef int64_t i
    cdef Py_ssize_t c
    w.total = 0.0
    w.n_present = 0
    for c in range(g.sample.n_classes):
        w.by_class[c].total = counts[c]
        w.total += counts[c]
        if counts[c] > 0.0:
            w.classes[w.n_present] = c
            w.n_present += 1
    w.whole = w.total + 1.0 < g.table_length
    for i in range(g.now.low, g.now.high):
        weight = g.row_weights[i]
        row = g.rows[i]
        w.weight_of[row] = weight
        w.signed_of[row] = weight if g.sample.y[row] else -weight
        if w.whole and weight != <double> <int64_t> weight:
            w.whole = False
    w.total_term = w.before = xlx(g, w.total)
    for i in range(w.n_present):
        w.before -= xlx(g, w.by_class[w.classes[i]].total)


cdef inline double xlx(const Grower* g, double x) noexcept nogil:
    if g.weighted.whole:
        return g.table[<int64_t> (x + 0.5)]
    return x_ln_x(x)


cdef double split_info(const Grower* g, double known, double left) noexcept nogil:
    """Return the information of a cut itself, times the weight of the node, in bits."""
    cdef double total = g.weighted.total
    cdef double lost = 0.0 if known == total else xlx(g, total - known)
    return (g.weighted.total_term - xlx(g, left) - xlx(g, known - left) - lost) / LN2


cdef void keep(Grower* g, int64_t k, const Best* best, double gain, double known) noexcept nogil:
    """Store a cut with its gain, unless it does not pay for the choice among the cuts."""
    cdef Candidate* found = &g.candidates[k]
    cdef double info
    if best.cuts == 0:
        return
    if g.settings.mdl:
        gain -= log2(<double> best.cuts) / g.weighted.total
    if gain < TINY:
        return
    info = split_info(g, known, best.left)
    found.gain = gain
    found.ratio = 0.0 if fabs(info) < TINY else gain / (info / g.weighted.total)
    found.below, found.above = best.below, best.above


cdef void open_column(
    const Grower* g, const Stretch* stretch, Column* column, Best* best
) noexcept nogil:
    """Begin with a column; its missing values come last, and are left out."""
    column.entries = g.entries
    column.values = g.columns.values + g.columns.begins[stretch.column]
    column.start, column.stop = stretch.start, stretch.stop
    while column.stop > column.start and code_of(g.entries[column.stop - 1]) == MISSING:
        column.stop -= 1
    column.default = g.columns.defaults[stretch.column]
    column.n_block = g.now.high - g.now.low - (stretch.stop - stretch.start)
    best.saved = best.left = 0.0
    best.cuts = 0
    best.below = best.above = -1


cdef bint too_few(const Grower* g, double known, double n_rows, double least) noexcept nogil:
    return 2.0 * least - (known if g.sample.repeated else n_rows) > TINY


# Two classes: few logarithms, or none.

cdef void judge_numbers_of_two(Grower* g, int64_t k) noexcept nogil:
    """Find the best cut of a numeric column for two classes."""
    cdef Weighted* w = &g.weighted
    cdef Stretch* stretch = &g.lists[g.now.list_low + k]
    cdef Column column
    cdef Best best
    cdef double known, weight
    cdef int64_t at
    open_column(g, stretch, &column, &best)
    column.zeros, column.ones = w.by_class[0].total, w.by_class[1].total
    for at in range(column.stop, stretch.stop):
        weight = w.signed_of[row_of(g.entries[at], 0)]
        column.ones -= max(weight, 0.0)
        column.zeros -= max(-weight, 0.0)
    known = column.zeros + column.ones
    column.least = least_of(g, known)
    if too_few(g, known, column.stop - column.start + column.n_block, column.least):
        return
    column.block_zeros, column.block_ones = column.zeros, column.ones
    if column.n_block:
        for at in range(column.start, column.stop):
            weight = w.signed_of[row_of(g.entries[at], 0)]
            column.block_ones -= max(weight, 0.0)
            column.block_zeros -= max(-weight, 0.0)
    column.before = xlx(g, known) - xlx(g, column.zeros) - xlx(g, column.ones)
    column.tolerance = TINY * LN2 * w.total
    if w.whole:
        scan_whole(g, &column, &best)
    else:
        scan_fractions(g, &column, &best)
    keep(g, k, &best, best.saved / LN2 / w.total, known)


cdef inline bint may_cut(
    const Column* column, int64_t at, bint block_now, int64_t last
) noexcept nogil:
    """Tell whether a cut may lie between two values."""
    if block_now:
        return column.values[last] + GAP < column.values[column.default]
    return is_apart(column.values, last, column.entries[at])


cdef void scan_whole(const Grower* g, const Column* column, Best* best) noexcept nogil:
    """Find the best cut where all weights are whole: no logarithm at all."""
    cdef const double* table = g.table
    cdef const double* signed_of = g.weighted.signed_of
    cdef const uint64_t* entries = column.entries
    cdef int64_t n_zeros = <int64_t> (column.zeros + 0.5)
    cdef int64_t n_ones = <int64_t> (column.ones + 0.5)
    cdef int64_t known = n_zeros + n_ones
    cdef int64_t least = whole_least(column.least)
    cdef int64_t cuts = 0
    cdef int64_t zeros = 0
    cdef int64_t ones = 0
    cdef int64_t last = -1
    cdef int64_t at = column.start
    cdef bint block_waits = column.n_block > 0
    cdef bint block_now
    cdef int64_t code, left, weight
    cdef double saved
    while at < column.stop or block_waits:
        block_now = block_waits and (
            at == column.stop or <int64_t> code_of(entries[at]) > column.default
        )
        code = column.default if block_now else <int64_t> code_of(entries[at])
        left = zeros + ones
        if (
            left >= least
            and known - left >= least
            and may_cut(column, at, block_now, last)
        ):
            cuts += 1
            saved = (
                column.before
                + table[zeros]
                + table[ones]
                + table[n_zeros - zeros]
                + table[n_ones - ones]
                - table[left]
                - table[known - left]
            )
            if saved - best.saved > column.tolerance:
                best.saved = saved
                best.below, best.above, best.left = last, code, left
        last = code
        if block_now:
            block_waits = False
            zeros += <int64_t> (column.block_zeros + 0.5)
            ones += <int64_t> (column.block_ones + 0.5)
            continue
        weight = <int64_t> signed_of[row_of(entries[at], 0)]
        ones += weight if weight > 0 else 0
        zeros += -weight if weight < 0 else 0
        at += 1
    best.cuts = cuts


cdef inline int64_t whole_least(double least) noexcept nogil:
    """Round up, with the tolerance."""
    cdef int64_t down = <int64_t> (least - TINY)
    return down + (down < least - TINY)


cdef inline double above_x_ln_x(const Chord* chords, double x) noexcept nogil:
    """Interpolate x ln x between whole numbers: never too small."""
    cdef const Chord* chord = &chords[<int64_t> x]
    return chord.value + (x - <double> <int64_t> x) * chord.slope


cdef inline double below_x_ln_x(const Chord* chords, double x) noexcept nogil:
    """Do the same, lowered by all that it can be too large."""
    cdef const Chord* chord = &chords[<int64_t> x]
    return chord.lowered + (x - <double> <int64_t> x) * chord.slope


cdef void scan_fractions(const Grower* g, const Column* column, Best* best) noexcept nogil:
    """Find the best cut where weights are fractions.

    The score of a cut is bounded by interpolation first; logarithms are taken only where it could
    be the best.
    """
    cdef const double* signed_of = g.weighted.signed_of
    cdef const Chord* chords = g.weighted.chords
    cdef const uint64_t* entries = column.entries
    cdef double all_zeros = column.zeros
    cdef double all_ones = column.ones
    cdef double known = all_zeros + all_ones
    cdef double least = column.least - TINY
    cdef double enough = column.tolerance - column.before  # what a bound must exceed
    cdef bint in_table = known + 1.0 < g.table_length
    cdef int64_t stop = column.stop
    cdef int64_t cuts = 0
    cdef double zeros = 0.0
    cdef double ones = 0.0
    cdef int64_t last = -1
    cdef int64_t at = column.start
    cdef bint block_waits = column.n_block > 0
    cdef bint block_now
    cdef int64_t code
    cdef double left, weight, saved, bound
    while at < stop or block_waits:
        block_now = block_waits and (
            at == stop or <int64_t> code_of(entries[at]) > column.default
        )
        code = column.default if block_now else <int64_t> code_of(entries[at])
        left = zeros + ones
        if (
            left > least
            and known - left > least
            and last >= 0
            and may_cut(column, at, block_now, last)
        ):
            cuts += 1
            bound = INFINITY if not in_table else (
                (above_x_ln_x(chords, zeros) + above_x_ln_x(chords, ones))
                + (above_x_ln_x(chords, positive_part(all_zeros - zeros))
                   - below_x_ln_x(chords, left))
                + (above_x_ln_x(chords, positive_part(all_ones - ones))
                   - below_x_ln_x(chords, known - left))
            )
            if bound > enough:
                saved = score_of_cut(column, zeros, ones)
                if saved - best.saved > column.tolerance:
                    best.saved = saved
                    best.below, best.above, best.left = last, code, left
                    enough = saved + column.tolerance - column.before
        last = code
        if block_now:
            block_waits = False
            zeros += column.block_zeros
            ones += column.block_ones
            continue
        weight = signed_of[row_of(entries[at], 0)]
        ones += positive_part(weight)
        zeros += positive_part(-weight)
        at += 1
    best.cuts = cuts


cdef inline double positive_part(double x) noexcept nogil:
    return x if x > 0.0 else 0.0


cdef inline double score_of_cut(const Column* column, double zeros, double ones) noexcept nogil:
    cdef double left = zeros + ones
    return (
        column.before
        + x_ln_x(zeros)
        + x_ln_x(ones)
        + x_ln_x(max(column.zeros - zeros, 0.0))
        + x_ln_x(max(column.ones - ones, 0.0))
        - x_ln_x(left)
        - x_ln_x(column.zeros + column.ones - left)
    )


# Any number of classes.

# What lies on both sides of a cut: the classes' sums of x ln x, and the weights.
cdef struct Sides:
    double left_sum
    double right_sum
    double left
    double right


cdef void judge_numbers(Grower* g, int64_t k) noexcept nogil:
    """Find the best cut of a numeric column for any number of classes."""
    cdef Weighted* w = &g.weighted
    cdef Stretch* stretch = &g.lists[g.now.list_low + k]
    cdef double known = w.total
    cdef Column column
    cdef Sides sides
    cdef Best best
    cdef int64_t at, i, c
    cdef uint64_t row
    open_column(g, stretch, &column, &best)
    for i in range(w.n_present):
        c = w.classes[i]
        w.by_class[c].left = w.by_class[c].left_term = w.by_class[c].stored = 0.0
        w.by_class[c].right = w.by_class[c].total
    for at in range(column.stop, stretch.stop):
        row = row_of(g.entries[at], 0)
        w.by_class[g.sample.y[row]].right -= w.weight_of[row]
        known -= w.weight_of[row]
    column.least = least_of(g, known)
    if too_few(g, known, column.stop - column.start + column.n_block, column.least):
        return
    if column.n_block:
        for i in range(w.n_present):
            w.by_class[w.classes[i]].stored = w.by_class[w.classes[i]].right
        for at in range(column.start, column.stop):
            row = row_of(g.entries[at], 0)
            w.by_class[g.sample.y[row]].stored -= w.weight_of[row]  # what remains is the block
    sides.left_sum = sides.right_sum = sides.left = 0.0
    sides.right = known
    for i in range(w.n_present):
        c = w.classes[i]
        w.by_class[c].right_term = xlx(g, w.by_class[c].right)
        sides.right_sum += w.by_class[c].right_term
    column.before = xlx(g, known) - sides.right_sum
    scan_classes(g, &column, &sides, &best)
    keep(g, k, &best, best.saved, known)


cdef void scan_classes(
    Grower* g, const Column* column, Sides* sides, Best* best
) noexcept nogil:
    """Judge one cut after another; ``best.saved`` is a gain in bits a row."""
    cdef double known = sides.right
    cdef double scale = known / g.weighted.total / LN2
    cdef int64_t last = -1
    cdef int64_t at = column.start
    cdef bint block_waits = column.n_block > 0
    cdef bint block_now
    cdef int64_t code
    cdef double after, saved, gain
    while at < column.stop or block_waits:
        block_now = block_waits and (
            at == column.stop or <int64_t> code_of(column.entries[at]) > column.default
        )
        code = column.default if block_now else <int64_t> code_of(column.entries[at])
        if (
            code != last
            and last >= 0
            and column.values[last] + GAP < column.values[code]
            and column.least - sides.left < TINY
            and column.least - sides.right < TINY
        ):
            best.cuts += 1
            after = xlx(g, sides.left) + xlx(g, sides.right) - sides.left_sum - sides.right_sum
            saved = scale * (column.before - after)
            gain = 0.0 if fabs(saved) < TINY else saved / known
            if gain - best.saved > TINY:
                best.saved = gain
                best.below, best.above, best.left = last, code, sides.left
        last = code
        if block_now:
            block_waits = False
            move_block(g, sides)
        else:
            move_row(g, sides, row_of(column.entries[at], 0))
            at += 1


cdef void move_block(Grower* g, Sides* sides) noexcept nogil:
    """Move the rows with the default value to the left."""
    cdef Weighted* w = &g.weighted
    cdef int64_t i, c
    sides.left_sum = sides.right_sum = 0.0
    for i in range(w.n_present):
        c = w.classes[i]
        w.by_class[c].left += w.by_class[c].stored
        w.by_class[c].right -= w.by_class[c].stored
        sides.left += w.by_class[c].stored
        sides.right -= w.by_class[c].stored
        w.by_class[c].left_term = xlx(g, w.by_class[c].left)
        w.by_class[c].right_term = xlx(g, w.by_class[c].right)
        sides.left_sum += w.by_class[c].left_term
        sides.right_sum += w.by_class[c].right_term


cdef inline void move_row(Grower* g, Sides* sides, uint64_t row) noexcept nogil:
    """Move a row to the left."""
    cdef Weighted* w = &g.weighted
    cdef int64_t c = g.sample.y[row]
    cdef double weight = w.weight_of[row]
    cdef double term
    w.by_class[c].left += weight
    w.by_class[c].right -= weight
    sides.left += weight
    sides.right -= weight
    term = xlx(g, w.by_class[c].left)
    sides.left_sum += term - w.by_class[c].left_term
    w.by_class[c].left_term = term
    term = xlx(g, w.by_class[c].right)
    sides.right_sum += term - w.by_class[c].right_term
    w.by_class[c].right_term = term


# Nominal columns.

cdef struct Branches:  # Sums over the branches of a nominal column.
    double known  # weight of rows whose value is known
    double rest  # of rows with the default value
    double after
    double info
    int64_t heavy


cdef void judge_codes(Grower* g, int64_t k) noexcept nogil:
    """Judge the split of a nominal column."""
    cdef Weighted* w = &g.weighted
    cdef Stretch* stretch = &g.lists[g.now.list_low + k]
    cdef Candidate* found = &g.candidates[k]
    cdef Branches sums
    cdef double saved, info, rest
    cdef int64_t i
    sums.known = sums.rest = w.total
    sums.after = sums.info = 0.0
    sums.heavy = 0
    sum_up_codes(g, stretch, &sums)
    if g.now.high - g.now.low > stretch.stop - stretch.start:
        sums.heavy += g.settings.min_objects - sums.rest < TINY
        rest = xlx(g, sums.rest)
        sums.after += rest
        sums.info += rest
        for i in range(w.n_present):
            sums.after -= xlx(g, w.by_class[w.classes[i]].right)
    if sums.heavy < 2:
        return
    saved = sums.known / w.total * (information_before(g, stretch, sums.known) - sums.after) / LN2
    found.gain = 0.0 if fabs(saved) < TINY else saved / sums.known
    info = (w.total_term - sums.info - xlx(g, w.total - sums.known)) / LN2
    found.ratio = 0.0 if fabs(info) < TINY else found.gain / (info / w.total)


cdef void sum_up_codes(Grower* g, const Stretch* stretch, Branches* sums) noexcept nogil:
    """Sum x ln x over the branches with entries; ``right`` keeps the classes of the rest."""
    cdef Weighted* w = &g.weighted
    cdef int64_t at = stretch.start
    cdef int64_t group, i, c
    cdef uint64_t code, row
    cdef double weight, term
    cdef bint few
    for i in range(w.n_present):
        c = w.classes[i]
        w.by_class[c].left = 0.0
        w.by_class[c].right = w.by_class[c].total
    while at < stretch.stop:
        code = code_of(g.entries[at])
        group = at
        weight = 0.0
        while at < stretch.stop and code_of(g.entries[at]) == code:
            row = row_of(g.entries[at], 0)
            c = g.sample.y[row]
            w.by_class[c].left += w.weight_of[row]
            w.by_class[c].right -= w.weight_of[row]
            weight += w.weight_of[row]
            at += 1
        sums.rest -= weight
        if code == MISSING:
            sums.known -= weight
        else:
            sums.heavy += g.settings.min_objects - weight < TINY
            term = xlx(g, weight)
            sums.after += term
            sums.info += term
        few = w.n_present < at - group  # classes, or else rows
        for i in range(w.n_present if few else at - group):
            c = w.classes[i] if few else g.sample.y[row_of(g.entries[group + i], 0)]
            if code != MISSING and w.by_class[c].left != 0.0:
                sums.after -= xlx(g, w.by_class[c].left)
            w.by_class[c].left = 0.0


cdef double information_before(
    Grower* g, const Stretch* stretch, double known
) noexcept nogil:
    """Return the information of the rows whose value is known, times their weight, in nats."""
    cdef Weighted* w = &g.weighted
    cdef double before
    cdef int64_t at, i
    cdef uint64_t row
    if known == w.total:
        return w.before
    before = xlx(g, known)
    for i in range(w.n_present):
        w.by_class[w.classes[i]].left = w.by_class[w.classes[i]].total
    for at in range(stretch.stop - 1, stretch.start - 1, -1):
        if code_of(g.entries[at]) != MISSING:
            break
        row = row_of(g.entries[at], 0)
        w.by_class[g.sample.y[row]].left -= w.weight_of[row]
    for i in range(w.n_present):
        before -= xlx(g, w.by_class[w.classes[i]].left)
    return before


cdef int count_branches_weighted(Grower* g) except -1 nogil:
    """Write the weights of the branches, shares of rows with a missing value included."""
    cdef Weighted* w = &g.weighted
    cdef Node* children = &g.nodes.at[g.split.child]
    cdef double* counts = counts_of(&g.nodes, g.split.child)
    cdef Py_ssize_t n_classes = g.sample.n_classes
    cdef double known = 0.0
    cdef int64_t b, i
    cdef uint32_t row
    reserve(g.memory, <void**> &w.shares, g.split.n_branches, sizeof(double))
    for i in range(g.now.low, g.now.high):
        row = g.rows[i]
        b = branch_of(g, row)
        if b >= 0:
            children[b].branch += g.row_weights[i]
            counts[b * n_classes + g.sample.y[row]] += g.row_weights[i]
            g.branch_rows[b] += 1
            known += g.row_weights[i]
    for b in range(g.split.n_branches):
        w.shares[b] = children[b].branch / known
    if g.split.n_missing == 0:
        return 0
    w.divided = True
    for b in range(g.split.n_branches):
        children[b].branch += (w.total - known) * w.shares[b]
    for i in range(g.now.low, g.now.high):
        row = g.rows[i]
        if branch_of(g, row) < 0:
            for b in range(g.split.n_branches):
                if w.shares[b] > TINY:
                    counts[b * n_classes + g.sample.y[row]] += g.row_weights[i] * w.shares[b]
                    g.branch_rows[b] += 1
    return 0
