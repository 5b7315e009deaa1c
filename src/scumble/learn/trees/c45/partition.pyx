"""The rows and entries of nodes: copied for the root, and divided among the branches.

The order is kept, so that nothing is sorted twice. If every row goes down one branch, rows and
entries are divided in place. Rows whose value is missing go down every branch with a part of their
weight; then the largest branch is stored in the place of its parent, and the others are copied.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from scumble.learn.trees.c45.arithmetic cimport TOLERANCE
from scumble.learn.trees.c45.grower cimport (
    TWO_CLASSES, EntryRange, Grower, StackRecord, branch_of, set_branch,
)
from scumble.learn.trees.c45.layout cimport MISSING, code_of, make_tree_entry, row_of
from scumble.learn.trees.c45.memory cimport reserve

ctypedef fused element:
    uint32_t  # a row
    uint64_t  # an entry


cdef int copy_training_entries(Grower* g, StackRecord* root) except -1 nogil:
    """Copy the entries of the training rows, for all columns that are used as lists."""
    cdef int64_t n = <int64_t> g.nodes.records[0].branch
    cdef bint repeat_entries = (
        g.strategy == TWO_CLASSES and g.sample.weights != NULL and not g.two.has_entry_weights
    )
    cdef int64_t n_full = n if repeat_entries else g.sample.n
    cdef int64_t size = 1
    cdef int64_t stop = 0
    cdef int64_t column, start, n_stored
    cdef Py_ssize_t k
    for k in range(g.n_list_columns):
        n_stored = g.columns.stops[g.list_columns[k]] - g.columns.starts[g.list_columns[k]]
        size += min(n, n_stored * n) if repeat_entries else n_stored
    reserve(g.memory, <void**> &g.entries, size, sizeof(uint64_t))
    reserve(g.memory, <void**> &g.buffer, n_full + 1, sizeof(uint64_t))
    reserve(g.memory, <void**> &g.ranges, g.n_list_columns + 1, sizeof(EntryRange))
    for k in range(g.n_list_columns):
        column = g.list_columns[k]
        start = stop
        if repeat_entries:
            stop = copy_entries_repeated(g, column, start)
        else:
            stop = copy_entries(g, column, start)
        if g.value_occurs != NULL and g.columns.n_values[column] == 0:
            mark_values(g, column, start, stop, n_full)
        add_range_if_useful(g, root, column, start, stop)
    root.first_free_entry = stop
    g.work += stop
    return 0


cdef int64_t copy_entries(Grower* g, int64_t column, int64_t start) noexcept nogil:
    """Copy the entries of a column to ``start``, with the bits of their rows; return the end."""
    cdef uint64_t* entries = g.entries
    cdef const uint8_t* row_bits = g.two.row_bits
    cdef const uint8_t* in_sample = g.in_sample
    cdef int row_shift = g.row_shift
    cdef uint64_t entry, row
    cdef int64_t position
    cdef int64_t stop = start
    for position in range(g.columns.starts[column], g.columns.stops[column]):
        entry = g.columns.entries[position]
        row = row_of(entry, 0)
        entries[stop] = make_tree_entry(
            entry, row_shift, row_bits[row] if row_bits != NULL else 0
        )
        stop += in_sample[row]
    return stop


cdef int64_t copy_entries_repeated(Grower* g, int64_t column, int64_t start) noexcept nogil:
    """Copy the entries of a column to ``start``, as often as rows are repeated; return the end."""
    cdef uint64_t entry, row
    cdef int64_t position, _repetition
    cdef int64_t stop = start
    for position in range(g.columns.starts[column], g.columns.stops[column]):
        entry = g.columns.entries[position]
        row = row_of(entry, 0)
        if g.in_sample[row]:
            for _repetition in range(<int64_t> g.sample.weights[row]):
                g.entries[stop] = make_tree_entry(entry, g.row_shift, g.two.row_bits[row])
                stop += 1
    return stop


cdef void mark_values(
    Grower* g, int64_t column, int64_t start, int64_t stop, int64_t n_full
) noexcept nogil:
    """Mark the values of a numeric column that occur in the training rows.

    If the column has fewer than ``n_full`` entries, its default value occurs, too.
    """
    cdef uint8_t* value_occurs = g.value_occurs + g.columns.starts[column]
    cdef int64_t n_codes = g.columns.n_codes[column]
    cdef int64_t position, code
    for position in range(start, stop):
        code = code_of(g.entries[position])
        if code < n_codes:  # else it is missing
            value_occurs[code] = 1
    if stop - start < n_full:
        value_occurs[g.columns.defaults[column]] = 1


cdef inline int64_t full_size(const Grower* g, const StackRecord* record) noexcept nogil:
    """Return the number of entries that a column has in a node if no row has its default value."""
    if g.strategy == TWO_CLASSES and not g.two.has_entry_weights:
        return <int64_t> g.nodes.records[record.node].branch
    return record.high - record.low


cdef inline bint add_range_if_useful(
    Grower* g, StackRecord* record, int64_t column, int64_t start, int64_t stop
) noexcept nogil:
    """Add the entries of a column to a waiting node if they can split it or a node below it.

    Returns whether they were added.
    """
    if stop - start < full_size(g, record):
        if stop - start < g.min_entries:
            return False
    elif code_of(g.entries[start]) == code_of(g.entries[stop - 1]):
        return False
    g.ranges[record.range_high] = EntryRange(column, start, stop)
    record.range_high += 1
    return True


cdef void set_branches_by_entries(Grower* g) noexcept nogil:
    """Store the branch of every row of the node, by the entries of the selected column."""
    cdef EntryRange* entry_range = &g.ranges[g.current.range_low + g.split.range_index]
    cdef bint is_numeric = g.columns.n_values[entry_range.column] == 0
    cdef bint has_two_branches = g.split.n_branches == 2
    cdef uint8_t* flags = g.flags
    cdef int32_t* branches = g.branches
    cdef int row_shift = g.row_shift
    cdef uint64_t last_left_code = 0  # of a nominal column with two values
    cdef uint64_t entry, code
    cdef int64_t i, position
    cdef int64_t n_missing = 0
    if is_numeric:
        last_left_code = g.candidates[g.split.range_index].code_below
    if entry_range.stop - entry_range.start < full_size(g, &g.current):
        for i in range(g.current.low, g.current.high):
            set_branch(g, g.rows[i], g.split.default_branch)
    for position in range(entry_range.start, entry_range.stop):
        entry = g.entries[position]
        code = code_of(entry)
        n_missing += code == MISSING
        if has_two_branches:
            flags[row_of(entry, row_shift)] = (code > last_left_code) + (code == MISSING)
        else:
            branches[row_of(entry, row_shift)] = -1 if code == MISSING else <int32_t> code
    g.split.n_missing = n_missing


cdef void partition_rows(Grower* g) noexcept nogil:
    """Sort the rows of the node by branch, and store the bounds of the branches."""
    cdef uint32_t* buffer = <uint32_t*> g.buffer
    cdef int64_t b
    if g.split.n_branches > 2:
        for b in range(g.split.n_branches):
            g.slots[b] = b
        divide_in_many(g, g.split.n_branches, g.rows, buffer, g.current.low, g.current.high, 0)
        return
    g.branch_bounds[0], g.branch_bounds[2] = g.current.low, g.current.high
    g.branch_bounds[1] = divide_in_two(g, g.rows, buffer, g.current.low, g.current.high, 0)


cdef void partition_entries(Grower* g, Py_ssize_t depth) noexcept nogil:
    """Divide the entries of each column in place among the open branches.

    The records of these branches are on the stack from ``depth`` on.
    """
    cdef int64_t j, start, stop, middle, k
    cdef EntryRange entry_range
    for j in range(g.current.range_low, g.current.range_high):
        entry_range = g.ranges[j]
        start, stop = entry_range.start, entry_range.stop
        g.work += stop - start
        if g.split.n_branches > 2:
            divide_in_many(
                g, g.split.n_open_branches, g.entries, g.buffer, start, stop, g.row_shift
            )
            for k in range(g.split.n_open_branches):
                add_range_if_useful(
                    g, &g.stack[depth + k], entry_range.column, g.branch_bounds[k],
                    g.branch_bounds[k + 1],
                )
            continue
        middle = divide_in_two(g, g.entries, g.buffer, start, stop, g.row_shift)
        if g.slots[0] >= 0:
            add_range_if_useful(
                g, &g.stack[depth + g.slots[0]], entry_range.column, start, middle
            )
        if g.slots[1] >= 0:
            add_range_if_useful(g, &g.stack[depth + g.slots[1]], entry_range.column, middle, stop)


cdef inline int64_t divide_in_two(
    Grower* g, element* elements, element* buffer, int64_t start, int64_t stop, int row_shift
) noexcept nogil:
    """Divide rows or entries between two branches, in order; return the start of the second."""
    cdef const uint8_t* flags = g.flags
    cdef int64_t n_right = 0
    cdef int64_t position
    cdef element moving
    for position in range(start, stop):
        # Write to both sides and advance one of them: no branch that could be mispredicted.
        moving = elements[position]
        elements[position - n_right] = moving
        buffer[n_right] = moving
        n_right += flags[row_of(moving, row_shift)]
    memcpy(elements + stop - n_right, buffer, n_right * sizeof(element))
    return stop - n_right


cdef void divide_in_many(
    Grower* g, int64_t n_slots, element* elements, element* buffer, int64_t start, int64_t stop,
    int row_shift,
) noexcept nogil:
    """Divide rows or entries among slots, in order, and store the bounds of the slots.

    Rows and entries of branches without a slot are dropped.
    """
    cdef const int64_t* slots = g.slots
    cdef const int32_t* branches = g.branches
    cdef int64_t* bounds = g.branch_bounds
    cdef int64_t position, k
    memset(bounds, 0, (n_slots + 1) * sizeof(int64_t))
    for position in range(start, stop):
        k = slots[branches[row_of(elements[position], row_shift)]]
        if k >= 0:
            bounds[k + 1] += 1
    for k in range(n_slots):
        bounds[k + 1] += bounds[k]
    for position in range(start, stop):
        k = slots[branches[row_of(elements[position], row_shift)]]
        if k >= 0:
            buffer[bounds[k]] = elements[position]
            bounds[k] += 1
    for k in range(n_slots, 0, -1):
        bounds[k] = start + bounds[k - 1]
    bounds[0] = start
    memcpy(elements + start, buffer, (bounds[n_slots] - start) * sizeof(element))


cdef int copy_branches(Grower* g, Py_ssize_t depth) except -1 nogil:
    """Copy rows and entries to the open branches, where some rows go down several branches.

    The in-place branch is the last one, because it overwrites the node.
    """
    cdef int64_t free_row = g.current.first_free_row
    cdef int64_t free_entry = g.current.first_free_entry
    cdef int64_t slot
    cdef StackRecord* record
    for slot in range(1, g.split.n_open_branches):
        record = &g.stack[depth + slot]
        copy_rows(g, record, free_row)
        free_row = record.high
        free_entry = copy_ranges(g, record, False, free_entry)
        record.first_free_row = free_row
        record.first_free_entry = free_entry
    record = &g.stack[depth]
    copy_rows(g, record, g.current.low)
    copy_ranges(g, record, True, free_entry)
    record.first_free_row = g.current.first_free_row
    record.first_free_entry = g.current.first_free_entry
    return 0


cdef int copy_rows(Grower* g, StackRecord* record, int64_t start) except -1 nogil:
    """Copy the rows of a branch to ``start``; rows with a missing value get their share."""
    cdef int64_t b = record.node - g.split.first_child
    cdef double share = g.weighted.shares[b]
    cdef int64_t stop = start
    cdef int64_t i, branch
    reserve(g.memory, <void**> &g.rows, start + g.branch_rows[b], sizeof(uint32_t))
    reserve(g.memory, <void**> &g.row_weights, start + g.branch_rows[b], sizeof(double))
    for i in range(g.current.low, g.current.high):
        branch = branch_of(g, g.rows[i])
        if branch == b or (branch < 0 and share > TOLERANCE):
            g.rows[stop] = g.rows[i]
            g.row_weights[stop] = g.row_weights[i] * share if branch < 0 else g.row_weights[i]
            stop += 1
    record.low = start
    record.high = stop
    return 0


cdef int64_t copy_ranges(
    Grower* g, StackRecord* record, bint in_place, int64_t free_entry
) except -1 nogil:
    """Copy the entries of a branch, in place or to ``free_entry``; return the first free entry."""
    cdef int64_t b = record.node - g.split.first_child
    cdef int64_t takes_missing = g.weighted.shares[b] > TOLERANCE
    cdef int64_t[3] takes_flag = [b == 0, b == 1, takes_missing]
    cdef const uint8_t* flags = g.flags
    cdef bint has_two_branches = g.split.n_branches == 2
    cdef uint64_t* entries
    cdef int64_t position, j, size, start, stop, branch
    cdef EntryRange entry_range
    cdef uint64_t entry
    for j in range(g.current.range_low, g.current.range_high):
        entry_range = g.ranges[j]
        size = entry_range.stop - entry_range.start
        g.work += size
        start = entry_range.start if in_place else free_entry
        stop = start
        reserve(g.memory, <void**> &g.entries, start + size + 1, sizeof(uint64_t))
        entries = g.entries
        for position in range(entry_range.start, entry_range.stop):
            entry = entries[position]
            entries[stop] = entry
            if has_two_branches:
                stop += takes_flag[flags[row_of(entry, 0)]]
            else:
                branch = g.branches[row_of(entry, 0)]
                stop += takes_missing if branch < 0 else <int64_t> (branch == b)
        if add_range_if_useful(g, record, entry_range.column, start, stop) and not in_place:
            free_entry = stop
    return free_entry
