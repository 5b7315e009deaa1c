"""Labels as people ask for them: by name, by number, by a mask or a slice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError, ParameterTypeError, suggest


def find_labels(
    wanted: Any, n_labels: int, names: Sequence[str] | None, *, caller: str
) -> np.ndarray[Any, Any]:
    """Turn names, numbers, a mask or a slice into numbers of labels, in the order asked."""
    if isinstance(wanted, slice):
        return np.arange(n_labels)[wanted]
    if isinstance(wanted, str | int | np.integer) and not isinstance(wanted, bool):
        wanted = [wanted]
    if not isinstance(wanted, Iterable):
        raise _no_selection(wanted, n_labels, caller)
    items = wanted.tolist() if isinstance(wanted, np.ndarray) else list(wanted)
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != n_labels:
            raise ParameterError(
                f"{caller}: a mask of labels must have {n_labels} values, one per label. "
                f"Got {len(items)}."
            )
        return np.flatnonzero(items)
    places = {} if names is None else {name: at for at, name in enumerate(names)}
    numbers = [_number(item, n_labels, places, caller) for item in items]
    return np.array(numbers, np.int64)


def _number(item: Any, n_labels: int, places: dict[str, int], caller: str) -> int:
    if isinstance(item, str):
        if item not in places:
            raise ParameterError(f"{caller}: there is no label {item!r}. {_instead(item, places)}")
        return places[item]
    if isinstance(item, bool | np.bool_) or not isinstance(item, int | np.integer):
        raise _no_selection(item, n_labels, caller)
    if not -n_labels <= item < n_labels:
        raise ParameterError(
            f"{caller}: there is no label {int(item)}. Expected a number from 0 to {n_labels - 1}."
        )
    return int(item) % n_labels


def _instead(name: str, places: dict[str, int]) -> str:
    if not places:
        return "These labels have no names: give their numbers, or a mask."
    if meant := suggest(name, places):
        return meant.strip()
    some = ", ".join(map(repr, islice(places, 5)))
    return f"There are: {some}{', ...' if len(places) > 5 else ''}."


def _no_selection(found: Any, n_labels: int, caller: str) -> ParameterTypeError:
    return ParameterTypeError(
        f"{caller}: labels are chosen by their names, their numbers, or a mask with {n_labels} "
        f"values. Got {found!r} instead."
    )
