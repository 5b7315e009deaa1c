from scumble._core.arrays import Array
from scumble.learn.trees.c45.table import RowArrays

def minimize_loss(
    rows: RowArrays,
    is_positive: Array,
    sample_weight: Array,
    ridge: float,
    tolerance: float,
    max_steps: int,
    beta: Array,
) -> int: ...
