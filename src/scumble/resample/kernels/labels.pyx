"""Loops over the labels of a row and of its neighbours."""

import numpy as np

from libc.stdint cimport int64_t

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t
from scumble.resample.kernels.merging cimport merge_runs

RANKING, RANKING_TIES, UNION, INTERSECTION = range(4)

cdef enum:
    _RANKING, _RANKING_TIES, _UNION, _INTERSECTION


def count_far(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[::1] rows,
    const int64_t[:, ::1] neighbours, double threshold, bint union, int64_t[::1] n_far,
):
    """Count the neighbours of some rows whose labels differ by more than a threshold.

    Labels that differ are counted as a share of both rows' labels, or of those active in either.
    """
    cdef Py_ssize_t at, near
    cdef int64_t count
    with nogil:
        for at in range(rows.shape[0]):
            if at & 0xFFFF == 0:
                check_stop()
            count = 0
            for near in range(neighbours.shape[1]):
                count += (
                    _label_distance(&indptr[0], indices, rows[at], neighbours[at, near], union)
                    > threshold
                )
            n_far[at] = count


cdef inline double _label_distance(
    const index_t* indptr, const index_t[::1] indices, Py_ssize_t row, Py_ssize_t other,
    bint union,
) noexcept nogil:
    cdef Py_ssize_t a = indptr[row]
    cdef Py_ssize_t a_end = indptr[row + 1]
    cdef Py_ssize_t b = indptr[other]
    cdef Py_ssize_t b_end = indptr[other + 1]
    cdef Py_ssize_t n_both = (a_end - a) + (b_end - b)
    cdef Py_ssize_t different = 0
    if n_both == 0:
        return 0.0
    while a < a_end and b < b_end:
        if indices[a] == indices[b]:
            a += 1
            b += 1
        elif indices[a] < indices[b]:
            different += 1
            a += 1
        else:
            different += 1
            b += 1
    different += (a_end - a) + (b_end - b)
    # Labels in both count twice: (|A| + |B| + different) / 2 labels are active in either.
    if union:
        return <double>different / (<double>(n_both + different) / 2.0)
    return <double>different / <double>n_both


def combine_labels(
    const index_t[::1] indptr, const index_t[::1] indices, Py_ssize_t n_labels, seeds,
    int strategy, Py_ssize_t start, Py_ssize_t stop, out,
):
    """Choose the labels of synthetic rows start..stop from their seeds and neighbours."""
    cdef const int64_t[::1] rows = seeds.rows
    cdef const int64_t[:, ::1] neighbours = seeds.neighbours
    cdef const int64_t[::1] n_found = seeds.n_found
    cdef const int64_t[::1] starts = out.starts
    cdef index_t[::1] out_indices = out.indices
    cdef int64_t[::1] lengths = out.lengths
    # How often each label was met; the labels met, in two places for sorting them.
    cdef int64_t[::1] counts = np.zeros(n_labels, np.int64)
    cdef int64_t[:, ::1] places = np.empty((2, max(n_labels, 1)), np.int64)
    cdef int64_t* touched
    cdef Py_ssize_t at, member, row, place, label, n_touched, end, i
    cdef int64_t n_rows
    with nogil:
        for at in range(start, stop):
            touched = &places[0, 0]
            n_touched = 0
            n_rows = n_found[at] + 1
            for member in range(n_rows):
                row = rows[at] if member == 0 else neighbours[at, member - 1]
                for place in range(indptr[row], indptr[row + 1]):
                    label = indices[place]
                    if counts[label] == 0:
                        touched[n_touched] = label
                        n_touched += 1
                    counts[label] += 1
            touched = merge_runs(touched, &places[1, 0], n_touched)
            end = starts[at]
            for i in range(n_touched):
                label = touched[i]
                if _is_chosen(counts[label], n_rows, strategy):
                    out_indices[end] = <index_t>label
                    end += 1
                counts[label] = 0
            lengths[at] = end - starts[at]


cdef inline bint _is_chosen(int64_t count, int64_t n_rows, int strategy) noexcept nogil:
    if strategy == _RANKING:
        return 2 * count > n_rows
    if strategy == _RANKING_TIES:
        return 2 * count >= n_rows
    return strategy == _UNION or count == n_rows
