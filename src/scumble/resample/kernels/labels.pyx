"""Labels of synthetic rows, from those of a row and of its neighbours."""

import numpy as np

from libc.stdint cimport int64_t

from scumble._core.types cimport index_t
from scumble.resample.kernels.merging cimport merge_runs

RANKING, RANKING_TIES, UNION, INTERSECTION = range(4)

cdef enum:
    _RANKING, _RANKING_TIES, _UNION, _INTERSECTION


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
