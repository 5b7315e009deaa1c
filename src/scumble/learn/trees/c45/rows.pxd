"""Rows in their original order, for kernels: a dense table or CSR, and extra 0/1 columns as CSR."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from scumble.learn.trees.c45.memory cimport lower_bound, data_pointer


cdef struct RowsView:  # Pointers to the arrays of a `RowArrays` record.
    bint is_dense
    bint has_extra
    Py_ssize_t n_features
    const double* dense  # n_features numbers per row; NULL where the rows are CSR
    const int64_t* indptr
    const int32_t* indices  # ascending within each row
    const double* data
    const int64_t* extra_indptr
    const int32_t* extra_indices  # extra column c is column n_features + c


cdef inline RowsView view_rows(rows) except *:
    """Return pointers to the arrays of a `RowArrays` record, which must outlive them."""
    cdef RowsView view
    cdef const double[:, ::1] dense = rows.dense  # no copy, which would be freed at once
    view.is_dense = rows.is_dense
    view.has_extra = len(rows.extra_indptr) > 1
    view.n_features = rows.n_features
    view.dense = &dense[0, 0] if dense.shape[0] and dense.shape[1] else NULL
    view.indptr = data_pointer[int64_t](rows.indptr)
    view.indices = data_pointer[int32_t](rows.indices)
    view.data = data_pointer[double](rows.data)
    view.extra_indptr = data_pointer[int64_t](rows.extra_indptr)
    view.extra_indices = data_pointer[int32_t](rows.extra_indices)
    return view


cdef inline double cell_value(
    const RowsView* rows, Py_ssize_t row, Py_ssize_t column
) noexcept nogil:
    """Return the value of one cell."""
    cdef int64_t position, stop
    cdef int32_t extra_column
    if column >= rows.n_features:
        extra_column = <int32_t> (column - rows.n_features)
        stop = rows.extra_indptr[row + 1]
        position = lower_bound(rows.extra_indices, rows.extra_indptr[row], stop, extra_column)
        return 1.0 if position < stop and rows.extra_indices[position] == extra_column else 0.0
    if rows.is_dense:
        return rows.dense[row * rows.n_features + column]
    stop = rows.indptr[row + 1]
    position = lower_bound(rows.indices, rows.indptr[row], stop, <int32_t> column)
    return rows.data[position] if position < stop and rows.indices[position] == column else 0.0


cdef inline void write_stored_cells(
    const RowsView* rows, Py_ssize_t row, double* buffer
) noexcept nogil:
    """Write the stored cells of a row, those of CSR and of extra columns, into a buffer."""
    cdef int64_t position
    cdef double* extra
    if not rows.is_dense:
        for position in range(rows.indptr[row], rows.indptr[row + 1]):
            buffer[rows.indices[position]] = rows.data[position]
    if rows.has_extra:
        extra = buffer + rows.n_features
        for position in range(rows.extra_indptr[row], rows.extra_indptr[row + 1]):
            extra[rows.extra_indices[position]] = 1.0


cdef inline void clear_stored_cells(
    const RowsView* rows, Py_ssize_t row, double* buffer
) noexcept nogil:
    """Write zeros where `write_stored_cells` has written the cells of a row."""
    cdef int64_t position
    cdef double* extra
    if not rows.is_dense:
        for position in range(rows.indptr[row], rows.indptr[row + 1]):
            buffer[rows.indices[position]] = 0.0
    if rows.has_extra:
        extra = buffer + rows.n_features
        for position in range(rows.extra_indptr[row], rows.extra_indptr[row + 1]):
            extra[rows.extra_indices[position]] = 0.0


cdef inline void load_row(const RowsView* rows, Py_ssize_t row, double* buffer) noexcept nogil:
    """Write all cells of a row into a buffer that holds zeros where no cell is stored."""
    if rows.is_dense:
        memcpy(buffer, rows.dense + row * rows.n_features, rows.n_features * sizeof(double))
    write_stored_cells(rows, row, buffer)
