"""The type of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

#: An array of any shape and type; docstrings and comments say which.
Array = np.ndarray[Any, Any]
