"""Compiled parser of lines such as ``1,3 5:0.2 7:1``, shared by LibSVM and the extreme form."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel
from scumble.data.formats.kernels.numbers import (
    INTEGER,
    LONG,
    NINE,
    NO_NUMBER,
    ZERO,
    parse_float,
)

# What can be wrong, with the byte where it is.
FINE = 0
NO_LABEL = 1
LABEL_TOO_LARGE = 2
NO_PAIR = 3
NO_INDEX = 4
INDEX_TOO_LARGE = 5
NO_VALUE = 6

NEWLINE, RETURN, SPACE, COMMA, COLON, HASH = (np.uint8(ord(c)) for c in "\n\r ,:#")
MOST_DIGITS = 18  # always fit 63 bits
A_NAME = -1
QID = np.frombuffer(b"qid", np.uint8)


@kernel
def parse_lines(
    text, lenient, label_limit, index_limit, labels, label_at, indices, values, long_at, rows
):
    """Read whole lines.

    ``lenient`` allows comments, query numbers and empty lines, which are no rows then. Labels go
    to ``labels``: their number, or A_NAME where they are not whole numbers; their place to the
    two columns of ``label_at``. Numbers that `parse_float` finds too long leave a row (position
    among the values, start, end) in ``long_at``. Each row of the data leaves (end of its labels,
    end of its values, line) in ``rows``.

    Returns (fault, its byte, rows, labels, values, long values, lines, all whole, all sorted).
    """
    n_rows = n_labels = n_values = n_long = line = at = 0
    whole = True
    in_order = True
    size = len(text)
    while at < size:
        line += 1
        begin = at
        at = _skip_blanks(text, at, size)
        if at == size or text[at] == NEWLINE:
            if lenient and _is_empty(text, begin, at):
                at += 1
                continue
        elif lenient and text[at] == HASH:
            at = _next_line(text, at, size)
            continue
        else:
            end, colon = _token(text, at, size)
            if colon < 0:
                fault, at, n_labels = _parse_labels(
                    text, at, end, label_limit, labels, label_at, n_labels
                )
                if fault:
                    return fault, at, 0, 0, 0, 0, 0, False, False
            previous = np.int64(-1)
            while True:
                at = _skip_blanks(text, at, size)
                if at == size or text[at] == NEWLINE:
                    break
                if lenient and text[at] == HASH:
                    at = _next_line(text, at, size) - 1
                    break
                end, colon = _token(text, at, size)
                if lenient and _is_query(text, at, colon):
                    at = end
                    continue
                fault, index = _parse_index(text, at, colon, index_limit)
                if fault:
                    return fault, at, 0, 0, 0, 0, 0, False, False
                kind, value = parse_float(text, colon + 1, end)
                if kind == NO_NUMBER:
                    return NO_VALUE, at, 0, 0, 0, 0, 0, False, False
                if kind == LONG:
                    long_at[n_long, 0] = n_values
                    long_at[n_long, 1] = colon + 1
                    long_at[n_long, 2] = end
                    n_long += 1
                whole &= kind == INTEGER or np.isnan(value)
                in_order &= index > previous
                previous = index
                indices[n_values] = index
                values[n_values] = value
                n_values += 1
                at = end
        rows[n_rows, 0] = n_labels
        rows[n_rows, 1] = n_values
        rows[n_rows, 2] = line
        n_rows += 1
        at += 1
    return FINE, 0, n_rows, n_labels, n_values, n_long, line, whole, in_order


@kernel
def _is_blank(byte):
    return byte == SPACE or (np.uint8(9) <= byte <= RETURN and byte != NEWLINE)


@kernel
def _skip_blanks(text, at, size):
    while at < size and _is_blank(text[at]):
        at += 1
    return at


@kernel
def _is_empty(text, begin, at):
    """Tell whether a line has nothing at all, not even a blank: a carriage return is its end."""
    return at == begin or (at == begin + 1 and text[begin] == RETURN)


@kernel
def _next_line(text, at, size):
    while at < size and text[at] != NEWLINE:
        at += 1
    return at + 1


@kernel
def _token(text, at, size):
    """Find the end of the token at ``at``, and its first colon or -1."""
    colon = -1
    while at < size and text[at] != NEWLINE and not _is_blank(text[at]):
        if text[at] == COLON and colon < 0:
            colon = at
        at += 1
    return at, colon


@kernel
def _is_query(text, at, colon):
    if colon != at + 3:
        return False
    return text[at] == QID[0] and text[at + 1] == QID[1] and text[at + 2] == QID[2]


@kernel
def _parse_labels(text, at, end, limit, labels, label_at, n_labels):
    """Read labels between commas; give (fault, place, number of labels so far)."""
    while True:
        begin = at
        value = np.int64(0)
        is_number = True
        while at < end and text[at] != COMMA:
            is_number &= ZERO <= text[at] <= NINE
            if at - begin < MOST_DIGITS:
                value = value * 10 + np.int64(text[at] - ZERO)
            at += 1
        if at == begin:
            return NO_LABEL, begin, n_labels
        # Zeros in front, or too many digits, make another name than the number's.
        is_number &= at - begin <= MOST_DIGITS and (text[begin] != ZERO or at == begin + 1)
        if limit >= 0 and not is_number:
            return NO_LABEL, begin, n_labels
        if limit >= 0 and value >= limit:
            return LABEL_TOO_LARGE, begin, n_labels
        labels[n_labels] = value if is_number else A_NAME
        label_at[n_labels, 0] = begin
        label_at[n_labels, 1] = at
        n_labels += 1
        if at == end:
            return FINE, at, n_labels
        at += 1


@kernel
def _parse_index(text, at, colon, limit):
    """Read the number before the colon; give (fault, number)."""
    if colon < 0:
        return NO_PAIR, np.int64(0)
    if colon == at or colon - at > MOST_DIGITS:
        return NO_INDEX if colon == at else INDEX_TOO_LARGE, np.int64(0)
    index = np.int64(0)
    while at < colon:
        if not ZERO <= text[at] <= NINE:
            return NO_INDEX, index
        index = index * 10 + np.int64(text[at] - ZERO)
        at += 1
    return INDEX_TOO_LARGE if index >= limit else FINE, index
