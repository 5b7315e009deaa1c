from scumble._core.arrays import Array

NO_FAULT: int
NO_LIST: int
UNCLOSED: int
NO_COMMA: int
NO_LABEL: int
AFTER_LIST: int

def parse_lists(text: Array, offsets: Array) -> tuple[int, int, Array, Array, Array]: ...
