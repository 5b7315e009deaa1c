"""The columns that a model was fitted on, and other data aligned with them."""

import re
import warnings
from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, get_column, take_by_code, with_columns
from scumble._core.errors import DataError, ScumbleWarning
from scumble._core.text import shorten
from scumble.data import Feature, MultilabelDataset
from scumble.data.infer.feature_kinds import parse_dates

Features = tuple[Feature, ...]
#: How the values of a column become those of training: an array indexed by code, or a dict.
ValueMap = Array | dict[float, float]

#: Most names that a message lists.
_MAX_NAMES = 3
#: The names that readers give to columns without one.
_POSITION_NAME = re.compile(r"x\d+")
_POSITION_HINT = (
    " A column without a name is named by its place, x0 being the first: give a file in which it "
    "stands where it stood in training."
)
#: Most terminal cells of a value in a message.
_MAX_VALUE_WIDTH = 60


def fitted_columns(
    model: Any, data: MultilabelDataset | None
) -> tuple[Features, bool, tuple[str, ...]]:
    """Return the columns of a fitted model, whether these have names, and the labels."""
    if data is not None:
        _check_is_training_data(model, data)
        return data.features, True, data.labels
    if hasattr(model, "texts"):  # a TextModel stores the columns that it was fitted on
        _, _, labels = fitted_columns(model.model, None)
        return model.features, True, labels
    n_features = int(getattr(model, "n_features_in_", 0))
    codes = getattr(model, "_codes", None)
    names = getattr(model, "feature_names_in_", None)
    has_names = names is not None
    if names is None:
        names = [f"x{column}" for column in range(n_features)]
    features = tuple(_feature(str(name), codes, column) for column, name in enumerate(names))
    return features, has_names, _labels_of(model)


def _feature(name: str, codes: Any, column: int) -> Feature:
    """Return the description of a column, given what the model stores about its codes."""
    if codes is None or codes.n_values[column] == 0:
        return Feature(name)
    return Feature(name, "nominal", tuple(map(str, codes.categories[column] or ())))


def _labels_of(model: Any) -> tuple[str, ...]:
    """Return the names of a model's labels or classes; y0, y1, ... for labels without names."""
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
    """Return the features of a data set with the columns and codes that a model was fitted on.

    Columns are matched by name, or by position. A category that did not occur in training becomes
    a missing value, and a warning counts these.
    """
    positions = (
        _positions_by_name(data, features) if by_name else _positions_in_order(data, features)
    )
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
    by_column = X.tocsc() if sparse.issparse(X) else X
    new_columns = {}
    unseen: list[str] = []
    for column, value_map in value_maps.items():
        cells = get_column(by_column, column)
        new_cells = _map_values(cells, value_map)
        is_unmapped = ~np.isnan(cells) & np.isnan(new_cells)
        if is_unmapped.any():
            unseen.append(
                _describe_unmapped(cells, is_unmapped, data_features[column], features[column])
            )
        new_columns[column] = new_cells
    if unseen:
        categories = "; ".join(unseen[:_MAX_NAMES])
        if len(unseen) > _MAX_NAMES:
            categories += "; ..."
        warnings.warn(
            f"{data!r}: categories that training has not seen count as missing: {categories}.",
            ScumbleWarning,
            stacklevel=4,
        )
    return with_columns(X, new_columns)


def _positions_by_name(data: MultilabelDataset, features: Features) -> Array:
    """Return the position of each feature among the columns of the data."""
    position = {name: index for index, name in enumerate(data.feature_names)}
    missing = [feature.name for feature in features if feature.name not in position]
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
    return np.array([position[feature.name] for feature in features], np.intp)


def _positions_in_order(data: MultilabelDataset, features: Features) -> Array:
    """Return the positions of all columns; raise an error if their number differs."""
    if data.n_features != len(features):
        raise DataError(
            f"{data!r} has {data.n_features} features, but the model was fitted on "
            f"{len(features)} columns without names. Give data with the same columns in the same "
            "order."
        )
    return np.arange(len(features))


def _check_dates(data: MultilabelDataset, positions: Array, features: Features) -> None:
    """Raise an error for numbers where training had dates, and for dates where it had numbers."""
    for position, feature in zip(positions, features, strict=True):
        kinds = (data.features[position].kind, feature.kind)
        if kinds not in (("numeric", "date"), ("date", "numeric")):
            continue
        values = get_column(data.X, position)
        rows = np.flatnonzero(~np.isnan(values))
        if not len(rows):
            continue
        subject = f"Column {feature.name!r} of {data!r} holds"
        if feature.kind == "date":
            date_format = feature.date_format or "2024-05-31"
            raise DataError(
                f"{subject} numbers, {values[rows[0]]:.15g} in row {rows[0]}. Expected dates "
                f"such as {date_format}, as in training. Write them so; a CSV file that was "
                "written by scumble holds dates as numbers, ARFF and Parquet files keep them."
            )
        raise DataError(
            f"{subject} dates. Expected numbers, as in training. Write them as numbers, or train "
            "the model on dates."
        )


def _needs_value_map(data_feature: Feature, feature: Feature) -> bool:
    """Return whether the values of a column differ from those of training in their codes.

    Dates of another format than in training are an error.
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
    """Return the training value of each code or number of a column; NaN if there is none."""
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
    """Return codes by the numbers that their categories are, if only one category is this number.

    A program that writes a table of codes with a missing value often writes 1.0 instead of 1.
    """
    numbers = [_parse_number(text) for text in code_of_text]
    counts = Counter(numbers)
    pairs = zip(numbers, code_of_text.values(), strict=True)
    return {number: code for number, code in pairs if counts[number] == 1 and not np.isnan(number)}


def _parse_single_dates(texts: tuple[str, ...]) -> Array:
    """Return the time of each text whose format is clear by itself; NaN for the others."""
    times = [parse_dates([text]).times for text in texts]
    return np.array([np.nan if time is None else time[0] for time in times])


def _parse_number(text: str) -> float:
    """Return the number that a text is, or NaN."""
    if "_" in text:  # Python reads 1_000 as a number
        return np.nan
    try:
        return float(text)
    except ValueError:
        return np.nan


def _map_values(cells: Array, value_map: ValueMap) -> Array:
    """Return the training values of all cells; NaN for missing and for unmapped ones."""
    if isinstance(value_map, dict):
        distinct, positions = np.unique(cells, return_inverse=True)
        return np.array([value_map.get(value, np.nan) for value in distinct.tolist()])[positions]
    return take_by_code(value_map, cells)


def _describe_unmapped(
    cells: Array, is_unmapped: Array, data_feature: Feature, feature: Feature
) -> str:
    """Return the number and an example of the categories that did not occur in training.

    A cell that is not a number or date, where training had these, is an error.
    """
    row = int(is_unmapped.argmax())
    if data_feature.holds_codes:
        text = data_feature.categories[int(cells[row])]
    else:
        text = f"{cells[row]:g}"
    value = repr(shorten(text, _MAX_VALUE_WIDTH))
    if not feature.holds_codes:
        expected = "a number"
        if feature.kind == "date":
            expected = f"a date such as {feature.date_format or '2024-05-31'}"
        raise DataError(
            f"Row {row} of the data holds {value} in column {feature.name!r}. Expected "
            f"{expected}, as in training. Mend the cell, or leave it empty."
        )
    counts = f"{feature.name!r} in {is_unmapped.sum():,} of {len(cells):,} rows"
    return f"{counts}, such as {value} in row {row}"
