from scumble._core.arrays import Array

AT: int
LINE: int
N_ROWS: int
N_VALUES: int
N_PRESENT: int
N_EVENTS: int
FAULT_VALUE: int
FAULT_ATTRIBUTE: int
FAULT_START: int
FAULT_END: int
STATE_SIZE: int

DONE: int
FULL: int
SHORT_ROW: int
LONG_ROW: int
EMPTY_VALUE: int
OPEN_QUOTE: int
NO_SEPARATOR: int
BAD_NUMBER: int
UNDECLARED: int
BAD_LABEL: int
MISSING_LABEL: int
OMITTED_LABEL: int
BAD_INDEX: int
INDEX_RANGE: int
INDEX_ORDER: int
NOT_CLOSED: int
AFTER_ROW: int
OTHER_FORM: int

KIND: int
COLUMN: int
DOMAIN: int
DEFAULT: int
NUMBER: int
NOMINAL: int
TEXT: int
NUMBER_LABEL: int
NOMINAL_LABEL: int

V_PLACE: int
V_ATTRIBUTE: int
V_START: int
V_END: int
V_HOW: int
V_LINE: int
V_VALUE: int
EVENT_SIZE: int
WEIGHT: int

READ: int
LATER: int
LATER_ESCAPED: int
LATER_LONG: int

class Attributes:
    def __init__(self, roles: Array, entries: Array, blob: Array, nulls: bool) -> None: ...

def next_row(text: Array, at: int, line: int) -> tuple[int, int]: ...
def parse_dense(
    text: Array,
    state: Array,
    attributes: Attributes,
    X: Array,
    present: Array,
    ends: Array,
    events: Array,
) -> int: ...
def parse_sparse(
    text: Array,
    state: Array,
    attributes: Attributes,
    indices: Array,
    values: Array,
    present: Array,
    ends: Array,
    events: Array,
) -> int: ...
