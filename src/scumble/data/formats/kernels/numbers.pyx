"""Exact conversion of text to numbers.

`parse_number` parses a number in a byte array. Most are exact after one multiplication or division,
because both operands fit a double; the few others are only checked, and their text is left to
`exact_floats`, which parses all of them at once.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

import numpy as np

# Up to so many long numbers are parsed one by one: importing Arrow takes half a second.

cdef Py_ssize_t MAX_WITHOUT_ARROW = 1000


def parse_float(const uint8_t[::1] text):
    """Parse a text without blanks around it as float() does; return its status and its value.

    The status is a member of the enumeration in ``numbers.pxd``.
    """
    cdef Number number
    cdef Py_ssize_t size = text.shape[0]
    number.status = NO_NUMBER
    number.value = 0.0
    if size:
        number = parse_number(&text[0], 0, size, c".")
    if number.status == LONG:
        number.value = float((<const char*> &text[0])[:size])
    return number.status, number.value


def slices_to_arrow(const uint8_t[::1] text, starts, ends, arrow_type=None):
    """Copy slices ``text[starts[i]:ends[i]]`` into an Arrow array, by default one of strings."""
    import pyarrow as pa

    offsets = np.concatenate([[0], np.cumsum(ends - starts)])
    data = np.empty(offsets[len(starts)], np.uint8)
    cdef const int64_t[::1] sources = np.ascontiguousarray(starts)
    cdef const int64_t[::1] targets = offsets
    cdef uint8_t[::1] out = data
    cdef Py_ssize_t index
    cdef int64_t size
    for index in range(sources.shape[0]):
        size = targets[index + 1] - targets[index]
        if (
            size < 0
            or targets[index + 1] > out.shape[0]  # a later slice may have a negative size
            or not 0 <= sources[index] <= text.shape[0] - size
        ):
            raise IndexError("The slices do not lie within the text.")
        if size > 0:
            memcpy(&out[targets[index]], &text[sources[index]], size)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    if arrow_type is None:
        arrow_type = pa.large_string()
    return pa.Array.from_buffers(arrow_type, len(starts), buffers)


def exact_floats(const uint8_t[::1] text, starts, ends):
    """Return the values of the numbers ``text[starts[i]:ends[i]]``, correctly rounded.

    These are the numbers that `parse_number` leaves out, because they have too many digits.
    """
    cdef const int64_t[::1] low = np.ascontiguousarray(starts)
    cdef const int64_t[::1] high = np.ascontiguousarray(ends)
    cdef const char* characters
    cdef Py_ssize_t index
    if len(starts) > MAX_WITHOUT_ARROW or not text.shape[0]:
        return slices_to_arrow(text, starts, ends).cast("double").to_numpy()
    characters = <const char*> &text[0]
    values = np.empty(len(starts))
    cdef double[::1] out = values
    for index in range(low.shape[0]):
        if not 0 <= low[index] <= high[index] <= text.shape[0]:
            raise IndexError(
                f"There are no bytes {low[index]}:{high[index]} in {text.shape[0]}."
            )
        out[index] = float(characters[low[index]:high[index]])
    return values
