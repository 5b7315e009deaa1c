"""Parser for the data section of ARFF files: one pass, no Python code per cell.

A value is a word, which ends at a blank, comma or brace, or a quoted text. Values that only Python
can parse (texts, dates, numbers too long for exact arithmetic, escaped nominal values that the
header spells otherwise) are listed in ``events``; all others are written to the output arrays. The
parser stops at the end of the text, at the first fault, or before a row that may not fit the free
space of the output arrays; the next call continues there.

The text ends with a line end, which the public methods check. No loop moves past a line end except
`_find_row`, which checks the size. Therefore no other loop has to check for the end of the array.
"""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memset

from scumble.data.formats.kernels.numbers cimport (
    LONG, NO_END, NO_NUMBER, Number, read_number,
)

import numpy as np

# Why the parser stopped. Negative numbers are faults.
cpdef enum:
    DONE = 0
    FULL = 1
    SHORT_ROW = -1  # fewer values than attributes
    LONG_ROW = -2
    EMPTY_VALUE = -3
    OPEN_QUOTE = -4  # a quote that is not closed in its line
    NO_SEPARATOR = -5  # no comma or blank follows a value
    BAD_NUMBER = -6
    UNDECLARED = -7  # a nominal value that the header does not declare
    BAD_LABEL = -8  # a label that is neither 0 nor 1
    MISSING_LABEL = -9
    OMITTED_LABEL = -10  # a sparse row omits a label whose first declared value is not 0 or 1
    BAD_INDEX = -11  # no number of an attribute in a sparse row
    INDEX_RANGE = -12  # a number beyond the last attribute
    INDEX_ORDER = -13  # a number that is not larger than the one before it
    NOT_CLOSED = -14  # no closing brace
    AFTER_ROW = -15  # text after the closing brace
    OTHER_FORM = -16  # a sparse row among dense ones, or the reverse

# The kind of a role. Labels are NUMBER_LABEL and larger numbers.
cpdef enum:
    NUMBER = 0
    NOMINAL = 1
    TEXT = 2
    NUMBER_LABEL = 3
    NOMINAL_LABEL = 4
    WEIGHT = -1  # as attribute of an event

# The status of a value; faults are negative. Python has to parse values whose status is LATER.
cpdef enum:
    PARSED = 0
    LATER = 1  # a text without escapes
    LATER_ESCAPED = 2  # a text with escapes
    LATER_LONG = 3  # a number too long for exact arithmetic

# Classes of bytes outside of quotes.
cdef enum:
    IN_WORD
    BLANK
    LINE_END
    COMMA
    OPEN
    CLOSE

cdef uint8_t[256] BYTE_CLASSES


cdef void _classify_bytes() noexcept:
    """Fill the table of byte classes."""
    cdef int byte
    for byte in range(256):
        BYTE_CLASSES[byte] = BLANK if byte < 33 else IN_WORD
    BYTE_CLASSES[c"\n"] = BYTE_CLASSES[c"\r"] = LINE_END
    BYTE_CLASSES[c","] = COMMA
    BYTE_CLASSES[c"{"] = OPEN
    BYTE_CLASSES[c"}"] = CLOSE


_classify_bytes()


cdef struct Role:  # of an attribute
    int64_t kind
    int64_t column  # among the features, or among the labels
    int64_t domain  # number of the set of nominal values
    int64_t omitted  # value of a label that a sparse row omits: 0, 1, or -1 if it is neither


cdef struct Entry:  # a declared nominal value
    int64_t domain
    int64_t code
    int64_t start
    int64_t length
    int64_t escaped
    int64_t present  # 0, 1, or -1 if it is neither


cdef struct Event:  # a value left to Python, or a fault
    int64_t index  # among the values of the output, or the row of a weight
    int64_t attribute
    int64_t start  # of the text
    int64_t end
    int64_t status
    int64_t line
    int64_t number  # of the value in its row, from 1


cdef struct RowEnds:  # ends of the labels and of the values of a row in the output
    int64_t labels
    int64_t values


cdef struct State:  # progress of the parser; a fault is the last of the events
    Py_ssize_t position  # of the next byte
    int64_t line
    Py_ssize_t n_rows
    Py_ssize_t n_values
    Py_ssize_t n_present
    Py_ssize_t n_events


# The dtypes of the records, for Python.
cdef Role _role
cdef Entry _entry
cdef Event _event
cdef RowEnds _row_ends
ROLE = np.asarray(<Role[:1]> &_role).dtype
ENTRY = np.asarray(<Entry[:1]> &_entry).dtype
EVENT = np.asarray(<Event[:1]> &_event).dtype
ROW_ENDS = np.asarray(<RowEnds[:1]> &_row_ends).dtype


cdef struct Schema:  # the declarations of the header
    const Role* roles
    Py_ssize_t n_attributes
    const int64_t* omission_labels  # labels that are not 0 in a sparse row that omits them
    Py_ssize_t n_omission_labels
    int64_t* last_lines  # the last line in which a sparse row names each attribute
    const Entry* entries
    const uint8_t* blob  # texts of the entries
    int32_t* hash_table  # numbers of entries, -1 in free slots
    uint64_t mask  # size of the hash table, a power of two, minus 1
    bint null_is_missing


cdef struct Output:
    double* values
    int32_t* indices
    int32_t* present
    RowEnds* row_ends
    Event* events
    Py_ssize_t n_columns  # of dense rows
    Py_ssize_t max_rows
    Py_ssize_t max_values
    Py_ssize_t max_present
    Py_ssize_t max_events


cdef struct Value:
    int status
    double number
    Py_ssize_t start  # of the text
    Py_ssize_t end
    Py_ssize_t next_position  # after the value and its separator


cdef class Parser:
    """Parser of rows, with the declarations of the header and the number of the next line.

    ``roles`` has a record per attribute, ``entries`` one per declared nominal value, whose text
    is in ``blob``. With ``null_is_missing`` the word ``<null>`` is a missing value.
    """

    cdef Schema schema
    cdef Py_ssize_t n_features
    cdef object arrays  # that own the memory that schema points to
    cdef readonly int64_t line

    def __cinit__(
        self, Role[::1] roles, Entry[::1] entries, const uint8_t[::1] blob, bint null_is_missing,
        int64_t line,
    ):
        cdef Schema* schema = &self.schema
        cdef Py_ssize_t n_entries = entries.shape[0]
        cdef Py_ssize_t position
        cdef int64_t n_available
        cdef int64_t[::1] last_lines = np.zeros(roles.shape[0], np.int64)
        cdef const int64_t[::1] omission_labels = (
            np.flatnonzero(np.asarray(roles)["omitted"]).astype(np.int64)
        )
        cdef int32_t[::1] hash_table = np.full(1 << (2 * n_entries + 1).bit_length(), -1, np.int32)
        self.line = line
        self.arrays = roles, entries, blob, last_lines, omission_labels, hash_table
        schema.n_attributes = roles.shape[0]
        if roles.shape[0]:
            schema.roles = &roles[0]
            schema.last_lines = &last_lines[0]
        schema.n_omission_labels = omission_labels.shape[0]
        if omission_labels.shape[0]:
            schema.omission_labels = &omission_labels[0]
        if n_entries:
            schema.entries = &entries[0]
        if blob.shape[0]:
            schema.blob = &blob[0]
        schema.hash_table = &hash_table[0]
        schema.mask = hash_table.shape[0] - 1
        schema.null_is_missing = null_is_missing
        for position in range(n_entries):
            n_available = blob.shape[0] - entries[position].start
            if not 0 <= entries[position].length <= n_available <= blob.shape[0]:
                raise ValueError("A declared value is not within the blob.")
            _add_entry(schema, position)
        for position in range(schema.n_attributes):
            if roles[position].column < 0:
                raise ValueError("A column is negative.")
            if roles[position].kind < NUMBER_LABEL:
                self.n_features = max(self.n_features, roles[position].column + 1)

    def next_row(self, const uint8_t[::1] text):
        """Skip empty lines and comments; return the position of the next row, or the end."""
        cdef State state
        state.position, state.line = 0, self.line
        _find_row(_first_byte(text), text.shape[0], &state)
        self.line = state.line
        return state.position

    def parse(self, const uint8_t[::1] text, Py_ssize_t position, rows):
        """Parse rows from a position on into the arrays that are attributes of ``rows``.

        Returns why the parser stopped (DONE, FULL or a fault) and a dictionary with the new
        position and the numbers of rows, values, present labels and events.

        Rows are dense, such as ``1.5,red,0,1``, if ``rows.indices`` is None, else sparse, such as
        ``{0 1.5, 3 red}``. The features are written to ``rows.values`` row by row; of sparse rows
        only those that are not zero, with their columns in ``rows.indices``. ``rows.present`` gets
        the numbers of the labels that are present, row by row. ``rows.row_ends`` says where the
        labels and the sparse values of each row end. ``rows.events`` lists the values that Python
        has to parse; after a fault its last record is the fault.
        """
        cdef const uint8_t* start = _first_byte(text)
        cdef double[::1] values = rows.values
        cdef int32_t[::1] indices = rows.indices
        cdef int32_t[::1] present = rows.present
        cdef RowEnds[::1] row_ends = rows.row_ends
        cdef Event[::1] events = rows.events
        cdef Output out
        cdef State state
        cdef int status
        if not 0 <= position <= text.shape[0] or 0 in (len(present), len(events)):
            raise IndexError("There is no such position, or an output array is empty.")
        memset(&state, 0, sizeof(State))
        state.position, state.line = position, self.line
        out.n_columns = self.n_features
        out.values = &values[0] if values.shape[0] else NULL
        out.indices = &indices[0] if indices is not None and indices.shape[0] else NULL
        out.max_values = values.shape[0]
        out.max_rows = row_ends.shape[0]
        if indices is not None:
            out.max_values = min(out.max_values, indices.shape[0])
        elif self.n_features:
            out.max_rows = min(out.max_rows, out.max_values // self.n_features)
        out.row_ends = &row_ends[0] if row_ends.shape[0] else NULL
        out.present = &present[0]
        out.max_present = present.shape[0]
        out.events = &events[0]
        out.max_events = events.shape[0]
        with nogil:
            status = _parse(&self.schema, start, text.shape[0], &state, &out, indices is not None)
        self.line = state.line
        return status, state


cdef void _add_entry(Schema* schema, Py_ssize_t number) noexcept nogil:
    """Add the declared value with a number to the hash table, unless an equal one is there."""
    cdef const Entry* entry = &schema.entries[number]
    cdef int64_t index = _find_entry(
        schema, schema.blob, entry.start, entry.start + entry.length, entry.domain, entry.escaped
    )
    if index < 0:
        schema.hash_table[-1 - index] = <int32_t> number


cdef int64_t _find_entry(
    const Schema* schema, const uint8_t* text, Py_ssize_t start, Py_ssize_t end, int64_t domain,
    int64_t escaped,
) noexcept nogil:
    """Return the number of the entry of a nominal value, ``text[start:end]`` in a domain.

    If there is none, return -1 - slot, with the free slot of the hash table that it belongs to.

    There is always a free slot: the hash table has more than twice as many slots as values.
    """
    cdef uint64_t code = <uint64_t> (2 * domain + escaped) * 0x9E3779B97F4A7C15ULL
    cdef const Entry* entry
    cdef uint64_t slot
    cdef Py_ssize_t position, offset
    code ^= 0xCBF29CE484222325ULL
    for position in range(start, end):
        code = (code ^ text[position]) * 0x100000001B3ULL
    slot = (code ^ (code >> 32)) & schema.mask
    while schema.hash_table[slot] >= 0:
        entry = &schema.entries[schema.hash_table[slot]]
        if entry.length == end - start and entry.domain == domain and entry.escaped == escaped:
            offset = entry.start - start
            position = start
            while position < end and text[position] == schema.blob[position + offset]:
                position += 1
            if position == end:
                return schema.hash_table[slot]
        slot = (slot + 1) & schema.mask
    return -1 - <int64_t> slot


cdef inline Py_ssize_t _skip_blanks(const uint8_t* text, Py_ssize_t position) noexcept nogil:
    """Return the position of the first byte that is not a blank."""
    while BYTE_CLASSES[text[position]] == BLANK:
        position += 1
    return position


cdef inline Py_ssize_t _find_line_end(const uint8_t* text, Py_ssize_t position) noexcept nogil:
    """Return the position of the end of the line."""
    while BYTE_CLASSES[text[position]] != LINE_END:
        position += 1
    return position


cdef inline int _read_decimal(
    const uint8_t* text, Py_ssize_t* position, double* value
) noexcept nogil:
    """Parse the word that begins at a position as a number, and move the position past it.

    Returns PARSED, LATER_LONG, or LATER if the word is not a number.
    """
    # A line end stops every number: there is no need to know where the text ends.
    cdef Number number = read_number(text, position[0], NO_END, c".")
    value[0] = number.value
    position[0] = number.end
    if number.status == NO_NUMBER or BYTE_CLASSES[text[number.end]] == IN_WORD:
        return LATER
    return LATER_LONG if number.status == LONG else PARSED


cdef const uint8_t* _first_byte(const uint8_t[::1] text) except? NULL:
    """Return a pointer to the first byte of a text; raise ValueError if no line end ends it."""
    if text.shape[0] == 0 or text[text.shape[0] - 1] != c"\n":
        raise ValueError("The text does not end with a line end.")
    return &text[0]


cdef inline void _find_row(const uint8_t* text, Py_ssize_t size, State* state) noexcept nogil:
    """Move ``state`` past empty lines and comments to the next row, or to the end of the text."""
    cdef Py_ssize_t position = state.position
    while position < size:
        position = _skip_blanks(text, position)
        if text[position] == c"%":
            position = _find_line_end(text, position)
        if BYTE_CLASSES[text[position]] != LINE_END:
            break
        if text[position] == c"\r" and position + 1 < size and text[position + 1] == c"\n":
            position += 1
        position += 1
        state.line += 1
    state.position = position


cdef inline bint _is_null(const uint8_t* text, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Return whether a word is ``<null>``."""
    return end - start == 6 and memcmp(text + start, b"<null>", 6) == 0


cdef inline int _read_quoted(
    const uint8_t* text, Py_ssize_t position, bint is_number, Value* value
) noexcept nogil:
    """Parse a quoted text whose quote is at a position; return its status, or OPEN_QUOTE.

    Sets the bounds of the text in ``value``, and its number if it is 0 or 1 and should be a number.
    """
    cdef uint8_t quote = text[position]
    cdef int status = LATER
    position += 1
    value.start = position
    while text[position] != quote and BYTE_CLASSES[text[position]] != LINE_END:
        if text[position] == c"\\" and BYTE_CLASSES[text[position + 1]] != LINE_END:
            status = LATER_ESCAPED
            position += 1
        position += 1
    value.end = value.next_position = position
    if text[position] != quote:
        return OPEN_QUOTE
    value.next_position += 1
    if is_number and position - value.start == 1 and text[position - 1] | 1 == c"1":
        value.number = text[position - 1] - 48
        return PARSED
    return status


cdef void _read_value(
    const Schema* schema, const Role* role, const uint8_t* text, Py_ssize_t position, Value* value
) noexcept nogil:
    """Parse the value at a position into ``value`` and skip one separator: blanks, maybe a comma.

    Quotes and percent signs inside a word belong to it.
    """
    cdef bint is_number = role.kind == NUMBER or role.kind == NUMBER_LABEL
    cdef bint is_missing = False
    cdef bint is_flag
    cdef int status = LATER
    cdef Py_ssize_t end = position
    value.number = 0.0
    if text[position] == c"'" or text[position] == c'"':
        status = value.status = _read_quoted(text, position, is_number, value)
        if status < 0:
            return
        end = value.next_position
    else:
        value.start = position
        if is_number:
            status = _read_decimal(text, &end, &value.number)
        if status != PARSED:
            while BYTE_CLASSES[text[end]] == IN_WORD:
                end += 1
            is_missing = (
                (text[position] == c"?" and end == position + 1)
                or (schema.null_is_missing and _is_null(text, position, end))
            )
        value.end = end
        if end == position or text[position] == c"%":
            value.status = EMPTY_VALUE
            value.next_position = position
            return
    position = _skip_blanks(text, end)
    if BYTE_CLASSES[text[position]] == COMMA:
        position = _skip_blanks(text, position + 1)
    elif position == end and BYTE_CLASSES[text[position]] == IN_WORD:
        status = NO_SEPARATOR
    value.next_position = position
    if status == NO_SEPARATOR or role.kind == NUMBER and not is_missing:
        value.status = status
    elif is_missing:
        value.number = NAN
        value.status = MISSING_LABEL if role.kind >= NUMBER_LABEL else PARSED
    elif role.kind == TEXT:
        value.status = status
    elif is_number:
        is_flag = status == PARSED and (value.number == 0.0 or value.number == 1.0)
        value.status = PARSED if is_flag else BAD_LABEL
    else:
        value.status = _read_nominal(schema, role, text, status == LATER_ESCAPED, value)


cdef inline int _read_nominal(
    const Schema* schema, const Role* role, const uint8_t* text, bint escaped, Value* value
) noexcept nogil:
    """Set ``value.number`` to the code of a nominal value, or to 0 or 1 for a label.

    Return the status of the value, or a fault.
    """
    cdef bint is_label = role.kind == NOMINAL_LABEL
    cdef int64_t number = _find_entry(schema, text, value.start, value.end, role.domain, escaped)
    value.number = 0.0
    if number < 0:
        if is_label:
            return BAD_LABEL
        return LATER_ESCAPED if escaped else UNDECLARED
    if not is_label:
        value.number = <double> schema.entries[number].code
        return PARSED
    value.number = <double> schema.entries[number].present
    return BAD_LABEL if schema.entries[number].present < 0 else PARSED


cdef int _add_event(
    State* state, const Output* out, int64_t index, int64_t attribute, int64_t number,
    const Value* value,
) noexcept nogil:
    """Add an event for a value that is left to Python, or a fault; return its status."""
    cdef Event* event = &out.events[state.n_events]
    event.index = index
    event.attribute = attribute
    event.start = value.start
    event.end = value.end
    event.status = value.status
    event.line = state.line
    event.number = number
    state.n_events += 1
    return value.status


cdef int _add_fault(
    State* state, const Output* out, int fault, int64_t number, int64_t attribute, Value* value
) noexcept nogil:
    """Add an event for a fault and return the fault."""
    value.status = fault
    return _add_event(state, out, state.n_rows, attribute, number, value)


cdef int _finish_row(
    const uint8_t* text, Py_ssize_t position, State* state, const Output* out, int64_t number
) noexcept nogil:
    """Find the weight that may end a row, and the end of the line; return DONE or a fault.

    Python parses the weight, because few files have any.
    """
    cdef Value value
    value.status = LATER
    if BYTE_CLASSES[text[position]] == OPEN:
        value.start = position + 1
        while BYTE_CLASSES[text[position]] != CLOSE and BYTE_CLASSES[text[position]] != LINE_END:
            position += 1
        value.end = position
        _add_event(state, out, state.n_rows, WEIGHT, number, &value)
        if BYTE_CLASSES[text[position]] == CLOSE:
            position += 1
        position = _skip_blanks(text, position)
    value.start = position
    value.end = _find_line_end(text, position)
    if value.end > position and text[position] != c"%":
        return _add_fault(state, out, LONG_ROW, number, WEIGHT, &value)
    state.position = value.end
    out.row_ends[state.n_rows].labels = state.n_present
    out.row_ends[state.n_rows].values = state.n_values
    state.n_rows += 1
    return DONE


cdef inline void _add_present(State* state, const Output* out, const Role* label) noexcept nogil:
    """Add a label that is present to the output."""
    out.present[state.n_present] = <int32_t> label.column
    state.n_present += 1


cdef int _parse_dense_row(
    const Schema* schema, const uint8_t* text, State* state, const Output* out
) noexcept nogil:
    """Parse a dense row and return DONE or a fault."""
    cdef Py_ssize_t position = state.position
    cdef Py_ssize_t attribute = 0
    cdef double* row = out.values + state.n_rows * out.n_columns
    cdef const Role* role
    cdef Value value
    cdef int fault
    value.status = OTHER_FORM if BYTE_CLASSES[text[position]] == OPEN else PARSED
    value.start = position
    value.end = position + 1
    while value.status >= 0 and attribute < schema.n_attributes:
        role = &schema.roles[attribute]
        _read_value(schema, role, text, position, &value)
        position = value.next_position
        if value.status < 0:
            break
        if role.kind < NUMBER_LABEL:
            row[role.column] = value.number
        elif value.number == 1.0:
            _add_present(state, out, role)
        attribute += 1
        if value.status != PARSED:
            _add_event(state, out, &row[role.column] - out.values, attribute - 1, attribute, &value)
    fault = value.status
    if fault < 0:
        if fault == EMPTY_VALUE and (
            text[position] == c"%" or BYTE_CLASSES[text[position]] == LINE_END
        ):
            fault = SHORT_ROW
        return _add_fault(state, out, fault, attribute + 1, attribute, &value)
    return _finish_row(text, position, state, out, attribute + 1)


cdef inline int64_t _read_index(
    const uint8_t* text, Value* value, int64_t last, int64_t n_attributes
) noexcept nogil:
    """Parse the number of an attribute in a sparse row; return it, or a fault.

    It must exceed ``last``, the number before it.
    """
    cdef Py_ssize_t position = value.next_position
    cdef bint is_number = True
    cdef int64_t attribute = 0
    cdef uint8_t digit
    value.start = position
    while BYTE_CLASSES[text[position]] == IN_WORD:
        digit = <uint8_t> (text[position] - 48)
        is_number = is_number and digit <= 9
        attribute = min(attribute * 10 + digit, n_attributes)
        position += 1
    value.end = position
    if position == value.start or not is_number:
        if BYTE_CLASSES[text[position]] == LINE_END or text[value.start] == c"%":
            return NOT_CLOSED
        return BAD_INDEX
    if attribute >= n_attributes:
        return INDEX_RANGE
    if attribute <= last:
        return INDEX_ORDER
    value.next_position = _skip_blanks(text, position)
    return attribute


cdef inline int64_t _add_omitted(
    const Schema* schema, State* state, const Output* out
) noexcept nogil:
    """Add the labels that are present because a sparse row omits them to the output.

    Return -1, or the attribute of a label that is neither 0 nor 1 if omitted.
    """
    cdef Py_ssize_t index
    cdef int64_t label
    for index in range(schema.n_omission_labels):
        label = schema.omission_labels[index]
        if schema.last_lines[label] == state.line:
            continue
        if schema.roles[label].omitted != 1:
            return label
        _add_present(state, out, &schema.roles[label])
    return -1


cdef int _parse_sparse_row(
    const Schema* schema, const uint8_t* text, State* state, const Output* out
) noexcept nogil:
    """Parse a sparse row and return DONE or a fault."""
    cdef int64_t number = 0  # of the value in its row
    cdef int64_t attribute = -1
    cdef const Role* role
    cdef Value value
    value.start = state.position
    value.end = state.position + 1
    if BYTE_CLASSES[text[state.position]] != OPEN:
        return _add_fault(state, out, OTHER_FORM, 1, -1, &value)
    value.next_position = _skip_blanks(text, state.position + 1)
    while BYTE_CLASSES[text[value.next_position]] != CLOSE:
        number += 1
        attribute = _read_index(text, &value, attribute, schema.n_attributes)
        if attribute < 0:
            return _add_fault(state, out, <int> attribute, number, -1, &value)
        role = &schema.roles[attribute]
        _read_value(schema, role, text, value.next_position, &value)
        if value.status < 0:
            return _add_fault(state, out, value.status, number, attribute, &value)
        if value.status != PARSED:
            _add_event(state, out, state.n_values, attribute, number, &value)
        if role.kind >= NUMBER_LABEL:
            schema.last_lines[attribute] = state.line
            if value.number == 1.0:
                _add_present(state, out, role)
        elif value.number != 0.0 or value.status != PARSED:
            out.indices[state.n_values] = <int32_t> role.column
            out.values[state.n_values] = value.number
            state.n_values += 1
    attribute = _add_omitted(schema, state, out)
    if attribute >= 0:
        return _add_fault(state, out, OMITTED_LABEL, max(number, 1), attribute, &value)
    value.next_position += 1
    while (
        BYTE_CLASSES[text[value.next_position]] == BLANK
        or BYTE_CLASSES[text[value.next_position]] == COMMA
    ):
        value.next_position += 1
    if _finish_row(text, value.next_position, state, out, number + 1) < 0:
        return AFTER_ROW
    return DONE


cdef int _parse(
    const Schema* schema, const uint8_t* text, Py_ssize_t size, State* state, const Output* out,
    bint sparse,
) noexcept nogil:
    """Parse rows until the end of the text, a fault, or a row that may not fit the free output.

    Return DONE, a fault, or FULL. A row may need space for all attributes, its weight and a fault.
    """
    cdef Py_ssize_t width = schema.n_attributes
    cdef int status
    while True:
        _find_row(text, size, state)
        if state.position == size:
            return DONE
        if (
            state.n_rows >= out.max_rows
            or (sparse and width > out.max_values - state.n_values)
            or width > out.max_present - state.n_present
            or width + 1 >= out.max_events - state.n_events
        ):
            return FULL
        if sparse:
            status = _parse_sparse_row(schema, text, state, out)
        else:
            status = _parse_dense_row(schema, text, state, out)
        if status < 0:
            return status
