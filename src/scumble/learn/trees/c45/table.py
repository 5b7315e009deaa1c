"""Tables whose columns are sorted once, for all trees that are grown on them."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError
from scumble._core.parallel import run_in_threads, thread_count
from scumble.learn.trees.c45 import prepare
from scumble.learn.trees.c45.grow import tabulate_x_ln_x

#: Rows and codes must be below this: the largest 28-bit numbers have a special meaning as the code
#: of an entry, see layout.pxd.
_MAX_CODES = 0xFFFFFFE
#: Tables with fewer cells than this are sorted in one thread; a second one would not be faster.
_MIN_CELLS_FOR_THREADS = 20_000


class SortedColumns(NamedTuple):
    """Columns as sorted lists of entries, see layout.pxd.

    The entries of column c are ``entries[starts[c]:stops[c]]``. Rows without an entry have the
    default value of the column.
    """

    entries: np.ndarray  # uint64
    values: np.ndarray  # the value of code k of a numeric column c is values[starts[c] + k]
    starts: np.ndarray  # int64, by column
    stops: np.ndarray  # int64, by column
    defaults: np.ndarray  # int64, by column: the code of the default value
    n_values: np.ndarray  # int64, by column: number of nominal values; 0 where it is numeric
    n_codes: np.ndarray  # int64, by column: number of different values


class Items(NamedTuple):
    """Nominal columns by row.

    An item is a nominal column together with one of its values, except for the default value.
    Row i has the items ``indices[indptr[i]:indptr[i + 1]]``; column c has the items from
    ``column_indptr[c]`` to ``column_indptr[c + 1]``.
    """

    indptr: np.ndarray  # int64, by row
    indices: np.ndarray  # uint32
    column_indptr: np.ndarray  # int64, by column
    starts: np.ndarray  # int64, by item: position of its first entry in the sorted columns
    stops: np.ndarray  # int64, by item: position after its last entry
    codes: np.ndarray  # int32, by item: code of the value


class RowArrays(NamedTuple):
    """Rows in their original order: a dense table or CSR, and extra 0/1 columns as CSR."""

    is_dense: bool
    dense: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    n_features: int
    extra_indptr: np.ndarray
    extra_indices: np.ndarray


@dataclass(frozen=True)
class PreparedTable:
    """A table prepared for growing trees by `prepare_table`; all trees share it.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.learn.trees.c45 import prepare_table
    >>> table = prepare_table(np.array([[1.0, 0.0], [np.nan, 1.0]]), np.array([0, 2]))
    >>> table.n_rows, table.n_features, table.has_missing
    (2, 2, True)
    """

    columns: SortedColumns
    rows: RowArrays
    n_rows: int
    n_features: int
    n_extra: int

    def active_columns(self, extra: Array | None = None, features: Array | None = None) -> Array:
        """Return the columns that a tree may use: features (default: all) and extra columns."""
        if features is None:
            active = np.arange(self.n_features)
        else:
            active = np.asarray(features, np.int64)
        if extra is None:
            return active
        return np.concatenate([active, self.n_features + np.sort(np.asarray(extra, np.int64))])

    @cached_property
    def has_missing(self) -> bool:
        """Whether any feature has a missing value; extra columns have none."""
        starts = self.columns.starts
        stops = self.columns.stops
        # Missing values are sorted last, so the last entry of a column is sufficient.
        last_codes = self.columns.entries[np.maximum(stops - 1, 0)] >> np.uint64(36)
        return bool(((stops > starts) & (last_codes == 0xFFFFFFE)).any())

    @cached_property
    def all_rows(self) -> Array:
        """The indices of all rows."""
        return np.arange(self.n_rows, dtype=np.uint32)

    @cached_property
    def _x_ln_x(self) -> Array:
        """The values of x ln x for 0, 1, ..., n_rows + 1."""
        return tabulate_x_ln_x(self.n_rows + 2)

    def x_ln_x(self, size: int) -> Array:
        """Return x ln x for 0, 1, ..., ``size`` - 1, and possibly for larger numbers."""
        if size <= len(self._x_ln_x):
            return self._x_ln_x
        return tabulate_x_ln_x(size)

    @cached_property
    def items(self) -> Items:
        """The nominal columns by row."""
        columns = self.columns
        max_items = int(np.minimum(columns.n_values, columns.stops - columns.starts).sum())
        column_indptr = np.zeros(self.n_features + self.n_extra + 1, np.int64)
        starts = np.zeros(max_items, np.int64)
        stops = np.zeros(max_items, np.int64)
        codes = np.zeros(max_items, np.int32)
        items_per_row = np.zeros(self.n_rows, np.int64)
        n_items = prepare.list_items(
            columns,
            column_indptr=column_indptr,
            starts=starts,
            stops=stops,
            codes=codes,
            items_per_row=items_per_row,
        )
        indptr = np.concatenate([[0], np.cumsum(items_per_row)])
        items = Items(
            indptr=indptr,
            indices=np.empty(indptr[-1], np.uint32),
            column_indptr=column_indptr,
            starts=starts[:n_items],
            stops=stops[:n_items],
            codes=codes[:n_items],
        )
        prepare.group_items_by_row(columns.entries, items, next_positions=indptr[:-1].copy())
        return items


def prepare_table(
    X: Any, n_values: Array, *, extra: Any = None, n_jobs: int | None = None
) -> PreparedTable:
    """Sort the columns of ``X`` once, for all trees that are grown on them.

    Parameters
    ----------
    X : float ndarray or csr_array of shape (n_samples, n_features)
        NaN is missing. A CSR matrix must have sorted indices and no duplicates.
    n_values : array of int
        For each column 0 if it is numeric, else its number of declared values.
    extra : csr_array of bool, optional
        Additional 0/1 columns, which a target can use together with the columns of ``X``.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    PreparedTable
        The sorted columns and ``X`` itself.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.learn.trees.c45 import prepare_table
    >>> prepare_table(np.array([[3.0], [1.0], [2.0]]), np.array([0])).n_rows
    3
    """
    n_rows, n_features = X.shape
    max_n_values = int(np.max(n_values, initial=0))
    if max(n_rows, max_n_values) >= _MAX_CODES:
        raise DataError(
            f"C4.5 takes tables of fewer than {_MAX_CODES} rows, and as many values a column. "
            f"Got {n_rows} rows and up to {max_n_values} values: take a sample."
        )
    n_extra = 0 if extra is None else extra.shape[1]
    rows = as_row_arrays(X, extra)
    all_n_values = np.concatenate([n_values, np.full(n_extra, 2)]).astype(np.int64)
    features = X.tocsc() if sparse.issparse(X) else rows.dense
    max_entries = [_max_entries(features, all_n_values[:n_features])]
    if extra is not None:
        extra = extra.tocsc()
        max_entries.append(_max_entries(extra, all_n_values[n_features:]))
    ends = np.cumsum(np.concatenate(max_entries)).astype(np.int64)
    storage_starts = np.concatenate([np.zeros(1, np.int64), ends])
    size = max(storage_starts[-1], 1)
    n_columns = n_features + n_extra
    columns = SortedColumns(
        entries=np.empty(size, np.uint64),
        values=np.empty(size, np.float64),
        starts=np.zeros(n_columns, np.int64),
        stops=np.zeros(n_columns, np.int64),
        defaults=np.zeros(n_columns, np.int64),
        n_values=all_n_values,
        n_codes=np.zeros(n_columns, np.int64),
    )
    _sort_columns(features, columns, 0, storage_starts, n_jobs)
    if extra is not None:
        _sort_columns(extra, columns, n_features, storage_starts, n_jobs)
    return PreparedTable(columns, rows, n_rows=n_rows, n_features=n_features, n_extra=n_extra)


def _max_entries(table: Any, n_values: Array) -> Array:
    """Return an upper bound of each column's number of entries.

    A column of a sparse table has an entry for each stored cell, and room for the value zero. If
    most cells of a nominal column are stored, zero may not be its most frequent value; then it
    has room for all rows.
    """
    n_rows = table.shape[0]
    if not sparse.issparse(table):
        return np.full(table.shape[1], n_rows)
    stored = np.diff(table.indptr).astype(np.int64)
    return np.where((n_values > 0) & (2 * stored > n_rows), n_rows, stored + 1)


def _sort_columns(
    table: Any, columns: SortedColumns, shift: int, storage_starts: Array, n_jobs: int | None
) -> None:
    """Sort all columns of a dense or CSC table; column c becomes column c + ``shift``."""
    sort_block: Callable[[Any], None]
    if sparse.issparse(table):
        sort_block = partial(
            prepare.sort_sparse,
            table.shape[0],
            as_readonly_array(table.indptr, np.int64),
            as_readonly_array(table.indices, np.int32),
            as_readonly_array(table.data, np.float64),
            columns,
            shift,
            storage_starts,
        )
    else:
        sort_block = partial(prepare.sort_dense, table, columns)
    n_blocks = 1 if table.size < _MIN_CELLS_FOR_THREADS else 4 * thread_count(n_jobs)
    run_in_threads(sort_block, even_ranges(table.shape[1], n_blocks), n_jobs=n_jobs)


def even_ranges(n: int, n_ranges: int) -> list[tuple[int, int]]:
    """Divide 0..n into at most ``n_ranges`` ranges of about equal length, none of them empty."""
    edges = np.linspace(0, n, min(n, n_ranges) + 1).astype(int).tolist()
    return list(itertools.pairwise(edges))


def as_row_arrays(X: Any, extra: Any = None) -> RowArrays:
    """Return the arrays of a table, and of extra 0/1 columns, for kernels; copy only if needed."""
    is_sparse = sparse.issparse(X)
    return RowArrays(
        is_dense=not is_sparse,
        dense=as_readonly_array(np.empty((0, 0)) if is_sparse else X, np.float64),
        indptr=as_readonly_array(X.indptr if is_sparse else [0], np.int64),
        indices=as_readonly_array(X.indices if is_sparse else [], np.int32),
        data=as_readonly_array(X.data if is_sparse else [], np.float64),
        n_features=X.shape[1],
        extra_indptr=as_readonly_array([0] if extra is None else extra.indptr, np.int64),
        extra_indices=as_readonly_array([] if extra is None else extra.indices, np.int32),
    )


def as_readonly_array(array: Any, dtype: Any) -> Array:
    """Return a contiguous read-only view of an array, or of a copy with the given dtype.

    Kernels are compiled for this one type of array.
    """
    view = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view
