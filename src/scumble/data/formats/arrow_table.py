"""Converts data sets to Arrow tables, whose metadata describes the columns, and back.

The *description* is a JSON object in the metadata of a table that this package wrote. Its keys are
``version``, ``name`` (of the data set), ``features`` and ``labels`` (in order), ``label_parents``
and ``columns``: for each part of the data set (``labels`` or ``label_columns``, ``weights``, and
for sparse features ``indices`` and ``values``) the name of the column that holds it. Tables of
other origin have no description; options say what their columns are.
"""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, cast

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

#: The key of the description in the metadata of a table.
METADATA_KEY = b"scumble"
#: Version of the description.
VERSION = 1
#: How labels are stored: a column of lists of their names or numbers, or a boolean column each.
LABEL_LAYOUTS = ("names", "numbers", "columns")
#: Errors that occur if the columns do not match the description in the metadata.
_MISMATCH_ERRORS = (AttributeError, LookupError, OverflowError, TypeError, ValueError)


def table_from_dataset(dataset: MultilabelDataset, label_layout: str = "names") -> Any:
    """Return an Arrow table with all parts of a data set, and their description as metadata.

    ``label_layout`` is one of `LABEL_LAYOUTS`.
    """
    import pyarrow as pa

    check_choice(label_layout, LABEL_LAYOUTS, name="label_layout", caller="write")
    columns: dict[str, Any] = {}
    column_names: dict[str, Any] = {}  # ``columns`` of the description
    if dataset.is_sparse:
        X = cast(Any, dataset.X)
        indices = _list_array(X.indptr, pa.array(X.indices))
        values = _list_array(X.indptr, pa.array(X.data))
        column_names["indices"] = _add_column(columns, "feature_indices", indices)
        column_names["values"] = _add_column(columns, "feature_values", values)
    else:
        for index, feature in enumerate(dataset.features):
            _add_column(columns, feature.name, _exact_column(feature, dataset.X[:, index]))
    if dataset.weights is not None:
        column_names["weights"] = _add_column(columns, "weight", pa.array(dataset.weights))
    column_names |= _add_labels(columns, dataset, label_layout)
    try:
        description = _make_description(dataset, column_names)
        metadata = {METADATA_KEY: json.dumps(description).encode()}
        return pa.table(columns, metadata=metadata)
    except UnicodeEncodeError as error:
        raise DataError(f"A name cannot be written as UTF-8: {error.object!r}.") from None


def dataset_from_table(table: Any, source: InputFile, options: TableOptions) -> MultilabelDataset:
    """Return the data set in an Arrow table that was read from ``source``.

    The columns are those of the table's description. If it has none, or if options give the columns
    another meaning, the options say what they are.
    """
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
    """Return the values of a feature as an Arrow column without any loss.

    Dates become timestamps, unless a time has a fraction of a microsecond: then they stay floats.
    """
    import pyarrow as pa

    if feature.kind == "date":
        ticks = values[~np.isnan(values)] * 1000
        if not np.all((ticks == np.floor(ticks)) & (np.abs(ticks) < 2.0**53)):
            return pa.array(values)
    return column_from_feature(feature, values)


def _add_column(columns: dict[str, Any], name: str, column: Any) -> str:
    """Add a column to ``columns`` and return its name there.

    Underscores are appended to the name while another column has it.
    """
    while name in columns:
        name += "_"
    columns[name] = column
    return name


def _list_array(indptr: Array, values: Any) -> Any:
    """Return an Arrow array of lists: row i holds ``values[indptr[i]:indptr[i + 1]]``."""
    import pyarrow as pa

    if indptr[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(indptr.astype(np.int32)), values)
    return pa.LargeListArray.from_arrays(pa.array(indptr.astype(np.int64)), values)


def _add_labels(
    columns: dict[str, Any], dataset: MultilabelDataset, layout: str
) -> dict[str, str | list[str]]:
    """Add the labels to ``columns``, in a layout of `LABEL_LAYOUTS`.

    Return ``{"labels": name}`` or ``{"label_columns": names}``, the names of the columns they are
    in.
    """
    import pyarrow as pa

    Y = dataset.Y
    if layout == "columns" and dataset.n_labels:
        names = [
            _add_column(columns, name, pa.array(is_present))
            for name, is_present in label_columns(dataset)
        ]
        return {"label_columns": names}
    labels = pa.array(Y.indices.astype(np.int32))
    if layout != "numbers":
        labels = pa.DictionaryArray.from_arrays(labels, pa.array(dataset.labels, pa.string()))
    return {"labels": _add_column(columns, "labels", _list_array(Y.indptr, labels))}


def _make_description(dataset: MultilabelDataset, column_names: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a data set; ``column_names`` is its entry ``columns``."""
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
    """Return a feature's entry in the description: its name, or its fields that are not default.

    The name alone stands for a numeric feature without other fields.
    """
    description = {"name": feature.name, **differing_fields(feature, Feature(feature.name))}
    if feature.integer:
        description["integer"] = True  # a Python bool, for JSON
    return feature.name if len(description) == 1 else description


def _dataset_from_description(table: Any, source: InputFile, metadata: bytes) -> MultilabelDataset:
    """Return the data set in a table with a description, the JSON text ``metadata``.

    Raise ReadError if the columns do not match the description, or if it has another version.
    """
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
    """Return the feature of an entry in the description; inverse of `_feature_description`."""
    if isinstance(entry, str):
        return Feature(entry)
    return Feature(**{**entry, "categories": tuple(entry.get("categories", ()))})


def _read_features(table: Any, features: list[Feature], column_names: dict[str, Any]) -> Any:
    """Return the feature matrix of a table with a description: CSR or dense, as it was written.

    ``column_names`` is the entry ``columns`` of the description.
    """
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
    """Return the values of a feature from its Arrow column.

    Codes are indices into the categories of ``feature``, which the description declares; the column
    may list the categories in another order. Raise KeyError for a category that is not declared.
    """
    column_feature, values = feature_from_column(feature.name, column)
    if not feature.holds_codes:
        return values
    code_of = {text: float(code) for code, text in enumerate(feature.categories)}
    new_codes = np.full(len(column_feature.categories), np.nan)
    for code in np.unique(values[~np.isnan(values)]).astype(np.int64).tolist():
        new_codes[code] = code_of[column_feature.categories[code]]
    return take_by_code(new_codes, values)


def _read_labels(table: Any, labels: list[str], column_names: dict[str, Any]) -> sparse.csr_array:
    """Return the label matrix of a table with a description, for any of `LABEL_LAYOUTS`.

    ``labels`` are the label names and ``column_names`` the entry ``columns`` of the description.
    """
    import pyarrow as pa

    if "label_columns" in column_names:
        arrays = [table.column(name).to_numpy() for name in column_names["label_columns"]]
        return sparse.csr_array(np.column_stack(arrays))
    values, indptr = _flatten_lists(table.column(column_names["labels"]))
    if pa.types.is_integer(values.type):
        indices = values.to_numpy()
    else:
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        encoded = values.dictionary_encode()
        index_of_label = {name: index for index, name in enumerate(labels)}
        index_of_code = [index_of_label[name] for name in encoded.dictionary.to_pylist()]
        indices = np.array(index_of_code, np.int64)[encoded.indices.to_numpy()]
    shape = (table.num_rows, len(labels))
    Y = sparse.csr_array((np.ones(len(indices), bool), indices, indptr), shape=shape)
    Y.check_format()
    return Y


def _flatten_lists(column: Any) -> tuple[Any, Array]:
    """Return the values of all lists of an Arrow column, and the ``indptr`` of the lists.

    Row i is ``values[indptr[i]:indptr[i + 1]]``. Raise ValueError if anything is missing.
    """
    import pyarrow.compute as pc

    lists = column.combine_chunks()
    values = pc.list_flatten(lists)
    if lists.null_count or values.null_count:
        raise ValueError("a list or one of its values is missing")
    return values, indptr_from_counts(pc.list_value_length(lists).to_numpy())


def _dataset_from_options(
    table: Any, source: InputFile, options: TableOptions
) -> MultilabelDataset:
    """Return the data set in a table whose columns are what ``options`` say.

    Without options for labels, these are the only column of lists.
    """
    columns = FileColumns(source, table.column_names)
    labels = _select_labels(table, columns, options)

    def names_of(option: str) -> list[str]:
        """Return the names of the columns that an option selects."""
        indices = columns.column_indices(getattr(options, option), option)
        return [columns.names[index] for index in indices]

    weight_names = names_of("weight_column")
    keeps_all = options.keep is True or options.labels == []
    fields = read_frame(
        table,
        labels.columns,
        weight_names[0] if weight_names else None,
        label_separator=options.label_separator,
        ignore=names_of("ignore"),
        text=names_of("text"),
        category=names_of("category"),
        keep=True if keeps_all else names_of("keep"),
        input_name=source.display_name,
    )
    data = MultilabelDataset(**fields, name=source.stem, label_parents=labels.parents)
    return data.mark_read_from_lists(isinstance(labels.columns, str))


class _SelectedLabels(NamedTuple):
    """The columns of a table that hold labels."""

    columns: str | list[str]  # the name of the column of label lists, or those of 0/1 columns
    parents: tuple[int, ...] | None = None  # of the labels in 0/1 columns, if they have any


def _select_labels(table: Any, columns: FileColumns, options: TableOptions) -> _SelectedLabels:
    """Return the columns that ``options`` select as labels, else the only column of lists."""
    names, labels, label_column = columns.names, options.labels, options.label_column
    if labels is not None and label_column is not None:
        raise columns.source.error(
            "labels=... and label_column=... exclude each other. Give one of them."
        )
    if labels is not None:
        selected = columns.resolve_labels(labels)
        return _SelectedLabels([names[index] for index in selected.columns], selected.parents)
    if label_column is not None:
        return _SelectedLabels(names[columns.column_index(label_column, "label_column")])
    return _SelectedLabels(_only_list_column(table, columns.source))


def _only_list_column(table: Any, source: InputFile) -> str:
    """Return the name of the only column of label lists.

    If there is none, or several, raise a ReadError that suggests options for the labels.
    """
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
    """Return a `ColumnPreview` of every column of an Arrow table."""
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
                is_splittable=is_string_type(column.type),
                is_inferred=not arrow_types.is_dictionary(column.type),
            )
        )
    return previews
