"""A whole data set as an Arrow table: its columns, and in the schema's metadata what they mean."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, take_by_code
from scumble._core.errors import DataError, ReadError, ScumbleError
from scumble._core.files import InputFile
from scumble._core.frames import is_string_type
from scumble._core.validation import check_choice
from scumble.data.column_roles import MAX_INSPECTED_ROWS, ColumnPreview, suggest_label_options
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.feature import column_from_feature, differing_fields, feature_from_column
from scumble.data.formats.base import TableOptions
from scumble.data.formats.label_choice import FileColumns, choose_features
from scumble.data.frames import label_columns, read_frame
from scumble.data.label_lists import holds_label_lists, indptr_from_counts

METADATA_KEY = b"scumble"
VERSION = 1
LAYOUTS = ("names", "numbers", "columns")
#: What goes wrong where columns are not those that their description promises.
_MISFITS = (AttributeError, LookupError, OverflowError, TypeError, ValueError)


def table_from_dataset(dataset: MultilabelDataset, label_layout: str = "names") -> Any:
    """Put everything a data set holds into one table."""
    import pyarrow as pa

    check_choice(label_layout, LAYOUTS, name="label_layout", caller="write")
    columns: dict[str, Any] = {}
    places: dict[str, Any] = {}
    if dataset.is_sparse:
        X = cast(Any, dataset.X)
        places["indices"] = _add(columns, "feature_indices", _lists(X.indptr, pa.array(X.indices)))
        places["values"] = _add(columns, "feature_values", _lists(X.indptr, pa.array(X.data)))
    else:
        for at, feature in enumerate(dataset.features):
            _add(columns, feature.name, _exact_column(feature, dataset.X[:, at]))
    if dataset.weights is not None:
        places["weights"] = _add(columns, "weight", pa.array(dataset.weights))
    places |= _add_labels(columns, dataset, label_layout)
    try:
        metadata = {METADATA_KEY: json.dumps(_description(dataset, places)).encode()}
        return pa.table(columns, metadata=metadata)
    except UnicodeEncodeError as error:
        raise DataError(f"A name cannot be written as UTF-8: {error.object!r}.") from None


def dataset_from_table(table: Any, source: InputFile, options: TableOptions) -> MultilabelDataset:
    """Take a data set out of a table: one of ours, or any other."""
    told = (table.schema.metadata or {}).get(METADATA_KEY)
    own = replace(options, ignore=None, text=None, keep=None)
    try:
        if told is not None and own == TableOptions():
            data = _restored(table, source, told)
            return choose_features(source, data, ignore=options.ignore, text=options.text)
        return _foreign(table, source, options)
    except ReadError:
        raise
    except ScumbleError as error:
        raise source.error(str(error)) from error


def _exact_column(feature: Feature, values: Array) -> Any:
    """Make a column that loses nothing: times finer than a microsecond stay numbers."""
    import pyarrow as pa

    if feature.kind == "date":
        ticks = values[~np.isnan(values)] * 1000
        if not np.all((ticks == np.floor(ticks)) & (np.abs(ticks) < 2.0**53)):
            return pa.array(values)
    return column_from_feature(feature, values)


def _add(columns: dict[str, Any], name: str, column: Any) -> str:
    """Add a column under this name, or a longer one if it is taken; return the name."""
    while name in columns:
        name += "_"
    columns[name] = column
    return name


def _lists(indptr: Array, values: Any) -> Any:
    import pyarrow as pa

    if indptr[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(indptr.astype(np.int32)), values)
    return pa.LargeListArray.from_arrays(pa.array(indptr.astype(np.int64)), values)


def _add_labels(
    columns: dict[str, Any], dataset: MultilabelDataset, layout: str
) -> dict[str, str | list[str]]:
    import pyarrow as pa

    Y = dataset.Y
    if layout == "columns" and dataset.n_labels:
        flags = label_columns(dataset)
        return {"label_columns": [_add(columns, name, pa.array(flag)) for name, flag in flags]}
    labels = pa.array(Y.indices.astype(np.int32))
    if layout != "numbers":
        labels = pa.DictionaryArray.from_arrays(labels, pa.array(dataset.labels, pa.string()))
    return {"labels": _add(columns, "labels", _lists(Y.indptr, labels))}


def _description(dataset: MultilabelDataset, places: dict[str, Any]) -> dict[str, Any]:
    description: dict[str, Any] = {
        "version": VERSION,
        "name": dataset.name,
        "features": [_feature_description(feature) for feature in dataset.features],
        "labels": dataset.labels,
        "columns": places,
    }
    if dataset.label_parents is not None:
        description["label_parents"] = dataset.label_parents
    return description


def _feature_description(feature: Feature) -> str | dict[str, Any]:
    """Give the name of a plain numeric feature, a mapping for any other."""
    description = {"name": feature.name, **differing_fields(feature, Feature(feature.name))}
    if feature.integer:
        description["integer"] = True  # also where the user gave numpy's
    return feature.name if len(description) == 1 else description


def _restored(table: Any, source: InputFile, told: bytes) -> MultilabelDataset:
    from pyarrow import ArrowException

    try:
        description = json.loads(told)
        if description["version"] != VERSION:
            raise source.error(
                f"the file was written by a newer release (form {description['version']!r}, this "
                f"one knows {VERSION}). Update scumble."
            )
        features = [_feature(entry) for entry in description["features"]]
        places = description["columns"]
        labels = [str(label) for label in description["labels"]]
        X = _restored_features(table, features, places)
        Y = _restored_labels(table, labels, places)
        weights = places.get("weights")
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
    except (ArrowException, *_MISFITS) as error:
        raise source.error(
            f"the columns are not what the file's own description says ({error!r}). Was it changed "
            "by another program? Read it with labels=... or label_column=..."
        ) from error


def _feature(entry: str | dict[str, Any]) -> Feature:
    if isinstance(entry, str):
        return Feature(entry)
    return Feature(**{**entry, "categories": tuple(entry.get("categories", ()))})


def _restored_features(table: Any, features: list[Feature], places: dict[str, Any]) -> Any:
    if "indices" in places:
        values, indptr = _flat(table.column(places["values"]))
        indices, same = _flat(table.column(places["indices"]))
        if not np.array_equal(indptr, same):
            raise ValueError("indices and values differ in length")
        parts = (values.to_numpy(), indices.to_numpy(), indptr)
        X = sparse.csr_array(parts, shape=(table.num_rows, len(features)))
        X.check_format()
        return X
    X = np.empty((table.num_rows, len(features)))
    for at, feature in enumerate(features):
        X[:, at] = _restored_column(feature, table.column(feature.name))
    return X


def _restored_column(feature: Feature, column: Any) -> Array:
    """Read a column; the codes of categories follow the description, not the file."""
    found, values = feature_from_column(feature.name, column)
    if not feature.holds_codes:
        return values
    code = {text: float(at) for at, text in enumerate(feature.categories)}
    recoded = np.full(len(found.categories), np.nan)
    for at in np.unique(values[~np.isnan(values)]).astype(np.int64).tolist():
        recoded[at] = code[found.categories[at]]
    return take_by_code(recoded, values)


def _restored_labels(table: Any, labels: list[str], places: dict[str, Any]) -> sparse.csr_array:
    import pyarrow as pa

    shape = (table.num_rows, len(labels))
    if "label_columns" in places:
        columns = [table.column(name).to_numpy() for name in places["label_columns"]]
        return sparse.csr_array(np.column_stack(columns))
    values, indptr = _flat(table.column(places["labels"]))
    if pa.types.is_integer(values.type):
        columns = values.to_numpy()
    else:
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        coded = values.dictionary_encode()
        column = {name: at for at, name in enumerate(labels)}
        known = np.array([column[name] for name in coded.dictionary.to_pylist()], np.int64)
        columns = known[coded.indices.to_numpy()]
    Y = sparse.csr_array((np.ones(len(columns), bool), columns, indptr), shape=shape)
    Y.check_format()
    return Y


def _flat(column: Any) -> tuple[Any, Array]:
    """Take a column of lists apart: all values, and where each row's begin."""
    import pyarrow.compute as pc

    lists = column.combine_chunks()
    values = pc.list_flatten(lists)
    if lists.null_count or values.null_count:
        raise ValueError("a list or one of its values is missing")
    return values, indptr_from_counts(pc.list_value_length(lists).to_numpy())


def _foreign(table: Any, source: InputFile, options: TableOptions) -> MultilabelDataset:
    """Read a table that says nothing of itself; columns may be named or numbered."""
    columns = FileColumns(source, table.column_names)
    labels, parents = _chosen_labels(table, columns, options)

    def named(option: str) -> list[str]:
        found = columns.numbers(getattr(options, option), option)
        return [columns.names[at] for at in found]

    weights = named("weight_column")
    read = read_frame(
        table,
        labels,
        weights[0] if weights else None,
        label_separator=options.label_separator,
        ignore=named("ignore"),
        text=named("text"),
        category=named("category"),
        keep=True if options.keep is True or options.labels == [] else named("keep"),
        where=source.where,
    )
    data = MultilabelDataset(**read, name=source.stem, label_parents=parents)
    return data.mark_read_from_lists(isinstance(labels, str))


def _chosen_labels(
    table: Any, columns: FileColumns, options: TableOptions
) -> tuple[str | list[str], tuple[int, ...] | None]:
    """Find the column of label lists, or the 0/1 columns and the parents of their labels."""
    names, labels, lists = columns.names, options.labels, options.label_column
    if labels is not None and lists is not None:
        raise columns.source.error(
            "labels=... and label_column=... exclude each other. Give one of them."
        )
    if labels is not None:
        found = columns.resolve_labels(labels)
        return [names[at] for at in found.columns], found.parents
    if lists is not None:
        return names[columns.column_index(lists, "label_column")], None
    return _only_list_column(table, columns.source), None


def _only_list_column(table: Any, source: InputFile) -> str:
    lists = [field.name for field in table.schema if holds_label_lists(field.type)]
    if len(lists) == 1:
        return str(lists[0])
    shown = ", ".join(lists[:5])
    found = f"{len(lists)} columns hold lists ({shown})" if lists else "no column does"
    raise source.error(
        f"which columns are labels? Expected one column of label lists, but {found}."
        f"{suggest_label_options(preview_arrow_columns(table.slice(0, MAX_INSPECTED_ROWS)))} Name the "
        "0/1 columns with labels=[...], labels=-5 (the last five), or the lists with "
        "label_column=..."
    )


def preview_arrow_columns(table: Any) -> list[ColumnPreview]:
    """Read the first rows of all columns."""
    import pyarrow.types as kinds

    heads = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        is_list = holds_label_lists(column.type)
        feature, values = None, np.empty(0)
        with suppress(ScumbleError):  # such as columns inside of columns
            feature, values = (None, values) if is_list else feature_from_column(name, column)
        how = {
            "parts": is_string_type(column.type),
            "guessed": not kinds.is_dictionary(column.type),
        }
        heads.append(ColumnPreview(name, feature, values, is_list=is_list, **how))
    return heads
