"""Arrays of kernels that grow: each knows its own size, and a full one moves to a larger place."""

cdef int reserve(void** array, Py_ssize_t wanted, Py_ssize_t width) except -1 nogil
cdef void release(void* array) noexcept nogil
