from typing import Any

import numpy as np

from scumble._core.arrays import Array

def assign_folds(
    Y: Any,
    n_folds: int,
    generator: np.random.Generator,
    target_counts: Array | None = None,
    target_rows: Array | None = None,
) -> Array: ...
