"""Writer for the data section of ARFF files.

Numbers of up to 15 digits, which are most numbers in data files, are formatted here as Python's
``repr`` does, without the ``.0`` of whole numbers. All other values are copied from texts that
Python has prepared.
"""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from scumble.data.formats.kernels.numbers cimport POWERS

import numpy as np

cdef enum:
    MAX_DECIMALS = 18
    # Upper bound for a number with its column: 10 digits for the column, 19 for the number, and
    # up to 5 bytes for sign, point and separators.
    MAX_NUMBER_BYTES = 40

cdef inline double _round(double value) noexcept nogil:
    """Return a nonnegative value rounded to even, as ``rint`` does, without a function call."""
    cdef double shift = 4503599627370496.0  # 2^52; larger doubles are whole numbers
    return (value + shift) - shift


def count_decimals(const double[::1] values):
    """Return the number of decimals of each number, or -1 if Python has to format it.

    Different decimals of at most 15 digits are different doubles, so the first one that equals the
    number is the shortest.
    """
    cdef int8_t[::1] decimals = np.empty(values.shape[0], np.int8)
    cdef Py_ssize_t index
    with nogil:
        for index in range(values.shape[0]):
            decimals[index] = _count_decimals(fabs(values[index]))
    return decimals.base


cdef inline int8_t _count_decimals(double size) noexcept nogil:
    """Return the number of decimals of a nonnegative number, or -1."""
    cdef double scaled
    cdef int n_decimals
    if size == 0.0:
        return 0
    if not (size >= 1e-4 and size < 1e15):
        return -1
    if _round(size) == size:
        return 0
    for n_decimals in range(1, MAX_DECIMALS + 1):
        scaled = _round(size * POWERS[n_decimals])
        if scaled >= 1e15:
            return -1
        if scaled / POWERS[n_decimals] == size:
            return n_decimals
    return -1


cdef struct Input:
    const double* values
    const int8_t* decimals
    const int32_t* columns  # NULL where all columns are written
    const int64_t* text_numbers  # of each value, -1 for numbers formatted here
    const uint8_t* blob
    const int64_t* offsets


cdef Py_ssize_t _total_length(
    const uint8_t[::1] blob, const int64_t[::1] offsets, const int64_t[::1] text_numbers
) except -1:
    """Return the total length of texts, given by number; negative numbers are not texts."""
    cdef Py_ssize_t size = 0
    cdef Py_ssize_t index
    cdef int64_t text
    for index in range(text_numbers.shape[0]):
        text = text_numbers[index]
        if text < 0:
            continue
        if (
            text + 1 >= offsets.shape[0]
            or not 0 <= offsets[text] <= offsets[text + 1] <= blob.shape[0]
        ):
            raise IndexError(f"There is no text {text} of {offsets.shape[0] - 1}.")
        size += offsets[text + 1] - offsets[text]
    return size


def write_rows(
    const double[::1] values, const int8_t[::1] decimals, const int32_t[::1] columns,
    const int64_t[::1] text_numbers, const int64_t[::1] row_end, const int64_t[::1] endings, texts,
):
    """Return the bytes of rows, as an array.

    ``text_numbers`` has for every value the number of its text, or -1; a value without a text is a
    number with so many ``decimals``. ``endings`` has for every row the number of the text that
    follows it, or -1. Text i is ``texts.blob[texts.offsets[i]:texts.offsets[i + 1]]``. ``row_end``
    is the index after the last value of each row. Rows are sparse if ``columns`` is not None.
    """
    cdef const uint8_t[::1] blob = texts.blob
    cdef const int64_t[::1] offsets = texts.offsets
    cdef Py_ssize_t n_values = values.shape[0]
    cdef uint8_t[::1] out
    cdef Input data
    cdef Py_ssize_t row, size
    if min(decimals.shape[0], text_numbers.shape[0]) < n_values or (
        columns is not None and columns.shape[0] < n_values
    ):
        raise IndexError("There are more values than decimals, texts or columns.")
    if endings.shape[0] < row_end.shape[0]:
        raise IndexError("There are more rows than endings.")
    for row in range(row_end.shape[0]):
        if not (row_end[row - 1] if row else 0) <= row_end[row] <= n_values:
            raise IndexError("The rows do not follow each other within the values.")
    data.values = &values[0] if n_values else NULL
    data.decimals = &decimals[0] if n_values else NULL
    data.columns = &columns[0] if columns is not None and n_values else NULL
    data.text_numbers = &text_numbers[0] if n_values else NULL
    data.blob = &blob[0] if blob.shape[0] else NULL
    data.offsets = &offsets[0] if offsets.shape[0] else NULL
    size = MAX_NUMBER_BYTES * n_values + 3 * row_end.shape[0]
    size += _total_length(blob, offsets, text_numbers) + _total_length(blob, offsets, endings)
    out = np.empty(size, np.uint8)
    if row_end.shape[0]:
        with nogil:
            size = _write_rows(&data, columns is not None, row_end, endings, &out[0])
    return out.base[:size]


cdef Py_ssize_t _write_rows(
    const Input* data, bint is_sparse, const int64_t[::1] row_end, const int64_t[::1] endings,
    uint8_t* out,
) noexcept nogil:
    """Write all rows and return the number of bytes."""
    cdef uint8_t* cursor = out
    cdef Py_ssize_t index = 0
    cdef Py_ssize_t row, first
    for row in range(row_end.shape[0]):
        if is_sparse:
            cursor[0] = c"{"
            cursor += 1
        first = index
        while index < row_end[row]:
            if index > first:
                cursor[0] = c","
                cursor += 1
            if is_sparse:
                cursor = _write_digits(data.columns[index], 1, cursor)
                cursor[0] = c" "
                cursor += 1
            if data.text_numbers[index] >= 0:
                cursor = _copy_text(data, data.text_numbers[index], cursor)
            else:
                cursor = _write_number(data.values[index], data.decimals[index], cursor)
            index += 1
        if is_sparse:
            cursor[0] = c"}"
            cursor += 1
        if endings[row] >= 0:
            cursor = _copy_text(data, endings[row], cursor)
        cursor[0] = c"\n"
        cursor += 1
    return cursor - out


cdef inline uint8_t* _write_number(double value, int n_decimals, uint8_t* cursor) noexcept nogil:
    """Write a number with its decimals; return the position after it."""
    cdef uint64_t unit, scaled
    if value < 0:
        cursor[0] = c"-"
        cursor += 1
    if n_decimals <= 0:
        return _write_digits(<uint64_t> fabs(value), 1, cursor)
    unit = <uint64_t> POWERS[n_decimals]
    scaled = <uint64_t> _round(fabs(value) * POWERS[n_decimals])
    cursor = _write_digits(scaled // unit, 1, cursor)
    cursor[0] = c"."
    return _write_digits(scaled % unit, n_decimals, cursor + 1)


cdef inline uint8_t* _write_digits(uint64_t number, int n_digits, uint8_t* cursor) noexcept nogil:
    """Write a whole number with at least ``n_digits`` digits; return the position after it."""
    cdef uint64_t remaining = number // 10
    cdef int n_written = 1
    cdef int index
    while remaining > 0:
        remaining //= 10
        n_written += 1
    n_written = max(n_written, n_digits)
    for index in range(n_written - 1, -1, -1):
        cursor[index] = <uint8_t> (48 + number % 10)
        number //= 10
    return cursor + n_written


cdef inline uint8_t* _copy_text(const Input* data, int64_t text, uint8_t* cursor) noexcept nogil:
    """Write a text; return the position after it."""
    cdef const uint8_t* start = data.blob + data.offsets[text]
    cdef Py_ssize_t size = data.offsets[text + 1] - data.offsets[text]
    if size == 1:
        cursor[0] = start[0]
    elif size > 0:
        memcpy(cursor, start, size)
    return cursor + size
