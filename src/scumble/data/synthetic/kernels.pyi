from scumble._core.arrays import Array

def round_counts(values: Array, most: int) -> Array: ...
def assign_labels_to_block(
    taken: Array,
    ratios: Array,
    logs: Array,
    seed: int,
    n_rows: int,
    target: float,
    row_ends: Array,
    labels: Array,
) -> float: ...
