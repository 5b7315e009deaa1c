from scumble._core.arrays import Array

def quadratic_forms(
    indptr: Array, indices: Array, data: Array, matrix: Array, out: Array
) -> None: ...
def add_overlaps(
    indptr: Array,
    indices: Array,
    data: Array,
    point_indptr: Array,
    point_indices: Array,
    point_data: Array,
    out: Array,
) -> None: ...
def add_differences(rows: Array, columns: Array, out: Array) -> None: ...
