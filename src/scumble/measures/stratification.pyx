"""Iterative stratification: the assignment of rows to folds that keeps labels in proportion.

The method of Sechidis, Tsoumakas and Vlahavas (2011); see `IterativeStratification`.
"""

from libc.stdint cimport int64_t

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t

import numpy as np

cdef enum:
    STEP = 1 << 16  # label assignments between two calls of check_stop, which lets users interrupt

cdef struct Assignment:
    # The state of the assignment of rows to folds. The heap, a binary heap in an array, holds the
    # labels with unassigned rows, the one with the fewest of them on top; ties are broken by label
    # index.
    int64_t* heap
    int64_t* positions  # of each label in the heap; -1 if it is not there
    int64_t* n_unassigned  # unassigned rows of each label
    Py_ssize_t heap_size
    Py_ssize_t n_folds
    double* missing_counts  # (n_labels, n_folds): rows of each label that each fold still needs
    double* missing_rows  # (n_folds,): rows that each fold still needs


def assign_folds(Y, Py_ssize_t n_folds, generator, target_counts=None, target_rows=None):
    """Return the fold of each row of the CSR matrix Y, by iterative stratification.

    The rows of the rarest label are assigned first, each to the fold that needs it most. All folds
    get equally many rows, unless ``target_counts``, of shape (n_labels, n_folds), is the number of
    rows with each label that each fold should have, and ``target_rows``, of shape (n_folds,), the
    number of rows of each fold. ``generator`` shuffles the rows and breaks ties.
    """
    order = generator.permutation(Y.shape[0])
    shuffled = Y[order]
    columns = shuffled.tocsc()
    columns.sort_indices()
    first_choice = generator.integers(n_folds, size=len(order))
    index_dtype = np.result_type(
        shuffled.indptr, shuffled.indices, columns.indptr, columns.indices
    )
    if target_counts is None or target_rows is None:
        counts = np.diff(columns.indptr)
        target_counts = np.repeat(counts[:, None] / n_folds, n_folds, axis=1)
        target_rows = np.full(n_folds, len(order) / <double>n_folds)
    folds = np.empty(len(order), np.int64)
    folds[order] = _stratify(
        shuffled.indptr.astype(index_dtype, copy=False),
        shuffled.indices.astype(index_dtype, copy=False),
        columns.indptr.astype(index_dtype, copy=False),
        columns.indices.astype(index_dtype, copy=False),
        n_folds,
        first_choice,
        target_counts.copy(),
        target_rows.copy(),
    )
    return folds


def _stratify(
    const index_t[::1] indptr, const index_t[::1] indices, const index_t[::1] column_indptr,
    const index_t[::1] column_rows, Py_ssize_t n_folds, const int64_t[::1] first_choice,
    double[:, ::1] missing_counts, double[::1] missing_rows,
):
    """Return the fold of each row of a label matrix, which is passed in CSR and in CSC form.

    ``missing_counts`` and ``missing_rows``, what the folds need, are reduced by the rows that are
    assigned. Of folds that need a row equally, the first one from ``first_choice`` on, of the row,
    gets it.
    """
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1
    cdef Py_ssize_t n_labels = column_indptr.shape[0] - 1
    cdef int64_t[::1] counts = np.diff(column_indptr).astype(np.int64)
    if (
        missing_counts.shape[0] != n_labels or missing_counts.shape[1] != n_folds
        or missing_rows.shape[0] != n_folds
    ):
        raise ValueError(
            "target_counts must have shape (n_labels, n_folds), target_rows (n_folds,)"
        )
    cdef int64_t[::1] folds = np.full(n_rows, -1, np.int64)
    cdef int64_t[::1] heap = np.empty(max(n_labels, 1), np.int64)
    cdef int64_t[::1] positions = np.empty(max(n_labels, 1), np.int64)
    cdef Assignment state
    cdef Py_ssize_t row, label, i
    cdef Py_ssize_t n_steps = 0
    state.heap = &heap[0]
    state.positions = &positions[0]
    state.n_unassigned = &counts[0] if n_labels > 0 else NULL
    state.heap_size = 0
    state.n_folds = n_folds
    state.missing_counts = &missing_counts[0, 0] if n_labels > 0 else NULL
    state.missing_rows = &missing_rows[0]
    with nogil:
        for label in range(n_labels):
            state.positions[label] = -1
            if state.n_unassigned[label] > 0:
                state.heap_size += 1
                _move_up(&state, state.heap_size - 1, label)
        while state.heap_size > 0:
            label = _pop_rarest(&state)
            if state.n_unassigned[label] == 0:
                continue
            n_steps += column_indptr[label + 1] - column_indptr[label]
            if n_steps >= STEP:
                n_steps = 0
                check_stop()
            for i in range(column_indptr[label], column_indptr[label + 1]):
                row = column_rows[i]
                if folds[row] < 0:
                    folds[row] = _neediest_fold(
                        &state, &missing_counts[label, 0], first_choice[row]
                    )
                    _assign(&state, indices, indptr[row], indptr[row + 1], folds[row])
        for row in range(n_rows):
            if folds[row] < 0:
                folds[row] = _neediest_fold(&state, state.missing_rows, first_choice[row])
                state.missing_rows[folds[row]] -= 1.0
    return np.asarray(folds)


cdef Py_ssize_t _neediest_fold(
    const Assignment* state, const double* missing, Py_ssize_t first_choice
) noexcept nogil:
    """Return the fold with the largest number in ``missing``, of shape (n_folds,).

    Ties are broken by the number of rows that folds need in total; then the first fold from
    ``first_choice`` on is taken.
    """
    cdef Py_ssize_t best = first_choice
    cdef Py_ssize_t fold = first_choice
    cdef Py_ssize_t _step
    for _step in range(1, state.n_folds):
        fold = fold + 1 if fold + 1 < state.n_folds else 0
        if missing[fold] > missing[best] or (
            missing[fold] == missing[best]
            and state.missing_rows[fold] > state.missing_rows[best]
        ):
            best = fold
    return best


cdef void _assign(
    Assignment* state, const index_t[::1] indices, Py_ssize_t start, Py_ssize_t stop,
    Py_ssize_t fold,
) noexcept nogil:
    """Update the state after a row with labels ``indices[start:stop]`` was assigned to a fold."""
    cdef Py_ssize_t i, label
    state.missing_rows[fold] -= 1.0
    for i in range(start, stop):
        label = indices[i]
        state.missing_counts[label * state.n_folds + fold] -= 1.0
        state.n_unassigned[label] -= 1
        if state.positions[label] > 0:
            _move_up(state, state.positions[label], label)


cdef inline bint _is_rarer(const Assignment* state, int64_t a, int64_t b) noexcept nogil:
    """Return whether label a has fewer unassigned rows than label b, or as many and comes first."""
    return state.n_unassigned[a] < state.n_unassigned[b] or (
        state.n_unassigned[a] == state.n_unassigned[b] and a < b
    )


cdef void _move_up(Assignment* state, Py_ssize_t position, int64_t label) noexcept nogil:
    """Put a label into the heap at a free position, or above it if it is rarer than the parents."""
    cdef Py_ssize_t parent
    while position > 0:
        parent = (position - 1) // 2
        if not _is_rarer(state, label, state.heap[parent]):
            break
        state.heap[position] = state.heap[parent]
        state.positions[state.heap[position]] = position
        position = parent
    state.heap[position] = label
    state.positions[label] = position


cdef int64_t _pop_rarest(Assignment* state) noexcept nogil:
    """Remove the label on top of the heap, which is the rarest, and return it.

    The last label of the heap takes its position and is moved down.
    """
    cdef int64_t rarest = state.heap[0]
    cdef int64_t last
    cdef Py_ssize_t child
    cdef Py_ssize_t position = 0
    state.positions[rarest] = -1
    state.heap_size -= 1
    if state.heap_size == 0:
        return rarest
    last = state.heap[state.heap_size]
    while 2 * position + 1 < state.heap_size:
        child = 2 * position + 1
        if child + 1 < state.heap_size and _is_rarer(
            state, state.heap[child + 1], state.heap[child]
        ):
            child += 1
        if not _is_rarer(state, state.heap[child], last):
            break
        state.heap[position] = state.heap[child]
        state.positions[state.heap[position]] = position
        position = child
    state.heap[position] = last
    state.positions[last] = position
    return rarest
