"""Rows as they came, as kernels read them: a dense table or CSR, then extra 0/1 columns as CSR."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from scumble.learn.c45.memory cimport lower_bound, data_pointer


cdef struct RowsView:
    bint is_dense
    bint has_extra
    Py_ssize_t n_features
    const double* dense  # n_features numbers a row; NULL where the rows are CSR
    const int64_t* indptr
    const int32_t* indices  # in order within each row
    const double* data
    const int64_t* extra_indptr
    const int32_t* extra_indices  # extra column c is column n_features + c


cdef inline RowsView view_rows(rows) except *:
    """Point at the arrays of a ``Rows`` record, which must outlive the view."""
    cdef RowsView seen
    cdef const double[:, ::1] dense = rows.dense  # a copy that is made here would be gone at once
    seen.is_dense = rows.is_dense
    seen.has_extra = len(rows.extra_indptr) > 1
    seen.n_features = rows.n_features
    seen.dense = &dense[0, 0] if dense.shape[0] and dense.shape[1] else NULL
    seen.indptr = data_pointer[int64_t](rows.indptr)
    seen.indices = data_pointer[int32_t](rows.indices)
    seen.data = data_pointer[double](rows.data)
    seen.extra_indptr = data_pointer[int64_t](rows.extra_indptr)
    seen.extra_indices = data_pointer[int32_t](rows.extra_indices)
    return seen


cdef inline double value_at(
    const RowsView* rows, Py_ssize_t row, Py_ssize_t column
) noexcept nogil:
    """Look up one cell."""
    cdef int64_t at, high
    cdef int32_t wanted
    if column >= rows.n_features:
        wanted = <int32_t> (column - rows.n_features)
        high = rows.extra_indptr[row + 1]
        at = lower_bound(rows.extra_indices, rows.extra_indptr[row], high, wanted)
        return 1.0 if at < high and rows.extra_indices[at] == wanted else 0.0
    if rows.is_dense:
        return rows.dense[row * rows.n_features + column]
    high = rows.indptr[row + 1]
    at = lower_bound(rows.indices, rows.indptr[row], high, <int32_t> column)
    return rows.data[at] if at < high and rows.indices[at] == column else 0.0


cdef inline void scatter_stored_cells(
    const RowsView* rows, Py_ssize_t row, double* buffer, bint on
) noexcept nogil:
    """Write the stored cells of a row (or zeros again) into a buffer: CSR and extra columns."""
    cdef int64_t at
    cdef double* extra
    if not rows.is_dense:
        for at in range(rows.indptr[row], rows.indptr[row + 1]):
            buffer[rows.indices[at]] = rows.data[at] if on else 0.0
    if rows.has_extra:
        extra = buffer + rows.n_features
        for at in range(rows.extra_indptr[row], rows.extra_indptr[row + 1]):
            extra[rows.extra_indices[at]] = 1.0 if on else 0.0


cdef inline void load_row(const RowsView* rows, Py_ssize_t row, double* buffer) noexcept nogil:
    """Write all cells of a row into a buffer that holds zeros where none is stored."""
    if rows.is_dense:
        memcpy(buffer, rows.dense + row * rows.n_features, rows.n_features * sizeof(double))
    scatter_stored_cells(rows, row, buffer, True)
