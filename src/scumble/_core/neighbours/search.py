"""The neighbour search: algorithms for dense and sparse rows, and the choice between them."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, take_by_code
from scumble._core.neighbours import kernels
from scumble._core.neighbours.space import Space
from scumble._core.parallel import row_slices, run_in_threads, single_threaded_blas
from scumble._core.parameters import check_choice, check_count

#: Elements of a block of products: 2 MB per thread, so that it fits in the cache.
BLOCK_ELEMENTS = 1 << 18
#: Differences of values up to which all distances are computed exactly: products would not pay.
DIRECT_BELOW = 1 << 24
#: Trees are faster than products up to this number of columns, and from `TREE_MIN_ROWS` rows on.
TREE_MAX_COLUMNS = 8
TREE_MIN_ROWS = 4096
#: Differences of values in a block of queries, the unit of work of a thread.
BLOCK_STEPS = 1 << 20


class Neighbours(NamedTuple):
    """The nearest rows of each query."""

    rows: Array  # int64, shape (n_queries, n_found): nearest first; ties in row order
    distances: Array  # float64, of the same shape


class _SearchTask(NamedTuple):
    """A search for neighbours among the rows of a matrix."""

    queries: Any
    base: Any  # the rows that are searched
    query_rows: Array  # index of each query in the base, or -1
    column_types: Array
    zeros: Array  # value of an absent element of a sparse row, by column
    n_neighbors: int
    uses_weka_heap: bool
    n_jobs: int | None
    n_total: int = 0  # number of columns that partial distances are scaled up to, if there are any

    @property
    def has_missing_values(self) -> bool:
        """Whether a column has missing values."""
        return bool((self.column_types >= kernels.WEKA_SQUARE).any())

    def metric(self, error: float = 0.0) -> kernels.DistanceMetric:
        """Return the metric for kernels; ``error`` bounds that of approximate distances."""
        return kernels.DistanceMetric(self.column_types, self.zeros, error, self.n_total)

    def buffers(
        self, metric: kernels.DistanceMetric, rows: Array, squared: Array
    ) -> kernels.SearchBuffers:
        """Return what kernels need to write nearest rows and squared distances."""
        return kernels.SearchBuffers(metric, self.query_rows, self.uses_weka_heap, rows, squared)


def nearest_neighbours(
    space: Space,
    n_neighbors: int,
    *,
    rows: Array | None = None,
    candidate_rows: Array | None = None,
    queries: Space | None = None,
    table: Array | None = None,
    ties: str = "row",
    n_jobs: int | None = None,
) -> Neighbours:
    """Find the nearest rows of a space.

    The queries are the rows of ``queries``, else ``rows`` of the space, by default all; a row is
    not its own neighbour. Neighbours are searched among ``candidate_rows``, by default all rows.
    ``table`` holds a number for each category of each nominal column, one column after another:
    two categories then differ by the difference of their numbers. With ``ties="weka"``, WEKA's
    heap chooses among rows at equal distances, instead of row order.
    """
    # Few numeric columns are searched with scikit-learn's KD tree, other dense data with blocks of
    # matrix products, sparse data with an index of the rows by column. All of these only yield
    # candidates: rows that may be among the nearest, given a rigorous bound of the rounding errors,
    # are compared exactly, column by column, and ranked by that number. So all algorithms agree to
    # the last bit, and neither blocks nor threads can change a neighbour. Memory grows with the
    # number of rows, never with its square.
    #
    # WEKA keeps the n nearest rows so far in a binary heap with the farthest row on top. A nearer
    # row replaces the top; which of several farthest rows is on top depends on all rows that have
    # been in the heap. So all rows are offered to such a heap here as well, but the exact distance
    # is computed only if the bound cannot exclude that the row enters.
    #
    # Missing values are searched once, so that data without them costs nothing more. Dense rows
    # with missing values are always compared exactly.
    check_count(n_neighbors, name="n_neighbors", caller="nearest")
    check_choice(ties, ("row", "weka"), name="ties", caller="nearest")
    base, query_values, query_rows = _select_matrices(space, rows, candidate_rows, queries)
    column_types = _column_types(space)
    zeros = space.zeros
    if table is not None and not space.is_numeric:
        is_nominal = space.n_values > 0
        column_types[is_nominal] = kernels.ABSOLUTE
        zeros[is_nominal] = table[_table_starts(space.n_values)[is_nominal]]
        is_base = query_values is base
        base = _replace_codes(base, space.n_values, table)
        query_values = base if is_base else _replace_codes(query_values, space.n_values, table)
    n_total = _mark_missing(column_types, space, base, query_values)
    n_others = base.shape[0] - int((query_rows >= 0).any())
    task = _SearchTask(
        queries=query_values,
        base=base,
        query_rows=query_rows,
        column_types=column_types,
        zeros=zeros,
        n_neighbors=max(0, min(n_neighbors, n_others)),
        uses_weka_heap=ties == "weka",
        n_jobs=n_jobs,
        n_total=n_total,
    )
    nearest = np.empty((len(query_rows), task.n_neighbors), np.int64)
    squared = np.empty(nearest.shape)
    if nearest.size:
        search = _choose_algorithm(task, space, table)
        search(task, space, nearest, squared)
    if candidate_rows is not None:
        nearest = np.asarray(candidate_rows)[nearest]
    return Neighbours(nearest, np.sqrt(squared))


def distances(space: Space, other: Space, rows: Array) -> Array:
    """Return the distance of each row of ``other`` from row ``rows[i]`` of ``space``."""
    column_types = _column_types(space)
    n_total = _mark_missing(column_types, space, space.values, other.values)
    metric = kernels.DistanceMetric(column_types, space.zeros, n_total=n_total)
    squared = np.empty(len(rows))
    kernels.paired_squared_distances(
        kernels.Points(other.values),
        kernels.Points(space.values),
        np.ascontiguousarray(rows, np.int64),
        metric,
        squared,
    )
    return np.sqrt(squared)


def _select_matrices(
    space: Space, rows: Array | None, candidate_rows: Array | None, queries: Space | None
) -> tuple[Any, Any, Array]:
    """Return the searched rows, the queries, and the index of each query among the former."""
    base = space.values if candidate_rows is None else space.values[candidate_rows]
    if queries is not None:
        return base, queries.values, np.full(len(queries), -1)
    all_rows = np.arange(len(space))
    rows = all_rows if rows is None else np.asarray(rows)
    searched_rows = all_rows if candidate_rows is None else candidate_rows
    index_in_base = np.full(len(space), -1)
    index_in_base[searched_rows] = np.arange(len(searched_rows))
    query_values = base if np.array_equal(rows, searched_rows) else space.values[rows]
    return base, query_values, index_in_base[rows]


def _column_types(space: Space) -> Array:
    """Return the difference type of each column if no value is missing."""
    return np.where(space.n_values > 0, kernels.MISMATCH, kernels.SQUARE).astype(np.int8)


def _mark_missing(column_types: Array, space: Space, base: Any, queries: Any) -> int:
    """Set the types of columns with missing values in place.

    Return the number of columns that partial distances are scaled up to, 0 without any.
    """
    has_missing = _has_missing(base)
    if queries is not base:
        has_missing |= _has_missing(queries)
    if space.is_like_weka:
        column_types[has_missing & (column_types == kernels.SQUARE)] = kernels.WEKA_SQUARE
        column_types[has_missing & (column_types == kernels.MISMATCH)] = kernels.WEKA_MISMATCH
        return 0
    # The partial types are in the same order as the first three.
    column_types[has_missing] += kernels.PARTIAL_SQUARE
    # If no column is known, all distances are infinite, whatever they are scaled up to.
    return max(space.n_known_columns, 1) if has_missing.any() else 0


def _has_missing(values: Any) -> Array:
    """Return for each column whether it has missing values."""
    stored = values.data if sparse.issparse(values) else values
    has_missing = np.zeros(values.shape[1], bool)
    if np.isnan(stored.sum()):  # faster than np.isnan(stored).any(), and mostly False
        if sparse.issparse(values):
            has_missing[values.indices[np.isnan(stored)]] = True
        else:
            has_missing = np.isnan(values).any(axis=0)
    return has_missing


def _table_starts(n_values: Array) -> Array:
    """Return the index of the first number of each column in a table of categories."""
    return np.cumsum(n_values) - n_values


def _replace_codes(values: Any, n_values: Array, table: Array) -> Any:
    """Return rows in which the numbers of a table replace the codes of nominal columns."""
    starts = _table_starts(n_values)
    if sparse.issparse(values):
        is_nominal = n_values[values.indices] > 0
        data = values.data.copy()
        indices_in_table = starts[values.indices[is_nominal]] + data[is_nominal]
        data[is_nominal] = take_by_code(table, indices_in_table)
        return sparse.csr_array((data, values.indices, values.indptr), shape=values.shape)
    nominal = np.flatnonzero(n_values)
    replaced = values.copy()
    replaced[:, nominal] = take_by_code(table, starts[nominal] + values[:, nominal])
    return replaced


def _choose_algorithm(task: _SearchTask, space: Space, table: Array | None) -> Any:
    """Return the function that searches, chosen by the shape of the data alone."""
    if sparse.issparse(task.base):
        return _search_sparse
    n_rows, n_columns = task.base.shape
    if task.has_missing_values or task.queries.shape[0] * n_rows * n_columns <= DIRECT_BELOW:
        return _search_directly
    if space.is_numeric and n_columns <= TREE_MAX_COLUMNS and n_rows >= TREE_MIN_ROWS:
        if task.uses_weka_heap:
            return _search_with_tree_and_heap
        return _search_with_tree
    # Products need a column for each category of nominal columns with more than two.
    has_many_values = space.n_values > 2
    is_too_wide = space.n_values[has_many_values].sum() > 4 * n_columns
    if is_too_wide or (table is not None and has_many_values.any()):
        return _search_directly
    return _search_with_products


def _search_directly(task: _SearchTask, space: Space, rows: Array, squared: Array) -> None:
    """Write neighbours and squared distances, from the exact distances of all pairs."""
    columns = np.ascontiguousarray(task.base.T)
    queries = kernels.Points(task.queries)
    buffers = task.buffers(task.metric(), rows, squared)

    def search(part: slice) -> None:
        kernels.search_directly(queries, columns, buffers, part.start, part.stop)

    cost = task.base.shape[0] * max(task.base.shape[1], 1)
    run_in_threads(search, row_slices(len(rows), cost, BLOCK_STEPS), n_jobs=task.n_jobs)


def _search_with_products(task: _SearchTask, space: Space, rows: Array, squared: Array) -> None:
    """Write neighbours and squared distances of dense rows, with blocks of matrix products."""
    base_vectors = _embed(task.base, task, space)
    query_vectors = base_vectors
    if task.queries is not task.base:
        query_vectors = _embed(task.queries, task, space)
    base = kernels.Points(task.base, _squared_norms(base_vectors))
    queries = kernels.Points(task.queries, _squared_norms(query_vectors))
    metric = task.metric(_error_bound(base_vectors.shape[1], task.column_types))
    buffers = task.buffers(metric, rows, squared)
    size = max(1, min(len(rows), BLOCK_ELEMENTS // base_vectors.shape[0]))

    def search(first_query: int) -> None:
        products = query_vectors[first_query : first_query + size] @ base_vectors.T
        kernels.search_products(products, first_query, queries, base, buffers)

    # Threads of BLAS inside our threads would only wait for each other.
    with single_threaded_blas():
        run_in_threads(search, range(0, len(rows), size), n_jobs=task.n_jobs)


def _squared_norms(vectors: Array) -> Array:
    """Return the squared Euclidean norm of each row."""
    return np.einsum("ij,ij->i", vectors, vectors)


def _embed(values: Array, task: _SearchTask, space: Space) -> Array:
    """Return vectors whose squared Euclidean distances are those of the rows, up to rounding."""
    n_values = space.n_values
    is_single = n_values <= 2  # columns that become a single column of the vectors
    column_types, zeros = task.column_types[is_single], task.zeros[is_single]
    vectors = values[:, is_single].copy()
    is_square = column_types == kernels.SQUARE
    # Centred, because smaller norms have smaller rounding errors.
    vectors[:, is_square] -= task.base[:, is_single][:, is_square].mean(axis=0)
    is_absolute = column_types == kernels.ABSOLUTE
    if is_absolute.any():
        # Such a column has two values: if they differ by d, they become 0 and sqrt(d).
        differences = np.abs(vectors[:, is_absolute] - zeros[is_absolute])
        vectors[:, is_absolute] = np.sqrt(differences)
    columns = np.flatnonzero(n_values > 2)
    if not len(columns):
        return vectors
    one_hot = [values[:, [column]] == np.arange(n_values[column]) for column in columns]
    return np.hstack([vectors, np.hstack(one_hot) * np.sqrt(0.5)])


def _error_bound(n_terms: int, column_types: Array) -> float:
    """Return a bound of the rounding errors relative to the norms; 0 if all terms are integers."""
    integer_types = (kernels.MISMATCH, kernels.WEKA_MISMATCH, kernels.PARTIAL_MISMATCH)
    if np.isin(column_types, integer_types).all():
        return 0.0
    return (4 * n_terms + 32) * float(np.finfo(float).eps)


def _search_sparse(task: _SearchTask, space: Space, rows: Array, squared: Array) -> None:
    """Write neighbours and squared distances of sparse rows, with an index by column."""
    base, queries = task.base, task.queries
    base_by_column = base.tocsc()
    max_row_length = max(int(np.diff(part.indptr).max(initial=0)) for part in (base, queries))
    metric = task.metric(_error_bound(2 * max_row_length, task.column_types))
    base_points = _with_norms(base, task)
    query_points = base_points if queries is base else _with_norms(queries, task)
    columns = kernels.Points(base_by_column)
    buffers = task.buffers(metric, rows, squared)

    def search(part: slice) -> None:
        kernels.search_sparse(query_points, base_points, columns, buffers, part.start, part.stop)

    n_stored_by_column = np.diff(base_by_column.indptr).astype(np.int64)
    cost = 4 * base.shape[0] + int(n_stored_by_column @ n_stored_by_column) // base.shape[0]
    run_in_threads(search, row_slices(len(rows), cost, BLOCK_STEPS), n_jobs=task.n_jobs)


def _with_norms(values: sparse.csr_array, task: _SearchTask) -> kernels.Points:
    """Return sparse rows with their squared distances from the row of zeros."""
    norms = np.empty(values.shape[0])
    n_missing_before = np.concatenate([[0.0], np.cumsum(np.isnan(values.data))])
    n_missing = np.diff(n_missing_before[values.indptr])
    points = kernels.Points(values, norms, n_missing)
    metric = kernels.DistanceMetric(task.column_types, task.zeros)
    kernels.paired_squared_distances(points, None, np.zeros(len(norms), np.int64), metric, norms)
    return points


def _search_with_tree(task: _SearchTask, space: Space, rows: Array, squared: Array) -> None:
    """Write neighbours and squared distances of rows with few columns, with a KD tree."""
    from sklearn.neighbors import KDTree

    tree = KDTree(task.base, leaf_size=40)
    n_candidates = min(task.n_neighbors + 4, task.base.shape[0])
    base = kernels.Points(task.base)
    metric = task.metric()

    def search(part: slice) -> None:
        queries = task.queries[part]
        tree_distances, tree_rows = tree.query(queries, k=n_candidates)
        # The query itself and its neighbours are within this radius, whatever the rounding.
        radius = tree_distances[:, min(task.n_neighbors, n_candidates - 1)] * (1 + 1e-9) + 1e-300
        is_complete = (tree_distances[:, -1] > radius) | (n_candidates == task.base.shape[0])
        candidates = list(tree_rows)
        if not is_complete.all():
            rows_in_radius = tree.query_radius(queries[~is_complete], radius[~is_complete])
            for query, row_indices in zip(
                np.flatnonzero(~is_complete), rows_in_radius, strict=True
            ):
                candidates[query] = row_indices
        sizes = [len(row_indices) for row_indices in candidates]
        buffers = kernels.SearchBuffers(
            metric, task.query_rows[part], False, rows[part], squared[part]
        )
        kernels.rank_candidates(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate(candidates),
            kernels.Points(queries),
            base,
            buffers,
        )

    run_in_threads(search, row_slices(len(rows), 1 << 12, BLOCK_STEPS), n_jobs=task.n_jobs)


def _search_with_tree_and_heap(
    task: _SearchTask, space: Space, rows: Array, squared: Array
) -> None:
    """Write neighbours and squared distances as WEKA's heap chooses them, with a KD tree.

    The tree finds one neighbour more; only queries for which it ties with the last one need a heap.
    """
    n_others = task.base.shape[0] - int((task.query_rows >= 0).any())
    with_next = task._replace(n_neighbors=min(task.n_neighbors + 1, n_others), uses_weka_heap=False)
    tree_rows = np.empty((len(rows), with_next.n_neighbors), np.int64)
    tree_squared = np.empty(tree_rows.shape)
    _search_with_tree(with_next, space, tree_rows, tree_squared)
    rows[:] = tree_rows[:, : task.n_neighbors]
    squared[:] = tree_squared[:, : task.n_neighbors]
    tied = np.flatnonzero(tree_squared[:, -1] == tree_squared[:, task.n_neighbors - 1])
    if with_next.n_neighbors == task.n_neighbors or not len(tied):
        return
    tied_task = task._replace(queries=task.queries[tied], query_rows=task.query_rows[tied])
    tied_rows, tied_squared = rows[tied], squared[tied]
    _search_directly(tied_task, space, tied_rows, tied_squared)
    rows[tied] = tied_rows
    squared[tied] = tied_squared
