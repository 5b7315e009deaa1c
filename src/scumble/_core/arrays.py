"""Functions for tables of numbers, dense arrays or sparse matrices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

#: An array of any shape and dtype; docstrings and comments say which.
Array = np.ndarray[Any, Any]


def to_dense(table: Any) -> Array:
    """Return a sparse matrix as an array; an array is returned as it is."""
    if sparse.issparse(table):
        return table.toarray()
    return np.asarray(table)


def stored_values(table: Any) -> Array:
    """Return the stored values of a sparse matrix, in one dimension; return an array unchanged."""
    return table.data if sparse.issparse(table) else table


def column_min_max(X: Any) -> tuple[Array, Array]:
    """Return the minimum of each column and the maximum of each column, as two arrays.

    NaN values are ignored; a column that has no other values, or no rows, gives NaN. The zeros that
    a sparse matrix does not store count.
    """
    if not sparse.issparse(X):
        return np.fmin.reduce(X, 0, initial=np.nan), np.fmax.reduce(X, 0, initial=np.nan)
    if not X.shape[0]:
        return np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    if np.isnan(X.data).any():
        minimum, maximum = X.nanmin(axis=0), X.nanmax(axis=0)
    else:
        minimum, maximum = X.min(axis=0), X.max(axis=0)
    return np.asarray(minimum.todense()).ravel(), np.asarray(maximum.todense()).ravel()


def get_column(X: Any, column: int) -> Array:
    """Return the column with the index ``column`` as a dense one-dimensional array.

    Among sparse formats, CSC is the fastest.
    """
    if not sparse.issparse(X):
        return np.asarray(X[:, column])
    if X.format != "csc":
        return np.asarray(X[:, [column]].toarray().ravel())
    values = np.zeros(X.shape[0], X.dtype)
    stored_range = slice(X.indptr[column], X.indptr[column + 1])
    values[X.indices[stored_range]] = X.data[stored_range]
    return values


def first_true_cell(table: Any, mask: Array) -> tuple[int, int]:
    """Return the indices of row and column of the first cell for which a mask is True.

    The mask of an array has its shape; that of a sparse matrix has an element for each stored
    value. At least one element must be True.
    """
    position = int(mask.argmax())
    if sparse.issparse(table):
        row = int(np.searchsorted(table.indptr, position, side="right")) - 1
        return row, int(table.indices[position])
    return divmod(position, mask.shape[1])


def format_column_name(column: int, names: Sequence[str] | None) -> str:
    """Return a column as messages show it: "column 'age'", or "column 3" if ``names`` is None."""
    if names is None:
        return f"column {column}"
    return f"column {names[column]!r}"


def are_codes(values: Array, n_categories: Any) -> Array:
    """Return a mask of the values that are codes: integers from 0 to ``n_categories - 1``.

    ``n_categories`` is a number, or an array of numbers for each value. NaN is no code.
    """
    result: Array = (values >= 0) & (values < n_categories) & (values == np.floor(values))
    return result


def take_by_code(values: Array, codes: Array) -> Array:
    """Return ``values[codes]``, with NaN where a code is NaN."""
    if not np.isnan(codes.sum()):  # faster than np.isnan(codes).any(), and the usual case
        return values[codes.astype(np.intp)]
    indices = np.where(np.isnan(codes), len(values), codes).astype(np.intp)
    result: Array = np.append(values, np.nan)[indices]
    return result


def with_columns(X: Any, columns: dict[int, Array]) -> Any:
    """Return a copy of a table in which the values of some columns are replaced.

    ``columns`` maps the index of a column to its new values. A sparse table gives a CSR array.
    """
    if not sparse.issparse(X):
        X = np.array(X)
        for column, values in columns.items():
            X[:, column] = values
        return X
    cells = sparse.coo_array(X)
    is_unchanged = ~np.isin(cells.col, list(columns)) & (cells.data != 0)
    data = [cells.data[is_unchanged]]
    rows = [cells.row[is_unchanged]]
    column_indices = [cells.col[is_unchanged]]
    for column, values in columns.items():
        nonzero_rows = np.flatnonzero(values)
        data.append(values[nonzero_rows])
        rows.append(nonzero_rows)
        column_indices.append(np.full(len(nonzero_rows), column))
    index_dtype = cells.row.dtype
    coordinates = (
        np.concatenate(rows, dtype=index_dtype),
        np.concatenate(column_indices, dtype=index_dtype),
    )
    return sparse.csr_array((np.concatenate(data), coordinates), shape=X.shape)
