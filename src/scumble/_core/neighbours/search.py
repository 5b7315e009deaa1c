"""The neighbour search: algorithms for dense and sparse rows, and the choice between them."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, take_by_code
from scumble._core.neighbours import kernels
from scumble._core.neighbours.space import Space
from scumble._core.parallel import row_slices, run_in_threads, single_threaded_blas
from scumble._core.parameters import check_choice, check_count

#: Elements of a block of matrix products: 2 MB per thread, so that it fits in the cache.
BLOCK_ELEMENTS = 1 << 18
#: Differences of values (queries x searched rows x columns) up to which brute force is used: the
#: other algorithms would take longer to prepare.
MAX_BRUTE_FORCE_STEPS = 1 << 24
#: A KD tree is faster than matrix products with at most so many columns and at least so many rows.
TREE_MAX_COLUMNS = 8
TREE_MIN_ROWS = 4096
#: Differences of values in a block of queries, the unit of work of a thread.
BLOCK_STEPS = 1 << 20


class Neighbours(NamedTuple):
    """The nearest rows of each query."""

    rows: Array  # int64, shape (n_queries, k): indices of the nearest rows, nearest first
    distances: Array  # float64, shape (n_queries, k)


class _SearchMatrices(NamedTuple):
    """The rows that are searched and the queries."""

    X_searched: Any
    X_queries: Any  # the same object if the queries are all searched rows
    query_rows: Array  # index of each query among the searched rows, -1 if it is none of them


class _SearchTask(NamedTuple):
    """A search for the nearest rows of a matrix for each query, a row of another matrix."""

    X_queries: Any  # dense or CSR, shape (n_queries, n_columns)
    X_searched: Any  # the rows among which neighbours are searched, of the same type
    query_rows: Array  # index of each query among the searched rows, -1 if it is none of them
    column_types: Array  # by column: how two values differ, a constant of the kernels
    scaled_zeros: Array  # by column: the scaled value of 0, of an absent element of a sparse row
    n_neighbors: int
    uses_weka_heap: bool  # whether WEKA's heap, not row order, chooses among equal distances
    n_jobs: int | None
    # Number of columns that partial distances are scaled up to; 0 if no value is missing.
    n_comparable_columns: int = 0

    @property
    def has_missing_values(self) -> bool:
        """Whether a column has missing values."""
        return bool((self.column_types >= kernels.WEKA_SQUARE).any())

    def make_metric(self, error_bound: float = 0.0) -> kernels.DistanceMetric:
        """Return the distance metric in the form that kernels read.

        ``error_bound`` is the largest rounding error of the approximate squared distances that the
        algorithm computes first, relative to the squared norms of the rows.
        """
        return kernels.DistanceMetric(
            self.column_types, self.scaled_zeros, error_bound, self.n_comparable_columns
        )

    def make_buffers(
        self, metric: kernels.DistanceMetric, rows: Array, squared: Array
    ) -> kernels.SearchBuffers:
        """Return the object through which kernels write their results.

        They write the indices of the nearest rows to ``rows`` and the squared distances to
        ``squared``, both of shape (n_queries, n_neighbors).
        """
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
    """Return the nearest rows of a space for each query, and their distances.

    Parameters
    ----------
    space : Space
        The rows among which neighbours are searched.
    n_neighbors : int
        Number of neighbours of a query; fewer are returned if there are not as many other rows.
    rows : ndarray of int, optional
        Indices of the rows of ``space`` that are the queries; by default all. A row is not its own
        neighbour.
    candidate_rows : ndarray of int, optional
        Indices of the rows that may be neighbours; by default all.
    queries : Space, optional
        Queries that are no rows of ``space``, scaled by `Space.transform`; excludes ``rows``.
    table : ndarray, optional
        A number for each category of each nominal column, one column after another: two categories
        then differ by the difference of their numbers. By default they differ by 1.
    ties : {"row", "weka"}
        What chooses among rows at equal distances: their order, or the heap of WEKA.
    n_jobs : int or None
        Number of threads; they change the time, never the result.

    Returns
    -------
    Neighbours
        Indices of the nearest rows of ``space`` and their distances.
    """
    # Few numeric columns are searched with scikit-learn's KD tree, other dense data with blocks of
    # matrix products, sparse data with an index of the rows by column. All of these only yield
    # a shortlist: rows that may be among the nearest, by a rigorous bound of the rounding errors,
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
    X_searched, X_queries, query_rows = _select_matrices(space, rows, candidate_rows, queries)
    column_types = _column_types(space)
    scaled_zeros = space.scaled_zeros
    if table is not None and not space.is_numeric:
        is_nominal = space.n_values > 0
        column_types[is_nominal] = kernels.ABSOLUTE
        scaled_zeros[is_nominal] = table[_table_starts(space.n_values)[is_nominal]]
        is_same_matrix = X_queries is X_searched
        X_searched = _replace_codes(X_searched, space.n_values, table)
        if is_same_matrix:
            X_queries = X_searched
        else:
            X_queries = _replace_codes(X_queries, space.n_values, table)
    n_comparable_columns = _mark_missing(column_types, space, X_searched, X_queries)
    n_others = X_searched.shape[0] - int((query_rows >= 0).any())
    task = _SearchTask(
        X_queries=X_queries,
        X_searched=X_searched,
        query_rows=query_rows,
        column_types=column_types,
        scaled_zeros=scaled_zeros,
        n_neighbors=max(0, min(n_neighbors, n_others)),
        uses_weka_heap=ties == "weka",
        n_jobs=n_jobs,
        n_comparable_columns=n_comparable_columns,
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
    """Return the distance between row i of ``other`` and row ``rows[i]`` of ``space``, for each i.

    Both spaces must be scaled alike. The distance is infinite if no column has a value in both.
    """
    column_types = _column_types(space)
    n_comparable_columns = _mark_missing(column_types, space, space.values, other.values)
    metric = kernels.DistanceMetric(column_types, space.scaled_zeros, n_total=n_comparable_columns)
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
) -> _SearchMatrices:
    """Return the matrices of a search; the parameters are those of `nearest_neighbours`."""
    X_searched = space.values if candidate_rows is None else space.values[candidate_rows]
    if queries is not None:
        return _SearchMatrices(X_searched, queries.values, np.full(len(queries), -1))
    all_rows = np.arange(len(space))
    rows = all_rows if rows is None else np.asarray(rows)
    if candidate_rows is None:
        candidate_rows = all_rows
    candidate_index = np.full(len(space), -1)
    candidate_index[candidate_rows] = np.arange(len(candidate_rows))
    X_queries = X_searched if np.array_equal(rows, candidate_rows) else space.values[rows]
    return _SearchMatrices(X_searched, X_queries, candidate_index[rows])


def _column_types(space: Space) -> Array:
    """Return how two values of each column differ, as a constant of the kernels.

    It is MISMATCH for nominal and SQUARE for numeric columns, as if no value were missing.
    """
    return np.where(space.n_values > 0, kernels.MISMATCH, kernels.SQUARE).astype(np.int8)


def _mark_missing(column_types: Array, space: Space, X_searched: Any, X_queries: Any) -> int:
    """Change ``column_types`` in place for columns with missing values in either matrix.

    Return the number of columns that partial distances are scaled up to; 0 if no distance is
    partial, because no value is missing or the space follows WEKA.
    """
    has_missing = _has_missing(X_searched)
    if X_queries is not X_searched:
        has_missing |= _has_missing(X_queries)
    if space.is_like_weka:
        column_types[has_missing & (column_types == kernels.SQUARE)] = kernels.WEKA_SQUARE
        column_types[has_missing & (column_types == kernels.MISMATCH)] = kernels.WEKA_MISMATCH
        return 0
    # The partial types are in the same order as the first three.
    column_types[has_missing] += kernels.PARTIAL_SQUARE
    # If no column is known, all distances are infinite, whatever they are scaled up to.
    return max(space.n_known_columns, 1) if has_missing.any() else 0


def _has_missing(values: Any) -> Array:
    """Return a mask of the columns of a dense or sparse matrix that have missing values."""
    stored = values.data if sparse.issparse(values) else values
    has_missing = np.zeros(values.shape[1], bool)
    if np.isnan(stored.sum()):  # faster than np.isnan(stored).any(), and mostly False
        if sparse.issparse(values):
            has_missing[values.indices[np.isnan(stored)]] = True
        else:
            has_missing = np.isnan(values).any(axis=0)
    return has_missing


def _table_starts(n_values: Array) -> Array:
    """Return the index in ``table`` of `nearest_neighbours` of the first number of each column."""
    return np.cumsum(n_values) - n_values


def _replace_codes(values: Any, n_values: Array, table: Array) -> Any:
    """Return a copy of a matrix with numbers instead of the codes in nominal columns.

    ``n_values`` holds the number of categories by column; ``table`` is the parameter of
    `nearest_neighbours`.
    """
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
    """Return the fastest ``_search_...`` function for the shape and the types of the data."""
    if sparse.issparse(task.X_searched):
        return _search_sparse
    n_rows, n_columns = task.X_searched.shape
    if (
        task.has_missing_values
        or task.X_queries.shape[0] * n_rows * n_columns <= MAX_BRUTE_FORCE_STEPS
    ):
        return _search_brute_force
    if space.is_numeric and n_columns <= TREE_MAX_COLUMNS and n_rows >= TREE_MIN_ROWS:
        if task.uses_weka_heap:
            return _search_with_tree_and_heap
        return _search_with_tree
    # Products need a column for each category of nominal columns with more than two.
    has_many_values = space.n_values > 2
    is_too_wide = space.n_values[has_many_values].sum() > 4 * n_columns
    if is_too_wide or (table is not None and has_many_values.any()):
        return _search_brute_force
    return _search_with_products


def _search_brute_force(task: _SearchTask, space: Space, rows: Array, squared: Array) -> None:
    """Search by brute force: compute the exact distances of all pairs, dense rows only.

    Write indices of the nearest rows to ``rows`` and squared distances to ``squared``.
    """
    columns = np.ascontiguousarray(task.X_searched.T)
    queries = kernels.Points(task.X_queries)
    buffers = task.make_buffers(task.make_metric(), rows, squared)

    def search_block(block: slice) -> None:
        """Search the neighbours of a block of queries."""
        kernels.search_directly(queries, columns, buffers, block.start, block.stop)

    cost = task.X_searched.shape[0] * max(task.X_searched.shape[1], 1)
    run_in_threads(search_block, row_slices(len(rows), cost, BLOCK_STEPS), n_jobs=task.n_jobs)


def _search_with_products(task: _SearchTask, space: Space, rows: Array, squared: Array) -> None:
    """Search neighbours among dense rows with matrix products of blocks of rows.

    Write indices of the nearest rows to ``rows`` and squared distances to ``squared``.
    """
    searched_vectors = _embed(task.X_searched, task, space)
    query_vectors = searched_vectors
    if task.X_queries is not task.X_searched:
        query_vectors = _embed(task.X_queries, task, space)
    searched_points = kernels.Points(task.X_searched, _squared_norms(searched_vectors))
    queries = kernels.Points(task.X_queries, _squared_norms(query_vectors))
    metric = task.make_metric(_error_bound(searched_vectors.shape[1], task.column_types))
    buffers = task.make_buffers(metric, rows, squared)
    n_queries_per_block = max(1, min(len(rows), BLOCK_ELEMENTS // searched_vectors.shape[0]))

    def search_block(first_query: int) -> None:
        """Search the neighbours of a block of queries."""
        block = query_vectors[first_query : first_query + n_queries_per_block]
        products = block @ searched_vectors.T
        kernels.search_products(products, first_query, queries, searched_points, buffers)

    # Threads of BLAS inside our threads would only wait for each other.
    with single_threaded_blas():
        run_in_threads(search_block, range(0, len(rows), n_queries_per_block), n_jobs=task.n_jobs)


def _squared_norms(vectors: Array) -> Array:
    """Return the squared Euclidean norm of each row."""
    return np.einsum("ij,ij->i", vectors, vectors)


def _embed(values: Array, task: _SearchTask, space: Space) -> Array:
    """Return vectors whose squared Euclidean distances are those of dense rows, up to rounding.

    Nominal columns with more than two categories are one-hot encoded.
    """
    n_values = space.n_values
    is_single = n_values <= 2  # columns that become a single column of the vectors
    column_types = task.column_types[is_single]
    scaled_zeros = task.scaled_zeros[is_single]
    vectors = values[:, is_single].copy()
    is_square = column_types == kernels.SQUARE
    # Centred, because smaller norms have smaller rounding errors.
    vectors[:, is_square] -= task.X_searched[:, is_single][:, is_square].mean(axis=0)
    is_absolute = column_types == kernels.ABSOLUTE
    if is_absolute.any():
        # Such a column has two values: if they differ by d, they become 0 and sqrt(d).
        differences = np.abs(vectors[:, is_absolute] - scaled_zeros[is_absolute])
        vectors[:, is_absolute] = np.sqrt(differences)
    columns = np.flatnonzero(n_values > 2)
    if not len(columns):
        return vectors
    one_hot = [values[:, [column]] == np.arange(n_values[column]) for column in columns]
    return np.hstack([vectors, np.hstack(one_hot) * np.sqrt(0.5)])


def _error_bound(n_terms: int, column_types: Array) -> float:
    """Return a bound of the rounding errors of squared distances, relative to the squared norms.

    ``n_terms`` is the largest number of terms of a sum; the bound is 0 if all terms are integers.
    """
    integer_types = (kernels.MISMATCH, kernels.WEKA_MISMATCH, kernels.PARTIAL_MISMATCH)
    if np.isin(column_types, integer_types).all():
        return 0.0
    return (4 * n_terms + 32) * float(np.finfo(float).eps)


def _search_sparse(task: _SearchTask, space: Space, rows: Array, squared: Array) -> None:
    """Search neighbours among sparse rows, reading the searched rows column by column.

    Write indices of the nearest rows to ``rows`` and squared distances to ``squared``.
    """
    X_searched = task.X_searched
    X_queries = task.X_queries
    searched_by_column = X_searched.tocsc()
    max_row_length = max(
        int(np.diff(matrix.indptr).max(initial=0)) for matrix in (X_searched, X_queries)
    )
    metric = task.make_metric(_error_bound(2 * max_row_length, task.column_types))
    searched_points = _with_norms(X_searched, task)
    query_points = searched_points if X_queries is X_searched else _with_norms(X_queries, task)
    columns = kernels.Points(searched_by_column)
    buffers = task.make_buffers(metric, rows, squared)

    def search_block(block: slice) -> None:
        """Search the neighbours of a block of queries."""
        kernels.search_sparse(
            query_points, searched_points, columns, buffers, block.start, block.stop
        )

    n_stored_by_column = np.diff(searched_by_column.indptr).astype(np.int64)
    cost = (
        4 * X_searched.shape[0]
        + int(n_stored_by_column @ n_stored_by_column) // X_searched.shape[0]
    )
    run_in_threads(search_block, row_slices(len(rows), cost, BLOCK_STEPS), n_jobs=task.n_jobs)


def _with_norms(values: sparse.csr_array, task: _SearchTask) -> kernels.Points:
    """Return sparse rows in the form that kernels read.

    They include the squared distance of each row from the row of zeros, and its number of missing
    values.
    """
    norms = np.empty(values.shape[0])
    n_missing_before = np.concatenate([[0.0], np.cumsum(np.isnan(values.data))])
    n_missing = np.diff(n_missing_before[values.indptr])
    points = kernels.Points(values, norms, n_missing)
    metric = kernels.DistanceMetric(task.column_types, task.scaled_zeros)
    kernels.paired_squared_distances(points, None, np.zeros(len(norms), np.int64), metric, norms)
    return points


def _search_with_tree(task: _SearchTask, space: Space, rows: Array, squared: Array) -> None:
    """Search neighbours among rows with few columns in a KD tree of scikit-learn.

    Write indices of the nearest rows to ``rows`` and squared distances to ``squared``.
    """
    from sklearn.neighbors import KDTree

    tree = KDTree(task.X_searched, leaf_size=40)
    n_candidates = min(task.n_neighbors + 4, task.X_searched.shape[0])
    searched_points = kernels.Points(task.X_searched)
    metric = task.make_metric()

    def search_block(block: slice) -> None:
        """Search the neighbours of a block of queries."""
        queries = task.X_queries[block]
        tree_distances, tree_rows = tree.query(queries, k=n_candidates)
        # The query itself and its neighbours are within this radius, whatever the rounding.
        radius = tree_distances[:, min(task.n_neighbors, n_candidates - 1)] * (1 + 1e-9) + 1e-300
        is_complete = (tree_distances[:, -1] > radius) | (n_candidates == task.X_searched.shape[0])
        candidates = list(tree_rows)
        if not is_complete.all():
            rows_in_radius = tree.query_radius(queries[~is_complete], radius[~is_complete])
            for query, row_indices in zip(
                np.flatnonzero(~is_complete), rows_in_radius, strict=True
            ):
                candidates[query] = row_indices
        sizes = [len(row_indices) for row_indices in candidates]
        buffers = kernels.SearchBuffers(
            metric, task.query_rows[block], False, rows[block], squared[block]
        )
        kernels.rank_candidates(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate(candidates),
            kernels.Points(queries),
            searched_points,
            buffers,
        )

    run_in_threads(search_block, row_slices(len(rows), 1 << 12, BLOCK_STEPS), n_jobs=task.n_jobs)


def _search_with_tree_and_heap(
    task: _SearchTask, space: Space, rows: Array, squared: Array
) -> None:
    """Search the neighbours that WEKA's heap would choose, in a KD tree where possible.

    The tree finds one neighbour more. Only queries for which it is as near as the last one need the
    heap. Write indices of the nearest rows to ``rows`` and squared distances to ``squared``.
    """
    n_others = task.X_searched.shape[0] - int((task.query_rows >= 0).any())
    longer_task = task._replace(
        n_neighbors=min(task.n_neighbors + 1, n_others), uses_weka_heap=False
    )
    tree_rows = np.empty((len(rows), longer_task.n_neighbors), np.int64)
    tree_squared = np.empty(tree_rows.shape)
    _search_with_tree(longer_task, space, tree_rows, tree_squared)
    rows[:] = tree_rows[:, : task.n_neighbors]
    squared[:] = tree_squared[:, : task.n_neighbors]
    tied_queries = np.flatnonzero(tree_squared[:, -1] == tree_squared[:, task.n_neighbors - 1])
    if longer_task.n_neighbors == task.n_neighbors or not len(tied_queries):
        return
    tied_task = task._replace(
        X_queries=task.X_queries[tied_queries], query_rows=task.query_rows[tied_queries]
    )
    tied_rows, tied_squared = rows[tied_queries], squared[tied_queries]
    _search_brute_force(tied_task, space, tied_rows, tied_squared)
    rows[tied_queries] = tied_rows
    squared[tied_queries] = tied_squared
