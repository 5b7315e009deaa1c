from typing import Any

import numpy as np

from scumble._core.arrays import Array

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

NUMBER: int
NOMINAL: int
TEXT: int
NUMBER_LABEL: int
NOMINAL_LABEL: int
WEIGHT: int

LATER_ESCAPED: int
LATER_LONG: int

ROLE: np.dtype[Any]
ENTRY: np.dtype[Any]
EVENT: np.dtype[Any]
ROW_ENDS: np.dtype[Any]

class Parser:
    line: int
    def __init__(
        self,
        roles: Array,
        entries: Array,
        blob: Array,
        null_is_missing: bool,
        line: int,
    ) -> None: ...
    def next_row(self, text: Array) -> int: ...
    def parse(self, text: Array, position: int, rows: Any) -> tuple[int, dict[str, int]]: ...
