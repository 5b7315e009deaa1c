"""`Feature`, the description of a column of ``X``, and conversion of columns from and to Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from scumble._core.arrays import Array, are_codes, take_by_code
from scumble._core.errors import DataError, ParameterError
from scumble._validation.features import join_columns
from scumble._validation.frames import EncodedColumn, read_column

if TYPE_CHECKING:
    import pyarrow as pa

#: A selection of columns: one name or number, or several.
ColumnSelection = Sequence[str | int] | Sequence[str] | Sequence[int] | str | int | None
FeatureKind = Literal["numeric", "nominal", "string", "date", "text"]
KINDS: tuple[FeatureKind, ...] = ("numeric", "nominal", "string", "date", "text")


@dataclass(frozen=True, slots=True)
class Feature:
    """The description of a column of ``X``.

    Parameters
    ----------
    name : str
        Its name, unique in the data set.
    kind : {"numeric", "nominal", "string", "date", "text"}
        ``X`` holds numbers for *numeric*, codes of `categories` for *nominal*, *string* and *text*,
        and milliseconds since 1970 (UTC) for *date*. The words of a *text* are learnt; a *string*
        is a category, as in ARFF files.
    categories : tuple of str
        The declared categories of a *nominal* feature, or the texts of a *string* or *text*
        feature, by code.
    integer : bool
        Whether a *numeric* feature holds whole numbers only.
    date_format : str or None
        The format of a *date* in files, in the syntax of Java's SimpleDateFormat.

    Examples
    --------
    >>> from scumble.data import Feature
    >>> Feature("colour", "nominal", ("red", "green")).is_categorical
    True
    """

    name: str
    kind: FeatureKind = "numeric"
    categories: tuple[str, ...] = ()
    integer: bool = False
    date_format: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(
                f"The kind of feature {self.name!r} must be one of {', '.join(KINDS)}. "
                f"Got {self.kind!r} instead."
            )
        if self.date_format is not None and not isinstance(self.date_format, str):
            raise ParameterError(
                f"The date format of feature {self.name!r} must be a text. Got "
                f"{self.date_format!r} instead."
            )
        if self.categories and not self.holds_codes:
            raise DataError(f"The {self.kind} feature {self.name!r} cannot have categories.")
        if self.categories and len(set(self.categories)) < len(self.categories):
            raise DataError(f"The categories of feature {self.name!r} repeat a value.")

    @property
    def is_categorical(self) -> bool:
        """Whether the values are categories."""
        return self.kind in ("nominal", "string")

    @property
    def holds_codes(self) -> bool:
        """Whether ``X`` holds codes of `categories` instead of quantities."""
        return self.is_categorical or self.kind == "text"


def first_duplicate(items: Sequence[Any]) -> Any:
    """Return the first item that repeats an earlier one; None if all are different."""
    if len(set(items)) == len(items):
        return None
    previous: set[Any] = set()
    for item in items:
        if item in previous:
            return item
        previous.add(item)
    return None


def differing_fields(feature: Feature, other: Feature) -> dict[str, Any]:
    """Return the fields of a feature, by name, that differ from those of another feature."""
    return {
        field.name: getattr(feature, field.name)
        for field in fields(Feature)
        if getattr(feature, field.name) != getattr(other, field.name)
    }


def feature_from_column(name: str, column: Any) -> tuple[Feature, Array]:
    """Convert an Arrow column to a feature and its numbers."""
    encoded = read_column(column, f"column {name!r}", caller="from_frame")
    feature, encoded = describe_column(name, encoded)
    return feature, encoded.values


def features_from_columns(
    names: Sequence[str], columns: Sequence[EncodedColumn], n_rows: int
) -> tuple[tuple[Feature, ...], Any]:
    """Return the features of columns and a matrix of their numbers."""
    features = []
    recoded = []
    for name, column in zip(names, columns, strict=True):
        feature, column = describe_column(name, column)
        features.append(feature)
        recoded.append(column)
    return tuple(features), join_columns(recoded, n_rows)


def describe_column(name: str, column: EncodedColumn) -> tuple[Feature, EncodedColumn]:
    """Return the feature of a column, and the column with one code per category.

    Categories become texts; those with the same text become one category.
    """
    if column.categories is None:
        return Feature(name, "date" if column.date else "numeric", integer=column.integer), column
    texts = [str(value) for value in column.categories]
    categories = tuple(dict.fromkeys(texts))
    if len(categories) < len(texts):
        code_of = {text: float(code) for code, text in enumerate(categories)}
        codes = np.array([code_of[text] for text in texts])
        column = column._replace(values=take_by_code(codes, column.values))
    return Feature(name, "nominal", categories), column


def column_from_feature(feature: Feature, values: Array) -> pa.Array:
    """Convert a feature and its numbers to an Arrow column; inverse of `feature_from_column`."""
    import pyarrow as pa

    missing = np.isnan(values)
    if feature.holds_codes:
        codes = pa.array(category_codes(feature, values), mask=missing)
        categories = pa.array(feature.categories, pa.string())
        if feature.kind != "nominal":
            return categories.take(codes)
        return pa.DictionaryArray.from_arrays(codes, categories)
    if feature.kind == "date":
        return _timestamps(feature, values, missing)
    if feature.integer and are_integers(values[~missing]):
        return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)
    return pa.array(values, mask=missing)


def category_codes(feature: Feature, values: Array) -> Array:
    """Return values as integer codes of the feature's categories, -1 for missing; check them."""
    missing = np.isnan(values)
    is_invalid = ~(missing | are_codes(values, len(feature.categories)))
    if is_invalid.any():
        row = int(is_invalid.argmax())
        raise DataError(
            f"Row {row} of the {feature.kind} feature {feature.name!r} holds {values[row]!r}, "
            f"which is not a code of its {len(feature.categories)} categories."
        )
    return np.where(missing, -1.0, values).astype(np.int32)


def are_integers(values: Array) -> bool:
    """Return whether all values are whole numbers that fit into 64 bits."""
    return bool(np.all((values == np.floor(values)) & (np.abs(values) < 2.0**63)))


def _timestamps(feature: Feature, values: Array, missing: Array) -> Any:
    """Convert milliseconds since 1970 to an Arrow column of timestamps in UTC."""
    import pyarrow as pa

    milliseconds = np.where(missing, 0.0, values)
    if np.all(milliseconds == np.floor(milliseconds)):
        unit = "ms"
        ticks = np.rint(milliseconds)
    else:
        unit = "us"
        ticks = np.rint(milliseconds * 1000)
    fits = np.abs(ticks) < 2.0**63
    if not fits.all():
        row = int(fits.argmin())
        raise DataError(
            f"Row {row} of the date feature {feature.name!r} holds {values[row]!r}, which is no "
            "time in milliseconds since 1970."
        )
    return pa.array(ticks.astype(np.int64), pa.timestamp(unit, tz="UTC"), mask=missing)
