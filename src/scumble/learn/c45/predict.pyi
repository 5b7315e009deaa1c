from typing import Any

from scumble._core.arrays import Array

def predict_rows(
    rows: Any, forest: Any, start: int, stop: int, n_columns: int, out: Array
) -> None: ...
