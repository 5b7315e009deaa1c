"""Find the nearest rows, in the way that fits the data."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, take_by_code
from scumble._core.neighbours import kernels
from scumble._core.neighbours.space import Space
from scumble._core.parallel import row_slices, run_in_threads, single_threaded_blas
from scumble._core.validation import check_choice, check_count

#: Elements of a block of products: 2 MB a thread, whatever the number of rows.
BLOCK_ELEMENTS = 1 << 18
#: Up to this many differences are taken one by one; products would not pay.
DIRECT_BELOW = 1 << 24
#: Trees win over products with few columns and many rows.
TREE_MAX_COLUMNS = 8
TREE_MIN_ROWS = 4096
#: Steps of a block of queries.
BLOCK_STEPS = 1 << 20


class Neighbours(NamedTuple):
    """What `nearest_neighbours` found."""

    rows: Array  # int64, shape (n_queries, n_found): nearest first; those equally near in row order
    distances: Array  # float64, of the same shape


class _Task(NamedTuple):
    """A search brought down to matrices: columns have kinds, nominal values may be numbers."""

    queries: Any
    base: Any
    own: Array  # the place of each query in the base, or -1
    kinds: Array
    zeros: Array  # what an absent element of a sparse row stands for
    n_wanted: int
    by_heap: bool
    n_jobs: int | None
    n_total: int = 0  # the columns that partial distances are scaled up to; 0: whole distances

    @property
    def is_gapped(self) -> bool:
        """Whether a cell is missing somewhere."""
        return bool((self.kinds >= kernels.GAPPED_SQUARE).any())

    def metric(self, error: float = 0.0) -> kernels.DistanceMetric:
        """Tell kernels how columns differ."""
        return kernels.DistanceMetric(self.kinds, self.zeros, error, self.n_total)

    def answers(
        self, metric: kernels.DistanceMetric, rows: Array, squared: Array
    ) -> kernels.SearchBuffers:
        """Tell kernels where to write the nearest rows and their squared distances."""
        return kernels.SearchBuffers(metric, self.own, self.by_heap, rows, squared)


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
    """Find the nearest rows of a space."""
    # Few numeric columns go to scikit-learn's KD tree, other dense data to blocks of matrix
    # products, sparse data to an index of the rows by column. All of these yield candidates only:
    # what may be among the nearest within a rigorous bound of the rounding is compared again,
    # column by column, and ranked by that exact number. So the ways agree to the bit, and neither
    # blocks nor threads can change a neighbour. Memory grows with the rows, never with rows x rows.
    #
    # WEKA's search keeps the n nearest rows seen so far in a binary heap with the farthest on top.
    # A nearer row replaces the top; which of several farthest rows is on top depends on all rows
    # that have been in the heap. So all rows are shown to such a heap here too, but the exact
    # distance is taken only where the bound cannot exclude that a row enters.
    #
    # Missing values are looked for once; where there are none, nothing of this is any slower. Dense
    # rows with missing values are compared directly.
    check_count(n_neighbors, name="n_neighbors", caller="nearest")
    check_choice(ties, ("row", "weka"), name="ties", caller="nearest")
    base, asked, own = _matrices(space, rows, candidate_rows, queries)
    kinds, zeros = _kinds_of(space), space.zeros
    if table is not None and not space.is_numeric:
        nominal = space.n_values > 0
        kinds[nominal] = kernels.ABSOLUTE
        zeros[nominal] = table[_starts(space.n_values)[nominal]]
        mapped = _mapped(base, space.n_values, table)
        asked = mapped if asked is base else _mapped(asked, space.n_values, table)
        base = mapped
    n_total = _mark_gaps(kinds, space, base, asked)
    n_wanted = max(0, min(n_neighbors, base.shape[0] - int((own >= 0).any())))
    task = _Task(asked, base, own, kinds, zeros, n_wanted, ties == "weka", n_jobs, n_total)
    found = np.empty((len(own), n_wanted), np.int64)
    squared = np.empty(found.shape)
    if found.size:
        _choose(task, space, table)(task, space, found, squared)
    if candidate_rows is not None:
        found = np.asarray(candidate_rows)[found]
    return Neighbours(found, np.sqrt(squared))


def distances(space: Space, others: Space, rows: Array) -> Array:
    """Take the distance of each of some rows from a row of a space."""
    kinds = _kinds_of(space)
    n_total = _mark_gaps(kinds, space, space.values, others.values)
    metric = kernels.DistanceMetric(kinds, space.zeros, n_total=n_total)
    ours, theirs = kernels.Points(others.values), kernels.Points(space.values)
    squared = np.empty(len(rows))
    kernels.paired_squared_distances(
        ours, theirs, np.ascontiguousarray(rows, np.int64), metric, squared
    )
    return np.sqrt(squared)


def _matrices(
    space: Space, rows: Array | None, candidate_rows: Array | None, queries: Space | None
) -> tuple[Any, Any, Array]:
    """Give the rows that are searched, the queries, and the place of each query among the rows."""
    base = space.values if candidate_rows is None else space.values[candidate_rows]
    if queries is not None:
        return base, queries.values, np.full(len(queries), -1)
    all_rows = np.arange(len(space))
    rows = all_rows if rows is None else np.asarray(rows)
    searched = all_rows if candidate_rows is None else candidate_rows
    places = np.full(len(space), -1)
    places[searched] = np.arange(len(searched))
    asked = base if np.array_equal(rows, searched) else space.values[rows]
    return base, asked, places[rows]


def _kinds_of(space: Space) -> Array:
    return np.where(space.n_values > 0, kernels.MISMATCH, kernels.SQUARE).astype(np.int8)


def _mark_gaps(kinds: Array, space: Space, base: Any, asked: Any) -> int:
    """Mark the kinds of columns with missing cells; give the columns to scale up to, if any."""
    gapped = _gapped_columns(base)
    if asked is not base:
        gapped |= _gapped_columns(asked)
    if space.is_like_weka:
        kinds[gapped & (kinds == kernels.SQUARE)] = kernels.GAPPED_SQUARE
        kinds[gapped & (kinds == kernels.MISMATCH)] = kernels.GAPPED_MISMATCH
        return 0
    kinds[gapped] += kernels.PARTIAL_SQUARE  # the partial kinds come in the order of the plain
    # Where no column is known at all, every distance is infinite, whatever it is scaled up to.
    return max(space.n_known_columns, 1) if gapped.any() else 0


def _gapped_columns(values: Any) -> Array:
    """Tell which columns have missing cells."""
    stored = values.data if sparse.issparse(values) else values
    gapped = np.zeros(values.shape[1], bool)
    if np.isnan(stored.sum()):  # quicker than looking at each cell, and mostly the end of it
        if sparse.issparse(values):
            gapped[values.indices[np.isnan(stored)]] = True
        else:
            gapped = np.isnan(values).any(axis=0)
    return gapped


def _starts(n_values: Array) -> Array:
    """Tell where the numbers of each column start in a table."""
    return np.cumsum(n_values) - n_values


def _mapped(values: Any, n_values: Array, table: Array) -> Any:
    """Put the table's numbers in the place of codes."""
    starts = _starts(n_values)
    if sparse.issparse(values):
        nominal = n_values[values.indices] > 0
        data = values.data.copy()
        data[nominal] = take_by_code(table, starts[values.indices[nominal]] + data[nominal])
        return sparse.csr_array((data, values.indices, values.indptr), shape=values.shape)
    nominal = np.flatnonzero(n_values)
    mapped = values.copy()
    mapped[:, nominal] = take_by_code(table, starts[nominal] + values[:, nominal])
    return mapped


def _choose(task: _Task, space: Space, table: Array | None) -> Any:
    """Choose the way of searching by the shape of the data alone."""
    if sparse.issparse(task.base):
        return _by_columns
    n_rows, n_columns = task.base.shape
    if task.is_gapped or task.queries.shape[0] * n_rows * n_columns <= DIRECT_BELOW:
        return _directly
    if space.is_numeric and n_columns <= TREE_MAX_COLUMNS and n_rows >= TREE_MIN_ROWS:
        return _by_tree_and_heap if task.by_heap else _by_tree
    many_valued = space.n_values > 2
    too_wide = space.n_values[many_valued].sum() > 4 * n_columns
    if too_wide or (table is not None and many_valued.any()):
        return _directly
    return _by_products


def _directly(task: _Task, space: Space, rows: Array, squared: Array) -> None:
    columns = np.ascontiguousarray(task.base.T)
    queries = kernels.Points(task.queries)
    answers = task.answers(task.metric(), rows, squared)

    def search(part: slice) -> None:
        kernels.search_directly(queries, columns, answers, part.start, part.stop)

    cost = task.base.shape[0] * max(task.base.shape[1], 1)
    run_in_threads(search, row_slices(len(rows), cost, BLOCK_STEPS), n_jobs=task.n_jobs)


def _by_products(task: _Task, space: Space, rows: Array, squared: Array) -> None:
    base = _embedded(task.base, task, space)
    asked = base if task.queries is task.base else _embedded(task.queries, task, space)
    norms_b, norms_q = (np.einsum("ij,ij->i", part, part) for part in (base, asked))
    metric = task.metric(_error_bound(base.shape[1], task.kinds))
    points, queries = kernels.Points(task.base, norms_b), kernels.Points(task.queries, norms_q)
    answers = task.answers(metric, rows, squared)
    size = max(1, min(len(rows), BLOCK_ELEMENTS // base.shape[0]))

    def search(first: int) -> None:
        products = asked[first : first + size] @ base.T
        kernels.search_products(products, first, queries, points, answers)

    # Threads of the linear algebra inside ours would only wait for each other.
    with single_threaded_blas():
        run_in_threads(search, range(0, len(rows), size), n_jobs=task.n_jobs)


def _embedded(values: Array, task: _Task, space: Space) -> Array:
    """Turn columns into numbers whose squared Euclidean distance is theirs, up to rounding."""
    n_values = space.n_values
    few = n_values <= 2
    kinds, zeros = task.kinds[few], task.zeros[few]
    plain = values[:, few].copy()
    numeric = kinds == kernels.SQUARE
    plain[:, numeric] -= task.base[:, few][:, numeric].mean(axis=0)  # smaller norms, less rounding
    absolute = kinds == kernels.ABSOLUTE
    if absolute.any():
        # Two values that differ by d become 0 and sqrt(d).
        plain[:, absolute] = np.sqrt(np.abs(plain[:, absolute] - zeros[absolute]))
    many = np.flatnonzero(n_values > 2)
    if not len(many):
        return plain
    one_hot = [values[:, [at]] == np.arange(n_values[at]) for at in many]
    return np.hstack([plain, np.hstack(one_hot) * np.sqrt(0.5)])


def _error_bound(n_terms: int, kinds: Array) -> float:
    """Bound the rounding of norms and products, relative to the norms; 0 for whole numbers."""
    whole = (kernels.MISMATCH, kernels.GAPPED_MISMATCH, kernels.PARTIAL_MISMATCH)
    if np.isin(kinds, whole).all():
        return 0.0
    return (4 * n_terms + 32) * float(np.finfo(float).eps)


def _by_columns(task: _Task, space: Space, rows: Array, squared: Array) -> None:
    base, asked = task.base, task.queries
    by_column = base.tocsc()
    longest = max(int(np.diff(part.indptr).max(initial=0)) for part in (base, asked))
    metric = task.metric(_error_bound(2 * longest, task.kinds))
    rows_b = _with_norms(base, task)
    rows_q = rows_b if asked is base else _with_norms(asked, task)
    columns = kernels.Points(by_column)
    answers = task.answers(metric, rows, squared)

    def search(part: slice) -> None:
        kernels.search_sparse(rows_q, rows_b, columns, answers, part.start, part.stop)

    in_column = np.diff(by_column.indptr).astype(np.int64)
    cost = 4 * base.shape[0] + int(in_column @ in_column) // base.shape[0]
    run_in_threads(search, row_slices(len(rows), cost, BLOCK_STEPS), n_jobs=task.n_jobs)


def _with_norms(values: sparse.csr_array, task: _Task) -> kernels.Points:
    """Take the squared distance of every row from the row of zeros."""
    norms = np.empty(values.shape[0])
    upto = np.concatenate([[0.0], np.cumsum(np.isnan(values.data))])
    points = kernels.Points(values, norms, np.diff(upto[values.indptr]))
    metric = kernels.DistanceMetric(task.kinds, task.zeros)
    kernels.paired_squared_distances(points, None, np.zeros(len(norms), np.int64), metric, norms)
    return points


def _by_tree(task: _Task, space: Space, rows: Array, squared: Array) -> None:
    from sklearn.neighbors import KDTree

    tree = KDTree(task.base, leaf_size=40)
    n_asked = min(task.n_wanted + 4, task.base.shape[0])
    base = kernels.Points(task.base)
    metric = task.metric()

    def search(part: slice) -> None:
        asked = task.queries[part]
        near, found = tree.query(asked, k=n_asked)
        # Itself and the wanted ones lie within this reach, whatever the rounding.
        reach = near[:, min(task.n_wanted, n_asked - 1)] * (1 + 1e-9) + 1e-300
        complete = (near[:, -1] > reach) | (n_asked == task.base.shape[0])
        candidates = list(found)
        if not complete.all():
            more = tree.query_radius(asked[~complete], reach[~complete])
            for at, listed in zip(np.flatnonzero(~complete), more, strict=True):
                candidates[at] = listed
        starts = np.concatenate([[0], np.cumsum([len(listed) for listed in candidates])])
        answers = kernels.SearchBuffers(metric, task.own[part], False, rows[part], squared[part])
        points = kernels.Points(asked)
        kernels.rank_candidates(starts, np.concatenate(candidates), points, base, answers)

    run_in_threads(search, row_slices(len(rows), 1 << 12, BLOCK_STEPS), n_jobs=task.n_jobs)


def _by_tree_and_heap(task: _Task, space: Space, rows: Array, squared: Array) -> None:
    """Ask a tree for one more neighbour; where it ties with the last, let the heap choose."""
    n_others = task.base.shape[0] - int((task.own >= 0).any())
    wider = task._replace(n_wanted=min(task.n_wanted + 1, n_others), by_heap=False)
    found = np.empty((len(rows), wider.n_wanted), np.int64)
    near = np.empty(found.shape)
    _by_tree(wider, space, found, near)
    rows[:], squared[:] = found[:, : task.n_wanted], near[:, : task.n_wanted]
    tied = np.flatnonzero(near[:, -1] == near[:, task.n_wanted - 1])
    if wider.n_wanted == task.n_wanted or not len(tied):
        return
    again = task._replace(queries=task.queries[tied], own=task.own[tied])
    chosen, distances = rows[tied], squared[tied]
    _directly(again, space, chosen, distances)
    rows[tied], squared[tied] = chosen, distances
