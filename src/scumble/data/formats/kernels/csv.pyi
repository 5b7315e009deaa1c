from scumble._core.arrays import Array

FINE: int
RAGGED: int
UNCLOSED: int
AFTER_QUOTE: int

PLAIN: int
QUOTED: int
DOUBLED: int

def split_rows(
    text: Array,
    delimiter: int,
    n_columns: int,
    at_end: bool,
    cells: Array,
    marks: Array,
    lines: Array,
) -> tuple[int, int, int, int, int, int, int]: ...
def parse_numbers(
    text: Array,
    cells: Array,
    n_columns: int,
    columns: Array,
    values: Array,
    state: Array,
    long_at: Array,
    point: int,
) -> int: ...
def parse_flags(
    text: Array, cells: Array, n_columns: int, columns: Array, present: Array, counts: Array
) -> tuple[int, int, int]: ...
def copy_cells(
    text: Array,
    cells: Array,
    marks: Array,
    n_columns: int,
    column: int,
    data: Array,
    offsets: Array,
    missing: Array,
) -> None: ...
