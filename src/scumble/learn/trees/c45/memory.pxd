"""Memory of kernels: pointers to NumPy arrays, search in sorted arrays, and arrays that grow.

An array that grows stores its own size before its first element. If it is full, it is moved to a
larger block of memory.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

cdef enum:
    HEADER_BYTES = 16  # before an array: the number of its elements; 16 bytes keep it aligned
    MAX_ARRAYS = 64

ctypedef fused number:
    int32_t
    int64_t
    uint32_t
    uint64_t
    double


cdef inline number* data_pointer(const number[::1] array) except? NULL:
    """Return a pointer to an array, which must outlive the pointer; NULL if it is empty."""
    return <number*> &array[0] if array.shape[0] else NULL


cdef inline int64_t lower_bound(
    const number* ascending, int64_t low, int64_t high, number value
) noexcept nogil:
    """Return the first position in low..high whose number is not below ``value``, or ``high``."""
    cdef int64_t middle
    while low < high:
        middle = (low + high) >> 1
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


cdef struct Memory:  # The arrays that are freed together, by the addresses of their pointers.
    Py_ssize_t n
    void** pointers[MAX_ARRAYS]


cdef inline int reserve(
    Memory* memory, void** array, Py_ssize_t n, Py_ssize_t width
) except -1 nogil:
    """Make room in an array for ``n`` elements of ``width`` bytes; keep the present elements.

    The array may be moved; it is freed by `release`.
    """
    cdef char* start = NULL if array[0] == NULL else <char*> array[0] - HEADER_BYTES
    cdef Py_ssize_t size = 0 if start == NULL else (<Py_ssize_t*> start)[0]
    if start != NULL and n <= size:
        return 0
    if start == NULL:
        if memory.n == MAX_ARRAYS:
            with gil:
                raise AssertionError(f"C4.5: more than {MAX_ARRAYS} arrays.")
        memory.pointers[memory.n] = array
        memory.n += 1
    size = max(n, 2 * size, 1)
    start = <char*> realloc(start, HEADER_BYTES + size * width)
    if start == NULL:
        with gil:
            raise MemoryError(f"C4.5: no memory for {size * width} bytes more.")
    (<Py_ssize_t*> start)[0] = size
    array[0] = start + HEADER_BYTES
    return 0


cdef inline int reserve_zeros(
    Memory* memory, void** array, Py_ssize_t n, Py_ssize_t width
) except -1 nogil:
    """Make room in an array for ``n`` elements of ``width`` bytes, and set them to zero."""
    reserve(memory, array, n, width)
    memset(array[0], 0, n * width)
    return 0


cdef inline void release(Memory* memory) noexcept nogil:
    """Free the memory of all arrays."""
    cdef Py_ssize_t k
    for k in range(memory.n):
        if memory.pointers[k][0] != NULL:
            free(<char*> memory.pointers[k][0] - HEADER_BYTES)
