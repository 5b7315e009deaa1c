"""Conversion of pandas, polars and Arrow tables to data sets and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, get_column
from scumble._core.errors import DataError, ParameterError, parameter_error
from scumble._core.optional import import_optional_dependency
from scumble._core.parameters import check_choice, is_integer
from scumble._core.text import join_names
from scumble._validation.frames import (
    PandasCategorical,
    frame_columns,
    is_frame,
    is_sparse_column,
    not_a_table_error,
    read_column,
    to_arrow_array,
    to_dense_column,
)
from scumble._validation.labels import check_named_labels
from scumble.data.feature import (
    ColumnSelection,
    Feature,
    are_integers,
    category_codes,
    column_from_feature,
    features_from_columns,
    first_duplicate,
)
from scumble.data.infer.feature_kinds import infer_feature_kinds
from scumble.data.label_lists import labels_from_lists, labels_from_texts

if TYPE_CHECKING:
    from scumble.data.dataset import MultilabelDataset

#: Largest table, in bytes, that is filled with the zeros of a sparse data set: 1 GB, which a laptop
#: can hold several times.
MAX_FILLED_BYTES = 1 << 30
#: The libraries whose tables `make_frame` can return.
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
    input_name: str = "from_frame",
) -> dict[str, Any]:
    """Return the arguments of a data set, read from a table; see `MultilabelDataset.from_frame`.

    The keys are ``X``, ``Y``, ``features``, ``labels`` and ``weights`` (None without a
    ``weight_column``). Warnings call the table ``input_name``.

    Numbers become numeric features. Texts, categories and truth values become nominal features,
    including categories that never occur (polars declares them for an Enum only). Dates and times
    become date features in UTC. Labels from lists are in the order of their names, or of their
    numbers if all are whole numbers. An index is not a column. For columns without declared
    categories `scumble.data.infer.feature_kinds.infer_feature_kinds` infers what they hold.
    """
    if not is_frame(frame):
        raise not_a_table_error(frame, "from_frame")
    names, get_cells = frame_columns(frame, caller="from_frame")
    duplicate = first_duplicate(names)
    if duplicate is not None:
        raise DataError(f"Two columns of the table are called {duplicate!r}. Rename one of them.")
    label_names = _as_name_list(label_columns)
    weight_names = _as_name_list(weight_column)
    ignored_names = _as_name_list(ignore)
    text_names = _as_name_list(text)
    category_names = _as_name_list(category)
    as_is_names = list(names) if keep is True else _as_name_list(keep)
    if weight_column is not None and len(weight_names) != 1:
        raise parameter_error("weight_column", "from_frame", "be one column", weight_column)
    exclusive_roles = {
        "label_columns": label_names,
        "weight_column": weight_names,
        "ignore": ignored_names,
        "text": text_names,
        "category": category_names,
    }
    _check_column_roles(exclusive_roles, names)
    _check_column_roles({"keep": as_is_names}, names)
    index_of = {name: index for index, name in enumerate(names)}

    def cells_of(name: str) -> Any:
        """Return the column of this name, in the type of its library."""
        return get_cells(index_of[name])

    if isinstance(label_columns, str) or is_integer(label_columns):
        [label_name] = label_names
        lists = _as_arrow(cells_of(label_name), label_name)
        column_text = f"column {label_name!r}"
        if label_separator is None:
            Y, labels = labels_from_lists(lists, input_name=column_text)
        else:
            Y, labels = labels_from_texts(lists, label_separator, input_name=column_text)
    else:
        if label_separator is not None:
            raise ParameterError(
                "The 'label_separator' parameter of from_frame splits the labels of one column: "
                "give its name alone, label_columns='tags', not in a list."
            )
        columns = [_label_column(name, cells_of(name)) for name in label_names]
        no_columns = sparse.csr_array((frame.shape[0], 0), dtype=bool)
        Y = sparse.hstack([no_columns, *columns], format="csr", dtype=bool)
        labels = tuple(label_names)
    weights = _weights(weight_names[0], cells_of(weight_names[0])) if weight_names else None

    non_feature_names = {*label_names, *weight_names, *ignored_names}
    feature_names = [name for name in names if name not in non_feature_names]
    encoded_columns = []
    declared_names = []
    for name in feature_names:
        cells = cells_of(name)
        if name in category_names:
            cells = _numbers_as_texts(cells, name)
        if _declares_categories(cells):
            declared_names.append(name)
        encoded_columns.append(read_column(cells, f"column {name!r}", caller="from_frame"))
    features, X = features_from_columns(feature_names, encoded_columns, Y.shape[0])
    X, features = infer_feature_kinds(
        X,
        features,
        text_names=text_names,
        as_is_names={*as_is_names, *category_names, *declared_names},
        input_name=input_name,
    )
    return {"X": X, "Y": Y, "features": features, "labels": labels, "weights": weights}


def _as_name_list(selection: Any) -> list[str]:
    """Return a list of column names, from one name or several; an empty list for None."""
    if selection is None:
        return []
    if isinstance(selection, str) or not np.iterable(selection):
        return [str(selection)]
    return [str(name) for name in selection]


def _declares_categories(column: Any) -> bool:
    """Return whether a column is an Arrow dictionary or a pandas Categorical.

    Such a column declares its categories, so that there is nothing to infer.
    """
    import pyarrow as pa

    arrow_type = getattr(column, "type", None)
    is_dictionary = isinstance(arrow_type, pa.DataType) and pa.types.is_dictionary(arrow_type)
    return is_dictionary or isinstance(column, PandasCategorical)


def make_frame(dataset: MultilabelDataset, backend: str = "pandas") -> Any:
    """Convert a data set to a table of the library ``backend``; see `MultilabelDataset.to_frame`.

    `MultilabelDataset.from_frame` restores the data set, except for what a table cannot hold: the
    name of the data set, weights, the hierarchy of labels, the formats of dates (which are kept to
    the microsecond), the kind *string*, which becomes nominal, and, in a sparse pandas column, the
    mark of an integer feature with missing values.
    """
    check_choice(backend, BACKENDS, name="backend", caller="to_frame")
    clash = set(dataset.feature_names) & set(dataset.labels)
    if clash:
        raise DataError(
            f"{min(clash)!r} is the name of a feature and of a label. The columns of a table must "
            "have different names: rename one of them."
        )
    _refuse_large_table(dataset, backend)
    converters = {"pandas": _to_pandas, "polars": _to_polars, "pyarrow": _to_arrow}
    return converters[backend](dataset)


def _check_column_roles(columns_of_role: dict[str, list[str]], names: Sequence[str]) -> None:
    """Raise DataError if a column does not exist, or has two roles.

    ``columns_of_role`` maps a role, called like the option that assigns it, to names of columns;
    ``names`` are the columns of the table.
    """
    existing_names = set(names)
    role_of: dict[str, str] = {}
    for role, columns in columns_of_role.items():
        for name in columns:
            if name not in existing_names:
                all_names = join_names(names, 20)
                raise DataError(f"The table has no column {name!r}. Its columns are {all_names}.")
            if name in role_of:
                roles = role if role_of[name] == role else f"{role_of[name]} and {role}"
                raise DataError(f"Column {name!r} is named twice, in {roles}. Expected it once.")
            role_of[name] = role


def _label_column(name: str, column: Any) -> sparse.csc_array:
    """Return a 0/1 column as a boolean matrix of shape (n_samples, 1).

    A sparse pandas column is not converted to a dense one. Raise LabelError for other values than
    0/1 or True/False.
    """
    if is_sparse_column(column) and not column.fill_value:  # cells that are not stored are zeros
        row_indices = column.sp_index.indices
        indptr = np.array([0, len(row_indices)])
        cells: Any = sparse.csc_array(
            (column.sp_values, row_indices, indptr), shape=(len(column), 1)
        )
        return check_named_labels(cells, caller=f"from_frame, column {name!r}")[0].tocsc()
    import pyarrow as pa

    cells = pa.table({name: _as_arrow(column, name)})
    return check_named_labels(cells, caller="from_frame")[0].tocsc()


def _weights(name: str, column: Any) -> Array:
    """Return the weights of the rows as floats, from the column called ``name``.

    Raise DataError if the column does not hold numbers or booleans.
    """
    encoded = read_column(to_dense_column(column), f"column {name!r}", caller="from_frame")
    if encoded.date or encoded.categories not in (None, (False, True)):
        content = "dates" if encoded.date else "text or categories"
        raise DataError(
            f"from_frame: the weights in column {name!r} must be numbers. Got {content} instead: "
            "convert the column."
        )
    return encoded.values


def _as_arrow(column: Any, name: str) -> Any:
    """Convert a column of any supported table to an Arrow array; errors call it ``name``."""
    return to_arrow_array(to_dense_column(column), f"column {name!r}", caller="from_frame")


def _numbers_as_texts(column: Any, name: str) -> Any:
    """Convert a column of numbers to an Arrow array of texts, which become categories.

    Columns of other types are returned unchanged; errors call the column ``name``.
    """
    import pyarrow as pa

    array = _as_arrow(column, name)
    are_numbers = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    return array.cast(pa.string()) if are_numbers else column


def _feature_columns(dataset: MultilabelDataset) -> Iterator[tuple[Feature, Array]]:
    """Yield each feature with its column of ``X`` as a dense array."""
    X = sparse.csc_array(dataset.X) if dataset.is_sparse else dataset.X
    for index, feature in enumerate(dataset.features):
        yield feature, get_column(X, index)


def label_columns(dataset: MultilabelDataset) -> Iterator[tuple[str, Array]]:
    """Yield the name of each label with its column of ``Y`` as a dense boolean array."""
    Y = dataset.Y.tocsc()
    for index, name in enumerate(dataset.labels):
        yield name, get_column(Y, index)


def _to_arrow(dataset: MultilabelDataset) -> Any:
    """Convert a data set to an Arrow table: the features, then a boolean column per label."""
    import pyarrow as pa

    columns = [
        column_from_feature(feature, values) for feature, values in _feature_columns(dataset)
    ]
    columns += [pa.array(is_present) for _, is_present in label_columns(dataset)]
    return pa.table(columns, names=[*dataset.feature_names, *dataset.labels])


def _to_polars(dataset: MultilabelDataset) -> Any:
    """Convert a data set to a polars DataFrame; nominal features become Enum columns."""
    pl = import_optional_dependency("polars", purpose="to_frame('polars')", extra="frames")
    table = _to_arrow(dataset)
    columns = dict(zip(table.column_names, map(pl.Series, table.columns), strict=True))
    nominal = {f.name: pl.Enum(f.categories) for f in dataset.features if f.kind == "nominal"}
    return pl.DataFrame(columns).cast(nominal)


def _to_pandas(dataset: MultilabelDataset) -> Any:
    """Convert a data set to a pandas DataFrame; a sparse data set gets sparse columns."""
    pd = import_optional_dependency("pandas", purpose="to_frame('pandas')", extra="frames")
    index = pd.RangeIndex(dataset.n_instances)
    if dataset.is_sparse:
        labels = _sparse_frame(pd, dataset.Y.tocsc(), dataset.labels)
        features = _sparse_feature_frames(pd, dataset)
        return pd.concat([pd.DataFrame(index=index), *features, labels], axis=1)
    columns = {
        feature.name: _pandas_array(pd, feature, values)
        for feature, values in _feature_columns(dataset)
    }
    return pd.DataFrame({**columns, **dict(label_columns(dataset))}, index=index)


def _pandas_array(pd: Any, feature: Feature, values: Array) -> Any:
    """Return the values of a feature as a column for pandas.

    *Nominal* features become a Categorical, whole numbers int64 (Int64 if some are missing), other
    numbers float64, texts a Series of str, and dates a Series of timestamps.
    """
    if feature.kind == "nominal":
        return pd.Categorical.from_codes(category_codes(feature, values), feature.categories)
    if feature.kind == "numeric":
        is_missing = np.isnan(values)
        if not (feature.integer and are_integers(values[~is_missing])):
            return np.array(values)
        integers = np.where(is_missing, 0, values).astype(np.int64)
        if is_missing.any():
            return pd.arrays.IntegerArray(integers, is_missing)
        return integers
    column = column_from_feature(feature, values)
    if feature.holds_codes:
        return pd.Series(column.to_pandas(), dtype="str")
    return column.to_pandas()


def _sparse_feature_frames(pd: Any, dataset: MultilabelDataset) -> Iterator[Any]:
    """Yield the features as DataFrames of adjacent columns, which together hold all of them.

    Numbers are in sparse columns, one DataFrame for adjacent ones of a dtype; other kinds are in
    dense columns.
    """
    X = cast(Any, dataset.X).tocsc()

    def sparse_dtype(index: int) -> Any:
        """Return the dtype of a numeric column; None for columns that are stored dense."""
        feature = dataset.features[index]
        stored_values = X.data[X.indptr[index] : X.indptr[index + 1]]
        if feature.kind != "numeric":
            return None
        if feature.integer and are_integers(stored_values):
            return np.int64
        return np.float64

    for dtype, group in groupby(range(dataset.n_features), sparse_dtype):
        indices = list(group)
        features = [dataset.features[index] for index in indices]
        if dtype is None:
            columns = {}
            for feature, index in zip(features, indices, strict=True):
                columns[feature.name] = _pandas_array(pd, feature, get_column(X, index))
            yield pd.DataFrame(columns)
        else:
            numbers = X[:, indices[0] : indices[-1] + 1].astype(dtype)
            yield _sparse_frame(pd, numbers, [feature.name for feature in features])


def _sparse_frame(pd: Any, matrix: Any, names: Sequence[str]) -> Any:
    """Convert a sparse matrix to a pandas DataFrame with sparse columns of these names."""
    frame = pd.DataFrame.sparse.from_spmatrix(matrix)
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _refuse_large_table(dataset: MultilabelDataset, backend: str) -> None:
    """Raise DataError if the table would take more than `MAX_FILLED_BYTES`, mostly for zeros.

    Dense pandas columns of a sparse data set, and label columns, store zeros that ``X`` and ``Y``
    do not.
    """
    if backend == "pandas" and dataset.is_sparse:  # only categories and dates have to be filled
        filled = [f for f in dataset.features if f.kind != "numeric"]
        bits_per_row = sum(8 if len(feature.categories) < 128 else 64 for feature in filled)
    else:
        bits_per_row = dataset.n_labels * (8 if backend == "pandas" else 1)
        if dataset.is_sparse:
            bits_per_row += 64 * dataset.n_features
    n_bytes = dataset.n_instances * bits_per_row // 8
    if n_bytes > MAX_FILLED_BYTES:
        raise DataError(
            f"Filling a {backend} table with the zeros of this sparse data set would take "
            f"{n_bytes / 2**30:,.0f} GB. Use .X and .Y, which are sparse, or fewer rows or columns."
        )
