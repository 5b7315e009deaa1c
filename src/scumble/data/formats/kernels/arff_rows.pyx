"""Writer for the data section of ARFF files.

Numbers of up to 15 digits, which is most of what data files hold, are written here as Python's
``repr`` writes them, but for the ``.0`` of whole ones. All other values are copied from texts
that Python has prepared.
"""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from scumble.data.formats.kernels.numbers cimport POWERS

import numpy as np

cdef enum:
    MOST_DECIMALS = 18
    # No number with its column's number, sign, point and separators takes more bytes: 10 digits
    # for the column, 19 for the number, 5 others.
    LONGEST = 40

cdef inline double _round(double value) noexcept nogil:
    """Round to even as ``rint`` does, without a call; values above 2^52 stay there."""
    cdef double shift = 4503599627370496.0  # 2^52, from where on doubles are whole numbers
    return (value + shift) - shift


def count_decimals(const double[::1] values):
    """Tell how many decimals each number has, or -1 if it is not written here.

    A decimal of at most 15 digits is the only one of its length near its double, so the first
    one that gives the number back is the shortest.
    """
    cdef int8_t[::1] decimals = np.empty(values.shape[0], np.int8)
    cdef Py_ssize_t place
    with nogil:
        for place in range(values.shape[0]):
            decimals[place] = _count_decimals(fabs(values[place]))
    return decimals.base


cdef inline int8_t _count_decimals(double size) noexcept nogil:
    cdef double whole
    cdef int n_decimals
    if size == 0.0:
        return 0
    if not (size >= 1e-4 and size < 1e15):
        return -1
    if _round(size) == size:
        return 0
    for n_decimals in range(1, MOST_DECIMALS + 1):
        whole = _round(size * POWERS[n_decimals])
        if whole >= 1e15:
            return -1
        if whole / POWERS[n_decimals] == size:
            return n_decimals
    return -1


cdef struct Source:
    const double* values
    const int8_t* decimals
    const int32_t* columns  # NULL where all columns are written
    const int64_t* names
    const uint8_t* blob
    const int64_t* at


cdef Py_ssize_t _size(
    const uint8_t[::1] blob, const int64_t[::1] at, const int64_t[::1] names
) except -1:
    """Sum the lengths of the texts that are named; negative numbers name none."""
    cdef Py_ssize_t size = 0
    cdef Py_ssize_t place
    cdef int64_t text
    for place in range(names.shape[0]):
        text = names[place]
        if text < 0:
            continue
        if text + 1 >= at.shape[0] or not 0 <= at[text] <= at[text + 1] <= blob.shape[0]:
            raise IndexError(f"There is no text {text} of {at.shape[0] - 1}.")
        size += at[text + 1] - at[text]
    return size


def write_rows(
    const double[::1] values, const int8_t[::1] decimals, const int32_t[::1] columns,
    const int64_t[::1] names, const int64_t[::1] row_end, const int64_t[::1] endings, texts,
):
    """Write rows; give their bytes as an array.

    ``names`` has for every value the number of its text, ``endings`` for every row that of the text
    which follows it; -1 for none. Text i is ``texts.blob[texts.at[i]:texts.at[i + 1]]``. A value
    without a text is a number, of so many ``decimals``. Rows are sparse if ``columns`` are given,
    else None.
    """
    cdef const uint8_t[::1] blob = texts.blob
    cdef const int64_t[::1] at = texts.at
    cdef Py_ssize_t n_values = values.shape[0]
    cdef uint8_t[::1] out
    cdef Source source
    cdef Py_ssize_t row, size
    if min(decimals.shape[0], names.shape[0]) < n_values or (
        columns is not None and columns.shape[0] < n_values
    ):
        raise IndexError("There are more values than things said of them.")
    if endings.shape[0] < row_end.shape[0]:
        raise IndexError("There are more rows than endings.")
    for row in range(row_end.shape[0]):
        if not (row_end[row - 1] if row else 0) <= row_end[row] <= n_values:
            raise IndexError("The rows do not follow each other within the values.")
    source.values = &values[0] if n_values else NULL
    source.decimals = &decimals[0] if n_values else NULL
    source.columns = &columns[0] if columns is not None and n_values else NULL
    source.names = &names[0] if n_values else NULL
    source.blob = &blob[0] if blob.shape[0] else NULL
    source.at = &at[0] if at.shape[0] else NULL
    size = LONGEST * n_values + 3 * row_end.shape[0]
    size += _size(blob, at, names) + _size(blob, at, endings)
    out = np.empty(size, np.uint8)
    if row_end.shape[0]:
        with nogil:
            size = _write_rows(&source, columns is not None, row_end, endings, &out[0])
    return out.base[:size]


cdef Py_ssize_t _write_rows(
    const Source* source, bint is_sparse, const int64_t[::1] row_end, const int64_t[::1] endings,
    uint8_t* out,
) noexcept nogil:
    cdef uint8_t* to = out
    cdef Py_ssize_t place = 0
    cdef Py_ssize_t row, first
    for row in range(row_end.shape[0]):
        if is_sparse:
            to[0] = c"{"
            to += 1
        first = place
        while place < row_end[row]:
            if place > first:
                to[0] = c","
                to += 1
            if is_sparse:
                to = _write_digits(source.columns[place], 1, to)
                to[0] = c" "
                to += 1
            if source.names[place] >= 0:
                to = _copy(source, source.names[place], to)
            else:
                to = _write_number(source.values[place], source.decimals[place], to)
            place += 1
        if is_sparse:
            to[0] = c"}"
            to += 1
        if endings[row] >= 0:
            to = _copy(source, endings[row], to)
        to[0] = c"\n"
        to += 1
    return to - out


cdef inline uint8_t* _write_number(double value, int n_decimals, uint8_t* to) noexcept nogil:
    cdef uint64_t unit, whole
    if value < 0:
        to[0] = c"-"
        to += 1
    if n_decimals <= 0:
        return _write_digits(<uint64_t> fabs(value), 1, to)
    unit = <uint64_t> POWERS[n_decimals]
    whole = <uint64_t> _round(fabs(value) * POWERS[n_decimals])
    to = _write_digits(whole // unit, 1, to)
    to[0] = c"."
    return _write_digits(whole % unit, n_decimals, to + 1)


cdef inline uint8_t* _write_digits(uint64_t number, int n_digits, uint8_t* to) noexcept nogil:
    """Write a whole number with at least so many digits; give the place after it."""
    cdef uint64_t rest = number // 10
    cdef int wanted = 1
    cdef int place
    while rest > 0:
        rest //= 10
        wanted += 1
    wanted = max(wanted, n_digits)
    for place in range(wanted - 1, -1, -1):
        to[place] = <uint8_t> (48 + number % 10)
        number //= 10
    return to + wanted


cdef inline uint8_t* _copy(const Source* source, int64_t text, uint8_t* to) noexcept nogil:
    cdef const uint8_t* start = source.blob + source.at[text]
    cdef Py_ssize_t size = source.at[text + 1] - source.at[text]
    if size == 1:
        to[0] = start[0]
    elif size > 0:
        memcpy(to, start, size)
    return to + size
