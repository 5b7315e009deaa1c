from typing import Any

from scumble._core.arrays import Array

def fill_indptr(indptr: Array, rows: Array, new_indptr: Array) -> None: ...
def copy_rows(starts: Array, rows: Array, new_indptr: Array, values: Array) -> Array: ...
def group_by_number(numbers: Array, ends: Array, rows: Array) -> None: ...
def distribute_budget(total: int, capacity: Array) -> Array: ...
def drop_from_bags(
    rows: Array, starts: Array, sizes: Array, shares: Array, uniforms: Array, is_kept: Array
) -> None: ...
def list_rows(
    indptr: Array, indices: Array, bag_of_label: Array, ends: Array, rows: Array
) -> None: ...
def clone_in_turns(
    indptr: Array,
    indices: Array,
    labels: Array,
    starts: Array,
    bag_rows: Array,
    counts: Array,
    mean_ir: float,
    uniforms: Array,
) -> Array: ...
def list_unprotected(
    indptr: Array, indices: Array, is_minority: Array, counts: Array, candidates: Array
) -> Array: ...
def delete_in_turns(
    indptr: Array,
    indices: Array,
    candidates: Array,
    pools: Any,
    mean_ir: float,
    state: Any,
    uniforms: Array,
    is_kept: Array,
) -> tuple[int, int, int, int]: ...
