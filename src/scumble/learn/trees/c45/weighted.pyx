"""Splits for any number of classes, weights and missing values.

Rows whose value is missing are left out when cuts of the column are compared, and go down every
branch with a part of their weight. If all weights in a node are whole numbers, x ln x is taken from
a table.
"""

from libc.math cimport ceil, fabs, log2
from libc.stdint cimport int64_t, uint32_t, uint64_t

from scumble.learn.trees.c45.arithmetic cimport LN2, TOLERANCE, x_ln_x
from scumble.learn.trees.c45.grower cimport (
    Candidate, Chord, ClassTotals, EntryRange, Grower, NumericColumn, WeightedState, add_gain,
    branch_of, init_column, min_branch_weight,
)
from scumble.learn.trees.c45.layout cimport MIN_VALUE_GAP, MISSING, can_cut_between, code_of, row_of
from scumble.learn.trees.c45.memory cimport reserve
from scumble.learn.trees.c45.nodes cimport Node, counts_of


cdef struct KnownWeights:  # Weights of the node's rows whose value in a column is not missing.
    double total
    double negative  # of rows of class 0, if there are two classes
    double positive  # of rows of class 1
    double default_negative  # of rows with the default value
    double default_positive
    double information  # of the rows before the split, times their weight, in nats
    double min_side  # minimum weight on either side of a cut


cdef struct Sides:  # Both sides of a cut: the sums of x ln x over the classes, and the weights.
    double left_sum
    double right_sum
    double left
    double right


cdef struct BranchSums:  # Sums over the branches of a nominal column.
    double known_weight  # weight of rows whose value is known
    double default_weight  # weight of rows with the default value
    double information_after  # after the split, times the weight, in nats
    double branches  # sum of x ln x of the weights of branches
    int64_t n_large  # branches with enough weight


ctypedef fused amount:  # The type of weights: integers if all in a node are whole, else floats.
    int64_t
    double


cdef int start_weighted(Grower* g) except -1 nogil:
    """Make room for a tree, store the weights of its training rows and count their classes."""
    cdef WeightedState* w = &g.weighted
    cdef Py_ssize_t i
    cdef uint32_t row
    g.row_shift = 0
    g.min_entries = 1
    w.has_divided_rows = False
    reserve(g.memory, <void**> &w.weight_of, g.sample.n_table, sizeof(double))
    reserve(g.memory, <void**> &w.signed_weight_of, g.sample.n_table, sizeof(double))
    reserve(g.memory, <void**> &w.by_class, g.sample.n_classes, sizeof(ClassTotals))
    reserve(g.memory, <void**> &w.classes, g.sample.n_classes, sizeof(int64_t))
    reserve(g.memory, <void**> &g.row_weights, 2 * g.sample.n, sizeof(double))
    for i in range(g.sample.n):
        row = g.rows[i]
        g.row_weights[i] = 1.0 if g.sample.weights == NULL else g.sample.weights[row]
        g.nodes.counts[g.sample.y[row]] += g.row_weights[i]
    return 0


cdef void score_weighted_columns(Grower* g) noexcept nogil:
    """Compute the best split of every column of the current node; gains are in bits per row."""
    cdef int64_t n_values, k
    cdef Candidate* candidate
    load_node(g)
    for k in range(g.current.range_high - g.current.range_low):
        n_values = g.columns.n_values[g.ranges[g.current.range_low + k].column]
        candidate = &g.candidates[k]
        candidate.gain = -1.0
        if n_values > 0:
            score_nominal_column(g, k)
        elif g.sample.n_classes == 2:
            find_cut_of_two_classes(g, k)
        else:
            find_cut_of_many_classes(g, k)
        add_gain(g, candidate.gain, n_values)


cdef void load_node(Grower* g) noexcept nogil:
    """Store the weights of the rows and classes of the current node by row and class."""
    cdef WeightedState* w = &g.weighted
    cdef const double* counts = counts_of(&g.nodes, g.current.node)
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
    w.has_whole_weights = w.total + 1.0 < g.x_ln_x_length
    for i in range(g.current.low, g.current.high):
        weight = g.row_weights[i]
        row = g.rows[i]
        w.weight_of[row] = weight
        w.signed_weight_of[row] = weight if g.sample.y[row] else -weight
        if w.has_whole_weights and weight != <double> <int64_t> weight:
            w.has_whole_weights = False
    w.total_term = w.information = weight_term(g, w.total)
    for i in range(w.n_present):
        w.information -= weight_term(g, w.by_class[w.classes[i]].total)


cdef inline double weight_term(const Grower* g, double x) noexcept nogil:
    """Return x ln x of a weight in the current node: from the table if all weights are whole."""
    if g.weighted.has_whole_weights:
        return g.x_ln_x_table[<int64_t> (x + 0.5)]
    return x_ln_x(x)


cdef double split_information(
    const Grower* g, double known_weight, double left
) noexcept nogil:
    """Return the split information of a cut, times the weight of the node, in bits.

    ``left`` is the weight on its left side, ``known_weight`` that of both sides. Missing values
    are a third branch.
    """
    cdef double total = g.weighted.total
    cdef double missing_term = 0.0
    if known_weight != total:
        missing_term = weight_term(g, total - known_weight)
    return (
        g.weighted.total_term
        - weight_term(g, left)
        - weight_term(g, known_weight - left)
        - missing_term
    ) / LN2


cdef void finish_cut(
    Grower* g, Candidate* candidate, double gain, double known_weight
) noexcept nogil:
    """Store gain and ratio of a cut; a gain of -1 if it does not exceed the cost of choosing."""
    cdef double information
    candidate.gain = -1.0
    if candidate.n_cuts == 0:
        return
    if g.settings.mdl:
        gain -= log2(<double> candidate.n_cuts) / g.weighted.total
    if gain < TOLERANCE:
        return
    information = split_information(g, known_weight, candidate.left_weight)
    candidate.gain = gain
    candidate.ratio = 0.0
    if fabs(information) >= TOLERANCE:
        candidate.ratio = gain / (information / g.weighted.total)


cdef int64_t start_column(
    const Grower* g, int64_t k, NumericColumn* column, Candidate* candidate
) noexcept nogil:
    """Set the fields of the k-th column of the node, and of its candidate to no cut.

    The column ends before the entries of missing values; returns the end of these.
    """
    cdef int64_t stop
    init_column(g, k, g.current.high - g.current.low, column)
    stop = column.stop
    while column.stop > column.start and code_of(g.entries[column.stop - 1]) == MISSING:
        column.stop -= 1
    candidate.n_cuts = 0
    candidate.left_weight = 0.0
    candidate.code_below = candidate.code_above = -1
    return stop


cdef bint is_too_small(
    const Grower* g, const NumericColumn* column, const KnownWeights* weights
) noexcept nogil:
    """Return whether there are too few rows, or too little weight, for a cut."""
    cdef double size = column.stop - column.start + column.n_default
    if g.sample.repeated:
        size = weights.total
    return 2.0 * weights.min_side - size > TOLERANCE


cdef inline bint is_possible_cut(
    const NumericColumn* column, int64_t position, bint is_default, int64_t previous_code
) noexcept nogil:
    """Return whether the values before and after a cut differ enough for it.

    The value before has ``previous_code``; the one after is the default value if ``is_default``,
    otherwise the value of the entry at ``position``.
    """
    if is_default:
        return column.values[previous_code] + MIN_VALUE_GAP < column.values[column.default_code]
    return can_cut_between(column.values, previous_code, column.entries[position])


# Two classes: few logarithms, or none.

cdef void find_cut_of_two_classes(Grower* g, int64_t k) noexcept nogil:
    """Find the best cut of a numeric column for two classes."""
    cdef WeightedState* w = &g.weighted
    cdef Candidate* candidate = &g.candidates[k]
    cdef NumericColumn column
    cdef KnownWeights weights
    cdef int64_t stop = start_column(g, k, &column, candidate)
    weights.negative = w.by_class[0].total
    weights.positive = w.by_class[1].total
    subtract_weights(g, column.stop, stop, &weights.negative, &weights.positive)
    weights.total = weights.negative + weights.positive
    weights.min_side = min_branch_weight(g, weights.total)
    if is_too_small(g, &column, &weights):
        return
    candidate.gain = 0.0
    weights.default_negative = weights.negative
    weights.default_positive = weights.positive
    if column.n_default:
        subtract_weights(
            g, column.start, column.stop, &weights.default_negative, &weights.default_positive
        )
    weights.information = (
        weight_term(g, weights.total)
        - weight_term(g, weights.negative)
        - weight_term(g, weights.positive)
    )
    if w.has_whole_weights:
        compare_cuts_of_two_classes(
            g, &column, &weights, candidate, <int64_t> ceil(weights.min_side - TOLERANCE) - 1
        )
    else:
        compare_cuts_of_two_classes(
            g, &column, &weights, candidate, weights.min_side - TOLERANCE
        )
    finish_cut(g, candidate, candidate.gain / LN2 / w.total, weights.total)


cdef void subtract_weights(
    const Grower* g, int64_t start, int64_t stop, double* negative, double* positive
) noexcept nogil:
    """Subtract the weights of the rows of entries start to stop - 1 from those of both classes."""
    cdef int64_t position
    cdef double weight
    for position in range(start, stop):
        weight = g.weighted.signed_weight_of[row_of(g.entries[position], 0)]
        positive[0] -= max(weight, 0.0)
        negative[0] -= max(-weight, 0.0)


cdef void compare_cuts_of_two_classes(
    const Grower* g, const NumericColumn* column, const KnownWeights* weights, Candidate* candidate,
    amount min_weight,
) noexcept nogil:
    """Find the best cut with more than ``min_weight`` on either side.

    The gain is in nats, times the weight. If all weights are whole numbers, no logarithm is
    computed. Otherwise an upper bound of the gain is interpolated first, and logarithms are
    computed only if the cut may be the best one.
    """
    cdef const double* signed_weight_of = g.weighted.signed_weight_of
    cdef const uint64_t* entries = column.entries
    cdef double tolerance = TOLERANCE * LN2 * g.weighted.total
    cdef double min_bound = tolerance - weights.information  # a better cut has a larger bound
    cdef bint is_in_table = weights.total + 1.0 < g.x_ln_x_length
    cdef int64_t stop = column.stop
    cdef int64_t n_cuts = 0
    cdef amount all_negative = to_amount(weights.negative, min_weight)
    cdef amount all_positive = to_amount(weights.positive, min_weight)
    cdef amount negative = 0
    cdef amount positive = 0
    cdef int64_t previous_code = -1
    cdef int64_t position = column.start
    cdef bint default_is_due = column.n_default > 0
    cdef bint is_default
    cdef int64_t code
    cdef amount left, weight
    cdef double gain
    while position < stop or default_is_due:
        is_default = default_is_due and position == column.default_position
        code = column.default_code if is_default else <int64_t> code_of(entries[position])
        left = negative + positive
        if (
            left > min_weight
            and all_negative + all_positive - left > min_weight
            and is_possible_cut(column, position, is_default, previous_code)
        ):
            n_cuts += 1
            gain = 0.0
            if (
                amount is int64_t
                or not is_in_table
                or score_bound(g, weights, negative, positive) > min_bound
            ):
                gain = cut_gain(
                    g.x_ln_x_table, negative, positive, all_negative, all_positive,
                    weights.information,
                )
            if gain - candidate.gain > tolerance:
                candidate.gain = gain
                candidate.left_weight = left
                candidate.code_below = previous_code
                candidate.code_above = code
                min_bound = gain + tolerance - weights.information
        previous_code = code
        if is_default:
            default_is_due = False
            negative += to_amount(weights.default_negative, min_weight)
            positive += to_amount(weights.default_positive, min_weight)
            continue
        weight = <amount> signed_weight_of[row_of(entries[position], 0)]
        positive += weight if weight > 0 else 0
        negative += -weight if weight < 0 else 0
        position += 1
    candidate.n_cuts = n_cuts


cdef inline amount to_amount(double weight, amount _of_type) noexcept nogil:
    """Return a weight in the type of the second argument; rounded if that is an integer."""
    if amount is int64_t:
        return <int64_t> (weight + 0.5)
    else:
        return weight


cdef inline double amount_term(const double* x_ln_x_table, amount x) noexcept nogil:
    """Return x ln x: from the table for an integer, else computed."""
    if amount is int64_t:
        return x_ln_x_table[x]
    else:
        return x_ln_x(x)


cdef inline double cut_gain(
    const double* x_ln_x_table, amount negative, amount positive, amount all_negative,
    amount all_positive, double information,
) noexcept nogil:
    """Return the gain of a cut in nats, times the weight.

    ``negative`` and ``positive`` are the weights on its left side, ``information`` is that before
    the cut.
    """
    return (
        information
        + amount_term(x_ln_x_table, negative)
        + amount_term(x_ln_x_table, positive)
        + amount_term(x_ln_x_table, all_negative - negative)
        + amount_term(x_ln_x_table, all_positive - positive)
        - amount_term(x_ln_x_table, negative + positive)
        - amount_term(x_ln_x_table, all_negative + all_positive - (negative + positive))
    )


cdef inline double score_bound(
    const Grower* g, const KnownWeights* weights, double negative, double positive
) noexcept nogil:
    """Return an upper bound of the gain of a cut, less the information before it."""
    cdef const Chord* chords = g.weighted.chords
    cdef double left = negative + positive
    return (
        (max_x_ln_x(chords, negative) + max_x_ln_x(chords, positive))
        + (max_x_ln_x(chords, max(weights.negative - negative, 0.0)) - min_x_ln_x(chords, left))
        + (
            max_x_ln_x(chords, max(weights.positive - positive, 0.0))
            - min_x_ln_x(chords, weights.total - left)
        )
    )


cdef inline double max_x_ln_x(const Chord* chords, double x) noexcept nogil:
    """Return an upper bound of x ln x: the interpolation between whole numbers."""
    cdef const Chord* chord = &chords[<int64_t> x]
    return chord.value + (x - <double> <int64_t> x) * chord.slope


cdef inline double min_x_ln_x(const Chord* chords, double x) noexcept nogil:
    """Return a lower bound of x ln x: the interpolation less its maximum error."""
    cdef const Chord* chord = &chords[<int64_t> x]
    return chord.lower_value + (x - <double> <int64_t> x) * chord.slope


# Any number of classes.

cdef void find_cut_of_many_classes(Grower* g, int64_t k) noexcept nogil:
    """Find the best cut of a numeric column for any number of classes."""
    cdef WeightedState* w = &g.weighted
    cdef Candidate* candidate = &g.candidates[k]
    cdef NumericColumn column
    cdef KnownWeights weights
    cdef Sides sides
    cdef int64_t position, i
    cdef uint64_t row
    cdef ClassTotals* totals
    cdef int64_t stop = start_column(g, k, &column, candidate)
    weights.total = w.total
    for i in range(w.n_present):
        totals = &w.by_class[w.classes[i]]
        totals.left = totals.left_term = totals.default_weight = 0.0
        totals.right = totals.total
    for position in range(column.stop, stop):
        row = row_of(g.entries[position], 0)
        w.by_class[g.sample.y[row]].right -= w.weight_of[row]
        weights.total -= w.weight_of[row]
    weights.min_side = min_branch_weight(g, weights.total)
    if is_too_small(g, &column, &weights):
        return
    candidate.gain = 0.0
    if column.n_default:
        # The weight of rows with the default value is what remains without those of the entries.
        for i in range(w.n_present):
            totals = &w.by_class[w.classes[i]]
            totals.default_weight = totals.right
        for position in range(column.start, column.stop):
            row = row_of(g.entries[position], 0)
            w.by_class[g.sample.y[row]].default_weight -= w.weight_of[row]
    sides.left_sum = sides.right_sum = sides.left = 0.0
    sides.right = weights.total
    for i in range(w.n_present):
        totals = &w.by_class[w.classes[i]]
        totals.right_term = weight_term(g, totals.right)
        sides.right_sum += totals.right_term
    weights.information = weight_term(g, weights.total) - sides.right_sum
    compare_cuts_of_many_classes(g, &column, &weights, &sides, candidate)
    finish_cut(g, candidate, candidate.gain, weights.total)


cdef void compare_cuts_of_many_classes(
    Grower* g, const NumericColumn* column, const KnownWeights* weights, Sides* sides,
    Candidate* candidate,
) noexcept nogil:
    """Find the best cut; the gain is in bits per row. At first, all rows are on the right side."""
    cdef double scale = weights.total / g.weighted.total / LN2
    cdef int64_t previous_code = -1
    cdef int64_t position = column.start
    cdef bint default_is_due = column.n_default > 0
    cdef bint is_default
    cdef int64_t code
    cdef double information_after, total_gain, gain
    while position < column.stop or default_is_due:
        is_default = default_is_due and position == column.default_position
        if is_default:
            code = column.default_code
        else:
            code = <int64_t> code_of(column.entries[position])
        if (
            previous_code >= 0
            and is_possible_cut(column, position, is_default, previous_code)
            and weights.min_side - sides.left < TOLERANCE
            and weights.min_side - sides.right < TOLERANCE
        ):
            candidate.n_cuts += 1
            information_after = (
                weight_term(g, sides.left) + weight_term(g, sides.right)
                - sides.left_sum - sides.right_sum
            )
            total_gain = scale * (weights.information - information_after)
            gain = 0.0 if fabs(total_gain) < TOLERANCE else total_gain / weights.total
            if gain - candidate.gain > TOLERANCE:
                candidate.gain = gain
                candidate.left_weight = sides.left
                candidate.code_below = previous_code
                candidate.code_above = code
        previous_code = code
        if is_default:
            default_is_due = False
            move_default_rows(g, sides)
        else:
            move_row(g, sides, row_of(column.entries[position], 0))
            position += 1


cdef void move_default_rows(Grower* g, Sides* sides) noexcept nogil:
    """Move the rows with the default value from the right side of the cut to the left one."""
    cdef ClassTotals* totals
    cdef int64_t i
    sides.left_sum = sides.right_sum = 0.0
    for i in range(g.weighted.n_present):
        totals = &g.weighted.by_class[g.weighted.classes[i]]
        totals.left += totals.default_weight
        totals.right -= totals.default_weight
        sides.left += totals.default_weight
        sides.right -= totals.default_weight
        totals.left_term = weight_term(g, totals.left)
        totals.right_term = weight_term(g, totals.right)
        sides.left_sum += totals.left_term
        sides.right_sum += totals.right_term


cdef inline void move_row(Grower* g, Sides* sides, uint64_t row) noexcept nogil:
    """Move a row from the right side of the cut to the left one."""
    cdef ClassTotals* totals = &g.weighted.by_class[g.sample.y[row]]
    cdef double weight = g.weighted.weight_of[row]
    cdef double new_term
    totals.left += weight
    totals.right -= weight
    sides.left += weight
    sides.right -= weight
    new_term = weight_term(g, totals.left)
    sides.left_sum += new_term - totals.left_term
    totals.left_term = new_term
    new_term = weight_term(g, totals.right)
    sides.right_sum += new_term - totals.right_term
    totals.right_term = new_term


# Nominal columns.

cdef void score_nominal_column(Grower* g, int64_t k) noexcept nogil:
    """Set gain and ratio of a split by the k-th column of the node, which is nominal.

    The gain stays -1 if fewer than two branches have enough weight.
    """
    cdef WeightedState* w = &g.weighted
    cdef EntryRange* entry_range = &g.ranges[g.current.range_low + k]
    cdef int64_t n_rows = g.current.high - g.current.low
    cdef Candidate* candidate = &g.candidates[k]
    cdef BranchSums sums
    cdef double total_gain, information, default_term
    cdef int64_t i
    sums.known_weight = sums.default_weight = w.total
    sums.information_after = sums.branches = 0.0
    sums.n_large = 0
    add_branches(g, entry_range, &sums)
    if n_rows > entry_range.stop - entry_range.start:
        sums.n_large += g.settings.min_objects - sums.default_weight < TOLERANCE
        default_term = weight_term(g, sums.default_weight)
        sums.information_after += default_term
        sums.branches += default_term
        for i in range(w.n_present):
            sums.information_after -= weight_term(g, w.by_class[w.classes[i]].right)
    if sums.n_large < 2:
        return
    total_gain = (
        sums.known_weight / w.total
        * (known_information(g, entry_range, sums.known_weight) - sums.information_after)
        / LN2
    )
    candidate.gain = 0.0 if fabs(total_gain) < TOLERANCE else total_gain / sums.known_weight
    information = (
        w.total_term - sums.branches - weight_term(g, w.total - sums.known_weight)
    ) / LN2
    candidate.ratio = 0.0
    if fabs(information) >= TOLERANCE:
        candidate.ratio = candidate.gain / (information / w.total)


cdef void add_branches(
    Grower* g, const EntryRange* entry_range, BranchSums* sums
) noexcept nogil:
    """Add the branches that have entries to the sums.

    Afterwards ``right`` is the weight of each class in the rows with the default value.
    """
    cdef WeightedState* w = &g.weighted
    cdef int64_t position = entry_range.start
    cdef int64_t start, n_entries, i, c
    cdef uint64_t code, row
    cdef double weight, branch_term
    cdef bint resets_all_classes
    for i in range(w.n_present):
        c = w.classes[i]
        w.by_class[c].left = 0.0
        w.by_class[c].right = w.by_class[c].total
    while position < entry_range.stop:
        code = code_of(g.entries[position])
        start = position
        weight = 0.0
        while position < entry_range.stop and code_of(g.entries[position]) == code:
            row = row_of(g.entries[position], 0)
            c = g.sample.y[row]
            w.by_class[c].left += w.weight_of[row]
            w.by_class[c].right -= w.weight_of[row]
            weight += w.weight_of[row]
            position += 1
        sums.default_weight -= weight
        if code == MISSING:
            sums.known_weight -= weight
        else:
            sums.n_large += g.settings.min_objects - weight < TOLERANCE
            branch_term = weight_term(g, weight)
            sums.information_after += branch_term
            sums.branches += branch_term
        # Reset the classes of the branch: all classes, or those of its rows if that is less.
        n_entries = position - start
        resets_all_classes = w.n_present < n_entries
        for i in range(w.n_present if resets_all_classes else n_entries):
            c = w.classes[i] if resets_all_classes else g.sample.y[row_of(g.entries[start + i], 0)]
            if code != MISSING and w.by_class[c].left != 0.0:
                sums.information_after -= weight_term(g, w.by_class[c].left)
            w.by_class[c].left = 0.0


cdef double known_information(
    Grower* g, const EntryRange* entry_range, double known_weight
) noexcept nogil:
    """Return the information of the rows whose value is not missing, times their weight, in nats.

    ``known_weight`` is their weight.
    """
    cdef WeightedState* w = &g.weighted
    cdef double information
    cdef int64_t position, i
    cdef uint64_t row
    if known_weight == w.total:
        return w.information
    information = weight_term(g, known_weight)
    for i in range(w.n_present):
        w.by_class[w.classes[i]].left = w.by_class[w.classes[i]].total
    for position in range(entry_range.stop - 1, entry_range.start - 1, -1):
        if code_of(g.entries[position]) != MISSING:
            break
        row = row_of(g.entries[position], 0)
        w.by_class[g.sample.y[row]].left -= w.weight_of[row]
    for i in range(w.n_present):
        information -= weight_term(g, w.by_class[w.classes[i]].left)
    return information


cdef int count_weighted_branches(Grower* g) except -1 nogil:
    """Store the weights, class counts and numbers of rows of the branches.

    A row with a missing value counts in every branch, with a part of its weight in proportion to
    the weight of the other rows in the branch.
    """
    cdef WeightedState* w = &g.weighted
    cdef Node* children = &g.nodes.records[g.split.first_child]
    cdef double* counts = counts_of(&g.nodes, g.split.first_child)
    cdef Py_ssize_t n_classes = g.sample.n_classes
    cdef double known_weight = 0.0
    cdef int64_t b, i
    cdef uint32_t row
    reserve(g.memory, <void**> &w.shares, g.split.n_branches, sizeof(double))
    for i in range(g.current.low, g.current.high):
        row = g.rows[i]
        b = branch_of(g, row)
        if b >= 0:
            children[b].branch += g.row_weights[i]
            counts[b * n_classes + g.sample.y[row]] += g.row_weights[i]
            g.branch_rows[b] += 1
            known_weight += g.row_weights[i]
    for b in range(g.split.n_branches):
        w.shares[b] = children[b].branch / known_weight
    if g.split.n_missing == 0:
        return 0
    w.has_divided_rows = True
    for b in range(g.split.n_branches):
        children[b].branch += (w.total - known_weight) * w.shares[b]
    for i in range(g.current.low, g.current.high):
        row = g.rows[i]
        if branch_of(g, row) < 0:
            for b in range(g.split.n_branches):
                if w.shares[b] > TOLERANCE:
                    counts[b * n_classes + g.sample.y[row]] += g.row_weights[i] * w.shares[b]
                    g.branch_rows[b] += 1
    return 0
