"""Tables of pandas, polars and Arrow, column by column, as numbers or as codes of their values.

Columns travel as Arrow arrays, which numpy reads without a loop over rows. Two kinds of pandas
columns take a path of their own: sparse ones stay sparse, and categories may be any objects.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterTypeError
from scumble._core.selection import MAX_CATEGORIES

#: Beyond this not every whole number is a double.
MOST_EXACT = 2**53
_PER_MILLISECOND = {"ms": 1, "us": 1000, "ns": 1_000_000}
_DAY = 86_400_000


class EncodedColumn(NamedTuple):
    """A column that was read."""

    values: Array  # numbers (dates in milliseconds since 1970), or codes 0, 1, ...; NaN: missing
    categories: tuple[Any, ...] | None = None  # what codes stand for; None for numbers
    integer: bool = False  # whether the numbers are whole
    date: bool = False
    rows: Array | None = None  # those of the values, all others being 0; None: one for each


class PandasCategorical(NamedTuple):
    """A pandas column with declared categories: codes, -1 where missing, and their values."""

    codes: Array
    values: tuple[Any, ...]


def is_frame(X: Any) -> bool:
    """Tell tables with named columns from arrays and sparse matrices."""
    return hasattr(type(X), "columns")


def frame_columns(frame: Any, *, caller: str) -> tuple[tuple[str, ...], Callable[[int], Any]]:
    """Return the names of a table's columns, and what hands out one of them for `read_column`."""
    names, column = _pandas_columns(frame) if _is_pandas(frame) else _other_columns(frame, caller)
    return tuple(map(str, names)), column


def _is_pandas(frame: Any) -> bool:
    return hasattr(frame, "iloc") and type(frame).__module__.partition(".")[0] == "pandas"


def _pandas_columns(frame: Any) -> tuple[Any, Callable[[int], Any]]:
    columns = [series for _, series in frame.items()]  # faster than selecting by position

    def column(at: int) -> Any:
        series = columns[at]
        if hasattr(series.dtype, "categories") and hasattr(series, "cat"):
            return PandasCategorical(
                series.cat.codes.to_numpy(), tuple(series.cat.categories.tolist())
            )
        if hasattr(series.dtype, "fill_value"):  # only sparse columns have one
            return series.array
        return series.to_numpy() if isinstance(series.dtype, np.dtype) else series

    return frame.columns, column


def _other_columns(frame: Any, caller: str) -> tuple[Any, Callable[[int], Any]]:
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pa.Table | pa.RecordBatch):
        return frame.schema.names, frame.column
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise not_a_table_error(frame, caller) from None

    def column(at: int) -> Any:
        series = table[:, at].alias("")
        if series.dtype == nw.Categorical:  # declares nothing: its values are those that occur
            series = series.cast(nw.String)
        return series.to_arrow()

    return table.columns, column


def not_a_table_error(frame: Any, caller: str) -> ParameterTypeError:
    """Say that something is no table."""
    hint = " Collect the lazy frame first." if "Lazy" in type(frame).__name__ else ""
    return ParameterTypeError(
        f"{caller}: expected a DataFrame of pandas or polars or an Arrow table. "
        f"Got {type(frame).__name__} instead.{hint}"
    )


def is_sparse_column(column: Any) -> bool:
    """Tell a sparse column of pandas."""
    return hasattr(column, "sp_values")


def _is_sparse_numbers(column: Any) -> bool:
    """Tell a sparse column of numbers, most of which are 0."""
    is_numbers = is_sparse_column(column) and column.sp_values.dtype.kind in "biuf"
    return is_numbers and column.fill_value == 0


def to_dense_column(column: Any) -> Any:
    """Fill a sparse column of pandas; leave any other as it is."""
    return np.asarray(column) if is_sparse_column(column) else column


def read_column(column: Any, where: str, *, caller: str) -> EncodedColumn:
    """Read a column of a table, or of an array of objects or texts."""
    if _is_sparse_numbers(column):
        values = _numbers_of_array(column.sp_values, where, caller)
        return values._replace(rows=column.sp_index.indices)
    column = to_dense_column(column)
    if isinstance(column, PandasCategorical):
        known = np.append(np.arange(len(column.values), dtype=np.float64), np.nan)
        found = EncodedColumn(known[column.codes], column.values)
    elif isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        found = _numbers_of_array(column, where, caller)
    else:
        found = _from_arrow(to_arrow_array(column, where, caller=caller), where, caller)
    if len(found.categories or ()) > MAX_CATEGORIES:
        raise DataError(
            f"{caller}: {where} of X holds {len(found.categories or ()):,} different values. "
            f"Expected {MAX_CATEGORIES:,} at most: if it names the rows, leave it out."
        )
    return found


def _numbers_of_array(values: Array, where: str, caller: str) -> EncodedColumn:
    if values.dtype == bool:
        return EncodedColumn(values.astype(np.float64), (False, True))
    if values.dtype.kind in "iu":
        check_exact_integers(values, where, caller=caller)
    return EncodedColumn(values.astype(np.float64, copy=False), integer=values.dtype.kind in "iu")


def check_exact_integers(values: Array, where: str, *, caller: str) -> None:
    """Refuse whole numbers that are no doubles."""
    if values.dtype.itemsize < 8 or not values.size:
        return
    _refuse_inexact(int(values.min()), int(values.max()), where, caller)


def _refuse_inexact(low: int, high: int, where: str, caller: str) -> None:
    if low < -MOST_EXACT or high > MOST_EXACT:
        found = low if low < -MOST_EXACT else high
        raise DataError(
            f"{caller}: {where} of X holds {found}; whole numbers are exact up to 2**53 only. If "
            "it is an identifier, leave it out or make it text; else make it a float column."
        )


def to_arrow_array(column: Any, where: str, *, caller: str) -> Any:
    """Make one Arrow array of a column as `frame_columns` hands it out."""
    import pyarrow as pa

    if isinstance(column, PandasCategorical):
        codes = pa.array(column.codes, mask=column.codes < 0)
        values = np.empty(len(column.values), object)
        values[:] = column.values
        return pa.DictionaryArray.from_arrays(codes, to_arrow_array(values, where, caller=caller))
    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_dictionary(column.type):
            column = column.unify_dictionaries()
        if column.num_chunks == 0:
            return pa.array([], column.type)
        return column.combine_chunks() if column.num_chunks > 1 else column.chunk(0)
    if isinstance(column, pa.Array):
        return column
    if column.dtype.kind == "S":
        column = np.char.decode(column, "latin-1")  # every byte is a letter
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise _not_of_one_type(column, error, where, caller) from None


def _not_of_one_type(column: Any, error: Exception, where: str, caller: str) -> Exception:
    kind: type[Exception] = DataError
    try:
        np.asarray(column, np.float64)
    except TypeError as no_number:  # some cell is neither a number nor text
        kind, error = ParameterTypeError, no_number
    except ValueError:
        pass
    return kind(
        f"{caller}: {where} of type {column.dtype} cannot be read ({error}). Expected values of "
        "one type: convert the column, or leave it out."
    )


def _from_arrow(array: Any, where: str, caller: str) -> EncodedColumn:
    import pyarrow.types as kinds

    kind = array.type
    if kinds.is_dictionary(kind) and not kinds.is_nested(kind.value_type):
        return _from_dictionary(array)
    if is_string_type(kind):
        return _from_text(array)
    if kinds.is_boolean(kind):
        return EncodedColumn(_numbers(array.cast("uint8")), (False, True))
    if kinds.is_integer(kind):
        return _from_integers(array, where, caller)
    if kinds.is_floating(kind) or kinds.is_decimal(kind) or kinds.is_null(kind):
        return EncodedColumn(_numbers(array))
    if kinds.is_timestamp(kind) or kinds.is_date(kind):
        return EncodedColumn(_from_times(array), date=True)
    raise unsupported_type_error(kind, where, caller)


def unsupported_type_error(kind: Any, where: str, caller: str) -> DataError:
    """Say that a column holds what features cannot be."""
    return DataError(
        f"{caller}: {where} of X holds values of type {kind}. Expected numbers, truth values, "
        "text or categories: convert the column, or leave it out."
    )


def is_string_type(kind: Any) -> bool:
    """Tell whether an Arrow type is one of texts."""
    import pyarrow.types as kinds

    checks = (kinds.is_string, kinds.is_large_string, kinds.is_string_view)
    return any(check(kind) for check in checks)


def _numbers(array: Any) -> Array:
    values = array.cast("double", safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(values, np.float64)


def _from_integers(array: Any, where: str, caller: str) -> EncodedColumn:
    import pyarrow.compute as pc

    bounds = pc.min_max(array)
    if bounds["min"].is_valid:  # else all are missing
        _refuse_inexact(bounds["min"].as_py(), bounds["max"].as_py(), where, caller)
    return EncodedColumn(_numbers(array), integer=True)


def _from_text(array: Any) -> EncodedColumn:
    coded = array.dictionary_encode()
    rank, texts = rank_strings(coded.dictionary.to_pylist())
    return EncodedColumn(_decoded(coded, rank), texts)


def rank_strings(texts: list[str]) -> tuple[Array, tuple[str, ...]]:
    """Tell the place of each text among all in order, and list them so."""
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts))
    rank[order] = np.arange(len(texts))
    return rank, tuple(texts[at] for at in order)


def _from_dictionary(array: Any) -> EncodedColumn:
    values = array.dictionary.to_pylist()  # one of them may itself be null
    present = [value is not None for value in values]
    codes = np.where(present, np.cumsum(present) - 1.0, np.nan)
    return EncodedColumn(
        _decoded(array, codes), tuple(value for value in values if value is not None)
    )


def _decoded(coded: Any, values: Array) -> Array:
    """Look up each code's value; NaN where the code is null."""
    import pyarrow.compute as pc

    codes = pc.fill_null(coded.indices.cast("int64"), len(values)).to_numpy()
    return np.append(values, np.nan)[codes]


def _from_times(array: Any) -> Array:
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
