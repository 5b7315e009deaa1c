from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

def minimise(
    columns: Array | tuple[Array, Array, Array],
    is_positive: Array,
    counted: Array,
    ridge: float,
    tolerance: float,
    n_steps: int,
    beta: Array,
) -> int: ...
