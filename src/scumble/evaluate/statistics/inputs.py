"""What the tests accept: numbers that are there, in pairs or in a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble._core.errors import ParameterError

Floats = npt.NDArray[np.float64]


def check_numbers(values: Any, *, name: str, caller: str, dimensions: int = 1) -> Floats:
    """Turn ``values`` into floats; what is not a finite number is refused with its place."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"The {name!r} parameter of {caller} must hold numbers only: {error}."
        ) from error
    if numbers.ndim != dimensions:
        raise ParameterError(
            f"The {name!r} parameter of {caller} must have {dimensions} dimension(s). "
            f"Got {numbers.ndim} instead."
        )
    missing = np.argwhere(~np.isfinite(numbers))
    if len(missing):
        place = ", ".join(map(str, missing[0]))
        raise ParameterError(
            f"The {name!r} parameter of {caller} must hold finite numbers. "
            f"Got {numbers[tuple(missing[0])]} at [{place}]: leave such cases out first."
        )
    return numbers


def check_pairs(x: Any, y: Any, *, caller: str) -> tuple[Floats, Floats]:
    """Check two lists of equal length."""
    first = check_numbers(x, name="x", caller=caller)
    second = check_numbers(y, name="y", caller=caller)
    if len(first) != len(second):
        raise ParameterError(
            f"{caller} compares pairs: 'x' and 'y' must be equally long. "
            f"Got {len(first)} and {len(second)} values."
        )
    if not len(first):
        raise ParameterError(f"{caller} needs at least one pair. Got none.")
    return first, second
