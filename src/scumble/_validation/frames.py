"""Columns of pandas, polars and Arrow tables as numbers, or as codes of categories.

Columns are converted to Arrow arrays, which NumPy reads without a loop over rows. There are two
exceptions for pandas: sparse columns stay sparse, and categories may be any objects.

In all functions, ``where`` is the column as messages show it ("column 'age'"), and ``caller`` the
function or class that they name.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterTypeError
from scumble._validation.selection import MAX_CATEGORIES

#: All integers from minus this to plus this are exact as float64, which has 53 bits for them.
MAX_EXACT_INTEGER = 2**53
_TICKS_PER_MILLISECOND = {"ms": 1, "us": 1000, "ns": 1_000_000}
_MILLISECONDS_PER_DAY = 86_400_000


class EncodedColumn(NamedTuple):
    """A column as float64: numbers, or codes of categories (0 for the first category, 1, ...)."""

    # Numbers (dates as milliseconds since 1970) or codes; NaN where a value is missing.
    values: Array
    categories: tuple[Any, ...] | None = None  # the category of each code; None for numbers
    integer: bool = False  # whether the values are numbers and the type of the column is integer
    date: bool = False  # whether the values are dates
    # For a sparse column, the indices of the rows of ``values``, all others being 0; None if there
    # is a value for each row.
    rows: Array | None = None


class PandasCategorical(NamedTuple):
    """A pandas column with declared categories."""

    codes: Array  # -1 where a value is missing
    values: tuple[Any, ...]  # the category of each code


def is_frame(X: Any) -> bool:
    """Return whether ``X`` is a DataFrame or an Arrow table, which have named columns."""
    return hasattr(type(X), "columns")


def frame_columns(frame: Any, *, caller: str) -> tuple[tuple[str, ...], Callable[[int], Any]]:
    """Return the column names of a DataFrame or Arrow table, and a function that returns a column.

    The function takes the index of a column and returns it in a form that `read_column` reads.
    Raise ParameterTypeError for any other object.
    """
    if _is_pandas(frame):
        names, get_column = _pandas_columns(frame)
    else:
        names, get_column = _other_columns(frame, caller)
    return tuple(map(str, names)), get_column


def _is_pandas(frame: Any) -> bool:
    """Return whether a table is a pandas DataFrame, without importing pandas."""
    return hasattr(frame, "iloc") and type(frame).__module__.partition(".")[0] == "pandas"


def _pandas_columns(frame: Any) -> tuple[Any, Callable[[int], Any]]:
    """Return the names, and a function that returns a column, of a pandas DataFrame."""
    columns = [series for _, series in frame.items()]  # faster than selecting by position

    def get_column(index: int) -> Any:
        """Return a column as a pandas or NumPy array, or a `PandasCategorical`."""
        series = columns[index]
        if hasattr(series.dtype, "categories") and hasattr(series, "cat"):
            return PandasCategorical(
                series.cat.codes.to_numpy(), tuple(series.cat.categories.tolist())
            )
        if hasattr(series.dtype, "fill_value"):  # a sparse column
            return series.array
        if isinstance(series.dtype, np.dtype):
            return series.to_numpy()
        return series

    return frame.columns, get_column


def _other_columns(frame: Any, caller: str) -> tuple[Any, Callable[[int], Any]]:
    """Return the names, and a function that returns a column, of an Arrow or polars table."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pa.Table | pa.RecordBatch):
        return frame.schema.names, frame.column
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise not_a_table_error(frame, caller) from None

    def get_column(index: int) -> Any:
        """Return a column as an Arrow array."""
        series = table[:, index].alias("")
        if series.dtype == nw.Categorical:  # it has no declared categories, only those that occur
            series = series.cast(nw.String)
        return series.to_arrow()

    return table.columns, get_column


def not_a_table_error(frame: Any, caller: str) -> ParameterTypeError:
    """Return the error for an object that is not a table."""
    hint = " Collect the lazy frame first." if "Lazy" in type(frame).__name__ else ""
    return ParameterTypeError(
        f"{caller}: expected a DataFrame of pandas or polars or an Arrow table. "
        f"Got {type(frame).__name__} instead.{hint}"
    )


def is_sparse_column(column: Any) -> bool:
    """Return whether a column is a sparse array of pandas, of any type."""
    return hasattr(column, "sp_values")


def _is_sparse_numbers(column: Any) -> bool:
    """Return whether a column is a sparse array of numbers that omits zeros."""
    is_numbers = is_sparse_column(column) and column.sp_values.dtype.kind in "biuf"
    return is_numbers and column.fill_value == 0


def to_dense_column(column: Any) -> Any:
    """Return a sparse array of pandas as a dense one; other columns are returned as they are."""
    return np.asarray(column) if is_sparse_column(column) else column


def read_column(column: Any, subject: str, *, caller: str) -> EncodedColumn:
    """Return a column as numbers, or as codes with their categories.

    ``column`` is a column of `frame_columns` or a one-dimensional array; messages call it
    ``subject``, here and in the other functions of this module: "column 'age'". Text, categories
    and booleans become codes. Raise an error for other types, and for more than `MAX_CATEGORIES`
    categories.
    """
    if _is_sparse_numbers(column):
        nonzero = _encode_numeric_array(column.sp_values, subject, caller)
        return nonzero._replace(rows=column.sp_index.indices)
    column = to_dense_column(column)
    if isinstance(column, PandasCategorical):
        float_codes = np.append(np.arange(len(column.values), dtype=np.float64), np.nan)
        encoded = EncodedColumn(float_codes[column.codes], column.values)  # code -1 becomes NaN
    elif isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        encoded = _encode_numeric_array(column, subject, caller)
    else:
        encoded = _encode_arrow(to_arrow_array(column, subject, caller=caller), subject, caller)
    n_categories = len(encoded.categories or ())
    if n_categories > MAX_CATEGORIES:
        raise DataError(
            f"{caller}: {subject} of X holds {n_categories:,} different values. "
            f"Expected {MAX_CATEGORIES:,} at most: if it names the rows, leave it out."
        )
    return encoded


def _encode_numeric_array(values: Array, subject: str, caller: str) -> EncodedColumn:
    """Return an array of booleans as codes of False and True, or of numbers as float64."""
    if values.dtype == bool:
        return EncodedColumn(values.astype(np.float64), (False, True))
    if values.dtype.kind in "iu":
        check_exact_integers(values, subject, caller=caller)
    return EncodedColumn(values.astype(np.float64, copy=False), integer=values.dtype.kind in "iu")


def check_exact_integers(values: Array, subject: str, *, caller: str) -> None:
    """Raise DataError if float64 cannot represent an integer of the array exactly."""
    if values.dtype.itemsize < 8 or not values.size:
        return
    _check_exact_range(int(values.min()), int(values.max()), subject, caller)


def _check_exact_range(minimum: int, maximum: int, subject: str, caller: str) -> None:
    """Raise DataError if float64 cannot represent the minimum or maximum of a column exactly."""
    if minimum < -MAX_EXACT_INTEGER or maximum > MAX_EXACT_INTEGER:
        inexact = minimum if minimum < -MAX_EXACT_INTEGER else maximum
        raise DataError(
            f"{caller}: {subject} of X holds {inexact}; whole numbers are exact up to 2**53 only. "
            "If it is an identifier, leave it out or make it text; else make it a float column."
        )


def to_arrow_array(column: Any, subject: str, *, caller: str) -> Any:
    """Return a column of `frame_columns`, or a NumPy array, as one Arrow array.

    Raise an error if its values have several types that Arrow cannot combine.
    """
    import pyarrow as pa

    if isinstance(column, PandasCategorical):
        codes = pa.array(column.codes, mask=column.codes < 0)
        values = np.empty(len(column.values), object)
        values[:] = column.values
        return pa.DictionaryArray.from_arrays(codes, to_arrow_array(values, subject, caller=caller))
    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_dictionary(column.type):
            column = column.unify_dictionaries()
        if column.num_chunks == 0:
            return pa.array([], column.type)
        if column.num_chunks > 1:
            return column.combine_chunks()
        return column.chunk(0)
    if isinstance(column, pa.Array):
        return column
    if column.dtype.kind == "S":
        column = np.char.decode(column, "latin-1")  # Latin-1 decodes every byte
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise _mixed_types_error(column, error, subject, caller) from None


def _mixed_types_error(column: Any, error: Exception, subject: str, caller: str) -> Exception:
    """Return the error for an array of objects that Arrow cannot read because of ``error``."""
    error_class: type[Exception] = DataError
    try:
        np.asarray(column, np.float64)
    except TypeError as type_error:  # some cell is neither a number nor text
        error_class = ParameterTypeError
        error = type_error
    except ValueError:
        pass
    return error_class(
        f"{caller}: {subject} of type {column.dtype} cannot be read ({error}). Expected values of "
        "one type: convert the column, or leave it out."
    )


def _encode_arrow(array: Any, subject: str, caller: str) -> EncodedColumn:
    """Return an Arrow array as numbers, or as codes with categories, depending on its type.

    Raise DataError for a type that features cannot have.
    """
    from pyarrow import types

    dtype = array.type
    if types.is_dictionary(dtype) and not types.is_nested(dtype.value_type):
        return _encode_dictionary(array)
    if is_string_type(dtype):
        return _encode_strings(array)
    if types.is_boolean(dtype):
        return EncodedColumn(_to_float64(array.cast("uint8")), (False, True))
    if types.is_integer(dtype):
        return _encode_integers(array, subject, caller)
    if types.is_floating(dtype) or types.is_decimal(dtype) or types.is_null(dtype):
        return EncodedColumn(_to_float64(array))
    if types.is_timestamp(dtype) or types.is_date(dtype):
        return EncodedColumn(_to_milliseconds(array), date=True)
    raise unsupported_type_error(dtype, subject, caller)


def unsupported_type_error(dtype: Any, subject: str, caller: str) -> DataError:
    """Return the error for a column of a type that features cannot have."""
    return DataError(
        f"{caller}: {subject} of X holds values of type {dtype}. Expected numbers, truth values, "
        "text or categories: convert the column, or leave it out."
    )


def is_string_type(dtype: Any) -> bool:
    """Return whether an Arrow type is one of the string types."""
    from pyarrow import types

    return bool(
        types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype)
    )


def _to_float64(array: Any) -> Array:
    """Return an Arrow array as floats, with NaN where it is null."""
    values = array.cast("double", safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(values, np.float64)


def _encode_integers(array: Any, subject: str, caller: str) -> EncodedColumn:
    """Return an Arrow array of integers as float64; raise DataError if one is not exact."""
    import pyarrow.compute as pc

    min_max = pc.min_max(array)
    if min_max["min"].is_valid:  # else all values are missing
        _check_exact_range(min_max["min"].as_py(), min_max["max"].as_py(), subject, caller)
    return EncodedColumn(_to_float64(array), integer=True)


def _encode_strings(array: Any) -> EncodedColumn:
    """Return an Arrow array of strings as codes of its distinct strings in sorted order."""
    coded = array.dictionary_encode()
    rank, categories = rank_strings(coded.dictionary.to_pylist())
    return EncodedColumn(_take_by_index(coded, rank), categories)


def rank_strings(texts: list[str]) -> tuple[Array, tuple[str, ...]]:
    """Return the rank of each string, as floats from 0, and the strings in sorted order."""
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts))
    rank[order] = np.arange(len(texts))
    return rank, tuple(texts[index] for index in order)


def _encode_dictionary(array: Any) -> EncodedColumn:
    """Return an Arrow dictionary array as codes of the categories in its dictionary."""
    values = array.dictionary.to_pylist()  # one of them may itself be null
    is_valid = [value is not None for value in values]
    codes = np.where(is_valid, np.cumsum(is_valid) - 1.0, np.nan)
    categories = tuple(value for value in values if value is not None)
    return EncodedColumn(_take_by_index(array, codes), categories)


def _take_by_index(coded: Any, values: Array) -> Array:
    """Return ``values[index]`` for each index of an Arrow dictionary array; NaN for null."""
    import pyarrow.compute as pc

    indices = pc.fill_null(coded.indices.cast("int64"), len(values)).to_numpy()
    return np.append(values, np.nan)[indices]


def _to_milliseconds(array: Any) -> Array:
    """Return an Arrow array of dates or timestamps as milliseconds since 1970; NaN for null."""
    import pyarrow as pa

    if pa.types.is_date(array.type):
        return _to_float64(array.cast(pa.date32()).cast("int32")) * _MILLISECONDS_PER_DAY
    unit = array.type.unit
    if unit == "s":
        return _to_float64(array.cast("int64")) * 1000.0
    ticks_per_millisecond = _TICKS_PER_MILLISECOND[unit]
    ticks = array.cast("int64").fill_null(0).to_numpy()
    # The number of ticks itself may not be exact as float64.
    milliseconds, remaining_ticks = np.divmod(ticks, ticks_per_millisecond)
    times = milliseconds + remaining_ticks / ticks_per_millisecond
    times[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return times
