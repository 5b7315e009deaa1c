from typing import Any

from scumble._core.arrays import Array

def count_decimals(values: Array) -> Array: ...
def write_rows(
    values: Array,
    decimals: Array,
    columns: Array | None,
    text_numbers: Array,
    row_end: Array,
    endings: Array,
    texts: Any,
) -> Array: ...
