"""Numbers as text, to the last bit.

`parse_number` reads a number out of a byte array. Most are exact after one multiplication or
division, because both operands fit a double; the few others are only checked, and their text is
handed to `exact_floats`, which reads all of them at once.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

import numpy as np

# So many long numbers are read one by one before Arrow, which takes half a second to load, pays.
cdef Py_ssize_t FEW = 1000


def parse_float(const uint8_t[::1] text):
    """Read a text without blanks around it, as Python's float() does; give (what it is, value)."""
    cdef Number found
    cdef Py_ssize_t size = text.shape[0]
    found.kind = NO_NUMBER
    found.value = 0.0
    if size:
        found = parse_number(&text[0], 0, size, c".")
    if found.kind == LONG:
        found.value = float((<const char*> &text[0])[:size])
    return found.kind, found.value


def slices_to_arrow(const uint8_t[::1] text, starts, ends, kind=None):
    """Copy slices_to_arrow of a byte array into an Arrow array of ``kind``, by default of strings."""
    import pyarrow as pa

    offsets = np.concatenate([[0], np.cumsum(ends - starts)])
    data = np.empty(offsets[len(starts)], np.uint8)
    cdef const int64_t[::1] first = np.ascontiguousarray(starts)
    cdef const int64_t[::1] low = offsets
    cdef uint8_t[::1] to = data
    cdef Py_ssize_t piece
    cdef int64_t size
    for piece in range(first.shape[0]):
        size = low[piece + 1] - low[piece]
        if (
            size < 0
            or low[piece + 1] > to.shape[0]  # a later piece may be less than nothing
            or not 0 <= first[piece] <= text.shape[0] - size
        ):
            raise IndexError("The slices_to_arrow do not lie within the text.")
        if size > 0:
            memcpy(&to[low[piece]], &text[first[piece]], size)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    kind = pa.large_string() if kind is None else kind
    return pa.Array.from_buffers(kind, len(starts), buffers)


def exact_floats(const uint8_t[::1] text, starts, ends):
    """Read the numbers `parse_number` found too long."""
    cdef const int64_t[::1] low = np.ascontiguousarray(starts)
    cdef const int64_t[::1] high = np.ascontiguousarray(ends)
    cdef const char* first
    cdef Py_ssize_t at
    if len(starts) > FEW or not text.shape[0]:
        return slices_to_arrow(text, starts, ends).cast("double").to_numpy()
    first = <const char*> &text[0]
    values = np.empty(len(starts))
    cdef double[::1] out = values
    for at in range(low.shape[0]):
        if not 0 <= low[at] <= high[at] <= text.shape[0]:
            raise IndexError(f"There are no bytes {low[at]}:{high[at]} in {text.shape[0]}.")
        out[at] = float(first[low[at]:high[at]])
    return values
