"""Features of any container as numbers and codes, and synthetic rows back in that container."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.categorical import resolve_categorical
from scumble._core.errors import DataError
from scumble._core.neighbours import Space
from scumble.data import Feature
from scumble.resample.containers import frame_columns, replace_columns, take_rows

Array = np.ndarray[Any, Any]

#: Larger codes are refused: tables of values, one number each, would not fit into memory.
MAX_CODE = (1 << 24) - 1


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a data set, ready for distances and interpolation.

    Attributes
    ----------
    values : ndarray or csr_array of float64, shape (n_samples, n_features)
        Numbers, and codes 0, 1, ... in nominal columns.
    n_values : ndarray of int64, shape (n_features,)
        How many values a nominal column has; 0 for a numeric one.
    is_integer : ndarray of bool, shape (n_features,)
        Numeric columns that hold whole numbers only.
    source : ndarray, sparse matrix or DataFrame
        What the user gave.
    categories : tuple
        For each column the list its codes point into, or None where ``source`` holds codes or
        numbers itself.
    """

    values: Any
    n_values: Array
    is_integer: Array
    source: Any
    categories: tuple[list[Any] | None, ...]

    def space(self, *, scale: bool) -> Space:
        """Make the space in which distances are taken."""
        return Space.of(self.values, self.n_values, scale=scale)

    def decode(self, synthetic: Any, seeds: Array) -> Any:
        """Put synthetic rows into the container and types the user gave."""
        source = self.source
        if sparse.issparse(source):
            return type(source)(synthetic.astype(source.dtype).asformat(source.format))
        if isinstance(source, np.ndarray) and source.dtype.kind in "biuf":
            return synthetic.astype(source.dtype)
        columns = [
            synthetic[:, at] if known is None else _look_up(known, synthetic[:, at])
            for at, known in enumerate(self.categories)
        ]
        taken = take_rows(source, seeds)
        if isinstance(source, np.ndarray):
            for at, column in enumerate(columns):
                taken[:, at] = column
            return taken
        return replace_columns(taken, columns)


def read_features(
    X: Any,
    categorical_features: Any = None,
    declared: Sequence[Feature] | None = None,
    *,
    caller: str,
) -> Features:
    """Read the features of any container."""
    names = getattr(X, "columns", None)
    names = None if names is None else list(names)
    nominal = resolve_categorical(categorical_features, X.shape[1], names, caller=caller)
    if categorical_features is None and declared is not None:
        nominal = {
            at: len(feature.categories)
            for at, feature in enumerate(declared)
            if feature.is_categorical
        }
    is_integer = np.array([bool(feature.integer) for feature in declared or ()], bool)
    if sparse.issparse(X):
        return _from_matrix(X, sparse.csr_array(X), nominal, is_integer, caller)
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return _from_matrix(X, X, nominal, is_integer, caller)
    if isinstance(X, np.ndarray):
        return _from_columns(X, [X[:, at] for at in range(X.shape[1])], nominal, None, caller)
    return _from_columns(X, frame_columns(X), nominal, names, caller)


def _from_matrix(
    source: Any, X: Any, nominal: dict[int, int], is_integer: Array, caller: str
) -> Features:
    n_columns = X.shape[1]
    if X.dtype == bool:
        nominal = {at: nominal.get(at, 2) for at in range(n_columns)}
    if X.dtype.kind not in "biuf":
        raise DataError(f"{caller}: X must hold numbers. Got values of type {X.dtype} instead.")
    values: Any = X.astype(np.float64) if sparse.issparse(X) else np.array(X, float, order="C")
    if sparse.issparse(values) and not (values.has_canonical_format and values.data.all()):
        values.sum_duplicates()
        values.eliminate_zeros()
    _refuse_not_finite(values, None, caller)
    n_values = _count_values(values, nominal, None, caller)
    if not len(is_integer):
        is_integer = np.full(n_columns, X.dtype.kind in "iu")
    return Features(values, n_values, is_integer & (n_values == 0), source, (None,) * n_columns)


def _from_columns(
    source: Any, columns: list[Any], nominal: dict[int, int], names: Any, caller: str
) -> Features:
    """Read a frame, or an array of objects, column by column."""
    values = np.empty((source.shape[0], len(columns)))
    is_integer = np.zeros(len(columns), bool)
    categories: list[list[Any] | None] = []
    for at, column in enumerate(columns):
        where = _where(at, names)
        is_coded = at in nominal and _holds_numbers(column)
        known = None if is_coded else _categories(column, where, caller)
        if known is None:
            values[:, at] = _numbers(column, where, caller)
            is_integer[at] = getattr(column, "dtype", np.dtype(float)).kind in "iu"
        else:
            values[:, at] = _codes(column, known, where, caller)
            nominal = {**nominal, at: max(len(known), 1)}
        categories.append(known)
    _refuse_not_finite(values, names, caller)
    n_values = _count_values(values, nominal, names, caller)
    return Features(values, n_values, is_integer & (n_values == 0), source, tuple(categories))


def _holds_numbers(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind in "iuf"


def _categories(column: Any, where: str, caller: str) -> list[Any] | None:
    """List the values of a column of categories, text or truth values; None for numbers."""
    if not isinstance(column, np.ndarray):
        return list(column.categories)
    if column.dtype == bool:
        return [False, True]
    if column.dtype.kind not in "OSU":
        return None
    present = [value for value in column.tolist() if not _is_missing(value)]
    if column.dtype == object and all(
        isinstance(value, int | float | np.number) and not isinstance(value, bool)
        for value in present
    ):
        return None
    try:
        distinct = set(present)
    except TypeError:  # lists, arrays, dictionaries
        raise _wrong_type(type(present[0]).__name__, where, caller) from None
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=lambda value: (type(value).__name__, str(value)))


def _is_missing(value: Any) -> bool:
    """Tell None, NaN and pandas' NA from values."""
    if value is None:
        return True
    try:
        return not value == value
    except TypeError:  # NA is neither equal nor unequal to itself
        return True
    except ValueError:  # an array is no missing value
        return False


def _numbers(column: Array, where: str, caller: str) -> Array:
    if column.dtype.kind not in "iufO":
        raise _wrong_type(column.dtype, where, caller)
    if column.dtype != object:
        return column.astype(np.float64)
    return np.array([np.nan if _is_missing(v) else v for v in column.tolist()], np.float64)


def _codes(column: Any, known: list[Any], where: str, caller: str) -> Array:
    if isinstance(column, np.ndarray) and column.dtype == bool:
        return column.astype(np.float64)
    code_of = {value: float(code) for code, value in enumerate(known)}
    found = np.array([code_of.get(value, np.nan) for value in column.tolist()], np.float64)
    if np.isnan(found).any():
        row = int(np.isnan(found).argmax())
        raise _missing(f"row {row}, {where}", caller)
    return found


def _look_up(known: list[Any], codes: Array) -> list[Any]:
    return [known[code] for code in codes.astype(np.int64).tolist()]


def _count_values(values: Any, nominal: dict[int, int], names: Any, caller: str) -> Array:
    """Count the values of nominal columns: as declared, at least the largest code seen + 1."""
    n_values = np.zeros(values.shape[1], np.int64)
    if not nominal or values.shape[0] == 0:
        n_values[list(nominal)] = [max(count, 1) for count in nominal.values()]
        return n_values
    columns = np.array(list(nominal))
    chosen = values[:, columns]
    stored = chosen.data if sparse.issparse(chosen) else chosen.ravel()
    wrong = (stored < 0) | (stored != np.floor(stored)) | (stored > MAX_CODE)
    if wrong.any():
        at = int(wrong.argmax())
        column = int(columns[chosen.indices[at] if sparse.issparse(chosen) else at % len(columns)])
        raise DataError(
            f"{caller}: the categorical {_where(column, names)} of X holds {stored[at]:.10g}. "
            f"Expected codes 0, 1, 2, ..., {MAX_CODE} at most: encode the column, or leave it "
            "out of 'categorical_features'."
        )
    largest = chosen.max(axis=0)
    largest = np.asarray(largest.todense()).ravel() if sparse.issparse(chosen) else largest
    n_values[columns] = np.maximum(largest.astype(np.int64) + 1, list(nominal.values()))
    return n_values


def _refuse_not_finite(values: Any, names: Any, caller: str) -> None:
    stored = values.data if sparse.issparse(values) else values
    if np.isfinite(stored).all():
        return
    if sparse.issparse(values):
        at = int((~np.isfinite(stored)).argmax())
        row = int(np.searchsorted(values.indptr, at, side="right")) - 1
        column, found = int(values.indices[at]), stored[at]
    else:
        row, column = (
            int(i) for i in np.unravel_index((~np.isfinite(stored)).argmax(), stored.shape)
        )
        found = stored[row, column]
    where = f"row {row}, {_where(column, names)}"
    if np.isnan(found):
        raise _missing(where, caller)
    raise DataError(f"{caller}: X holds {found} in {where}. Expected finite numbers.")


def _wrong_type(kind: Any, where: str, caller: str) -> DataError:
    return DataError(
        f"{caller}: {where} of X holds values of type {kind}. Expected numbers, truth values or "
        "categories: convert the column, or leave it out."
    )


def _missing(where: str, caller: str) -> DataError:
    return DataError(
        f"{caller}: X holds a missing value (NaN) in {where}. This method takes distances "
        "between rows: fill in missing values before, for instance with scikit-learn's "
        "SimpleImputer."
    )


def _where(column: int, names: Any) -> str:
    return f"column {column}" if names is None else f"column {names[column]!r}"
