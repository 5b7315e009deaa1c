"""Columns of a table: Arrow arrays on one side, a `Feature` and its numbers on the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.errors import DataError
from scumble.data.dataset import Feature

if TYPE_CHECKING:
    import pyarrow as pa

#: Beyond this not every whole number is a double.
MOST_EXACT = 2**53
_PER_MILLISECOND = {"ms": 1, "us": 1000, "ns": 1_000_000}
_DAY = 86_400_000


def feature_from_column(name: str, column: Any) -> tuple[Feature, np.ndarray[Any, Any]]:
    """Read an Arrow column as a feature.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from scumble.data.columns import feature_from_column
    >>> feature, values = feature_from_column("colour", pa.array(["red", None, "blue"]))
    >>> feature.categories, values.tolist()
    (('blue', 'red'), [1.0, nan, 0.0])
    """
    import pyarrow.types as kinds

    array = _one_array(column)
    kind = array.type
    if kinds.is_dictionary(kind):
        return _from_dictionary(name, array)
    if kinds.is_string(kind) or kinds.is_large_string(kind) or _is_view(kind):
        return _from_text(name, array)
    if kinds.is_boolean(kind):
        return Feature(name, integer=True), _numbers(array.cast("uint8"))
    if kinds.is_integer(kind):
        return Feature(name, integer=True), _from_integers(name, array)
    if kinds.is_floating(kind) or kinds.is_decimal(kind) or kinds.is_null(kind):
        return Feature(name), _numbers(array)
    if kinds.is_timestamp(kind) or kinds.is_date(kind):
        return Feature(name, "date"), _from_times(array)
    raise DataError(
        f"Column {name!r} holds {kind}. Expected numbers, booleans, text, categories or dates: "
        "convert it, or leave it out."
    )


def column_from_feature(feature: Feature, values: np.ndarray[Any, Any]) -> pa.Array:
    """Write a feature as an Arrow column; the inverse of `feature_from_column`."""
    import pyarrow as pa

    missing = np.isnan(values)
    if feature.is_categorical:
        codes = pa.array(category_codes(feature, values), mask=missing)
        categories = pa.array(feature.categories, pa.string())
        if feature.kind == "string":
            return categories.take(codes)
        return pa.DictionaryArray.from_arrays(codes, categories)
    if feature.kind == "date":
        return _to_times(feature, values, missing)
    if feature.integer and are_whole(values[~missing]):
        return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)
    return pa.array(values, mask=missing)


def category_codes(feature: Feature, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
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


def are_whole(values: np.ndarray[Any, Any]) -> bool:
    """Tell whether all values are whole numbers that fit 64 bits."""
    return bool(np.all((values == np.floor(values)) & (np.abs(values) < 2.0**63)))


def _one_array(column: Any) -> Any:
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    if column.num_chunks == 0:
        return pa.array([], column.type)
    return column.combine_chunks() if column.num_chunks > 1 else column.chunk(0)


def _is_view(kind: Any) -> bool:
    import pyarrow.types as kinds

    return hasattr(kinds, "is_string_view") and bool(kinds.is_string_view(kind))


def _numbers(array: Any) -> np.ndarray[Any, Any]:
    values = array.cast("double", safe=False).to_numpy(zero_copy_only=False)
    return np.array(values, np.float64)  # Arrow's own memory is read-only


def _from_integers(name: str, array: Any) -> np.ndarray[Any, Any]:
    import pyarrow.compute as pc

    bounds = pc.min_max(array)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    if low is not None and (low < -MOST_EXACT or high > MOST_EXACT):
        found = low if low < -MOST_EXACT else high
        raise DataError(
            f"Column {name!r} holds {found}; whole numbers are exact up to 2**53 only. If it is "
            "an identifier, leave it out or make it text; else make it a float column."
        )
    return _numbers(array)


def _from_text(name: str, array: Any) -> tuple[Feature, np.ndarray[Any, Any]]:
    coded = array.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts))
    rank[order] = np.arange(len(texts))
    return Feature(name, "nominal", tuple(texts[at] for at in order)), _decoded(coded, rank)


def _from_dictionary(name: str, array: Any) -> tuple[Feature, np.ndarray[Any, Any]]:
    # A category may itself be null, and two may read alike once they are text.
    texts = [None if value is None else str(value) for value in array.dictionary.to_pylist()]
    categories = tuple(dict.fromkeys(text for text in texts if text is not None))
    code = {text: float(at) for at, text in enumerate(categories)}
    ranks = np.array([np.nan if text is None else code[text] for text in texts], np.float64)
    return Feature(name, "nominal", categories), _decoded(array, ranks)


def _decoded(coded: Any, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Look up each code's value; NaN where the code is null."""
    import pyarrow.compute as pc

    codes = pc.fill_null(coded.indices.cast("int64"), len(values)).to_numpy()
    return np.append(values, np.nan)[codes]


def _from_times(array: Any) -> np.ndarray[Any, Any]:
    import pyarrow as pa

    if pa.types.is_date(array.type):
        return _numbers(array.cast(pa.date32()).cast("int32")) * _DAY
    unit = array.type.unit
    if unit == "s":
        return _numbers(array.cast("int64")) * 1000.0
    parts = _PER_MILLISECOND[unit]
    ticks = array.cast("int64").fill_null(0).to_numpy()
    whole, rest = np.divmod(ticks, parts)  # a tick count itself may be no double
    times = whole + rest / parts
    times[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return times


def _to_times(feature: Feature, values: np.ndarray[Any, Any], missing: np.ndarray[Any, Any]) -> Any:
    import pyarrow as pa

    known = np.where(missing, 0.0, values)
    unit = "ms" if np.all(known == np.floor(known)) else "us"
    ticks = np.rint(known * _PER_MILLISECOND[unit])
    if not np.all(np.abs(ticks) < 2.0**63):
        row = int((~(np.abs(ticks) < 2.0**63)).argmax())
        raise DataError(
            f"Row {row} of the date feature {feature.name!r} holds {values[row]!r}, which is no "
            "time in milliseconds since 1970."
        )
    return pa.array(ticks.astype(np.int64), pa.timestamp(unit, tz="UTC"), mask=missing)
