from scumble._core.arrays import Array

RAGGED: int
UNCLOSED: int
AFTER_QUOTE: int

DOUBLED: int

def split_rows(
    text: Array, delimiter: int, n_columns: int, at_end: bool
) -> tuple[int, int, int, int, int, Array, Array, Array]: ...
def parse_numbers(
    text: Array, cells: Array, n_columns: int, columns: Array, state: Array, point: int
) -> tuple[Array, Array]: ...
def parse_flags(
    text: Array, cells: Array, n_columns: int, columns: Array
) -> tuple[int, int, Array, Array]: ...
def copy_cells(
    text: Array, cells: Array, marks: Array, n_columns: int, column: int
) -> tuple[Array, Array, Array]: ...
