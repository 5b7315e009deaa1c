"""Numbers as text, to the last bit.

`parse_float` reads a number out of a byte array. Most are exact after one multiplication or
division, because both operands fit a double; the few others are only checked, and their text is
handed to `exact_floats`, which reads all of them at once.
"""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel

# What parse_float says about a text.
INTEGER = 0  # exact, written without point and exponent
DECIMAL = 1  # exact
LONG = 2  # a number, to be read by exact_floats
NO_NUMBER = 3

#: The powers of ten a double holds exactly.
POWERS = 10.0 ** np.arange(23)
EXACT = np.uint64(1 << 53)
MOST_DIGITS = 19  # always fit 64 bits
FAR = 100_000  # an exponent no double reaches; stops counting before it overflows

ZERO, NINE, TEN = np.uint8(48), np.uint8(57), np.uint64(10)
PLUS, MINUS, POINT = np.uint8(43), np.uint8(45), np.uint8(46)
LOWER = np.uint8(32)  # the bit that makes an ASCII letter lower case
INF = np.frombuffer(b"infinity", np.uint8)
NAN = np.frombuffer(b"nan", np.uint8)


@kernel
def parse_float(text, start, end):
    """Read ``text[start:end]``, which has no blanks around it; give (what it is, its value)."""
    at = start
    negative = False
    if at < end and (text[at] == MINUS or text[at] == PLUS):
        negative = text[at] == MINUS
        at += 1
    mantissa = np.uint64(0)
    n_significant = 0
    n_digits = 0
    power = 0
    kind = INTEGER
    while at < end and ZERO <= text[at] <= NINE:
        if n_significant < MOST_DIGITS:
            mantissa = mantissa * TEN + np.uint64(text[at] - ZERO)
        if n_significant > 0 or text[at] != ZERO:
            n_significant += 1
        n_digits += 1
        at += 1
    if at < end and text[at] == POINT:
        kind = DECIMAL
        at += 1
        while at < end and ZERO <= text[at] <= NINE:
            if n_significant < MOST_DIGITS:
                mantissa = mantissa * TEN + np.uint64(text[at] - ZERO)
            if n_significant > 0 or text[at] != ZERO:
                n_significant += 1
            n_digits += 1
            power -= 1
            at += 1
    if n_digits == 0:
        return _parse_word(text, at, end, negative, kind)
    if at < end and text[at] | LOWER == 101:  # e
        kind = DECIMAL
        at, more = _parse_exponent(text, at + 1, end)
        if at < 0:
            return NO_NUMBER, 0.0
        power += more
    if at < end:
        return NO_NUMBER, 0.0
    if mantissa == 0:
        return kind, -0.0 if negative else 0.0
    if n_significant > MOST_DIGITS or mantissa > EXACT or power > 22 or power < -22:
        return LONG, 0.0
    value = np.float64(mantissa)
    value = value * POWERS[power] if power >= 0 else value / POWERS[-power]
    return kind, -value if negative else value


@kernel
def _parse_exponent(text, at, end):
    """Read a signed whole number up to ``end``; give (its end or -1, its value)."""
    negative = False
    if at < end and (text[at] == MINUS or text[at] == PLUS):
        negative = text[at] == MINUS
        at += 1
    if at == end:
        return -1, 0
    value = 0
    while at < end and ZERO <= text[at] <= NINE:
        value = min(value * 10 + np.int64(text[at] - ZERO), FAR)
        at += 1
    return (at if at == end else -1), -value if negative else value


@kernel
def _parse_word(text, at, end, negative, kind):
    """Read inf, infinity or nan; a point before it (kind DECIMAL) spoils it."""
    if kind == INTEGER and _is_word(text, at, end, NAN, 3):
        return DECIMAL, np.nan
    if kind == INTEGER and (_is_word(text, at, end, INF, 3) or _is_word(text, at, end, INF, 8)):
        return DECIMAL, -np.inf if negative else np.inf
    return NO_NUMBER, 0.0


@kernel
def _is_word(text, at, end, word, length):
    if end - at != length:
        return False
    for i in range(length):
        if text[at + i] | LOWER != word[i]:
            return False
    return True


@kernel
def gather(text, starts, ends, data):
    """Copy the pieces of ``text`` behind each other."""
    to = 0
    for piece in range(len(starts)):
        for at in range(starts[piece], ends[piece]):
            data[to] = text[at]
            to += 1


def pieces(text, starts, ends, kind=None):
    """Copy pieces of a byte array into an Arrow array of ``kind``, by default of strings."""
    import pyarrow as pa

    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(ends - starts, out=offsets[1:])
    data = np.empty(offsets[-1], np.uint8)
    gather(text, starts, ends, data)
    kind = pa.large_string() if kind is None else kind
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(starts), buffers)


def exact_floats(text, starts, ends):
    """Read the numbers `parse_float` found too long."""
    return pieces(text, starts, ends).cast("double").to_numpy()
