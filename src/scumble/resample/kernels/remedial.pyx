"""Kernels of REMEDIAL."""

from libc.stdint cimport int64_t, uint8_t

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t


def count_majority_labels(
    const index_t[::1] indptr, const index_t[::1] indices, const uint8_t[::1] is_minority,
    const int64_t[::1] rows, Py_ssize_t start, Py_ssize_t stop, index_t[::1] n_majority,
    uint8_t[::1] is_mixed,
):
    """Count the majority labels of ``rows[start:stop]``, and mark those with minority ones too."""
    cdef Py_ssize_t i, position, row_start, row_stop
    cdef index_t count
    with nogil:
        for i in range(start, stop):
            if (i - start) & 0xFFFFF == 0:
                check_stop()
            row_start = indptr[rows[i]]
            row_stop = indptr[rows[i] + 1]
            count = 0
            for position in range(row_start, row_stop):
                count += not is_minority[indices[position]]
            n_majority[i] = count
            is_mixed[i] = count > 0 and count < row_stop - row_start


def write_rows(
    const index_t[::1] indptr, const index_t[::1] indices, const uint8_t[::1] is_split,
    const uint8_t[::1] is_kept, const int64_t[::1] rows, index_t[::1] new_indptr,
    index_t[::1] new_indices, Py_ssize_t n_before,
):
    """Write ``rows``, or all rows of ``indptr`` if ``rows`` is None, to a part of the new matrix.

    Of a row that is split only the labels in ``is_kept`` are written. ``new_indices`` is the part
    that these rows fill, ``n_before`` the number of labels in the parts before it, and
    ``new_indptr`` starts with the entry before the first of these rows.

    Every label is written, and the end advances only if the label is kept: a branch that depends on
    the data would be mispredicted in every second row. The check against the size keeps the label
    after the last kept one out of memory that another thread writes to.
    """
    cdef Py_ssize_t n_rows = new_indptr.shape[0] - 1, size = new_indices.shape[0], end = 0
    cdef Py_ssize_t i, row, position
    cdef bint has_rows = rows is not None
    cdef uint8_t keeps_all
    cdef index_t label
    with nogil:
        for i in range(n_rows):
            if i & 0xFFFFF == 0:
                check_stop()
            row = rows[i] if has_rows else i
            keeps_all = not is_split[row]
            for position in range(indptr[row], indptr[row + 1]):
                label = indices[position]
                if end < size:
                    new_indices[end] = label
                end += keeps_all | is_kept[label]
            new_indptr[i + 1] = <index_t>(n_before + end)
