from typing import NamedTuple

from scumble._core.arrays import Array

NO_LABEL: int
LABEL_TOO_LARGE: int
NO_PAIR: int
NO_INDEX: int
INDEX_TOO_LARGE: int
NO_VALUE: int
LABEL_IS_NAME: int

class ParsedLines(NamedTuple):
    fault: int
    position: int
    n_lines: int
    all_integers: bool
    is_sorted: bool
    labels: Array
    indices: Array
    values: Array
    long_numbers: Array
    rows: Array

def parse_lines(text: Array, lenient: bool, label_limit: int, index_limit: int) -> ParsedLines: ...
