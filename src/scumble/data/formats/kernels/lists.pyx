"""Parser of lists of labels in text, with brackets and quotes."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcmp

from scumble.data.formats.kernels.numbers cimport count_byte

import numpy as np

# What can be wrong with a list.
cpdef enum:
    NO_FAULT = 0
    NO_LIST = 1
    UNCLOSED = 2
    NO_COMMA = 3
    NO_LABEL = 4
    AFTER_LIST = 5


cdef struct Token:
    int64_t start
    int64_t end


cdef struct Tokens:
    Token* places
    uint8_t* escaped
    Py_ssize_t count


cdef struct Label:
    int fault
    Token place
    Py_ssize_t after
    bint has_escape


cdef int _check_cells(const uint8_t[::1] text, const int64_t[::1] offsets) except -1:
    """Make sure that the cells follow each other within the text."""
    cdef int64_t before = 0
    cdef Py_ssize_t cell
    for cell in range(offsets.shape[0]):
        if offsets[cell] < before:
            raise IndexError("Offsets decrease.")
        before = offsets[cell]
    if before > text.shape[0]:
        raise IndexError("The cells do not lie within the text.")
    return 0


def parse_lists(const uint8_t[::1] text, const int64_t[::1] offsets):
    """Read each cell as a list of Python or JSON: ``['a', "b"]``, ``[1, 2]``, ``(a, b)``.

    An empty cell is an empty list. Returns (fault, its cell, number of labels of each cell, start
    and end of each label, whether it holds backslashes).
    """
    cdef const uint8_t* start = &text[0] if text.shape[0] else NULL
    cdef Py_ssize_t n_cells = max(offsets.shape[0] - 1, 0)
    # There are no more labels in a cell than commas and one; one more, to have an address.
    cdef Py_ssize_t most = count_byte(start, text.shape[0], c",") + n_cells + 1
    cdef int64_t[:, ::1] places = np.empty((most, 2), np.int64)
    cdef uint8_t[::1] escaped = np.empty(most, np.uint8)
    cdef int64_t[::1] counts = np.empty(n_cells, np.int64)
    cdef Tokens found
    cdef Py_ssize_t cell, before
    cdef int fault
    _check_cells(text, offsets)
    found.places = <Token*> &places[0, 0]
    found.escaped = &escaped[0]
    found.count = 0
    for cell in range(n_cells):
        before = found.count
        fault = _parse_list(start, offsets[cell], offsets[cell + 1], &found)
        if fault != NO_FAULT:
            return fault, cell, None, None, None
        counts[cell] = found.count - before
    n = found.count
    return NO_FAULT, 0, counts.base, places.base[:n], escaped.base[:n].view(bool)


cdef inline uint8_t _closing(uint8_t byte) noexcept nogil:
    """Give the bracket that closes what this one opens, or 0 if it is none."""
    if byte == c"[":
        return c"]"
    if byte == c"(":
        return c")"
    return c"}" if byte == c"{" else 0


cdef inline bint _is_bracket(uint8_t byte) noexcept nogil:
    return _closing(byte) != 0 or byte == c"]" or byte == c")" or byte == c"}"


cdef inline bint _is_quote(uint8_t byte) noexcept nogil:
    return byte == c"'" or byte == c'"'


cdef int _parse_list(
    const uint8_t* text, Py_ssize_t start, Py_ssize_t end, Tokens* tokens
) noexcept nogil:
    cdef Token inner = _trimmed(text, start, end)
    cdef Py_ssize_t at = inner.start
    cdef uint8_t close
    cdef Label label
    end = inner.end
    if at == end or _is(text, inner, b"set()", 5):
        return NO_FAULT
    close = _closing(text[at])
    if close == 0:
        return NO_LIST
    at = _skip(text, at + 1, end)
    while at < end and text[at] != close:
        label = _parse_label(text, at, end, close)
        if label.fault != NO_FAULT:
            return label.fault
        tokens.places[tokens.count] = label.place
        tokens.escaped[tokens.count] = label.has_escape
        tokens.count += 1
        at = _skip(text, label.after, end)
        if at < end and text[at] == c",":
            at = _skip(text, at + 1, end)
        elif at < end and text[at] != close:
            return NO_COMMA
    if at == end:
        return UNCLOSED
    return NO_FAULT if at == end - 1 else AFTER_LIST


cdef inline Label _parse_label(
    const uint8_t* text, Py_ssize_t at, Py_ssize_t end, uint8_t close
) noexcept nogil:
    """Read one label; ``at`` is before ``end``."""
    cdef Label label
    cdef uint8_t quote
    label.fault = NO_FAULT
    label.has_escape = False
    label.place.start = label.place.end = at
    if at + 1 < end and text[at] == c"u" and _is_quote(text[at + 1]):
        at += 1  # Python 2 wrote u'text'
    label.place.start = at
    if _is_quote(text[at]):
        quote = text[at]
        at += 1
        while at < end and text[at] != quote:
            if text[at] == c"\\":
                label.has_escape = True
                at += 1
            at += 1
        label.place.start += 1
        label.place.end = at
        label.after = at + 1
        if at >= end:
            label.fault = UNCLOSED
        return label
    while at < end and text[at] != c"," and text[at] != close:
        if _is_quote(text[at]) or text[at] == c"\\":
            label.fault = NO_COMMA
            return label
        if _is_bracket(text[at]):
            label.fault = NO_LABEL
            return label
        at += 1
    label.after = at
    label.place = _trimmed(text, label.place.start, at)
    if label.place.end == label.place.start or _is_none(text, label.place):
        label.fault = NO_LABEL
    return label


cdef inline bint _is_none(const uint8_t* text, Token word) noexcept nogil:
    """Tell whether a word stands for a missing label, not for a label of that name."""
    return (
        _is(text, word, b"None", 4) or _is(text, word, b"null", 4)
        or _is(text, word, b"nan", 3) or _is(text, word, b"NaN", 3)
    )


cdef inline bint _is(
    const uint8_t* text, Token word, const char* other, Py_ssize_t length
) noexcept nogil:
    return word.end - word.start == length and memcmp(text + word.start, other, length) == 0


cdef inline bint _is_blank(uint8_t byte) noexcept nogil:
    return byte == c" " or 9 <= byte <= 13


cdef inline Py_ssize_t _skip(const uint8_t* text, Py_ssize_t at, Py_ssize_t end) noexcept nogil:
    while at < end and _is_blank(text[at]):
        at += 1
    return at


cdef inline Token _trimmed(const uint8_t* text, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    cdef Token word
    word.start = _skip(text, start, end)
    while end > word.start and _is_blank(text[end - 1]):
        end -= 1
    word.end = end
    return word
