"""Memory of which objects come from a resampler; the objects themselves stay unchanged."""

import warnings
import weakref
from contextlib import suppress
from functools import partial
from typing import Any

from scumble._core.errors import ScumbleWarning


class _WeakIdentityMap:
    """A mapping from objects, compared by identity, to values, as long as the objects live."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def add(self, obj: Any, value: Any) -> None:
        """Store the value of an object; nothing if the object has no weak references."""
        # The entry of a deleted object is dropped, because a new object may get its id.
        with suppress(TypeError):
            drop_entry = partial(self._entries.pop, id(obj))
            self._entries[id(obj)] = weakref.ref(obj, drop_entry), value

    def get(self, obj: Any) -> Any:
        """Return the value of an object, or None."""
        reference, value = self._entries.get(id(obj), (None, None))
        if reference is None or reference() is not obj:
            return None
        return value


_resampled = _WeakIdentityMap()
_weights = _WeakIdentityMap()


def mark_resampled(*objects: Any) -> None:
    """Remember that these objects hold resampled rows, as long as they live."""
    for obj in objects:
        _resampled.add(obj, True)


def is_resampled(obj: Any) -> bool:
    """Return whether an object comes from a resampler."""
    return bool(_resampled.get(obj))


def remember_sample_weight(labels: Any, weights_before: Any, weights_after: Any) -> None:
    """Remember the sample weights before and after resampling, by the resampled labels."""
    # A pipeline of imbalanced-learn cannot pass on weights that change: its last step gets the
    # weights of the rows before resampling, together with the resampled labels.
    _weights.add(labels, (weights_before, weights_after))


def remembered_sample_weight(labels: Any, sample_weight: Any) -> Any:
    """Return the weights after resampling if ``sample_weight`` holds those before, else itself."""
    remembered = _weights.get(labels)
    if remembered is None:
        return sample_weight
    weights_before, weights_after = remembered
    if sample_weight is weights_before:
        return weights_after
    return sample_weight


def warn_if_resampled(*objects: Any, caller: str) -> None:
    """Warn if resampled data is split: test rows may then be copies of training rows."""
    if any(is_resampled(obj) for obj in objects):
        warnings.warn(
            f"{caller}: this data has been resampled. Split afterwards, copies of one row fall "
            "into training and test parts, and the test part no longer looks like the data. Split "
            "first and resample the training part only, as cross_validate(data, classifier, "
            "resampler) does.",
            ScumbleWarning,
            stacklevel=4,
        )
