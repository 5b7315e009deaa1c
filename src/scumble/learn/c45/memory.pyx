"""Arrays of kernels that grow: a full one moves to a larger place."""

from libc.stdlib cimport realloc


cdef int reserve(
    void** array, Py_ssize_t* capacity, Py_ssize_t wanted, Py_ssize_t width
) except -1 nogil:
    """Make room for ``wanted`` elements of ``width`` bytes; what is there is kept."""
    cdef Py_ssize_t larger
    cdef void* moved
    if wanted <= capacity[0] and array[0] != NULL:
        return 0
    larger = max(wanted, 2 * capacity[0], 1)
    moved = realloc(array[0], larger * width)
    if moved == NULL:
        with gil:
            raise MemoryError(f"C4.5: no memory for {larger * width} bytes more.")
    array[0] = moved
    capacity[0] = larger
    return 0
