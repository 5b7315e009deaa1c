"""Parser of lines such as ``1,3 5:0.2 7:1``, shared by LibSVM and the extreme form."""

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint8_t

from scumble.data.formats.kernels.numbers cimport (
    INTEGER, LONG, NO_NUMBER, Number, count_byte, is_digit, parse_number,
)

import numpy as np

# What can be wrong, with the byte where it is.
cpdef enum:
    NO_FAULT = 0
    NO_LABEL = 1
    LABEL_TOO_LARGE = 2
    NO_PAIR = 3
    NO_INDEX = 4
    INDEX_TOO_LARGE = 5
    NO_VALUE = 6
    LABEL_IS_NAME = -1  # as number of a label

cdef enum:
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


cdef struct Lines:
    const uint8_t* text
    Py_ssize_t size
    bint lenient
    int64_t label_limit
    int64_t index_limit
    Label* labels
    int32_t* indices
    double* values
    LongNumber* long_numbers
    Row* rows
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


def parse_lines(const uint8_t[::1] text, rules):
    """Read whole lines.

    ``rules`` are (lenient, label_limit, index_limit): whether comments, query numbers and empty
    lines are allowed, which are no rows then; labels are whole numbers below the first limit unless
    it is negative, feature numbers are below the second, which fits 31 bits.

    Returns (fault, its byte, number of lines, all whole, all sorted, labels, indices, values, long
    numbers, rows). A label is (its number, or LABEL_IS_NAME where it is not a whole number, start, end), a
    number that `parse_number` finds too long (position among the values, start, end), a row (end of
    its labels, end of its values, line).
    """
    cdef Lines lines
    cdef int fault
    lines.text = &text[0] if text.shape[0] else NULL
    lines.size = text.shape[0]
    lines.lenient, lines.label_limit, lines.index_limit = rules
    if lines.index_limit > 0x7FFFFFFF:
        raise ValueError(f"Feature numbers must fit 31 bits. Got {lines.index_limit}.")
    lines.at = lines.n_rows = lines.n_labels = lines.n_values = lines.n_long = lines.line = 0
    lines.whole = lines.in_order = True
    # A line has one label more than commas, a value has a colon; one more, to have an address.
    cdef Py_ssize_t most_rows = count_byte(lines.text, lines.size, c"\n") + 1
    cdef Py_ssize_t most_values = count_byte(lines.text, lines.size, c":") + 1
    cdef Py_ssize_t most_labels = count_byte(lines.text, lines.size, c",") + most_rows
    cdef int64_t[:, ::1] labels = np.empty((most_labels, 3), np.int64)
    cdef int64_t[:, ::1] long_at = np.empty((most_values, 3), np.int64)
    cdef int64_t[:, ::1] rows = np.empty((most_rows, 3), np.int64)
    cdef int32_t[::1] indices = np.empty(most_values, np.int32)
    cdef double[::1] values = np.empty(most_values)
    lines.labels = <Label*> &labels[0, 0]
    lines.long_numbers = <LongNumber*> &long_at[0, 0]
    lines.rows = <Row*> &rows[0, 0]
    lines.indices = &indices[0]
    lines.values = &values[0]
    with nogil:
        fault = _parse_lines(&lines)
    return (
        fault, lines.at, lines.line, lines.whole, lines.in_order,
        labels.base[:lines.n_labels], indices.base[:lines.n_values], values.base[:lines.n_values],
        long_at.base[:lines.n_long], rows.base[:lines.n_rows],
    )


cdef int _parse_lines(Lines* lines) noexcept nogil:
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
            fault = _parse_row(lines)
            if fault != NO_FAULT:
                return fault
        row = &lines.rows[lines.n_rows]
        row.labels_end = lines.n_labels
        row.values_end = lines.n_values
        row.line = lines.line
        lines.n_rows += 1
        lines.at += 1
    return NO_FAULT


cdef int _parse_row(Lines* lines) noexcept nogil:
    """Read a row from its first token on, up to its line's end."""
    cdef const uint8_t* text = lines.text
    cdef int64_t previous = -1
    cdef Token token = _token(lines)
    cdef int fault
    if token.colon < 0:
        fault = _parse_labels(lines, token.end)
        if fault != NO_FAULT:
            return fault
    while True:
        _skip_blanks(lines)
        if _at_line_end(lines):
            return NO_FAULT
        if lines.lenient and text[lines.at] == c"#":
            _skip_line(lines)
            return NO_FAULT
        token = _token(lines)
        if not (lines.lenient and _is_query(text, lines.at, token.colon)):
            fault = _parse_pair(lines, token, &previous)
            if fault != NO_FAULT:
                return fault
        lines.at = token.end


cdef inline int _parse_pair(Lines* lines, Token token, int64_t* previous) noexcept nogil:
    """Read index:value."""
    cdef Py_ssize_t place = lines.n_values
    cdef int64_t index = 0
    cdef Number number
    cdef LongNumber* long_number
    cdef int fault = _parse_index(lines, token.colon, &index)
    if fault != NO_FAULT:
        return fault
    number = parse_number(lines.text, token.colon + 1, token.end, c".")
    if number.kind == NO_NUMBER:
        return NO_VALUE
    if number.kind == LONG:
        long_number = &lines.long_numbers[lines.n_long]
        long_number.place = place
        long_number.start = token.colon + 1
        long_number.end = token.end
        lines.n_long += 1
    lines.whole &= number.kind == INTEGER or isnan(number.value)
    lines.in_order &= index > previous[0]
    previous[0] = index
    lines.indices[place] = <int32_t> index
    lines.values[place] = number.value
    lines.n_values += 1
    return NO_FAULT


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


cdef int _parse_labels(Lines* lines, Py_ssize_t end) noexcept nogil:
    """Read labels between commas; at a fault ``lines.at`` is the label."""
    cdef Py_ssize_t at = lines.at - 1
    cdef int64_t number
    cdef Label* label
    while at < end:
        lines.at = at = at + 1
        while at < end and lines.text[at] != c",":
            at += 1
        if at == lines.at:
            return NO_LABEL
        number = _whole_number(lines.text, lines.at, at)
        # Zeros in front make another name than the number's.
        if lines.text[lines.at] == c"0" and at > lines.at + 1:
            number = LABEL_IS_NAME
        if lines.label_limit >= 0 and number == LABEL_IS_NAME:
            return NO_LABEL
        if lines.label_limit >= 0 and number >= lines.label_limit:
            return LABEL_TOO_LARGE
        label = &lines.labels[lines.n_labels]
        label.number = number
        label.start = lines.at
        label.end = at
        lines.n_labels += 1
    lines.at = end
    return NO_FAULT


cdef inline int _parse_index(const Lines* lines, Py_ssize_t colon, int64_t* index) noexcept nogil:
    """Read the number before the colon."""
    if colon < 0:
        return NO_PAIR
    if colon - lines.at > MOST_DIGITS:
        return INDEX_TOO_LARGE
    index[0] = _whole_number(lines.text, lines.at, colon)
    if index[0] == LABEL_IS_NAME:
        return NO_INDEX
    return INDEX_TOO_LARGE if index[0] >= lines.index_limit else NO_FAULT


cdef inline int64_t _whole_number(
    const uint8_t* text, Py_ssize_t at, Py_ssize_t end
) noexcept nogil:
    """Read a number that has only digits, and not too many; give LABEL_IS_NAME if it is none."""
    cdef int64_t value = 0
    if at == end or end - at > MOST_DIGITS:
        return LABEL_IS_NAME
    while at < end:
        if not is_digit(text[at]):
            return LABEL_IS_NAME
        value = value * 10 + (text[at] - 48)
        at += 1
    return value
