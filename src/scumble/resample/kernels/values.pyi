from scumble._core.arrays import Array

def count_dense(
    values: Array, n_values: Array, starts: Array, rows: Array, counts: Array
) -> None: ...
def count_sparse(
    indptr: Array,
    indices: Array,
    data: Array,
    n_values: Array,
    starts: Array,
    rows: Array,
    counts: Array,
) -> None: ...
