"""Remember what came out of a resampler, without a trace in the objects themselves."""

import warnings
import weakref
from contextlib import suppress
from functools import partial
from typing import Any

from scumble._core.errors import ScumbleWarning


class _Remembered:
    """Something about objects, as long as they live."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def add(self, item: Any, value: Any) -> None:
        """Remember a value; of what cannot be referred to weakly nothing is remembered."""
        # What has died is dropped: its number may soon be somebody else's.
        with suppress(TypeError):
            forget = partial(self._known.pop, id(item))
            self._known[id(item)] = weakref.ref(item, forget), value

    def get(self, item: Any) -> Any:
        """Return what is remembered of this very object, or None."""
        reference, value = self._known.get(id(item), (None, None))
        return value if reference is not None and reference() is item else None


_resampled = _Remembered()
_weights = _Remembered()


def mark_resampled(*objects: Any) -> None:
    """Remember that these objects hold resampled rows, as long as they live."""
    for item in objects:
        _resampled.add(item, True)


def is_resampled(item: Any) -> bool:
    """Tell whether an object came out of a resampler."""
    return bool(_resampled.get(item))


def remember_sample_weight(labels: Any, given: Any, weights: Any) -> None:
    """Remember the weights of resampled rows, and those of the rows they were made from."""
    # A pipeline of imbalanced-learn has no place for weights that change: its last step gets those
    # of the rows before resampling, together with the resampled labels.
    _weights.add(labels, (given, weights))


def remembered_sample_weight(labels: Any, given: Any) -> Any:
    """Return the weights of these labels' rows, where the given ones went through a resampler."""
    before, after = _weights.get(labels) or (None, None)
    return after if before is not None and before is given else given


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
