from scumble._core.arrays import Array

def count_majority_labels(
    indptr: Array,
    indices: Array,
    is_minority: Array,
    rows: Array,
    start: int,
    stop: int,
    n_majority: Array,
    is_mixed: Array,
) -> None: ...
def write_rows(
    indptr: Array,
    indices: Array,
    is_split: Array,
    is_kept: Array,
    rows: Array | None,
    new_indptr: Array,
    new_indices: Array,
    n_before: int,
) -> None: ...
