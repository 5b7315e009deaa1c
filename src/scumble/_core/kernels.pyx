"""Kernels for sparse matrices that know nothing of labels."""

from scumble._core.types cimport index_t


def check_rows(
    const index_t[::1] indptr, const index_t[::1] indices, Py_ssize_t start, Py_ssize_t stop,
    Py_ssize_t n_columns,
):
    """Check that the column indices of rows start..stop are in range and strictly increasing.

    Return 1 if they increase, 0 if not, -1 if an index or a row pointer is out of range.

    Descents, pairs of neighbouring indices that do not increase, are counted over all elements, and
    those between two rows are subtracted. Neither loop branches on the data, so both run at the
    speed of memory; in short chunks of rows, the second loop finds its indices in the cache.
    """
    cdef Py_ssize_t first_row, end_row
    cdef Py_ssize_t n_descents = 0
    with nogil:
        for first_row in range(start, stop, 4096):
            end_row = min(first_row + 4096, stop)
            if (
                not _are_row_pointers_valid(indptr, first_row, end_row, indices.shape[0])
                or not _are_in_range(indices, indptr[first_row], indptr[end_row], n_columns)
            ):
                with gil:
                    return -1
            n_descents += _count_descents(indptr, indices, first_row, end_row)
    return 1 if n_descents == 0 else 0


cdef bint _are_row_pointers_valid(
    const index_t[::1] indptr, Py_ssize_t first_row, Py_ssize_t end_row, Py_ssize_t n_stored
) noexcept nogil:
    """Return whether the row pointers never decrease and are within the stored elements."""
    cdef Py_ssize_t n_decreases = 0
    cdef Py_ssize_t row
    for row in range(first_row, end_row):
        n_decreases += indptr[row + 1] < indptr[row]
    return n_decreases == 0 and indptr[first_row] >= 0 and indptr[end_row] <= n_stored


cdef bint _are_in_range(
    const index_t[::1] indices, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n_columns
) noexcept nogil:
    """Return whether the indices start..stop are those of columns."""
    cdef index_t smallest = 0
    cdef index_t largest = 0
    cdef Py_ssize_t i
    for i in range(start, stop):
        smallest = min(smallest, indices[i])
        largest = max(largest, indices[i])
    return start == stop or (smallest >= 0 and largest < n_columns)


cdef Py_ssize_t _count_descents(
    const index_t[::1] indptr, const index_t[::1] indices, Py_ssize_t first_row, Py_ssize_t end_row
) noexcept nogil:
    """Return the number of neighbouring indices within rows that do not increase."""
    cdef Py_ssize_t start = indptr[first_row]
    cdef Py_ssize_t n_descents = 0
    cdef Py_ssize_t i, row
    for i in range(start + 1, indptr[end_row]):
        n_descents += indices[i] <= indices[i - 1]
    for row in range(first_row, end_row):
        i = indptr[row]
        # The first row of a chunk has no predecessor in it; an empty row has no first element.
        if i > start and i < indptr[row + 1]:
            n_descents -= indices[i] <= indices[i - 1]
    return n_descents
