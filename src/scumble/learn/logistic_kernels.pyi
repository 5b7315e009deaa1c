from scumble._core.arrays import Array

def minimise(
    columns: Array | tuple[Array, Array, Array],
    is_positive: Array,
    counted: Array,
    ridge: float,
    tolerance: float,
    n_steps: int,
    beta: Array,
) -> int: ...
