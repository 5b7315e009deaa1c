"""Rows as they came, as kernels read them: a dense table or CSR, then extra 0/1 columns as CSR."""

from libc.stdint cimport int32_t, int64_t


cdef RowsView view_rows(rows) except *:
    """Point at the arrays of a ``Rows`` record, which must outlive the view."""
    cdef const double[:, ::1] dense = rows.dense
    cdef const int64_t[::1] indptr = rows.indptr
    cdef const int32_t[::1] indices = rows.indices
    cdef const double[::1] data = rows.data
    cdef const int64_t[::1] extra_indptr = rows.extra_indptr
    cdef const int32_t[::1] extra_indices = rows.extra_indices
    cdef RowsView view
    view.is_dense = rows.is_dense
    view.has_extra = extra_indptr.shape[0] > 1
    view.n_features = rows.n_features
    view.dense = &dense[0, 0] if dense.shape[0] and dense.shape[1] else NULL
    view.indptr = &indptr[0] if indptr.shape[0] else NULL
    view.indices = &indices[0] if indices.shape[0] else NULL
    view.data = &data[0] if data.shape[0] else NULL
    view.extra_indptr = &extra_indptr[0] if extra_indptr.shape[0] else NULL
    view.extra_indices = &extra_indices[0] if extra_indices.shape[0] else NULL
    return view
