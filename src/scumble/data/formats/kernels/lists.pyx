"""Parser of label lists in text, with brackets and quotes."""

from collections import namedtuple

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcmp

from scumble.data.formats.kernels.numbers cimport count_byte

import numpy as np

# Faults of lists.
cpdef enum:
    NO_FAULT = 0
    NO_LIST = 1  # no opening bracket
    UNCLOSED = 2  # no closing bracket or quote
    NO_COMMA = 3  # between two labels
    NO_LABEL = 4  # a missing label, or one with brackets and without quotes
    AFTER_LIST = 5  # text after the closing bracket


# The result of `parse_lists`.
ParsedLists = namedtuple("ParsedLists", "fault, cell, counts, bounds, has_escape")


cdef struct Bounds:
    int64_t start
    int64_t end


cdef struct Labels:  # the output
    Bounds* bounds
    uint8_t* has_escape
    Py_ssize_t count


cdef struct Label:
    int fault
    Bounds bounds
    Py_ssize_t next_position  # after the label
    bint has_escape


cdef int _check_cells(const uint8_t[::1] text, const int64_t[::1] offsets) except -1:
    """Raise IndexError unless the offsets increase and lie within the text."""
    cdef int64_t previous = 0
    cdef Py_ssize_t cell
    for cell in range(offsets.shape[0]):
        if offsets[cell] < previous:
            raise IndexError("Offsets decrease.")
        previous = offsets[cell]
    if previous > text.shape[0]:
        raise IndexError("The cells do not lie within the text.")
    return 0


def parse_lists(const uint8_t[::1] text, const int64_t[::1] offsets):
    """Parse each cell as a list of Python or JSON: ``['a', "b"]``, ``[1, 2]``, ``(a, b)``.

    An empty cell is an empty list. Returns a `ParsedLists`: ``fault`` (NO_FAULT or another member
    of its enumeration), ``cell`` with the fault, ``counts`` of labels in each cell, ``bounds``
    (start and end) of each label, and ``has_escape``, whether a label holds backslashes.
    """
    cdef const uint8_t* start = &text[0] if text.shape[0] else NULL
    cdef Py_ssize_t n_cells = max(offsets.shape[0] - 1, 0)
    # A cell has at most one label more than commas; one more in all, so that there is an address.
    cdef Py_ssize_t max_labels = count_byte(start, text.shape[0], c",") + n_cells + 1
    cdef int64_t[:, ::1] bounds = np.empty((max_labels, 2), np.int64)
    cdef uint8_t[::1] has_escape = np.empty(max_labels, np.uint8)
    cdef int64_t[::1] counts = np.empty(n_cells, np.int64)
    cdef Labels labels
    cdef Py_ssize_t cell, n_before
    cdef int fault
    _check_cells(text, offsets)
    labels.bounds = <Bounds*> &bounds[0, 0]
    labels.has_escape = &has_escape[0]
    labels.count = 0
    for cell in range(n_cells):
        n_before = labels.count
        fault = _parse_list(start, offsets[cell], offsets[cell + 1], &labels)
        if fault != NO_FAULT:
            return ParsedLists(fault, cell, None, None, None)
        counts[cell] = labels.count - n_before
    return ParsedLists(
        fault=NO_FAULT,
        cell=0,
        counts=counts.base,
        bounds=bounds.base[:labels.count],
        has_escape=has_escape.base[:labels.count].view(bool),
    )


cdef inline uint8_t _closing_bracket(uint8_t byte) noexcept nogil:
    """Return the bracket that closes an opening one, or 0 if the byte is none."""
    if byte == c"[":
        return c"]"
    if byte == c"(":
        return c")"
    return c"}" if byte == c"{" else 0


cdef inline bint _is_bracket(uint8_t byte) noexcept nogil:
    """Return whether a byte is an opening or closing bracket."""
    return _closing_bracket(byte) != 0 or byte == c"]" or byte == c")" or byte == c"}"


cdef inline bint _is_quote(uint8_t byte) noexcept nogil:
    """Return whether a byte is a single or double quote."""
    return byte == c"'" or byte == c'"'


cdef int _parse_list(
    const uint8_t* text, Py_ssize_t start, Py_ssize_t end, Labels* labels
) noexcept nogil:
    """Parse the list ``text[start:end]``, append its labels to ``labels``, and return its fault."""
    cdef Bounds inner = _trimmed(text, start, end)
    cdef Py_ssize_t position = inner.start
    cdef uint8_t close
    cdef Label label
    end = inner.end
    if position == end or _equals(text, inner, b"set()", 5):
        return NO_FAULT
    close = _closing_bracket(text[position])
    if close == 0:
        return NO_LIST
    position = _skip_blanks(text, position + 1, end)
    while position < end and text[position] != close:
        label = _parse_label(text, position, end, close)
        if label.fault != NO_FAULT:
            return label.fault
        labels.bounds[labels.count] = label.bounds
        labels.has_escape[labels.count] = label.has_escape
        labels.count += 1
        position = _skip_blanks(text, label.next_position, end)
        if position < end and text[position] == c",":
            position = _skip_blanks(text, position + 1, end)
        elif position < end and text[position] != close:
            return NO_COMMA
    if position == end:
        return UNCLOSED
    return NO_FAULT if position == end - 1 else AFTER_LIST


cdef inline Label _parse_label(
    const uint8_t* text, Py_ssize_t position, Py_ssize_t end, uint8_t close
) noexcept nogil:
    """Return the label at a position, which is before ``end``; ``close`` is the closing bracket."""
    cdef Label label
    cdef uint8_t quote
    label.fault = NO_FAULT
    label.has_escape = False
    label.bounds.start = label.bounds.end = position
    if position + 1 < end and text[position] == c"u" and _is_quote(text[position + 1]):
        position += 1  # Python 2 wrote u'text'
    label.bounds.start = position
    if _is_quote(text[position]):
        quote = text[position]
        position += 1
        while position < end and text[position] != quote:
            if text[position] == c"\\":
                label.has_escape = True
                position += 1
            position += 1
        label.bounds.start += 1
        label.bounds.end = position
        label.next_position = position + 1
        if position >= end:
            label.fault = UNCLOSED
        return label
    while position < end and text[position] != c"," and text[position] != close:
        if _is_quote(text[position]) or text[position] == c"\\":
            label.fault = NO_COMMA
            return label
        if _is_bracket(text[position]):
            label.fault = NO_LABEL
            return label
        position += 1
    label.next_position = position
    label.bounds = _trimmed(text, label.bounds.start, position)
    if label.bounds.end == label.bounds.start or _is_none(text, label.bounds):
        label.fault = NO_LABEL
    return label


cdef inline bint _is_none(const uint8_t* text, Bounds word) noexcept nogil:
    """Return whether a word stands for a missing label, not for a label of that name."""
    return (
        _equals(text, word, b"None", 4) or _equals(text, word, b"null", 4)
        or _equals(text, word, b"nan", 3) or _equals(text, word, b"NaN", 3)
    )


cdef inline bint _equals(
    const uint8_t* text, Bounds word, const char* other, Py_ssize_t length
) noexcept nogil:
    """Return whether a word equals another one of a given length."""
    return word.end - word.start == length and memcmp(text + word.start, other, length) == 0


cdef inline bint _is_blank(uint8_t byte) noexcept nogil:
    """Return whether a byte is a blank, as str.isspace says."""
    return byte == c" " or 9 <= byte <= 13


cdef inline Py_ssize_t _skip_blanks(
    const uint8_t* text, Py_ssize_t position, Py_ssize_t end
) noexcept nogil:
    """Return the position of the first byte that is not a blank, or ``end``."""
    while position < end and _is_blank(text[position]):
        position += 1
    return position


cdef inline Bounds _trimmed(const uint8_t* text, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Return the bounds of a text without the blanks around it."""
    cdef Bounds word
    word.start = _skip_blanks(text, start, end)
    while end > word.start and _is_blank(text[end - 1]):
        end -= 1
    word.end = end
    return word
