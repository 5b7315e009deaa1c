"""Compiled writer for the data section of ARFF files.

Numbers of up to 15 digits, which is most of what data files hold, are written here as Python's
``repr`` writes them, but for the ``.0`` of whole ones. All other values are copied from texts
that Python has prepared.
"""

import numpy as np

from scumble._core.jit import kernel

_COMMA, _SPACE, _NEWLINE, _OPEN, _CLOSE = (np.uint8(ord(c)) for c in ", \n{}")
_ZERO, _MINUS, _POINT = (np.uint8(ord(c)) for c in "0-.")
_MOST_DECIMALS = 18
_POWERS = 10.0 ** np.arange(_MOST_DECIMALS + 1)
_LIMIT = 1e15
#: No number with its column's number and a separator takes more bytes.
LONGEST = 40


@kernel
def count_decimals(values, decimals):
    """Tell how many decimals each number has, or -1 if it is not written here.

    A decimal of at most 15 digits is the only one of its length near its double, so the first
    one that gives the number back is the shortest.
    """
    for place in range(len(values)):
        size = abs(values[place])
        decimals[place] = 0 if size == 0.0 else -1
        if not (size >= 1e-4 and size < _LIMIT):
            continue
        for n_decimals in range(_MOST_DECIMALS + 1):
            scaled = np.rint(size * _POWERS[n_decimals])
            if scaled >= _LIMIT:
                break
            if scaled / _POWERS[n_decimals] == size:
                decimals[place] = n_decimals
                break


@kernel
def _write_digits(number, n_digits, out, at):
    """Write a whole number with at least so many digits; give the place after it."""
    rest = number // 10
    wanted = 1
    while rest > 0:
        rest //= 10
        wanted += 1
    after = at + max(wanted, n_digits)
    for place in range(after - 1, at - 1, -1):
        out[place] = _ZERO + np.uint8(number % 10)
        number //= 10
    return after


@kernel
def _copy(texts, text_at, text, out, at):
    for place in range(text_at[text], text_at[text + 1]):
        out[at] = texts[place]
        at += 1
    return at


@kernel
def write_rows(
    values,
    decimals,
    declared,
    prepared,
    columns,
    row_end,
    endings,
    is_sparse,
    declared_texts,
    declared_at,
    prepared_texts,
    prepared_at,
    out,
):
    """Write rows; give the number of bytes.

    A value is the text ``declared`` or ``prepared`` names unless that is -1, otherwise a number.
    ``endings`` are texts that follow a row.
    """
    at = 0
    place = 0
    for row in range(len(row_end)):
        if is_sparse:
            out[at] = _OPEN
            at += 1
        first = place
        while place < row_end[row]:
            if place > first:
                out[at] = _COMMA
                at += 1
            if is_sparse:
                at = _write_digits(np.int64(columns[place]), 1, out, at)
                out[at] = _SPACE
                at += 1
            if declared[place] >= 0:
                at = _copy(declared_texts, declared_at, declared[place], out, at)
            elif prepared[place] >= 0:
                at = _copy(prepared_texts, prepared_at, prepared[place], out, at)
            else:
                if values[place] < 0:
                    out[at] = _MINUS
                    at += 1
                n_decimals = decimals[place]
                unit = np.int64(_POWERS[n_decimals])
                scaled = np.int64(np.rint(abs(values[place]) * _POWERS[n_decimals]))
                at = _write_digits(scaled // unit, 1, out, at)
                if n_decimals > 0:
                    out[at] = _POINT
                    at = _write_digits(scaled % unit, n_decimals, out, at + 1)
            place += 1
        if is_sparse:
            out[at] = _CLOSE
            at += 1
        if endings[row] >= 0:
            at = _copy(prepared_texts, prepared_at, endings[row], out, at)
        out[at] = _NEWLINE
        at += 1
    return at
