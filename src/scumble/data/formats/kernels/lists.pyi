from typing import NamedTuple

from scumble._core.arrays import Array

NO_FAULT: int
NO_LIST: int
UNCLOSED: int
NO_COMMA: int
NO_LABEL: int
AFTER_LIST: int

class ParsedLists(NamedTuple):
    fault: int
    cell: int
    counts: Array
    bounds: Array
    has_escape: Array

def parse_lists(text: Array, offsets: Array) -> ParsedLists: ...
