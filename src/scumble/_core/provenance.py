"""Remember which objects came out of a resampler, without a trace in the objects themselves."""

from __future__ import annotations

import warnings
import weakref
from contextlib import suppress
from typing import Any

from scumble._core.errors import ScumbleWarning

_resampled: dict[int, weakref.ref[Any]] = {}


def mark_resampled(*objects: Any) -> None:
    """Remember that these objects hold resampled rows, as long as they live.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble._core.provenance import is_resampled, mark_resampled
    >>> X = np.zeros((3, 1))
    >>> mark_resampled(X)
    >>> is_resampled(X), is_resampled(X.copy())
    (True, False)
    """
    for item in objects:
        with suppress(TypeError):
            _resampled[id(item)] = weakref.ref(item, _forget)


def _forget(reference: weakref.ref[Any]) -> None:
    """Drop what has died; its number may soon be somebody else's."""
    for key, known in list(_resampled.items()):
        if known is reference:
            del _resampled[key]


def is_resampled(item: Any) -> bool:
    """Tell whether an object came out of a resampler."""
    known = _resampled.get(id(item))
    return known is not None and known() is item


def warn_if_resampled(*objects: Any, caller: str) -> None:
    """Warn that splitting resampled data lets test rows be copies of training rows."""
    if any(is_resampled(item) for item in objects):
        warnings.warn(
            f"{caller}: this data has been resampled. Split afterwards, copies of one row fall "
            "into training and test parts, and the test part no longer looks like the data. Split "
            "first and resample the training part only, as cross_validate(data, classifier, "
            "resampler) does.",
            ScumbleWarning,
            stacklevel=4,
        )
