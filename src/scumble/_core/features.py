"""The door for features: every table becomes numbers and codes here, once.

Inside, features are a float64 table, dense in C order or `scipy.sparse.csr_array` with sorted
indices, no duplicates and no stored zeros; NaN is missing. Beside it stands, for every column,
how many values it has where it holds codes, and what these stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import (
    Array,
    are_codes,
    column_min_max,
    first_true_cell,
    format_column_name,
    stored_values,
)
from scumble._core.errors import DataError, ParameterTypeError
from scumble._core.frames import (
    EncodedColumn,
    check_exact_integers,
    frame_columns,
    is_frame,
    read_column,
    unsupported_type_error,
)
from scumble._core.selection import MAX_CATEGORIES, resolve_categorical

if TYPE_CHECKING:
    from scumble._core.neighbours import Space


@dataclass(frozen=True, eq=False)
class FeatureCodes:
    """What the columns of a table hold: numbers, or codes and what they stand for."""

    n_values: Array  # int64, by column: the number of values of a nominal one, 0 for a numeric one
    #: what codes stand for; None where the data itself holds codes or numbers
    categories: tuple[tuple[Any, ...] | None, ...]
    names: tuple[str, ...] | None = None

    @classmethod
    def numeric(cls, n_columns: int) -> FeatureCodes:
        """Describe columns without names that hold numbers."""
        return cls(np.zeros(n_columns, np.int64), (None,) * n_columns)

    def value_name(self, column: int, code: int) -> str:
        """Name one value of a nominal column."""
        known = self.categories[column]
        return str(code) if known is None else str(known[code])

    def where(self, column: int) -> str:
        """Name a column in a message."""
        return format_column_name(column, self.names)


@dataclass(frozen=True, eq=False)
class Features:
    """The features of some rows."""

    values: Any  # ndarray or csr_array of float64: numbers, and codes 0, 1, ... in nominal columns
    codes: FeatureCodes
    is_integer: Array  # bool, by column: numeric, and whole numbers
    source: Any  # what the user gave

    @property
    def n_values(self) -> Array:
        """Number of values of each nominal column, 0 for numeric ones."""
        return self.codes.n_values

    def space(self, *, scale: bool) -> Space:
        """Make the space in which distances are taken."""
        from scumble._core.neighbours import Space

        return Space.of(self.values, self.n_values, scale=scale)


def read_features(X: Any, categorical_features: Any = None, *, caller: str) -> Features:
    """Read features to compute with: finite numbers, and codes that are there."""
    # ``categorical_features`` names columns of codes. Categories, text and truth values are nominal
    # by themselves. A column of codes has as many values as were declared, else the largest code +
    # 1. Infinite values are refused, missing ones stay missing.
    X, names, columns = split_table_columns(X, caller=caller)
    if columns is None:
        values = as_float_matrix(X, caller=caller)
        n_values = np.full(values.shape[1], 2 if X.dtype == bool else 0)
        is_integer = np.full(values.shape[1], X.dtype.kind in "iu")
        codes = FeatureCodes(n_values, (None,) * values.shape[1])
    else:
        values = join_columns(columns, X.shape[0])
        n_values = np.array([_n_values(column.categories) for column in columns], np.int64)
        is_integer = np.array([column.integer for column in columns], bool)
        codes = FeatureCodes(n_values, tuple(column.categories for column in columns), names)
        _refuse_dates(columns, codes, caller)
    _refuse_infinite(values, codes, caller)
    named = resolve_categorical(categorical_features, values.shape[1], names, caller=caller)
    codes = _count_values(values, codes, named, caller)
    return Features(values, codes, is_integer & (codes.n_values == 0), X)


def _n_values(categories: tuple[Any, ...] | None) -> int:
    return 0 if categories is None else max(len(categories), 1)


def encode_features(X: Any, codes: FeatureCodes, *, caller: str) -> Any:
    """Read rows with the columns of earlier ones, as numbers and the same codes."""
    X, names, columns = split_table_columns(X, caller=caller)
    if columns is None:
        values = as_float_matrix(X, caller=caller)
    else:
        parts = [
            _translated(_filled(column, X.shape[0]), known, format_column_name(at, names), caller)
            if column.categories != known
            else column
            for at, (column, known) in enumerate(zip(columns, codes.categories, strict=True))
        ]
        _refuse_dates(parts, codes, caller)
        values = join_columns(parts, X.shape[0])
    _refuse_infinite(values, codes, caller)
    _check_codes(values, codes, caller)  # they may come from a file
    return values


def as_array(X: Any, *, caller: str) -> Any:
    """Make an array of nested lists, in which numbers beside texts stay numbers."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return X
    try:
        array = np.asarray(X)
        array = np.asarray(X, object) if array.dtype.kind in "SU" else array
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{caller}: X must be a table ({error}). Give equally many values in every row."
        ) from None
    if array.dtype.kind == "c":
        raise ParameterTypeError(f"{caller}: X must hold real numbers. Got complex ones instead.")
    return array


def split_table_columns(
    X: Any, *, caller: str
) -> tuple[Any, tuple[str, ...] | None, list[EncodedColumn] | None]:
    """Read the columns of a frame or of an array that holds texts; None for numbers."""
    if is_frame(X):
        names, column = frame_columns(X, caller=caller)
        columns: Any = map(column, range(len(names)))
    else:
        X, names = as_array(X, caller=caller), None
        if sparse.issparse(X) or X.dtype.kind not in "OSU" or X.ndim != 2:
            return X, None, None
        columns = X.T
    read = [
        read_column(part, format_column_name(at, names), caller=caller)
        for at, part in enumerate(columns)
    ]
    return X, names, read


def join_columns(parts: Sequence[EncodedColumn], n_rows: int) -> Any:
    """Put columns side by side, sparse as soon as one of them is."""
    if all(part.rows is None for part in parts):
        table = np.empty((n_rows, len(parts)))
        for at, part in enumerate(parts):
            table[:, at] = part.values
        return table
    rows = [np.flatnonzero(p.values) if p.rows is None else p.rows for p in parts]
    values = [
        part.values[found] if part.rows is None else part.values
        for part, found in zip(parts, rows, strict=True)
    ]
    indptr = np.concatenate([[0], np.cumsum([len(found) for found in rows])])
    by_column = (np.concatenate(values), np.concatenate(rows), indptr)
    return _canonical(sparse.csc_array(by_column, shape=(n_rows, len(parts))).tocsr())


def as_float_matrix(X: Any, *, caller: str) -> Any:
    """Make a float table of numbers; what is one already is not copied."""
    if X.dtype.kind not in "biuf":
        raise DataError(f"{caller}: X must hold numbers. Got values of type {X.dtype} instead.")
    check_two_dimensional(X.shape, caller=caller)
    if X.dtype.kind in "iu":
        check_exact_integers(stored_values(X), "a cell", caller=caller)
    if sparse.issparse(X):
        return _canonical(sparse.csr_array(X, dtype=np.float64))
    return np.ascontiguousarray(X, np.float64)


def check_two_dimensional(shape: Sequence[int], *, caller: str) -> None:
    """Refuse what is no table by its shape."""
    if len(shape) != 2:
        raise DataError(
            f"{caller}: X must be two-dimensional. Got shape {tuple(shape)} instead. Expected 2D "
            "array: reshape your data with X.reshape(-1, 1) if it has a single column, or "
            "X.reshape(1, -1) if it is a single row."
        )


def _canonical(X: sparse.csr_array) -> sparse.csr_array:
    """Sort indices, drop stored zeros and duplicates; leave a canonical matrix untouched."""
    if not (X.has_canonical_format and X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def _filled(column: EncodedColumn, n_rows: int) -> EncodedColumn:
    """Fill in the zeros of a sparse column."""
    if column.rows is None:
        return column
    values = np.zeros(n_rows)
    values[column.rows] = column.values
    return column._replace(values=values, rows=None)


def _translated(
    column: EncodedColumn, known: tuple[Any, ...] | None, where: str, caller: str
) -> EncodedColumn:
    """Bring a column into the codes of an earlier one."""
    found = column.categories
    if known is None and found == (False, True):
        return column
    if known is None:
        raise DataError(
            f"{caller}: {where} of X holds categories or text. Expected numbers, as when "
            "fitting: convert the column."
        )
    cells = column.values
    if found is None:  # numbers, which may be categories all the same
        distinct, cells = np.unique(cells, return_inverse=True)
        found = tuple(distinct.tolist())
    code_of = {value: float(code) for code, value in enumerate(known)}
    new_codes = np.array([*(code_of.get(value, -1.0) for value in found), np.nan])
    places = np.where(np.isnan(column.values), len(found), cells).astype(np.intp)
    values = new_codes[places]
    if (values < 0).any():
        row = int((values < 0).argmax())
        raise DataError(
            f"{caller}: {where} of X holds {found[places[row]]!r} in row {row}, a value not "
            "seen when fitting. Declare it as a category of the column before fitting."
        )
    return column._replace(values=values)


def _refuse_dates(columns: Sequence[EncodedColumn], codes: FeatureCodes, caller: str) -> None:
    for at, column in enumerate(columns):
        if column.date:
            raise unsupported_type_error("datetime", codes.where(at), caller)


def _count_values(
    values: Any, codes: FeatureCodes, named: dict[int, int], caller: str
) -> FeatureCodes:
    """Count the values of the columns that were named: as declared, or the largest code + 1."""
    n_values = codes.n_values.copy()
    coded = np.array([at for at in named if codes.categories[at] is None], np.intp)
    if not len(coded):
        return codes
    declared = np.array([named[at] for at in coded.tolist()])
    n_values[coded] = np.where(declared, declared, n_values[coded])
    open_ended = coded[n_values[coded] == 0]
    n_values[open_ended] = MAX_CATEGORIES
    counted = replace(codes, n_values=n_values)
    _check_codes(values, counted, caller)
    if len(open_ended):
        _, largest = column_min_max(values[:, open_ended])
        n_values[open_ended] = np.nan_to_num(largest).astype(np.int64) + 1
    return counted


def _check_codes(values: Any, codes: FeatureCodes, caller: str) -> None:
    """Refuse nominal cells that hold no code, or one outside its declared range."""
    n_values = codes.n_values
    coded = n_values > 0
    if not coded.any():
        return
    columns = np.flatnonzero(coded)
    if sparse.issparse(values):
        cells, limits, chosen = values.data, n_values[values.indices], coded[values.indices]
    else:
        cells, limits, chosen = values[:, columns], n_values[columns], np.True_
    wrong = chosen & ~(np.isnan(cells) | are_codes(cells, limits))
    if not wrong.any():
        return
    row, column = first_true_cell(values, wrong)
    column = column if sparse.issparse(values) else int(columns[column])
    raise DataError(
        f"{caller}: the categorical {codes.where(column)} of X holds "
        f"{values[row, column]:.10g} in row {row}. Expected a code 0, 1, ... below "
        f"{n_values[column]}: declare more values with categorical_features={{column: number}}, "
        f"up to {MAX_CATEGORIES:,}, encode the column, or leave it out of 'categorical_features'."
    )


def _refuse_infinite(values: Any, codes: FeatureCodes, caller: str) -> None:
    """Refuse infinite values; missing ones are allowed."""
    cells = stored_values(values)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(cells.sum()):  # the usual case, without an array of answers
            return
    wrong = np.isinf(cells)
    if not wrong.any():
        return
    row, column = first_true_cell(values, wrong)
    raise DataError(
        f"{caller}: X holds {values[row, column]} in row {row}, {codes.where(column)}. "
        "Expected finite numbers: replace infinity, for "
        "instance by the largest number that can occur."
    )
