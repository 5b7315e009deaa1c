"""What a column of features means: a `Feature` and its numbers, from Arrow arrays and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from scumble._core.arrays import Array, are_codes, take_by_code
from scumble._core.errors import DataError, ParameterError
from scumble._core.features import join_columns
from scumble._core.frames import EncodedColumn, read_column

if TYPE_CHECKING:
    import pyarrow as pa

#: What may name columns: names or numbers, one or several.
ColumnSelection = Sequence[str | int] | Sequence[str] | Sequence[int] | str | int | None
FeatureKind = Literal["numeric", "nominal", "string", "date", "text"]
KINDS: tuple[FeatureKind, ...] = ("numeric", "nominal", "string", "date", "text")


@dataclass(frozen=True, slots=True)
class Feature:
    """What a column of ``X`` means.

    Parameters
    ----------
    name : str
        Its name, unique in the data set.
    kind : {"numeric", "nominal", "string", "date", "text"}
        ``X`` holds numbers for *numeric*, codes of `categories` for *nominal*, *string* and *text*,
        and milliseconds since 1970 (UTC) for *date*. What is learnt from a *text* are its words; a
        *string* is one value among others, as in ARFF files.
    categories : tuple of str
        The declared values of a *nominal* feature, or the texts of another, by code.
    integer : bool
        Whether a *numeric* feature holds whole numbers only.
    date_format : str or None
        How a *date* is written in files, in the manner of Java's SimpleDateFormat.

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
        """Whether each value is a category to learn from."""
        return self.kind in ("nominal", "string")

    @property
    def holds_codes(self) -> bool:
        """Whether ``X`` holds codes of `categories` rather than quantities."""
        return self.is_categorical or self.kind == "text"


def first_duplicate(items: Sequence[Any]) -> Any:
    """Find the first item that stands in a list twice; None if there is none."""
    if len(set(items)) == len(items):
        return None
    seen: set[Any] = set()
    for item in items:
        if item in seen:
            break
        seen.add(item)
    return item


def differing_fields(feature: Feature, other: Feature) -> dict[str, Any]:
    """Give those of a feature's fields in which it is unlike another."""
    return {
        each.name: value
        for each in fields(Feature)
        if (value := getattr(feature, each.name)) != getattr(other, each.name)
    }


def feature_from_column(name: str, column: Any) -> tuple[Feature, Array]:
    """Read an Arrow column as a feature."""
    read = read_column(column, f"column {name!r}", caller="from_frame")
    feature, column = describe_column(name, read)
    return feature, column.values


def features_from_columns(
    names: Sequence[str], columns: Sequence[EncodedColumn], n_rows: int
) -> tuple[tuple[Feature, ...], Any]:
    """Describe columns that were read, and put them side by side."""
    pairs = [describe_column(*pair) for pair in zip(names, columns, strict=True)]
    table = join_columns([column for _, column in pairs], n_rows)
    return tuple(feature for feature, _ in pairs), table


def describe_column(name: str, column: EncodedColumn) -> tuple[Feature, EncodedColumn]:
    """Say what a column means; its categories become texts, and those that read alike one."""
    if column.categories is None:
        return Feature(name, "date" if column.date else "numeric", integer=column.integer), column
    texts = [str(value) for value in column.categories]
    categories = tuple(dict.fromkeys(texts))
    if len(categories) < len(texts):
        code = {text: float(at) for at, text in enumerate(categories)}
        codes = np.array([code[text] for text in texts])
        column = column._replace(values=take_by_code(codes, column.values))
    return Feature(name, "nominal", categories), column


def column_from_feature(feature: Feature, values: Array) -> pa.Array:
    """Write a feature as an Arrow column; the inverse of `feature_from_column`."""
    import pyarrow as pa

    missing = np.isnan(values)
    if feature.holds_codes:
        codes = pa.array(category_codes(feature, values), mask=missing)
        categories = pa.array(feature.categories, pa.string())
        if feature.kind != "nominal":
            return categories.take(codes)
        return pa.DictionaryArray.from_arrays(codes, categories)
    if feature.kind == "date":
        return _to_times(feature, values, missing)
    if feature.integer and are_integers(values[~missing]):
        return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)
    return pa.array(values, mask=missing)


def category_codes(feature: Feature, values: Array) -> Array:
    """Check that values are codes of the feature's categories."""
    missing = np.isnan(values)
    wrong = ~(missing | are_codes(values, len(feature.categories)))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"Row {row} of the {feature.kind} feature {feature.name!r} holds {values[row]!r}, "
            f"which is no code of its {len(feature.categories)} categories."
        )
    return np.where(missing, -1.0, values).astype(np.int32)


def are_integers(values: Array) -> bool:
    """Tell whether all values are whole numbers that fit 64 bits."""
    return bool(np.all((values == np.floor(values)) & (np.abs(values) < 2.0**63)))


def _to_times(feature: Feature, values: Array, missing: Array) -> Any:
    import pyarrow as pa

    known = np.where(missing, 0.0, values)
    unit = "ms" if np.all(known == np.floor(known)) else "us"
    ticks = np.rint(known * (1000 if unit == "us" else 1))
    fits = np.abs(ticks) < 2.0**63
    if not fits.all():
        row = int(fits.argmin())
        raise DataError(
            f"Row {row} of the date feature {feature.name!r} holds {values[row]!r}, which is no "
            "time in milliseconds since 1970."
        )
    return pa.array(ticks.astype(np.int64), pa.timestamp(unit, tz="UTC"), mask=missing)
