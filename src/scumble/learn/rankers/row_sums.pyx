"""Sums over the cells of rows: quadratic forms, overlaps and Manhattan distances."""

from libc.math cimport fabs
from libc.stdint cimport int64_t

from scumble._core.interrupt cimport check_stop
from scumble.learn.trees.c45.rows cimport RowsView, view_rows

cdef extern from "scumble/learn/vector_sums.h" nogil:
    void add_four_differences(double*, Py_ssize_t, const double*, const double*, Py_ssize_t)
    void add_differences(double*, Py_ssize_t, double, const double*)

# Points that a row is compared with at a time: their sums (4 kB) stay in the first-level cache.
cdef Py_ssize_t POINTS_PER_BLOCK = 512


def quadratic_forms(rows, const double[:, ::1] matrix, double[::1] out):
    """Write x' M x to ``out`` for each sparse row x, where M is a symmetric matrix.

    ``rows`` is a `RowArrays`, ``out`` has an element for each row.
    """
    cdef RowsView x = view_rows(rows)
    cdef Py_ssize_t row, cell, earlier, start
    cdef double total, inner
    cdef const double* matrix_row
    with nogil:
        for row in range(out.shape[0]):
            if row % 1024 == 0:
                check_stop()
            start = x.indptr[row]
            total = 0
            for cell in range(start, x.indptr[row + 1]):
                matrix_row = &matrix[x.indices[cell], 0]
                inner = 0
                for earlier in range(start, cell):  # M is symmetric: each pair counts twice
                    inner += x.data[earlier] * matrix_row[x.indices[earlier]]
                total += x.data[cell] * (2 * inner + x.data[cell] * matrix_row[x.indices[cell]])
            out[row] = total


def add_overlaps(rows, columns, double[:, ::1] out):
    """Add the overlaps of sparse rows and sparse points to ``out``, of shape (n_rows, n_points).

    The overlap of a row and a point is the sum over columns of the smaller absolute value where
    both have the same sign. ``rows`` and ``columns`` are `RowArrays`; a row of ``columns`` holds
    one column of all points.
    """
    cdef RowsView x = view_rows(rows)
    cdef RowsView points = view_rows(columns)
    cdef Py_ssize_t row, cell, point_cell
    cdef const int64_t* limits
    cdef double value, size
    with nogil:
        for row in range(out.shape[0]):
            check_stop()
            for cell in range(x.indptr[row], x.indptr[row + 1]):
                value = x.data[cell]
                size = fabs(value)
                limits = points.indptr + x.indices[cell]
                for point_cell in range(limits[0], limits[1]):
                    if value * points.data[point_cell] > 0:
                        out[row, points.indices[point_cell]] += min(
                            size, fabs(points.data[point_cell])
                        )


def add_manhattan_distances(
    const double[:, ::1] rows, const double[:, ::1] columns, double[:, ::1] out
):
    """Add the sum of absolute differences of each row and point to ``out``, (n_rows, n_points).

    A row of ``columns`` holds one column of all points, so that a cell of a row is compared with
    neighbouring numbers in memory.
    """
    cdef Py_ssize_t row, column, block, first_point, n_in_block
    cdef Py_ssize_t n_points = columns.shape[1]
    cdef Py_ssize_t n_fours = columns.shape[0] // 4 * 4
    cdef double* sums
    with nogil:
        for row in range(out.shape[0]):
            check_stop()
            for block in range((n_points + POINTS_PER_BLOCK - 1) // POINTS_PER_BLOCK):
                first_point = block * POINTS_PER_BLOCK
                n_in_block = min(POINTS_PER_BLOCK, n_points - first_point)
                sums = &out[row, first_point]
                for column in range(0, n_fours, 4):
                    add_four_differences(
                        sums, n_in_block, &rows[row, column], &columns[column, first_point],
                        n_points,
                    )
                for column in range(n_fours, columns.shape[0]):
                    add_differences(
                        sums, n_in_block, rows[row, column], &columns[column, first_point]
                    )
