from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

def check_rows(indptr: Array, indices: Array, start: int, stop: int, n_columns: int) -> int: ...
