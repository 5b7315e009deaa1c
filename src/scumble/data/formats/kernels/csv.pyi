from typing import Any, NamedTuple

from scumble._core.arrays import Array

RAGGED: int
UNCLOSED: int
AFTER_QUOTE: int

DOUBLED: int

class SplitRows(NamedTuple):
    fault: int
    n_lines: int
    n_last_cells: int
    n_columns: int
    n_bytes: int
    bounds: Array
    quoting: Array
    lines: Array

class ParsedFlags(NamedTuple):
    invalid_row: int
    invalid_position: int
    present: Array
    counts: Array

class CopiedCells(NamedTuple):
    data: Array
    offsets: Array
    is_missing: Array

def split_rows(text: Array, delimiter: int, n_columns: int, at_end: bool) -> SplitRows: ...
def parse_numbers(cells: Any, columns: Array, flags: Array, point: int) -> tuple[Array, Array]: ...
def parse_flags(cells: Any, columns: Array) -> ParsedFlags: ...
def copy_cells(cells: Any, column: int) -> CopiedCells: ...
