"""Tables of pandas, polars and Arrow to data sets and back.

Columns travel as Arrow arrays (`scumble.data.columns`); only sparse columns, which pandas alone
has, take a path of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, cast

import numpy as np
from scipy import sparse

from scumble._core.errors import DataError, ParameterTypeError
from scumble._core.optional import require
from scumble._core.validation import check_choice, check_named_labels
from scumble.data.columns import are_whole, category_codes, column_from_feature, feature_from_column
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.label_lists import labels_from_lists

#: A table that a sparse data set would need to fill may have this many bytes.
MOST_BYTES = 1 << 30
BACKENDS = ("pandas", "polars", "pyarrow")


def dataset_from_frame(
    frame: Any,
    *,
    label_columns: Sequence[str] | str,
    name: str = "",
    weight_column: str | None = None,
) -> MultilabelDataset:
    """Make a data set from a table; see `MultilabelDataset.from_frame`.

    Notes
    -----
    Numbers and booleans become numeric features; text and categories nominal ones, a category
    that never occurs included (polars declares them for an ``Enum`` only); dates and times become
    date features in UTC. Labels from lists are put in the order of their names, or of their
    numbers if all are whole numbers. An index is not a column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from scumble.data import MultilabelDataset
    >>> table = pa.table({"minutes": [150, 90], "tags": [["war", "love"], ["love"]]})
    >>> films = MultilabelDataset.from_frame(table, label_columns="tags")
    >>> films.features[0], films.labels
    (Feature(name='minutes', kind='numeric', categories=(), integer=True, date_format=None),
     ('love', 'war'))
    """
    columns = _columns(frame)
    chosen = [label_columns] if isinstance(label_columns, str) else [str(c) for c in label_columns]
    wanted = [*chosen, *([] if weight_column is None else [weight_column])]
    _refuse_unknown(wanted, list(columns))
    if isinstance(label_columns, str):
        Y, labels = _labels_from_list_column(label_columns, columns[label_columns]())
    else:
        Y, labels = _labels_from_columns(chosen, columns), tuple(chosen)
    weights = None
    if weight_column is not None:
        weights = feature_from_column(weight_column, _dense(columns[weight_column]()))[1]
    rest = [column for column in columns if column not in set(wanted)]
    features, X = _features(rest, columns, Y.shape[0])
    return MultilabelDataset(X, Y, features=features, labels=labels, name=name, weights=weights)


def dataset_to_frame(dataset: MultilabelDataset, backend: str = "pandas") -> Any:
    """Make a table from a data set; see `MultilabelDataset.to_frame`.

    Notes
    -----
    `MultilabelDataset.from_frame` gives the same data set back, except for what a table has no
    place for: the data set's name, weights, the labels' hierarchy, the formats of dates (which
    are kept to the microsecond), texts of kind *string*, which come back as nominal, and the mark
    of an integer feature with missing values in a sparse pandas column.

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> films = MultilabelDataset([[90.0], [150.0]], [["comedy"], ["drama", "war"]])
    >>> films.to_frame("pyarrow").column_names
    ['x0', 'comedy', 'drama', 'war']
    """
    check_choice(backend, BACKENDS, name="backend", caller="to_frame")
    clash = set(dataset.feature_names) & set(dataset.labels)
    if clash:
        raise DataError(
            f"{min(clash)!r} is the name of a feature and of a label. The columns of a table must "
            "have different names: rename one of them."
        )
    if backend == "pandas":
        return _to_pandas(dataset)
    _refuse_large(dataset, backend)
    return _to_polars(dataset) if backend == "polars" else _to_arrow(dataset)


# A column is handed out as a function, so that it is converted only when it is needed.
_Column = Callable[[], Any]


def _columns(frame: Any) -> dict[str, _Column]:
    """Return the columns of any table as Arrow arrays, or as pandas' sparse arrays."""
    names, column = _pandas_columns(frame) if _is_pandas(frame) else _other_columns(frame)
    columns: dict[str, _Column] = {}
    for at, name in enumerate(names):
        if name in columns:
            raise DataError(f"Two columns of the table are called {name!r}. Rename one of them.")
        columns[name] = lambda at=at, name=name: column(at, name)  # type: ignore[misc]  # defaults bind now
    return columns


def _is_pandas(frame: Any) -> bool:
    return hasattr(frame, "iloc") and type(frame).__module__.partition(".")[0] == "pandas"


def _pandas_columns(frame: Any) -> tuple[list[str], Callable[[int, str], Any]]:
    import pyarrow as pa

    if frame.ndim != 2:
        raise _no_table(frame)

    columns = [series for _, series in frame.items()]  # faster than selecting by position

    def column(at: int, name: str) -> Any:
        series = columns[at]
        if hasattr(series.dtype, "fill_value"):  # only sparse columns have one
            return series.array
        try:
            return pa.array(series, from_pandas=True)
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise DataError(
                f"Column {name!r} of type {series.dtype} cannot be read ({error}). Expected "
                "values of one type: convert it, or leave it out."
            ) from None

    return [str(name) for name in frame.columns], column


def _other_columns(frame: Any) -> tuple[list[str], Callable[[int, str], Any]]:
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pa.Table | pa.RecordBatch):
        return list(frame.schema.names), lambda at, name: frame.column(at)
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise _no_table(frame) from None
    return list(table.columns), lambda at, name: table[:, at].alias("").to_arrow()


def _no_table(frame: Any) -> ParameterTypeError:
    hint = " Collect the lazy frame first." if "Lazy" in type(frame).__name__ else ""
    return ParameterTypeError(
        "from_frame: expected a DataFrame of pandas or polars or an Arrow table. "
        f"Got {type(frame).__name__} instead.{hint}"
    )


def _refuse_unknown(wanted: list[str], names: list[str]) -> None:
    for at, name in enumerate(wanted):
        if name not in names:
            shown = ", ".join(repr(column) for column in names[:20])
            more = ", ..." if len(names) > 20 else ""
            raise DataError(f"The table has no column {name!r}. Its columns are {shown}{more}.")
        if name in wanted[:at]:
            raise DataError(f"Column {name!r} is named twice in label_columns or weight_column.")


def _is_sparse(column: Any) -> bool:
    return hasattr(column, "sp_values")


def _dense(column: Any) -> Any:
    import pyarrow as pa

    return pa.array(np.asarray(column)) if _is_sparse(column) else column


def _labels_from_columns(names: list[str], columns: dict[str, _Column]) -> sparse.csr_array:
    import pyarrow as pa

    parts: list[Any] = []
    for name in names:
        column = columns[name]()
        if _is_sparse(column) and not column.fill_value:  # neither stored nor seen: all zeros
            rows = column.sp_index.indices
            stored = sparse.csc_array(
                (column.sp_values, rows, np.array([0, len(rows)])), shape=(len(column), 1)
            )
            part = check_named_labels(stored, caller=f"from_frame, column {name!r}")[0]
        else:
            table = pa.table({name: _dense(column)})
            part = check_named_labels(table, caller="from_frame")[0]
        parts.append(part.tocsc())
    if not parts:
        n_rows = len(next(iter(columns.values()))()) if columns else 0
        return sparse.csr_array((n_rows, 0), dtype=bool)
    return sparse.hstack(parts, format="csr", dtype=bool)


def _labels_from_list_column(name: str, column: Any) -> tuple[sparse.csr_array, tuple[str, ...]]:
    return labels_from_lists(_dense(column), f"column {name!r}")


def _features(
    names: list[str], columns: dict[str, _Column], n_rows: int
) -> tuple[list[Feature], Any]:
    features: list[Feature] = []
    parts: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | np.ndarray[Any, Any]] = []
    for name in names:
        column = columns[name]()
        if _is_sparse(column) and column.fill_value == 0:
            integer = column.sp_values.dtype.kind in "biu"
            features.append(Feature(name, integer=integer))
            parts.append((column.sp_index.indices, column.sp_values.astype(np.float64)))
        else:
            feature, values = feature_from_column(name, _dense(column))
            features.append(feature)
            parts.append(values)
    if any(isinstance(part, tuple) for part in parts):
        return features, _sparse_matrix(parts, n_rows)
    X = np.empty((n_rows, len(parts)))
    for at, part in enumerate(parts):
        X[:, at] = part
    return features, X


def _sparse_matrix(parts: list[Any], n_rows: int) -> sparse.csr_array:
    stored = []
    for part in parts:
        if isinstance(part, tuple):
            stored.append(part)
        else:
            rows = np.flatnonzero(part)
            stored.append((rows, part[rows]))
    indices = np.concatenate([rows for rows, _ in stored])
    values = np.concatenate([values for _, values in stored])
    indptr = np.concatenate([[0], np.cumsum([len(rows) for rows, _ in stored])])
    return sparse.csc_array((values, indices, indptr), shape=(n_rows, len(parts))).tocsr()


def _feature_columns(dataset: MultilabelDataset) -> Iterator[tuple[Feature, np.ndarray[Any, Any]]]:
    """Hand out the features one after the other, dense."""
    X = cast(Any, dataset.X)
    X = X.tocsc() if dataset.is_sparse else X
    for at, feature in enumerate(dataset.features):
        yield feature, _dense_column(X, at) if dataset.is_sparse else X[:, at]


def _dense_column(matrix: Any, at: int) -> np.ndarray[Any, Any]:
    column = np.zeros(matrix.shape[0], matrix.dtype)
    part = slice(matrix.indptr[at], matrix.indptr[at + 1])
    column[matrix.indices[part]] = matrix.data[part]
    return column


def _to_arrow(dataset: MultilabelDataset) -> Any:
    import pyarrow as pa

    Y = dataset.Y.tocsc()
    columns = [column_from_feature(*column) for column in _feature_columns(dataset)]
    columns += [pa.array(_dense_column(Y, at)) for at in range(dataset.n_labels)]
    return pa.table(columns, names=[*dataset.feature_names, *dataset.labels])


def _to_polars(dataset: MultilabelDataset) -> Any:
    pl = require("polars", purpose="to_frame('polars')", extra="frames")

    Y = dataset.Y.tocsc()
    columns = {}
    for feature, values in _feature_columns(dataset):
        column = column_from_feature(feature, values)
        if feature.kind == "nominal":
            texts = pl.Series(column.dictionary_decode())
            columns[feature.name] = texts.cast(pl.Enum(feature.categories))
        else:
            columns[feature.name] = pl.Series(column)
    columns |= {name: pl.Series(_dense_column(Y, at)) for at, name in enumerate(dataset.labels)}
    return pl.DataFrame(columns)


def _to_pandas(dataset: MultilabelDataset) -> Any:
    pd = require("pandas", purpose="to_frame('pandas')", extra="frames")

    index = pd.RangeIndex(dataset.n_instances)
    if dataset.is_sparse:
        _refuse_large_categories(dataset)
        labels = _sparse_frame(pd, dataset.Y.tocsc(), dataset.labels)
        return pd.concat([pd.DataFrame(index=index), *_sparse_parts(pd, dataset), labels], axis=1)
    _refuse_large(dataset, "pandas")
    columns = {f.name: _series(pd, f, values) for f, values in _feature_columns(dataset)}
    Y = dataset.Y.tocsc()
    columns |= {name: _dense_column(Y, at) for at, name in enumerate(dataset.labels)}
    return pd.DataFrame(columns, index=index)


def _series(pd: Any, feature: Feature, values: np.ndarray[Any, Any]) -> Any:
    """Make a pandas array: the plain type where there is one for the values."""
    if feature.kind == "nominal":
        return pd.Categorical.from_codes(category_codes(feature, values), feature.categories)
    if feature.kind == "numeric":
        missing = np.isnan(values)
        if not (feature.integer and are_whole(values[~missing])):
            return np.array(values)
        whole = np.where(missing, 0, values).astype(np.int64)
        return pd.arrays.IntegerArray(whole, missing) if missing.any() else whole
    column = column_from_feature(feature, values)
    return (
        pd.Series(column.to_pandas(), dtype="str")
        if feature.kind == "string"
        else column.to_pandas()
    )


def _sparse_parts(pd: Any, dataset: MultilabelDataset) -> Iterator[Any]:
    """Make tables of neighbouring columns: sparse ones of numbers, dense ones of anything else."""
    X = cast(Any, dataset.X).tocsc()

    def sparse_type(at: int) -> Any:
        feature = dataset.features[at]
        stored = X.data[X.indptr[at] : X.indptr[at + 1]]
        if feature.kind != "numeric":
            return None
        return np.int64 if feature.integer and are_whole(stored) else np.float64

    for kind, run in groupby(range(dataset.n_features), sparse_type):
        columns = list(run)
        features = [dataset.features[at] for at in columns]
        if kind is None:
            pairs = zip(features, columns, strict=True)
            yield pd.DataFrame({f.name: _series(pd, f, _dense_column(X, at)) for f, at in pairs})
        else:
            part = X[:, columns[0] : columns[-1] + 1].astype(kind)
            yield _sparse_frame(pd, part, [feature.name for feature in features])


def _sparse_frame(pd: Any, matrix: Any, names: Sequence[str]) -> Any:
    frame = pd.DataFrame.sparse.from_spmatrix(matrix)
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _refuse_large(dataset: MultilabelDataset, backend: str) -> None:
    bits = dataset.n_labels * (8 if backend == "pandas" else 1)
    if dataset.is_sparse:
        bits += 64 * dataset.n_features
    _refuse_bytes(dataset.n_instances * bits // 8, backend)


def _refuse_large_categories(dataset: MultilabelDataset) -> None:
    """Categories and dates have no sparse columns, not even in pandas."""
    width = sum(
        0 if feature.kind == "numeric" else 1 if len(feature.categories) < 128 else 8
        for feature in dataset.features
    )
    _refuse_bytes(dataset.n_instances * width, "pandas")


def _refuse_bytes(n_bytes: int, backend: str) -> None:
    if n_bytes > MOST_BYTES:
        raise DataError(
            f"Filling a {backend} table with the zeros of this sparse data set would take "
            f"{n_bytes / 2**30:,.0f} GB. Use .X and .Y, which are sparse, or fewer rows or columns."
        )
