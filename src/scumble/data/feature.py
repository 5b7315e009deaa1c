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

#: A selection of columns: one name or number, or several; None selects none.
ColumnSelection = Sequence[str | int] | Sequence[str] | Sequence[int] | str | int | None
#: What the values of a feature are, see `Feature`.
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
        and milliseconds since 1970 (UTC) for *date*. A classifier gets a *text* as one number per
        word, see `scumble.learn.TextColumns`; a *string* is a category, as in ARFF files.
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
        """Raise ParameterError or DataError for fields that are wrong or contradict each other."""
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
        """Whether the values are categories: the kind is "nominal" or "string"."""
        return self.kind in ("nominal", "string")

    @property
    def holds_codes(self) -> bool:
        """Whether ``X`` holds codes of `categories`: the kind is "nominal", "string" or "text"."""
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
    """Return the `Feature` of an Arrow column, and its values as floats (NaN where missing).

    Texts and categories are encoded as codes, dates as milliseconds since 1970. Raise DataError for
    an Arrow type that cannot be a feature.
    """
    encoded = read_column(column, f"column {name!r}", caller="from_frame")
    feature, encoded = describe_column(name, encoded)
    return feature, encoded.values


def features_from_columns(
    names: Sequence[str], columns: Sequence[EncodedColumn], n_rows: int
) -> tuple[tuple[Feature, ...], Any]:
    """Return the `Feature` of each column, and the matrix of their values, one column each.

    The matrix is dense or sparse, whichever `join_columns` chooses.
    """
    features = []
    recoded = []
    for name, column in zip(names, columns, strict=True):
        feature, column = describe_column(name, column)
        features.append(feature)
        recoded.append(column)
    return tuple(features), join_columns(recoded, n_rows)


def describe_column(name: str, column: EncodedColumn) -> tuple[Feature, EncodedColumn]:
    """Return the `Feature` of a column, and the column with one code per category.

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
    """Return the values of a feature as an Arrow column; inverse of `feature_from_column`.

    ``values`` is a column of ``X``; NaN becomes null. Codes become texts (a dictionary array for
    *nominal*), dates become timestamps in UTC, and a numeric feature becomes int64 if it is
    declared ``integer`` and its values are whole numbers.
    """
    import pyarrow as pa

    is_missing = np.isnan(values)
    if feature.holds_codes:
        codes = pa.array(category_codes(feature, values), mask=is_missing)
        categories = pa.array(feature.categories, pa.string())
        if feature.kind != "nominal":
            return categories.take(codes)
        return pa.DictionaryArray.from_arrays(codes, categories)
    if feature.kind == "date":
        return _to_timestamps(feature, values, is_missing)
    if feature.integer and are_integers(values[~is_missing]):
        return pa.array(np.where(is_missing, 0, values).astype(np.int64), mask=is_missing)
    return pa.array(values, mask=is_missing)


def category_codes(feature: Feature, values: Array) -> Array:
    """Return the values of a feature as int32 codes of its categories, -1 where they are missing.

    Raise DataError if a value is not a code of a category.
    """
    is_missing = np.isnan(values)
    is_invalid = ~(is_missing | are_codes(values, len(feature.categories)))
    if is_invalid.any():
        row = int(is_invalid.argmax())
        raise DataError(
            f"Row {row} of the {feature.kind} feature {feature.name!r} holds {values[row]!r}, "
            f"which is not a code of its {len(feature.categories)} categories."
        )
    return np.where(is_missing, -1.0, values).astype(np.int32)


def are_integers(values: Array) -> bool:
    """Return whether all values are whole numbers that fit into int64; False if one is NaN."""
    return bool(np.all((values == np.floor(values)) & (np.abs(values) < 2.0**63)))


def _to_timestamps(feature: Feature, values: Array, is_missing: Array) -> Any:
    """Convert milliseconds since 1970 to an Arrow column of timestamps in UTC; null if missing.

    The unit is the millisecond, or the microsecond if a value has a fraction. Raise DataError for
    times that do not fit 64 bits.
    """
    import pyarrow as pa

    milliseconds = np.where(is_missing, 0.0, values)
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
    return pa.array(ticks.astype(np.int64), pa.timestamp(unit, tz="UTC"), mask=is_missing)
