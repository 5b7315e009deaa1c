"""The columns of a table, sorted once for all trees that will be grown on them."""

import itertools
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError
from scumble._core.parallel import run_in_threads, thread_count
from scumble.learn.c45 import prepare
from scumble.learn.c45.grow import tabulate_x_ln_x

_MOST_CODES = 0xFFFFFFE  # what fits into the bits of an entry


class SortedColumns(NamedTuple):
    """Columns as sorted lists of entries, see `prepare`."""

    entries: np.ndarray
    values: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    defaults: np.ndarray
    n_values: np.ndarray
    n_codes: np.ndarray


class Items(NamedTuple):
    """Nominal columns by row: an item is a column with a value other than its default."""

    indptr: np.ndarray
    indices: np.ndarray
    first: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    codes: np.ndarray


class RowArrays(NamedTuple):
    """Rows as they came: a dense table or CSR, then extra 0/1 columns as CSR."""

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
    """Columns prepared for growing trees; made by `prepare_table`, shared by all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.learn.c45 import prepare_table
    >>> table = prepare_table(np.array([[1.0, 0.0], [np.nan, 1.0]]), np.array([0, 2]))
    >>> table.n_rows, table.n_features, table.has_missing
    (2, 2, True)
    """

    columns: SortedColumns
    rows: RowArrays
    n_rows: int
    n_features: int
    n_extra: int

    def active_columns(self, extra: Array | None = None, own: Array | None = None) -> Array:
        """List the columns a tree may use: all features, or some, and some extra columns."""
        active = np.arange(self.n_features) if own is None else np.asarray(own, np.int64)
        if extra is None:
            return active
        return np.concatenate([active, self.n_features + np.sort(np.asarray(extra, np.int64))])

    @cached_property
    def has_missing(self) -> bool:
        """Whether any feature has a missing value; extra columns never have."""
        begins, ends = self.columns.begins, self.columns.ends
        last = self.columns.entries[np.maximum(ends - 1, 0)] >> np.uint64(36)
        return bool(((ends > begins) & (last == 0xFFFFFFE)).any())

    @cached_property
    def all_rows(self) -> Array:
        """The numbers of all rows."""
        return np.arange(self.n_rows, dtype=np.uint32)

    @cached_property
    def _x_ln_x(self) -> Array:
        return tabulate_x_ln_x(self.n_rows + 2)

    def x_ln_x(self, size: int) -> Array:
        """Tabulate x ln x for whole numbers below ``size``, or more of them."""
        return self._x_ln_x if size <= len(self._x_ln_x) else tabulate_x_ln_x(size)

    @cached_property
    def items(self) -> Items:
        """The nominal columns by row."""
        columns, sizes = self.columns, np.zeros(self.n_rows, np.int64)
        first = np.zeros(self.n_features + self.n_extra + 1, np.int64)
        most = int(np.minimum(columns.n_values, columns.ends - columns.begins).sum())
        found = np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int32)
        n_items = prepare.list_items(columns, first, found, sizes)
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        indices = np.empty(indptr[-1], np.uint32)
        items = Items(indptr, indices, first, *(part[:n_items] for part in found))
        prepare.group_items_by_row(columns.entries, items, indptr[:-1].copy())
        return items


def prepare_table(
    X: Any, n_values: Array, *, extra: Any = None, n_jobs: int | None = None
) -> PreparedTable:
    """Sort the columns of ``X`` once.

    Parameters
    ----------
    X : float ndarray or csr_array of shape (n_samples, n_features)
        NaN is missing. A CSR matrix must have sorted indices and no duplicates.
    n_values : array of int
        For each column 0 if it is numeric, else its number of declared values.
    extra : csr_array of bool, optional
        0/1 columns that single targets may use beside those of ``X``.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    PreparedTable
        Holds ``X`` itself beside the sorted columns.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.learn.c45 import prepare_table
    >>> prepare_table(np.array([[3.0], [1.0], [2.0]]), np.array([0])).n_rows
    3
    """
    n, m = X.shape
    if max(n, int(np.max(n_values, initial=0))) >= _MOST_CODES:
        raise DataError(
            f"C4.5 takes tables of fewer than {_MOST_CODES} rows, and as many values a column. "
            f"Got {n} rows and up to {np.max(n_values, initial=0)} values: take a sample."
        )
    rows, n_extra = as_row_arrays(X, extra), 0 if extra is None else extra.shape[1]
    tables = [X.tocsc() if sparse.issparse(X) else rows.dense]
    tables += [] if extra is None else [extra.tocsc()]
    codes = np.concatenate([n_values, np.full(n_extra, 2)]).astype(np.int64)
    sizes = map(_list_sizes, tables, np.split(codes, [m]))
    starts = np.concatenate([[0], np.cumsum(np.concatenate([*sizes]))]).astype(np.int64)
    size = max(starts[-1], 1)
    begins, ends, defaults, n_codes = np.zeros((4, m + n_extra), np.int64)
    lists = np.empty(size, np.uint64), np.empty(size, np.float64)
    columns = SortedColumns(*lists, begins, ends, defaults, codes, n_codes)
    for table, shift in zip(tables, (0, m), strict=False):
        n_blocks = 1 if table.size < 20_000 else 4 * thread_count(n_jobs)  # worth a second thread
        run_in_threads(
            _sorter(table, columns, shift, starts),
            even_ranges(table.shape[1], n_blocks),
            n_jobs=n_jobs,
        )
    return PreparedTable(columns, rows, n, m, n_extra)


def _list_sizes(table: Any, n_values: Array) -> Array:
    """Bound the entries of each column: its stored cells and the value zero, or all cells."""
    n = table.shape[0]
    if not sparse.issparse(table):
        return np.full(table.shape[1], n)
    stored = np.diff(table.indptr).astype(np.int64)
    return np.where((n_values > 0) & (2 * stored > n), n, stored + 1)


def _sorter(table: Any, columns: SortedColumns, shift: int, starts: Array) -> Any:
    """Return what sorts a range of the columns of a dense or CSC table."""
    if not sparse.issparse(table):
        return partial(prepare.sort_dense, table, columns)
    parts = map(as_readonly_array, (table.indptr, table.indices), (np.int64, np.int32))
    matrix = table.shape[0], *parts, as_readonly_array(table.data, np.float64)
    return partial(prepare.sort_sparse, matrix, columns, shift, starts)


def even_ranges(n: int, n_wanted: int) -> list[tuple[int, int]]:
    """Cut 0..n into so many ranges of about equal length, none of them empty."""
    edges = np.linspace(0, n, min(n, n_wanted) + 1).astype(int).tolist()
    return list(itertools.pairwise(edges))


def as_row_arrays(X: Any, extra: Any = None) -> RowArrays:
    """Hand rows, and extra 0/1 columns, to kernels without copying them."""
    is_sparse = sparse.issparse(X)
    return RowArrays(
        not is_sparse,
        as_readonly_array(np.empty((0, 0)) if is_sparse else X, np.float64),
        as_readonly_array(X.indptr if is_sparse else [0], np.int64),
        as_readonly_array(X.indices if is_sparse else [], np.int32),
        as_readonly_array(X.data if is_sparse else [], np.float64),
        X.shape[1],
        as_readonly_array([0] if extra is None else extra.indptr, np.int64),
        as_readonly_array([] if extra is None else extra.indices, np.int32),
    )


def as_readonly_array(array: Any, dtype: Any) -> Array:
    """Give kernels the one type they are compiled for, whatever the caller's array is like."""
    view = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view
