"""Notes about objects that a resampler returned: that it did, and their sample weights.

The notes are kept beside the objects, which stay unchanged, and vanish with them.
"""

import warnings
import weakref
from contextlib import suppress
from functools import partial
from typing import Any

from scumble._core.errors import ScumbleWarning


class _WeakIdentityMap:
    """A mapping from objects, compared by identity, to values; it does not keep objects alive."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def add(self, obj: Any, value: Any) -> None:
        """Store the value of an object; do nothing if its type does not allow weak references."""
        # The entry of a deleted object is dropped, because a new object may get its id.
        with suppress(TypeError):
            drop_entry = partial(self._entries.pop, id(obj))
            self._entries[id(obj)] = weakref.ref(obj, drop_entry), value

    def get(self, obj: Any) -> Any:
        """Return the value that was stored for an object, or None if there is none."""
        reference, value = self._entries.get(id(obj), (None, None))
        if reference is None or reference() is not obj:
            return None
        return value


_resampled = _WeakIdentityMap()
_weights = _WeakIdentityMap()


def mark_resampled(*objects: Any) -> None:
    """Note that these objects hold resampled rows; `is_resampled` then returns True for them."""
    for obj in objects:
        _resampled.add(obj, True)


def is_resampled(obj: Any) -> bool:
    """Return whether `mark_resampled` was called with this very object."""
    return bool(_resampled.get(obj))


def remember_sample_weight(labels: Any, weights_before: Any, weights_after: Any) -> None:
    """Store the sample weights before and after resampling for `remembered_sample_weight`.

    ``labels`` are the resampled labels, by whose identity the weights are found again.
    """
    # A pipeline of imbalanced-learn cannot pass on weights that change: its last step gets the
    # weights of the rows before resampling, together with the resampled labels.
    _weights.add(labels, (weights_before, weights_after))


def remembered_sample_weight(labels: Any, sample_weight: Any) -> Any:
    """Return the sample weights that belong to the rows of ``labels``.

    If a resampler returned ``labels``, and ``sample_weight`` is the array of weights that it was
    called with, these are the weights after resampling; otherwise ``sample_weight`` itself.
    """
    remembered = _weights.get(labels)
    if remembered is None:
        return sample_weight
    weights_before, weights_after = remembered
    if sample_weight is weights_before:
        return weights_after
    return sample_weight


def warn_if_resampled(*objects: Any, caller: str) -> None:
    """Warn if one of the objects, which are about to be split, holds resampled rows.

    Test rows may then be copies of training rows. ``caller`` is the function or class that the
    warning names.
    """
    if any(is_resampled(obj) for obj in objects):
        warnings.warn(
            f"{caller}: this data has been resampled. Split afterwards, copies of one row fall "
            "into training and test parts, and the test part no longer looks like the data. Split "
            "first and resample the training part only, as cross_validate(data, classifier, "
            "resampler) does.",
            ScumbleWarning,
            stacklevel=4,
        )
