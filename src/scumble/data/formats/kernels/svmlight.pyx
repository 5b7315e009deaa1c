"""Parser of lines such as ``1,3 5:0.2 7:1``, shared by LibSVM and the extreme form."""

from libc.math cimport isnan
from libc.stdint cimport int64_t, uint8_t, uint64_t

from scumble.data.formats.kernels.numbers cimport (
    INTEGER, LONG, NO_NUMBER, Number, is_digit, parse_number,
)

# What can be wrong, with the byte where it is.
cpdef enum:
    FINE = 0
    NO_LABEL = 1
    LABEL_TOO_LARGE = 2
    NO_PAIR = 3
    NO_INDEX = 4
    INDEX_TOO_LARGE = 5
    NO_VALUE = 6
    A_NAME = -1  # as number of a label

cdef enum:
    NO_ROOM = -1
    MOST_DIGITS = 18  # always fit 63 bits


cdef struct Label:
    int64_t number
    int64_t start
    int64_t end


cdef struct LongNumber:
    int64_t place  # among the values
    int64_t start
    int64_t end


cdef struct Row:
    int64_t labels_end
    int64_t values_end
    int64_t line


cdef struct Output:
    Label* labels
    int64_t* indices
    double* values
    LongNumber* long_numbers
    Row* rows
    Py_ssize_t most_labels
    Py_ssize_t most_values
    Py_ssize_t most_rows


cdef struct Lines:
    const uint8_t* text
    Py_ssize_t size
    bint lenient
    int64_t label_limit
    int64_t index_limit
    Py_ssize_t at
    Py_ssize_t n_rows
    Py_ssize_t n_labels
    Py_ssize_t n_values
    Py_ssize_t n_long
    Py_ssize_t line
    bint whole
    bint in_order


cdef struct Token:
    Py_ssize_t end
    Py_ssize_t colon  # the first one, or -1


def parse_lines(
    const uint8_t[::1] text, rules, int64_t[:, ::1] labels, int64_t[::1] indices,
    double[::1] values, int64_t[:, ::1] long_at, int64_t[:, ::1] rows,
):
    """Read whole lines.

    ``rules`` are (lenient, label_limit, index_limit): whether comments, query numbers and empty
    lines are allowed, which are no rows then; labels are whole numbers below the first limit unless
    it is negative, feature numbers are below the second. Labels leave (their number, or A_NAME
    where they are not whole numbers, start, end) in ``labels``. Numbers that `parse_number` finds
    too long leave a row (position among the values, start, end) in ``long_at``. Each row of the
    data leaves (end of its labels, end of its values, line) in ``rows``.

    Returns (fault, its byte, rows, labels, values, long values, lines, all whole, all sorted).
    """
    cdef Output out
    cdef Lines lines
    cdef int fault
    if labels.shape[1] != 3 or long_at.shape[1] != 3 or rows.shape[1] != 3:
        raise IndexError("Labels, long numbers and rows have three columns.")
    out.most_labels = labels.shape[0]
    out.most_values = min(indices.shape[0], values.shape[0], long_at.shape[0])
    out.most_rows = rows.shape[0]
    out.labels = <Label*> &labels[0, 0] if out.most_labels else NULL
    out.indices = &indices[0] if out.most_values else NULL
    out.values = &values[0] if out.most_values else NULL
    out.long_numbers = <LongNumber*> &long_at[0, 0] if out.most_values else NULL
    out.rows = <Row*> &rows[0, 0] if out.most_rows else NULL
    lines.text = &text[0] if text.shape[0] else NULL
    lines.size = text.shape[0]
    lines.lenient, lines.label_limit, lines.index_limit = rules
    lines.at = lines.n_rows = lines.n_labels = lines.n_values = lines.n_long = lines.line = 0
    lines.whole = lines.in_order = True
    with nogil:
        fault = _parse_lines(&lines, &out)
    if fault == NO_ROOM:
        raise IndexError("There are more rows, labels or values than room for them.")
    if fault != FINE:
        return fault, lines.at, 0, 0, 0, 0, 0, False, False
    return (
        FINE, 0, lines.n_rows, lines.n_labels, lines.n_values, lines.n_long, lines.line,
        lines.whole, lines.in_order,
    )


cdef int _parse_lines(Lines* lines, const Output* out) noexcept nogil:
    cdef const uint8_t* text = lines.text
    cdef Py_ssize_t begin
    cdef Row* row
    cdef int fault
    while lines.at < lines.size:
        lines.line += 1
        begin = lines.at
        _skip_blanks(lines)
        if _at_line_end(lines):
            if lines.lenient and _is_empty(text, begin, lines.at):
                lines.at += 1
                continue
        elif lines.lenient and text[lines.at] == c"#":
            _skip_line(lines)
            lines.at += 1
            continue
        else:
            fault = _parse_row(lines, out)
            if fault != FINE:
                return fault
        if lines.n_rows == out.most_rows:
            return NO_ROOM
        row = &out.rows[lines.n_rows]
        row.labels_end = lines.n_labels
        row.values_end = lines.n_values
        row.line = lines.line
        lines.n_rows += 1
        lines.at += 1
    return FINE


cdef int _parse_row(Lines* lines, const Output* out) noexcept nogil:
    """Read a row from its first token on, up to its line's end."""
    cdef const uint8_t* text = lines.text
    cdef int64_t previous = -1
    cdef Token token = _token(lines)
    cdef int fault
    if token.colon < 0:
        fault = _parse_labels(lines, token.end, out)
        if fault != FINE:
            return fault
    while True:
        _skip_blanks(lines)
        if _at_line_end(lines):
            return FINE
        if lines.lenient and text[lines.at] == c"#":
            _skip_line(lines)
            return FINE
        token = _token(lines)
        if not (lines.lenient and _is_query(text, lines.at, token.colon)):
            fault = _parse_pair(lines, token, &previous, out)
            if fault != FINE:
                return fault
        lines.at = token.end


cdef inline int _parse_pair(
    Lines* lines, Token token, int64_t* previous, const Output* out
) noexcept nogil:
    """Read index:value."""
    cdef Py_ssize_t place = lines.n_values
    cdef int64_t index = 0
    cdef Number number
    cdef LongNumber* long_number
    cdef int fault = _parse_index(lines, token.colon, &index)
    if fault != FINE:
        return fault
    number = parse_number(lines.text, token.colon + 1, token.end, c".")
    if number.kind == NO_NUMBER:
        return NO_VALUE
    if place == out.most_values:
        return NO_ROOM
    if number.kind == LONG:  # there are no more of them than values
        long_number = &out.long_numbers[lines.n_long]
        long_number.place = place
        long_number.start = token.colon + 1
        long_number.end = token.end
        lines.n_long += 1
    lines.whole &= number.kind == INTEGER or isnan(number.value)
    lines.in_order &= index > previous[0]
    previous[0] = index
    out.indices[place] = index
    out.values[place] = number.value
    lines.n_values += 1
    return FINE


cdef inline bint _is_blank(uint8_t byte) noexcept nogil:
    return byte == c" " or (9 <= byte <= 13 and byte != c"\n")


cdef inline void _skip_blanks(Lines* lines) noexcept nogil:
    cdef Py_ssize_t at = lines.at
    while at < lines.size and _is_blank(lines.text[at]):
        at += 1
    lines.at = at


cdef inline bint _at_line_end(const Lines* lines) noexcept nogil:
    return lines.at == lines.size or lines.text[lines.at] == c"\n"


cdef inline bint _is_empty(const uint8_t* text, Py_ssize_t begin, Py_ssize_t at) noexcept nogil:
    """Tell whether a line has nothing at all, not even a blank: a carriage return is its end."""
    return at == begin or (at == begin + 1 and text[begin] == c"\r")


cdef inline void _skip_line(Lines* lines) noexcept nogil:
    """Go to the line's end."""
    while not _at_line_end(lines):
        lines.at += 1


cdef inline Token _token(const Lines* lines) noexcept nogil:
    """Find the end and the first colon of what stands here."""
    cdef const uint8_t* text = lines.text
    cdef Py_ssize_t at = lines.at
    cdef Token token
    token.colon = -1
    while at < lines.size and text[at] != c"\n" and not _is_blank(text[at]):
        if text[at] == c":" and token.colon < 0:
            token.colon = at
        at += 1
    token.end = at
    return token


cdef inline bint _is_query(const uint8_t* text, Py_ssize_t at, Py_ssize_t colon) noexcept nogil:
    return colon == at + 3 and text[at] == c"q" and text[at + 1] == c"i" and text[at + 2] == c"d"


cdef int _parse_labels(Lines* lines, Py_ssize_t end, const Output* out) noexcept nogil:
    """Read labels between commas; at a fault ``lines.at`` is the label."""
    cdef const uint8_t* text = lines.text
    cdef Py_ssize_t begin = lines.at
    cdef Py_ssize_t at
    cdef uint64_t value
    cdef bint is_number
    cdef Label* label
    while True:
        lines.at = at = begin
        value = 0
        is_number = True
        while at < end and text[at] != c",":
            is_number &= is_digit(text[at])
            if at - begin < MOST_DIGITS:
                value = value * 10 + <uint8_t> (text[at] - 48)
            at += 1
        if at == begin:
            return NO_LABEL
        # Zeros in front, or too many digits, make another name than the number's.
        is_number &= at - begin <= MOST_DIGITS and (text[begin] != c"0" or at == begin + 1)
        if lines.label_limit >= 0 and not is_number:
            return NO_LABEL
        if lines.label_limit >= 0 and value >= <uint64_t> lines.label_limit:
            return LABEL_TOO_LARGE
        if lines.n_labels == out.most_labels:
            return NO_ROOM
        label = &out.labels[lines.n_labels]
        label.number = <int64_t> value if is_number else A_NAME
        label.start = begin
        label.end = at
        lines.n_labels += 1
        lines.at = at
        if at == end:
            return FINE
        begin = at + 1


cdef inline int _parse_index(
    const Lines* lines, Py_ssize_t colon, int64_t* index
) noexcept nogil:
    """Read the number before the colon."""
    cdef const uint8_t* text = lines.text
    cdef Py_ssize_t at = lines.at
    cdef int64_t value = 0
    if colon < 0:
        return NO_PAIR
    if colon == at:
        return NO_INDEX
    if colon - at > MOST_DIGITS:
        return INDEX_TOO_LARGE
    while at < colon:
        if not is_digit(text[at]):
            return NO_INDEX
        value = value * 10 + (text[at] - 48)
        at += 1
    index[0] = value
    return INDEX_TOO_LARGE if value >= lines.index_limit else FINE
