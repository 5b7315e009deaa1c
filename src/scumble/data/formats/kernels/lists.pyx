"""Parser of lists of labels in text, with brackets and quotes."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcmp

# What can be wrong with a list.
cpdef enum:
    FINE = 0
    NO_LIST = 1
    UNCLOSED = 2
    NO_COMMA = 3
    NO_LABEL = 4
    AFTER_LIST = 5

cdef enum:
    NO_ROOM = -1


cdef struct Token:
    int64_t start
    int64_t end


cdef struct Tokens:
    Token* places
    uint8_t* escaped
    Py_ssize_t count
    Py_ssize_t most


cdef struct Label:
    int fault
    Token place
    Py_ssize_t after
    bint has_escape


cdef Tokens _tokens(int64_t[:, ::1] places, uint8_t[::1] escaped) except *:
    cdef Tokens tokens
    if places.shape[1] != 2 or escaped.shape[0] < places.shape[0]:
        raise IndexError("A token has two ends and a place to tell whether it holds escapes.")
    tokens.count = 0
    tokens.most = places.shape[0]
    tokens.places = <Token*> &places[0, 0] if tokens.most else NULL
    tokens.escaped = &escaped[0] if tokens.most else NULL
    return tokens


cdef int _check_cells(
    const uint8_t[::1] text, const int64_t[::1] offsets, const int64_t[::1] counts
) except -1:
    """Make sure that the cells follow each other within the text."""
    cdef int64_t before = 0
    cdef Py_ssize_t cell
    if offsets.shape[0] != counts.shape[0] + 1:
        raise IndexError("There must be one offset more than cells.")
    for cell in range(offsets.shape[0]):
        if offsets[cell] < before:
            raise IndexError("Offsets decrease.")
        before = offsets[cell]
    if before > text.shape[0]:
        raise IndexError("The cells do not lie within the text.")
    return 0


cdef inline bint _add(Tokens* tokens, Token place, bint has_escape) noexcept nogil:
    """Keep a label; give False where there is no room."""
    if tokens.count == tokens.most:
        return False
    tokens.places[tokens.count] = place
    tokens.escaped[tokens.count] = has_escape
    tokens.count += 1
    return True


def parse_lists(
    const uint8_t[::1] text, const int64_t[::1] offsets, int64_t[:, ::1] tokens,
    uint8_t[::1] escaped not None, int64_t[::1] counts,
):
    """Read each cell as a list of Python or JSON: ``['a', "b"]``, ``[1, 2]``, ``(a, b)``.

    Each label leaves (start, end) in ``tokens`` and in ``escaped`` whether it holds backslashes;
    each cell its number of labels in ``counts``. An empty cell is an empty list.

    Returns (fault, its cell, number of labels).
    """
    cdef Tokens found = _tokens(tokens, escaped)
    cdef const uint8_t* start = &text[0] if text.shape[0] else NULL
    cdef Py_ssize_t cell, before
    cdef int fault = FINE
    _check_cells(text, offsets, counts)
    with nogil:
        for cell in range(counts.shape[0]):
            before = found.count
            fault = _parse_list(start, offsets[cell], offsets[cell + 1], &found)
            if fault != FINE:
                break
            counts[cell] = found.count - before
    if fault == NO_ROOM:
        raise IndexError("There are more labels than room for them.")
    if fault != FINE:
        return fault, cell, 0
    return FINE, 0, found.count


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
    if at == end or (end - at == 5 and _is_at(text, at, end, b"set()", 5)):
        return FINE
    close = _closing(text[at])
    if close == 0:
        return NO_LIST
    at = _skip(text, at + 1, end)
    while at < end and text[at] != close:
        label = _parse_label(text, at, end, close)
        if label.fault != FINE:
            return label.fault
        if not _add(tokens, label.place, label.has_escape):
            return NO_ROOM
        at = _skip(text, label.after, end)
        if at < end and text[at] == c",":
            at = _skip(text, at + 1, end)
        elif at < end and text[at] != close:
            return NO_COMMA
    if at == end:
        return UNCLOSED
    return FINE if at == end - 1 else AFTER_LIST


cdef inline Label _parse_label(
    const uint8_t* text, Py_ssize_t at, Py_ssize_t end, uint8_t close
) noexcept nogil:
    """Read one label; ``at`` is before ``end``."""
    cdef Label label
    cdef uint8_t quote
    label.fault = FINE
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
    cdef Py_ssize_t start = word.start
    cdef Py_ssize_t end = word.end
    if end - start == 4:
        return _is_at(text, start, end, b"None", 4) or _is_at(text, start, end, b"null", 4)
    if end - start == 3:
        return _is_at(text, start, end, b"nan", 3) or _is_at(text, start, end, b"NaN", 3)
    return False


cdef inline bint _is_at(
    const uint8_t* text, Py_ssize_t at, Py_ssize_t end, const char* word, Py_ssize_t length
) noexcept nogil:
    return end - at >= length and memcmp(text + at, word, length) == 0


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
