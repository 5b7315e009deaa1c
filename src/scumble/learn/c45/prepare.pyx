"""SortedColumns sorted once, for every tree that will be grown on them.

A column becomes a list of entries in ascending order, see `layout`. Rows in no entry have the
column's default code: zero for a number, the most frequent value for a nominal column. The code of
a number is its place among the column's distinct values. Missing values come last.
"""

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from scumble._core.interrupt cimport check_stop
from scumble.learn.c45.layout cimport (
    MAX_REACH, MIN_VALUE_GAP, MISSING, NO_DEFAULT, SortedColumns, code_of, make_entry, row_of, view_columns,
)
from scumble.learn.c45.memory cimport Memory, release, reserve

cdef enum:
    TILE = 8  # columns of a dense table read at a time: they share the cache lines of its rows
    FEW = 48  # numbers sorted by insertion


cdef struct Cells:  # The cells of one column that are not zero, and room to sort them.
    Memory memory
    Py_ssize_t n  # rows in the table
    Py_ssize_t k  # cells
    double* numbers
    uint32_t* rows
    uint64_t* keys  # four times as many as there is room for cells
    Py_ssize_t room
    const uint64_t* order  # places of the cells in ascending order
    const double* ascending
    int64_t* sizes  # of the values of a nominal column


cdef class _Room:
    """Arrays to sort columns in."""
    cdef Cells cells

    def __dealloc__(self):
        release(&self.cells.memory)


cdef int open_column(Cells* cells, Py_ssize_t longest, int64_t n_values) except -1 nogil:
    """Make room for the cells and values of a column."""
    cells.room, cells.k = longest, 0
    reserve(&cells.memory, <void**> &cells.numbers, longest, sizeof(double))
    reserve(&cells.memory, <void**> &cells.rows, longest, sizeof(uint32_t))
    reserve(&cells.memory, <void**> &cells.keys, 4 * longest, sizeof(uint64_t))
    reserve(&cells.memory, <void**> &cells.sizes, n_values + 2, sizeof(int64_t))
    return 0


def sort_dense(const double[:, ::1] X, columns, block):
    """Prepare a range of the columns of a dense matrix; column c owns n entries and n values."""
    cdef SortedColumns out = view_columns(columns)
    cdef Py_ssize_t n = X.shape[0]
    cdef _Room room = _Room()
    cdef Cells* cells = &room.cells
    cdef double[:, ::1] tile = np.empty((TILE, max(n, 1)))
    cdef Py_ssize_t column, turn, row, other, width
    cdef Py_ssize_t start = block[0]
    cdef Py_ssize_t stop = block[1]
    cells.n = n
    with nogil:
        for column in range(start, stop):
            turn = (column - start) % TILE
            if turn == 0:
                check_stop()
                width = min(TILE, stop - column)
                for row in range(n):
                    for other in range(width):
                        tile[other, row] = X[row, column + other]
            open_column(cells, n, out.n_values[column])
            if out.n_values[column] > 0:
                memcpy(cells.numbers, &tile[turn, 0], n * sizeof(double))
                store_nominal(&out, column, column * n, cells, True)
            else:
                for row in range(n):
                    take(cells, tile[turn, row], row)
                store_numeric(&out, column, column * n, cells)


def sort_sparse(by_column, columns, Py_ssize_t shift, const int64_t[::1] starts, block):
    """Prepare columns of a CSC matrix; column c becomes column c + shift of the whole.

    ``by_column`` is (number of rows, indptr, indices, data).
    """
    cdef SortedColumns out = view_columns(columns)
    cdef Py_ssize_t n = by_column[0]
    cdef const int64_t[::1] indptr = by_column[1]
    cdef const int32_t[::1] indices = by_column[2]
    cdef const double[::1] data = by_column[3]
    cdef Py_ssize_t start = block[0]
    cdef Py_ssize_t stop = block[1]
    cdef Py_ssize_t c, column, place
    cdef _Room room = _Room()
    cdef Cells* cells = &room.cells
    cdef bint whole
    cells.n = n
    with nogil:
        for c in range(start, stop):
            column = c + shift
            if c % 64 == 0:
                check_stop()
            whole = out.n_values[column] > 0 and starts[column + 1] - starts[column] >= n
            open_column(cells, n if whole else indptr[c + 1] - indptr[c] + 1, out.n_values[column])
            if whole:
                memset(cells.numbers, 0, n * sizeof(double))
                for place in range(indptr[c], indptr[c + 1]):
                    cells.numbers[indices[place]] = data[place]
            else:
                for place in range(indptr[c], indptr[c + 1]):
                    take(cells, data[place], indices[place])
            if out.n_values[column] > 0:
                store_nominal(&out, column, starts[column], cells, whole)
            else:
                store_numeric(&out, column, starts[column], cells)


cdef inline void take(Cells* cells, double number, Py_ssize_t row) noexcept nogil:
    """Add a cell, unless it is zero."""
    cells.numbers[cells.k] = number
    cells.rows[cells.k] = <uint32_t> row
    cells.k += number != 0.0


cdef inline Py_ssize_t nominal_code(double value, int64_t n_values) noexcept nogil:
    """Return the code of a cell; missing values come after all others."""
    return n_values if isnan(value) else <Py_ssize_t> value


cdef int64_t make_places(int64_t* sizes, Py_ssize_t n, int64_t place) noexcept nogil:
    """Turn sizes into beginnings; return the end."""
    cdef int64_t size
    cdef Py_ssize_t i
    for i in range(n):
        size = sizes[i]
        sizes[i] = place
        place += size
    return place


cdef void store_nominal(
    SortedColumns* out, Py_ssize_t column, int64_t at, Cells* cells, bint whole
) noexcept nogil:
    """Store a nominal column, given as a ``whole`` or by its cells that are not zero.

    The most frequent value of a whole column is left out, and otherwise zero.
    """
    cdef int64_t n_values = out.n_values[column]
    cdef Py_ssize_t n = cells.n if whole else cells.k
    cdef int64_t* sizes = cells.sizes
    cdef Py_ssize_t default = 0
    cdef Py_ssize_t code, i
    memset(sizes, 0, (n_values + 2) * sizeof(int64_t))
    for i in range(n):
        sizes[nominal_code(cells.numbers[i], n_values)] += 1
    if whole:
        for code in range(1, n_values):
            if sizes[code] > sizes[default]:
                default = code
    sizes[default] = 0
    out.begins[column] = at
    out.ends[column] = make_places(sizes, n_values + 1, at)
    out.defaults[column] = default
    out.n_codes[column] = n_values
    for i in range(n):
        code = nominal_code(cells.numbers[i], n_values)
        if code != default:
            out.entries[sizes[code]] = make_entry(
                MISSING if code == n_values else code, 0, i if whole else cells.rows[i]
            )
            sizes[code] += 1


cdef void store_numeric(
    SortedColumns* out, Py_ssize_t column, int64_t at, Cells* cells
) noexcept nogil:
    """Store a numeric column of which the nonzero numbers (and gaps) are given."""
    cdef uint64_t* entries = out.entries + at
    cdef double* values = out.values + at
    cdef bint zero_waits = cells.k < cells.n
    cdef bint every_row = cells.k == cells.n
    cdef int64_t code = -1
    cdef int64_t far = -1  # the last code whose value is far enough below
    cdef uint64_t reach = 1
    cdef double last = 0.0
    cdef uint64_t row
    cdef Py_ssize_t i
    cdef double value
    sort_cells(cells)
    out.begins[column] = at
    out.ends[column] = at + cells.k
    out.defaults[column] = NO_DEFAULT
    for i in range(cells.k):
        value = cells.ascending[i]
        row = cells.order[i] if every_row else cells.rows[cells.order[i]]
        if isnan(value):
            entries[i] = make_entry(MISSING, 0, row)
            continue
        if zero_waits and value > 0.0:
            zero_waits = False
            code += 1
            out.defaults[column] = code
            values[code] = last = 0.0
        if code < 0 or value != last:
            code += 1
            values[code] = last = value
            while far + 1 < code and values[far + 1] + MIN_VALUE_GAP < value:
                far += 1
            reach = min(code - far, MAX_REACH)
        entries[i] = make_entry(code, reach, row)
    if zero_waits:
        code += 1
        out.defaults[column] = code
        values[code] = 0.0
    out.n_codes[column] = code + 1


# Sorting: by some 31 of the bits first, together with the places in one word. That leaves next to
# nothing to do, or else all of it is done again with all bits, the lower half first.

cdef void sort_cells(Cells* cells) noexcept nogil:
    """Sort the numbers, equal ones in order of appearance and missing ones last."""
    cdef Py_ssize_t k = cells.k
    cdef uint64_t* key = cells.keys
    cdef uint64_t* order = key + cells.room
    cdef uint64_t least = 0
    cdef int shift = 0
    cdef uint64_t spread = make_keys(cells, &least)
    if k <= FEW:
        sort_by_insertion(key, order, k, k * k)
        decode(cells, key, order)
        return
    while spread >> shift >= <uint64_t> 1 << 31:
        shift += 1
    key = sort_places(cells, least, shift)
    if not sort_by_insertion(key, order, k, 8 * k):
        sort_places(cells, 0, 0)
        key = sort_places(cells, 0, 32)
    decode(cells, key, order)


cdef uint64_t* sort_places(const Cells* cells, uint64_t least, int shift) noexcept nogil:
    """Sort the places by 32 bits of their keys, those from ``shift`` on of what exceeds the least.

    Of equals the one before stays before. Returns the keys in the new order.
    """
    cdef const uint64_t* key = cells.keys
    cdef uint64_t* order = cells.keys + cells.room
    cdef uint64_t* packed = order + cells.room
    cdef uint64_t* spare = packed + cells.room
    cdef uint64_t* ordered
    cdef uint64_t bits
    cdef Py_ssize_t i
    for i in range(cells.k):
        bits = key[order[i]]
        bits = 0xFFFFFFFFU if bits == ~(<uint64_t> 0) else (bits - least) >> shift & 0xFFFFFFFFU
        packed[i] = bits << 32 | order[i]
    ordered = sort_upper_halves(packed, spare, cells.k)
    spare = packed if ordered == spare else spare
    for i in range(cells.k):
        order[i] = ordered[i] & 0xFFFFFFFFU
        spare[i] = key[order[i]]
    return spare


cdef uint64_t make_keys(Cells* cells, uint64_t* least) noexcept nogil:
    """Turn numbers into words of the same order; return how far they spread from the least."""
    cdef const uint64_t* bits = <const uint64_t*> cells.numbers
    cdef uint64_t* key = cells.keys
    cdef uint64_t* order = key + cells.room
    cdef uint64_t sign = <uint64_t> 1 << 63
    cdef uint64_t low = ~(<uint64_t> 0)
    cdef uint64_t most = 0
    cdef uint64_t raw
    cdef Py_ssize_t i
    for i in range(cells.k):
        raw = bits[i]
        raw = ~raw if raw & sign else raw | sign
        if isnan(cells.numbers[i]):
            raw = ~(<uint64_t> 0)
        else:
            low = min(low, raw)
            most = max(most, raw)
        key[i] = raw
        order[i] = i
    least[0] = low
    return most - low if most > low else 0


cdef void decode(Cells* cells, uint64_t* key, uint64_t* order) noexcept nogil:
    """Turn keys into numbers again."""
    cdef uint64_t sign = <uint64_t> 1 << 63
    cdef Py_ssize_t i
    for i in range(cells.k):
        key[i] = key[i] ^ sign if key[i] & sign else ~key[i]
    cells.order = order
    cells.ascending = <double*> key


cdef bint sort_by_insertion(
    uint64_t* key, uint64_t* order, Py_ssize_t k, Py_ssize_t most_moves
) noexcept nogil:
    """Sort what is nearly sorted; give up, and return False, after many moves."""
    cdef Py_ssize_t i, at
    cdef uint64_t moving, place
    for i in range(1, k):
        moving = key[i]
        if key[i - 1] <= moving:
            continue
        place = order[i]
        at = i
        while at > 0 and key[at - 1] > moving:
            key[at] = key[at - 1]
            order[at] = order[at - 1]
            at -= 1
        key[at] = moving
        order[at] = place
        most_moves -= i - at
        if most_moves < 0:
            return False
    return True


cdef uint64_t* sort_upper_halves(uint64_t* key, uint64_t* other, Py_ssize_t k) noexcept nogil:
    """Sort by the upper four bytes, lowest first; return which array holds the result.

    A byte that all keys share costs nothing but its count.
    """
    cdef int64_t[4][256] counts
    cdef uint64_t raw
    cdef Py_ssize_t i
    cdef int digit
    memset(counts, 0, sizeof(counts))
    for i in range(k):
        raw = key[i] >> 32
        counts[0][raw & 255] += 1
        counts[1][raw >> 8 & 255] += 1
        counts[2][raw >> 16 & 255] += 1
        counts[3][raw >> 24] += 1
    for digit in range(4):
        if counts[digit][key[0] >> (32 + 8 * digit) & 255] == k:
            continue
        make_places(counts[digit], 256, 0)
        for i in range(k):
            raw = key[i]
            other[counts[digit][raw >> (32 + 8 * digit) & 255]] = raw
            counts[digit][raw >> (32 + 8 * digit) & 255] += 1
        key, other = other, key
    return key


def list_items(columns, int64_t[::1] first, groups, int64_t[::1] n_in_row):
    """Find the groups of equal codes in nominal columns, and how many each row has.

    ``groups`` receives where each starts and stops, and its code. Missing values make a group too.
    Returns the number of groups.
    """
    cdef SortedColumns found = view_columns(columns)
    cdef int64_t[::1] starts = groups[0]
    cdef int64_t[::1] stops = groups[1]
    cdef int32_t[::1] codes = groups[2]
    cdef Py_ssize_t n_items = 0
    cdef Py_ssize_t column
    cdef int64_t at
    for column in range(found.n):
        first[column] = n_items
        if found.n_values[column] == 0:
            continue
        for at in range(found.begins[column], found.ends[column]):
            if at == found.begins[column] or (
                code_of(found.entries[at]) != code_of(found.entries[at - 1])
            ):
                starts[n_items] = at
                codes[n_items] = <int32_t> code_of(found.entries[at])
                n_items += 1
            stops[n_items - 1] = at + 1
            n_in_row[row_of(found.entries[at], 0)] += 1
    first[found.n] = n_items
    return n_items


def group_items_by_row(const uint64_t[::1] entries, items, int64_t[::1] places):
    """Write the items of every row in ascending order; ``places`` are the rows' beginnings."""
    cdef const int64_t[::1] starts = items.starts
    cdef const int64_t[::1] stops = items.stops
    cdef uint32_t[::1] indices = items.indices
    cdef Py_ssize_t item
    cdef int64_t at
    cdef uint64_t row
    with nogil:
        for item in range(starts.shape[0]):
            for at in range(starts[item], stops[item]):
                row = row_of(entries[at], 0)
                indices[places[row]] = <uint32_t> item
                places[row] += 1
