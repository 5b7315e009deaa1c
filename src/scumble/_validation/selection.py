"""Selections of labels and columns: by name, number, mask, slice or mapping.

Functions raise ParameterError or ParameterTypeError for an invalid selection; ``caller`` is the
function or class that the message names.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ParameterTypeError, did_you_mean, parameter_error
from scumble._core.parameters import is_integer
from scumble._core.text import join_names

#: Maximum number of categories of a column. A column with more identifies rows, and tables with one
#: number per category would fill the memory.
MAX_CATEGORIES = 1 << 24


def resolve_label_indices(
    selection: Any, n_labels: int, names: Sequence[str] | None, *, caller: str
) -> Array:
    """Return the indices of the selected labels, in the order of the selection.

    ``selection`` is a name, a number (negative ones count from the end), a sequence of them, a mask
    with a value for each of ``n_labels`` labels, or a slice. ``names`` are the names of all labels;
    None if they have none.
    """
    if isinstance(selection, slice):
        return np.arange(n_labels)[selection]
    if isinstance(selection, str) or is_integer(selection):
        selection = [selection]
    if not isinstance(selection, Iterable):
        raise _not_a_selection_error(selection, n_labels, caller)
    items = selection.tolist() if isinstance(selection, np.ndarray) else list(selection)
    if _is_mask(items):
        if len(items) != n_labels:
            raise ParameterError(
                f"{caller}: a mask of labels must have {n_labels} values, one per label. "
                f"Got {len(items)}."
            )
        return np.flatnonzero(items)
    index_of_name = {name: index for index, name in enumerate(() if names is None else names)}
    return np.array(
        [_label_index(item, n_labels, index_of_name, caller) for item in items], np.int64
    )


def _label_index(item: Any, n_labels: int, index_of_name: dict[str, int], caller: str) -> int:
    """Return the index of the label with a name or number; raise an error if there is none."""
    if isinstance(item, str):
        if item not in index_of_name:
            hint = _label_name_hint(item, index_of_name)
            raise ParameterError(f"{caller}: there is no label {item!r}. {hint}")
        return index_of_name[item]
    if not is_integer(item):
        raise _not_a_selection_error(item, n_labels, caller)
    if not -n_labels <= item < n_labels:
        raise ParameterError(
            f"{caller}: there is no label {int(item)}. Expected a number from 0 to {n_labels - 1}."
        )
    return int(item) % n_labels


def _label_name_hint(name: str, label_names: Collection[str]) -> str:
    """Return a sentence for an error message that says how to select labels instead of ``name``."""
    if not label_names:
        return "These labels have no names: give their numbers, or a mask."
    return did_you_mean(name, label_names).strip() or f"There are: {join_names(label_names, 5)}."


def _not_a_selection_error(item: Any, n_labels: int, caller: str) -> ParameterTypeError:
    """Return the error for an object that selects no labels."""
    return ParameterTypeError(
        f"{caller}: labels are chosen by their names, their numbers, or a mask with {n_labels} "
        f"values. Got {item!r} instead."
    )


def resolve_categorical(
    categorical_features: Any, n_columns: int, names: Sequence[Any] | None = None, *, caller: str
) -> dict[int, int]:
    """Return the number of categories of each categorical column, by column index in order.

    ``categorical_features`` is the parameter of this name: None for no columns; indices or names of
    columns, or a mask, whose numbers of categories are unknown and returned as 0; or a mapping of
    columns to numbers of categories. ``names`` are the names of all columns; None if they have
    none.
    """
    if categorical_features is None:
        return {}
    if isinstance(categorical_features, Mapping):
        if _are_indices(categorical_features, n_columns) and _are_indices(
            categorical_features.values(), MAX_CATEGORIES + 1
        ):
            return dict(sorted(categorical_features.items()))
        counts = {
            _column_index(key, n_columns, names, caller): count
            for key, count in categorical_features.items()
        }
        for column, count in counts.items():
            if not is_integer(count) or not 0 <= count <= MAX_CATEGORIES:
                raise ParameterError(
                    f"The 'categorical_features' parameter of {caller} maps column {column} to "
                    f"{count!r}. Expected its number of values, an int in [0, {MAX_CATEGORIES}]."
                )
        return {column: int(counts[column]) for column in sorted(counts)}
    is_one_dimensional = (
        len(getattr(categorical_features, "shape", ())) == 1
    )  # an array, an index or a series
    if isinstance(categorical_features, str) or not (
        is_one_dimensional or isinstance(categorical_features, Sequence | Set)
    ):
        requirement = "be None, column numbers, column names, a boolean mask or a mapping"
        raise parameter_error("categorical_features", caller, requirement, categorical_features)
    entries = list(categorical_features)
    if _is_mask(entries):
        if len(entries) != n_columns:
            raise ParameterError(
                f"The 'categorical_features' mask of {caller} must have {n_columns} entries, one "
                f"per column. Got {len(entries)} instead."
            )
        return {column: 0 for column, is_set in enumerate(entries) if is_set}
    columns = [_column_index(entry, n_columns, names, caller) for entry in entries]
    return dict.fromkeys(sorted(columns), 0)


def _are_indices(values: Collection[Any], end: int) -> bool:
    """Return whether all values are ints from 0 to ``end - 1``; False if there are no values."""
    # Without a loop in Python: mappings may hold thousands of columns.
    return set(map(type, values)) == {int} and min(values) >= 0 and max(values) < end


def _column_index(entry: Any, n_columns: int, names: Sequence[Any] | None, caller: str) -> int:
    """Return the index of the column with a name or number; raise an error if there is none."""
    if is_integer(entry) and -n_columns <= entry < n_columns:
        return int(entry) % n_columns
    if isinstance(entry, str) and names is not None and entry in list(names):
        return list(names).index(entry)
    expected = f"columns 0 to {n_columns - 1}"
    if names is not None:
        expected += f", or the names {join_names(names, 5)}"
    raise ParameterError(
        f"The 'categorical_features' parameter of {caller} names the column {entry!r}. "
        f"Expected {expected}."
    )


def _is_mask(entries: Sequence[Any]) -> bool:
    """Return whether all entries are booleans; False if there are none."""
    return bool(entries) and all(isinstance(entry, bool | np.bool_) for entry in entries)
