"""Tables of pandas, polars and Arrow to data sets and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, get_column
from scumble._core.errors import DataError, ParameterError, parameter_error
from scumble._core.frames import (
    PandasCategorical,
    frame_columns,
    is_frame,
    is_sparse_column,
    not_a_table_error,
    read_column,
    to_arrow_array,
    to_dense_column,
)
from scumble._core.optional import import_optional_dependency
from scumble._core.parameters import is_integer
from scumble._core.text import join_names
from scumble._core.validation import check_choice, check_named_labels
from scumble.data.feature import (
    ColumnSelection,
    Feature,
    are_integers,
    category_codes,
    column_from_feature,
    features_from_columns,
    first_duplicate,
)
from scumble.data.feature_kinds import infer_feature_kinds
from scumble.data.label_lists import labels_from_lists, labels_from_texts

if TYPE_CHECKING:
    from scumble.data.dataset import MultilabelDataset

#: A table that a sparse data set would need to fill may have this many bytes.
MOST_BYTES = 1 << 30
BACKENDS = ("pandas", "polars", "pyarrow")


def read_frame(
    frame: Any,
    label_columns: ColumnSelection,
    weight_column: str | int | None = None,
    *,
    label_separator: str | None = None,
    ignore: ColumnSelection = (),
    text: ColumnSelection = (),
    category: ColumnSelection = (),
    keep: ColumnSelection | Literal[True] = (),
    where: str = "from_frame",
) -> dict[str, Any]:
    """Read what makes a data set from a table; see `MultilabelDataset.from_frame`."""
    # Numbers become numeric features; text, categories and truth values nominal ones, a category
    # that never occurs included (polars declares them for an Enum only); dates and times become
    # date features in UTC. Labels from lists are put in the order of their names, or of their
    # numbers if all are whole numbers. An index is not a column. What is guessed of columns that
    # declare no categories stands in `scumble.data.feature_kinds.infer_feature_kinds`.
    if not is_frame(frame):
        raise not_a_table_error(frame, "from_frame")
    names, column = frame_columns(frame, caller="from_frame")
    if (twice := first_duplicate(names)) is not None:
        raise DataError(f"Two columns of the table are called {twice!r}. Rename one of them.")
    chosen, weighing = _listed(label_columns), _listed(weight_column)
    if weight_column is not None and len(weighing) != 1:
        raise parameter_error("weight_column", "from_frame", "be one column", weight_column)
    taken = {"label_columns": chosen, "weight_column": weighing}
    taken["ignore"] = _listed(ignore)
    kept = list(names) if keep is True else _listed(keep)
    texts, coded = _listed(text), _listed(category)
    _refuse_unknown({**taken, "text": texts, "category": coded}, names)
    _refuse_unknown({"keep": kept}, names)
    place = {name: at for at, name in enumerate(names)}

    def cells(name: str) -> Any:
        return column(place[name])

    if isinstance(label_columns, str) or is_integer(label_columns):
        lists, shown = _as_arrow(cells(chosen[0]), chosen[0]), f"column {chosen[0]!r}"
        Y, labels = (
            labels_from_lists(lists, shown)
            if label_separator is None
            else labels_from_texts(lists, label_separator, shown)
        )
    else:
        if label_separator is not None:
            raise ParameterError(
                "The 'label_separator' parameter of from_frame parts the labels of one column: "
                "give its name alone, label_columns='tags', not in a list."
            )
        parts = [_label_column(name, cells(name)) for name in chosen]
        none = sparse.csr_array((frame.shape[0], 0), dtype=bool)
        Y, labels = sparse.hstack([none, *parts], format="csr", dtype=bool), tuple(chosen)
    weights = _weights(weighing[0], cells(weighing[0])) if weighing else None
    left = {name for columns in taken.values() for name in columns}
    rest = [name for name in names if name not in left]
    raw = [_as_texts(cells(name), name) if name in coded else cells(name) for name in rest]
    read = [
        read_column(found, f"column {name!r}", caller="from_frame")
        for name, found in zip(rest, raw, strict=True)
    ]
    features, X = features_from_columns(rest, read, Y.shape[0])
    declared = [n for n, found in zip(rest, raw, strict=True) if _declares_categories(found)]
    X, features = infer_feature_kinds(X, features, texts, {*kept, *coded, *declared}, where)
    return {"X": X, "Y": Y, "features": features, "labels": labels, "weights": weights}


def _listed(given: Any) -> list[str]:
    """Make a list of one name or several."""
    if given is None:
        return []
    is_one = isinstance(given, str) or not np.iterable(given)
    return [str(given)] if is_one else [str(name) for name in given]


def _declares_categories(column: Any) -> bool:
    """Tell columns whose categories somebody has declared, so that there is nothing to guess."""
    import pyarrow as pa

    kind = getattr(column, "type", None)
    is_coded = isinstance(kind, pa.DataType) and pa.types.is_dictionary(kind)
    return is_coded or isinstance(column, PandasCategorical)


def make_frame(dataset: MultilabelDataset, backend: str = "pandas") -> Any:
    """Make a table from a data set; see `MultilabelDataset.to_frame`."""
    # `MultilabelDataset.from_frame` gives the same data set back, except for what a table has no
    # place for: the data set's name, weights, the labels' hierarchy, the formats of dates (which
    # are kept to the microsecond), texts of kind *string*, which come back as nominal, and the mark
    # of an integer feature with missing values in a sparse pandas column.
    check_choice(backend, BACKENDS, name="backend", caller="to_frame")
    clash = set(dataset.feature_names) & set(dataset.labels)
    if clash:
        raise DataError(
            f"{min(clash)!r} is the name of a feature and of a label. The columns of a table must "
            "have different names: rename one of them."
        )
    _refuse_large(dataset, backend)
    makers = {"pandas": _to_pandas, "polars": _to_polars, "pyarrow": _to_arrow}
    return makers[backend](dataset)


def _refuse_unknown(wanted: dict[str, list[str]], names: Sequence[str]) -> None:
    """Refuse columns that are not there, and those that are to be two things at once."""
    seen: dict[str, str] = {}
    known = set(names)
    for role, columns in wanted.items():
        for name in columns:
            if name not in known:
                shown = join_names(names, 20)
                raise DataError(f"The table has no column {name!r}. Its columns are {shown}.")
            if name in seen:
                both = role if seen[name] == role else f"{seen[name]} and {role}"
                raise DataError(f"Column {name!r} is named twice, in {both}. Expected it once.")
            seen[name] = role


def _label_column(name: str, column: Any) -> sparse.csc_array:
    """Read one 0/1 column; a sparse one of pandas stays sparse."""
    if is_sparse_column(column) and not column.fill_value:  # neither stored nor seen: all zeros
        rows = column.sp_index.indices
        cells: Any = sparse.csc_array(
            (column.sp_values, rows, np.array([0, len(rows)])), shape=(len(column), 1)
        )
        return check_named_labels(cells, caller=f"from_frame, column {name!r}")[0].tocsc()
    import pyarrow as pa

    cells = pa.table({name: _as_arrow(column, name)})
    return check_named_labels(cells, caller="from_frame")[0].tocsc()


def _weights(name: str, column: Any) -> Array:
    read = read_column(to_dense_column(column), f"column {name!r}", caller="from_frame")
    if read.date or read.categories not in (None, (False, True)):
        raise DataError(
            f"from_frame: the weights in column {name!r} must be numbers. Got "
            f"{'dates' if read.date else 'text or categories'} instead: convert the column."
        )
    return read.values


def _as_arrow(column: Any, name: str) -> Any:
    return to_arrow_array(to_dense_column(column), f"column {name!r}", caller="from_frame")


def _as_texts(column: Any, name: str) -> Any:
    """Write the numbers of a column as texts, which become categories."""
    import pyarrow as pa

    array = _as_arrow(column, name)
    are_numbers = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    return array.cast(pa.string()) if are_numbers else column


def _feature_columns(dataset: MultilabelDataset) -> Iterator[tuple[Feature, Array]]:
    """Hand out the features one after the other, dense."""
    X = sparse.csc_array(dataset.X) if dataset.is_sparse else dataset.X
    return ((feature, get_column(X, at)) for at, feature in enumerate(dataset.features))


def label_columns(dataset: MultilabelDataset) -> Iterator[tuple[str, Array]]:
    """Hand out the labels one after the other, dense."""
    Y = dataset.Y.tocsc()
    return ((name, get_column(Y, at)) for at, name in enumerate(dataset.labels))


def _to_arrow(dataset: MultilabelDataset) -> Any:
    import pyarrow as pa

    columns = [column_from_feature(*column) for column in _feature_columns(dataset)]
    columns += [pa.array(present) for _, present in label_columns(dataset)]
    return pa.table(columns, names=[*dataset.feature_names, *dataset.labels])


def _to_polars(dataset: MultilabelDataset) -> Any:
    pl = import_optional_dependency("polars", purpose="to_frame('polars')", extra="frames")
    table = _to_arrow(dataset)
    columns = dict(zip(table.column_names, map(pl.Series, table.columns), strict=True))
    nominal = {f.name: pl.Enum(f.categories) for f in dataset.features if f.kind == "nominal"}
    return pl.DataFrame(columns).cast(nominal)


def _to_pandas(dataset: MultilabelDataset) -> Any:
    pd = import_optional_dependency("pandas", purpose="to_frame('pandas')", extra="frames")
    index = pd.RangeIndex(dataset.n_instances)
    if dataset.is_sparse:
        labels = _sparse_frame(pd, dataset.Y.tocsc(), dataset.labels)
        return pd.concat([pd.DataFrame(index=index), *_sparse_parts(pd, dataset), labels], axis=1)
    columns = {f.name: _series(pd, f, values) for f, values in _feature_columns(dataset)}
    return pd.DataFrame({**columns, **dict(label_columns(dataset))}, index=index)


def _series(pd: Any, feature: Feature, values: Array) -> Any:
    """Make a pandas array: the plain type where there is one for the values."""
    if feature.kind == "nominal":
        return pd.Categorical.from_codes(category_codes(feature, values), feature.categories)
    if feature.kind == "numeric":
        missing = np.isnan(values)
        if not (feature.integer and are_integers(values[~missing])):
            return np.array(values)
        whole = np.where(missing, 0, values).astype(np.int64)
        return pd.arrays.IntegerArray(whole, missing) if missing.any() else whole
    column = column_from_feature(feature, values)
    return pd.Series(column.to_pandas(), dtype="str") if feature.holds_codes else column.to_pandas()


def _sparse_parts(pd: Any, dataset: MultilabelDataset) -> Iterator[Any]:
    """Make tables of neighbouring columns: sparse ones of numbers, dense ones of anything else."""
    X = cast(Any, dataset.X).tocsc()

    def sparse_type(at: int) -> Any:
        feature = dataset.features[at]
        stored = X.data[X.indptr[at] : X.indptr[at + 1]]
        if feature.kind != "numeric":
            return None
        return np.int64 if feature.integer and are_integers(stored) else np.float64

    for kind, run in groupby(range(dataset.n_features), sparse_type):
        columns = list(run)
        features = [dataset.features[at] for at in columns]
        if kind is None:
            pairs = zip(features, columns, strict=True)
            yield pd.DataFrame({f.name: _series(pd, f, get_column(X, at)) for f, at in pairs})
        else:
            part = X[:, columns[0] : columns[-1] + 1].astype(kind)
            yield _sparse_frame(pd, part, [feature.name for feature in features])


def _sparse_frame(pd: Any, matrix: Any, names: Sequence[str]) -> Any:
    frame = pd.DataFrame.sparse.from_spmatrix(matrix)
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _refuse_large(dataset: MultilabelDataset, backend: str) -> None:
    if backend == "pandas" and dataset.is_sparse:  # only categories and dates have to be filled
        filled = [f for f in dataset.features if f.kind != "numeric"]
        bits = sum(8 if len(feature.categories) < 128 else 64 for feature in filled)
    else:
        bits = dataset.n_labels * (8 if backend == "pandas" else 1)
        bits += 64 * dataset.n_features if dataset.is_sparse else 0
    n_bytes = dataset.n_instances * bits // 8
    if n_bytes > MOST_BYTES:
        raise DataError(
            f"Filling a {backend} table with the zeros of this sparse data set would take "
            f"{n_bytes / 2**30:,.0f} GB. Use .X and .Y, which are sparse, or fewer rows or columns."
        )
