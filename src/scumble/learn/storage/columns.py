"""The columns a model was fitted on, and other data brought into their order."""

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
from scumble.data.feature_kinds import parse_dates

Features = tuple[Feature, ...]

_N_SHOWN = 3
#: What readers call columns without a name.
_PLACE = re.compile(r"x\d+")
_BY_PLACE = (
    " A column without a name is named by its place, x0 being the first: give a file in which it "
    "stands where it stood in training."
)
#: Terminal cells of a value in a message.
_WIDEST = 60


def fitted_columns(
    model: Any, data: MultilabelDataset | None
) -> tuple[Features, bool, tuple[str, ...]]:
    """Tell which columns and labels a model was fitted on."""
    if data is not None:
        _refuse_other_shape(model, data)
        return data.features, True, data.labels
    if hasattr(model, "texts"):  # a model that makes numbers of texts knows its own columns
        return model.features, True, fitted_columns(model.model, None)[2]
    n_features = int(getattr(model, "n_features_in_", 0))
    names, codes = getattr(model, "feature_names_in_", None), getattr(model, "_codes", None)
    called = [f"x{at}" for at in range(n_features)] if names is None else map(str, names)
    features = tuple(_feature(name, codes, at) for at, name in enumerate(called))
    return features, names is not None, _labels_of(model)


def _feature(name: str, codes: Any, at: int) -> Feature:
    if codes is None or codes.n_values[at] == 0:
        return Feature(name)
    return Feature(name, "nominal", tuple(map(str, codes.categories[at] or ())))


def _labels_of(model: Any) -> tuple[str, ...]:
    if (names := getattr(model, "label_names_", None)) is not None:
        return tuple(names)
    classes = getattr(model, "classes_", ())
    if isinstance(classes, list):  # the two values of each label
        return tuple(f"y{at}" for at in range(len(classes)))
    return tuple(str(value) for value in classes)


def _refuse_other_shape(model: Any, data: MultilabelDataset) -> None:
    found = (getattr(model, "n_features_in_", None), getattr(model, "n_labels_", None))
    if found not in ((data.n_features, data.n_labels), (data.n_features, None)):
        raise DataError(
            f"{data!r} is not what the model was fitted on: it has {found[0]} features and "
            f"{found[1]} labels. Give the training data, or none."
        )


def align_columns(data: MultilabelDataset, features: Features, *, by_name: bool = True) -> Any:
    """Bring data into the columns, by name or else in order, and codes a model was fitted on.

    A category that training has not seen is missing, and a warning counts these.
    """
    places = _places(data, features) if by_name else _in_order(data, features)
    X: Any = data.X if np.array_equal(places, np.arange(data.n_features)) else data.X[:, places]
    if by_name:  # a model without names does not know which of its columns are dates
        _refuse_numbers_as_dates(data, places, features)
    found = [data.features[place] for place in places]
    pairs = enumerate(zip(found, features, strict=True))
    maps = {at: _code_map(one, known) for at, (one, known) in pairs if _differ(one, known)}
    if not maps:
        return X
    unseen: list[str] = []
    by_column = X.tocsc() if sparse.issparse(X) else X
    columns = {}
    for at, code_map in maps.items():
        cells, given = get_column(by_column, at), (found[at], code_map)
        columns[at] = _mapped(cells, given, features[at], unseen)
    if unseen:
        warnings.warn(
            f"{data!r}: categories that training has not seen count as missing: "
            f"{'; '.join(unseen[:_N_SHOWN])}{'; ...' if len(unseen) > _N_SHOWN else ''}.",
            ScumbleWarning,
            stacklevel=4,
        )
    return with_columns(X, columns)


def _places(data: MultilabelDataset, features: Features) -> Array:
    place_of = {name: at for at, name in enumerate(data.feature_names)}
    missing = [known.name for known in features if known.name not in place_of]
    if missing:
        shown = ", ".join(repr(name) for name in missing[:_N_SHOWN])
        more = f" and {len(missing) - _N_SHOWN} more" if len(missing) > _N_SHOWN else ""
        raise DataError(
            f"{data!r} lacks {len(missing)} of the {len(features)} columns the model was fitted "
            f"on: {shown}{more}. Names must be the same, order does not matter."
            + (_BY_PLACE if any(_PLACE.fullmatch(name) for name in missing) else "")
        )
    return np.array([place_of[known.name] for known in features], np.intp)


def _in_order(data: MultilabelDataset, features: Features) -> Array:
    if data.n_features != len(features):
        raise DataError(
            f"{data!r} has {data.n_features} features, but the model was fitted on "
            f"{len(features)} columns without names. Give data with the same columns in the same "
            "order."
        )
    return np.arange(len(features))


def _refuse_numbers_as_dates(data: MultilabelDataset, places: Array, features: Features) -> None:
    """Refuse numbers where training had dates, and dates where it had numbers."""
    for place, known in zip(places, features, strict=True):
        kinds = (data.features[place].kind, known.kind)
        if kinds not in (("numeric", "date"), ("date", "numeric")):
            continue
        values = get_column(data.X, place)
        present = np.flatnonzero(~np.isnan(values))
        if not len(present):
            continue
        where = f"Column {known.name!r} of {data!r} holds"
        if known.kind == "date":
            form = known.date_format or "2024-05-31"
            raise DataError(
                f"{where} numbers, {values[present[0]]:.15g} in row {present[0]}. Expected dates "
                f"such as {form}, as in training. Write them so; a CSV file that was written by "
                "scumble holds dates as numbers, ARFF and Parquet files keep them."
            )
        raise DataError(
            f"{where} dates. Expected numbers, as in training. Write them as numbers, or train "
            "the model on dates."
        )


def _differ(found: Feature, known: Feature) -> bool:
    if known.holds_codes and not known.categories:  # codes as they are
        return False
    if found.holds_codes or known.holds_codes:
        return found.categories != known.categories
    forms = [feature.date_format for feature in (found, known)]
    if None not in forms and len({form.partition(" ")[0] for form in forms if form}) > 1:
        raise DataError(
            f"The dates of column {known.name!r} were read as {forms[0]}, but in training as "
            f"{forms[1]}. Read the data with keep={known.name!r}: its dates are then read as in "
            "training."
        )
    return False


def _code_map(found: Feature, known: Feature) -> Any:
    """Map the codes of the data to those (or to the numbers) the model knows; NaN for none."""
    if known.kind == "date":
        times = parse_dates(found.categories, known.date_format).times
        return times if times is not None else _dates_one_by_one(found.categories)
    if not known.holds_codes:
        return np.array([_number(text) for text in found.categories])
    code_of = {text: float(code) for code, text in enumerate(known.categories)}
    by_number = _codes_by_number(code_of)
    if not found.holds_codes:
        return by_number
    texts = found.categories
    return np.array([code_of.get(text, by_number.get(_number(text), np.nan)) for text in texts])


def _codes_by_number(code_of: dict[str, float]) -> dict[float, float]:
    """Find codes by the numbers that categories are, where these are one category's alone.

    A table of codes that lacks one is often written with 1.0 for 1.
    """
    numbers = [_number(text) for text in code_of]
    times = Counter(numbers)
    pairs = zip(numbers, code_of.values(), strict=True)
    return {number: code for number, code in pairs if times[number] == 1 and not np.isnan(number)}


def _dates_one_by_one(texts: tuple[str, ...]) -> Array:
    """Read what is clear by itself; NaN for the rest, which is refused by its row."""
    found = [parse_dates([text]).times for text in texts]
    return np.array([np.nan if times is None else times[0] for times in found])


def _number(text: str) -> float:
    try:
        return np.nan if "_" in text else float(text)  # Python takes 1_000
    except ValueError:
        return np.nan


def _mapped(cells: Array, given: tuple[Feature, Any], known: Feature, unseen: list[str]) -> Array:
    """Translate the cells of all rows; what is missing stays so, and categories not seen join it.

    What is no number or date is refused; columns with such categories are told in ``unseen``.
    """
    found, code_map = given
    if isinstance(code_map, dict):
        distinct, places = np.unique(cells, return_inverse=True)
        out = np.array([code_map.get(value, np.nan) for value in distinct.tolist()])[places]
    else:
        out = take_by_code(code_map, cells)
    unknown = ~np.isnan(cells) & np.isnan(out)
    if unknown.any():
        row = int(unknown.argmax())
        text = found.categories[int(cells[row])] if found.holds_codes else f"{cells[row]:g}"
        value = repr(shorten(text, _WIDEST))
        if not known.holds_codes:
            form = known.date_format or "2024-05-31"
            expected = f"a date such as {form}" if known.kind == "date" else "a number"
            raise DataError(
                f"Row {row} of the data holds {value} in column {known.name!r}. Expected "
                f"{expected}, as in training. Mend the cell, or leave it empty."
            )
        where = f"{known.name!r} in {unknown.sum():,} of {len(cells):,} rows"
        unseen.append(f"{where}, such as {value} in row {row}")
    return out
