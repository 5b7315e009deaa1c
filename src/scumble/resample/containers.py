"""Rows and labels in the type that the user passed: arrays, sparse matrices or data frames.

A *container* is a NumPy array, a SciPy sparse matrix, a pandas or polars DataFrame, or an Arrow
table.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterTypeError
from scumble._validation.features import Features, as_array, check_two_dimensional
from scumble.resample.kernels import bags as kernels


def as_container(X: Any, *, caller: str) -> Any:
    """Return nested lists as an array, and any other container unchanged.

    Raise an error if ``X`` is neither, or is not two-dimensional.
    """
    if isinstance(X, list | tuple):
        X = as_array(X, caller=caller)
    shape = getattr(X, "shape", None)
    if shape is None:
        raise ParameterTypeError(
            f"{caller}: X must be an array, a sparse matrix or a DataFrame. "
            f"Got {type(X).__name__} instead."
        )
    check_two_dimensional(shape, caller=caller)
    return X


def take_rows(data: Any, rows: Array) -> Any:
    """Return the rows with the indices ``rows`` of any container, in the same type."""
    if isinstance(data, np.ndarray):
        return data.take(rows, axis=0)
    if sparse.issparse(data):
        if data.format == "csr" and data.dtype == np.float64:
            # Faster than scipy, because the row numbers need no check.
            indptr, indices, values = _take_csr_rows(data, rows, data.indices, data.data)
            return type(data)((values, indices, indptr), shape=(len(rows), data.shape[1]))
        return data.tocsr()[rows].asformat(data.format)
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if _is_arrow(data):
        return data.take(rows)
    import narwhals as nw

    return nw.from_native(data, eager_only=True)[rows.tolist(), :].to_native()


def _is_arrow(data: Any) -> bool:
    """Return whether the data is an object of pyarrow: a table or a record batch."""
    # narwhals refuses Arrow tables with duplicate column names and some types of codes.
    return type(data).__module__.partition(".")[0] == "pyarrow"


def take_labels(Y: sparse.csr_array, rows: Array) -> sparse.csr_array:
    """Return the rows with the indices ``rows`` of a label matrix; faster than ``Y[rows]``."""
    indptr, indices = _take_csr_rows(Y, rows, Y.indices)
    present = np.ones(len(indices), bool)
    return sparse.csr_array((present, indices, indptr), shape=(len(rows), Y.shape[1]))


def _take_csr_rows(matrix: Any, rows: Array, *stored: Array) -> list[Array]:
    """Return the row pointers of the selected rows, then their elements of each ``stored`` array.

    ``matrix`` is a CSR matrix; ``stored`` are arrays with a value per stored element, such as its
    indices and data.
    """
    rows = np.ascontiguousarray(rows, np.int64)
    indptr = np.ascontiguousarray(matrix.indptr)
    new_indptr = np.empty(len(rows) + 1, np.int64)
    kernels.fill_indptr(indptr, rows, new_indptr)
    fits = new_indptr[-1] <= np.iinfo(indptr.dtype).max
    dtype = indptr.dtype if fits else np.int64
    arrays = [new_indptr.astype(dtype)]
    for values in stored:
        contiguous = np.ascontiguousarray(values)
        arrays.append(kernels.copy_rows(indptr, rows, new_indptr, contiguous))
    return arrays


def labels_like(Y: sparse.csr_array, like: Any, rows: Array) -> Any:
    """Return the labels ``Y`` in the container and dtype of ``like``, the labels of the user.

    ``rows`` holds, for each row of ``Y``, the row of ``like`` that it comes from; a frame has its
    index.
    """
    if sparse.issparse(like):
        typed = Y.astype(like.dtype, copy=False)
        return typed if type(typed) is type(like) else type(like)(typed)
    if isinstance(like, np.ndarray):
        return Y.toarray().astype(like.dtype, copy=False)
    return replace_columns(take_rows(like, rows), list(Y.toarray().astype(np.int8).T))


def rows_like(features: Features, synthetic: Any, seeds: Array) -> Any:
    """Return synthetic rows in the container and dtypes of the table of the user.

    ``synthetic`` holds numbers and codes like ``features.values``; ``seeds`` are the indices of the
    input rows that the synthetic rows come from.
    """
    source = features.source
    if sparse.issparse(source):
        return type(source)(synthetic.astype(source.dtype).asformat(source.format))
    if isinstance(source, np.ndarray) and source.dtype.kind in "biuf":
        return synthetic.astype(source.dtype)
    if sparse.issparse(synthetic):  # a pandas frame with sparse columns
        synthetic = synthetic.toarray()
    columns = []
    for index, categories in enumerate(features.codes.categories):
        values = synthetic[:, index]
        if categories is not None:
            values = _categories_of_codes(categories, values)
        columns.append(values)
    container = take_rows(source, seeds)
    # A value that is missing in a synthetic row is missing in its seed. The seed's own marker is
    # used, because libraries have several (None, NaN, NA).
    for index in np.flatnonzero(np.isnan(synthetic).any(axis=0)).tolist():
        is_missing = np.isnan(synthetic[:, index])
        cells = zip(columns[index], column_values(container, index), is_missing, strict=True)
        columns[index] = [marker if missing else value for value, marker, missing in cells]
    if isinstance(source, np.ndarray):
        for index, column in enumerate(columns):
            container[:, index] = column
        return container
    return replace_columns(container, columns)


def _categories_of_codes(categories: tuple[Any, ...], codes: Array) -> list[Any]:
    """Return the category of each code; None for a missing code."""
    values = np.empty(len(categories) + 1, object)
    values[:-1] = categories
    return values[np.where(np.isnan(codes), -1, codes).astype(np.intp)].tolist()


def column_values(table: Any, column: int) -> list[Any]:
    """Return the values of the column with the index ``column`` of a frame or array, as a list."""
    if isinstance(table, np.ndarray):
        return table[:, column].tolist()
    if hasattr(table, "iloc"):
        return table.iloc[:, column].tolist()
    if _is_arrow(table):
        return table.column(column).to_pylist()
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    return frame[frame.columns[column]].to_list()


def replace_columns(table: Any, columns: list[Any]) -> Any:
    """Return a copy of a frame with new values in all columns, but its names, dtypes and index.

    ``columns`` holds the values of each column, as many as the frame has rows.
    """
    if hasattr(table, "iloc"):
        return _replace_pandas_columns(table, columns)
    if _is_arrow(table):
        return _replace_arrow_columns(table, columns)
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    library = nw.get_native_namespace(frame)
    series = []
    for (name, dtype), values in zip(frame.schema.items(), columns, strict=True):
        cells = _as_integers(values) if dtype.is_integer() else values
        series.append(nw.new_series(name, cells, dtype, backend=library))
    return frame.with_columns(*series).to_native()


def _replace_pandas_columns(frame: Any, columns: list[Any]) -> Any:
    """Return a copy of a pandas frame with new values in all columns.

    Names, index and types of the columns stay.
    """
    import pandas as pd

    series = []
    for values, dtype in zip(columns, frame.dtypes, strict=True):
        if isinstance(values, np.ndarray) or dtype.kind in "iu":
            series.append(pd.Series(np.asarray(values), index=frame.index).astype(dtype))
        else:
            series.append(pd.Series(values, index=frame.index, dtype=dtype))
    new = pd.concat(series, axis=1) if series else frame.copy()
    new.columns = frame.columns
    return new


def _replace_arrow_columns(table: Any, columns: Iterable[Any]) -> Any:
    """Return a copy of an Arrow table with new values in all columns."""
    import pyarrow as pa

    arrays = []
    for values, dtype in zip(columns, table.schema.types, strict=True):
        if pa.types.is_decimal(dtype):  # Arrow converts floats to decimals only by a cast
            array = pa.array(values, pa.float64()).cast(dtype, safe=False)
        elif pa.types.is_integer(dtype):
            array = pa.array(_as_integers(values), dtype)
        else:
            array = pa.array(values, dtype)
        arrays.append(array)
    return type(table).from_arrays(arrays, schema=table.schema)


def _as_integers(values: Any) -> Any:
    """Return whole numbers that are stored as floats as integers; None stays None.

    Some libraries do not convert floats themselves.
    """
    if isinstance(values, np.ndarray):
        return values.astype(np.int64)
    return [None if value is None else int(value) for value in values]


def append_rows(first: Any, second: Any) -> Any:
    """Return the rows of two containers of the same type, one after the other."""
    if sparse.issparse(first):
        stacked = sparse.vstack([first, second], format=first.format)
        return type(first)(stacked.astype(first.dtype, copy=False))
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second]).astype(first.dtype, copy=False)
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat([first, second])
    if _is_arrow(first):
        import pyarrow as pa

        if isinstance(first, pa.Table):
            return pa.concat_tables([first, second])
        pairs = zip(first.columns, second.columns, strict=True)
        return type(first).from_arrays(list(map(pa.concat_arrays, pairs)), schema=first.schema)
    import narwhals as nw

    frames = [nw.from_native(table, eager_only=True) for table in (first, second)]
    return nw.concat(frames).to_native()
