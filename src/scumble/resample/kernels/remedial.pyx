"""Loops of REMEDIAL."""

from libc.stdint cimport int64_t, uint8_t

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t


def count_majority_labels(
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


def write_rows(
    const index_t[::1] indptr, const index_t[::1] indices, const uint8_t[::1] is_split,
    const uint8_t[::1] is_kept, const int64_t[::1] rows, part, index_t[::1] new_indptr,
    index_t[::1] new_indices,
):
    """Write a range of rows, or of all there are, to a range of places.

    Of a row that is split only some labels are kept. ``part`` is where the rows begin and end, and
    then the places.

    Every label is written and the end moves on only if it is kept: a branch on the data would be
    mispredicted at every second row. CellFilter the very last place, after which others write, is
    watched.
    """
    cdef Py_ssize_t start, stop, end, last, at, row, place
    cdef bint is_listed = rows is not None
    cdef uint8_t whole
    cdef index_t label
    start, stop, end, last = part
    with nogil:
        for at in range(start, stop):
            if (at - start) & 0xFFFFF == 0:
                check_stop()
            row = rows[at] if is_listed else at
            whole = not is_split[row]
            for place in range(indptr[row], indptr[row + 1]):
                label = indices[place]
                if end < last:
                    new_indices[end] = label
                end += whole | is_kept[label]
            new_indptr[at + 1] = <index_t>end
