"""Labels and columns as people ask for them: by name, number, mask, slice or mapping."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ParameterTypeError, did_you_mean, parameter_error
from scumble._core.parameters import is_integer
from scumble._core.text import join_names

#: A column may have so many values: more are no categories but names of rows, and tables of them,
#: one number each, would fill the memory.
MAX_CATEGORIES = 1 << 24


def resolve_label_indices(
    wanted: Any, n_labels: int, names: Sequence[str] | None, *, caller: str
) -> Array:
    """Turn names, numbers, a mask or a slice into numbers of labels, in the order asked."""
    if isinstance(wanted, slice):
        return np.arange(n_labels)[wanted]
    if isinstance(wanted, str) or is_integer(wanted):
        wanted = [wanted]
    if not isinstance(wanted, Iterable):
        raise _no_selection(wanted, n_labels, caller)
    items = wanted.tolist() if isinstance(wanted, np.ndarray) else list(wanted)
    if _is_mask(items):
        if len(items) != n_labels:
            raise ParameterError(
                f"{caller}: a mask of labels must have {n_labels} values, one per label. "
                f"Got {len(items)}."
            )
        return np.flatnonzero(items)
    places = {name: at for at, name in enumerate(() if names is None else names)}
    return np.array([_number(item, n_labels, places, caller) for item in items], np.int64)


def _number(item: Any, n_labels: int, places: dict[str, int], caller: str) -> int:
    if isinstance(item, str):
        if item not in places:
            raise ParameterError(f"{caller}: there is no label {item!r}. {_instead(item, places)}")
        return places[item]
    if not is_integer(item):
        raise _no_selection(item, n_labels, caller)
    if not -n_labels <= item < n_labels:
        raise ParameterError(
            f"{caller}: there is no label {int(item)}. Expected a number from 0 to {n_labels - 1}."
        )
    return int(item) % n_labels


def _instead(name: str, places: dict[str, int]) -> str:
    if not places:
        return "These labels have no names: give their numbers, or a mask."
    return did_you_mean(name, places).strip() or f"There are: {join_names(places, 5)}."


def _no_selection(found: Any, n_labels: int, caller: str) -> ParameterTypeError:
    return ParameterTypeError(
        f"{caller}: labels are chosen by their names, their numbers, or a mask with {n_labels} "
        f"values. Got {found!r} instead."
    )


def resolve_categorical(
    spec: Any, n_columns: int, names: Sequence[Any] | None = None, *, caller: str
) -> dict[int, int]:
    """Find the categorical columns and their numbers of declared values, 0 for none."""
    if spec is None:
        return {}
    if isinstance(spec, Mapping):
        if _are_plain(spec, n_columns) and _are_plain(spec.values(), MAX_CATEGORIES + 1):
            return dict(sorted(spec.items()))
        found = {_column(key, n_columns, names, caller): count for key, count in spec.items()}
        for column, count in found.items():
            if not is_integer(count) or not 0 <= count <= MAX_CATEGORIES:
                raise ParameterError(
                    f"The 'categorical_features' parameter of {caller} maps column {column} to "
                    f"{count!r}. Expected its number of values, an int in [0, {MAX_CATEGORIES}]."
                )
        return {column: int(found[column]) for column in sorted(found)}
    is_column = len(getattr(spec, "shape", ())) == 1  # an array, an index or a series
    if isinstance(spec, str) or not (is_column or isinstance(spec, Sequence | Set)):
        kinds = "be None, column numbers, column names, a boolean mask or a mapping"
        raise parameter_error("categorical_features", caller, kinds, spec)
    entries = list(spec)
    if _is_mask(entries):
        if len(entries) != n_columns:
            raise ParameterError(
                f"The 'categorical_features' mask of {caller} must have {n_columns} entries, one "
                f"per column. Got {len(entries)} instead."
            )
        return {column: 0 for column, is_set in enumerate(entries) if is_set}
    return dict.fromkeys(sorted(_column(entry, n_columns, names, caller) for entry in entries), 0)


def _are_plain(values: Collection[Any], end: int) -> bool:
    """Tell whether all values are plain numbers below an end, at once: there may be thousands."""
    return set(map(type, values)) == {int} and min(values) >= 0 and max(values) < end


def _column(entry: Any, n_columns: int, names: Sequence[Any] | None, caller: str) -> int:
    if is_integer(entry) and -n_columns <= entry < n_columns:
        return int(entry) % n_columns
    if isinstance(entry, str) and names is not None and entry in list(names):
        return list(names).index(entry)
    known = f"columns 0 to {n_columns - 1}"
    known += "" if names is None else f", or the names {join_names(names, 5)}"
    raise ParameterError(
        f"The 'categorical_features' parameter of {caller} names the column {entry!r}. "
        f"Expected {known}."
    )


def _is_mask(entries: Sequence[Any]) -> bool:
    return bool(entries) and all(isinstance(entry, bool | np.bool_) for entry in entries)
