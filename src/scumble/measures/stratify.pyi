from scumble._core.arrays import Array

def stratify(
    indptr: Array,
    indices: Array,
    column_indptr: Array,
    column_rows: Array,
    n_folds: int,
    first_choice: Array,
    wanted: Array | None = None,
    wanted_rows: Array | None = None,
) -> Array: ...
