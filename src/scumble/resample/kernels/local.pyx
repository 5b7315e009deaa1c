"""Loops over minority cells: where a row holds the rarer value of a label."""

import numpy as np

from libc.stdint cimport int8_t, int64_t

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t

cdef enum:
    SAFE, BORDERLINE, RARE, OUTLIER


def count_opposite_neighbours(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[:, ::1] neighbours,
    Py_ssize_t n_labels, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] n_opposed,
):
    """For each minority cell of rows start..stop count the neighbours with the other value."""
    cdef int64_t[::1] holders = np.zeros(n_labels, np.int64)
    cdef Py_ssize_t k = neighbours.shape[1]
    cdef Py_ssize_t row, near, other, place
    with nogil:
        for row in range(start, stop):
            for near in range(k):
                other = neighbours[row, near]
                for place in range(indptr[other], indptr[other + 1]):
                    holders[indices[place]] += 1
            for place in range(indptr[row], indptr[row + 1]):
                n_opposed[place] = k - holders[indices[place]]
            for near in range(k):
                other = neighbours[row, near]
                for place in range(indptr[other], indptr[other + 1]):
                    holders[indices[place]] = 0


def relabel_rare_as_borderline(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[:, ::1] neighbours,
    int8_t[::1] types,
):
    """Make rare cells with a safe or borderline neighbour borderline, until none is left."""
    cdef bint changed = True
    cdef Py_ssize_t row, place
    with nogil:
        while changed:
            changed = False
            for row in range(indptr.shape[0] - 1):
                if row & 0x3FFF == 0:
                    check_stop()
                for place in range(indptr[row], indptr[row + 1]):
                    if types[place] == RARE and _has_kind_neighbour(
                        &indptr[0], indices, neighbours, row, indices[place], types
                    ):
                        types[place] = BORDERLINE
                        changed = True


cdef inline bint _has_kind_neighbour(
    const index_t* indptr, const index_t[::1] indices, const int64_t[:, ::1] neighbours,
    Py_ssize_t row, index_t label, const int8_t[::1] types,
) noexcept nogil:
    """Tell whether a row has a neighbour with a safe or borderline cell of the label."""
    cdef Py_ssize_t near, other, at
    for near in range(neighbours.shape[1]):
        other = neighbours[row, near]
        at = _find(&indices[0], indptr[other], indptr[other + 1], label)
        if at >= 0 and types[at] <= BORDERLINE:
            return True
    return False


cdef inline Py_ssize_t _find(
    const index_t* indices, Py_ssize_t begin, Py_ssize_t end, index_t label
) noexcept nogil:
    """Find the place of a label in a row; -1 where it is not."""
    cdef Py_ssize_t middle
    while begin < end:
        middle = (begin + end) // 2
        if indices[middle] < label:
            begin = middle + 1
        elif indices[middle] > label:
            end = middle
        else:
            return middle
    return -1


def sum_support(
    const index_t[::1] indptr, const index_t[::1] indices, const int64_t[:, ::1] neighbours,
    const double[::1] shares, const int8_t[::1] types,
):
    """Sum up how far each row supports the rows that have it among their neighbours."""
    sums = np.zeros(indptr.shape[0] - 1)
    cdef double[::1] support = sums
    cdef Py_ssize_t asker, near, row, place, at
    cdef double total
    with nogil:
        for asker in range(indptr.shape[0] - 1):
            if asker & 0x3FFF == 0:
                check_stop()
            for near in range(neighbours.shape[1]):
                row = neighbours[asker, near]
                total = 0.0
                for place in range(indptr[asker], indptr[asker + 1]):
                    if types[place] == OUTLIER:
                        continue
                    at = _find(&indices[0], indptr[row], indptr[row + 1], indices[place])
                    total += shares[place] if at >= 0 and types[at] != OUTLIER else -shares[place]
                support[row] += total
    return sums
