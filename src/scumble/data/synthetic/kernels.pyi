from scumble._core.arrays import Array

def round_counts(values: Array, max_count: int) -> Array: ...
def assign_labels_to_block(
    slot_labels: Array,
    ratios: Array,
    log_ratios: Array,
    seed: int,
    n_rows: int,
    target: float,
    row_ends: Array,
    labels: Array,
) -> float: ...
