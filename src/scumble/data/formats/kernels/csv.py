"""Compiled parser of comma-separated values: cells first, then the columns' values."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel
from scumble.data.formats.kernels.numbers import INTEGER, LONG, NO_NUMBER, parse_float

# What can be wrong with rows.
FINE = 0
RAGGED = 1
UNCLOSED = 2
AFTER_QUOTE = 3

# How a cell was written.
PLAIN = 0
QUOTED = 1
DOUBLED = 2  # quoted, with "" for " inside

NEWLINE, RETURN, SPACE, TAB, QUOTE = (np.uint8(ord(c)) for c in '\n\r \t"')
TRUE = np.frombuffer(b"true", np.uint8)
FALSE = np.frombuffer(b"false", np.uint8)
LOWER = np.uint8(32)


@kernel
def split_rows(text, delimiter, n_columns, at_end, cells, marks, lines):
    """Cut text into rows and cells.

    Each cell leaves (start, end) in ``cells`` and how it was written in ``marks``, each row its
    line, counted from 0, in ``lines``. Lines with nothing but blanks are passed over. Unless the
    text is ``at_end``, a last row that is still within quotes is left to the next block.

    Returns (fault, its line, its column, rows, columns, bytes read, lines read).
    """
    at = n_rows = n_cells = line = 0
    size = len(text)
    while at < size:
        begin = at
        first_line = line
        column = 0
        at = _skip_blanks(text, at, size, delimiter)
        if at == size or text[at] == NEWLINE or text[at] == RETURN:
            at = _end_line(text, at, size)
            line += 1
            continue
        at = begin
        while True:
            at = _skip_blanks(text, at, size, delimiter)
            start = at
            mark = PLAIN
            if at < size and text[at] == QUOTE:
                start, end, at, mark, line = _quoted(text, at, size, line)
                if at < 0:
                    if at_end:
                        return UNCLOSED, first_line, column, 0, 0, 0, 0
                    return FINE, 0, 0, n_rows, n_columns, begin, first_line
                at = _skip_blanks(text, at, size, delimiter)
                if at < size and not _ends_cell(text[at], delimiter):
                    return AFTER_QUOTE, line, column, 0, 0, 0, 0
            else:
                while at < size and not _ends_cell(text[at], delimiter):
                    at += 1
                end = at
                while end > start and _is_blank(text[end - 1], delimiter):
                    end -= 1
            cells[n_cells, 0] = start
            cells[n_cells, 1] = end
            marks[n_cells] = mark
            n_cells += 1
            column += 1
            if at < size and text[at] == delimiter:
                at += 1
                continue
            break
        if n_columns == 0:
            n_columns = column
        if column != n_columns:
            return RAGGED, first_line, column, 0, n_columns, 0, 0
        lines[n_rows] = first_line
        n_rows += 1
        at = _end_line(text, at, size)
        line += 1
    return FINE, 0, 0, n_rows, n_columns, size, line


@kernel
def _is_blank(byte, delimiter):
    return byte == SPACE or (byte == TAB and delimiter != TAB)


@kernel
def _ends_cell(byte, delimiter):
    return byte == delimiter or byte == NEWLINE or byte == RETURN


@kernel
def _skip_blanks(text, at, size, delimiter):
    while at < size and _is_blank(text[at], delimiter):
        at += 1
    return at


@kernel
def _end_line(text, at, size):
    """Step over a line's end: newline, carriage return, or both."""
    if at + 1 < size and text[at] == RETURN and text[at + 1] == NEWLINE:
        return at + 2
    return at + 1


@kernel
def _quoted(text, at, size, line):
    """Read a quoted cell; give (start, end, what follows it or -1 if it is open, mark, line)."""
    start = at + 1
    at = start
    mark = QUOTED
    while at < size:
        if text[at] == NEWLINE:
            line += 1
        elif text[at] == QUOTE:
            if at + 1 < size and text[at + 1] == QUOTE:
                mark = DOUBLED
                at += 1
            else:
                return start, at, at + 1, mark, line
        at += 1
    return start, at, -1, mark, line


@kernel
def is_missing(text, start, end):
    """Tell whether a cell is empty, NA or ?."""
    if end == start:
        return True
    if end - start == 1:
        return text[start] == 63
    return end - start == 2 and text[start] == 78 and text[start + 1] == 65


@kernel
def parse_numbers(text, cells, n_columns, columns, values, state, long_at):
    """Read the chosen columns as numbers, as far as they are.

    ``state`` has a row per chosen column: whether it holds no text, whether it holds only whole
    numbers, whether it holds any number; a column that holds text is given up. Numbers that
    `parse_float` finds too long leave (row, position, start, end) in ``long_at``; their number is
    returned.
    """
    n_long = 0
    for row in range(len(values)):
        for k in range(len(columns)):
            if not state[k, 0]:
                continue
            cell = row * n_columns + columns[k]
            start = cells[cell, 0]
            end = cells[cell, 1]
            while start < end and _is_blank(text[start], SPACE):  # blanks within quotes
                start += 1
            while end > start and _is_blank(text[end - 1], SPACE):
                end -= 1
            if is_missing(text, start, end):
                values[row, k] = np.nan
                continue
            kind, value = parse_float(text, start, end)
            if kind == NO_NUMBER:
                state[k, 0] = False
                continue
            values[row, k] = value
            if kind == LONG:
                long_at[n_long, 0] = row
                long_at[n_long, 1] = k
                long_at[n_long, 2] = start
                long_at[n_long, 3] = end
                n_long += 1
            if not np.isnan(value):
                state[k, 1] &= kind == INTEGER
                state[k, 2] = True
    return n_long


@kernel
def parse_flags(text, cells, n_columns, columns, n_rows, present, counts):
    """Read the chosen columns as 0/1, true/false.

    The positions of the true ones go to ``present``, their number in each row to ``counts``.
    Returns (number of true cells, row and position of the first bad cell or -1).
    """
    n_present = 0
    for row in range(n_rows):
        before = n_present
        for k in range(len(columns)):
            cell = row * n_columns + columns[k]
            flag = _flag(text, cells[cell, 0], cells[cell, 1])
            if flag < 0:
                return 0, row, k
            if flag:
                present[n_present] = k
                n_present += 1
        counts[row] = n_present - before
    return n_present, -1, -1


@kernel
def _flag(text, start, end):
    """Give 0, 1, or -1 if the cell is neither."""
    while start < end and _is_blank(text[start], SPACE):
        start += 1
    while end > start and _is_blank(text[end - 1], SPACE):
        end -= 1
    if end - start == 1:
        value = np.int64(text[start]) - 48
        return value if value == 0 or value == 1 else -1
    kind, number = parse_float(text, start, end)
    if kind < LONG:
        if number == 0:
            return 0
        return 1 if number == 1 else -1
    if _is_word(text, start, end, TRUE):
        return 1
    return 0 if _is_word(text, start, end, FALSE) else -1


@kernel
def _is_word(text, start, end, word):
    if end - start != len(word):
        return False
    for i in range(len(word)):
        if text[start + i] | LOWER != word[i]:
            return False
    return True


@kernel
def copy_cells(text, cells, marks, n_columns, column, n_rows, data, offsets, missing):
    """Copy a column's cells behind each other, with " for ""; mark those that are missing.

    A quoted cell is never missing: ``""`` is an empty text.
    """
    to = 0
    for row in range(n_rows):
        cell = row * n_columns + column
        start = cells[cell, 0]
        end = cells[cell, 1]
        missing[row] = marks[cell] == PLAIN and is_missing(text, start, end)
        at = start
        while at < end:
            data[to] = text[at]
            to += 1
            at += 2 if text[at] == QUOTE and marks[cell] == DOUBLED else 1
        offsets[row + 1] = to
