"""The columns that a model was fitted on, and other data aligned with them."""

import re
import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, get_column, take_by_code, with_columns
from scumble._core.errors import DataError, ScumbleWarning
from scumble._core.text import shorten
from scumble.data import Feature, MultilabelDataset
from scumble.data.infer.feature_kinds import parse_dates

Features = tuple[Feature, ...]
#: The values of training by the values of the data: for a column of codes an array with the code as
#: index, for a column of numbers a dict.
ValueMap = Array | dict[float, float]

#: The largest number of names that a message lists; more would hide the rest of it.
_MAX_NAMES = 3
#: The names that readers give to columns without one: "x" and the index of the column.
_POSITION_NAME = re.compile(r"x\d+")
_POSITION_HINT = (
    " A column without a name is named by its position, x0 being the first: give a file in which "
    "it has the same position as in training."
)
#: The largest width of a value in a message, in characters of a terminal.
_MAX_VALUE_WIDTH = 60


class FittedColumns(NamedTuple):
    """The columns that a model was fitted on."""

    features: Features
    has_names: bool  # whether the training data had column names; else they are x0, x1, ...
    labels: tuple[str, ...]  # names of the labels or classes that the model predicts


def fitted_columns(model: Any, data: MultilabelDataset | None) -> FittedColumns:
    """Return the columns that a fitted model was fitted on.

    They are taken from ``data``, the training data, or if that is None from the model, which may
    store them without names. Raises a DataError if ``data`` does not have the sizes of the model.
    """
    if data is not None:
        _check_is_training_data(model, data)
        return FittedColumns(data.features, True, data.labels)
    if hasattr(model, "texts"):  # a TextModel stores the columns that it was fitted on
        labels = fitted_columns(model.model, None).labels
        return FittedColumns(model.features, True, labels)
    n_features = int(getattr(model, "n_features_in_", 0))
    codes = getattr(model, "_codes", None)
    names = getattr(model, "feature_names_in_", None)
    has_names = names is not None
    if names is None:
        names = [f"x{column}" for column in range(n_features)]
    features = tuple(_feature(str(name), codes, column) for column, name in enumerate(names))
    return FittedColumns(features, has_names, _labels_of(model))


def _feature(name: str, codes: Any, column: int) -> Feature:
    """Return the description of a column: numeric, or nominal with its categories.

    ``codes`` is the `FeatureCodes` of the model, or None if it stores none; ``column`` is the
    index of the column.
    """
    if codes is None or codes.n_values[column] == 0:
        return Feature(name)
    return Feature(name, "nominal", tuple(map(str, codes.categories[column] or ())))


def _labels_of(model: Any) -> tuple[str, ...]:
    """Return the names of a model's labels or classes; y0, y1, ... if labels have no names."""
    names = getattr(model, "label_names_", None)
    if names is not None:
        return tuple(names)
    classes = getattr(model, "classes_", ())
    if isinstance(classes, list):  # the two values of each label
        return tuple(f"y{label}" for label in range(len(classes)))
    return tuple(str(value) for value in classes)


def _check_is_training_data(model: Any, data: MultilabelDataset) -> None:
    """Raise an error if the data has other numbers of features or labels than the model."""
    n_features = getattr(model, "n_features_in_", None)
    n_labels = getattr(model, "n_labels_", None)
    if n_features != data.n_features or n_labels not in (data.n_labels, None):
        raise DataError(
            f"{data!r} is not what the model was fitted on: it has {n_features} features and "
            f"{n_labels} labels. Give the training data, or none."
        )


def align_columns(data: MultilabelDataset, features: Features, *, by_name: bool = True) -> Any:
    """Return the X of a data set with the columns and codes that a model was fitted on.

    ``features`` are the columns of training. Columns are matched by name, or by position unless
    ``by_name``; other columns of the data are dropped. A category that did not occur in training
    becomes NaN, and a warning counts these. Raises a DataError for missing columns and for values
    of another kind, such as texts where training had numbers.
    """
    if by_name:
        positions = _positions_by_name(data, features)
    else:
        positions = _positions_in_order(data, features)
    is_aligned = np.array_equal(positions, np.arange(data.n_features))
    X: Any = data.X if is_aligned else data.X[:, positions]
    if by_name:  # a model without column names does not store which columns are dates
        _check_dates(data, positions, features)
    data_features = [data.features[position] for position in positions]
    value_maps = {}
    for column, (data_feature, feature) in enumerate(zip(data_features, features, strict=True)):
        if _needs_value_map(data_feature, feature):
            value_maps[column] = _make_value_map(data_feature, feature)
    if not value_maps:
        return X
    X_by_column = X.tocsc() if sparse.issparse(X) else X
    new_columns = {}
    descriptions: list[str] = []  # of columns with categories that did not occur in training
    for column, value_map in value_maps.items():
        values = get_column(X_by_column, column)
        new_values = _map_values(values, value_map)
        is_unmapped = ~np.isnan(values) & np.isnan(new_values)
        if is_unmapped.any():
            descriptions.append(
                _describe_unmapped(values, is_unmapped, data_features[column], features[column])
            )
        new_columns[column] = new_values
    if descriptions:
        ellipsis = "; ..." if len(descriptions) > _MAX_NAMES else ""
        warnings.warn(
            f"{data!r}: categories that training has not seen count as missing: "
            f"{'; '.join(descriptions[:_MAX_NAMES])}{ellipsis}.",
            ScumbleWarning,
            stacklevel=4,
        )
    return with_columns(X, new_columns)


def _positions_by_name(data: MultilabelDataset, features: Features) -> Array:
    """Return the index of each feature among the columns of the data, found by its name.

    Raises a DataError that lists the features which the data lacks.
    """
    position_of_name = {name: index for index, name in enumerate(data.feature_names)}
    missing = [feature.name for feature in features if feature.name not in position_of_name]
    if missing:
        names = ", ".join(repr(name) for name in missing[:_MAX_NAMES])
        if len(missing) > _MAX_NAMES:
            names += f" and {len(missing) - _MAX_NAMES} more"
        has_position_name = any(_POSITION_NAME.fullmatch(name) for name in missing)
        hint = _POSITION_HINT if has_position_name else ""
        raise DataError(
            f"{data!r} lacks {len(missing)} of the {len(features)} columns the model was fitted "
            f"on: {names}. Names must be the same, order does not matter.{hint}"
        )
    return np.array([position_of_name[feature.name] for feature in features], np.intp)


def _positions_in_order(data: MultilabelDataset, features: Features) -> Array:
    """Return the indices of all columns; raise a DataError unless there is one per feature."""
    if data.n_features != len(features):
        raise DataError(
            f"{data!r} has {data.n_features} features, but the model was fitted on "
            f"{len(features)} columns without names. Give data with the same columns in the same "
            "order."
        )
    return np.arange(len(features))


def _check_dates(data: MultilabelDataset, positions: Array, features: Features) -> None:
    """Raise a DataError for numbers where training had dates, or dates where it had numbers.

    ``positions`` are the columns of the data that match ``features``; empty columns are not
    checked.
    """
    for position, feature in zip(positions, features, strict=True):
        kinds = (data.features[position].kind, feature.kind)
        if kinds not in (("numeric", "date"), ("date", "numeric")):
            continue
        values = get_column(data.X, position)
        known_rows = np.flatnonzero(~np.isnan(values))
        if not len(known_rows):
            continue
        first_row = known_rows[0]
        subject = f"Column {feature.name!r} of {data!r} holds"
        if feature.kind == "date":
            date_format = feature.date_format or "2024-05-31"
            raise DataError(
                f"{subject} numbers, {values[first_row]:.15g} in row {first_row}. Expected dates "
                f"such as {date_format}, as in training. Write them so; a CSV file that was "
                "written by scumble holds dates as numbers, ARFF and Parquet files keep them."
            )
        raise DataError(
            f"{subject} dates. Expected numbers, as in training. Write them as numbers, or train "
            "the model on dates."
        )


def _needs_value_map(data_feature: Feature, feature: Feature) -> bool:
    """Return whether the values of a column have to be replaced by the codes of training.

    ``data_feature`` describes the column of the data, ``feature`` that of training. Raises a
    DataError for dates of another format than in training.
    """
    if feature.holds_codes and not feature.categories:  # codes without names stay as they are
        return False
    if data_feature.holds_codes or feature.holds_codes:
        return data_feature.categories != feature.categories
    data_format, training_format = data_feature.date_format, feature.date_format
    if data_format is None or training_format is None:
        return False
    # Formats that differ in the time of day only are compatible. An empty format fits any.
    date_parts = {text.partition(" ")[0] for text in (data_format, training_format) if text}
    if len(date_parts) > 1:
        raise DataError(
            f"The dates of column {feature.name!r} were read as {data_format}, but in training as "
            f"{training_format}. Read the data with keep={feature.name!r}: its dates are then "
            "read as in training."
        )
    return False


def _make_value_map(data_feature: Feature, feature: Feature) -> ValueMap:
    """Return the value in training of each value of a column; see `ValueMap`.

    ``data_feature`` describes the column of the data, ``feature`` that of training. For a column
    of codes the result is an array, indexed by code, with NaN for categories that did not occur in
    training. For a column of numbers it is a dict without these. If the training column is a date,
    or numeric, the texts of the codes are read as dates or numbers.
    """
    if feature.kind == "date":
        times = parse_dates(data_feature.categories, feature.date_format).times
        if times is not None:
            return times
        return _parse_single_dates(data_feature.categories)
    if not feature.holds_codes:
        return np.array([_parse_number(text) for text in data_feature.categories])
    code_of_text = {text: float(code) for code, text in enumerate(feature.categories)}
    code_of_number = _codes_by_number(code_of_text)
    if not data_feature.holds_codes:
        return code_of_number
    codes = []
    for text in data_feature.categories:
        if text in code_of_text:
            codes.append(code_of_text[text])
        else:
            codes.append(code_of_number.get(_parse_number(text), np.nan))
    return np.array(codes)


def _codes_by_number(code_of_text: dict[str, float]) -> dict[float, float]:
    """Return the code of each category whose text is a number, by that number.

    Numbers that several categories stand for, such as "1" and "1.0", are left out. With this dict,
    the text "1.0" can stand for the category "1": programs often write codes as floats if one of
    them is missing.
    """
    numbers = [_parse_number(text) for text in code_of_text]
    counts = Counter(numbers)
    pairs = zip(numbers, code_of_text.values(), strict=True)
    return {number: code for number, code in pairs if counts[number] == 1 and not np.isnan(number)}


def _parse_single_dates(texts: tuple[str, ...]) -> Array:
    """Return the time of each text, parsed on its own; NaN if its date format is ambiguous."""
    times = [parse_dates([text]).times for text in texts]
    return np.array([np.nan if time is None else time[0] for time in times])


def _parse_number(text: str) -> float:
    """Return a text as a number; NaN if it is none."""
    if "_" in text:  # Python reads 1_000 as a number
        return np.nan
    try:
        return float(text)
    except ValueError:
        return np.nan


def _map_values(values: Array, value_map: ValueMap) -> Array:
    """Return the values of a column as in training; NaN for missing and for unmapped ones."""
    if isinstance(value_map, dict):
        distinct, positions = np.unique(values, return_inverse=True)
        return np.array([value_map.get(value, np.nan) for value in distinct.tolist()])[positions]
    return take_by_code(value_map, values)


def _describe_unmapped(
    values: Array, is_unmapped: Array, data_feature: Feature, feature: Feature
) -> str:
    """Return a text with the number and an example of values that did not occur in training.

    ``is_unmapped`` marks them among the ``values`` of a column; at least one is marked. Raises a
    DataError if training had numbers or dates in the column: no value of these kinds is unseen.
    """
    row = int(is_unmapped.argmax())
    if data_feature.holds_codes:
        text = data_feature.categories[int(values[row])]
    else:
        text = f"{values[row]:g}"
    value = repr(shorten(text, _MAX_VALUE_WIDTH))
    if not feature.holds_codes:
        expected = "a number"
        if feature.kind == "date":
            expected = f"a date such as {feature.date_format or '2024-05-31'}"
        raise DataError(
            f"Row {row} of the data holds {value} in column {feature.name!r}. Expected "
            f"{expected}, as in training. Mend the cell, or leave it empty."
        )
    counts = f"{feature.name!r} in {is_unmapped.sum():,} of {len(values):,} rows"
    return f"{counts}, such as {value} in row {row}"
