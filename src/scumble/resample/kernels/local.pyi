from scumble._core.arrays import Array

def count_opposite_neighbours(
    indptr: Array,
    indices: Array,
    neighbours: Array,
    n_labels: int,
    start: int,
    stop: int,
    n_opposite: Array,
) -> None: ...
def relabel_rare_as_borderline(
    indptr: Array, indices: Array, neighbours: Array, types: Array
) -> None: ...
def sum_support(
    indptr: Array, indices: Array, neighbours: Array, shares: Array, types: Array
) -> Array: ...
