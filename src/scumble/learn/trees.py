"""Many C4.5 trees on one table: prepared once, shared read-only, grown in parallel.

`prepare_table` sorts the columns, `grow_trees` grows a tree for each `Target`, `predict_trees`
asks them all. `scumble.learn.C45Classifier` and the multilabel classifiers stand on these.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.errors import DataError
from scumble._core.parallel import run, thread_count
from scumble.learn.kernels.layout import Columns, Items, Rows

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TreeSettings:
    """The parameters of C4.5 and their defaults."""

    confidence: float = 0.25
    min_objects: int = 2
    prune: bool = True
    subtree_raising: bool = True
    mdl: bool = True

    @cached_property
    def deviate(self) -> float:
        """The standard normal deviate of the confidence."""
        return NormalDist().inv_cdf(1 - self.confidence)


@dataclass(frozen=True)
class Target:
    """What one tree shall learn.

    Parameters
    ----------
    y : array of int
        Class code of each training row.
    n_classes : int
        Number of declared classes.
    rows : array of int, optional
        The training rows of the table, each once; all by default. ``y`` is in their order.
    repeats : array of int, optional
        How many times each row counts, as in a bootstrap sample.
    weights : array of float, optional
        Weight of each row.
    extra : array of int, optional
        Which of the table's extra columns may be used; none by default.
    """

    y: Array
    n_classes: int = 2
    rows: Array | None = None
    repeats: Array | None = None
    weights: Array | None = None
    extra: Array | None = None


class ListedTargets(NamedTuple):
    """Two-class targets that list their rows, laid out one after another.

    Target t learns ``y[starts[t]:starts[t + 1]]`` from the rows of the same places.
    """

    starts: Array
    rows: Array
    y: Array


class Nodes(NamedTuple):
    """The nodes of many trees, one tree after another; see `Tree`. ``counts`` may be flat."""

    sizes: Array
    n_classes: Array
    feature: Array
    cut: Array
    first: Array
    width: Array
    branch: Array
    empty: Array
    counts: Array


@dataclass(frozen=True)
class Tree:
    """A grown tree; node 0 is the root and brothers stand side by side.

    Parameters
    ----------
    feature : array of int
        Column a node asks for, -1 at a leaf.
    cut : array of float
        Values at or below it go to the first branch; NaN where the column is nominal.
    first, width : arrays of int
        First child and number of children.
    branch : array of float
        Weight of the training rows that came down to the node.
    empty : array of bool
        Leaves no training row reached.
    counts : array of shape (n_nodes, n_classes)
        Weight of each class.
    """

    feature: Array
    cut: Array
    first: Array
    width: Array
    branch: Array
    empty: Array
    counts: Array

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves, empty ones included."""
        return int(np.count_nonzero(self.feature < 0))

    @property
    def n_classes(self) -> int:
        """Number of declared classes."""
        return int(self.counts.shape[1])

    @cached_property
    def parent(self) -> Array:
        """Parent of every node, -1 for the root."""
        parent = np.full(self.n_nodes, -1, np.int64)
        for node in np.flatnonzero(self.feature >= 0):
            parent[self.first[node] : self.first[node] + self.width[node]] = node
        return parent

    def probabilities(self, *, laplace: bool = False) -> Array:
        """Give the class probabilities of a row that ends at each node.

        Parameters
        ----------
        laplace : bool
            Whether to smooth the counts by one per class.

        Returns
        -------
        array of shape (n_nodes, n_classes)
            An empty leaf answers like its parent.
        """
        source = np.where(self.empty.astype(bool), self.parent, np.arange(self.n_nodes))
        counts = self.counts[np.maximum(source, 0)]
        total = counts.sum(axis=1, keepdims=True)
        if laplace:
            return (counts + 1) / (total + self.n_classes)
        return np.divide(counts, total, out=np.zeros_like(counts), where=total >= 1e-6)

    def information_gains(self) -> Array:
        """Give the information each inner node gains, times its weight, in bits; 0 for leaves.

        Returns
        -------
        array of shape (n_nodes,)
            Never negative.
        """
        weight = self.counts.sum(axis=1, keepdims=True)
        share = np.divide(self.counts, weight, out=np.ones_like(self.counts), where=self.counts > 0)
        entropy = -(self.counts * np.log2(share)).sum(axis=1)
        gains = np.where(self.feature >= 0, entropy, 0.0)
        children = np.flatnonzero(self.parent >= 0)
        np.subtract.at(gains, self.parent[children], entropy[children])
        return np.maximum(gains, 0.0)

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Tell which nodes each row passes.

        Parameters
        ----------
        X : float ndarray or csr_array
            The rows.

        Returns
        -------
        csr_array of bool, shape (n_samples, n_nodes)
            A row passes every non-empty branch where its value is missing.
        """
        by_column = X.tocsc() if sparse.issparse(X) else X
        rows: list[list[Array]] = [[] for _ in range(self.n_nodes)]
        rows[0].append(np.arange(X.shape[0]))
        for node in range(self.n_nodes):  # parents come before their children
            if self.feature[node] < 0 or not rows[node]:
                continue
            here = np.concatenate(rows[node])
            column = by_column[:, [int(self.feature[node])]]
            cells = (column.toarray() if sparse.issparse(column) else column)[here, 0]
            lost = np.isnan(cells)
            side = cells > self.cut[node] if not np.isnan(self.cut[node]) else cells
            for turn in range(self.width[node]):
                child = self.first[node] + turn
                passing = (side == turn) & ~lost
                if not self.empty[child]:
                    passing |= lost
                if passing.any():
                    rows[child].append(here[passing])
        members = [np.concatenate(part) if part else np.empty(0, int) for part in rows]
        indptr = np.concatenate([[0], np.cumsum([len(part) for part in members])])
        indices = np.concatenate(members)
        shape = (X.shape[0], self.n_nodes)
        path = sparse.csc_array((np.ones(len(indices), bool), indices, indptr), shape=shape)
        return path.tocsr()


@dataclass(frozen=True)
class Table:
    """Columns prepared for growing trees; made by `prepare_table`, shared by all of them."""

    columns: Columns
    rows: Rows
    n_rows: int
    n_features: int
    n_extra: int

    def active_columns(self, extra: Array | None) -> Array:
        """List the columns a tree may use: all features and some of the extra columns.

        Parameters
        ----------
        extra : array of int or None
            Numbers of extra columns.

        Returns
        -------
        array of int64
            Ascending.
        """
        active = np.arange(self.n_features)
        if extra is None:
            return active
        return np.concatenate([active, self.n_features + np.sort(np.asarray(extra, np.int64))])

    def columns_by_kind(self, extra: Array | None) -> tuple[Array, Array]:
        """List the numeric and the nominal columns a tree may use.

        Parameters
        ----------
        extra : array of int or None
            Numbers of extra columns.

        Returns
        -------
        numeric, nominal : arrays of int64
            Ascending.
        """
        if extra is None:
            return self._feature_kinds
        extra_columns = self.n_features + np.sort(np.asarray(extra, np.int64))
        return self._feature_kinds[0], np.concatenate([self._feature_kinds[1], extra_columns])

    @cached_property
    def _feature_kinds(self) -> tuple[Array, Array]:
        is_nominal = self.columns.n_values[: self.n_features] > 0
        return np.flatnonzero(~is_nominal), np.flatnonzero(is_nominal)

    @cached_property
    def missing(self) -> bool:
        """Whether any feature has a missing value; extra columns never have."""
        begins, ends = self.columns.begins, self.columns.ends
        last = self.columns.entries[np.maximum(ends - 1, 0)] >> np.uint64(36)
        return bool(((ends > begins) & (last == 0xFFFFFFE)).any())

    @cached_property
    def narrow(self) -> bool:
        """Whether all nominal columns are narrow enough for the 16 bits of the counting path."""
        return bool((self.columns.n_values <= 2**16).all())

    @property
    def countable(self) -> bool:
        """Whether trees for two classes can be grown by counting rows."""
        return not self.missing and self.narrow

    @cached_property
    def all_rows(self) -> Array:
        """The numbers of all rows."""
        return np.arange(self.n_rows, dtype=np.uint32)

    @cached_property
    def item_counts(self) -> Array:
        """How many rows have each item."""
        return (self.items.stops - self.items.starts).astype(np.uint64)

    @cached_property
    def _x_ln_x(self) -> Array:
        return x_ln_x_table(self.n_rows + 2)

    def x_ln_x(self, size: int) -> Array:
        """Tabulate x ln x for whole numbers below ``size``.

        Parameters
        ----------
        size : int
            The table may be longer.

        Returns
        -------
        array of float64
            Shared where it is long enough.
        """
        return self._x_ln_x if size <= len(self._x_ln_x) else x_ln_x_table(size)

    @cached_property
    def items(self) -> Items:
        """The nominal columns by row."""
        from scumble.learn.kernels.prepare import items_by_row, list_items

        none = np.zeros(0, np.int64)
        n_items = list_items(self.columns, none, none, none, np.zeros(0, np.int32), none)
        first = np.zeros(self.n_features + self.n_extra + 1, np.int64)
        starts, stops = np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
        codes, sizes = np.zeros(n_items, np.int32), np.zeros(self.n_rows, np.int64)
        list_items(self.columns, first, starts, stops, codes, sizes)
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        indices = np.empty(indptr[-1], np.uint32)
        items_by_row(self.columns.entries, starts, stops, indptr[:-1].copy(), indices)
        return Items(indptr, indices, first, starts, stops, codes)


def prepare_table(
    X: Any, n_values: Array, *, extra: Any = None, n_jobs: int | None = None
) -> Table:
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
    Table
        Holds ``X`` itself beside the sorted columns.
    """
    n, m = X.shape
    extra_csc = None if extra is None else extra.tocsc()
    n_extra = 0 if extra is None else extra.shape[1]
    codes = np.concatenate([n_values, np.full(n_extra, 2)]).astype(np.int64)
    by_column = X.tocsc() if sparse.issparse(X) else None
    sizes = np.full(m, n, np.int64) if by_column is None else _list_sizes(by_column, codes[:m], n)
    if extra_csc is not None:
        sizes = np.concatenate([sizes, _list_sizes(extra_csc, codes[m:], n)])
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    columns = Columns(
        np.empty(max(starts[-1], 1), np.uint64),
        np.empty(max(starts[-1], 1), np.float64),
        np.zeros(m + n_extra, np.int64),
        np.zeros(m + n_extra, np.int64),
        np.zeros(m + n_extra, np.int64),
        codes,
        np.zeros(m + n_extra, np.int64),
    )
    rows = as_rows(X, extra)
    if by_column is None:
        _sort_dense(rows, columns, n_jobs)
    else:
        _sort_sparse(by_column, columns, 0, starts, n_jobs)
    if extra_csc is not None:
        _sort_sparse(extra_csc, columns, m, starts, n_jobs)
    return Table(columns, rows, n, m, n_extra)


def _list_sizes(by_column: Any, n_values: Array, n: int) -> Array:
    """Bound the entries of each column: its stored cells and the value zero, or all cells."""
    stored = np.diff(by_column.indptr).astype(np.int64)
    return np.where((n_values > 0) & (2 * stored > n), n, stored + 1)


def _sort_dense(rows: Rows, columns: Columns, n_jobs: int | None) -> None:
    from scumble.learn.kernels.prepare import sort_dense

    run(
        lambda block: sort_dense(
            rows.dense, columns.n_values, *block, columns.entries, columns.values, columns.begins,
            columns.ends, columns.defaults, columns.n_codes,
        ),
        _blocks(rows.n_features, rows.dense.size, n_jobs),
        n_jobs=n_jobs,
    )  # fmt: skip


def _sort_sparse(
    by_column: Any, columns: Columns, shift: int, starts: Array, n_jobs: int | None
) -> None:
    from scumble.learn.kernels.prepare import sort_sparse

    indptr = by_column.indptr.astype(np.int64)
    indices = by_column.indices.astype(np.int32)
    data = by_column.data.astype(np.float64)
    run(
        lambda block: sort_sparse(
            by_column.shape[0], indptr, indices, data, columns.n_values, shift, starts, *block,
            columns.entries, columns.values, columns.begins, columns.ends, columns.defaults,
            columns.n_codes,
        ),
        _blocks(by_column.shape[1], by_column.nnz, n_jobs),
        n_jobs=n_jobs,
    )  # fmt: skip


def _blocks(n: int, cost: int, n_jobs: int | None) -> list[tuple[int, int]]:
    """Cut 0..n into ranges, one only where the work is not worth a second thread."""
    n_blocks = 1 if cost < 20_000 else min(n, 4 * thread_count(n_jobs))
    edges = np.linspace(0, n, max(n_blocks, 1) + 1).astype(int)
    return [(int(a), int(b)) for a, b in itertools.pairwise(edges) if b > a]


def as_rows(X: Any, extra: Any = None) -> Rows:
    """Hand rows to kernels without copying them.

    Parameters
    ----------
    X : float ndarray or csr_array
        The features.
    extra : csr_array of bool, optional
        The extra columns.

    Returns
    -------
    Rows
        Views of the arrays.
    """
    is_sparse = sparse.issparse(X)
    return Rows(
        not is_sparse,
        _read_only(np.empty((0, 0)) if is_sparse else X, np.float64),
        _read_only(X.indptr if is_sparse else [0], np.int64),
        _read_only(X.indices if is_sparse else [], np.int32),
        _read_only(X.data if is_sparse else [], np.float64),
        X.shape[1],
        _read_only([0] if extra is None else extra.indptr, np.int64),
        _read_only([] if extra is None else extra.indices, np.int32),
    )


def _read_only(array: Any, dtype: Any) -> Array:
    """Give kernels one type to be compiled for, whatever the caller's array is like."""
    view = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view


def grow_trees(
    table: Table,
    targets: Sequence[Target],
    settings: TreeSettings | None = None,
    *,
    n_jobs: int | None = None,
) -> list[Tree]:
    """Grow one tree for each target.

    Parameters
    ----------
    table : Table
        The prepared columns.
    targets : sequence of Target
        What to learn.
    settings : TreeSettings, optional
        The parameters, the same for all trees.
    n_jobs : int, optional
        Number of threads; it changes the time and nothing else.

    Returns
    -------
    list of Tree
        In the order of the targets.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.learn.trees import Target, grow_trees, prepare_table
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> table = prepare_table(X, np.array([0]))
    >>> tree = grow_trees(table, [Target(np.array([0, 0, 1, 1]))])[0]
    >>> tree.cut[0], tree.n_leaves
    (np.float64(2.0), 2)
    """
    settings = TreeSettings() if settings is None else settings
    n_blocks = min(len(targets), 16 * thread_count(n_jobs))
    blocks = np.array_split(np.arange(len(targets)), max(n_blocks, 1))
    grown = run(
        lambda block: [grow_tree(table, targets[at], settings) for at in block],
        blocks,
        n_jobs=n_jobs,
    )
    return [tree for block in grown for tree in block]


def grow_listed(
    table: Table, targets: ListedTargets, settings: TreeSettings | None = None
) -> Nodes:
    """Grow one tree for each of many small targets in one call.

    Parameters
    ----------
    table : Table
        The prepared columns; must be ``countable``.
    targets : ListedTargets
        What to learn; none without rows.
    settings : TreeSettings, optional
        The parameters, the same for all trees.

    Returns
    -------
    Nodes
        In the order of the targets.
    """
    settings = TreeSettings() if settings is None else settings
    none = np.zeros(0, np.uint32)
    return _grow_counted(table, table.columns_by_kind(None), targets, none, table.n_rows, settings)


def grow_tree(table: Table, target: Target, settings: TreeSettings) -> Tree:
    """Grow one tree.

    Parameters
    ----------
    table : Table
        The prepared columns.
    target : Target
        What to learn.
    settings : TreeSettings
        The parameters.

    Returns
    -------
    Tree
        Pruned, if wanted.
    """
    from scumble.learn.kernels.prune import collapse, prune_general, settle

    if target.n_classes == 2 and target.weights is None and table.countable:
        return _grow_two_classes(table, target, settings)
    sample = _sample_of(table, target)
    grow = _grow_classes if sample.single and table.countable else _grow_general
    feature, cut, first, width, branch, counts, low, high, n_nodes = grow(
        table, target, settings, sample
    )
    empty = collapse(feature, first, width, counts, n_nodes)
    n_values = table.columns.n_values
    nodes = (table.rows, n_values, feature, cut, first, width, branch, counts, empty, sample.rows)
    rules = (settings.confidence, settings.deviate, settings.subtree_raising)
    if settings.prune and table.missing:
        prune_general(*nodes, sample.y, sample.weights, *rules)
    elif settings.prune:
        from scumble.learn.kernels.prune_known import prune_known

        prune_known(*nodes, low, high, sample.y, sample.weights, sample.single, *rules)
    return Tree(*settle(n_values, feature, cut, first, width, branch, counts, empty))


class _Sample(NamedTuple):
    """The training rows of one tree; ``y`` and ``weights`` are by row of the whole table."""

    rows: Array
    y: Array
    weights: Array
    single: bool
    n_counted: float


def _listed(table: Table, target: Target) -> tuple[Array, Array, Array | None]:
    """List the rows that count, their classes, and how much they count unless once."""
    rows = table.all_rows if target.rows is None else np.asarray(target.rows)
    codes = np.asarray(target.y)
    share = target.repeats if target.weights is None else target.weights
    if share is not None:
        share = np.asarray(share, np.float64)
        keep = share > 0
        rows, codes, share = rows[keep], codes[keep], share[keep]
    if len(rows) == 0:
        raise DataError("A tree needs at least one training row with a positive weight. Got none.")
    return rows, codes, share


def _sample_of(table: Table, target: Target) -> _Sample:
    """Lay out classes and weights by row, without rows that count nothing."""
    rows, codes, share = _listed(table, target)
    y = np.zeros(table.n_rows, np.int32)
    y[rows] = codes
    weights = np.zeros(0 if share is None else table.n_rows)
    if share is not None:
        weights[rows] = share
    total = len(rows) if share is None else float(share.sum())
    return _Sample(np.array(rows, np.uint32), y, weights, share is None, total)


def _grow_two_classes(table: Table, target: Target, settings: TreeSettings) -> Tree:
    rows, codes, share = _listed(table, target)
    repeats = np.zeros(0 if share is None else table.n_rows, np.uint32)
    if share is not None:
        repeats[rows] = share
    listed = ListedTargets(np.array([0, len(rows)]), rows, codes)
    kinds = table.columns_by_kind(target.extra)
    n_counted = len(rows) if share is None else int(share.sum())
    return Tree(*_grow_counted(table, kinds, listed, repeats, n_counted, settings)[2:])


def _grow_counted(
    table: Table,
    kinds: tuple[Array, Array],
    targets: ListedTargets,
    repeats: Array,
    n_counted: int,
    settings: TreeSettings,
) -> Nodes:
    from scumble.learn.kernels.batch import grow_batch

    everything = len(targets.rows) == table.n_rows * (len(targets.starts) - 1)
    sizes, *nodes = grow_batch(
        table.rows, table.columns, table.items, *kinds, _read_only(targets.starts, np.int64),
        _read_only(targets.rows, np.uint32), _read_only(targets.y, np.uint8), repeats,
        repeats.astype(np.float64), table.item_counts,
        0 if everything or len(kinds[0]) == 0 else len(table.columns.values),
        table.x_ln_x(n_counted + 2), settings.min_objects, settings.mdl, settings.prune,
        settings.confidence, settings.deviate, settings.subtree_raising,
    )  # fmt: skip
    return Nodes._make([sizes, np.full(len(sizes), 2, np.int64), *nodes])


def _grow_classes(
    table: Table, target: Target, settings: TreeSettings, sample: _Sample
) -> tuple[Any, ...]:
    from scumble.learn.kernels.classes import grow_classes

    everything = len(sample.rows) == table.n_rows
    return grow_classes(
        table.columns, table.active_columns(target.extra), sample.rows, sample.y,
        target.n_classes, table.x_ln_x(len(sample.rows) + 2),
        np.zeros(0 if everything else len(table.columns.values), np.uint8),
        settings.min_objects, settings.mdl,
    )  # fmt: skip


def _grow_general(
    table: Table, target: Target, settings: TreeSettings, sample: _Sample
) -> tuple[Any, ...]:
    from scumble.learn.kernels.general import grow_general

    everything = len(sample.rows) == table.n_rows
    return grow_general(
        table.columns, table.active_columns(target.extra), sample.rows, sample.y, sample.weights,
        sample.single, target.repeats is not None, target.n_classes,
        table.x_ln_x(int(sample.n_counted) + 2),
        np.zeros(0 if everything else len(table.columns.values), np.uint8),
        float(settings.min_objects), settings.mdl,
    )  # fmt: skip


def x_ln_x_table(size: int) -> Array:
    """Tabulate x ln x for whole numbers below ``size``."""
    from scumble.learn.kernels.arithmetic import fill_x_ln_x

    table = np.empty(max(size, 2))
    fill_x_ln_x(table)
    return table


def predict_trees(
    trees: Sequence[Tree],
    X: Any,
    *,
    extra: Any = None,
    laplace: bool = False,
    second_only: bool = False,
    n_jobs: int | None = None,
) -> Array:
    """Ask every tree for the class probabilities of every row.

    Parameters
    ----------
    trees : sequence of Tree
        Grown on tables with the columns of ``X``.
    X : float ndarray or csr_array of shape (n_samples, n_features)
        The rows.
    extra : csr_array of bool, optional
        The extra columns.
    laplace : bool
        Whether to smooth the counts by one per class.
    second_only : bool
        Whether to give the probability of class 1 alone: one column a tree.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    array of shape (n_samples, total number of classes)
        The columns of one tree follow those of the tree before.
    """
    from scumble.learn.forest import Forest  # which is made of the trees of this module

    forest = Forest.of(trees, laplace=laplace)
    if second_only:
        forest = forest.second_only()
    return forest.ask(X, extra=extra, n_jobs=n_jobs)
