"""Sums over the cells of rows: quadratic forms, what rows have in common, how far they differ."""

from libc.math cimport fabs

from scumble._core.interrupt cimport check_stop
from scumble._core.types cimport index_t

cdef extern from "scumble/learn/differences.h" nogil:
    void add_four_differences(double*, Py_ssize_t, const double*, const double*, Py_ssize_t)
    void add_differences_of(double*, Py_ssize_t, double, const double*)

# So many points are compared at a time: their sums stay in the nearest cache.
cdef Py_ssize_t POINTS = 512


def quadratic_forms(
    const index_t[::1] indptr,
    const index_t[::1] indices,
    const double[::1] data,
    const double[:, ::1] matrix,
    double[::1] out,
):
    """Write x' M x to ``out`` for rows x of a CSR table and a symmetric M."""
    cdef Py_ssize_t row, one, other, begin
    cdef double total, inner
    cdef const double* line
    with nogil:
        for row in range(out.shape[0]):
            if row % 1024 == 0:
                check_stop()
            begin = indptr[row]
            total = 0
            for one in range(begin, indptr[row + 1]):
                line = &matrix[indices[one], 0]
                inner = 0
                for other in range(begin, one):
                    inner += data[other] * line[indices[other]]
                total += data[one] * (2 * inner + data[one] * line[indices[one]])
            out[row] = total


def add_overlaps(
    const index_t[::1] indptr,
    const index_t[::1] indices,
    const double[::1] data,
    const index_t[::1] point_indptr,
    const index_t[::1] point_indices,
    const double[::1] point_data,
    double[:, ::1] out,
):
    """Add to ``out`` what CSR rows have in common with points, which come column by column (CSC).

    In each column that is the smaller of two numbers of the same sign, without the sign.
    """
    cdef Py_ssize_t row, one, other, begin, end
    cdef double value, size
    with nogil:
        for row in range(out.shape[0]):
            check_stop()
            for one in range(indptr[row], indptr[row + 1]):
                value = data[one]
                size = fabs(value)
                begin = point_indptr[indices[one]]
                end = point_indptr[indices[one] + 1]
                for other in range(begin, end):
                    if value * point_data[other] > 0:
                        out[row, point_indices[other]] += min(size, fabs(point_data[other]))


def add_differences(
    const double[:, ::1] rows, const double[:, ::1] columns, double[:, ::1] out
):
    """Add to ``out`` the sums of absolute differences of rows and points.

    Points come column by column, so that all of them are compared with one cell at a time.
    """
    cdef Py_ssize_t row, at, block, first, n, n_points = columns.shape[1]
    cdef Py_ssize_t fours = columns.shape[0] // 4 * 4
    cdef double* line
    with nogil:
        for row in range(out.shape[0]):
            check_stop()
            for block in range((n_points + POINTS - 1) // POINTS):
                first = block * POINTS
                n = min(POINTS, n_points - first)
                line = &out[row, first]
                for at in range(0, fours, 4):
                    add_four_differences(line, n, &rows[row, at], &columns[at, first], n_points)
                for at in range(fours, columns.shape[0]):
                    add_differences_of(line, n, rows[row, at], &columns[at, first])
