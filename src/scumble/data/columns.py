"""Columns of a table: Arrow arrays on one side, a `Feature` and its numbers on the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.arrays import Array, look_up
from scumble._core.errors import DataError
from scumble._core.features import join_columns
from scumble._core.frames import Column, read_column
from scumble.data.feature import Feature

if TYPE_CHECKING:
    import pyarrow as pa


def feature_from_column(name: str, column: Any) -> tuple[Feature, Array]:
    """Read an Arrow column as a feature."""
    read = read_column(column, f"column {name!r}", caller="from_frame")
    feature, column = describe_column(name, read)
    return feature, column.values


def features_from_columns(
    names: Sequence[str], columns: Sequence[Column], n_rows: int
) -> tuple[tuple[Feature, ...], Any]:
    """Describe columns that were read, and put them side by side."""
    pairs = [describe_column(*pair) for pair in zip(names, columns, strict=True)]
    table = join_columns([column for _, column in pairs], n_rows)
    return tuple(feature for feature, _ in pairs), table


def describe_column(name: str, column: Column) -> tuple[Feature, Column]:
    """Say what a column means; its categories become texts, and those that read alike one."""
    if column.categories is None:
        return Feature(name, "date" if column.date else "numeric", integer=column.integer), column
    texts = [str(value) for value in column.categories]
    categories = tuple(dict.fromkeys(texts))
    if len(categories) < len(texts):
        code = {text: float(at) for at, text in enumerate(categories)}
        codes = np.array([code[text] for text in texts])
        column = column._replace(values=look_up(codes, column.values))
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
    if feature.integer and are_whole(values[~missing]):
        return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)
    return pa.array(values, mask=missing)


def category_codes(feature: Feature, values: Array) -> Array:
    """Check that values are codes of the feature's categories."""
    codes = np.where(np.isnan(values), -1.0, values)
    wrong = (codes != np.floor(codes)) | (codes >= len(feature.categories)) | (codes < -1)
    wrong |= (codes == -1) & ~np.isnan(values)
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"Row {row} of the {feature.kind} feature {feature.name!r} holds {values[row]!r}, "
            f"which is no code of its {len(feature.categories)} categories."
        )
    return codes.astype(np.int32)


def are_whole(values: Array) -> bool:
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
