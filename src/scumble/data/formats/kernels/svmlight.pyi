from scumble._core.arrays import Array

FINE: int
NO_LABEL: int
LABEL_TOO_LARGE: int
NO_PAIR: int
NO_INDEX: int
INDEX_TOO_LARGE: int
NO_VALUE: int
A_NAME: int

def parse_lines(
    text: Array,
    rules: tuple[bool, int, int],
    labels: Array,
    indices: Array,
    values: Array,
    long_at: Array,
    rows: Array,
) -> tuple[int, int, int, int, int, int, int, bool, bool]: ...
