"""Arrays of kernels that grow: a full one moves to a larger place."""

cdef int reserve(
    void** array, Py_ssize_t* capacity, Py_ssize_t wanted, Py_ssize_t width
) except -1 nogil
