from scumble._core.arrays import Array

NO_LABEL: int
LABEL_TOO_LARGE: int
NO_PAIR: int
NO_INDEX: int
INDEX_TOO_LARGE: int
NO_VALUE: int
LABEL_IS_NAME: int

def parse_lines(
    text: Array, rules: tuple[bool, int, int]
) -> tuple[int, int, int, bool, bool, Array, Array, Array, Array, Array]: ...
