"""What is asked of parts of a model from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from scumble._core.errors import ReadError


def demand(condition: Any, message: str) -> None:
    """Refuse a model unless a condition holds."""
    if not condition:
        raise ReadError(f"{message}.")


def is_vector(value: Any, kind: Any, size: int) -> bool:
    """Tell whether a value is a flat array of a type and size."""
    return is_table(value, kind, (size,))


def is_table(value: Any, kind: Any, shape: tuple[int, ...]) -> bool:
    """Tell whether a value is an array of a type and shape."""
    return isinstance(value, np.ndarray) and value.dtype == kind and value.shape == shape
