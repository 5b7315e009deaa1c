from collections.abc import Sequence

from scumble._core.arrays import Array

def count_sides(
    indptr: Array,
    indices: Array,
    is_minority: Array,
    rows: Array,
    start: int,
    stop: int,
    n_majority: Array,
    mixed: Array,
) -> None: ...
def write_originals(
    indptr: Array,
    indices: Array,
    is_minority: Array,
    is_split: Array,
    rows: Array | Sequence[int],
    places: Array | Sequence[int],
    new_indptr: Array,
    new_indices: Array,
) -> None: ...
def write_clones(
    indptr: Array,
    indices: Array,
    is_minority: Array,
    rows: Array,
    part: Array | Sequence[int],
    places: Array | Sequence[int],
    new_indptr: Array,
    new_indices: Array,
) -> None: ...
