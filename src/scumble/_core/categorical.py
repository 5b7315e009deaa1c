"""Which columns hold codes rather than quantities, in all the ways users say it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError

#: A column may have so many values: more are no categories but names of rows, and tables of them,
#: one number each, would fill the memory.
MOST_VALUES = 1 << 24


def resolve_categorical(
    spec: Any, n_columns: int, names: Sequence[Any] | None = None, *, caller: str
) -> dict[int, int]:
    """Find the categorical columns and their numbers of declared values, 0 for none."""
    if spec is None:
        return {}
    if isinstance(spec, Mapping):
        if _are_plain(spec, n_columns) and _are_plain(spec.values(), MOST_VALUES + 1):
            return dict(spec)
        found = {_column(key, n_columns, names, caller): spec[key] for key in spec}
        for column, count in found.items():
            if not _is_int(count) or not 0 <= count <= MOST_VALUES:
                raise ParameterError(
                    f"The 'categorical_features' parameter of {caller} maps column {column} to "
                    f"{count!r}. Expected its number of values, an int in "
                    f"[0, {MOST_VALUES}]."
                )
        return {column: int(found[column]) for column in sorted(found)}
    is_column = len(getattr(spec, "shape", ())) == 1  # an array, an index or a series
    if isinstance(spec, str) or not (is_column or isinstance(spec, Sequence | Set)):
        raise ParameterError(
            f"The 'categorical_features' parameter of {caller} must be None, column numbers, "
            f"column names, a boolean mask or a mapping. Got {spec!r} instead."
        )
    entries = list(spec)
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
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


def _is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _column(entry: Any, n_columns: int, names: Sequence[Any] | None, caller: str) -> int:
    if _is_int(entry) and -n_columns <= entry < n_columns:
        return int(entry) % n_columns
    if isinstance(entry, str) and names is not None and entry in list(names):
        return list(names).index(entry)
    known = f"columns 0 to {n_columns - 1}"
    if names is not None:
        known += f", or the names {', '.join(map(repr, list(names)[:5]))}"
        known += ", ..." if len(names) > 5 else ""
    raise ParameterError(
        f"The 'categorical_features' parameter of {caller} names the column {entry!r}. "
        f"Expected {known}."
    )
