"""Loops of REMEDIAL."""

from libc.stdint cimport int64_t, uint8_t

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t


def count_sides(
    const index_t[::1] indptr, const index_t[::1] indices, const uint8_t[::1] is_minority,
    const int64_t[::1] rows, Py_ssize_t start, Py_ssize_t stop, index_t[::1] n_majority,
    uint8_t[::1] mixed,
):
    """Count the majority labels of ``rows[start:stop]``, and tell which have minority ones too."""
    cdef Py_ssize_t at, place, first, last
    cdef index_t found
    with nogil:
        for at in range(start, stop):
            if (at - start) & 0xFFFFF == 0:
                check_stop()
            first = indptr[rows[at]]
            last = indptr[rows[at] + 1]
            found = 0
            for place in range(first, last):
                found += not is_minority[indices[place]]
            n_majority[at] = found
            mixed[at] = found > 0 and found < last - first


def write_originals(
    const index_t[::1] indptr, const index_t[::1] indices, const uint8_t[::1] is_minority,
    const uint8_t[::1] is_split, rows, places, index_t[::1] new_indptr, index_t[::1] new_indices,
):
    """Write a range of rows to a range of places; a split row keeps its minority labels.

    Every label is written and the end moves on only if it is kept: a branch on the data would be
    mispredicted at every second row. Only the very last place, after which others write, is
    watched.
    """
    cdef Py_ssize_t start = rows[0]
    cdef Py_ssize_t stop = rows[1]
    cdef Py_ssize_t end = places[0]
    cdef Py_ssize_t last = places[1]
    cdef Py_ssize_t row, place
    cdef uint8_t whole
    cdef index_t label
    with nogil:
        for row in range(start, stop):
            if (row - start) & 0xFFFFF == 0:
                check_stop()
            whole = not is_split[row]
            for place in range(indptr[row], indptr[row + 1]):
                label = indices[place]
                if end < last:
                    new_indices[end] = label
                end += whole | is_minority[label]
            new_indptr[row + 1] = <index_t>end


def write_clones(
    const index_t[::1] indptr, const index_t[::1] indices, const uint8_t[::1] is_minority,
    const int64_t[::1] rows, part, places, index_t[::1] new_indptr, index_t[::1] new_indices,
):
    """Write the majority labels of a part of ``rows`` to a range of places.

    They become the rows after the originals.
    """
    cdef Py_ssize_t start = part[0]
    cdef Py_ssize_t stop = part[1]
    cdef Py_ssize_t end = places[0]
    cdef Py_ssize_t last = places[1]
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1
    cdef Py_ssize_t at, row, place
    cdef index_t label
    with nogil:
        for at in range(start, stop):
            if (at - start) & 0xFFFFF == 0:
                check_stop()
            row = rows[at]
            for place in range(indptr[row], indptr[row + 1]):
                label = indices[place]
                if end < last:
                    new_indices[end] = label
                end += not is_minority[label]
            new_indptr[n_rows + at + 1] = <index_t>end
