"""A prepared table as kernels see it."""


cdef class TableView:
    """Pointers to the arrays of a prepared table, which it keeps alive.

    ``columns`` and ``items`` are the records of `scumble.learn.c45.table`.
    """

    def __init__(self, columns, items, Py_ssize_t n_rows, bint missing):
        self._kept = (columns, items)
        self.n_rows = n_rows
        self.missing = missing
        self.n_values_in_all = len(columns.values)
        self.columns = view_columns(columns)
        self.items = _see_items(items)


cdef Columns view_columns(columns) except *:
    cdef uint64_t[::1] entries = columns.entries
    cdef double[::1] values = columns.values
    cdef Columns seen
    seen.n = len(columns.begins)
    seen.entries = &entries[0]
    seen.values = &values[0]
    seen.begins = _longs(columns.begins)
    seen.ends = _longs(columns.ends)
    seen.defaults = _longs(columns.defaults)
    seen.n_values = _longs(columns.n_values)
    seen.n_codes = _longs(columns.n_codes)
    return seen


cdef int64_t* _longs(array) except? NULL:
    cdef int64_t[::1] numbers = array
    return &numbers[0] if numbers.shape[0] else NULL


cdef Items _see_items(items) except *:
    cdef const uint32_t[::1] indices = items.indices
    cdef const int32_t[::1] codes = items.codes
    cdef Items seen
    seen.n = codes.shape[0]
    seen.indptr = _longs(items.indptr)
    seen.first = _longs(items.first)
    seen.starts = _longs(items.starts)
    seen.stops = _longs(items.stops)
    seen.indices = &indices[0] if indices.shape[0] else NULL
    seen.codes = &codes[0] if codes.shape[0] else NULL
    return seen
