"""The type of arrays, and what tables of numbers, dense or sparse, are asked for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

#: An array of any shape and type; docstrings and comments say which.
Array = np.ndarray[Any, Any]


def to_dense(table: Any) -> Array:
    """Make an array of a sparse matrix; leave an array as it is."""
    return table.toarray() if sparse.issparse(table) else np.asarray(table)


def stored_values(table: Any) -> Array:
    """Give the values that a table holds: those of a sparse matrix without the zeros it omits."""
    return table.data if sparse.issparse(table) else table


def column_min_max(X: Any) -> tuple[Array, Array]:
    """Find the lowest and the highest value of each column; NaN where all are missing."""
    if not sparse.issparse(X):
        return np.fmin.reduce(X, 0, initial=np.nan), np.fmax.reduce(X, 0, initial=np.nan)
    if not X.shape[0]:
        return np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    missing = np.isnan(X.data).any()
    ends = (X.nanmin(axis=0), X.nanmax(axis=0)) if missing else (X.min(axis=0), X.max(axis=0))
    low, high = (np.asarray(end.todense()).ravel() for end in ends)
    return low, high


def get_column(X: Any, at: int) -> Array:
    """Give one column of a table, dense; four times as fast of a sparse one stored by columns."""
    if not sparse.issparse(X):
        return np.asarray(X[:, at])
    if X.format != "csc":
        return np.asarray(X[:, [at]].toarray().ravel())
    column = np.zeros(X.shape[0], X.dtype)
    part = slice(X.indptr[at], X.indptr[at + 1])
    column[X.indices[part]] = X.data[part]
    return column


def first_true_cell(table: Any, wrong: Array) -> tuple[int, int]:
    """Find the row and the column of the first of a table's cells, those stored, that is wrong."""
    at = int(wrong.argmax())
    if sparse.issparse(table):
        return int(np.searchsorted(table.indptr, at, side="right")) - 1, int(table.indices[at])
    return divmod(at, wrong.shape[1])


def format_column_name(at: int, names: Sequence[str] | None) -> str:
    """Name a column in a message."""
    return f"column {at}" if names is None else f"column {names[at]!r}"


def are_codes(values: Array, n_categories: Any) -> Array:
    """Tell which values are codes of so many categories: whole numbers from 0."""
    fits: Array = (values >= 0) & (values < n_categories) & (values == np.floor(values))
    return fits


def take_by_code(values: Array, codes: Array) -> Array:
    """Give the number that stands for each code; NaN where the code is missing."""
    if not np.isnan(codes.sum()):  # quicker than looking at each cell, and mostly the end of it
        return values[codes.astype(np.intp)]
    places = np.where(np.isnan(codes), len(values), codes).astype(np.intp)
    found: Array = np.append(values, np.nan)[places]
    return found


def with_columns(X: Any, columns: dict[int, Array]) -> Any:
    """Put other values into some columns."""
    if not sparse.issparse(X):
        X = np.array(X)
        for at, values in columns.items():
            X[:, at] = values
        return X
    cells = sparse.coo_array(X)
    kept = ~np.isin(cells.col, list(columns)) & (cells.data != 0)
    filled = {at: np.flatnonzero(values) for at, values in columns.items()}
    data = [cells.data[kept], *(columns[at][rows] for at, rows in filled.items())]
    rows = [cells.row[kept], *filled.values()]
    places = [cells.col[kept], *(np.full(len(rows), at) for at, rows in filled.items())]
    where = tuple(np.concatenate(each, dtype=cells.row.dtype) for each in (rows, places))
    return sparse.csr_array((np.concatenate(data), where), shape=X.shape)
