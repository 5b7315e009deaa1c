"""Tokenizer for the data section of ARFF files: one pass, no Python per cell.

A value is a word, which ends at a blank, comma or brace, or a quoted text. What only Python can
read (texts, dates, numbers too long for exact arithmetic, escaped nominal values not spelled as in
the header) is left in ``events``; everything else lands in the output arrays. The parser stops at
the end of the text, at the first fault, or before a row that may not fit what is left of the output
arrays; called again it goes on from there.

The text ends with a line end, which the doors make sure of, and no loop steps over a line end but
`_next_row`, which looks at the size: so no other loop has to watch for the end of the array.
"""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memset

from scumble.data.formats.kernels.numbers cimport (
    LONG, NO_END, NO_NUMBER, Number, read_number,
)

import numpy as np

# How the parser ended. Negative numbers are faults.
cpdef enum:
    DONE = 0
    FULL = 1
    SHORT_ROW = -1
    LONG_ROW = -2
    EMPTY_VALUE = -3
    OPEN_QUOTE = -4
    NO_SEPARATOR = -5
    BAD_NUMBER = -6
    UNDECLARED = -7
    BAD_LABEL = -8
    MISSING_LABEL = -9
    OMITTED_LABEL = -10
    BAD_INDEX = -11
    INDEX_RANGE = -12
    INDEX_ORDER = -13
    NOT_CLOSED = -14
    AFTER_ROW = -15
    OTHER_FORM = -16

# What kind a role may be. From NUMBER_LABEL on are labels.
cpdef enum:
    NUMBER = 0
    NOMINAL = 1
    TEXT = 2
    NUMBER_LABEL = 3
    NOMINAL_LABEL = 4
    WEIGHT = -1  # as attribute of an event

# What a value turned out to be; faults are negative. What Python has to read is a text as it
# stands, a text with escapes, or a number too long for exact arithmetic.
cpdef enum:
    READ = 0
    LATER = 1
    LATER_ESCAPED = 2
    LATER_LONG = 3

# What bytes do outside of quotes.
cdef enum:
    IN_WORD
    BLANK
    LINE_END
    COMMA
    OPEN
    CLOSE

cdef uint8_t[256] CLASS


cdef void _classify_bytes() noexcept:
    cdef int byte
    for byte in range(256):
        CLASS[byte] = BLANK if byte < 33 else IN_WORD
    CLASS[c"\n"] = CLASS[c"\r"] = LINE_END
    CLASS[c","] = COMMA
    CLASS[c"{"] = OPEN
    CLASS[c"}"] = CLOSE


_classify_bytes()


cdef struct Role:  # of an attribute
    int64_t kind
    int64_t column
    int64_t domain
    int64_t omitted  # what a label is where a sparse row omits it: 0, 1, or -1 for neither


cdef struct Entry:  # a declared nominal value
    int64_t domain
    int64_t code
    int64_t start
    int64_t length
    int64_t escaped
    int64_t present  # 0, 1, or -1 if it is neither


cdef struct Event:  # where a value belongs, what it is, where its text stands
    int64_t place
    int64_t attribute
    int64_t start
    int64_t end
    int64_t how
    int64_t line
    int64_t value


cdef struct Ends:  # of a row
    int64_t labels
    int64_t values


cdef struct State:  # how far the parser came; a fault is the last of the events
    Py_ssize_t at
    int64_t line
    Py_ssize_t n_rows
    Py_ssize_t n_values
    Py_ssize_t n_present
    Py_ssize_t n_events


# The records as Python has to make them.
cdef Role _role
cdef Entry _entry
cdef Event _event
cdef Ends _ends
ROLE = np.asarray(<Role[:1]> &_role).dtype
ENTRY = np.asarray(<Entry[:1]> &_entry).dtype
EVENT = np.asarray(<Event[:1]> &_event).dtype
ENDS = np.asarray(<Ends[:1]> &_ends).dtype


cdef struct Schema:  # what is known before the first row
    const Role* roles
    Py_ssize_t n_attributes
    const int64_t* odd_labels
    Py_ssize_t n_odd_labels
    int64_t* seen
    const Entry* entries
    const uint8_t* blob
    int32_t* table
    uint64_t mask  # size of the table, a power of two, minus 1
    bint nulls


cdef struct Output:
    double* values
    int32_t* indices
    int32_t* present
    Ends* ends
    Event* events
    Py_ssize_t n_columns  # of dense rows
    Py_ssize_t most_rows
    Py_ssize_t most_values
    Py_ssize_t most_present
    Py_ssize_t most_events


cdef struct Value:  # what was read, the place of its text, and of what follows it
    int found
    double number
    Py_ssize_t start
    Py_ssize_t end
    Py_ssize_t after


cdef class Parser:
    """What has to be known of the attributes, and the line that is read next.

    ``roles`` has a record per attribute, ``entries`` one per declared nominal value, whose text
    stands in the blob; ``nulls`` makes ``<null>`` a missing value.
    """

    cdef Schema schema
    cdef Py_ssize_t n_features
    cdef object arrays  # own the memory that schema points to
    cdef readonly int64_t line

    def __cinit__(
        self, Role[::1] roles, Entry[::1] entries, const uint8_t[::1] blob, bint nulls,
        int64_t line,
    ):
        cdef Schema* schema = &self.schema
        cdef Py_ssize_t n_entries = entries.shape[0]
        cdef Py_ssize_t at
        cdef int64_t[::1] seen = np.zeros(roles.shape[0], np.int64)
        cdef const int64_t[::1] odd = np.flatnonzero(np.asarray(roles)["omitted"]).astype(np.int64)
        cdef int32_t[::1] table = np.full(1 << (2 * n_entries + 1).bit_length(), -1, np.int32)
        self.line = line
        self.arrays = roles, entries, blob, seen, odd, table
        schema.n_attributes = roles.shape[0]
        if roles.shape[0]:
            schema.roles = &roles[0]
            schema.seen = &seen[0]
        schema.n_odd_labels = odd.shape[0]
        if odd.shape[0]:
            schema.odd_labels = &odd[0]
        if n_entries:
            schema.entries = &entries[0]
        if blob.shape[0]:
            schema.blob = &blob[0]
        schema.table = &table[0]
        schema.mask = table.shape[0] - 1
        schema.nulls = nulls
        for at in range(n_entries):
            if not 0 <= entries[at].length <= blob.shape[0] - entries[at].start <= blob.shape[0]:
                raise ValueError("A declared value is not within the blob.")
            _enter(schema, at)
        for at in range(schema.n_attributes):
            if roles[at].column < 0:
                raise ValueError("A column is negative.")
            if roles[at].kind < NUMBER_LABEL:
                self.n_features = max(self.n_features, roles[at].column + 1)

    def next_row(self, const uint8_t[::1] text):
        """Pass over empty lines and comments; give the place of the next row, or the end."""
        cdef State state
        state.at, state.line = 0, self.line
        _next_row(_start_of(text), text.shape[0], &state)
        self.line = state.line
        return state.at

    def parse(self, const uint8_t[::1] text, Py_ssize_t at, rows):
        """Read rows from a place on; give how it ended, and a dictionary of what was found.

        They are put into the arrays that ``rows`` has as attributes. Rows are such as
        ``1.5,red,0,1``, or ``{0 1.5, 3 red}`` if there are ``indices``, else None. Features go to
        ``values`` row by row; sparse rows have only those that are not zero, their columns in
        ``indices``, up to the end of each row's values. The numbers of the labels that are present
        follow each other in ``present``, those of a row up to the end of its labels. An event's
        place is that of its value, or the row of a weight.
        """
        cdef const uint8_t* start = _start_of(text)
        cdef double[::1] values = rows.values
        cdef int32_t[::1] indices = rows.indices
        cdef int32_t[::1] present = rows.present
        cdef Ends[::1] ends = rows.ends
        cdef Event[::1] events = rows.events
        cdef Output out
        cdef State state
        cdef int ended
        if not 0 <= at <= text.shape[0] or 0 in (len(present), len(events)):
            raise IndexError("There is no such place, or no room for what stands there.")
        memset(&state, 0, sizeof(State))
        state.at, state.line = at, self.line
        out.n_columns = self.n_features
        out.values = &values[0] if values.shape[0] else NULL
        out.indices = &indices[0] if indices is not None and indices.shape[0] else NULL
        out.most_values = values.shape[0]
        out.most_rows = ends.shape[0]
        if indices is not None:
            out.most_values = min(out.most_values, indices.shape[0])
        elif self.n_features:
            out.most_rows = min(out.most_rows, out.most_values // self.n_features)
        out.ends = &ends[0] if ends.shape[0] else NULL
        out.present = &present[0]
        out.most_present = present.shape[0]
        out.events = &events[0]
        out.most_events = events.shape[0]
        with nogil:
            ended = _parse(&self.schema, start, text.shape[0], &state, &out, indices is not None)
        self.line = state.line
        return ended, state


cdef void _enter(Schema* schema, Py_ssize_t number) noexcept nogil:
    """Put a declared value into the table, unless an equal one is there."""
    cdef const Entry* entry = &schema.entries[number]
    cdef int64_t place = _find(
        schema, schema.blob, entry.start, entry.start + entry.length, entry.domain, entry.escaped
    )
    if place < 0:
        schema.table[-1 - place] = <int32_t> number


cdef int64_t _find(
    const Schema* schema, const uint8_t* text, Py_ssize_t start, Py_ssize_t end, int64_t domain,
    int64_t escaped,
) noexcept nogil:
    """Look a nominal value up; give its number, or -1 - s with s the free slot it belongs to.

    There is always a free slot: the table has more than twice as many as there are values.
    """
    cdef uint64_t value = <uint64_t> (2 * domain + escaped) * 0x9E3779B97F4A7C15ULL
    cdef const Entry* entry
    cdef uint64_t slot
    cdef Py_ssize_t at, offset
    value ^= 0xCBF29CE484222325ULL
    for at in range(start, end):
        value = (value ^ text[at]) * 0x100000001B3ULL
    slot = (value ^ (value >> 32)) & schema.mask
    while schema.table[slot] >= 0:
        entry = &schema.entries[schema.table[slot]]
        if entry.length == end - start and entry.domain == domain and entry.escaped == escaped:
            offset = entry.start - start
            at = start
            while at < end and text[at] == schema.blob[at + offset]:
                at += 1
            if at == end:
                return schema.table[slot]
        slot = (slot + 1) & schema.mask
    return -1 - <int64_t> slot


cdef inline Py_ssize_t _skip_blanks(const uint8_t* text, Py_ssize_t at) noexcept nogil:
    while CLASS[text[at]] == BLANK:
        at += 1
    return at


cdef inline Py_ssize_t _line_end(const uint8_t* text, Py_ssize_t at) noexcept nogil:
    while CLASS[text[at]] != LINE_END:
        at += 1
    return at


cdef inline int _read_decimal(
    const uint8_t* text, Py_ssize_t* at, double* value
) noexcept nogil:
    """Read a number that begins here and goes on to the end of the word, and step over it.

    Gives READ, with its value, LATER_LONG, or LATER if it is none.
    """
    # The line's end stops it: there is no need to know where the text ends.
    cdef Number number = read_number(text, at[0], NO_END, c".")
    value[0] = number.value
    at[0] = number.after
    if number.kind == NO_NUMBER or CLASS[text[number.after]] == IN_WORD:
        return LATER
    return LATER_LONG if number.kind == LONG else READ


cdef const uint8_t* _start_of(const uint8_t[::1] text) except? NULL:
    """Give the first byte of a text that is fit for the parser."""
    if text.shape[0] == 0 or text[text.shape[0] - 1] != c"\n":
        raise ValueError("The text does not end with a line end.")
    return &text[0]


cdef inline void _next_row(const uint8_t* text, Py_ssize_t size, State* state) noexcept nogil:
    cdef Py_ssize_t at = state.at
    while at < size:
        at = _skip_blanks(text, at)
        if text[at] == c"%":
            at = _line_end(text, at)
        if CLASS[text[at]] != LINE_END:
            break
        if text[at] == c"\r" and at + 1 < size and text[at + 1] == c"\n":
            at += 1
        at += 1
        state.line += 1
    state.at = at


cdef inline bint _is_null(const uint8_t* text, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    return end - start == 6 and memcmp(text + start, b"<null>", 6) == 0


cdef inline int _read_quoted(
    const uint8_t* text, Py_ssize_t at, bint is_number, Value* value
) noexcept nogil:
    """Read a text in quotes, which begins after ``at``; give what it is so far."""
    cdef uint8_t quote = text[at]
    cdef int found = LATER
    at += 1
    value.start = at
    while text[at] != quote and CLASS[text[at]] != LINE_END:
        if text[at] == c"\\" and CLASS[text[at + 1]] != LINE_END:
            found = LATER_ESCAPED
            at += 1
        at += 1
    value.end = value.after = at
    if text[at] != quote:
        return OPEN_QUOTE
    value.after += 1
    if is_number and at - value.start == 1 and text[at - 1] | 1 == c"1":
        value.number = text[at - 1] - 48
        return READ
    return found


cdef void _read_value(
    const Schema* schema, const Role* role, const uint8_t* text, Py_ssize_t at, Value* value
) noexcept nogil:
    """Read the value that begins here, and pass over one separator: blanks with at most one comma.

    Quotes and percent signs inside of a word are part of it.
    """
    cdef bint is_number = role.kind == NUMBER or role.kind == NUMBER_LABEL
    cdef bint is_missing = False
    cdef bint is_flag
    cdef int found = LATER
    cdef Py_ssize_t end = at
    value.number = 0.0
    if text[at] == c"'" or text[at] == c'"':
        found = value.found = _read_quoted(text, at, is_number, value)
        if found < 0:
            return
        end = value.after
    else:
        value.start = at
        if is_number:
            found = _read_decimal(text, &end, &value.number)
        if found != READ:
            while CLASS[text[end]] == IN_WORD:
                end += 1
            is_missing = (
                (text[at] == c"?" and end == at + 1) or (schema.nulls and _is_null(text, at, end))
            )
        value.end = end
        if end == at or text[at] == c"%":
            value.found = EMPTY_VALUE
            value.after = at
            return
    at = _skip_blanks(text, end)
    if CLASS[text[at]] == COMMA:
        at = _skip_blanks(text, at + 1)
    elif at == end and CLASS[text[at]] == IN_WORD:
        found = NO_SEPARATOR
    value.after = at
    if found == NO_SEPARATOR or role.kind == NUMBER and not is_missing:
        value.found = found
    elif is_missing:
        value.number = NAN
        value.found = MISSING_LABEL if role.kind >= NUMBER_LABEL else READ
    elif role.kind == TEXT:
        value.found = found
    elif is_number:
        is_flag = found == READ and (value.number == 0.0 or value.number == 1.0)
        value.found = READ if is_flag else BAD_LABEL
    else:
        value.found = _read_nominal(schema, role, text, found == LATER_ESCAPED, value)


cdef inline int _read_nominal(
    const Schema* schema, const Role* role, const uint8_t* text, bint escaped, Value* value
) noexcept nogil:
    """Look up what was read; give what it is."""
    cdef bint is_label = role.kind == NOMINAL_LABEL
    cdef int64_t number = _find(schema, text, value.start, value.end, role.domain, escaped)
    value.number = 0.0
    if number < 0:
        if is_label:
            return BAD_LABEL
        return LATER_ESCAPED if escaped else UNDECLARED
    if not is_label:
        value.number = <double> schema.entries[number].code
        return READ
    value.number = <double> schema.entries[number].present
    return BAD_LABEL if schema.entries[number].present < 0 else READ


cdef int _note(
    State* state, const Output* out, int64_t place, int64_t attribute, int64_t number,
    const Value* value,
) noexcept nogil:
    """Leave a value, or a fault, to Python; give what it is."""
    cdef Event* event = &out.events[state.n_events]
    event.place = place
    event.attribute = attribute
    event.start = value.start
    event.end = value.end
    event.how = value.found
    event.line = state.line
    event.value = number
    state.n_events += 1
    return value.found


cdef int _fail(
    State* state, const Output* out, int fault, int64_t number, int64_t attribute, Value* value
) noexcept nogil:
    value.found = fault
    return _note(state, out, state.n_rows, attribute, number, value)


cdef int _finish_row(
    const uint8_t* text, Py_ssize_t at, State* state, const Output* out, int64_t number
) noexcept nogil:
    """Find the weight that may end a row, and the end of the line; give a fault or DONE.

    Python reads the weight: few files have any.
    """
    cdef Value value
    value.found = LATER
    if CLASS[text[at]] == OPEN:
        value.start = at + 1
        while CLASS[text[at]] != CLOSE and CLASS[text[at]] != LINE_END:
            at += 1
        value.end = at
        _note(state, out, state.n_rows, WEIGHT, number, &value)
        if CLASS[text[at]] == CLOSE:
            at += 1
        at = _skip_blanks(text, at)
    value.start = at
    value.end = _line_end(text, at)
    if value.end > at and text[at] != c"%":
        return _fail(state, out, LONG_ROW, number, WEIGHT, &value)
    state.at = value.end
    out.ends[state.n_rows].labels = state.n_present
    out.ends[state.n_rows].values = state.n_values
    state.n_rows += 1
    return DONE


cdef inline void _add_present(State* state, const Output* out, const Role* label) noexcept nogil:
    out.present[state.n_present] = <int32_t> label.column
    state.n_present += 1


cdef int _dense_row(
    const Schema* schema, const uint8_t* text, State* state, const Output* out
) noexcept nogil:
    cdef Py_ssize_t at = state.at
    cdef Py_ssize_t attribute = 0
    cdef double* row = out.values + state.n_rows * out.n_columns
    cdef const Role* role
    cdef Value value
    cdef int fault
    value.found = OTHER_FORM if CLASS[text[at]] == OPEN else READ
    value.start = at
    value.end = at + 1
    while value.found >= 0 and attribute < schema.n_attributes:
        role = &schema.roles[attribute]
        _read_value(schema, role, text, at, &value)
        at = value.after
        if value.found < 0:
            break
        if role.kind < NUMBER_LABEL:
            row[role.column] = value.number
        elif value.number == 1.0:
            _add_present(state, out, role)
        attribute += 1
        if value.found != READ:
            _note(state, out, &row[role.column] - out.values, attribute - 1, attribute, &value)
    fault = value.found
    if fault < 0:
        if fault == EMPTY_VALUE and (text[at] == c"%" or CLASS[text[at]] == LINE_END):
            fault = SHORT_ROW
        return _fail(state, out, fault, attribute + 1, attribute, &value)
    return _finish_row(text, at, state, out, attribute + 1)


cdef inline int64_t _read_index(
    const uint8_t* text, Value* value, int64_t last, int64_t n_attributes
) noexcept nogil:
    """Read the number of an attribute, which must be above the last one; give it, or a fault."""
    cdef Py_ssize_t at = value.after
    cdef bint is_number = True
    cdef int64_t attribute = 0
    cdef uint8_t digit
    value.start = at
    while CLASS[text[at]] == IN_WORD:
        digit = <uint8_t> (text[at] - 48)
        is_number = is_number and digit <= 9
        attribute = min(attribute * 10 + digit, n_attributes)
        at += 1
    value.end = at
    if at == value.start or not is_number:
        if CLASS[text[at]] == LINE_END or text[value.start] == c"%":
            return NOT_CLOSED
        return BAD_INDEX
    if attribute >= n_attributes:
        return INDEX_RANGE
    if attribute <= last:
        return INDEX_ORDER
    value.after = _skip_blanks(text, at)
    return attribute


cdef inline int64_t _add_omitted(
    const Schema* schema, State* state, const Output* out
) noexcept nogil:
    """Add the labels that are present where a row omits them; give -1, or one that is neither."""
    cdef Py_ssize_t place
    cdef int64_t odd
    for place in range(schema.n_odd_labels):
        odd = schema.odd_labels[place]
        if schema.seen[odd] == state.line:
            continue
        if schema.roles[odd].omitted != 1:
            return odd
        _add_present(state, out, &schema.roles[odd])
    return -1


cdef int _sparse_row(
    const Schema* schema, const uint8_t* text, State* state, const Output* out
) noexcept nogil:
    cdef int64_t number = 0  # of the value in its row
    cdef int64_t attribute = -1
    cdef const Role* role
    cdef Value value
    value.start = state.at
    value.end = state.at + 1
    if CLASS[text[state.at]] != OPEN:
        return _fail(state, out, OTHER_FORM, 1, -1, &value)
    value.after = _skip_blanks(text, state.at + 1)
    while CLASS[text[value.after]] != CLOSE:
        number += 1
        attribute = _read_index(text, &value, attribute, schema.n_attributes)
        if attribute < 0:
            return _fail(state, out, <int> attribute, number, -1, &value)
        role = &schema.roles[attribute]
        _read_value(schema, role, text, value.after, &value)
        if value.found < 0:
            return _fail(state, out, value.found, number, attribute, &value)
        if value.found != READ:
            _note(state, out, state.n_values, attribute, number, &value)
        if role.kind >= NUMBER_LABEL:
            schema.seen[attribute] = state.line
            if value.number == 1.0:
                _add_present(state, out, role)
        elif value.number != 0.0 or value.found != READ:
            out.indices[state.n_values] = <int32_t> role.column
            out.values[state.n_values] = value.number
            state.n_values += 1
    attribute = _add_omitted(schema, state, out)
    if attribute >= 0:
        return _fail(state, out, OMITTED_LABEL, max(number, 1), attribute, &value)
    value.after += 1
    while CLASS[text[value.after]] == BLANK or CLASS[text[value.after]] == COMMA:
        value.after += 1
    if _finish_row(text, value.after, state, out, number + 1) < 0:
        return AFTER_ROW
    return DONE


cdef int _parse(
    const Schema* schema, const uint8_t* text, Py_ssize_t size, State* state, const Output* out,
    bint sparse,
) noexcept nogil:
    """Read rows while every attribute of one more, its weight and a fault would fit the output."""
    cdef Py_ssize_t width = schema.n_attributes
    cdef int ended
    while True:
        _next_row(text, size, state)
        if state.at == size:
            return DONE
        if (
            state.n_rows >= out.most_rows
            or (sparse and width > out.most_values - state.n_values)
            or width > out.most_present - state.n_present
            or width + 1 >= out.most_events - state.n_events
        ):
            return FULL
        if sparse:
            ended = _sparse_row(schema, text, state, out)
        else:
            ended = _dense_row(schema, text, state, out)
        if ended < 0:
            return ended
