from scumble._core.arrays import Array

def place_rows(indptr: Array, rows: Array, new_indptr: Array) -> None: ...
def copy_rows(begins: Array, rows: Array, places: Array, values: Array) -> Array: ...
def group_by_number(numbers: Array, places: Array, rows: Array) -> None: ...
def share_out(total: int, capacity: Array, change: Array, used: Array) -> None: ...
def drop_from_bags(
    rows: Array, starts: Array, sizes: Array, shares: Array, drawn: Array, keep: Array
) -> None: ...
def list_rows(indptr: Array, indices: Array, number: Array, places: Array, rows: Array) -> None: ...
def clone_in_turns(
    indptr: Array,
    indices: Array,
    bags: tuple[Array, Array, Array],
    counts: Array,
    mean_ir: float,
    drawn: Array,
    clones: Array,
) -> int: ...
def list_unprotected(
    indptr: Array,
    indices: Array,
    is_minority: Array,
    counts: Array,
    is_protected: Array,
    starts: Array,
    listed: Array,
) -> None: ...
def delete_in_turns(
    indptr: Array,
    indices: Array,
    listed: Array,
    lists: tuple[Array, Array, Array, Array, Array],
    mean_ir: float,
    state: Array,
    drawn: Array,
    keep: Array,
) -> None: ...
