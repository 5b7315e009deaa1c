"""Loops that count the values of nominal columns."""

from libc.stdint cimport int64_t

from scumble._core.types cimport index_t


def count_dense(
    const double[:, ::1] values, const int64_t[::1] n_values, const int64_t[::1] starts,
    const int64_t[::1] rows, int64_t[::1] counts,
):
    """Count each value of each nominal column over some rows; missing ones count for none."""
    cdef Py_ssize_t n_columns = values.shape[1]
    cdef Py_ssize_t at, column
    cdef const double* cells
    with nogil:
        for at in range(rows.shape[0]):
            cells = &values[rows[at], 0]
            for column in range(n_columns):
                if n_values[column] > 0 and cells[column] == cells[column]:
                    counts[starts[column] + <Py_ssize_t>cells[column]] += 1


def count_sparse(
    const index_t[::1] indptr, const index_t[::1] indices, const double[::1] data,
    const int64_t[::1] n_values, const int64_t[::1] starts, const int64_t[::1] rows,
    int64_t[::1] counts,
):
    """Count each value of each nominal column over some rows; what is absent counts as 0."""
    cdef Py_ssize_t at, row, place, column
    with nogil:
        for column in range(n_values.shape[0]):
            if n_values[column] > 0:
                counts[starts[column]] = rows.shape[0]
        for at in range(rows.shape[0]):
            row = rows[at]
            for place in range(indptr[row], indptr[row + 1]):
                column = indices[place]
                if n_values[column] > 0:
                    counts[starts[column]] -= 1
                    if data[place] == data[place]:
                        counts[starts[column] + <Py_ssize_t>data[place]] += 1
