"""Splits for any classes, weights and missing values.

Rows whose value is missing take part in no cut of the column, and go down every branch with a part
of their weight. As long as all weights in a node are whole numbers, x ln x comes from a table.
"""

from libc.math cimport ceil, fabs, log2
from libc.stdint cimport int64_t, uint32_t, uint64_t

from scumble.learn.c45.arithmetic cimport LN2, TINY, x_ln_x
from scumble.learn.c45.grower cimport (
    Candidate, Chord, ClassTotals, NumericColumn, Grower, EntryRange, WeightedState, add_gain, branch_of,
    min_branch_weight, init_column,
)
from scumble.learn.c45.layout cimport MIN_VALUE_GAP, MISSING, code_of, can_cut_between, row_of
from scumble.learn.c45.memory cimport reserve
from scumble.learn.c45.nodes cimport Node, counts_of


cdef struct Known:  # The weight of rows whose value in a column is known.
    double total
    double zeros  # of the two classes, and in the block of rows with the default value
    double ones
    double block_zeros
    double block_ones
    double before  # information, times the weight, in nats
    double least  # weight on either side of a cut


ctypedef fused amount:
    int64_t
    double


cdef int start_weighted(Grower* g) except -1 nogil:
    """Lay out the weights of the training rows, and count their classes."""
    cdef WeightedState* w = &g.weighted
    cdef Py_ssize_t i
    cdef uint32_t row
    g.row_bit = 0
    g.least_entries = 1
    w.divided = False
    reserve(g.memory, <void**> &w.weight_of, g.sample.n_table, sizeof(double))
    reserve(g.memory, <void**> &w.signed_of, g.sample.n_table, sizeof(double))
    reserve(g.memory, <void**> &w.by_class, g.sample.n_classes, sizeof(ClassTotals))
    reserve(g.memory, <void**> &w.classes, g.sample.n_classes, sizeof(int64_t))
    reserve(g.memory, <void**> &g.row_weights, 2 * g.sample.n, sizeof(double))
    for i in range(g.sample.n):
        row = g.rows[i]
        g.row_weights[i] = 1.0 if g.sample.weights == NULL else g.sample.weights[row]
        g.nodes.counts[g.sample.y[row]] += g.row_weights[i]
    return 0


cdef void score_weighted_columns(Grower* g) noexcept nogil:
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
            find_numeric_cuts(g, k)
        add_gain(g, found.gain, n_values)


cdef void load_weights(Grower* g) noexcept nogil:
    """Look up what is known of the rows and classes of the node."""
    cdef WeightedState* w = &g.weighted
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


cdef void keep(Grower* g, Candidate* found, double gain, double known) noexcept nogil:
    """Give a cut its gain, unless it does not pay for the choice among the cuts."""
    cdef double info
    found.gain = -1.0
    if found.cuts == 0:
        return
    if g.settings.mdl:
        gain -= log2(<double> found.cuts) / g.weighted.total
    if gain < TINY:
        return
    info = split_info(g, known, found.left)
    found.gain = gain
    found.ratio = 0.0 if fabs(info) < TINY else gain / (info / g.weighted.total)


cdef int64_t open_known(
    const Grower* g, int64_t k, NumericColumn* column, Candidate* found
) noexcept nogil:
    """Begin with a column; its missing values, whose end is returned, are left out."""
    cdef int64_t stop
    init_column(g, k, g.now.high - g.now.low, column)
    stop = column.stop
    while column.stop > column.start and code_of(g.entries[column.stop - 1]) == MISSING:
        column.stop -= 1
    found.cuts = 0
    found.left = 0.0
    found.below = found.above = -1
    return stop


cdef bint too_few(const Grower* g, const NumericColumn* column, const Known* known) noexcept nogil:
    """Tell whether there are too few rows, or too little weight, for a cut."""
    cdef double n_rows = column.stop - column.start + column.block
    return 2.0 * known.least - (known.total if g.sample.repeated else n_rows) > TINY


# Two classes: few logarithms, or none.

cdef void judge_numbers_of_two(Grower* g, int64_t k) noexcept nogil:
    """Find the best cut of a numeric column for two classes."""
    cdef WeightedState* w = &g.weighted
    cdef Candidate* found = &g.candidates[k]
    cdef NumericColumn column
    cdef Known known
    cdef int64_t stop = open_known(g, k, &column, found)
    known.zeros, known.ones = w.by_class[0].total, w.by_class[1].total
    take_off(g, column.stop, stop, &known.zeros, &known.ones)
    known.total = known.zeros + known.ones
    known.least = min_branch_weight(g, known.total)
    if too_few(g, &column, &known):
        return
    found.gain = 0.0
    known.block_zeros, known.block_ones = known.zeros, known.ones
    if column.block:
        take_off(g, column.start, column.stop, &known.block_zeros, &known.block_ones)
    known.before = xlx(g, known.total) - xlx(g, known.zeros) - xlx(g, known.ones)
    if w.whole:
        scan_two(g, &column, &known, found, <int64_t> ceil(known.least - TINY) - 1)
    else:
        scan_two(g, &column, &known, found, known.least - TINY)
    keep(g, found, found.gain / LN2 / w.total, known.total)


cdef void take_off(
    const Grower* g, int64_t start, int64_t stop, double* zeros, double* ones
) noexcept nogil:
    """Take the weight of some entries off that of their classes."""
    cdef int64_t at
    cdef double weight
    for at in range(start, stop):
        weight = g.weighted.signed_of[row_of(g.entries[at], 0)]
        ones[0] -= max(weight, 0.0)
        zeros[0] -= max(-weight, 0.0)


cdef inline bint may_cut(
    const NumericColumn* column, int64_t at, bint block_now, int64_t last
) noexcept nogil:
    """Tell whether a cut may lie between two values."""
    if block_now:
        return column.values[last] + MIN_VALUE_GAP < column.values[column.default]
    return can_cut_between(column.values, last, column.entries[at])


cdef void scan_two(
    const Grower* g, const NumericColumn* column, const Known* known, Candidate* found, amount least
) noexcept nogil:
    """Find the best cut with more than ``least`` on either side; the gain is in nats, times weight.

    Where all weights are whole, no logarithm is taken at all. Else the score of a cut is bounded by
    interpolation first; logarithms are taken only where it could be the best.
    """
    cdef const double* signed_of = g.weighted.signed_of
    cdef const uint64_t* entries = column.entries
    cdef double tolerance = TINY * LN2 * g.weighted.total
    cdef double enough = tolerance - known.before  # what a bound must exceed
    cdef bint in_table = known.total + 1.0 < g.table_length
    cdef int64_t stop = column.stop
    cdef int64_t cuts = 0
    cdef amount all_zeros = nearest(known.zeros, least)
    cdef amount all_ones = nearest(known.ones, least)
    cdef amount zeros = 0
    cdef amount ones = 0
    cdef int64_t last = -1
    cdef int64_t at = column.start
    cdef bint block_waits = column.block > 0
    cdef bint block_now
    cdef int64_t code
    cdef amount left, weight
    cdef double saved
    while at < stop or block_waits:
        block_now = block_waits and at == column.middle
        code = column.default if block_now else <int64_t> code_of(entries[at])
        left = zeros + ones
        if (
            left > least
            and all_zeros + all_ones - left > least
            and may_cut(column, at, block_now, last)
        ):
            cuts += 1
            saved = 0.0
            if amount is int64_t or not in_table or bound(g, known, zeros, ones) > enough:
                saved = score(g.table, zeros, ones, all_zeros, all_ones, known.before)
            if saved - found.gain > tolerance:
                found.gain, found.left = saved, left
                found.below, found.above = last, code
                enough = saved + tolerance - known.before
        last = code
        if block_now:
            block_waits = False
            zeros += nearest(known.block_zeros, least)
            ones += nearest(known.block_ones, least)
            continue
        weight = <amount> signed_of[row_of(entries[at], 0)]
        ones += weight if weight > 0 else 0
        zeros += -weight if weight < 0 else 0
        at += 1
    found.cuts = cuts


cdef inline amount nearest(double weight, amount _like) noexcept nogil:
    """Give a weight in the kind of number that is counted in."""
    if amount is int64_t:
        return <int64_t> (weight + 0.5)
    else:
        return weight


cdef inline double term(const double* table, amount x) noexcept nogil:
    """Give x ln x."""
    if amount is int64_t:
        return table[x]
    else:
        return x_ln_x(x)


cdef inline double score(
    const double* table, amount zeros, amount ones, amount all_zeros, amount all_ones,
    double before,
) noexcept nogil:
    """Tell what a cut saves, in nats times weight."""
    return (
        before
        + term(table, zeros)
        + term(table, ones)
        + term(table, all_zeros - zeros)
        + term(table, all_ones - ones)
        - term(table, zeros + ones)
        - term(table, all_zeros + all_ones - (zeros + ones))
    )


cdef inline double bound(
    const Grower* g, const Known* known, double zeros, double ones
) noexcept nogil:
    """Bound the score of a cut from above, less the information before it."""
    cdef const Chord* chords = g.weighted.chords
    cdef double left = zeros + ones
    return (
        (above_x_ln_x(chords, zeros) + above_x_ln_x(chords, ones))
        + (above_x_ln_x(chords, max(known.zeros - zeros, 0.0)) - below_x_ln_x(chords, left))
        + (
            above_x_ln_x(chords, max(known.ones - ones, 0.0))
            - below_x_ln_x(chords, known.total - left)
        )
    )


cdef inline double above_x_ln_x(const Chord* chords, double x) noexcept nogil:
    """Interpolate x ln x between whole numbers: never too small."""
    cdef const Chord* chord = &chords[<int64_t> x]
    return chord.value + (x - <double> <int64_t> x) * chord.slope


cdef inline double below_x_ln_x(const Chord* chords, double x) noexcept nogil:
    """Do the same, lowered by all that it can be too large."""
    cdef const Chord* chord = &chords[<int64_t> x]
    return chord.lowered + (x - <double> <int64_t> x) * chord.slope


# Any number of classes.

# What lies on both sides of a cut: the classes' sums of x ln x, and the weights.
cdef struct Sides:
    double left_sum
    double right_sum
    double left
    double right


cdef void find_numeric_cuts(Grower* g, int64_t k) noexcept nogil:
    """Find the best cut of a numeric column for any number of classes."""
    cdef WeightedState* w = &g.weighted
    cdef Candidate* found = &g.candidates[k]
    cdef NumericColumn column
    cdef Known known
    cdef Sides sides
    cdef int64_t at, i
    cdef uint64_t row
    cdef ClassTotals* of
    cdef int64_t stop = open_known(g, k, &column, found)
    known.total = w.total
    for i in range(w.n_present):
        of = &w.by_class[w.classes[i]]
        of.left = of.left_term = of.stored = 0.0
        of.right = of.total
    for at in range(column.stop, stop):
        row = row_of(g.entries[at], 0)
        w.by_class[g.sample.y[row]].right -= w.weight_of[row]
        known.total -= w.weight_of[row]
    known.least = min_branch_weight(g, known.total)
    if too_few(g, &column, &known):
        return
    found.gain = 0.0
    if column.block:
        for i in range(w.n_present):
            w.by_class[w.classes[i]].stored = w.by_class[w.classes[i]].right
        for at in range(column.start, column.stop):
            row = row_of(g.entries[at], 0)
            w.by_class[g.sample.y[row]].stored -= w.weight_of[row]  # what remains is the block
    sides.left_sum = sides.right_sum = sides.left = 0.0
    sides.right = known.total
    for i in range(w.n_present):
        of = &w.by_class[w.classes[i]]
        of.right_term = xlx(g, of.right)
        sides.right_sum += of.right_term
    known.before = xlx(g, known.total) - sides.right_sum
    scan_classes(g, &column, &known, &sides, found)
    keep(g, found, found.gain, known.total)


cdef void scan_classes(
    Grower* g, const NumericColumn* column, const Known* known, Sides* sides, Candidate* found
) noexcept nogil:
    """Judge one cut after another; the gain is in bits a row."""
    cdef double scale = known.total / g.weighted.total / LN2
    cdef int64_t last = -1
    cdef int64_t at = column.start
    cdef bint block_waits = column.block > 0
    cdef bint block_now
    cdef int64_t code
    cdef double after, saved, gain
    while at < column.stop or block_waits:
        block_now = block_waits and at == column.middle
        code = column.default if block_now else <int64_t> code_of(column.entries[at])
        if (
            last >= 0
            and may_cut(column, at, block_now, last)
            and known.least - sides.left < TINY
            and known.least - sides.right < TINY
        ):
            found.cuts += 1
            after = xlx(g, sides.left) + xlx(g, sides.right) - sides.left_sum - sides.right_sum
            saved = scale * (known.before - after)
            gain = 0.0 if fabs(saved) < TINY else saved / known.total
            if gain - found.gain > TINY:
                found.gain, found.left = gain, sides.left
                found.below, found.above = last, code
        last = code
        if block_now:
            block_waits = False
            move_block(g, sides)
        else:
            move_row(g, sides, row_of(column.entries[at], 0))
            at += 1


cdef void move_block(Grower* g, Sides* sides) noexcept nogil:
    """Move the rows with the default value to the left."""
    cdef ClassTotals* of
    cdef int64_t i
    sides.left_sum = sides.right_sum = 0.0
    for i in range(g.weighted.n_present):
        of = &g.weighted.by_class[g.weighted.classes[i]]
        of.left += of.stored
        of.right -= of.stored
        sides.left += of.stored
        sides.right -= of.stored
        of.left_term = xlx(g, of.left)
        of.right_term = xlx(g, of.right)
        sides.left_sum += of.left_term
        sides.right_sum += of.right_term


cdef inline void move_row(Grower* g, Sides* sides, uint64_t row) noexcept nogil:
    """Move a row to the left."""
    cdef ClassTotals* of = &g.weighted.by_class[g.sample.y[row]]
    cdef double weight = g.weighted.weight_of[row]
    cdef double term
    of.left += weight
    of.right -= weight
    sides.left += weight
    sides.right -= weight
    term = xlx(g, of.left)
    sides.left_sum += term - of.left_term
    of.left_term = term
    term = xlx(g, of.right)
    sides.right_sum += term - of.right_term
    of.right_term = term


# Nominal columns.

cdef struct Branches:  # Sums over the branches of a nominal column.
    double known  # weight of rows whose value is known
    double rest  # of rows with the default value
    double after
    double info
    int64_t heavy


cdef void judge_codes(Grower* g, int64_t k) noexcept nogil:
    """Judge the split of a nominal column."""
    cdef WeightedState* w = &g.weighted
    cdef EntryRange* stretch = &g.lists[g.now.list_low + k]
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


cdef void sum_up_codes(Grower* g, const EntryRange* stretch, Branches* sums) noexcept nogil:
    """Sum x ln x over the branches with entries; ``right`` keeps the classes of the rest."""
    cdef WeightedState* w = &g.weighted
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
    Grower* g, const EntryRange* stretch, double known
) noexcept nogil:
    """Return the information of the rows whose value is known, times their weight, in nats."""
    cdef WeightedState* w = &g.weighted
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


cdef int count_weighted_branches(Grower* g) except -1 nogil:
    """Write the weights of the branches, shares of rows with a missing value included."""
    cdef WeightedState* w = &g.weighted
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
