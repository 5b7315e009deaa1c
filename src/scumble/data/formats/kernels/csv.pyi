from typing import Any

from scumble._core.arrays import Array

RAGGED: int
UNCLOSED: int
AFTER_QUOTE: int

DOUBLED: int

def split_rows(
    text: Array, delimiter: int, n_columns: int, at_end: bool
) -> tuple[int, int, int, int, int, Array, Array, Array]: ...
def parse_numbers(cells: Any, columns: Array, state: Array, point: int) -> tuple[Array, Array]: ...
def parse_flags(cells: Any, columns: Array) -> tuple[int, int, Array, Array]: ...
def copy_cells(cells: Any, column: int) -> tuple[Array, Array, Array]: ...
