"""Parser of comma-separated values: cells first, then the columns' values."""

from libc.math cimport NAN, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from scumble.data.formats.kernels.numbers cimport (
    INTEGER, LONG, NO_NUMBER, Number, count_byte, is_word, parse_number,
)

import numpy as np

# What can be wrong with rows.
cpdef enum:
    NO_FAULT = 0
    RAGGED = 1
    UNCLOSED = 2
    AFTER_QUOTE = 3

# How a cell was written.
cpdef enum:
    PLAIN = 0
    QUOTED = 1
    DOUBLED = 2  # quoted, with "" for " inside

cdef enum:
    ENDS_CELL = 1
    BLANK = 2


cdef struct Cell:
    int32_t start
    int32_t end


cdef struct Split:  # a text, its parts, and how far it was cut
    const uint8_t* text
    Py_ssize_t size
    uint8_t delimiter
    uint8_t[256] roles  # of bytes outside of quotes
    Cell* cells
    uint8_t* marks  # of cells
    int64_t* lines  # of rows
    Py_ssize_t at
    Py_ssize_t line
    Py_ssize_t column  # number of cells of the last row
    Py_ssize_t n_cells
    Py_ssize_t n_rows
    Py_ssize_t n_columns


def split_rows(const uint8_t[::1] text, uint8_t delimiter, Py_ssize_t n_columns, bint at_end):
    """Cut text into rows and cells.

    Lines with nothing but blanks are passed over. Unless the text is ``at_end``, a last row that is
    still within quotes is left to the next block.

    Returns (fault, lines read, cells of the last row, columns, bytes read, cells, marks, lines); at
    a fault the lines are those before it. A cell is (start, end), its mark how it was written; each
    row has its line, counted from 0.
    """
    cdef Split split
    cdef int fault
    if text.shape[0] >= 1 << 31:
        raise ValueError("The text is too large.")
    split.text = &text[0] if text.shape[0] else NULL
    split.size = text.shape[0]
    split.delimiter = delimiter
    memset(split.roles, 0, 256)
    split.roles[c"\t"] = split.roles[c" "] = BLANK
    split.roles[delimiter] = split.roles[c"\n"] = split.roles[c"\r"] = ENDS_CELL
    # A row ends with its line or the text, a cell with its row or a delimiter.
    cdef Py_ssize_t most_rows = 1 + count_byte(split.text, split.size, c"\n")
    most_rows += count_byte(split.text, split.size, c"\r")
    cdef Py_ssize_t most_cells = most_rows + count_byte(split.text, split.size, delimiter)
    cdef int32_t[:, ::1] cells = np.empty((most_cells, 2), np.int32)
    cdef uint8_t[::1] marks = np.empty(most_cells, np.uint8)
    cdef int64_t[::1] lines = np.empty(most_rows, np.int64)
    split.cells = <Cell*> &cells[0, 0]
    split.marks = &marks[0]
    split.lines = &lines[0]
    split.n_columns = n_columns
    split.at = split.line = split.column = split.n_cells = split.n_rows = 0
    with nogil:
        fault = _split_rows(&split, at_end)
    n_cells = split.n_rows * split.n_columns
    return (
        fault, split.line, split.column, split.n_columns, split.at,
        cells.base[:n_cells], marks.base[:n_cells], lines.base[:split.n_rows],
    )


cdef int _split_rows(Split* split, bint at_end) noexcept nogil:
    """Cut all rows; give a fault, with its line."""
    cdef Py_ssize_t begin, first_line, first_cell
    cdef int fault
    while split.at < split.size:
        begin = split.at
        first_line = split.line
        first_cell = split.n_cells
        _skip_blanks(split)
        if split.at < split.size and not _is_line_end(split.text[split.at]):
            fault = _split_row(split)
            split.column = split.n_cells - first_cell
            if fault == UNCLOSED and not at_end:
                split.at, split.line = begin, first_line
                break
            if split.n_columns == 0:
                split.n_columns = split.column
            if fault == NO_FAULT and split.column != split.n_columns:
                fault = RAGGED
            if fault != NO_FAULT:
                split.line = split.line if fault == AFTER_QUOTE else first_line
                return fault
            split.lines[split.n_rows] = first_line
            split.n_rows += 1
        _end_line(split)
        split.line += 1
    return NO_FAULT


cdef int _split_row(Split* split) noexcept nogil:
    """Cut one row, up to its line's end; give a fault."""
    cdef const uint8_t* text = split.text
    cdef const uint8_t* roles = split.roles
    cdef Py_ssize_t size = split.size
    cdef Py_ssize_t start, end
    cdef int mark
    while True:
        _skip_blanks(split)
        start = split.at
        if start < size and text[start] == c'"':
            start += 1
            mark = _skip_quoted(split)
            if mark < 0:
                return UNCLOSED
            end = split.at - 1
            _skip_blanks(split)
            if split.at < size and roles[text[split.at]] != ENDS_CELL:
                return AFTER_QUOTE
        else:
            mark = PLAIN
            end = start
            while end < size and roles[text[end]] != ENDS_CELL:
                end += 1
            split.at = end
            while end > start and roles[text[end - 1]] == BLANK:
                end -= 1
        split.cells[split.n_cells].start = <int32_t> start
        split.cells[split.n_cells].end = <int32_t> end
        split.marks[split.n_cells] = mark
        split.n_cells += 1
        if split.at == size or text[split.at] != split.delimiter:
            return NO_FAULT
        split.at += 1


cdef inline bint _is_line_end(uint8_t byte) noexcept nogil:
    return byte == c"\n" or byte == c"\r"


cdef inline void _skip_blanks(Split* split) noexcept nogil:
    while split.at < split.size and split.roles[split.text[split.at]] == BLANK:
        split.at += 1


cdef inline void _end_line(Split* split) noexcept nogil:
    """Step over a line's end: newline, carriage return, or both; or stay at the text's end."""
    cdef Py_ssize_t at = split.at
    if at + 1 < split.size and split.text[at] == c"\r" and split.text[at + 1] == c"\n":
        at += 1
    split.at = min(at + 1, split.size)


cdef int _skip_quoted(Split* split) noexcept nogil:
    """Step over a cell in quotes and count its lines; give its mark, or -1 if it is open."""
    cdef Py_ssize_t at = split.at + 1
    cdef int mark = QUOTED
    while at < split.size:
        if split.text[at] == c"\n":
            split.line += 1
        elif split.text[at] == c'"':
            if at + 1 == split.size or split.text[at + 1] != c'"':
                split.at = at + 1
                return mark
            mark = DOUBLED
            at += 1
        at += 1
    return -1


cdef inline bint _is_missing(const uint8_t* text, Cell cell) noexcept nogil:
    """Tell whether a cell is empty, NA or ?."""
    cdef int32_t length = cell.end - cell.start
    if length == 2:
        return text[cell.start] == c"N" and text[cell.start + 1] == c"A"
    return length == 0 or (length == 1 and text[cell.start] == c"?")


cdef inline Cell _trimmed(const uint8_t* text, Cell cell) noexcept nogil:
    """Leave out the blanks around it, which only a cell in quotes can have."""
    while cell.start < cell.end and (text[cell.start] == c" " or text[cell.start] == c"\t"):
        cell.start += 1
    while cell.end > cell.start and (text[cell.end - 1] == c" " or text[cell.end - 1] == c"\t"):
        cell.end -= 1
    return cell


cdef struct Rows:
    const uint8_t* text
    const Cell* cells  # as split_rows left them: all lie within the text
    const uint8_t* marks  # of cells
    Py_ssize_t n_rows
    Py_ssize_t width
    const int64_t* columns  # the chosen ones
    Py_ssize_t n_columns


cdef Rows _chosen(cells, const int64_t[::1] columns) except *:
    """Gather what the readers of columns need, from the attributes of ``cells``, which own it."""
    cdef const uint8_t[::1] text = cells.text
    cdef const int32_t[:, ::1] places = cells.bounds
    cdef const uint8_t[::1] marks = cells.marks
    cdef Rows rows
    cdef Py_ssize_t at
    rows.width = cells.n_columns
    if places.shape[1] != 2 or marks.shape[0] < places.shape[0] or rows.width < 1:
        raise IndexError("A cell has two ends and a mark, a row has cells.")
    rows.n_columns = columns.shape[0]
    for at in range(rows.n_columns):
        if not 0 <= columns[at] < rows.width:
            raise IndexError(f"There is no column {columns[at]} of {rows.width}.")
    rows.n_rows = places.shape[0] // rows.width
    rows.text = &text[0] if text.shape[0] else NULL
    rows.cells = <const Cell*> &places[0, 0] if rows.n_rows else NULL
    rows.marks = &marks[0] if rows.n_rows else NULL
    rows.columns = &columns[0] if rows.n_columns else NULL
    return rows


def parse_numbers(cells, const int64_t[::1] columns, uint8_t[:, ::1] state, uint8_t point):
    """Read the chosen columns as numbers, as far as they are; ``point`` stands before decimals.

    ``state`` has a row per chosen column: whether it holds no text, whether it holds only whole
    numbers, whether it holds any number; a column that holds text is given up.

    Returns the values and, for numbers that `parse_number` finds too long, (row, position, start,
    end).
    """
    cdef Rows rows = _chosen(cells, columns)
    cdef double[:, ::1] values = np.empty((rows.n_rows, rows.n_columns))
    cdef int64_t[:, ::1] long_at = np.empty((values.size, 4), np.int64)
    cdef Py_ssize_t n_long = 0
    cdef Py_ssize_t row, k
    cdef Number number
    cdef Cell cell
    if state.shape[0] != rows.n_columns or state.shape[1] != 3:
        raise IndexError("The state does not fit the chosen columns.")
    with nogil:
        for row in range(rows.n_rows):
            for k in range(rows.n_columns):
                if not state[k, 0]:
                    continue
                cell = _trimmed(rows.text, rows.cells[row * rows.width + rows.columns[k]])
                if _is_missing(rows.text, cell):
                    values[row, k] = NAN
                    continue
                number = parse_number(rows.text, cell.start, cell.end, point)
                if number.kind == NO_NUMBER:
                    state[k, 0] = False
                    continue
                values[row, k] = number.value
                if number.kind == LONG:
                    long_at[n_long, 0] = row
                    long_at[n_long, 1] = k
                    long_at[n_long, 2] = cell.start
                    long_at[n_long, 3] = cell.end
                    n_long += 1
                if not isnan(number.value):
                    state[k, 1] &= number.kind == INTEGER
                    state[k, 2] = True
    return values.base, long_at.base[:n_long]


def parse_flags(cells, const int64_t[::1] columns):
    """Read the chosen columns as 0/1, true/false.

    Returns (row and position of the first bad cell or -1, positions of the true cells, their number
    in each row).
    """
    cdef Rows rows = _chosen(cells, columns)
    cdef int32_t[::1] present = np.empty(rows.n_rows * rows.n_columns, np.int32)
    cdef int64_t[::1] counts = np.empty(rows.n_rows, np.int64)
    cdef Py_ssize_t n_present = 0
    cdef Py_ssize_t row, k, before
    cdef int flag
    for row in range(rows.n_rows):
        before = n_present
        for k in range(rows.n_columns):
            flag = _flag(rows.text, rows.cells[row * rows.width + rows.columns[k]])
            if flag < 0:
                return row, k, None, None
            if flag:
                present[n_present] = <int32_t> k
                n_present += 1
        counts[row] = n_present - before
    return -1, -1, present.base[:n_present], counts.base


cdef inline int _flag(const uint8_t* text, Cell cell) noexcept nogil:
    """Give 0, 1, or -1 if the cell is neither."""
    cdef Number number
    cell = _trimmed(text, cell)
    if cell.end - cell.start == 1:
        return text[cell.start] - 48 if text[cell.start] | 1 == c"1" else -1
    number = parse_number(text, cell.start, cell.end, c".")
    if number.kind < LONG:
        if number.value == 0:
            return 0
        return 1 if number.value == 1 else -1
    if is_word(text, cell.start, cell.end, b"true", 4):
        return 1
    return 0 if is_word(text, cell.start, cell.end, b"false", 5) else -1


def copy_cells(cells, int64_t column):
    """Copy a column's cells behind each other, with " for "".

    Returns the bytes, where each text begins and ends, and which are missing. A quoted cell is
    never missing: ``""`` is an empty text.
    """
    cdef Rows rows = _chosen(cells, <int64_t[:1]> &column)
    cdef uint8_t[::1] data
    cdef int64_t[::1] offsets = np.zeros(rows.n_rows + 1, np.int64)
    cdef uint8_t[::1] missing = np.empty(rows.n_rows, np.uint8)
    cdef Py_ssize_t size = 0
    cdef Py_ssize_t to = 0
    cdef Py_ssize_t row, at, place
    cdef bint is_doubled
    cdef Cell cell
    for row in range(rows.n_rows):
        cell = rows.cells[row * rows.width + column]
        size += cell.end - cell.start
    data = np.empty(size, np.uint8)
    with nogil:
        for row in range(rows.n_rows):
            place = row * rows.width + column
            cell = rows.cells[place]
            missing[row] = rows.marks[place] == PLAIN and _is_missing(rows.text, cell)
            is_doubled = rows.marks[place] == DOUBLED
            at = cell.start
            while at < cell.end:
                data[to] = rows.text[at]
                to += 1
                at += 2 if is_doubled and rows.text[at] == c'"' else 1
            offsets[row + 1] = to
    return data.base[:to], offsets.base, missing.base.view(bool)
