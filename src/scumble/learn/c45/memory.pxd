"""Arrays of kernels: those of Python, sorted ones, and those that grow.

The last know their own size, and a full one moves to a larger place.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

cdef enum:
    HEAD = 16  # bytes before an array, which keep its alignment: the number of its elements
    MOST_ARRAYS = 64

ctypedef fused number:
    int32_t
    int64_t
    uint32_t
    uint64_t
    double


cdef inline number* data_pointer(const number[::1] array) except? NULL:
    """Point at an array, which must outlive the pointer; NULL where it is empty."""
    return <number*> &array[0] if array.shape[0] else NULL


cdef inline int64_t lower_bound(
    const number* ascending, int64_t low, int64_t high, number wanted
) noexcept nogil:
    """Find the first place in low..high whose number is not below ``wanted``."""
    cdef int64_t half
    while low < high:
        half = (low + high) >> 1
        if ascending[half] < wanted:
            low = half + 1
        else:
            high = half
    return low


cdef struct Memory:  # Where the arrays are that are freed together; they stay at these places.
    Py_ssize_t n
    void** places[MOST_ARRAYS]


cdef inline int reserve(
    Memory* memory, void** array, Py_ssize_t wanted, Py_ssize_t width
) except -1 nogil:
    """Make room for ``wanted`` elements of ``width`` bytes; what is there is kept."""
    cdef char* start = NULL if array[0] == NULL else <char*> array[0] - HEAD
    cdef Py_ssize_t size = 0 if start == NULL else (<Py_ssize_t*> start)[0]
    if start != NULL and wanted <= size:
        return 0
    if start == NULL:
        if memory.n == MOST_ARRAYS:
            with gil:
                raise AssertionError(f"C4.5: more than {MOST_ARRAYS} arrays.")
        memory.places[memory.n] = array
        memory.n += 1
    size = max(wanted, 2 * size, 1)
    start = <char*> realloc(start, HEAD + size * width)
    if start == NULL:
        with gil:
            raise MemoryError(f"C4.5: no memory for {size * width} bytes more.")
    (<Py_ssize_t*> start)[0] = size
    array[0] = start + HEAD
    return 0


cdef inline int reserve_zeros(
    Memory* memory, void** array, Py_ssize_t n, Py_ssize_t width
) except -1 nogil:
    """Make room for ``n`` elements, and set them to zero."""
    reserve(memory, array, n, width)
    memset(array[0], 0, n * width)
    return 0


cdef inline void release(Memory* memory) noexcept nogil:
    """Give the memory of all arrays back."""
    cdef Py_ssize_t k
    for k in range(memory.n):
        if memory.places[k][0] != NULL:
            free(<char*> memory.places[k][0] - HEAD)
