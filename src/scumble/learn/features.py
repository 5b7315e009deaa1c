"""Features of any container as numbers and codes; missing values stay missing (NaN)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_array

from scumble._core.categorical import resolve_categorical
from scumble._core.errors import DataError, ParameterTypeError, ScumbleError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class FeatureCodes:
    """What was learnt about the columns when fitting.

    Attributes
    ----------
    n_values : ndarray of int64, shape (n_features,)
        Number of values of a nominal column, 0 for a numeric one.
    categories : tuple
        For each column of a frame the values its codes stand for; None where the data itself
        holds codes or numbers.
    names : tuple of str or None
        Column names.
    """

    n_values: Array
    categories: tuple[tuple[Any, ...] | None, ...]
    names: tuple[str, ...] | None = None

    def value_name(self, column: int, code: int) -> str:
        """Name one value of a nominal column."""
        known = self.categories[column]
        return str(code) if known is None else str(known[code])


def frame_of(X: Any) -> Any:
    """Return a narwhals frame for a DataFrame, None for anything else."""
    if isinstance(X, np.ndarray) or sparse.issparse(X) or not hasattr(X, "columns"):
        return None
    import narwhals as nw

    if not all(isinstance(name, str) for name in X.columns):
        X = X.rename(columns=str)  # only pandas has names that are no text
    return nw.from_native(X, eager_only=True)


def learn_codes(X: Any, categorical_features: Any, *, caller: str) -> tuple[Any, FeatureCodes]:
    """Turn frames into numbers and codes, and find out which columns are nominal."""
    frame = frame_of(X)
    if frame is None:
        n_columns = X.shape[1]
        nominal = resolve_categorical(categorical_features, n_columns, caller=caller)
        return X, FeatureCodes(_n_values(nominal, n_columns), (None,) * n_columns)
    names = tuple(str(name) for name in frame.columns)
    nominal = resolve_categorical(categorical_features, len(names), names, caller=caller)
    categories = tuple(_categories(frame[name]) for name in frame.columns)
    for at, known in enumerate(categories):
        if known is not None:
            nominal[at] = max(len(known), 1)
    codes = FeatureCodes(_n_values(nominal, len(names)), categories, names)
    return encode(X, codes, caller=caller), codes


def encode(X: Any, codes: FeatureCodes, *, caller: str) -> Any:
    """Turn a frame into numbers and the codes learnt when fitting."""
    frame = frame_of(X)
    if frame is None or len(frame.columns) != len(codes.categories):
        return X
    table = np.empty(frame.shape)
    for at, name in enumerate(frame.columns):
        known = codes.categories[at]
        column = frame[name]
        table[:, at] = (
            _numbers(column, name, caller) if known is None else _codes(column, known, name, caller)
        )
    return table


def count_values(X: Any, codes: FeatureCodes, *, caller: str) -> FeatureCodes:
    """Complete the numbers of values by the largest codes seen, and check all codes."""
    n_values = codes.n_values.copy()
    open_ended = np.flatnonzero(n_values == 1)  # a declared single value cannot split anyway
    if len(open_ended):
        by_column = X[:, open_ended].tocsc() if sparse.issparse(X) else X[:, open_ended]
        for place, column in enumerate(open_ended):
            cells = _column_cells(by_column, place)
            finite = cells[np.isfinite(cells)]
            largest = finite.max() if len(finite) else 0
            n_values[column] = min(max(1, int(largest) + 1), 2**31 - 1)
    complete = FeatureCodes(n_values, codes.categories, codes.names)
    check_codes(X, complete, caller=caller)
    return complete


def check_codes(X: Any, codes: FeatureCodes, *, caller: str) -> None:
    """Refuse nominal cells that hold no code, or one outside its declared range."""
    nominal = codes.n_values > 0
    if not nominal.any():
        return
    if sparse.issparse(X):
        limits, cells = codes.n_values[X.indices], X.data
        chosen = nominal[X.indices]
    else:
        columns = np.flatnonzero(nominal)
        limits, cells = codes.n_values[columns], X[:, columns]
        chosen = np.True_
    with np.errstate(invalid="ignore"):
        wrong = chosen & ((cells < 0) | (cells >= limits) | (cells != np.floor(cells)))
    wrong &= ~np.isnan(cells)
    if not wrong.any():
        return
    place = int(wrong.argmax())
    if sparse.issparse(X):
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        column, found = int(X.indices[place]), X.data[place]
    else:
        row, column = place // len(columns), int(columns[place % len(columns)])
        found = X[row, column]
    raise DataError(
        f"{caller}: the nominal {_where(column, codes)} of X holds {found:g} in row {row}. "
        f"Expected a code 0, 1, ... below its number of values, {codes.n_values[column]}: declare "
        "more values with categorical_features={column: number}, or leave the column out of it."
    )


def check_table(X: Any, estimator: Any, caller: str) -> Any:
    """Bring features into the form the kernels read: a float table, or CSR in order."""
    try:
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            estimator=estimator,
            input_name="X",
        )
    except ValueError as error:
        if "could not convert string" in str(error):
            raise DataError(
                f"{caller}: X must hold numbers ({error}). Give text in the columns of a "
                "DataFrame, or encode it as codes 0, 1, ... and name the columns in "
                "'categorical_features'."
            ) from None
        raise DataError(f"{caller}: {error}") from None
    except TypeError as error:
        raise ParameterTypeError(f"{caller}: {error}") from None
    if not sparse.issparse(X):
        return np.ascontiguousarray(X)
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def read_training(X: Any, estimator: Any, categorical_features: Any) -> tuple[Any, FeatureCodes]:
    """Read the features an estimator learns from, and remember their names and number."""
    caller = type(estimator).__name__
    _check_feature_names(estimator, X, reset=True)
    if frame_of(X) is None:
        X = check_table(X, estimator, caller)
    X, codes = learn_codes(X, categorical_features, caller=caller)
    X = check_table(X, estimator, caller)
    _check_n_features(estimator, X, reset=True)
    return X, count_values(X, codes, caller=caller)


def read_rows(X: Any, estimator: Any, codes: FeatureCodes) -> Any:
    """Read rows to predict; other columns than those learned from are refused in our words."""
    caller = type(estimator).__name__
    try:
        _check_feature_names(estimator, X, reset=False)
        X = check_table(encode(X, codes, caller=caller), estimator, caller)
        _check_n_features(estimator, X, reset=False)
    except ScumbleError:
        raise
    except ValueError as error:
        raise DataError(
            f"{str(error).rstrip()} Give the columns seen when fitting, in their order."
        ) from None
    check_codes(X, codes, caller=caller)
    return X


def _n_values(nominal: dict[int, int], n_columns: int) -> Array:
    n_values = np.zeros(n_columns, np.int64)
    n_values[list(nominal)] = np.maximum(list(nominal.values()), 1)
    return n_values


def _column_cells(X: Any, column: int) -> Array:
    if sparse.issparse(X):
        return X.data[X.indptr[column] : X.indptr[column + 1]]
    return X[:, column]


def _categories(column: Any) -> tuple[Any, ...] | None:
    """List the values of a column of categories, text or truth values; None for numbers."""
    import narwhals as nw

    if column.dtype == nw.Enum:
        return tuple(column.dtype.categories)
    declared = getattr(getattr(column.to_native(), "cat", None), "categories", None)
    if declared is not None:  # pandas; polars' Categorical declares nothing
        return tuple(declared)
    if column.dtype in (nw.Categorical, nw.String, nw.Boolean):
        return tuple(sorted({value for value in column.drop_nulls().to_list() if value == value}))
    return None


def _numbers(column: Any, name: str, caller: str) -> Array:
    import narwhals as nw

    if not (column.dtype.is_numeric() or column.dtype == nw.Object):
        raise DataError(
            f"{caller}: column {name!r} of X holds values of type {column.dtype}. Expected "
            "numbers, truth values, text or categories: convert the column, or leave it out."
        )
    cells = column.to_list()
    missing = column.is_null().to_list()  # pandas has a value of its own for what is missing
    try:
        return np.array(
            [np.nan if gone else cell for cell, gone in zip(cells, missing, strict=True)],
            np.float64,
        )
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{caller}: column {name!r} of X does not hold numbers ({error}). Make it a "
            "categorical column, or convert it."
        ) from None


def _codes(column: Any, known: tuple[Any, ...], name: str, caller: str) -> Array:
    code_of = {value: float(code) for code, value in enumerate(known)}
    cells = column.to_list()
    found = np.array([code_of.get(cell, -1.0) for cell in cells])
    missing = column.is_null().to_list()
    for row in np.flatnonzero(found < 0):
        if not (missing[row] or cells[row] != cells[row]):
            raise DataError(
                f"{caller}: column {name!r} of X holds {cells[row]!r} in row {row}, a value not "
                "seen when fitting. Declare it as a category of the column before fitting."
            )
    found[found < 0] = np.nan
    return found


def _where(column: int, codes: FeatureCodes) -> str:
    return f"column {column}" if codes.names is None else f"column {codes.names[column]!r}"
