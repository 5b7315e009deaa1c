"""Give back what was given: arrays, sparse matrices and frames, with their types and names."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.errors import DataError, ParameterTypeError

Array = np.ndarray[Any, Any]


def as_container(data: Any, *, name: str, caller: str) -> Any:
    """Turn nested lists into arrays, leave arrays, sparse matrices and frames as they are.

    Parameters
    ----------
    data : object
        What a user passed.
    name, caller : str
        Names of the argument and its receiver, for the message.

    Returns
    -------
    ndarray, sparse matrix or DataFrame
        Something with a two-dimensional ``shape``.
    """
    if isinstance(data, list | tuple):
        data = np.asarray(data)
    shape = getattr(data, "shape", None)
    if shape is None:
        raise ParameterTypeError(
            f"{caller}: {name} must be an array, a sparse matrix or a DataFrame. "
            f"Got {type(data).__name__} instead."
        )
    if len(shape) != 2:
        raise DataError(
            f"{caller}: {name} must be two-dimensional. Got shape {tuple(shape)} instead. "
            f"Expected 2D array: reshape your data with {name}.reshape(-1, 1) if it has a "
            f"single column, or {name}.reshape(1, -1) if it is a single row."
        )
    return data


def take_rows(data: Any, rows: Array) -> Any:
    """Select rows of any container, by position.

    Parameters
    ----------
    data : ndarray, sparse matrix or DataFrame
        Where from.
    rows : ndarray of int
        Which, in the order wanted; repeats are fine.

    Returns
    -------
    same type as data
        A frame keeps its columns, types and (pandas) index entries.
    """
    if isinstance(data, np.ndarray):
        return data[rows]
    if sparse.issparse(data):
        taken = data.tocsr()[rows]
        return taken.asformat(data.format)
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    import narwhals as nw

    return nw.from_native(data, eager_only=True)[rows.tolist(), :].to_native()


def labels_like(Y: sparse.csr_array, like: Any, rows: Array) -> Any:
    """Put labels into the container, type and names of ``like``.

    Parameters
    ----------
    Y : csr_array of bool
        The new labels.
    like : ndarray, sparse matrix or DataFrame
        What the user passed.
    rows : ndarray of int
        The row of ``like`` each new one comes from, for a pandas index.

    Returns
    -------
    same type as like
        With the new labels.
    """
    if sparse.issparse(like):
        return type(like)(Y.astype(like.dtype) if like.dtype != bool else Y)
    if isinstance(like, np.ndarray):
        return Y.toarray().astype(like.dtype, copy=False)
    return _frame_like(Y, like, rows)


def _frame_like(Y: sparse.csr_array, like: Any, rows: Array) -> Any:
    """Take the rows first, so that index and types come along, then set the cells."""
    cells = Y.toarray().astype(np.int8)
    taken = take_rows(like, rows)
    if hasattr(taken, "iloc"):
        import pandas as pd

        taken = taken.copy()
        for at, dtype in enumerate(taken.dtypes):
            taken.isetitem(at, pd.Series(cells[:, at], index=taken.index).astype(dtype))
        return taken
    import narwhals as nw

    frame = nw.from_native(taken, eager_only=True)
    backend = nw.get_native_namespace(frame)
    columns = [
        nw.new_series(name, cells[:, at], nw.Int8, backend=backend).cast(frame[name].dtype)
        for at, name in enumerate(frame.columns)
    ]
    return frame.with_columns(*columns).to_native()
