"""Parser of comma-separated values: splits text into cells, then parses the cells of columns.

A *position* is a byte offset in the text; the position of a column is its index among the selected
columns.
"""

from collections import namedtuple

from libc.math cimport NAN, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from scumble.data.formats.kernels.numbers cimport (
    INTEGER, LONG, NO_NUMBER, Number, count_byte, is_word, parse_number,
)

import numpy as np

# Faults of rows.
cpdef enum:
    NO_FAULT = 0
    RAGGED = 1  # another number of cells than the first row has
    UNCLOSED = 2  # a quote is not closed
    AFTER_QUOTE = 3  # text follows a closing quote

# How a cell is quoted.
cpdef enum:
    PLAIN = 0  # without quotes
    QUOTED = 1
    DOUBLED = 2  # quoted, with "" for " inside

# Classes of bytes outside of quotes; others are 0.
cdef enum:
    ENDS_CELL = 1
    BLANK = 2

# The result of `split_rows`.
SplitRows = namedtuple(
    "SplitRows",
    "fault, n_lines, n_last_cells, n_columns, n_bytes, bounds, quoting, lines",
)
# The result of `parse_flags`.
ParsedFlags = namedtuple("ParsedFlags", "invalid_row, invalid_position, present, counts")
# The result of `copy_cells`.
CopiedCells = namedtuple("CopiedCells", "data, offsets, is_missing")


cdef struct Cell:  # bounds in the text
    int32_t start
    int32_t end


cdef struct Splitter:  # a text, the output arrays, and the state of the parser
    const uint8_t* text
    Py_ssize_t size
    uint8_t delimiter
    uint8_t[256] byte_classes
    Cell* cells
    uint8_t* quoting  # of each cell
    int64_t* lines  # of each row
    Py_ssize_t position  # of the next byte
    Py_ssize_t line
    Py_ssize_t n_last_cells  # in the last row
    Py_ssize_t n_cells
    Py_ssize_t n_rows
    Py_ssize_t n_columns


def split_rows(const uint8_t[::1] text, uint8_t delimiter, Py_ssize_t n_columns, bint at_end):
    """Split text into rows and cells.

    Blank lines are skipped. A last row whose quote is still open is left to the next block, unless
    ``at_end`` says that there is none. ``n_columns`` is the number of cells that every row must
    have; 0 takes that of the first row.

    Returns a `SplitRows`: ``fault`` (NO_FAULT or another member of its enumeration), ``n_lines``
    read (up to the fault, if there is one), ``n_last_cells`` in the last row, ``n_columns``,
    ``n_bytes`` read, ``bounds`` (start and end of every cell), ``quoting`` of every cell, and
    ``lines``, the line number of every row from 0.
    """
    cdef Splitter split
    cdef int fault
    if text.shape[0] >= 1 << 31:
        raise ValueError("The text is too large.")
    split.text = &text[0] if text.shape[0] else NULL
    split.size = text.shape[0]
    split.delimiter = delimiter
    memset(split.byte_classes, 0, 256)
    split.byte_classes[c"\t"] = BLANK
    split.byte_classes[c" "] = BLANK
    split.byte_classes[delimiter] = ENDS_CELL
    split.byte_classes[c"\n"] = ENDS_CELL
    split.byte_classes[c"\r"] = ENDS_CELL
    # A row ends with its line or the text, a cell with its row or a delimiter.
    cdef Py_ssize_t max_rows = 1 + count_byte(split.text, split.size, c"\n")
    max_rows += count_byte(split.text, split.size, c"\r")
    cdef Py_ssize_t max_cells = max_rows + count_byte(split.text, split.size, delimiter)
    cdef int32_t[:, ::1] bounds = np.empty((max_cells, 2), np.int32)
    cdef uint8_t[::1] quoting = np.empty(max_cells, np.uint8)
    cdef int64_t[::1] lines = np.empty(max_rows, np.int64)
    split.cells = <Cell*> &bounds[0, 0]
    split.quoting = &quoting[0]
    split.lines = &lines[0]
    split.n_columns = n_columns
    split.position = 0
    split.line = 0
    split.n_last_cells = 0
    split.n_cells = 0
    split.n_rows = 0
    with nogil:
        fault = _split_rows(&split, at_end)
    n_cells = split.n_rows * split.n_columns
    return SplitRows(
        fault=fault,
        n_lines=split.line,
        n_last_cells=split.n_last_cells,
        n_columns=split.n_columns,
        n_bytes=split.position,
        bounds=bounds.base[:n_cells],
        quoting=quoting.base[:n_cells],
        lines=lines.base[:split.n_rows],
    )


cdef int _split_rows(Splitter* split, bint at_end) noexcept nogil:
    """Split all rows and return a fault, or NO_FAULT; ``split.line`` is the line of a fault."""
    cdef Py_ssize_t begin, first_line, first_cell
    cdef int fault
    while split.position < split.size:
        begin = split.position
        first_line = split.line
        first_cell = split.n_cells
        _skip_blanks(split)
        if split.position < split.size and not _is_line_end(split.text[split.position]):
            fault = _split_row(split)
            split.n_last_cells = split.n_cells - first_cell
            if fault == UNCLOSED and not at_end:
                split.position, split.line = begin, first_line
                break
            if split.n_columns == 0:
                split.n_columns = split.n_last_cells
            if fault == NO_FAULT and split.n_last_cells != split.n_columns:
                fault = RAGGED
            if fault != NO_FAULT:
                split.line = split.line if fault == AFTER_QUOTE else first_line
                return fault
            split.lines[split.n_rows] = first_line
            split.n_rows += 1
        _skip_line_end(split)
        split.line += 1
    return NO_FAULT


cdef int _split_row(Splitter* split) noexcept nogil:
    """Split one row, up to the end of its line, and return a fault, or NO_FAULT."""
    cdef const uint8_t* text = split.text
    cdef const uint8_t* byte_classes = split.byte_classes
    cdef Py_ssize_t size = split.size
    cdef Py_ssize_t start, end
    cdef int quoting
    while True:
        _skip_blanks(split)
        start = split.position
        if start < size and text[start] == c'"':
            start += 1
            quoting = _skip_quoted(split)
            if quoting < 0:
                return UNCLOSED
            end = split.position - 1
            _skip_blanks(split)
            if split.position < size and byte_classes[text[split.position]] != ENDS_CELL:
                return AFTER_QUOTE
        else:
            quoting = PLAIN
            end = start
            while end < size and byte_classes[text[end]] != ENDS_CELL:
                end += 1
            split.position = end
            while end > start and byte_classes[text[end - 1]] == BLANK:
                end -= 1
        split.cells[split.n_cells].start = <int32_t> start
        split.cells[split.n_cells].end = <int32_t> end
        split.quoting[split.n_cells] = quoting
        split.n_cells += 1
        if split.position == size or text[split.position] != split.delimiter:
            return NO_FAULT
        split.position += 1


cdef inline bint _is_line_end(uint8_t byte) noexcept nogil:
    """Return whether a byte ends a line."""
    return byte == c"\n" or byte == c"\r"


cdef inline void _skip_blanks(Splitter* split) noexcept nogil:
    """Move to the next byte that is not a blank, or to the end of the text."""
    while (
        split.position < split.size
        and split.byte_classes[split.text[split.position]] == BLANK
    ):
        split.position += 1


cdef inline void _skip_line_end(Splitter* split) noexcept nogil:
    """Move past the end of a line (newline, carriage return, or both) or stay at the text's end."""
    cdef Py_ssize_t position = split.position
    if (
        position + 1 < split.size
        and split.text[position] == c"\r"
        and split.text[position + 1] == c"\n"
    ):
        position += 1
    split.position = min(position + 1, split.size)


cdef int _skip_quoted(Splitter* split) noexcept nogil:
    """Move past a quoted cell and count its lines; return its quoting, or -1 if it is open."""
    cdef Py_ssize_t position = split.position + 1
    cdef int quoting = QUOTED
    while position < split.size:
        if split.text[position] == c"\n":
            split.line += 1
        elif split.text[position] == c'"':
            if position + 1 == split.size or split.text[position + 1] != c'"':
                split.position = position + 1
                return quoting
            quoting = DOUBLED
            position += 1
        position += 1
    return -1


cdef inline bint _is_missing(const uint8_t* text, Cell cell) noexcept nogil:
    """Return whether a cell is empty, NA or ?."""
    cdef int32_t length = cell.end - cell.start
    if length == 2:
        return text[cell.start] == c"N" and text[cell.start + 1] == c"A"
    return length == 0 or (length == 1 and text[cell.start] == c"?")


cdef inline Cell _trimmed(const uint8_t* text, Cell cell) noexcept nogil:
    """Return a cell without the blanks around it, which only a quoted cell can have."""
    while cell.start < cell.end and (text[cell.start] == c" " or text[cell.start] == c"\t"):
        cell.start += 1
    while cell.end > cell.start and (text[cell.end - 1] == c" " or text[cell.end - 1] == c"\t"):
        cell.end -= 1
    return cell


cdef struct Table:
    const uint8_t* text
    const Cell* cells  # from split_rows: all lie within the text
    const uint8_t* quoting  # of each cell
    Py_ssize_t n_rows
    Py_ssize_t width  # number of cells in a row
    const int64_t* columns  # the selected ones
    Py_ssize_t n_columns


cdef Table _select_columns(cells, const int64_t[::1] columns) except *:
    """Return pointers into the arrays of ``cells``, an object of class Cells that owns the memory.

    Raise IndexError if the arrays do not fit together or a column does not exist.
    """
    cdef const uint8_t[::1] text = cells.text
    cdef const int32_t[:, ::1] bounds = cells.bounds
    cdef const uint8_t[::1] quoting = cells.quoting
    cdef Table table
    cdef Py_ssize_t position
    table.width = cells.n_columns
    if bounds.shape[1] != 2 or quoting.shape[0] < bounds.shape[0] or table.width < 1:
        raise IndexError("A cell has two bounds and a quoting, a row has cells.")
    table.n_columns = columns.shape[0]
    for position in range(table.n_columns):
        if not 0 <= columns[position] < table.width:
            raise IndexError(f"There is no column {columns[position]} of {table.width}.")
    table.n_rows = bounds.shape[0] // table.width
    table.text = &text[0] if text.shape[0] else NULL
    table.cells = <const Cell*> &bounds[0, 0] if table.n_rows else NULL
    table.quoting = &quoting[0] if table.n_rows else NULL
    table.columns = &columns[0] if table.n_columns else NULL
    return table


def parse_numbers(cells, const int64_t[::1] columns, uint8_t[:, ::1] flags, uint8_t point):
    """Parse the selected columns as numbers; ``point`` is the decimal mark.

    ``flags`` has a row for each selected column and is updated: whether it holds no text, only
    whole numbers, at least one number. A column is skipped from its first text on.

    Returns the values, and an array with (row, position of the column, start, end) of each number
    that `parse_number` leaves to `exact_floats`.
    """
    cdef Table table = _select_columns(cells, columns)
    cdef double[:, ::1] values = np.empty((table.n_rows, table.n_columns))
    cdef int64_t[:, ::1] long_numbers = np.empty((values.size, 4), np.int64)
    cdef Py_ssize_t n_long = 0
    cdef Py_ssize_t row, position
    cdef Number number
    cdef Cell cell
    if flags.shape[0] != table.n_columns or flags.shape[1] != 3:
        raise IndexError("The flags do not fit the selected columns.")
    with nogil:
        for row in range(table.n_rows):
            for position in range(table.n_columns):
                if not flags[position, 0]:
                    continue
                cell = _trimmed(
                    table.text, table.cells[row * table.width + table.columns[position]]
                )
                if _is_missing(table.text, cell):
                    values[row, position] = NAN
                    continue
                number = parse_number(table.text, cell.start, cell.end, point)
                if number.status == NO_NUMBER:
                    flags[position, 0] = False
                    continue
                values[row, position] = number.value
                if number.status == LONG:
                    long_numbers[n_long, 0] = row
                    long_numbers[n_long, 1] = position
                    long_numbers[n_long, 2] = cell.start
                    long_numbers[n_long, 3] = cell.end
                    n_long += 1
                if not isnan(number.value):
                    flags[position, 1] &= number.status == INTEGER
                    flags[position, 2] = True
    return values.base, long_numbers.base[:n_long]


def parse_flags(cells, const int64_t[::1] columns):
    """Parse the selected columns as 0/1 or true/false.

    Returns `ParsedFlags`: ``invalid_row`` and ``invalid_position``, row and column position of the
    first cell that is neither (-1 if there is none); ``present``, the column positions of the true
    cells, row by row; and ``counts``, their number in each row. The latter two are None if a cell
    is invalid.
    """
    cdef Table table = _select_columns(cells, columns)
    cdef int32_t[::1] present = np.empty(table.n_rows * table.n_columns, np.int32)
    cdef int64_t[::1] counts = np.empty(table.n_rows, np.int64)
    cdef Py_ssize_t n_present = 0
    cdef Py_ssize_t row, position, n_before
    cdef int flag
    for row in range(table.n_rows):
        n_before = n_present
        for position in range(table.n_columns):
            flag = _parse_flag(
                table.text, table.cells[row * table.width + table.columns[position]]
            )
            if flag < 0:
                return ParsedFlags(row, position, None, None)
            if flag:
                present[n_present] = <int32_t> position
                n_present += 1
        counts[row] = n_present - n_before
    return ParsedFlags(-1, -1, present.base[:n_present], counts.base)


cdef inline int _parse_flag(const uint8_t* text, Cell cell) noexcept nogil:
    """Return 0 or 1, or -1 if the cell is neither."""
    cdef Number number
    cell = _trimmed(text, cell)
    if cell.end - cell.start == 1:
        return text[cell.start] - 48 if text[cell.start] | 1 == c"1" else -1
    number = parse_number(text, cell.start, cell.end, c".")
    if number.status < LONG:
        if number.value == 0:
            return 0
        return 1 if number.value == 1 else -1
    if is_word(text, cell.start, cell.end, b"true", 4):
        return 1
    return 0 if is_word(text, cell.start, cell.end, b"false", 5) else -1


def copy_cells(cells, int64_t column):
    """Concatenate the texts of a column, with " for "".

    Returns `CopiedCells`: ``data``, the bytes; ``offsets``, with text i in
    ``data[offsets[i]:offsets[i + 1]]``; and ``is_missing`` for each text. A quoted cell is never
    missing: ``""`` is an empty text.
    """
    cdef Table table = _select_columns(cells, <int64_t[:1]> &column)
    cdef uint8_t[::1] data
    cdef int64_t[::1] offsets = np.zeros(table.n_rows + 1, np.int64)
    cdef uint8_t[::1] is_missing = np.empty(table.n_rows, np.uint8)
    cdef Py_ssize_t size = 0
    cdef Py_ssize_t n_copied = 0
    cdef Py_ssize_t row, position, index
    cdef bint is_doubled
    cdef Cell cell
    for row in range(table.n_rows):
        cell = table.cells[row * table.width + column]
        size += cell.end - cell.start
    data = np.empty(size, np.uint8)
    with nogil:
        for row in range(table.n_rows):
            index = row * table.width + column
            cell = table.cells[index]
            is_missing[row] = table.quoting[index] == PLAIN and _is_missing(table.text, cell)
            is_doubled = table.quoting[index] == DOUBLED
            position = cell.start
            while position < cell.end:
                data[n_copied] = table.text[position]
                n_copied += 1
                position += 2 if is_doubled and table.text[position] == c'"' else 1
            offsets[row + 1] = n_copied
    return CopiedCells(data.base[:n_copied], offsets.base, is_missing.base.view(bool))
