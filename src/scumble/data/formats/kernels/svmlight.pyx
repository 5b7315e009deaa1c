"""Parser of lines such as ``1,3 5:0.2 7:1``, for the LibSVM and extreme classification formats."""

from collections import namedtuple

from libc.math cimport isnan
from libc.stdint cimport int32_t, int64_t, uint8_t

from scumble.data.formats.kernels.numbers cimport (
    INTEGER, LONG, NO_NUMBER, Number, count_byte, is_digit, parse_number,
)

import numpy as np

# Faults of lines. A pair is an index, a colon and a value, such as 5:0.2.
cpdef enum:
    NO_FAULT = 0
    NO_LABEL = 1
    LABEL_TOO_LARGE = 2
    NO_PAIR = 3  # text without a colon
    NO_INDEX = 4  # no number before the colon
    INDEX_TOO_LARGE = 5
    NO_VALUE = 6  # no number after the colon
    LABEL_IS_NAME = -1  # number of a label that is not a whole number

cdef enum:
    MAX_DIGITS = 18  # so many digits always fit 63 bits

# The result of `parse_lines`.
ParsedLines = namedtuple(
    "ParsedLines",
    "fault, position, n_lines, all_integers, is_sorted, labels, indices, values, long_numbers, "
    "rows",
)


cdef struct Label:
    int64_t number
    int64_t start
    int64_t end


cdef struct LongNumber:
    int64_t index  # among the values
    int64_t start
    int64_t end


cdef struct Row:
    int64_t labels_end
    int64_t values_end
    int64_t line


cdef struct Lines:  # the text, the options, the output arrays, and the state of the parser
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
    Py_ssize_t position  # of the next byte
    Py_ssize_t n_rows
    Py_ssize_t n_labels
    Py_ssize_t n_values
    Py_ssize_t n_long
    Py_ssize_t line
    bint all_integers
    bint is_sorted


cdef struct Token:
    Py_ssize_t end
    Py_ssize_t colon  # position of the first one, or -1


def parse_lines(
    const uint8_t[::1] text, bint lenient, int64_t label_limit, int64_t index_limit
):
    """Parse whole lines.

    ``lenient`` allows comments, query numbers and empty lines, which are not rows then. Labels are
    whole numbers below ``label_limit``, or any texts if it is negative. Feature numbers are below
    ``index_limit``, which must fit 31 bits.

    Returns a `ParsedLines`:

    - ``fault``: NO_FAULT or another member of its enumeration, and its byte ``position``;
    - ``n_lines``: the number of lines that were read;
    - ``all_integers``: whether all values are whole numbers or missing;
    - ``is_sorted``: whether the feature numbers of every row increase;
    - ``labels``: for each label its number (LABEL_IS_NAME if it is not a whole number), start and
      end in the text;
    - ``indices``, ``values``: feature number and value of each pair;
    - ``long_numbers``: for each number that `parse_number` leaves to `exact_floats` its index
      among the values, start and end in the text;
    - ``rows``: for each row the end of its labels, the end of its values, and its line.
    """
    cdef Lines lines
    cdef int fault
    if index_limit > 0x7FFFFFFF:
        raise ValueError(f"Feature numbers must fit 31 bits. Got {index_limit}.")
    lines.text = &text[0] if text.shape[0] else NULL
    lines.size = text.shape[0]
    lines.lenient = lenient
    lines.label_limit = label_limit
    lines.index_limit = index_limit
    lines.position = 0
    lines.n_rows = 0
    lines.n_labels = 0
    lines.n_values = 0
    lines.n_long = 0
    lines.line = 0
    lines.all_integers = True
    lines.is_sorted = True
    # A line has one label more than commas, a value has a colon; one more, so that there is an
    # address.
    cdef Py_ssize_t max_rows = count_byte(lines.text, lines.size, c"\n") + 1
    cdef Py_ssize_t max_values = count_byte(lines.text, lines.size, c":") + 1
    cdef Py_ssize_t max_labels = count_byte(lines.text, lines.size, c",") + max_rows
    cdef int64_t[:, ::1] labels = np.empty((max_labels, 3), np.int64)
    cdef int64_t[:, ::1] long_numbers = np.empty((max_values, 3), np.int64)
    cdef int64_t[:, ::1] rows = np.empty((max_rows, 3), np.int64)
    cdef int32_t[::1] indices = np.empty(max_values, np.int32)
    cdef double[::1] values = np.empty(max_values)
    lines.labels = <Label*> &labels[0, 0]
    lines.long_numbers = <LongNumber*> &long_numbers[0, 0]
    lines.rows = <Row*> &rows[0, 0]
    lines.indices = &indices[0]
    lines.values = &values[0]
    with nogil:
        fault = _parse_lines(&lines)
    return ParsedLines(
        fault=fault,
        position=lines.position,
        n_lines=lines.line,
        all_integers=lines.all_integers,
        is_sorted=lines.is_sorted,
        labels=labels.base[:lines.n_labels],
        indices=indices.base[:lines.n_values],
        values=values.base[:lines.n_values],
        long_numbers=long_numbers.base[:lines.n_long],
        rows=rows.base[:lines.n_rows],
    )


cdef int _parse_lines(Lines* lines) noexcept nogil:
    """Parse all lines and return a fault, or NO_FAULT; ``lines.position`` is that of a fault."""
    cdef const uint8_t* text = lines.text
    cdef Py_ssize_t begin
    cdef Row* row
    cdef int fault
    while lines.position < lines.size:
        lines.line += 1
        begin = lines.position
        _skip_blanks(lines)
        if _is_at_line_end(lines):
            if lines.lenient and _is_empty(text, begin, lines.position):
                lines.position += 1
                continue
        elif lines.lenient and text[lines.position] == c"#":
            _skip_line(lines)
            lines.position += 1
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
        lines.position += 1
    return NO_FAULT


cdef int _parse_row(Lines* lines) noexcept nogil:
    """Parse a row from its first token up to the end of its line."""
    cdef const uint8_t* text = lines.text
    cdef int64_t previous = -1
    cdef Token token = _find_token(lines)
    cdef int fault
    if token.colon < 0:
        fault = _parse_labels(lines, token.end)
        if fault != NO_FAULT:
            return fault
    while True:
        _skip_blanks(lines)
        if _is_at_line_end(lines):
            return NO_FAULT
        if lines.lenient and text[lines.position] == c"#":
            _skip_line(lines)
            return NO_FAULT
        token = _find_token(lines)
        if not (lines.lenient and _is_query(text, lines.position, token.colon)):
            fault = _parse_pair(lines, token, &previous)
            if fault != NO_FAULT:
                return fault
        lines.position = token.end


cdef inline int _parse_pair(Lines* lines, Token token, int64_t* previous) noexcept nogil:
    """Parse ``feature:value``; ``previous`` is the last feature number of the row."""
    cdef int64_t feature = 0
    cdef Number number
    cdef LongNumber* long_number
    cdef int fault = _parse_feature_number(lines, token.colon, &feature)
    if fault != NO_FAULT:
        return fault
    number = parse_number(lines.text, token.colon + 1, token.end, c".")
    if number.status == NO_NUMBER:
        return NO_VALUE
    if number.status == LONG:
        long_number = &lines.long_numbers[lines.n_long]
        long_number.index = lines.n_values
        long_number.start = token.colon + 1
        long_number.end = token.end
        lines.n_long += 1
    lines.all_integers &= number.status == INTEGER or isnan(number.value)
    lines.is_sorted &= feature > previous[0]
    previous[0] = feature
    lines.indices[lines.n_values] = <int32_t> feature
    lines.values[lines.n_values] = number.value
    lines.n_values += 1
    return NO_FAULT


cdef inline bint _is_blank(uint8_t byte) noexcept nogil:
    """Return whether a byte separates tokens within a line."""
    return byte == c" " or (9 <= byte <= 13 and byte != c"\n")


cdef inline void _skip_blanks(Lines* lines) noexcept nogil:
    """Move to the next byte that is not a blank, or to the end of the text."""
    cdef Py_ssize_t position = lines.position
    while position < lines.size and _is_blank(lines.text[position]):
        position += 1
    lines.position = position


cdef inline bint _is_at_line_end(const Lines* lines) noexcept nogil:
    """Return whether the line, or the text, ends here."""
    return lines.position == lines.size or lines.text[lines.position] == c"\n"


cdef inline bint _is_empty(
    const uint8_t* text, Py_ssize_t begin, Py_ssize_t position
) noexcept nogil:
    """Return whether a line has no bytes, not even blanks; a carriage return belongs to its end."""
    return position == begin or (position == begin + 1 and text[begin] == c"\r")


cdef inline void _skip_line(Lines* lines) noexcept nogil:
    """Move to the end of the line."""
    while not _is_at_line_end(lines):
        lines.position += 1


cdef inline Token _find_token(const Lines* lines) noexcept nogil:
    """Return the end and the first colon of the token that begins here."""
    cdef const uint8_t* text = lines.text
    cdef Py_ssize_t position = lines.position
    cdef Token token
    token.colon = -1
    while position < lines.size and text[position] != c"\n" and not _is_blank(text[position]):
        if text[position] == c":" and token.colon < 0:
            token.colon = position
        position += 1
    token.end = position
    return token


cdef inline bint _is_query(
    const uint8_t* text, Py_ssize_t position, Py_ssize_t colon
) noexcept nogil:
    """Return whether a token is a query number, which begins with ``qid:``."""
    return (
        colon == position + 3
        and text[position] == c"q"
        and text[position + 1] == c"i"
        and text[position + 2] == c"d"
    )


cdef int _parse_labels(Lines* lines, Py_ssize_t end) noexcept nogil:
    """Parse labels between commas, up to ``end``, and return a fault, or NO_FAULT.

    At a fault ``lines.position`` is the position of the label.
    """
    cdef Py_ssize_t position = lines.position - 1
    cdef int64_t number
    cdef Label* label
    while position < end:
        position += 1
        lines.position = position
        while position < end and lines.text[position] != c",":
            position += 1
        if position == lines.position:
            return NO_LABEL
        number = _parse_whole_number(lines.text, lines.position, position)
        # With leading zeros the text is another name than that of the number.
        if lines.text[lines.position] == c"0" and position > lines.position + 1:
            number = LABEL_IS_NAME
        if lines.label_limit >= 0 and number == LABEL_IS_NAME:
            return NO_LABEL
        if lines.label_limit >= 0 and number >= lines.label_limit:
            return LABEL_TOO_LARGE
        label = &lines.labels[lines.n_labels]
        label.number = number
        label.start = lines.position
        label.end = position
        lines.n_labels += 1
    lines.position = end
    return NO_FAULT


cdef inline int _parse_feature_number(
    const Lines* lines, Py_ssize_t colon, int64_t* feature
) noexcept nogil:
    """Parse the number before the colon and return a fault, or NO_FAULT."""
    if colon < 0:
        return NO_PAIR
    if colon - lines.position > MAX_DIGITS:
        return INDEX_TOO_LARGE
    feature[0] = _parse_whole_number(lines.text, lines.position, colon)
    if feature[0] == LABEL_IS_NAME:
        return NO_INDEX
    return INDEX_TOO_LARGE if feature[0] >= lines.index_limit else NO_FAULT


cdef inline int64_t _parse_whole_number(
    const uint8_t* text, Py_ssize_t position, Py_ssize_t end
) noexcept nogil:
    """Return the value of at most 18 digits, or LABEL_IS_NAME if the text is something else."""
    cdef int64_t value = 0
    if position == end or end - position > MAX_DIGITS:
        return LABEL_IS_NAME
    while position < end:
        if not is_digit(text[position]):
            return LABEL_IS_NAME
        value = value * 10 + (text[position] - 48)
        position += 1
    return value
