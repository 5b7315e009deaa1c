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


cdef struct Pool:
    const uint8_t* blob
    const int64_t* at


cdef class Texts:
    """Texts, put behind each other in a blob: text i is ``blob[at[i]:at[i + 1]]``."""

    cdef const uint8_t[::1] blob
    cdef const int64_t[::1] at
    cdef Py_ssize_t n_texts
    cdef Pool pool

    def __cinit__(self, list texts not None):
        self.n_texts = len(texts)
        self.blob = np.frombuffer(b"".join(texts), np.uint8)
        self.at = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        self.pool.blob = &self.blob[0] if self.blob.shape[0] else NULL
        self.pool.at = &self.at[0]

    cdef Py_ssize_t size(self, const int64_t[::1] numbers) except -1:
        """Sum the lengths of the texts that are named; negative numbers name none."""
        cdef Py_ssize_t size = 0
        cdef Py_ssize_t place
        cdef int64_t text
        for place in range(numbers.shape[0]):
            text = numbers[place]
            if text >= self.n_texts:
                raise IndexError(f"There is no text {text} of {self.n_texts}.")
            if text >= 0:
                size += self.at[text + 1] - self.at[text]
        return size


cdef struct Source:
    const double* values
    const int8_t* decimals
    const int32_t* columns  # NULL where all columns are written
    const int64_t* declared
    const int64_t* prepared
    Pool declared_texts
    Pool prepared_texts


def write_rows(
    const double[::1] values, const int8_t[::1] decimals, const int32_t[::1] columns,
    names, const int64_t[::1] row_end, Texts declared not None, Texts prepared not None,
):
    """Write rows; give their bytes as an array.

    ``names`` are three arrays of numbers of texts, -1 for none: for every value one of the
    ``declared`` texts, for every value one of the ``prepared``, and one of these that follows each
    row. A value with neither is a number, of so many ``decimals``. Rows are sparse if ``columns``
    are given, else None.
    """
    cdef const int64_t[::1] of_declared = names[0]
    cdef const int64_t[::1] of_prepared = names[1]
    cdef const int64_t[::1] endings = names[2]
    cdef Py_ssize_t n_values = values.shape[0]
    cdef uint8_t[::1] out
    cdef Source source
    cdef Py_ssize_t row, size
    if min(decimals.shape[0], of_declared.shape[0], of_prepared.shape[0]) < n_values or (
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
    source.declared = &of_declared[0] if n_values else NULL
    source.prepared = &of_prepared[0] if n_values else NULL
    source.declared_texts = declared.pool
    source.prepared_texts = prepared.pool
    size = LONGEST * n_values + 3 * row_end.shape[0] + declared.size(of_declared)
    size += prepared.size(of_prepared) + prepared.size(endings)
    written = np.empty(size, np.uint8)
    out = written
    size = 0
    if row_end.shape[0]:
        with nogil:
            size = _write_rows(&source, columns is not None, row_end, endings, &out[0])
    return written[:size]


cdef Py_ssize_t _write_rows(
    const Source* source, bint is_sparse, const int64_t[::1] row_end, const int64_t[::1] endings,
    uint8_t* out,
) except -1 nogil:
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
            to = _write_value(source, place, to)
            place += 1
        if is_sparse:
            to[0] = c"}"
            to += 1
        if endings[row] >= 0:
            to = _copy(&source.prepared_texts, endings[row], to)
        to[0] = c"\n"
        to += 1
    return to - out


cdef inline uint8_t* _write_value(
    const Source* source, Py_ssize_t place, uint8_t* to
) noexcept nogil:
    cdef double value = source.values[place]
    cdef int n_decimals = source.decimals[place]
    cdef uint64_t unit, whole
    if source.declared[place] >= 0:
        return _copy(&source.declared_texts, source.declared[place], to)
    if source.prepared[place] >= 0:
        return _copy(&source.prepared_texts, source.prepared[place], to)
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


cdef inline uint8_t* _copy(const Pool* pool, int64_t text, uint8_t* to) noexcept nogil:
    cdef Py_ssize_t size = pool.at[text + 1] - pool.at[text]
    if size == 1:
        to[0] = pool.blob[pool.at[text]]
    elif size > 0:
        memcpy(to, pool.blob + pool.at[text], size)
    return to + size
