"""Parser of comma-separated values: cells first, then the columns' values."""

from libc.math cimport NAN, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from scumble.data.formats.kernels.numbers cimport (
    INTEGER, LONG, NO_NUMBER, Number, is_word, parse_number,
)

# What can be wrong with rows.
cpdef enum:
    FINE = 0
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


cdef struct Text:
    const uint8_t* bytes
    Py_ssize_t size
    uint8_t[256] roles  # of bytes outside of quotes


cdef struct Reader:
    Py_ssize_t at
    Py_ssize_t line
    Py_ssize_t n_cells
    Py_ssize_t most_cells
    Cell* cells
    uint8_t* marks


cdef struct Split:  # how far rows were cut, or where they are at fault
    int fault
    Py_ssize_t line
    Py_ssize_t column
    Py_ssize_t n_rows
    Py_ssize_t n_columns
    Py_ssize_t size
    Py_ssize_t n_lines


def split_rows(
    const uint8_t[::1] text, uint8_t delimiter, Py_ssize_t n_columns, bint at_end,
    int32_t[:, ::1] cells, uint8_t[::1] marks, int64_t[::1] lines,
):
    """Cut text into rows and cells.

    Each cell leaves (start, end) in ``cells`` and how it was written in ``marks``, each row its
    line, counted from 0, in ``lines``. Lines with nothing but blanks are passed over. Unless the
    text is ``at_end``, a last row that is still within quotes is left to the next block.

    Returns (fault, its line, its column, rows, columns, bytes read, lines read).
    """
    cdef Text block
    cdef Reader reader
    cdef Split split
    if text.shape[0] >= 1 << 31 or cells.shape[1] != 2:
        raise ValueError("The text is too large, or a cell has no two ends.")
    block.bytes = &text[0] if text.shape[0] else NULL
    block.size = text.shape[0]
    memset(block.roles, 0, 256)
    block.roles[c"\t"] = block.roles[c" "] = BLANK
    block.roles[delimiter] = block.roles[c"\n"] = block.roles[c"\r"] = ENDS_CELL
    reader.at = reader.line = reader.n_cells = 0
    reader.most_cells = min(cells.shape[0], marks.shape[0])
    reader.cells = <Cell*> &cells[0, 0] if reader.most_cells else NULL
    reader.marks = &marks[0] if reader.most_cells else NULL
    split.n_columns = n_columns
    split.line = split.column = split.n_rows = split.size = split.n_lines = 0
    with nogil:
        _split_rows(&block, &reader, at_end, delimiter, lines, &split)
    if split.fault < 0:
        raise IndexError("There are more cells or rows than room for them.")
    return (
        split.fault, split.line, split.column, split.n_rows, split.n_columns, split.size,
        split.n_lines,
    )


cdef int _split_rows(
    const Text* text, Reader* reader, bint at_end, uint8_t delimiter, int64_t[::1] lines,
    Split* split,
) except -1 nogil:
    cdef Py_ssize_t begin, first_line, first_cell
    split.fault = FINE
    while reader.at < text.size:
        begin = reader.at
        first_line = reader.line
        first_cell = reader.n_cells
        _skip_blanks(text, reader)
        if reader.at < text.size and not _is_line_end(text.bytes[reader.at]):
            split.fault = _split_row(text, reader, delimiter)
            split.column = reader.n_cells - first_cell
            if split.fault == UNCLOSED and not at_end:
                split.fault = FINE
                reader.at, reader.line = begin, first_line
                break
            if split.n_columns == 0:
                split.n_columns = split.column
            if split.fault == FINE and split.column != split.n_columns:
                split.fault = RAGGED
            elif split.fault == FINE and split.n_rows == lines.shape[0]:
                split.fault = -1
            if split.fault != FINE:
                split.line = reader.line if split.fault == AFTER_QUOTE else first_line
                return 0
            lines[split.n_rows] = first_line
            split.n_rows += 1
        _end_line(text, reader)
        reader.line += 1
    split.size = min(reader.at, text.size)
    split.n_lines = reader.line
    return 0


cdef int _split_row(const Text* text, Reader* reader, uint8_t delimiter) noexcept nogil:
    """Cut one row, up to its line's end; give a fault, or -1 if there is no room for its cells."""
    cdef Py_ssize_t start, end
    cdef int mark
    while True:
        _skip_blanks(text, reader)
        start = reader.at
        if start < text.size and text.bytes[start] == c'"':
            start += 1
            mark = _skip_quoted(text, reader)
            if mark < 0:
                return UNCLOSED
            end = reader.at - 1
            _skip_blanks(text, reader)
            if reader.at < text.size and text.roles[text.bytes[reader.at]] != ENDS_CELL:
                return AFTER_QUOTE
        else:
            mark = PLAIN
            end = start
            while end < text.size and text.roles[text.bytes[end]] != ENDS_CELL:
                end += 1
            reader.at = end
            while end > start and text.roles[text.bytes[end - 1]] == BLANK:
                end -= 1
        if reader.n_cells == reader.most_cells:
            return -1
        reader.cells[reader.n_cells].start = <int32_t> start
        reader.cells[reader.n_cells].end = <int32_t> end
        reader.marks[reader.n_cells] = mark
        reader.n_cells += 1
        if reader.at == text.size or text.bytes[reader.at] != delimiter:
            return FINE
        reader.at += 1


cdef inline bint _is_line_end(uint8_t byte) noexcept nogil:
    return byte == c"\n" or byte == c"\r"


cdef inline void _skip_blanks(const Text* text, Reader* reader) noexcept nogil:
    while reader.at < text.size and text.roles[text.bytes[reader.at]] == BLANK:
        reader.at += 1


cdef inline void _end_line(const Text* text, Reader* reader) noexcept nogil:
    """Step over a line's end: newline, carriage return, or both."""
    cdef Py_ssize_t at = reader.at
    if at + 1 < text.size and text.bytes[at] == c"\r" and text.bytes[at + 1] == c"\n":
        reader.at += 1
    reader.at += 1


cdef int _skip_quoted(const Text* text, Reader* reader) noexcept nogil:
    """Step over a cell in quotes and count its lines; give its mark, or -1 if it is open."""
    cdef Py_ssize_t at = reader.at + 1
    cdef int mark = QUOTED
    while at < text.size:
        if text.bytes[at] == c"\n":
            reader.line += 1
        elif text.bytes[at] == c'"':
            if at + 1 == text.size or text.bytes[at + 1] != c'"':
                reader.at = at + 1
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
    Py_ssize_t n_rows
    Py_ssize_t width
    const int64_t* columns  # the chosen ones
    Py_ssize_t n_columns


cdef Rows _chosen(
    const uint8_t[::1] text, const int32_t[:, ::1] cells, Py_ssize_t width, Py_ssize_t n_rows,
    const int64_t[::1] columns,
) except *:
    """Gather what the readers of columns need; without columns, of whole rows."""
    cdef Rows rows
    cdef Py_ssize_t at
    if cells.shape[1] != 2 or width < 0 or n_rows * width > cells.shape[0]:
        raise IndexError("There are fewer cells than the rows should have.")
    rows.n_columns = 0 if columns is None else columns.shape[0]
    for at in range(rows.n_columns):
        if not 0 <= columns[at] < width:
            raise IndexError(f"There is no column {columns[at]} of {width}.")
    rows.n_rows = n_rows
    rows.width = width
    rows.text = &text[0] if text.shape[0] else NULL
    rows.cells = <const Cell*> &cells[0, 0] if cells.shape[0] else NULL
    rows.columns = &columns[0] if rows.n_columns else NULL
    return rows


def parse_numbers(
    const uint8_t[::1] text, const int32_t[:, ::1] cells, Py_ssize_t n_columns,
    const int64_t[::1] columns, double[:, ::1] values, uint8_t[:, ::1] state,
    int64_t[:, ::1] long_at, uint8_t point,
):
    """Read the chosen columns as numbers, as far as they are; ``point`` stands before decimals.

    ``state`` has a row per chosen column: whether it holds no text, whether it holds only whole
    numbers, whether it holds any number; a column that holds text is given up. Numbers that
    `parse_number` finds too long leave (row, position, start, end) in ``long_at``; their number is
    returned.
    """
    cdef Rows rows = _chosen(text, cells, n_columns, values.shape[0], columns)
    cdef Py_ssize_t n_long = 0
    cdef Py_ssize_t row, k
    cdef Number number
    cdef Cell cell
    if (
        values.shape[1] != rows.n_columns or state.shape[0] != rows.n_columns
        or state.shape[1] != 3 or long_at.shape[1] != 4
    ):
        raise IndexError("Values, state and long numbers do not fit the chosen columns.")
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
                    if n_long == long_at.shape[0]:
                        with gil:
                            raise IndexError("There are more long numbers than room for them.")
                    long_at[n_long, 0] = row
                    long_at[n_long, 1] = k
                    long_at[n_long, 2] = cell.start
                    long_at[n_long, 3] = cell.end
                    n_long += 1
                if not isnan(number.value):
                    state[k, 1] &= number.kind == INTEGER
                    state[k, 2] = True
    return n_long


def parse_flags(
    const uint8_t[::1] text, const int32_t[:, ::1] cells, Py_ssize_t n_columns,
    const int64_t[::1] columns, int32_t[::1] present, int64_t[::1] counts,
):
    """Read the chosen columns of ``len(counts)`` rows as 0/1, true/false.

    The positions of the true ones go to ``present``, their number in each row to ``counts``.
    Returns (number of true cells, row and position of the first bad cell or -1).
    """
    cdef Rows rows = _chosen(text, cells, n_columns, counts.shape[0], columns)
    cdef Py_ssize_t n_present = 0
    cdef Py_ssize_t row, k, before
    cdef int flag = 0
    if present.shape[0] < rows.n_rows * rows.n_columns:
        raise IndexError("There is no room for all labels.")
    with nogil:
        for row in range(rows.n_rows):
            before = n_present
            for k in range(rows.n_columns):
                flag = _flag(rows.text, rows.cells[row * rows.width + rows.columns[k]])
                if flag < 0:
                    break
                if flag:
                    present[n_present] = <int32_t> k
                    n_present += 1
            if flag < 0:
                break
            counts[row] = n_present - before
    if flag < 0:
        return 0, row, k
    return n_present, -1, -1


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


def copy_cells(
    const uint8_t[::1] text, const int32_t[:, ::1] cells, const uint8_t[::1] marks,
    Py_ssize_t n_columns, Py_ssize_t column, uint8_t[::1] data, int64_t[::1] offsets,
    uint8_t[::1] missing,
):
    """Copy a column's cells behind each other, with " for ""; mark those that are missing.

    ``missing`` has one place per row. A quoted cell is never missing: ``""`` is an empty text.
    """
    cdef const int64_t[::1] none = None
    cdef Rows rows = _chosen(text, cells, n_columns, missing.shape[0], none)
    cdef Py_ssize_t to = 0
    cdef Py_ssize_t row, at, place
    cdef Cell cell
    if (
        not 0 <= column < n_columns
        or offsets.shape[0] <= rows.n_rows
        or marks.shape[0] < rows.n_rows * rows.width
    ):
        raise IndexError("There are too few columns, offsets or marks.")
    with nogil:
        for row in range(rows.n_rows):
            place = row * rows.width + column
            cell = rows.cells[place]
            missing[row] = marks[place] == PLAIN and _is_missing(rows.text, cell)
            if cell.end - cell.start > data.shape[0] - to:
                with gil:
                    raise IndexError("There is no room for all texts.")
            at = cell.start
            while at < cell.end:
                data[to] = rows.text[at]
                to += 1
                at += 2 if rows.text[at] == c'"' and marks[place] == DOUBLED else 1
            offsets[row + 1] = to
