"""Arrays of kernels that grow: each knows its own size, and a full one moves to a larger place."""

from libc.stdlib cimport free, realloc

cdef enum:
    HEAD = 16  # bytes before an array, which keep its alignment: the number of its elements


cdef int reserve(void** array, Py_ssize_t wanted, Py_ssize_t width) except -1 nogil:
    """Make room for ``wanted`` elements of ``width`` bytes; what is there is kept."""
    cdef char* start = NULL if array[0] == NULL else <char*> array[0] - HEAD
    cdef Py_ssize_t size = 0 if start == NULL else (<Py_ssize_t*> start)[0]
    if start != NULL and wanted <= size:
        return 0
    size = max(wanted, 2 * size, 1)
    start = <char*> realloc(start, HEAD + size * width)
    if start == NULL:
        with gil:
            raise MemoryError(f"C4.5: no memory for {size * width} bytes more.")
    (<Py_ssize_t*> start)[0] = size
    array[0] = start + HEAD
    return 0


cdef void release(void* array) noexcept nogil:
    """Give the memory of an array back."""
    if array != NULL:
        free(<char*> array - HEAD)
