"""Many C4.5 trees on one table: prepared once, shared read-only, grown in parallel.

`prepare_table` sorts the columns, `grow_trees` grows a tree for each `Target`, `predict_trees`
asks them all. `scumble.learn.C45Classifier` and the multilabel classifiers stand on these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError
from scumble._core.parallel import run_in_threads, thread_count
from scumble.learn.c45 import grow as kernels
from scumble.learn.c45.forest import Forest
from scumble.learn.c45.table import PreparedTable, as_readonly_array, even_ranges
from scumble.learn.c45.tree import Nodes, Tree, TreeSettings
from scumble.learn.weights import apply_class_weight, compute_class_weight_factors

#: Weights that are no numbers of rows may sum to anything; beyond this, logarithms are computed.
_LARGEST_TABLE = 1 << 22


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
        Weight of each row, or of each time it counts where there are ``repeats``.
    extra : array of int, optional
        Which of the table's extra columns may be used; none by default.
    columns : array of int, optional
        Which of the table's own columns may be used, ascending; all by default.

    Examples
    --------
    Three rows of a bootstrap sample, one of them drawn twice.

    >>> import numpy as np
    >>> from scumble.learn.c45 import Target
    >>> target = Target(np.array([0, 1, 1]), rows=np.array([0, 2, 5]), repeats=np.array([1, 2, 1]))
    >>> target.n_classes
    2
    """

    y: Array
    n_classes: int = 2
    rows: Array | None = None
    repeats: Array | None = None
    weights: Array | None = None
    extra: Array | None = None
    columns: Array | None = None


class TargetBatch(NamedTuple):
    """What trees of one kind learn: t learns ``y[starts[t]:starts[t + 1]]`` from ``rows`` there."""

    starts: Array
    rows: Array
    y: Array
    weights: Array = np.zeros(0)  # how much each row counts; empty where each counts once
    repeated: bool = True  # whether weights are numbers of equal rows
    n_classes: int = 2
    columns: Array | None = None  # that trees may use; all features where None


def grow_trees(
    table: PreparedTable,
    targets: Sequence[Target],
    settings: TreeSettings | None = None,
    *,
    n_jobs: int | None = None,
) -> list[Tree]:
    """Grow one tree for each target.

    Parameters
    ----------
    table : PreparedTable
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
    >>> from scumble.learn.c45 import Target, grow_trees, prepare_table
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> table = prepare_table(X, np.array([0]))
    >>> tree = grow_trees(table, [Target(np.array([0, 0, 1, 1]))])[0]
    >>> tree.cut[0], tree.n_leaves
    (np.float64(2.0), 2)
    """
    settings = TreeSettings() if settings is None else settings
    grown = run_in_threads(
        lambda block: [grow_tree(table, targets[at], settings) for at in range(*block)],
        even_ranges(len(targets), 16 * thread_count(n_jobs)),
        n_jobs=n_jobs,
    )
    return [tree for block in grown for tree in block]


def grow_tree_batch(table: PreparedTable, targets: TargetBatch, settings: TreeSettings) -> Nodes:
    """Grow one tree for each of many small two-class targets, none without rows, in one call."""
    targets = _weighed(targets, settings.class_weight)
    return _grow(table, targets._replace(repeated=not len(targets.weights)), settings)


def _weighed(targets: TargetBatch, class_weight: Any) -> TargetBatch:
    """Multiply the weights of rows by the factors of their classes, target by target."""
    if class_weight is None or len(targets.starts) < 2:
        return targets
    y = np.asarray(targets.y, np.intp)
    weights = targets.weights if len(targets.weights) else np.ones(len(y))
    cells = np.zeros((len(y), 2))
    cells[np.arange(len(y)), y] = weights
    factors = compute_class_weight_factors(
        np.add.reduceat(cells, targets.starts[:-1]), class_weight
    )
    target_of = np.repeat(np.arange(len(factors)), np.diff(targets.starts))
    return targets._replace(weights=weights * factors[target_of, y])


def grow_tree(table: PreparedTable, target: Target, settings: TreeSettings) -> Tree:
    """Grow one tree, and prune it if wanted."""
    nodes = _grow(table, _rows_that_count(table, target, settings.class_weight), settings)
    return Tree(*nodes[2:])


def _rows_that_count(table: PreparedTable, target: Target, class_weight: Any) -> TargetBatch:
    """List the rows that count."""
    rows = table.all_rows if target.rows is None else np.asarray(target.rows)
    y = np.asarray(target.y)
    share, repeated = target.weights, target.weights is None
    if target.repeats is not None:
        times = np.asarray(target.repeats, np.float64)
        share = times if share is None else times * share
    if class_weight is not None:
        plain, share = share, apply_class_weight(y, share, target.n_classes, class_weight)
        repeated = repeated and share is plain
    weights = np.zeros(0) if share is None else np.asarray(share, np.float64)
    if share is not None:
        keep = weights > 0
        rows, y, weights = rows[keep], y[keep], weights[keep]
    if len(rows) == 0:
        raise DataError("A tree needs at least one training row with a positive weight. Got none.")
    columns = table.active_columns(target.extra, target.columns)
    starts = np.array([0, len(rows)])
    return TargetBatch(starts, rows, y, weights, repeated, target.n_classes, columns)


def _check_targets(table: PreparedTable, targets: TargetBatch, settings: TreeSettings) -> None:
    """Refuse what kernels would trust: rows, classes and sizes that are not there."""
    starts, rows, y, weights, _, n_classes, _ = targets
    fits = len(rows) == len(y) == starts[-1] and len(weights) in (0, len(rows))
    if not fits or starts[0] != 0 or (np.diff(starts) < 1).any() or settings.min_objects < 1:
        raise DataError(
            "Targets need a class, and a weight if any has one, for each of their rows, at least "
            f"one row each, and min_objects of at least 1. Got {len(rows)} rows, {len(y)} classes, "
            f"{len(weights)} weights and min_objects={settings.min_objects}."
        )
    if len(rows) and not (rows.min() >= 0 and rows.max() < table.n_rows):
        raise DataError(
            f"The rows of a target must be in 0..{table.n_rows - 1}, the rows of the table. "
            f"Got {rows.min()} to {rows.max()}."
        )
    if len(y) and not (y.min() >= 0 and y.max() < n_classes):
        raise DataError(
            f"The classes of a target must be codes in 0..{n_classes - 1}: n_classes tells their "
            f"number. Got {y.min()} to {y.max()}."
        )


def _grow(table: PreparedTable, targets: TargetBatch, settings: TreeSettings) -> Nodes:
    _check_targets(table, targets, settings)
    starts, weights = targets.starts, targets.weights
    targets = targets._replace(
        starts=as_readonly_array(starts, np.int64),
        rows=as_readonly_array(targets.rows, np.uint32),
        y=as_readonly_array(targets.y, np.int32),
        columns=table.active_columns() if targets.columns is None else targets.columns,
    )
    sums = np.add.reduceat(weights, starts[:-1]) if len(weights) else np.diff(starts)
    most = sums.max(initial=0)
    if not targets.repeated:
        most = min(most, max(table.n_rows, _LARGEST_TABLE))
    sizes, *nodes = kernels.grow_trees(table, targets, settings, table.x_ln_x(int(most) + 2))
    return Nodes._make([sizes, np.full(len(sizes), targets.n_classes, np.int64), *nodes])


def predict_trees(
    trees: Sequence[Tree],
    X: Any,
    *,
    extra: Any = None,
    laplace: bool = False,
    positive_only: bool = False,
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

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.learn.c45 import Target, grow_trees, predict_trees, prepare_table
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> targets = [Target(np.array([0, 0, 1, 1])), Target(np.array([1, 1, 0, 0]))]
    >>> trees = grow_trees(prepare_table(X, np.array([0])), targets)
    >>> predict_trees(trees, X[[0, 3]], positive_only=True)
    array([[0., 1.],
           [1., 0.]])
    """
    forest = Forest.from_trees(trees, laplace=laplace)
    if positive_only:
        forest = forest.positive_only()
    return forest.ask(X, extra=extra, n_jobs=n_jobs)
