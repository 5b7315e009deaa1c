"""The type of arrays, and sparse matrices as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

#: An array of any shape and type; docstrings and comments say which.
Array = np.ndarray[Any, Any]


def dense(table: Any) -> Array:
    """Make an array of a sparse matrix; leave an array as it is."""
    return table.toarray() if sparse.issparse(table) else np.asarray(table)
