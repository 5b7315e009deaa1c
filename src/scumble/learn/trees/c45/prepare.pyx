"""Columns sorted once, for all trees that are grown on them.

A column becomes a list of entries in ascending order, see layout.pxd. Rows without an entry have
the default value of the column: zero for a number, the most frequent value of a nominal column. The
code of a number is its rank among the different values of the column. Missing values are last.
"""

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from scumble._core.interrupt cimport check_stop
from scumble.learn.trees.c45.layout cimport (
    MAX_CUT_DISTANCE, MIN_VALUE_GAP, MISSING, NO_DEFAULT, SortedColumns, code_of, make_entry,
    row_of, view_columns,
)
from scumble.learn.trees.c45.memory cimport Memory, release, reserve

cdef enum:
    TILE = 8  # columns of a dense table that are read together: they share cache lines
    MAX_INSERTION_SORT = 48  # columns with more numbers are sorted by radix sort first


cdef struct Cells:  # The cells of one column, and memory for sorting them.
    Memory memory
    Py_ssize_t n_rows  # rows of the table
    Py_ssize_t n  # cells
    double* numbers
    uint32_t* rows
    uint64_t* keys  # 4 * capacity numbers
    Py_ssize_t capacity
    const uint64_t* order  # indices of the cells in ascending order
    const double* ascending
    int64_t* sizes  # by code of a nominal column: number of rows, then position of the next entry


cdef class _CellsOwner:
    """Cells whose memory is freed with the object."""
    cdef Cells cells

    def __dealloc__(self):
        release(&self.cells.memory)


cdef int reserve_cells(Cells* cells, Py_ssize_t capacity, int64_t n_values) except -1 nogil:
    """Make room for the cells and values of a column, which has no cells at first."""
    cells.capacity = capacity
    cells.n = 0
    reserve(&cells.memory, <void**> &cells.numbers, capacity, sizeof(double))
    reserve(&cells.memory, <void**> &cells.rows, capacity, sizeof(uint32_t))
    reserve(&cells.memory, <void**> &cells.keys, 4 * capacity, sizeof(uint64_t))
    reserve(&cells.memory, <void**> &cells.sizes, n_values + 2, sizeof(int64_t))
    return 0


def sort_dense(const double[:, ::1] X, columns, block):
    """Sort columns ``block[0]`` to ``block[1] - 1`` of a dense matrix.

    Column c has room for n entries and n values from position c * n on, where n is the number of
    rows.
    """
    cdef SortedColumns out = view_columns(columns)
    cdef Py_ssize_t n = X.shape[0]
    cdef _CellsOwner owner = _CellsOwner()
    cdef Cells* cells = &owner.cells
    cdef double[:, ::1] tile = np.empty((TILE, max(n, 1)))
    cdef Py_ssize_t column, in_tile, row, other, width
    cdef Py_ssize_t start = block[0]
    cdef Py_ssize_t stop = block[1]
    cells.n_rows = n
    with nogil:
        for column in range(start, stop):
            in_tile = (column - start) % TILE
            if in_tile == 0:
                check_stop()
                width = min(TILE, stop - column)
                for row in range(n):
                    for other in range(width):
                        tile[other, row] = X[row, column + other]
            reserve_cells(cells, n, out.n_values[column])
            if out.n_values[column] > 0:
                memcpy(cells.numbers, &tile[in_tile, 0], n * sizeof(double))
                store_nominal(&out, column, column * n, cells, True)
            else:
                for row in range(n):
                    append_nonzero(cells, tile[in_tile, row], row)
                store_numeric(&out, column, column * n, cells)


def sort_sparse(
    Py_ssize_t n_rows, const int64_t[::1] indptr, const int32_t[::1] indices,
    const double[::1] data, columns, Py_ssize_t first_column,
    const int64_t[::1] storage_starts, block,
):
    """Sort columns ``block[0]`` to ``block[1] - 1`` of a CSC matrix.

    Column c of the matrix is column ``first_column + c`` of the sorted ones. Sorted column s is
    stored from position ``storage_starts[s]`` on, and has room up to ``storage_starts[s + 1]``.
    """
    cdef SortedColumns out = view_columns(columns)
    cdef Py_ssize_t start = block[0]
    cdef Py_ssize_t stop = block[1]
    cdef Py_ssize_t c, column, position, capacity
    cdef _CellsOwner owner = _CellsOwner()
    cdef Cells* cells = &owner.cells
    cdef bint is_nominal, has_all_cells
    cells.n_rows = n_rows
    with nogil:
        for c in range(start, stop):
            column = c + first_column
            if c % 64 == 0:
                check_stop()
            is_nominal = out.n_values[column] > 0
            has_all_cells = (
                is_nominal and storage_starts[column + 1] - storage_starts[column] >= n_rows
            )
            capacity = n_rows if has_all_cells else indptr[c + 1] - indptr[c] + 1
            reserve_cells(cells, capacity, out.n_values[column])
            if has_all_cells:
                memset(cells.numbers, 0, n_rows * sizeof(double))
                for position in range(indptr[c], indptr[c + 1]):
                    cells.numbers[indices[position]] = data[position]
            else:
                for position in range(indptr[c], indptr[c + 1]):
                    append_nonzero(cells, data[position], indices[position])
            if is_nominal:
                store_nominal(&out, column, storage_starts[column], cells, has_all_cells)
            else:
                store_numeric(&out, column, storage_starts[column], cells)


cdef inline void append_nonzero(Cells* cells, double number, Py_ssize_t row) noexcept nogil:
    """Append the cell of a row, unless its number is zero."""
    cells.numbers[cells.n] = number
    cells.rows[cells.n] = <uint32_t> row
    cells.n += number != 0.0


cdef inline Py_ssize_t nominal_code(double value, int64_t n_values) noexcept nogil:
    """Return the code of a cell; a missing value has the code after all others."""
    return n_values if isnan(value) else <Py_ssize_t> value


cdef int64_t sizes_to_starts(int64_t* sizes, Py_ssize_t n, int64_t start) noexcept nogil:
    """Replace the sizes of consecutive groups by their starts; return the end of the last one."""
    cdef int64_t size
    cdef Py_ssize_t i
    for i in range(n):
        size = sizes[i]
        sizes[i] = start
        start += size
    return start


cdef void store_nominal(
    SortedColumns* out, Py_ssize_t column, int64_t start, Cells* cells, bint has_all_cells
) noexcept nogil:
    """Store a nominal column from ``start`` on.

    ``cells`` are the cells of all rows, and the default is the most frequent value; or they are
    the cells that are not zero, and the default is zero.
    """
    cdef int64_t n_values = out.n_values[column]
    cdef Py_ssize_t n = cells.n_rows if has_all_cells else cells.n
    cdef int64_t* sizes = cells.sizes
    cdef Py_ssize_t default = 0
    cdef Py_ssize_t code, i
    memset(sizes, 0, (n_values + 2) * sizeof(int64_t))
    for i in range(n):
        sizes[nominal_code(cells.numbers[i], n_values)] += 1
    if has_all_cells:
        for code in range(1, n_values):
            if sizes[code] > sizes[default]:
                default = code
    sizes[default] = 0
    out.starts[column] = start
    out.stops[column] = sizes_to_starts(sizes, n_values + 1, start)
    out.defaults[column] = default
    out.n_codes[column] = n_values
    for i in range(n):
        code = nominal_code(cells.numbers[i], n_values)
        if code != default:
            out.entries[sizes[code]] = make_entry(
                MISSING if code == n_values else code, 0, i if has_all_cells else cells.rows[i]
            )
            sizes[code] += 1


cdef void store_numeric(
    SortedColumns* out, Py_ssize_t column, int64_t start, Cells* cells
) noexcept nogil:
    """Store a numeric column from ``start`` on; ``cells`` are not zero, but may be missing."""
    cdef uint64_t* entries = out.entries + start
    cdef double* values = out.values + start
    cdef bint zero_is_due = cells.n < cells.n_rows  # the value zero is still to be numbered
    cdef bint has_all_rows = cells.n == cells.n_rows
    cdef int64_t code = -1
    cdef int64_t last_distant = -1  # the last code whose value is far enough below for a cut
    cdef uint64_t cut_distance = 1
    cdef double last = 0.0
    cdef uint64_t row
    cdef Py_ssize_t i
    cdef double value
    sort_cells(cells)
    out.starts[column] = start
    out.stops[column] = start + cells.n
    out.defaults[column] = NO_DEFAULT
    for i in range(cells.n):
        value = cells.ascending[i]
        row = cells.order[i] if has_all_rows else cells.rows[cells.order[i]]
        if isnan(value):
            entries[i] = make_entry(MISSING, 0, row)
            continue
        if zero_is_due and value > 0.0:
            zero_is_due = False
            code += 1
            out.defaults[column] = code
            values[code] = last = 0.0
        if code < 0 or value != last:
            code += 1
            values[code] = last = value
            while (
                last_distant + 1 < code and values[last_distant + 1] + MIN_VALUE_GAP < value
            ):
                last_distant += 1
            cut_distance = min(code - last_distant, MAX_CUT_DISTANCE)
        entries[i] = make_entry(code, cut_distance, row)
    if zero_is_due:
        code += 1
        out.defaults[column] = code
        values[code] = 0.0
    out.n_codes[column] = code + 1


# Sorting: radix sort by 31 or 32 of the 64 bits, with the index of the cell in the same word. After
# that, insertion sort needs only few moves; if it needs many, the radix sort is repeated with all
# bits, the lower half first.

cdef void sort_cells(Cells* cells) noexcept nogil:
    """Sort the numbers, equal ones in their order in the table and missing ones last."""
    cdef Py_ssize_t n = cells.n
    cdef uint64_t* keys = cells.keys
    cdef uint64_t* order = keys + cells.capacity
    cdef uint64_t smallest = 0
    cdef int shift = 0
    cdef uint64_t spread = make_keys(cells, &smallest)
    if n <= MAX_INSERTION_SORT:
        sort_by_insertion(keys, order, n, n * n)
        keys_to_numbers(cells, keys, order)
        return
    while spread >> shift >= <uint64_t> 1 << 31:
        shift += 1
    keys = sort_by_key_bits(cells, smallest, shift)
    if not sort_by_insertion(keys, order, n, 8 * n):
        sort_by_key_bits(cells, 0, 0)
        keys = sort_by_key_bits(cells, 0, 32)
    keys_to_numbers(cells, keys, order)


cdef uint64_t* sort_by_key_bits(
    const Cells* cells, uint64_t smallest, int shift
) noexcept nogil:
    """Sort the cells by 32 bits of their keys, less ``smallest``, from bit ``shift`` on.

    The sort is stable. Returns the keys in the new order.
    """
    cdef const uint64_t* keys = cells.keys
    cdef uint64_t* order = cells.keys + cells.capacity
    cdef uint64_t* packed = order + cells.capacity
    cdef uint64_t* spare = packed + cells.capacity
    cdef uint64_t* ordered
    cdef uint64_t bits
    cdef Py_ssize_t i
    for i in range(cells.n):
        bits = keys[order[i]]
        if bits == ~(<uint64_t> 0):  # missing
            bits = 0xFFFFFFFFU
        else:
            bits = (bits - smallest) >> shift & 0xFFFFFFFFU
        packed[i] = bits << 32 | order[i]
    ordered = sort_upper_halves(packed, spare, cells.n)
    spare = packed if ordered == spare else spare
    for i in range(cells.n):
        order[i] = ordered[i] & 0xFFFFFFFFU
        spare[i] = keys[order[i]]
    return spare


cdef uint64_t make_keys(Cells* cells, uint64_t* smallest) noexcept nogil:
    """Compute integer keys that have the same order as the numbers.

    Returns the difference between the largest and the smallest key; missing values, which have
    the largest possible key, are not included.
    """
    cdef const uint64_t* bits = <const uint64_t*> cells.numbers
    cdef uint64_t* keys = cells.keys
    cdef uint64_t* order = keys + cells.capacity
    cdef uint64_t sign = <uint64_t> 1 << 63
    cdef uint64_t low = ~(<uint64_t> 0)
    cdef uint64_t high = 0
    cdef uint64_t key
    cdef Py_ssize_t i
    for i in range(cells.n):
        key = bits[i]
        key = ~key if key & sign else key | sign
        if isnan(cells.numbers[i]):
            key = ~(<uint64_t> 0)
        else:
            low = min(low, key)
            high = max(high, key)
        keys[i] = key
        order[i] = i
    smallest[0] = low
    return high - low if high > low else 0


cdef void keys_to_numbers(Cells* cells, uint64_t* keys, uint64_t* order) noexcept nogil:
    """Turn sorted keys into numbers again, and store them with their order."""
    cdef uint64_t sign = <uint64_t> 1 << 63
    cdef Py_ssize_t i
    for i in range(cells.n):
        keys[i] = keys[i] ^ sign if keys[i] & sign else ~keys[i]
    cells.order = order
    cells.ascending = <double*> keys


cdef bint sort_by_insertion(
    uint64_t* keys, uint64_t* order, Py_ssize_t n, Py_ssize_t max_moves
) noexcept nogil:
    """Sort keys that are nearly sorted, and ``order`` with them; return whether this succeeded.

    It stops and returns False after more than ``max_moves`` moves of a key.
    """
    cdef Py_ssize_t i, position
    cdef uint64_t key, index
    for i in range(1, n):
        key = keys[i]
        if keys[i - 1] <= key:
            continue
        index = order[i]
        position = i
        while position > 0 and keys[position - 1] > key:
            keys[position] = keys[position - 1]
            order[position] = order[position - 1]
            position -= 1
        keys[position] = key
        order[position] = index
        max_moves -= i - position
        if max_moves < 0:
            return False
    return True


cdef uint64_t* sort_upper_halves(uint64_t* words, uint64_t* other, Py_ssize_t n) noexcept nogil:
    """Sort ``n`` words by their upper four bytes; return the array with the result.

    It is ``words`` or ``other``; both are overwritten. The radix sort is stable, and skips bytes
    that are the same in all words.
    """
    cdef int64_t[4][256] counts
    cdef uint64_t word
    cdef Py_ssize_t i
    cdef int digit
    memset(counts, 0, sizeof(counts))
    for i in range(n):
        word = words[i] >> 32
        counts[0][word & 255] += 1
        counts[1][word >> 8 & 255] += 1
        counts[2][word >> 16 & 255] += 1
        counts[3][word >> 24] += 1
    for digit in range(4):
        if counts[digit][words[0] >> (32 + 8 * digit) & 255] == n:
            continue
        sizes_to_starts(counts[digit], 256, 0)
        for i in range(n):
            word = words[i]
            other[counts[digit][word >> (32 + 8 * digit) & 255]] = word
            counts[digit][word >> (32 + 8 * digit) & 255] += 1
        words, other = other, words
    return words


def list_items(
    columns, int64_t[::1] column_indptr, int64_t[::1] starts, int64_t[::1] stops,
    int32_t[::1] codes, int64_t[::1] items_per_row,
):
    """Find the items of nominal columns: their groups of entries with equal codes.

    Missing values form a group, too. The other arguments receive the arrays of `Items`, and the
    number of items of each row. Returns the number of items.
    """
    cdef SortedColumns view = view_columns(columns)
    cdef Py_ssize_t n_items = 0
    cdef Py_ssize_t column
    cdef int64_t position
    cdef uint64_t code
    for column in range(view.n):
        column_indptr[column] = n_items
        if view.n_values[column] == 0:
            continue
        for position in range(view.starts[column], view.stops[column]):
            code = code_of(view.entries[position])
            if position == view.starts[column] or code != code_of(view.entries[position - 1]):
                starts[n_items] = position
                codes[n_items] = <int32_t> code
                n_items += 1
            stops[n_items - 1] = position + 1
            items_per_row[row_of(view.entries[position], 0)] += 1
    column_indptr[view.n] = n_items
    return n_items


def group_items_by_row(const uint64_t[::1] entries, items, int64_t[::1] next_positions):
    """Write the items of every row to ``items.indices``, in ascending order.

    ``next_positions`` are the starts of the rows in ``items.indices``; they are changed.
    """
    cdef const int64_t[::1] starts = items.starts
    cdef const int64_t[::1] stops = items.stops
    cdef uint32_t[::1] indices = items.indices
    cdef Py_ssize_t item
    cdef int64_t position
    cdef uint64_t row
    with nogil:
        for item in range(starts.shape[0]):
            for position in range(starts[item], stops[item]):
                row = row_of(entries[position], 0)
                indices[next_positions[row]] = <uint32_t> item
                next_positions[row] += 1
