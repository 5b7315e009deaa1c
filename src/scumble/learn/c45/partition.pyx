"""The rows and entries of nodes: copied for the root, and sent down the branches.

Order is kept, so that nothing is sorted twice. Where every row goes down one branch, rows and
entries are parted in place. Rows whose value is missing go down every branch with a part of their
weight; then the largest branch keeps the place of its parent, and the others get copies.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from scumble.learn.c45.arithmetic cimport TINY
from scumble.learn.c45.grower cimport TWO_CLASSES, Grower, EntryRange, StackRecord, branch_of, set_branch
from scumble.learn.c45.layout cimport MISSING, code_of, make_tree_entry, row_of
from scumble.learn.c45.memory cimport reserve

ctypedef fused item:
    uint32_t  # a row
    uint64_t  # an entry


cdef int copy_training_entries(Grower* g, StackRecord* root) except -1 nogil:
    """Copy the columns of the training rows."""
    cdef int64_t n = <int64_t> g.nodes.at[0].branch
    cdef bint repeated = g.strategy == TWO_CLASSES and g.sample.weights != NULL and not g.two.heavy
    cdef int64_t full = n if repeated else g.sample.n
    cdef int64_t size = 1
    cdef int64_t top = 0
    cdef int64_t column, start, stored
    cdef Py_ssize_t k
    for k in range(g.n_listed):
        stored = g.columns.ends[g.listed[k]] - g.columns.begins[g.listed[k]]
        size += min(n, stored * n) if repeated else stored
    reserve(g.memory, <void**> &g.entries, size, sizeof(uint64_t))
    reserve(g.memory, <void**> &g.buffer, full + 1, sizeof(uint64_t))
    reserve(g.memory, <void**> &g.lists, g.n_listed + 1, sizeof(EntryRange))
    for k in range(g.n_listed):
        column = g.listed[k]
        start = top
        top = fill_repeated(g, column, top) if repeated else fill_once(g, column, top)
        if g.seen != NULL and g.columns.n_values[column] == 0:
            mark_seen(g, column, start, top, full)
        list_if_useful(g, root, column, start, top)
    root.entry_free = top
    g.work += top
    return 0


cdef int64_t fill_once(Grower* g, int64_t column, int64_t top) noexcept nogil:
    """Copy the entries of a column; what a row counts goes below its number."""
    cdef uint64_t* entries = g.entries
    cdef const uint8_t* bits = g.two.bits
    cdef const uint8_t* in_set = g.in_set
    cdef int row_bit = g.row_bit
    cdef uint64_t entry, row
    cdef int64_t at
    for at in range(g.columns.begins[column], g.columns.ends[column]):
        entry = g.columns.entries[at]
        row = row_of(entry, 0)
        entries[top] = make_tree_entry(entry, row_bit, bits[row] if bits != NULL else 0)
        top += in_set[row]
    return top


cdef int64_t fill_repeated(Grower* g, int64_t column, int64_t top) noexcept nogil:
    """Copy the entries of a column, each as often as its row counts."""
    cdef uint64_t entry, row
    cdef int64_t at, _turn
    for at in range(g.columns.begins[column], g.columns.ends[column]):
        entry = g.columns.entries[at]
        row = row_of(entry, 0)
        if g.in_set[row]:
            for _turn in range(<int64_t> g.sample.weights[row]):
                g.entries[top] = make_tree_entry(entry, g.row_bit, g.two.bits[row])
                top += 1
    return top


cdef void mark_seen(
    Grower* g, int64_t column, int64_t start, int64_t stop, int64_t full
) noexcept nogil:
    """FileRole the values of a numeric column that occur in the training set."""
    cdef uint8_t* seen = g.seen + g.columns.begins[column]
    cdef int64_t n_codes = g.columns.n_codes[column]
    cdef int64_t at, code
    for at in range(start, stop):
        code = code_of(g.entries[at])
        if code < n_codes:  # else it is missing
            seen[code] = 1
    if stop - start < full:
        seen[g.columns.defaults[column]] = 1


cdef inline int64_t full_size(const Grower* g, const StackRecord* node) noexcept nogil:
    """Tell how many entries a column has in a node if no row has its default value."""
    if g.strategy == TWO_CLASSES and not g.two.heavy:
        return <int64_t> g.nodes.at[node.node].branch
    return node.high - node.low


cdef inline bint list_if_useful(
    Grower* g, StackRecord* waiting, int64_t column, int64_t start, int64_t stop
) noexcept nogil:
    """Add a column's stretch to the list of a waiting node if it can split that or one below."""
    if stop - start < full_size(g, waiting):
        if stop - start < g.least_entries:
            return False
    elif code_of(g.entries[start]) == code_of(g.entries[stop - 1]):
        return False
    g.lists[waiting.list_high] = EntryRange(column, start, stop)
    waiting.list_high += 1
    return True


cdef void set_branches_by_entries(Grower* g) noexcept nogil:
    """Note the branch of every row of the node, by the entries of the chosen column."""
    cdef EntryRange* stretch = &g.lists[g.now.list_low + g.split.place]
    cdef bint numeric = g.columns.n_values[stretch.column] == 0
    cdef uint64_t below = g.candidates[g.split.place].below if numeric else 0  # codes are 0 and 1
    cdef bint in_two = g.split.n_branches == 2
    cdef uint8_t* flags = g.flags
    cdef int32_t* side = g.side
    cdef int row_bit = g.row_bit
    cdef uint64_t entry, code
    cdef int64_t i, at
    cdef int64_t n_missing = 0
    if stretch.stop - stretch.start < full_size(g, &g.now):
        for i in range(g.now.low, g.now.high):
            set_branch(g, g.rows[i], g.split.rest)
    for at in range(stretch.start, stretch.stop):
        entry = g.entries[at]
        code = code_of(entry)
        n_missing += code == MISSING
        if in_two:
            flags[row_of(entry, row_bit)] = (code > below) + (code == MISSING)
        else:
            side[row_of(entry, row_bit)] = -1 if code == MISSING else <int32_t> code
    g.split.n_missing = n_missing


cdef void partition_rows(Grower* g) noexcept nogil:
    """Sort the rows of a node by branch; ``bounds`` receives where each branch begins and ends."""
    cdef uint32_t* others = <uint32_t*> g.buffer
    cdef int64_t b
    if g.split.n_branches > 2:
        for b in range(g.split.n_branches):
            g.slot[b] = b
        part_in_many(g, g.split.n_branches, g.rows, others, g.now.low, g.now.high, 0)
        return
    g.bounds[0], g.bounds[2] = g.now.low, g.now.high
    g.bounds[1] = part_in_two(g, g.rows, others, g.now.low, g.now.high, 0)


cdef void partition_entries(Grower* g, Py_ssize_t depth) noexcept nogil:
    """Part each column's stretch in place among the branches that go on."""
    cdef int64_t j, start, stop, middle, k
    cdef EntryRange stretch
    for j in range(g.now.list_low, g.now.list_high):
        stretch = g.lists[j]
        start, stop = stretch.start, stretch.stop
        g.work += stop - start
        if g.split.n_branches > 2:
            part_in_many(g, g.split.n_live, g.entries, g.buffer, start, stop, g.row_bit)
            for k in range(g.split.n_live):
                start, stop = g.bounds[k], g.bounds[k + 1]
                list_if_useful(g, &g.waiting[depth + k], stretch.column, start, stop)
        else:
            middle = part_in_two(g, g.entries, g.buffer, start, stop, g.row_bit)
            if g.slot[0] >= 0:
                list_if_useful(g, &g.waiting[depth + g.slot[0]], stretch.column, start, middle)
            if g.slot[1] >= 0:
                list_if_useful(g, &g.waiting[depth + g.slot[1]], stretch.column, middle, stop)


cdef inline int64_t part_in_two(
    Grower* g, item* items, item* others, int64_t start, int64_t stop, int row_bit
) noexcept nogil:
    """Part rows or entries in two, order kept; return where the second part begins."""
    cdef const uint8_t* flags = g.flags
    cdef int64_t right = 0
    cdef int64_t at
    cdef item one
    for at in range(start, stop):
        one = items[at]
        items[at - right] = one
        others[right] = one
        right += flags[row_of(one, row_bit)]
    memcpy(items + stop - right, others, right * sizeof(item))
    return stop - right


cdef void part_in_many(
    Grower* g, int64_t n_slots, item* items, item* others, int64_t start, int64_t stop, int row_bit
) noexcept nogil:
    """Part rows or entries among several slots, order kept; those of branches without are dropped.

    ``bounds`` receives where the slots begin and end.
    """
    cdef const int64_t* slot = g.slot
    cdef const int32_t* side = g.side
    cdef int64_t* bounds = g.bounds
    cdef int64_t at, k
    memset(bounds, 0, (n_slots + 1) * sizeof(int64_t))
    for at in range(start, stop):
        k = slot[side[row_of(items[at], row_bit)]]
        if k >= 0:
            bounds[k + 1] += 1
    for k in range(n_slots):
        bounds[k + 1] += bounds[k]
    for at in range(start, stop):
        k = slot[side[row_of(items[at], row_bit)]]
        if k >= 0:
            others[bounds[k]] = items[at]
            bounds[k] += 1
    for k in range(n_slots, 0, -1):
        bounds[k] = start + bounds[k - 1]
    bounds[0] = start
    memcpy(items + start, others, (bounds[n_slots] - start) * sizeof(item))


cdef int copy_branches(Grower* g, Py_ssize_t depth) except -1 nogil:
    """Give the branches that go on their rows and stretches where some rows go down several."""
    cdef int64_t row_top = g.now.row_free
    cdef int64_t entry_top = g.now.entry_free
    cdef int64_t k, which
    cdef StackRecord* waiting
    for k in range(1, g.split.n_live + 1):  # the in_place_branch last: it overwrites its parent
        which = k if k < g.split.n_live else 0
        waiting = &g.waiting[depth + which]
        copy_rows(g, waiting, row_top if which else g.now.low)
        if which:
            row_top = waiting.high
        waiting.row_free = row_top if which else g.now.row_free
        entry_top = copy_lists(g, waiting, which == 0, entry_top)
        waiting.entry_free = entry_top if which else g.now.entry_free
    return 0


cdef int copy_rows(Grower* g, StackRecord* waiting, int64_t to) except -1 nogil:
    """Copy the rows of a branch to ``to``, those with a missing value with their share."""
    cdef int64_t b = waiting.node - g.split.child
    cdef double share = g.weighted.shares[b]
    cdef int64_t i, side
    reserve(g.memory, <void**> &g.rows, to + g.branch_rows[b], sizeof(uint32_t))
    reserve(g.memory, <void**> &g.row_weights, to + g.branch_rows[b], sizeof(double))
    waiting.low = to
    for i in range(g.now.low, g.now.high):
        side = branch_of(g, g.rows[i])
        if side == b or (side < 0 and share > TINY):
            g.rows[to] = g.rows[i]
            g.row_weights[to] = g.row_weights[i] * share if side < 0 else g.row_weights[i]
            to += 1
    waiting.high = to
    return 0


cdef int64_t copy_lists(Grower* g, StackRecord* waiting, bint in_place, int64_t top) except -1 nogil:
    """Copy the stretches of one branch; return from where on entries are free."""
    cdef int64_t b = waiting.node - g.split.child
    cdef int64_t lost = g.weighted.shares[b] > TINY
    cdef int64_t[3] here = [b == 0, b == 1, lost]  # by flag
    cdef const uint8_t* flags = g.flags
    cdef bint in_two = g.split.n_branches == 2
    cdef uint64_t* entries
    cdef int64_t at, j, size, goal, begin, s
    cdef EntryRange stretch
    cdef uint64_t entry
    for j in range(g.now.list_low, g.now.list_high):
        stretch = g.lists[j]
        size = stretch.stop - stretch.start
        g.work += size
        begin = stretch.start if in_place else top
        goal = begin
        reserve(g.memory, <void**> &g.entries, goal + size + 1, sizeof(uint64_t))
        entries = g.entries
        for at in range(stretch.start, stretch.stop):
            entry = entries[at]
            entries[goal] = entry
            if in_two:
                goal += here[flags[row_of(entry, 0)]]
            else:
                s = g.side[row_of(entry, 0)]
                goal += lost if s < 0 else <int64_t> (s == b)
        if list_if_useful(g, waiting, stretch.column, begin, goal) and not in_place:
            top = goal
    return top
