"""Splits for many classes where rows are counted: no missing values, each row once.

A row that moves from one side of a cut to the other changes the sum of x ln x over the classes of
both sides by an amount that depends on its class and on how many rows of this class have moved
before. These amounts are tabulated once for a node, class by class, one for each of its rows: a
column is then judged with one addition a row, however many classes there are.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from scumble.learn.c45.arithmetic cimport LN2, TINY
from scumble.learn.c45.grower cimport (
    Candidate, NumericColumn, Grower, ManyClassState, EntryRange, add_gain, finish_best_cut, init_column, init_best_cut,
    init_node,
)
from scumble.learn.c45.layout cimport MIN_VALUE_GAP, code_of, can_cut_between, row_of
from scumble.learn.c45.memory cimport reserve, reserve_zeros


cdef int start_many_classes(Grower* g) except -1 nogil:
    """Count the classes of the training rows."""
    cdef ManyClassState* many = &g.many
    cdef Py_ssize_t size = g.sample.n + 1
    cdef Py_ssize_t n_classes = g.sample.n_classes
    cdef Py_ssize_t i
    g.row_bit = 1
    g.least_entries = g.settings.min_objects
    reserve(g.memory, <void**> &many.local, g.sample.n_table, sizeof(uint32_t))
    reserve_zeros(g.memory, <void**> &many.turn_of, n_classes, sizeof(int64_t))
    reserve(g.memory, <void**> &many.size_of, n_classes, sizeof(int64_t))
    reserve_zeros(g.memory, <void**> &many.bags, n_classes, sizeof(int64_t))
    reserve(g.memory, <void**> &many.begins, n_classes, sizeof(uint32_t))
    reserve(g.memory, <void**> &many.turns, n_classes, sizeof(uint32_t))
    reserve(g.memory, <void**> &many.steps, size, sizeof(double))
    reserve(g.memory, <void**> &g.sizes, size, sizeof(double))
    reserve(g.memory, <void**> &many.sums, size, sizeof(double))
    for i in range(g.sample.n):
        g.nodes.counts[g.sample.y[g.sample.rows[i]]] += 1.0
    return 0


cdef void score_many_class_columns(Grower* g) noexcept nogil:
    """Judge all columns of the node in hand; gains are in nats times rows."""
    cdef int64_t k, n_values
    cdef Candidate* found
    cdef bint cuttable
    g.n = g.now.high - g.now.low
    tabulate_steps(g)
    cuttable = init_node(g)
    g.before = g.table[g.n] - g.many.total
    for k in range(g.now.list_high - g.now.list_low):
        n_values = g.columns.n_values[g.lists[g.now.list_low + k].column]
        found = &g.candidates[k]
        found.gain = -1.0
        if n_values > 0:
            judge_codes(g, k)
        elif cuttable:
            find_numeric_cuts(g, k)
        add_gain(g, found.gain, n_values)


cdef void tabulate_steps(Grower* g) noexcept nogil:
    """Give numbers to the classes of a node and tabulate what moving their rows changes."""
    cdef ManyClassState* many = &g.many
    cdef const double* table = g.table
    cdef int64_t place = 0
    cdef int64_t i, k, c, size, moved
    cdef uint64_t row
    many.n_present = 0
    many.total = 0.0
    for i in range(g.now.low, g.now.high):
        row = g.rows[i]
        c = g.sample.y[row]
        if many.turn_of[c] == 0:
            many.size_of[many.n_present] = 0
            many.n_present += 1
            many.turn_of[c] = many.n_present
        k = many.turn_of[c] - 1
        many.local[row] = <uint32_t> k
        many.size_of[k] += 1
    for i in range(g.now.low, g.now.high):
        many.turn_of[g.sample.y[g.rows[i]]] = 0
    for k in range(many.n_present):
        size = many.size_of[k]
        many.begins[k] = many.turns[k] = <uint32_t> place
        many.total += table[size]
        for moved in range(size):
            many.steps[place + moved] = table[moved + 1] + table[size - moved - 1] - (
                table[moved] + table[size - moved]
            )
        place += size


cdef inline double move(ManyClassState* many, uint64_t entry) noexcept nogil:
    """Move a row to the other side; return what that changes."""
    cdef uint32_t k = many.local[row_of(entry, 1)]
    cdef uint32_t turn = many.turns[k]
    many.turns[k] = turn + 1
    return many.steps[turn]


cdef void forget(
    ManyClassState* many, const uint64_t* entries, int64_t start, int64_t stop
) noexcept nogil:
    """Set back the classes of some entries, or all of them where that is less."""
    cdef int64_t at
    cdef uint32_t k
    if many.n_present <= stop - start:
        for k in range(many.n_present):
            many.turns[k] = many.begins[k]
        return
    for at in range(start, stop):
        k = many.local[row_of(entries[at], 1)]
        many.turns[k] = many.begins[k]


cdef void find_numeric_cuts(Grower* g, int64_t k) noexcept nogil:
    """Find the best cut of a numeric column.

    Rows in no entry form a block; beyond it sums are taken from the other end, because both sides
    count alike.
    """
    cdef Candidate* found = &g.candidates[k]
    cdef NumericColumn column
    init_column(g, k, g.n, &column)
    init_best_cut(g, found)
    scan_below(g, &column, found)
    if column.block and column.middle - column.start + column.block <= g.n - g.least:
        scan_above(g, &column, found)
    finish_best_cut(g, found)


cdef inline void try_cut(
    const Grower* g, Candidate* found, double score, int64_t left, uint64_t below, uint64_t above,
    bint apart,
) noexcept nogil:
    """Take a cut if it is the best so far and its values are ``apart``, which is rarely asked."""
    if score > found.gain and apart:
        found.gain = score + g.tolerance
        found.left, found.below, found.above = left, below, above


cdef void scan_below(Grower* g, const NumericColumn* column, Candidate* found) noexcept nogil:
    """Judge the cuts up to the default value, from the smallest value on."""
    cdef ManyClassState* many = &g.many
    cdef const uint64_t* entries = column.entries
    cdef const double* values = column.values
    cdef int64_t limit = g.n - g.least
    cdef int64_t left = column.middle - column.start
    cdef int64_t at = column.start
    cdef int64_t end = min(column.middle, column.start + g.least)
    cdef const double* sizes = g.sizes
    cdef double now = many.total
    cdef uint64_t last = 0
    cdef int64_t cuts = 0
    cdef uint64_t entry
    cdef double score
    cdef bint apart
    while at < end:
        now += move(many, entries[at])
        last = code_of(entries[at])
        at += 1
    end = min(column.middle, column.start + limit + 1)
    while at < end:
        entry = entries[at]
        apart = can_cut_between(values, last, entry)
        cuts += apart
        score = now - sizes[at - column.start]
        try_cut(g, found, score, at - column.start, last, code_of(entry), apart)
        last = code_of(entry)
        now += move(many, entry)
        at += 1
    forget(many, entries, column.start, at)
    if column.block and g.least <= left <= limit and values[last] + MIN_VALUE_GAP < values[column.default]:
        cuts += 1
        try_cut(g, found, now - sizes[left], left, last, column.default, True)
    found.cuts = cuts


cdef void scan_above(Grower* g, const NumericColumn* column, Candidate* found) noexcept nogil:
    """Judge the cuts above the default value; sums are taken from the largest value on."""
    cdef ManyClassState* many = &g.many
    cdef const uint64_t* entries = column.entries
    cdef const double* values = column.values
    cdef int64_t left = column.middle - column.start + column.block
    cdef double now = many.total
    cdef uint64_t last = column.default
    cdef uint64_t code
    cdef int64_t place
    cdef double score
    for place in range(column.stop - 1, column.middle - 1, -1):
        now += move(many, entries[place])
        many.sums[place - column.middle] = now
    for place in range(column.middle, column.stop):
        code = code_of(entries[place])
        if left > g.n - g.least:
            break
        if left >= g.least and values[last] + MIN_VALUE_GAP < values[code]:
            found.cuts += 1
            score = many.sums[place - column.middle] - g.sizes[left]
            try_cut(g, found, score, left, last, code, True)
        last = code
        left += 1
    forget(many, entries, column.middle, column.stop)


cdef void judge_codes(Grower* g, int64_t k) noexcept nogil:
    """Judge a nominal column."""
    cdef ManyClassState* many = &g.many
    cdef const double* table = g.table
    cdef EntryRange* stretch = &g.lists[g.now.list_low + k]
    cdef int64_t n = g.now.high - g.now.low
    cdef int64_t rest = n - (stretch.stop - stretch.start)
    cdef int64_t heavy = rest >= g.settings.min_objects
    cdef Candidate* found = &g.candidates[k]
    cdef double branches = 0.0
    cdef double classes = many.total
    cdef double info
    cdef int64_t at
    if code_of(g.entries[stretch.start]) == code_of(g.entries[stretch.stop - 1]):
        heavy += n - rest >= g.settings.min_objects
        if heavy < 2:
            return
        branches = table[n - rest]
        for at in range(stretch.start, stretch.stop):
            classes += move(many, g.entries[at])
    else:
        heavy += sum_up_codes(g, stretch, &branches, &classes)
    forget(many, g.entries, stretch.start, stretch.stop)
    if heavy < 2:
        return
    branches += table[rest]
    found.gain = table[n] - many.total + classes - branches
    if found.gain < TINY * LN2:
        found.gain = 0.0
    info = table[n] - branches
    found.ratio = 0.0 if info < TINY * LN2 else found.gain / info


cdef int64_t sum_up_codes(
    Grower* g, const EntryRange* stretch, double* branches, double* classes
) noexcept nogil:
    """Sum x ln x over the branches with entries; return how many of them are heavy enough."""
    cdef ManyClassState* many = &g.many
    cdef const double* table = g.table
    cdef int64_t heavy = 0
    cdef int64_t at = stretch.start
    cdef int64_t group, i, bag, kept
    cdef uint64_t code
    cdef uint32_t k
    while at < stretch.stop:
        code = code_of(g.entries[at])
        group = at
        while at < stretch.stop and code_of(g.entries[at]) == code:
            k = many.local[row_of(g.entries[at], 1)]
            kept = many.size_of[k] - (many.turns[k] - many.begins[k])
            bag = many.bags[k]
            classes[0] += (table[bag + 1] - table[bag]) + (table[kept - 1] - table[kept])
            many.turns[k] += 1
            many.bags[k] += 1
            at += 1
        heavy += at - group >= g.settings.min_objects
        branches[0] += table[at - group]
        for i in range(group, at):
            many.bags[many.local[row_of(g.entries[i], 1)]] = 0
    return heavy
