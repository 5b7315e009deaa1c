"""Kernels over minority cells: the cells in which a row has the rarer value of a label."""

import numpy as np

from libc.stdint cimport int8_t, int64_t

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t

cdef enum:
    SAFE, BORDERLINE, RARE, OUTLIER


def count_opposite_neighbours(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[:, ::1] neighbours,
    Py_ssize_t n_labels, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] n_opposite,
):
    """Count, for each minority cell of rows start..stop, the neighbours with the opposite value."""
    cdef int64_t[::1] n_same = np.zeros(n_labels, np.int64)
    cdef Py_ssize_t k = neighbours.shape[1]
    cdef Py_ssize_t row, i, neighbour, cell
    with nogil:
        for row in range(start, stop):
            for i in range(k):
                neighbour = neighbours[row, i]
                for cell in range(indptr[neighbour], indptr[neighbour + 1]):
                    n_same[indices[cell]] += 1
            for cell in range(indptr[row], indptr[row + 1]):
                n_opposite[cell] = k - n_same[indices[cell]]
            for i in range(k):  # resets only the counts that were changed
                neighbour = neighbours[row, i]
                for cell in range(indptr[neighbour], indptr[neighbour + 1]):
                    n_same[indices[cell]] = 0


def relabel_rare_as_borderline(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[:, ::1] neighbours,
    int8_t[::1] types,
):
    """Make rare cells with a safe or borderline neighbour borderline, until no cell changes."""
    cdef bint changed = True
    cdef Py_ssize_t row, cell
    with nogil:
        while changed:
            changed = False
            for row in range(indptr.shape[0] - 1):
                if row & 0x3FFF == 0:
                    check_stop()
                for cell in range(indptr[row], indptr[row + 1]):
                    if types[cell] == RARE and _has_safe_neighbour(
                        &indptr[0], indices, neighbours, row, indices[cell], types
                    ):
                        types[cell] = BORDERLINE
                        changed = True


cdef inline bint _has_safe_neighbour(
    const index_t* indptr, const index_t[::1] indices, const int64_t[:, ::1] neighbours,
    Py_ssize_t row, index_t label, const int8_t[::1] types,
) noexcept nogil:
    """Return whether a row has a neighbour with a safe or borderline cell of the label."""
    cdef Py_ssize_t i, neighbour, cell
    for i in range(neighbours.shape[1]):
        neighbour = neighbours[row, i]
        cell = _find_cell(&indices[0], indptr[neighbour], indptr[neighbour + 1], label)
        if cell >= 0 and types[cell] <= BORDERLINE:
            return True
    return False


cdef inline Py_ssize_t _find_cell(
    const index_t* indices, Py_ssize_t start, Py_ssize_t stop, index_t label
) noexcept nogil:
    """Return the index of a label's cell among those of a row, or -1."""
    cdef Py_ssize_t middle
    while start < stop:
        middle = (start + stop) // 2
        if indices[middle] < label:
            start = middle + 1
        elif indices[middle] > label:
            stop = middle
        else:
            return middle
    return -1


def sum_support(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[:, ::1] neighbours,
    const double[::1] shares, const int8_t[::1] types,
):
    """Return, for each row, the sum of its support for the rows that have it as a neighbour."""
    sums = np.zeros(indptr.shape[0] - 1)
    cdef double[::1] support = sums
    cdef Py_ssize_t row, i, neighbour, cell, neighbour_cell
    cdef double total
    with nogil:
        for row in range(indptr.shape[0] - 1):
            if row & 0x3FFF == 0:
                check_stop()
            for i in range(neighbours.shape[1]):
                neighbour = neighbours[row, i]
                total = 0.0
                for cell in range(indptr[row], indptr[row + 1]):
                    if types[cell] == OUTLIER:
                        continue
                    neighbour_cell = _find_cell(
                        &indices[0], indptr[neighbour], indptr[neighbour + 1], indices[cell]
                    )
                    if neighbour_cell >= 0 and types[neighbour_cell] != OUTLIER:
                        total += shares[cell]
                    else:
                        total -= shares[cell]
                support[neighbour] += total
    return sums
