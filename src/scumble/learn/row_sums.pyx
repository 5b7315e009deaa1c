"""Sums over the cells of rows: quadratic forms, what rows have in common, how far they differ."""

from libc.math cimport fabs
from libc.stdint cimport int64_t

from scumble._core.interrupt cimport check_stop
from scumble.learn.c45.rows cimport RowsView, view_rows

cdef extern from "scumble/learn/lines.h" nogil:
    void add_four_differences(double*, Py_ssize_t, const double*, const double*, Py_ssize_t)
    void add_differences_of(double*, Py_ssize_t, double, const double*)

# So many points are compared at a time: their sums stay in the nearest cache.
cdef Py_ssize_t POINTS = 512


def quadratic_forms(rows, const double[:, ::1] matrix, double[::1] out):
    """Write x' M x to ``out`` for sparse rows x, a record `Rows`, and a symmetric M."""
    cdef RowsView x = view_rows(rows)
    cdef Py_ssize_t row, one, other, begin
    cdef double total, inner
    cdef const double* line
    with nogil:
        for row in range(out.shape[0]):
            if row % 1024 == 0:
                check_stop()
            begin = x.indptr[row]
            total = 0
            for one in range(begin, x.indptr[row + 1]):
                line = &matrix[x.indices[one], 0]
                inner = 0
                for other in range(begin, one):
                    inner += x.data[other] * line[x.indices[other]]
                total += x.data[one] * (2 * inner + x.data[one] * line[x.indices[one]])
            out[row] = total


def add_overlaps(rows, columns, double[:, ::1] out):
    """Add to ``out`` what sparse rows have in common with points: two records `Rows`.

    Points come column by column: a row of ``columns`` has a column of theirs. In each column that
    is the smaller of two numbers of the same sign, without the sign.
    """
    cdef RowsView x = view_rows(rows)
    cdef RowsView points = view_rows(columns)
    cdef Py_ssize_t row, one, other
    cdef const int64_t* ends
    cdef double value, size
    with nogil:
        for row in range(out.shape[0]):
            check_stop()
            for one in range(x.indptr[row], x.indptr[row + 1]):
                value = x.data[one]
                size = fabs(value)
                ends = points.indptr + x.indices[one]
                for other in range(ends[0], ends[1]):
                    if value * points.data[other] > 0:
                        out[row, points.indices[other]] += min(size, fabs(points.data[other]))


def add_manhattan_distances(
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
