"""Converts data sets to Arrow tables, whose metadata describes the columns, and back."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, take_by_code
from scumble._core.errors import DataError, ReadError, ScumbleError
from scumble._core.files import InputFile
from scumble._core.parameters import check_choice
from scumble._validation.frames import is_string_type
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.feature import column_from_feature, differing_fields, feature_from_column
from scumble.data.formats.base import TableOptions
from scumble.data.formats.label_choice import FileColumns, choose_features
from scumble.data.frames import label_columns, read_frame
from scumble.data.infer.column_roles import MAX_INSPECTED_ROWS, ColumnPreview, suggest_label_options
from scumble.data.label_lists import holds_label_lists, indptr_from_counts

METADATA_KEY = b"scumble"
#: Version of the description in the metadata.
VERSION = 1
LAYOUTS = ("names", "numbers", "columns")
#: Errors that occur if the columns do not match the description in the metadata.
_MISMATCH_ERRORS = (AttributeError, LookupError, OverflowError, TypeError, ValueError)


def table_from_dataset(dataset: MultilabelDataset, label_layout: str = "names") -> Any:
    """Return a table with all parts of a data set."""
    import pyarrow as pa

    check_choice(label_layout, LAYOUTS, name="label_layout", caller="write")
    columns: dict[str, Any] = {}
    names: dict[str, Any] = {}  # of the columns for each part
    if dataset.is_sparse:
        X = cast(Any, dataset.X)
        indices = _list_array(X.indptr, pa.array(X.indices))
        values = _list_array(X.indptr, pa.array(X.data))
        names["indices"] = _add_column(columns, "feature_indices", indices)
        names["values"] = _add_column(columns, "feature_values", values)
    else:
        for index, feature in enumerate(dataset.features):
            _add_column(columns, feature.name, _exact_column(feature, dataset.X[:, index]))
    if dataset.weights is not None:
        names["weights"] = _add_column(columns, "weight", pa.array(dataset.weights))
    names |= _add_labels(columns, dataset, label_layout)
    try:
        metadata = {METADATA_KEY: json.dumps(_description(dataset, names)).encode()}
        return pa.table(columns, metadata=metadata)
    except UnicodeEncodeError as error:
        raise DataError(f"A name cannot be written as UTF-8: {error.object!r}.") from None


def dataset_from_table(table: Any, source: InputFile, options: TableOptions) -> MultilabelDataset:
    """Return the data set in a table, with or without our description in the metadata."""
    description = (table.schema.metadata or {}).get(METADATA_KEY)
    # Other options than these say that the columns have other meanings than the description.
    other_options = replace(options, ignore=None, text=None, keep=None)
    try:
        if description is not None and other_options == TableOptions():
            data = _dataset_from_description(table, source, description)
            return choose_features(source, data, ignore=options.ignore, text=options.text)
        return _dataset_from_options(table, source, options)
    except ReadError:
        raise
    except ScumbleError as error:
        raise source.error(str(error)) from error


def _exact_column(feature: Feature, values: Array) -> Any:
    """Return the column of a feature without any loss: times below a microsecond stay numbers."""
    import pyarrow as pa

    if feature.kind == "date":
        ticks = values[~np.isnan(values)] * 1000
        if not np.all((ticks == np.floor(ticks)) & (np.abs(ticks) < 2.0**53)):
            return pa.array(values)
    return column_from_feature(feature, values)


def _add_column(columns: dict[str, Any], name: str, column: Any) -> str:
    """Add a column and return its name, with underscores if another column has the name."""
    while name in columns:
        name += "_"
    columns[name] = column
    return name


def _list_array(indptr: Array, values: Any) -> Any:
    """Return an Arrow array with a list of values for each row."""
    import pyarrow as pa

    if indptr[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(indptr.astype(np.int32)), values)
    return pa.LargeListArray.from_arrays(pa.array(indptr.astype(np.int64)), values)


def _add_labels(
    columns: dict[str, Any], dataset: MultilabelDataset, layout: str
) -> dict[str, str | list[str]]:
    """Add the labels and return the names of their columns, for the description."""
    import pyarrow as pa

    Y = dataset.Y
    if layout == "columns" and dataset.n_labels:
        names = [
            _add_column(columns, name, pa.array(flags)) for name, flags in label_columns(dataset)
        ]
        return {"label_columns": names}
    labels = pa.array(Y.indices.astype(np.int32))
    if layout != "numbers":
        labels = pa.DictionaryArray.from_arrays(labels, pa.array(dataset.labels, pa.string()))
    return {"labels": _add_column(columns, "labels", _list_array(Y.indptr, labels))}


def _description(dataset: MultilabelDataset, column_names: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a data set for the metadata."""
    description: dict[str, Any] = {
        "version": VERSION,
        "name": dataset.name,
        "features": [_feature_description(feature) for feature in dataset.features],
        "labels": dataset.labels,
        "columns": column_names,
    }
    if dataset.label_parents is not None:
        description["label_parents"] = dataset.label_parents
    return description


def _feature_description(feature: Feature) -> str | dict[str, Any]:
    """Return the name of a plain numeric feature, a mapping for any other."""
    description = {"name": feature.name, **differing_fields(feature, Feature(feature.name))}
    if feature.integer:
        description["integer"] = True  # a Python bool, for JSON
    return feature.name if len(description) == 1 else description


def _dataset_from_description(table: Any, source: InputFile, metadata: bytes) -> MultilabelDataset:
    """Return the data set in a table whose metadata describes the columns."""
    from pyarrow import ArrowException

    try:
        description = json.loads(metadata)
        if description["version"] != VERSION:
            raise source.error(
                f"the file was written by a newer release (form {description['version']!r}, this "
                f"one reads {VERSION}). Update scumble."
            )
        features = [_feature_from_description(entry) for entry in description["features"]]
        column_names = description["columns"]
        labels = [str(label) for label in description["labels"]]
        X = _read_features(table, features, column_names)
        Y = _read_labels(table, labels, column_names)
        weights = column_names.get("weights")
        return MultilabelDataset(
            X,
            Y,
            features=features,
            labels=labels,
            name=str(description["name"]),
            weights=None if weights is None else table.column(weights).to_numpy(),
            label_parents=description.get("label_parents"),
        )
    except ReadError:
        raise
    except (ArrowException, *_MISMATCH_ERRORS) as error:
        raise source.error(
            f"the columns are not what the file's own description says ({error!r}). Was it changed "
            "by another program? Read it with labels=... or label_column=..."
        ) from error


def _feature_from_description(entry: str | dict[str, Any]) -> Feature:
    """Return the feature that an entry of the description stands for."""
    if isinstance(entry, str):
        return Feature(entry)
    return Feature(**{**entry, "categories": tuple(entry.get("categories", ()))})


def _read_features(table: Any, features: list[Feature], column_names: dict[str, Any]) -> Any:
    """Return the feature matrix of a table with a description."""
    if "indices" in column_names:
        values, indptr = _flatten_lists(table.column(column_names["values"]))
        indices, indices_indptr = _flatten_lists(table.column(column_names["indices"]))
        if not np.array_equal(indptr, indices_indptr):
            raise ValueError("indices and values differ in length")
        X = sparse.csr_array(
            (values.to_numpy(), indices.to_numpy(), indptr), shape=(table.num_rows, len(features))
        )
        X.check_format()
        return X
    X = np.empty((table.num_rows, len(features)))
    for index, feature in enumerate(features):
        X[:, index] = _read_feature(feature, table.column(feature.name))
    return X


def _read_feature(feature: Feature, column: Any) -> Array:
    """Return the values of a feature; codes are those of the description, not of the column."""
    column_feature, values = feature_from_column(feature.name, column)
    if not feature.holds_codes:
        return values
    code_of = {text: float(code) for code, text in enumerate(feature.categories)}
    new_codes = np.full(len(column_feature.categories), np.nan)
    for code in np.unique(values[~np.isnan(values)]).astype(np.int64).tolist():
        new_codes[code] = code_of[column_feature.categories[code]]
    return take_by_code(new_codes, values)


def _read_labels(table: Any, labels: list[str], column_names: dict[str, Any]) -> sparse.csr_array:
    """Return the label matrix of a table with a description, for any of the layouts."""
    import pyarrow as pa

    if "label_columns" in column_names:
        flags = [table.column(name).to_numpy() for name in column_names["label_columns"]]
        return sparse.csr_array(np.column_stack(flags))
    values, indptr = _flatten_lists(table.column(column_names["labels"]))
    if pa.types.is_integer(values.type):
        indices = values.to_numpy()
    else:
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        coded = values.dictionary_encode()
        label_of = {name: label for label, name in enumerate(labels)}
        labels_by_code = [label_of[name] for name in coded.dictionary.to_pylist()]
        indices = np.array(labels_by_code, np.int64)[coded.indices.to_numpy()]
    shape = (table.num_rows, len(labels))
    Y = sparse.csr_array((np.ones(len(indices), bool), indices, indptr), shape=shape)
    Y.check_format()
    return Y


def _flatten_lists(column: Any) -> tuple[Any, Array]:
    """Return all values of a column of lists, and the offset of each list in them."""
    import pyarrow.compute as pc

    lists = column.combine_chunks()
    values = pc.list_flatten(lists)
    if lists.null_count or values.null_count:
        raise ValueError("a list or one of its values is missing")
    return values, indptr_from_counts(pc.list_value_length(lists).to_numpy())


def _dataset_from_options(
    table: Any, source: InputFile, options: TableOptions
) -> MultilabelDataset:
    """Return the data set in a table; options say what the columns are."""
    columns = FileColumns(source, table.column_names)
    labels, parents = _find_labels(table, columns, options)

    def names_of(option: str) -> list[str]:
        indices = columns.column_indices(getattr(options, option), option)
        return [columns.names[index] for index in indices]

    weights = names_of("weight_column")
    keeps_all = options.keep is True or options.labels == []
    parts = read_frame(
        table,
        labels,
        weights[0] if weights else None,
        label_separator=options.label_separator,
        ignore=names_of("ignore"),
        text=names_of("text"),
        category=names_of("category"),
        keep=True if keeps_all else names_of("keep"),
        where=source.where,
    )
    data = MultilabelDataset(**parts, name=source.stem, label_parents=parents)
    return data.mark_read_from_lists(isinstance(labels, str))


def _find_labels(
    table: Any, columns: FileColumns, options: TableOptions
) -> tuple[str | list[str], tuple[int, ...] | None]:
    """Return the column of label lists, or the 0/1 columns and the parents of their labels."""
    names, labels, label_column = columns.names, options.labels, options.label_column
    if labels is not None and label_column is not None:
        raise columns.source.error(
            "labels=... and label_column=... exclude each other. Give one of them."
        )
    if labels is not None:
        selected = columns.resolve_labels(labels)
        return [names[index] for index in selected.columns], selected.parents
    if label_column is not None:
        return names[columns.column_index(label_column, "label_column")], None
    return _only_list_column(table, columns.source), None


def _only_list_column(table: Any, source: InputFile) -> str:
    """Return the only column of label lists, or raise an error that suggests label options."""
    list_columns = [field.name for field in table.schema if holds_label_lists(field.type)]
    if len(list_columns) == 1:
        return str(list_columns[0])
    reason = "no column does"
    if list_columns:
        reason = f"{len(list_columns)} columns hold lists ({', '.join(list_columns[:5])})"
    previews = preview_arrow_columns(table.slice(0, MAX_INSPECTED_ROWS))
    raise source.error(
        f"which columns are labels? Expected one column of label lists, but {reason}."
        f"{suggest_label_options(previews)} Name the "
        "0/1 columns with labels=[...], labels=-5 (the last five), or the lists with "
        "label_column=..."
    )


def preview_arrow_columns(table: Any) -> list[ColumnPreview]:
    """Return a preview of every column of a table."""
    import pyarrow.types as arrow_types

    previews = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        is_list = holds_label_lists(column.type)
        feature = None
        values = np.empty(0)
        if not is_list:
            with suppress(ScumbleError):  # such as for columns inside columns
                feature, values = feature_from_column(name, column)
        previews.append(
            ColumnPreview(
                name,
                feature,
                values,
                is_list=is_list,
                parts=is_string_type(column.type),
                guessed=not arrow_types.is_dictionary(column.type),
            )
        )
    return previews
