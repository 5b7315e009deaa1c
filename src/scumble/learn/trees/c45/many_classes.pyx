"""Splits for many classes where rows are counted: no missing values, each row once.

If a row moves from one side of a cut to the other, the sum of x ln x over the classes of both sides
changes by an amount that depends only on the class of the row and on how many rows of this class
have moved before. These *steps* are tabulated once for a node, for each of its rows, class by
class. Then each row of a column needs only one addition, however many classes there are.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from scumble.learn.trees.c45.arithmetic cimport LN2, TOLERANCE
from scumble.learn.trees.c45.grower cimport (
    Candidate, EntryRange, Grower, ManyClassState, NumericColumn, add_gain, finish_best_cut,
    init_best_cut, init_column, init_node,
)
from scumble.learn.trees.c45.layout cimport MIN_VALUE_GAP, can_cut_between, code_of, row_of
from scumble.learn.trees.c45.memory cimport reserve, reserve_zeros


cdef struct ColumnSums:  # Sums over the branches of a nominal column.
    double branches  # of x ln x of the number of rows
    double classes  # of x ln x of the rows of each class
    int64_t n_large  # branches with enough rows


cdef int start_many_classes(Grower* g) except -1 nogil:
    """Make room for a tree and count the classes of the training rows."""
    cdef ManyClassState* many = &g.many
    cdef Py_ssize_t size = g.sample.n + 1
    cdef Py_ssize_t n_classes = g.sample.n_classes
    cdef Py_ssize_t i
    g.row_shift = 1
    g.min_entries = g.settings.min_objects
    reserve(g.memory, <void**> &many.local_class, g.sample.n_table, sizeof(uint32_t))
    reserve_zeros(g.memory, <void**> &many.local_number, n_classes, sizeof(int64_t))
    reserve(g.memory, <void**> &many.class_sizes, n_classes, sizeof(int64_t))
    reserve_zeros(g.memory, <void**> &many.branch_sizes, n_classes, sizeof(int64_t))
    reserve(g.memory, <void**> &many.first_step, n_classes, sizeof(uint32_t))
    reserve(g.memory, <void**> &many.next_step, n_classes, sizeof(uint32_t))
    reserve(g.memory, <void**> &many.steps, size, sizeof(double))
    reserve(g.memory, <void**> &g.size_terms, size, sizeof(double))
    reserve(g.memory, <void**> &many.sums, size, sizeof(double))
    for i in range(g.sample.n):
        g.nodes.counts[g.sample.y[g.sample.rows[i]]] += 1.0
    return 0


cdef void score_many_class_columns(Grower* g) noexcept nogil:
    """Compute the best split of every column of the current node; gains are in nats times rows."""
    cdef int64_t k, n_values
    cdef Candidate* candidate
    cdef bint can_cut
    g.n_counted = g.current.high - g.current.low
    tabulate_steps(g)
    can_cut = init_node(g)
    g.information = g.x_ln_x_table[g.n_counted] - g.many.total
    for k in range(g.current.range_high - g.current.range_low):
        n_values = g.columns.n_values[g.ranges[g.current.range_low + k].column]
        candidate = &g.candidates[k]
        candidate.gain = -1.0
        if n_values > 0:
            score_nominal_column(g, k)
        elif can_cut:
            find_numeric_cut(g, k)
        add_gain(g, candidate.gain, n_values)


cdef void tabulate_steps(Grower* g) noexcept nogil:
    """Number the classes of the node and tabulate the steps of their rows."""
    cdef ManyClassState* many = &g.many
    cdef const double* x_ln_x_table = g.x_ln_x_table
    cdef int64_t position = 0
    cdef int64_t i, k, c, size, n_moved
    cdef uint64_t row
    many.n_present = 0
    many.total = 0.0
    for i in range(g.current.low, g.current.high):
        row = g.rows[i]
        c = g.sample.y[row]
        if many.local_number[c] == 0:
            many.class_sizes[many.n_present] = 0
            many.n_present += 1
            many.local_number[c] = many.n_present
        k = many.local_number[c] - 1
        many.local_class[row] = <uint32_t> k
        many.class_sizes[k] += 1
    for i in range(g.current.low, g.current.high):
        many.local_number[g.sample.y[g.rows[i]]] = 0
    for k in range(many.n_present):
        size = many.class_sizes[k]
        many.first_step[k] = many.next_step[k] = <uint32_t> position
        many.total += x_ln_x_table[size]
        for n_moved in range(size):
            many.steps[position + n_moved] = (
                x_ln_x_table[n_moved + 1] + x_ln_x_table[size - n_moved - 1]
            ) - (x_ln_x_table[n_moved] + x_ln_x_table[size - n_moved])
        position += size


cdef inline double move_row(ManyClassState* many, uint64_t entry) noexcept nogil:
    """Move the row of an entry to the other side; return the change of the sum of x ln x."""
    cdef uint32_t k = many.local_class[row_of(entry, 1)]
    cdef uint32_t step = many.next_step[k]
    many.next_step[k] = step + 1
    return many.steps[step]


cdef void reset_steps(
    ManyClassState* many, const uint64_t* entries, int64_t start, int64_t stop
) noexcept nogil:
    """Reset the next steps: of the classes of some entries, or of all classes if that is less."""
    cdef int64_t position
    cdef uint32_t k
    if many.n_present <= stop - start:
        for k in range(many.n_present):
            many.next_step[k] = many.first_step[k]
        return
    for position in range(start, stop):
        k = many.local_class[row_of(entries[position], 1)]
        many.next_step[k] = many.first_step[k]


cdef void find_numeric_cut(Grower* g, int64_t k) noexcept nogil:
    """Set the candidate of the k-th column of the node, which is numeric, to its best cut.

    Cuts above the rows with the default value, which have no entries, are computed from the other
    end: the score of a cut is the same for both of its sides.
    """
    cdef Candidate* candidate = &g.candidates[k]
    cdef NumericColumn column
    cdef int64_t left_with_default
    init_column(g, k, g.n_counted, &column)
    init_best_cut(g, candidate)
    scan_below_default(g, &column, candidate)
    left_with_default = column.default_position - column.start + column.n_default
    if column.n_default and left_with_default <= g.n_counted - g.min_side:
        scan_above_default(g, &column, candidate)
    finish_best_cut(g, candidate)


cdef inline void try_cut(
    const Grower* g, Candidate* candidate, double score, int64_t n_left, uint64_t code_below,
    uint64_t code_above, bint is_cut,
) noexcept nogil:
    """Store a cut if it is the best so far and possible; the latter decides only rarely."""
    if score > candidate.gain and is_cut:
        candidate.gain = score + g.score_tolerance
        candidate.left_weight = n_left
        candidate.code_below = code_below
        candidate.code_above = code_above


cdef void scan_below_default(
    Grower* g, const NumericColumn* column, Candidate* candidate
) noexcept nogil:
    """Compare the cuts up to the default value, from the smallest value on."""
    cdef ManyClassState* many = &g.many
    cdef const uint64_t* entries = column.entries
    cdef const double* values = column.values
    cdef int64_t max_left = g.n_counted - g.min_side
    cdef int64_t n_below = column.default_position - column.start
    cdef int64_t position = column.start
    cdef int64_t end = min(column.default_position, column.start + g.min_side)
    cdef const double* size_terms = g.size_terms
    cdef double class_sum = many.total
    cdef uint64_t previous_code = 0
    cdef int64_t n_cuts = 0
    cdef uint64_t entry
    cdef double score
    cdef bint is_cut
    while position < end:
        class_sum += move_row(many, entries[position])
        previous_code = code_of(entries[position])
        position += 1
    end = min(column.default_position, column.start + max_left + 1)
    while position < end:
        entry = entries[position]
        is_cut = can_cut_between(values, previous_code, entry)
        n_cuts += is_cut
        score = class_sum - size_terms[position - column.start]
        try_cut(
            g, candidate, score, position - column.start, previous_code, code_of(entry), is_cut
        )
        previous_code = code_of(entry)
        class_sum += move_row(many, entry)
        position += 1
    reset_steps(many, entries, column.start, position)
    if (
        column.n_default
        and g.min_side <= n_below <= max_left
        and values[previous_code] + MIN_VALUE_GAP < values[column.default_code]
    ):
        n_cuts += 1
        try_cut(
            g, candidate, class_sum - size_terms[n_below], n_below, previous_code,
            column.default_code, True,
        )
    candidate.n_cuts = n_cuts


cdef void scan_above_default(
    Grower* g, const NumericColumn* column, Candidate* candidate
) noexcept nogil:
    """Compare the cuts above the default value; the sums start from the largest value."""
    cdef ManyClassState* many = &g.many
    cdef const uint64_t* entries = column.entries
    cdef const double* values = column.values
    cdef int64_t n_left = column.default_position - column.start + column.n_default
    cdef double class_sum = many.total
    cdef uint64_t previous_code = column.default_code
    cdef uint64_t code
    cdef int64_t position
    cdef double score
    for position in range(column.stop - 1, column.default_position - 1, -1):
        class_sum += move_row(many, entries[position])
        many.sums[position - column.default_position] = class_sum
    for position in range(column.default_position, column.stop):
        code = code_of(entries[position])
        if n_left > g.n_counted - g.min_side:
            break
        if n_left >= g.min_side and values[previous_code] + MIN_VALUE_GAP < values[code]:
            candidate.n_cuts += 1
            score = many.sums[position - column.default_position] - g.size_terms[n_left]
            try_cut(g, candidate, score, n_left, previous_code, code, True)
        previous_code = code
        n_left += 1
    reset_steps(many, entries, column.default_position, column.stop)


cdef void score_nominal_column(Grower* g, int64_t k) noexcept nogil:
    """Set gain and ratio of a split by the k-th column of the node, which is nominal.

    The gain stays -1 if fewer than two branches have enough rows.
    """
    cdef ManyClassState* many = &g.many
    cdef const double* x_ln_x_table = g.x_ln_x_table
    cdef EntryRange* entry_range = &g.ranges[g.current.range_low + k]
    cdef int64_t n = g.current.high - g.current.low
    cdef int64_t n_entries = entry_range.stop - entry_range.start
    cdef int64_t n_default = n - n_entries
    cdef uint64_t first_code = code_of(g.entries[entry_range.start])
    cdef uint64_t last_code = code_of(g.entries[entry_range.stop - 1])
    cdef Candidate* candidate = &g.candidates[k]
    cdef ColumnSums sums
    cdef double split_information
    cdef int64_t position
    sums.branches = 0.0
    sums.classes = many.total
    sums.n_large = n_default >= g.settings.min_objects
    if first_code == last_code:
        sums.n_large += n_entries >= g.settings.min_objects
        if sums.n_large < 2:
            return
        sums.branches = x_ln_x_table[n_entries]
        for position in range(entry_range.start, entry_range.stop):
            sums.classes += move_row(many, g.entries[position])
    else:
        add_branches(g, entry_range, &sums)
    reset_steps(many, g.entries, entry_range.start, entry_range.stop)
    if sums.n_large < 2:
        return
    sums.branches += x_ln_x_table[n_default]
    candidate.gain = x_ln_x_table[n] - many.total + sums.classes - sums.branches
    if candidate.gain < TOLERANCE * LN2:
        candidate.gain = 0.0
    split_information = x_ln_x_table[n] - sums.branches
    candidate.ratio = 0.0
    if split_information >= TOLERANCE * LN2:
        candidate.ratio = candidate.gain / split_information


cdef void add_branches(
    Grower* g, const EntryRange* entry_range, ColumnSums* sums
) noexcept nogil:
    """Add the branches that have entries to the sums."""
    cdef ManyClassState* many = &g.many
    cdef const double* x_ln_x_table = g.x_ln_x_table
    cdef double branches = sums.branches
    cdef double classes = sums.classes
    cdef int64_t position = entry_range.start
    cdef int64_t branch_start, i, n_in_branch, n_remaining
    cdef uint64_t code
    cdef uint32_t k
    while position < entry_range.stop:
        code = code_of(g.entries[position])
        branch_start = position
        while position < entry_range.stop and code_of(g.entries[position]) == code:
            k = many.local_class[row_of(g.entries[position], 1)]
            n_remaining = many.class_sizes[k] - (many.next_step[k] - many.first_step[k])
            n_in_branch = many.branch_sizes[k]
            classes += (x_ln_x_table[n_in_branch + 1] - x_ln_x_table[n_in_branch]) + (
                x_ln_x_table[n_remaining - 1] - x_ln_x_table[n_remaining]
            )
            many.next_step[k] += 1
            many.branch_sizes[k] += 1
            position += 1
        sums.n_large += position - branch_start >= g.settings.min_objects
        branches += x_ln_x_table[position - branch_start]
        for i in range(branch_start, position):
            many.branch_sizes[many.local_class[row_of(g.entries[i], 1)]] = 0
    sums.branches = branches
    sums.classes = classes
