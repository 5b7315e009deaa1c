"""What the tests accept: numbers that are there, in pairs or in a table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble._core.errors import ParameterError
from scumble._core.frames import is_frame
from scumble.evaluate.statistics.score_table import ScoreTable, score_table

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


def check_scores(
    scores: Any, metric: str | None, higher_is_better: bool | None, *, caller: str
) -> tuple[Floats, tuple[str, ...], bool]:
    """Read an array or a table of results: its values, the methods, and whether more is better."""
    if not is_results(scores):
        values = check_numbers(scores, name="scores", caller=caller, dimensions=2)
        methods = tuple(map(str, range(values.shape[1])))
        return values, methods, higher_is_better is not False
    table = score_table(scores, metric, higher_is_better=higher_is_better).complete()
    if table.higher_is_better is None:
        raise ParameterError(
            f"{caller}: neither more nor less of {table.metric!r} is better. Say which with "
            "higher_is_better."
        )
    return table.values, table.columns, table.higher_is_better


def is_results(scores: Any) -> bool:
    """Tell tables of results from arrays and lists of numbers."""
    kinds = (ScoreTable, str, os.PathLike, Mapping)
    return isinstance(scores, kinds) or hasattr(scores, "__scumble_scores__") or is_frame(scores)


def check_pairs(
    x: Any, y: Any, *, caller: str, results: Any = None, metric: str | None = None
) -> tuple[Floats, Floats]:
    """Check two lists of equal length, or look up two methods in a table of results."""
    if results is not None:
        pair = score_table(results, metric).select(methods=[x, y]).complete()
        x, y = pair[x], pair[y]
    elif isinstance(x, str) or isinstance(y, str):
        raise ParameterError(
            f"{caller}: {x!r} and {y!r} name methods. Say where their results are: results=..."
        )
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
