from typing import Any

from scumble._core.arrays import Array

def sort_dense(X: Array, columns: Any, block: Any) -> None: ...
def sort_sparse(
    n_rows: int,
    indptr: Array,
    indices: Array,
    data: Array,
    columns: Any,
    first_column: int,
    storage_starts: Array,
    block: Any,
) -> None: ...
def list_items(
    columns: Any,
    column_indptr: Array,
    starts: Array,
    stops: Array,
    codes: Array,
    items_per_row: Array,
) -> int: ...
def group_items_by_row(entries: Array, items: Any, next_positions: Array) -> None: ...
