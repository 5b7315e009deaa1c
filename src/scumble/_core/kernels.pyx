"""Loops that know nothing of labels."""

from scumble._core.types cimport index_t


def check_rows(
    const index_t[::1] indptr, const index_t[::1] indices, Py_ssize_t start, Py_ssize_t stop,
    Py_ssize_t n_columns,
):
    """Tell whether rows are strictly increasing: 1 yes, 0 no, -1 a place is out of range.

    Neighbours that do not increase are counted twice, over all elements and over row starts:
    rows increase exactly when the two numbers agree. Neither loop branches on the data, so both
    run at the speed of memory; short chunks let the second find its indices in the cache.
    """
    cdef Py_ssize_t low, high
    cdef Py_ssize_t descents = 0
    with nogil:
        for low in range(start, stop, 4096):
            high = min(low + 4096, stop)
            if not _are_ascending(indptr, low, high, indices.shape[0]) or not _in_range(
                indices, indptr[low], indptr[high], n_columns
            ):
                with gil:
                    return -1
            descents += _descents(indptr, indices, low, high)
    return 1 if descents == 0 else 0


cdef bint _are_ascending(
    const index_t[::1] indptr, Py_ssize_t low, Py_ssize_t high, Py_ssize_t n_stored
) noexcept nogil:
    """Tell whether row pointers never step back nor leave what is stored."""
    cdef Py_ssize_t falls = 0
    cdef Py_ssize_t row
    for row in range(low, high):
        falls += indptr[row + 1] < indptr[row]
    return falls == 0 and indptr[low] >= 0 and indptr[high] <= n_stored


cdef bint _in_range(
    const index_t[::1] indices, Py_ssize_t first, Py_ssize_t last, Py_ssize_t n_columns
) noexcept nogil:
    cdef index_t least = 0
    cdef index_t largest = 0
    cdef Py_ssize_t at
    for at in range(first, last):
        least = min(least, indices[at])
        largest = max(largest, indices[at])
    return first == last or (least >= 0 and largest < n_columns)


cdef Py_ssize_t _descents(
    const index_t[::1] indptr, const index_t[::1] indices, Py_ssize_t low, Py_ssize_t high
) noexcept nogil:
    """Count the neighbours within rows low..high that do not increase."""
    cdef Py_ssize_t first = indptr[low]
    cdef Py_ssize_t descents = 0
    cdef Py_ssize_t at, row
    for at in range(first + 1, indptr[high]):
        descents += indices[at] <= indices[at - 1]
    for row in range(low, high):
        at = indptr[row]
        # The first row of a chunk has no neighbour in it; an empty row has no start.
        if at > first and at < indptr[row + 1]:
            descents -= indices[at] <= indices[at - 1]
    return descents
