from typing import Any

import numpy as np

from scumble._core.arrays import Array

def assign_folds(
    Y: Any,
    n_folds: int,
    generator: np.random.Generator,
    wanted: Array | None = None,
    wanted_rows: Array | None = None,
) -> Array: ...
