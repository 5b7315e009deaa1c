from scumble._core.arrays import Array

def count_sides(
    indptr: Array, indices: Array, is_minority: Array, rows: Array
) -> tuple[Array, Array]: ...
def write_rows(
    indptr: Array,
    indices: Array,
    is_split: Array,
    is_kept: Array,
    rows: Array | None,
    part: tuple[int, int, int, int],
    new_indptr: Array,
    new_indices: Array,
) -> None: ...
