"""Compiled tokenizer for the data section of ARFF files: one pass, no Python per cell.

A value is a word, which ends at a blank, comma or brace, or a quoted text. What only Python can
read (texts, dates, numbers too long for exact arithmetic, escaped nominal values not spelled as in
the header) is left in ``events``; everything else lands in the output arrays. Both parsers stop
at the end of the text, at the first fault, or before a row that may not fit what is left of the
output arrays; called again they go on from there.

Compiling is what a small file costs most, and numba compiles every function by itself: hence few
functions, larger than elsewhere. The text must end with a line end, so that no loop has to watch
for the end of the array.
"""

import numpy as np

from scumble._core.jit import kernel

# Places in `state`, which goes in and comes out of the parsers.
AT, LINE, N_ROWS, N_VALUES, N_PRESENT, N_EVENTS = range(6)
# Filled at a fault: the value's number in its row, its attribute, its place in the text.
FAULT_VALUE, FAULT_ATTRIBUTE, FAULT_START, FAULT_END = range(6, 10)
STATE_SIZE = 10

# How a parser ended. Negative numbers are faults.
DONE, FULL = 0, 1
SHORT_ROW, LONG_ROW, EMPTY_VALUE, OPEN_QUOTE, NO_SEPARATOR = -1, -2, -3, -4, -5
BAD_NUMBER, UNDECLARED, BAD_LABEL, MISSING_LABEL, OMITTED_LABEL = -6, -7, -8, -9, -10
BAD_INDEX, INDEX_RANGE, INDEX_ORDER, NOT_CLOSED = -11, -12, -13, -14
AFTER_ROW, OTHER_FORM = -15, -16

# Columns of `roles`, one row an attribute. Kinds from NUMBER_LABEL on are labels.
KIND, COLUMN, DOMAIN, DEFAULT = range(4)
NUMBER, NOMINAL, TEXT, NUMBER_LABEL, NOMINAL_LABEL = range(5)

# Columns of `entries`, one row a declared nominal value.
E_DOMAIN, E_CODE, E_START, E_LENGTH, E_ESCAPED, E_PRESENT = range(6)

# Columns of `events`: where the value belongs, what it is, where its text stands.
V_PLACE, V_ATTRIBUTE, V_START, V_END, V_HOW, V_LINE, V_VALUE = range(7)
WEIGHT = -1  # as attribute of an event

# What a value turned out to be; faults are negative. What Python has to read is a text as it
# stands, a text with escapes, or a number too long for exact arithmetic.
READ, LATER, LATER_ESCAPED, LATER_LONG = range(4)

# What bytes do outside of quotes.
_IN_WORD, _BLANK, _LINE_END, _COMMA, _OPEN, _CLOSE = range(6)
_CLASS = np.zeros(256, np.uint8)
_CLASS[:33] = _BLANK
_CLASS[[10, 13]] = _LINE_END
_CLASS[[ord(","), ord("{"), ord("}")]] = _COMMA, _OPEN, _CLOSE

_NEWLINE, _RETURN, _PERCENT, _BACKSLASH = 10, 13, ord("%"), ord("\\")
_SINGLE, _DOUBLE, _QUESTION = ord("'"), ord('"'), ord("?")
_NULL = np.frombuffer(b"<null>", np.uint8)
_ZERO, _NINE, _PLUS, _MINUS, _POINT, _E = (ord(c) for c in "09+-.e")
_LOWER = 32  # the bit that makes an ASCII letter lower case

_SEED, _PRIME, _SPREAD, _FOLD = (
    np.uint64(number) for number in (0xCBF29CE484222325, 0x100000001B3, 0x9E3779B97F4A7C15, 32)
)
_POWERS = 10.0 ** np.arange(23)  # those a double holds exactly
_EXACT = 1 << 53
_MOST_DIGITS = 18  # always fit 63 bits
_FAR = 1 << 20  # an exponent no double reaches


@kernel
def find(text, start, end, domain, escaped, table, entries, blob):
    """Look a nominal value up; give its number, or -1 - s with s the free slot it belongs to."""
    value = _SEED ^ (np.uint64(2 * domain + escaped) * _SPREAD)
    for at in range(start, end):
        value = (value ^ np.uint64(text[at])) * _PRIME
    slot = np.int64((value ^ (value >> _FOLD)) & np.uint64(len(table) - 1))
    while table[slot] >= 0:
        number = table[slot]
        if (
            entries[number, E_LENGTH] == end - start
            and entries[number, E_DOMAIN] == domain
            and entries[number, E_ESCAPED] == escaped
        ):
            offset = entries[number, E_START] - start
            at = start
            while at < end and text[at] == blob[at + offset]:
                at += 1
            if at == end:
                return np.int64(number)
        slot = (slot + 1) & (len(table) - 1)
    return -1 - slot


@kernel
def _read_decimal(text, at):
    """Read a number that begins here and goes on to the end of the word.

    Gives READ, LATER_LONG, or LATER if it is none; the value if it was READ; where it ends, or
    the first byte that does not fit.
    """
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    first = at
    digits = 0
    byte = np.int64(text[at]) - _ZERO
    while byte >= 0 and byte <= 9:
        digits = digits * 10 + byte
        at += 1
        byte = np.int64(text[at]) - _ZERO
    n_digits = at - first
    power = 0
    if text[at] == _POINT:
        at += 1
        point = at
        byte = np.int64(text[at]) - _ZERO
        while byte >= 0 and byte <= 9:
            digits = digits * 10 + byte
            at += 1
            byte = np.int64(text[at]) - _ZERO
        power = point - at
        n_digits -= power
    if n_digits == 0:
        return LATER, 0.0, at
    if text[at] | _LOWER == _E:
        at += 1
        below = text[at] == _MINUS
        if below or text[at] == _PLUS:
            at += 1
        start = at
        exponent = 0
        byte = np.int64(text[at]) - _ZERO
        while byte >= 0 and byte <= 9:
            exponent = min(exponent * 10 + byte, _FAR)
            at += 1
            byte = np.int64(text[at]) - _ZERO
        if at == start:
            return LATER, 0.0, at
        power += -exponent if below else exponent
    if _CLASS[text[at]] == _IN_WORD:
        return LATER, 0.0, at
    if n_digits > _MOST_DIGITS or digits > _EXACT or power > 22 or power < -22:
        return LATER_LONG, 0.0, at
    value = np.float64(digits)
    value = value * _POWERS[power] if power >= 0 else value / _POWERS[-power]
    return READ, (-value if negative else value), at


@kernel
def next_row(text, at, line):
    """Pass over empty lines and comments; give the place and line of the next row, or the end."""
    while at < len(text):
        while _CLASS[text[at]] == _BLANK:
            at += 1
        if text[at] == _PERCENT:
            while _CLASS[text[at]] != _LINE_END:
                at += 1
        if _CLASS[text[at]] != _LINE_END:
            break
        if text[at] == _RETURN and at + 1 < len(text) and text[at + 1] == _NEWLINE:
            at += 1
        at += 1
        line += 1
    return at, line


@kernel
def _read_value(text, at, kind, domain, nulls, table, entries, blob):
    """Read the value that begins here.

    Gives what it is, the value, where its text starts and ends, and what follows after one
    separator: blanks with at most one comma. Quotes and percent signs inside of a word are part
    of it.
    """
    quote = text[at]
    start = at
    escaped = 0
    is_number = kind == NUMBER or kind == NUMBER_LABEL
    found, value = LATER, 0.0
    if quote == _SINGLE or quote == _DOUBLE:
        at += 1
        start = at
        while text[at] != quote and _CLASS[text[at]] != _LINE_END:
            if text[at] == _BACKSLASH and _CLASS[text[at + 1]] != _LINE_END:
                escaped = 1
                at += 1
            at += 1
        end = at
        if text[at] != quote:
            return OPEN_QUOTE, 0.0, start, end, at
        at += 1
        is_missing = False
        if is_number and end - start == 1 and (text[start] == _ZERO or text[start] == _ZERO + 1):
            found, value = READ, np.float64(text[start] - _ZERO)
    else:
        if is_number:
            found, value, at = _read_decimal(text, at)
        while _CLASS[text[at]] == _IN_WORD:
            at += 1
        end = at
        if end == start or quote == _PERCENT:
            return EMPTY_VALUE, 0.0, start, end, start
        is_missing = quote == _QUESTION and end - start == 1
        if nulls and end - start == len(_NULL):
            is_missing = True
            for place in range(len(_NULL)):
                is_missing &= text[start + place] == _NULL[place]
    after = at
    while _CLASS[text[at]] == _BLANK:
        at += 1
    if _CLASS[text[at]] == _COMMA:
        at += 1
        while _CLASS[text[at]] == _BLANK:
            at += 1
    if at == after and _CLASS[text[at]] == _IN_WORD:
        return NO_SEPARATOR, 0.0, start, end, at
    is_label = kind >= NUMBER_LABEL
    if is_missing:
        return (MISSING_LABEL if is_label else READ), np.nan, start, end, at
    if is_number:
        if not is_label:
            return found + escaped, value, start, end, at
        is_fine = found == READ and (value == 0.0 or value == 1.0)
        return (READ if is_fine else BAD_LABEL), value, start, end, at
    if kind == TEXT:
        return LATER + escaped, 0.0, start, end, at
    number = find(text, start, end, domain, escaped, table, entries, blob)
    if number < 0:
        if is_label:
            return BAD_LABEL, 0.0, start, end, at
        return (LATER_ESCAPED if escaped else UNDECLARED), 0.0, start, end, at
    if not is_label:
        return READ, np.float64(entries[number, E_CODE]), start, end, at
    present = entries[number, E_PRESENT]
    return (BAD_LABEL if present < 0 else READ), np.float64(present), start, end, at


@kernel
def _finish_row(text, at, state, events, value):
    """Find the weight that may end a row; give a fault or DONE, and the end of the line.

    Python reads the weight: few files have any.
    """
    if _CLASS[text[at]] == _OPEN:
        start = at + 1
        while _CLASS[text[at]] != _CLOSE and _CLASS[text[at]] != _LINE_END:
            at += 1
        event = events[state[N_EVENTS]]
        event[V_PLACE], event[V_ATTRIBUTE], event[V_HOW] = state[N_ROWS], WEIGHT, LATER
        event[V_START], event[V_END] = start, at
        event[V_LINE], event[V_VALUE] = state[LINE], value
        state[N_EVENTS] += 1
        if _CLASS[text[at]] == _CLOSE:
            at += 1
        while _CLASS[text[at]] == _BLANK:
            at += 1
    start = at
    while _CLASS[text[at]] != _LINE_END:
        at += 1
    if at == start or text[start] == _PERCENT:
        return DONE, at
    state[FAULT_VALUE], state[FAULT_ATTRIBUTE] = value, WEIGHT
    state[FAULT_START], state[FAULT_END] = start, at
    return LONG_ROW, at


@kernel
def parse_dense(text, state, roles, nulls, table, entries, blob, X, present, row_end, events):
    """Read rows such as ``1.5,red,0,1``.

    Features go to the rows of ``X``; the numbers of the labels that are present follow each other
    in ``present``, those of a row up to its ``row_end``. An event's place is its row.
    """
    n_attributes = len(roles)
    while True:
        at, line = next_row(text, state[AT], state[LINE])
        state[AT], state[LINE] = at, line
        if at == len(text):
            return DONE
        row, n_present, n_events = state[N_ROWS], state[N_PRESENT], state[N_EVENTS]
        if (
            row == len(X)
            or n_present + n_attributes > len(present)
            or n_events + n_attributes >= len(events)
        ):
            return FULL
        found = OTHER_FORM if _CLASS[text[at]] == _OPEN else READ
        start = at
        end = at + 1
        attribute = 0
        while found >= 0 and attribute < n_attributes:
            kind, column = roles[attribute, KIND], roles[attribute, COLUMN]
            found, value, start, end, at = _read_value(
                text, at, kind, roles[attribute, DOMAIN], nulls, table, entries, blob
            )
            if found < 0:
                break
            if kind < NUMBER_LABEL:
                X[row, column] = value
            elif value == 1.0:
                present[n_present] = column
                n_present += 1
            if found != READ:
                event = events[n_events]
                event[V_PLACE], event[V_ATTRIBUTE], event[V_HOW] = row, attribute, found
                event[V_START], event[V_END] = start, end
                event[V_LINE], event[V_VALUE] = line, attribute + 1
                n_events += 1
            attribute += 1
        state[N_EVENTS] = n_events
        if found < 0:
            if found == EMPTY_VALUE and (text[at] == _PERCENT or _CLASS[text[at]] == _LINE_END):
                found = SHORT_ROW
            state[FAULT_VALUE], state[FAULT_ATTRIBUTE] = attribute + 1, attribute
            state[FAULT_START], state[FAULT_END] = start, end
            return found
        found, at = _finish_row(text, at, state, events, n_attributes + 1)
        if found < 0:
            return found
        row_end[row] = n_present
        state[AT], state[N_ROWS], state[N_PRESENT] = at, row + 1, n_present


@kernel
def parse_sparse(
    text,
    state,
    roles,
    nulls,
    table,
    entries,
    blob,
    odd_labels,
    seen,
    indices,
    values,
    value_end,
    present,
    row_end,
    events,
):
    """Read rows such as ``{0 1.5, 3 red}``.

    Nonzero features go to ``indices`` and ``values``, those of a row up to its ``value_end``;
    present labels as in `parse_dense`. An event's place is that of its value. ``odd_labels`` are
    the attributes of labels that do not stand for *absent* where they are omitted; ``seen`` holds
    for each attribute the line it was last met in.
    """
    n_attributes = len(roles)
    while True:
        at, line = next_row(text, state[AT], state[LINE])
        state[AT], state[LINE] = at, line
        if at == len(text):
            return DONE
        n_values, n_present, n_events = state[N_VALUES], state[N_PRESENT], state[N_EVENTS]
        if (
            state[N_ROWS] == len(value_end)
            or n_values + n_attributes > len(values)
            or n_present + n_attributes > len(present)
            or n_events + n_attributes >= len(events)
        ):
            return FULL
        found = READ if _CLASS[text[at]] == _OPEN else OTHER_FORM
        start = at
        end = at + 1
        number = 0  # of the value in its row
        attribute = -1
        if found == READ:
            at += 1
            while _CLASS[text[at]] == _BLANK:
                at += 1
        while found >= 0 and _CLASS[text[at]] != _CLOSE:
            number += 1
            start = at
            last = attribute
            attribute = 0
            while _CLASS[text[at]] == _IN_WORD:
                digit = np.int64(text[at]) - _ZERO
                if digit < 0 or digit > 9:
                    found = BAD_INDEX
                attribute = min(attribute * 10 + digit, n_attributes)
                at += 1
            end = at
            if end == start or found == BAD_INDEX:
                is_over = _CLASS[text[at]] == _LINE_END or text[start] == _PERCENT
                found = NOT_CLOSED if is_over else BAD_INDEX
                attribute = -1
                break
            if attribute >= n_attributes or attribute <= last:
                found = INDEX_RANGE if attribute >= n_attributes else INDEX_ORDER
                attribute = -1
                break
            while _CLASS[text[at]] == _BLANK:
                at += 1
            kind, column = roles[attribute, KIND], roles[attribute, COLUMN]
            found, value, start, end, at = _read_value(
                text, at, kind, roles[attribute, DOMAIN], nulls, table, entries, blob
            )
            if found < 0:
                break
            if found != READ:
                event = events[n_events]
                event[V_PLACE], event[V_ATTRIBUTE], event[V_HOW] = n_values, attribute, found
                event[V_START], event[V_END] = start, end
                event[V_LINE], event[V_VALUE] = line, number
                n_events += 1
            if kind >= NUMBER_LABEL:
                seen[attribute] = line
                if value == 1.0:
                    present[n_present] = column
                    n_present += 1
            elif value != 0.0 or found != READ:
                indices[n_values] = column
                values[n_values] = value
                n_values += 1
        if found >= 0:
            for place in range(len(odd_labels)):
                odd = odd_labels[place]
                if seen[odd] == line:
                    continue
                if roles[odd, DEFAULT] != 1:
                    found, attribute = OMITTED_LABEL, odd
                    break
                present[n_present] = roles[odd, COLUMN]
                n_present += 1
        state[N_EVENTS] = n_events
        if found < 0:
            state[FAULT_VALUE], state[FAULT_ATTRIBUTE] = max(number, 1), attribute
            state[FAULT_START], state[FAULT_END] = start, end
            return found
        at += 1
        while _CLASS[text[at]] == _BLANK or _CLASS[text[at]] == _COMMA:
            at += 1
        found, at = _finish_row(text, at, state, events, number + 1)
        if found < 0:
            return AFTER_ROW
        row = state[N_ROWS]
        value_end[row], row_end[row] = n_values, n_present
        state[AT], state[N_ROWS] = at, row + 1
        state[N_VALUES], state[N_PRESENT] = n_values, n_present
