from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

def predict_rows(
    rows: Any, forest: Any, start: int, stop: int, n_columns: int, out: Array
) -> None: ...
