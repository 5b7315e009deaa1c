"""Sorting a list that was put together from a few sorted ones."""

from libc.stdint cimport int64_t
from libc.string cimport memcpy


cdef inline int64_t* merge_runs(int64_t* values, int64_t* spare, Py_ssize_t n) noexcept nogil:
    """Sort by merging neighbouring ascending runs; the result is in one of the two places."""
    cdef Py_ssize_t first, second, end, n_runs
    while True:
        n_runs = 0
        first = 0
        while first < n:
            second = _end_of_run(values, first, n)
            if second == n and first == 0:
                return values
            end = _end_of_run(values, second, n)
            _merge(values, first, second, end, spare)
            first = end
            n_runs += 1
        values, spare = spare, values
        if n_runs <= 1:
            return values


cdef inline Py_ssize_t _end_of_run(
    const int64_t* values, Py_ssize_t at, Py_ssize_t n
) noexcept nogil:
    if at >= n:
        return n
    at += 1
    while at < n and values[at - 1] <= values[at]:
        at += 1
    return at


cdef inline void _merge(
    const int64_t* values, Py_ssize_t first, Py_ssize_t second, Py_ssize_t end, int64_t* out
) noexcept nogil:
    """Merge values first..second and second..end to the same places of ``out``."""
    cdef Py_ssize_t a = first
    cdef Py_ssize_t b = second
    cdef Py_ssize_t at = first
    while a < second and b < end:
        if values[b] < values[a]:
            out[at] = values[b]
            b += 1
        else:
            out[at] = values[a]
            a += 1
        at += 1
    memcpy(out + at, values + a, (second - a) * sizeof(int64_t))
    memcpy(out + at + second - a, values + b, (end - b) * sizeof(int64_t))
