from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

def quadratic_forms(
    indptr: Array, indices: Array, data: Array, matrix: Array, start: int, stop: int, out: Array
) -> None: ...
