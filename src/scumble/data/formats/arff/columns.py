"""How the columns of a data set are declared in a file, and how their values are spelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.formats.arff.dates import date_format
from scumble.data.formats.arff.quoting import escape, quote


@dataclass(frozen=True)
class Column:
    """One attribute as it is written."""

    name: str
    declaration: str
    meant: Feature  # what a reader makes of the declaration
    # Values are codes of texts, or go through `spell`, or are plain numbers.
    texts: tuple[str, ...] | None = None
    spell: Callable[[float], str] | None = None
    explicit: bool = False  # named in every sparse row


LABEL = "{0,1}"


def arff_column(feature: Feature, values: Callable[[], Array], *, sparse_rows: bool) -> Column:
    """Declare a feature as WEKA does."""
    name = feature.name
    if feature.kind == "nominal":
        return nominal_column(feature, ",")
    if feature.kind in ("string", "text"):
        known = _in_order_of_appearance(feature, values())
        if sparse_rows and "" in known:  # where a text may be omitted, the empty one comes first
            known = ("", *(text for text in known if text))
        meant = Feature(name, "string", known)
        texts = tuple(quote(text) for text in feature.categories)
        return Column(name, "string", meant, texts, explicit=True)
    if feature.kind == "date" and _survive(feature.date_format, values()):
        pattern = feature.date_format
        written = "date" if pattern is None else f'date "{escape(pattern)}"'
        return Column(
            name, written, Feature(name, "date", date_format=pattern), spell=_spell_date(pattern)
        )
    integer = feature.integer and feature.kind == "numeric"
    declaration = "integer" if integer else "numeric"
    return Column(name, declaration, Feature(name, integer=integer))


def nominal_column(feature: Feature, separator: str) -> Column:
    """Declare a feature with all its values."""
    texts = tuple(quote(text) for text in feature.categories)
    meant = Feature(feature.name, "nominal", feature.categories)
    return Column(feature.name, "{" + separator.join(texts) + "}", meant, texts)


def note_features(features: Sequence[Feature], columns: Sequence[Column]) -> dict[str, Any]:
    """Note what the declarations of features do not say."""
    noted = {}
    for feature, column in zip(features, columns, strict=True):
        if feature == column.meant:
            continue
        noted[column.name] = {
            part.name: getattr(feature, part.name)
            for part in fields(Feature)
            if getattr(feature, part.name) != getattr(column.meant, part.name)
        }
    return noted


def label_columns(
    dataset: MultilabelDataset, fits: Callable[[str], bool]
) -> tuple[list[str], dict[str, str]]:
    """Name the columns of the labels."""
    taken = {*dataset.feature_names, *dataset.labels}
    features = set(dataset.feature_names)
    names, renamed = [], {}
    for number, name in enumerate(dataset.labels):
        column = name
        while column in features or not fits(column) or (column != name and column in taken):
            column = f"label-{number}" if column == name else column + "-"
        if column != name:
            renamed[column] = name
        taken.add(column)
        names.append(column)
    return names, renamed


def check_codes(feature_name: str, values: Array, n_categories: int) -> Array:
    """Turn values into codes, or refuse them."""
    fits = (values >= 0) & (values < n_categories) & (values == np.floor(values))
    if not fits.all():
        value = values[~fits][0]
        raise DataError(
            f"The feature {feature_name!r} holds {value:g}. Expected the number of one of its "
            f"{n_categories} categories, from 0."
        )
    return values.astype(np.int64)


def _in_order_of_appearance(feature: Feature, values: Array) -> tuple[str, ...]:
    """List the texts as a reader will meet them."""
    present = values[~np.isnan(values)]
    codes = check_codes(feature.name, present, len(feature.categories))
    _, first = np.unique(codes, return_index=True)
    return tuple(feature.categories[codes[at]] for at in np.sort(first))


def _survive(pattern: str | None, values: Array) -> bool:
    """Tell whether a pattern gives all dates back to the last bit."""
    try:
        form = date_format(pattern)
        return all(
            form.parse(form.format(value)) == value
            for value in np.unique(values[~np.isnan(values)]).tolist()
        )
    except ValueError:
        return False


def _spell_date(pattern: str | None) -> Callable[[float], str]:
    form = date_format(pattern)
    return lambda value: quote(form.format(value))
