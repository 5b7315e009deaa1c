"""Validation of features: tables of users become numbers and codes of categories.

Validated features are a float64 table, dense in C order or a `scipy.sparse.csr_array` with sorted
indices, no duplicates and no stored zeros; missing values are NaN. A second record says for every
column whether it holds numbers or codes, and what the codes stand for. A *code* 0, 1, ... stands
for a category of a nominal column.

In all functions, ``caller`` is the function or class that error messages name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

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
from scumble._validation.frames import (
    EncodedColumn,
    check_exact_integers,
    frame_columns,
    is_frame,
    read_column,
    unsupported_type_error,
)
from scumble._validation.selection import MAX_CATEGORIES, resolve_categorical

if TYPE_CHECKING:
    from scumble._core.neighbours import Space


@dataclass(frozen=True, eq=False)
class FeatureCodes:
    """The type of each column of a table: numeric, or nominal with codes of categories."""

    #: int64, by column: the number of categories of a nominal column, 0 for a numeric one
    n_values: Array
    #: by column: the category of each code; None where the data itself holds codes or numbers
    categories: tuple[tuple[Any, ...] | None, ...]
    names: tuple[str, ...] | None = None

    @classmethod
    def numeric(cls, n_columns: int) -> FeatureCodes:
        """Return the `FeatureCodes` of a table with numeric columns only, without names."""
        return cls(np.zeros(n_columns, np.int64), (None,) * n_columns)

    def value_name(self, column: int, code: int) -> str:
        """Return the category of a code of a nominal column as text; the code itself if unknown."""
        categories = self.categories[column]
        return str(code) if categories is None else str(categories[code])

    def describe_column(self, column: int) -> str:
        """Return a column as messages show it: "column 'age'", or "column 3" without names."""
        return format_column_name(column, self.names)


@dataclass(frozen=True, eq=False)
class Features:
    """The validated features of some rows."""

    values: Any  # ndarray or csr_array of float64: numbers, and codes 0, 1, ... in nominal columns
    codes: FeatureCodes
    is_integer: Array  # bool, by column: whether it is numeric with integer values only
    source: Any  # the table of the user

    @property
    def n_values(self) -> Array:
        """Number of categories of each nominal column, 0 for numeric ones."""
        return self.codes.n_values

    def space(self, *, scale: bool) -> Space:
        """Return the rows in the form in which distances are computed."""
        from scumble._core.neighbours import Space

        return Space.from_matrix(self.values, self.n_values, scale=scale)


def read_features(X: Any, categorical_features: Any = None, *, caller: str) -> Features:
    """Return the features of a table of the user as numbers and codes; raise an error if invalid.

    ``categorical_features`` selects columns that hold codes, see `resolve_categorical`. Categories,
    text and booleans are always nominal. A column of codes has as many categories as are declared,
    else the largest code + 1.
    """
    X, names, columns = split_table_columns(X, caller=caller)
    if columns is None:
        values = as_float_matrix(X, caller=caller)
        n_values = np.full(values.shape[1], 2 if X.dtype == bool else 0)
        is_integer = np.full(values.shape[1], X.dtype.kind in "iu")
        codes = FeatureCodes(n_values, (None,) * values.shape[1])
    else:
        values = join_columns(columns, X.shape[0])
        n_values = np.array([_n_categories(column) for column in columns], np.int64)
        is_integer = np.array([column.integer for column in columns], bool)
        codes = FeatureCodes(n_values, tuple(column.categories for column in columns), names)
        _check_no_dates(columns, codes, caller)
    _check_finite_or_missing(values, codes, caller)
    declared = resolve_categorical(categorical_features, values.shape[1], names, caller=caller)
    codes = _with_code_columns(values, codes, declared, caller)
    return Features(values, codes, is_integer & (codes.n_values == 0), X)


def _n_categories(column: EncodedColumn) -> int:
    """Return the number of categories of a nominal column, at least 1; 0 for a numeric column."""
    if column.categories is None:
        return 0
    return max(len(column.categories), 1)


def encode_features(X: Any, codes: FeatureCodes, *, caller: str) -> Any:
    """Return new rows as a float64 table with the codes of the training rows of a model.

    ``codes`` describes the columns of the training rows. Raise an error for infinite values, dates,
    and categories that the training rows did not have. Missing values are NaN.
    """
    X, names, columns = split_table_columns(X, caller=caller)
    if columns is None:
        values = as_float_matrix(X, caller=caller)
    else:
        recoded = []
        pairs = zip(columns, codes.categories, strict=True)
        for index, (column, categories) in enumerate(pairs):
            if column.categories != categories:
                subject = format_column_name(index, names)
                column = _recode(_to_dense(column, X.shape[0]), categories, subject, caller)
            recoded.append(column)
        _check_no_dates(recoded, codes, caller)
        values = join_columns(recoded, X.shape[0])
    _check_finite_or_missing(values, codes, caller)
    _check_codes(values, codes, caller)  # the codes of the model may come from a file
    return values


def as_array(X: Any, *, caller: str) -> Any:
    """Return nested lists as an array; return arrays and sparse matrices unchanged.

    Lists with strings give an array of objects, in which numbers stay numbers.
    """
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


class TableColumns(NamedTuple):
    """A table of the user, with its columns as numbers or codes."""

    table: Any  # the table itself, or an array if it was nested lists
    names: tuple[str, ...] | None  # of the columns; None for arrays and sparse matrices
    columns: list[EncodedColumn] | None  # None for an array or matrix of numbers only


def split_table_columns(X: Any, *, caller: str) -> TableColumns:
    """Return a table with its columns as numbers or codes; raise an error if it is invalid.

    ``X`` is a DataFrame, an Arrow table, an array, a sparse matrix or nested lists. Sparse matrices
    and arrays of numbers are not split: they have neither names nor encoded columns.
    """
    if is_frame(X):
        names, get_column = frame_columns(X, caller=caller)
        columns: Any = map(get_column, range(len(names)))
    else:
        X = as_array(X, caller=caller)
        names = None
        if sparse.issparse(X) or X.dtype.kind not in "OSU" or X.ndim != 2:
            return TableColumns(X, None, None)
        columns = X.T
    encoded = [
        read_column(column, format_column_name(index, names), caller=caller)
        for index, column in enumerate(columns)
    ]
    return TableColumns(X, names, encoded)


def join_columns(columns: Sequence[EncodedColumn], n_rows: int) -> Any:
    """Return columns as one float64 table: an array, or CSR if one of the columns is sparse."""
    if all(column.rows is None for column in columns):
        table = np.empty((n_rows, len(columns)))
        for index, column in enumerate(columns):
            table[:, index] = column.values
        return table
    rows = []
    values = []
    for column in columns:
        if column.rows is None:
            nonzero_rows = np.flatnonzero(column.values)
            rows.append(nonzero_rows)
            values.append(column.values[nonzero_rows])
        else:
            rows.append(column.rows)
            values.append(column.values)
    indptr = np.concatenate([[0], np.cumsum([len(column_rows) for column_rows in rows])])
    by_column = sparse.csc_array(
        (np.concatenate(values), np.concatenate(rows), indptr), shape=(n_rows, len(columns))
    )
    return _canonical(by_column.tocsr())


def as_float_matrix(X: Any, *, caller: str) -> Any:
    """Return an array or sparse matrix of numbers as float64, in C order or canonical CSR.

    A table that is one already is not copied. Raise an error for other types and for integers that
    float64 cannot represent.
    """
    if X.dtype.kind not in "biuf":
        raise DataError(f"{caller}: X must hold numbers. Got values of type {X.dtype} instead.")
    check_two_dimensional(X.shape, caller=caller)
    if X.dtype.kind in "iu":
        check_exact_integers(stored_values(X), "a cell", caller=caller)
    if sparse.issparse(X):
        return _canonical(sparse.csr_array(X, dtype=np.float64))
    return np.ascontiguousarray(X, np.float64)


def check_two_dimensional(shape: Sequence[int], *, caller: str) -> None:
    """Raise an error unless a shape has two dimensions."""
    if len(shape) != 2:
        raise DataError(
            f"{caller}: X must be two-dimensional. Got shape {tuple(shape)} instead. Expected 2D "
            "array: reshape your data with X.reshape(-1, 1) if it has a single column, or "
            "X.reshape(1, -1) if it is a single row."
        )


def _canonical(X: sparse.csr_array) -> sparse.csr_array:
    """Return ``X`` with sorted indices, no duplicates and no stored zeros; copied if necessary."""
    if not (X.has_canonical_format and X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def _to_dense(column: EncodedColumn, n_rows: int) -> EncodedColumn:
    """Return a column with a value for each row; zeros replace what a sparse column omits."""
    if column.rows is None:
        return column
    values = np.zeros(n_rows)
    values[column.rows] = column.values
    return column._replace(values=values, rows=None)


def _recode(
    column: EncodedColumn, categories: tuple[Any, ...] | None, subject: str, caller: str
) -> EncodedColumn:
    """Return a column with other codes: those of ``categories``, the categories of a fitted column.

    None means that the fitted column is numeric. Raise DataError if a value is none of the
    categories, or no number. ``subject`` is the column as messages show it.
    """
    old_categories = column.categories
    if categories is None and old_categories == (False, True):
        return column
    if categories is None:
        raise DataError(
            f"{caller}: {subject} of X holds categories or text. Expected numbers, as when "
            "fitting: convert the column."
        )
    old_codes = column.values
    if old_categories is None:  # numbers, which may be categories as well
        distinct, old_codes = np.unique(column.values, return_inverse=True)
        old_categories = tuple(distinct.tolist())
    code_of_category = {category: float(code) for code, category in enumerate(categories)}
    new_codes = np.array(
        [*(code_of_category.get(category, -1.0) for category in old_categories), np.nan]
    )
    is_missing = np.isnan(column.values)
    indices = np.where(is_missing, len(old_categories), old_codes).astype(np.intp)
    values = new_codes[indices]
    if (values < 0).any():
        row = int((values < 0).argmax())
        raise DataError(
            f"{caller}: {subject} of X holds {old_categories[indices[row]]!r} in row {row}, a "
            "value not seen when fitting. Declare it as a category of the column before fitting."
        )
    return column._replace(values=values)


def _check_no_dates(columns: Sequence[EncodedColumn], codes: FeatureCodes, caller: str) -> None:
    """Raise an error if a column holds dates."""
    for index, column in enumerate(columns):
        if column.date:
            raise unsupported_type_error("datetime", codes.describe_column(index), caller)


def _with_code_columns(
    values: Any, codes: FeatureCodes, declared: dict[int, int], caller: str
) -> FeatureCodes:
    """Return ``codes`` with the columns of ``declared`` as nominal, after checking their values.

    ``declared`` maps a column to its number of categories; 0 stands for the largest code + 1.
    Columns that are nominal already keep their categories.
    """
    code_columns = np.array(
        [column for column in declared if codes.categories[column] is None], np.intp
    )
    if not len(code_columns):
        return codes
    n_values = codes.n_values.copy()
    declared_counts = np.array([declared[column] for column in code_columns.tolist()])
    n_values[code_columns] = np.where(declared_counts, declared_counts, n_values[code_columns])
    undeclared_columns = code_columns[n_values[code_columns] == 0]
    n_values[undeclared_columns] = MAX_CATEGORIES
    with_codes = replace(codes, n_values=n_values)
    _check_codes(values, with_codes, caller)
    if len(undeclared_columns):
        _, largest = column_min_max(values[:, undeclared_columns])
        n_values[undeclared_columns] = np.nan_to_num(largest).astype(np.int64) + 1
    return with_codes


def _check_codes(values: Any, codes: FeatureCodes, caller: str) -> None:
    """Raise DataError if a value of a nominal column is neither missing (NaN) nor a valid code."""
    n_values = codes.n_values
    is_nominal = n_values > 0
    if not is_nominal.any():
        return
    if sparse.issparse(values):
        cell_columns = values.indices
        is_wrong = is_nominal[cell_columns] & ~_is_valid_code(values.data, n_values[cell_columns])
        if not is_wrong.any():
            return
        row, column = first_true_cell(values, is_wrong)
    else:
        nominal_columns = np.flatnonzero(is_nominal)
        is_wrong = ~_is_valid_code(values[:, nominal_columns], n_values[nominal_columns])
        if not is_wrong.any():
            return
        row, position = first_true_cell(values, is_wrong)
        column = int(nominal_columns[position])
    raise DataError(
        f"{caller}: the categorical {codes.describe_column(column)} of X holds "
        f"{values[row, column]:.10g} in row {row}. Expected a code 0, 1, ... below "
        f"{n_values[column]}: declare more values with categorical_features={{column: number}}, "
        f"up to {MAX_CATEGORIES:,}, encode the column, or leave it out of 'categorical_features'."
    )


def _is_valid_code(cells: Array, n_categories: Array) -> Array:
    """Return a mask of the values that are NaN or a code below ``n_categories``."""
    result: Array = np.isnan(cells) | are_codes(cells, n_categories)
    return result


def _check_finite_or_missing(values: Any, codes: FeatureCodes, caller: str) -> None:
    """Raise DataError if a value is infinite; NaN is allowed."""
    cells = stored_values(values)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(cells.sum()):  # the usual case, which needs no temporary array
            return
    is_infinite = np.isinf(cells)
    if not is_infinite.any():
        return
    row, column = first_true_cell(values, is_infinite)
    raise DataError(
        f"{caller}: X holds {values[row, column]} in row {row}, {codes.describe_column(column)}. "
        "Expected finite numbers: replace infinity, for "
        "instance by the largest number that can occur."
    )
