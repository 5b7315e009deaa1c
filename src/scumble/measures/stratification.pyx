"""Dealing rows to folds, so that every fold gets its share of every label."""

from libc.stdint cimport int64_t

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t

import numpy as np

cdef enum:
    STEP = 1 << 16  # assignments between two looks at whether to stop

cdef struct Deal:
    # Labels in a heap, the one with the fewest rows left on top; ties: the first label.
    int64_t* heap
    int64_t* places  # where in the heap each label is; -1: not any more
    int64_t* left  # rows of each label not dealt yet
    Py_ssize_t size
    Py_ssize_t n_folds
    double* wanted  # rows of each label by each fold
    double* wanted_rows  # rows by each fold


def assign_folds(Y, Py_ssize_t n_folds, generator, wanted=None, wanted_rows=None):
    """Deal rows to folds, the rarest label first, each row to the fold that wants it most.

    All folds want the same, unless ``wanted`` tells how many rows of each label each of them wants,
    and ``wanted_rows`` how many in all.
    """
    order = generator.permutation(Y.shape[0])
    shuffled = Y[order]
    columns = shuffled.tocsc()
    columns.sort_indices()
    first_choice = generator.integers(n_folds, size=len(order))
    arrays = (shuffled.indptr, shuffled.indices, columns.indptr, columns.indices)
    kind = np.result_type(*arrays)
    parts = [part.astype(kind, copy=False) for part in arrays]
    if wanted is None or wanted_rows is None:
        wanted = np.repeat(np.diff(columns.indptr)[:, None] / n_folds, n_folds, axis=1)
        wanted_rows = np.full(n_folds, len(order) / <double>n_folds)
    folds = np.empty(len(order), np.int64)
    folds[order] = _stratify(*parts, n_folds, first_choice, wanted.copy(), wanted_rows.copy())
    return folds


def _stratify(
    const index_t[::1] indptr, const index_t[::1] indices, const index_t[::1] column_indptr,
    const index_t[::1] column_rows, Py_ssize_t n_folds, const int64_t[::1] first_choice,
    double[:, ::1] wanted, double[::1] wanted_rows,
):
    """Deal rows shuffled already; what is still wanted in the end is left in ``wanted``."""
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1
    cdef Py_ssize_t n_labels = column_indptr.shape[0] - 1
    cdef int64_t[::1] counts = np.diff(column_indptr).astype(np.int64)
    if wanted.shape[0] != n_labels or wanted.shape[1] != n_folds or wanted_rows.shape[0] != n_folds:
        raise ValueError("wanted must be a table of labels and folds, wanted_rows one of folds")
    cdef int64_t[::1] folds = np.full(n_rows, -1, np.int64)
    cdef int64_t[:, ::1] room = np.empty((2, max(n_labels, 1)), np.int64)
    cdef Deal deal = Deal(&room[0, 0], &room[1, 0], NULL, 0, n_folds, NULL, &wanted_rows[0])
    cdef Py_ssize_t row, label, at
    cdef Py_ssize_t seen = 0
    if n_labels > 0:
        deal.left = &counts[0]
        deal.wanted = &wanted[0, 0]
    with nogil:
        for label in range(n_labels):
            deal.places[label] = -1
            if deal.left[label] > 0:
                deal.size += 1
                _raise(&deal, deal.size - 1, label)
        while deal.size > 0:
            label = _take_rarest(&deal)
            if deal.left[label] == 0:
                continue
            seen += column_indptr[label + 1] - column_indptr[label]
            if seen >= STEP:
                seen = 0
                check_stop()
            for at in range(column_indptr[label], column_indptr[label + 1]):
                row = column_rows[at]
                if folds[row] < 0:
                    folds[row] = _neediest(&deal, &wanted[label, 0], first_choice[row])
                    _give(&deal, indices, indptr[row], indptr[row + 1], folds[row])
        for row in range(n_rows):
            if folds[row] < 0:
                folds[row] = _neediest(&deal, deal.wanted_rows, first_choice[row])
                deal.wanted_rows[folds[row]] -= 1.0
    return np.asarray(folds)


cdef Py_ssize_t _neediest(Deal* deal, const double* wanted, Py_ssize_t start) noexcept nogil:
    """Find the fold that wants most, looking from ``start`` on, so that ties are chance."""
    cdef Py_ssize_t best = start
    cdef Py_ssize_t fold = start
    cdef Py_ssize_t _step
    for _step in range(1, deal.n_folds):
        fold = fold + 1 if fold + 1 < deal.n_folds else 0
        if wanted[fold] > wanted[best] or (
            wanted[fold] == wanted[best] and deal.wanted_rows[fold] > deal.wanted_rows[best]
        ):
            best = fold
    return best


cdef void _give(
    Deal* deal, const index_t[::1] indices, Py_ssize_t first, Py_ssize_t last, Py_ssize_t fold
) noexcept nogil:
    """Give a row with the labels first..last to a fold."""
    cdef Py_ssize_t at, label
    deal.wanted_rows[fold] -= 1.0
    for at in range(first, last):
        label = indices[at]
        deal.wanted[label * deal.n_folds + fold] -= 1.0
        deal.left[label] -= 1
        if deal.places[label] > 0:
            _raise(deal, deal.places[label], label)


cdef inline bint _is_rarer(const Deal* deal, int64_t a, int64_t b) noexcept nogil:
    return deal.left[a] < deal.left[b] or (deal.left[a] == deal.left[b] and a < b)


cdef void _raise(Deal* deal, Py_ssize_t place, int64_t label) noexcept nogil:
    """Let a label rise in the heap from a place that is free."""
    cdef Py_ssize_t above
    while place > 0:
        above = (place - 1) // 2
        if not _is_rarer(deal, label, deal.heap[above]):
            break
        deal.heap[place] = deal.heap[above]
        deal.places[deal.heap[place]] = place
        place = above
    deal.heap[place] = label
    deal.places[label] = place


cdef int64_t _take_rarest(Deal* deal) noexcept nogil:
    """Take the top off the heap: the last label takes its place and sinks."""
    cdef int64_t rarest = deal.heap[0]
    cdef int64_t last
    cdef Py_ssize_t below
    cdef Py_ssize_t place = 0
    deal.places[rarest] = -1
    deal.size -= 1
    if deal.size == 0:
        return rarest
    last = deal.heap[deal.size]
    while 2 * place + 1 < deal.size:
        below = 2 * place + 1
        if below + 1 < deal.size and _is_rarer(deal, deal.heap[below + 1], deal.heap[below]):
            below += 1
        if not _is_rarer(deal, deal.heap[below], last):
            break
        deal.heap[place] = deal.heap[below]
        deal.places[deal.heap[place]] = place
        place = below
    deal.heap[place] = last
    deal.places[last] = place
    return rarest
