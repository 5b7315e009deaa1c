"""Give back what was given: arrays, sparse matrices and frames, with their types and names."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterTypeError
from scumble._core.features import Features, as_array, check_two_dimensional
from scumble.resample.kernels import bags as kernels


def as_container(X: Any, *, caller: str) -> Any:
    """Turn nested lists into arrays, leave arrays, sparse matrices and frames as they are."""
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
    """Select rows of any container, by position."""
    if isinstance(data, np.ndarray):
        return data.take(rows, axis=0)
    if sparse.issparse(data):
        if data.format == "csr" and data.dtype == np.float64:
            # Faster than scipy: the rows are known to be there.
            indptr, indices, values = _taken(data, rows, data.indices, data.data)
            return type(data)((values, indices, indptr), shape=(len(rows), data.shape[1]))
        taken = data.tocsr()[rows]
        return taken.asformat(data.format)
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if _is_arrow(data):
        return data.take(rows)
    import narwhals as nw

    return nw.from_native(data, eager_only=True)[rows.tolist(), :].to_native()


def _is_arrow(data: Any) -> bool:
    """Tell tables of Arrow, whose columns may share a name or hold codes of any type."""
    return type(data).__module__.partition(".")[0] == "pyarrow"


def take_labels(Y: sparse.csr_array, rows: Array) -> sparse.csr_array:
    """Select rows of a label matrix."""
    indptr, indices = _taken(Y, rows, Y.indices)
    present = np.ones(len(indices), bool)
    return sparse.csr_array((present, indices, indptr), shape=(len(rows), Y.shape[1]))


def _taken(data: Any, rows: Array, *stored: Array) -> list[Array]:
    """Row pointers of the given rows, and what is stored for them."""
    rows = np.ascontiguousarray(rows, np.int64)
    indptr = np.ascontiguousarray(data.indptr)
    places = np.empty(len(rows) + 1, np.int64)
    kernels.fill_indptr(indptr, rows, places)
    kind = indptr.dtype if places[-1] <= np.iinfo(indptr.dtype).max else np.int64
    copies = (kernels.copy_rows(indptr, rows, places, np.ascontiguousarray(v)) for v in stored)
    return [places.astype(kind), *copies]


def labels_like(Y: sparse.csr_array, like: Any, rows: Array) -> Any:
    """Put labels into the container and type of ``like``, with names and index of its rows."""
    if sparse.issparse(like):
        typed = Y.astype(like.dtype, copy=False)
        return typed if type(typed) is type(like) else type(like)(typed)
    if isinstance(like, np.ndarray):
        return Y.toarray().astype(like.dtype, copy=False)
    return replace_columns(take_rows(like, rows), list(Y.toarray().astype(np.int8).T))


def _arrow_like(table: Any, columns: Iterable[Any]) -> Any:
    """Put new values into all columns of an Arrow table, keeping names and types."""
    import pyarrow as pa

    def array(values: Any, kind: Any) -> Any:
        if pa.types.is_decimal(kind):  # which Arrow makes of floats in a second step only
            return pa.array(values, pa.float64()).cast(kind, safe=False)
        return pa.array(_whole(values) if pa.types.is_integer(kind) else values, kind)

    arrays = map(array, columns, table.schema.types)
    return type(table).from_arrays(list(arrays), schema=table.schema)


def rows_like(features: Features, synthetic: Any, seeds: Array) -> Any:
    """Put synthetic rows into the container and types the features came in."""
    # A value that is missing in a synthetic row is missing in its seed: it keeps the seed's mark,
    # for libraries have several (None, NaN, NA).
    source = features.source
    if sparse.issparse(source):
        return type(source)(synthetic.astype(source.dtype).asformat(source.format))
    if isinstance(source, np.ndarray) and source.dtype.kind in "biuf":
        return synthetic.astype(source.dtype)
    if sparse.issparse(synthetic):  # sparse columns in a frame of pandas
        synthetic = synthetic.toarray()
    columns = [
        synthetic[:, at] if known is None else _looked_up(known, synthetic[:, at])
        for at, known in enumerate(features.codes.categories)
    ]
    taken = take_rows(source, seeds)
    for at in np.flatnonzero(np.isnan(synthetic).any(axis=0)).tolist():
        marks = column_values(taken, at)
        pairs = zip(columns[at], marks, np.isnan(synthetic[:, at]), strict=True)
        columns[at] = [mark if is_missing else value for value, mark, is_missing in pairs]
    if isinstance(source, np.ndarray):
        for at, column in enumerate(columns):
            taken[:, at] = column
        return taken
    return replace_columns(taken, columns)


def _looked_up(categories: tuple[Any, ...], codes: Array) -> list[Any]:
    values = np.empty(len(categories) + 1, object)
    values[:-1] = categories
    return values[np.where(np.isnan(codes), -1, codes).astype(np.intp)].tolist()


def column_values(table: Any, at: int) -> list[Any]:
    """List the values of a column of a frame or array."""
    if isinstance(table, np.ndarray):
        return table[:, at].tolist()
    if hasattr(table, "iloc"):
        return table.iloc[:, at].tolist()
    if _is_arrow(table):
        return table.column(at).to_pylist()
    import narwhals as nw

    whole = nw.from_native(table, eager_only=True)
    return whole[whole.columns[at]].to_list()


def replace_columns(frame: Any, columns: list[Any]) -> Any:
    """Put new values into all columns of a frame, keeping names, types and index."""
    if hasattr(frame, "iloc"):
        import pandas as pd

        filled = [
            pd.Series(np.asarray(values), index=frame.index).astype(dtype)
            if isinstance(values, np.ndarray) or dtype.kind in "iu"
            else pd.Series(values, index=frame.index, dtype=dtype)
            for values, dtype in zip(columns, frame.dtypes, strict=True)
        ]
        new = pd.concat(filled, axis=1) if filled else frame.copy()
        new.columns = frame.columns
        return new
    if _is_arrow(frame):
        return _arrow_like(frame, columns)
    import narwhals as nw

    whole = nw.from_native(frame, eager_only=True)
    library = nw.get_native_namespace(whole)

    def series(name: str, dtype: Any, values: Any) -> Any:
        cells = _whole(values) if dtype.is_integer() else values
        return nw.new_series(name, cells, dtype, backend=library)

    new = map(series, whole.schema.names(), whole.schema.dtypes(), columns)
    return whole.with_columns(*new).to_native()


def _whole(values: Any) -> Any:
    """Give whole numbers as such: not every library casts floats while it reads."""
    if isinstance(values, np.ndarray):
        return values.astype(np.int64)
    return [None if value is None else int(value) for value in values]


def append_rows(first: Any, second: Any) -> Any:
    """Put the rows of two containers of one kind one after another."""
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

    return nw.concat(
        [nw.from_native(part, eager_only=True) for part in (first, second)]
    ).to_native()
