"""Many C4.5 trees on one table, which is prepared once, shared read-only and used in parallel.

`prepare_table` sorts the columns, `grow_trees` grows a tree for each `Target`, `predict_trees`
predicts with all of them. `scumble.learn.C45Classifier` and the multilabel classifiers use these
functions.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError
from scumble._core.parallel import run_in_threads, thread_count
from scumble.learn.trees.c45 import grow as kernels
from scumble.learn.trees.c45.forest import Forest
from scumble.learn.trees.c45.table import PreparedTable, as_readonly_array, even_ranges
from scumble.learn.trees.c45.tree import Nodes, Tree, TreeSettings
from scumble.learn.weights import apply_class_weight, compute_class_weight_factors

#: Largest table of x ln x for weights that are not numbers of rows, whose sum has no limit; for
#: larger weights the logarithms are computed. 4 million numbers take 32 MB.
_LARGEST_TABLE = 1 << 22


@dataclass(frozen=True)
class Target:
    """The classes that one tree learns, with its training rows and columns.

    Parameters
    ----------
    y : array of int
        Class code of each training row, in the order of ``rows``.
    n_classes : int
        Number of declared classes.
    rows : array of int, optional
        Indices of the training rows in the table, each once; all rows by default.
    repeats : array of int, optional
        Number of times that each row is repeated, as in a bootstrap sample.
    weights : array of float, optional
        Weight of each row; with ``repeats``, of each repetition.
    extra : array of int, optional
        Indices of the extra columns of the table that may be used; none by default.
    columns : array of int, optional
        Indices of the features of the table that may be used, ascending; all by default.

    Examples
    --------
    Three rows of a bootstrap sample, one of them drawn twice.

    >>> import numpy as np
    >>> from scumble.learn.trees.c45 import Target
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
    """Targets of trees that have the same classes and columns.

    Target t consists of ``y[starts[t]:starts[t + 1]]`` and of the same slice of ``rows`` and
    ``weights``.
    """

    starts: Array
    rows: Array
    y: Array
    weights: Array = np.zeros(0)  # empty if every row has weight 1
    repeated: bool = True  # whether weights are numbers of repetitions
    n_classes: int = 2
    columns: Array | None = None  # that trees may use; all features if None


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
        The targets to learn.
    settings : TreeSettings, optional
        The parameters of C4.5, the same for all trees.
    n_jobs : int, optional
        Number of threads. The result does not depend on it.

    Returns
    -------
    list of Tree
        The trees, in the order of the targets.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.learn.trees.c45 import Target, grow_trees, prepare_table
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> table = prepare_table(X, np.array([0]))
    >>> tree = grow_trees(table, [Target(np.array([0, 0, 1, 1]))])[0]
    >>> tree.cut[0], tree.n_leaves
    (np.float64(2.0), 2)
    """
    tree_settings = TreeSettings() if settings is None else settings

    def grow_block(block: tuple[int, int]) -> list[Tree]:
        return [grow_tree(table, targets[index], tree_settings) for index in range(*block)]

    blocks = even_ranges(len(targets), 16 * thread_count(n_jobs))
    trees_of_blocks = run_in_threads(grow_block, blocks, n_jobs=n_jobs)
    return list(itertools.chain.from_iterable(trees_of_blocks))


def grow_tree_batch(table: PreparedTable, targets: TargetBatch, settings: TreeSettings) -> Nodes:
    """Grow one tree for each of many small two-class targets in one call.

    Every target must have at least one row.
    """
    targets = _apply_class_weight(targets, settings.class_weight)
    return _grow(table, targets._replace(repeated=len(targets.weights) == 0), settings)


def _apply_class_weight(targets: TargetBatch, class_weight: Any) -> TargetBatch:
    """Multiply the weights of each target's rows by the factors of their classes."""
    if class_weight is None or len(targets.starts) < 2:
        return targets
    y = np.asarray(targets.y, np.intp)
    weights = targets.weights if len(targets.weights) else np.ones(len(y))
    weight_by_class = np.zeros((len(y), 2))
    weight_by_class[np.arange(len(y)), y] = weights
    class_totals = np.add.reduceat(weight_by_class, targets.starts[:-1])
    factors = compute_class_weight_factors(class_totals, class_weight)
    target_of_row = np.repeat(np.arange(len(factors)), np.diff(targets.starts))
    return targets._replace(weights=weights * factors[target_of_row, y])


def grow_tree(table: PreparedTable, target: Target, settings: TreeSettings) -> Tree:
    """Grow one tree, and prune it if the settings say so."""
    nodes = _grow(table, _as_batch(table, target, settings.class_weight), settings)
    return Tree(
        feature=nodes.feature,
        cut=nodes.cut,
        first=nodes.first,
        width=nodes.width,
        branch=nodes.branch,
        empty=nodes.empty,
        counts=nodes.counts,
    )


def _as_batch(table: PreparedTable, target: Target, class_weight: Any) -> TargetBatch:
    """Return a batch of one target, without rows of weight zero."""
    rows = table.all_rows if target.rows is None else np.asarray(target.rows)
    y = np.asarray(target.y)
    row_weights = target.weights
    are_repetitions = target.weights is None
    if target.repeats is not None:
        repeats = np.asarray(target.repeats, np.float64)
        row_weights = repeats if row_weights is None else repeats * row_weights
    if class_weight is not None:
        weighted = apply_class_weight(y, row_weights, target.n_classes, class_weight)
        are_repetitions = are_repetitions and weighted is row_weights
        row_weights = weighted
    weights = np.zeros(0)
    if row_weights is not None:
        weights = np.asarray(row_weights, np.float64)
        is_positive = weights > 0
        rows = rows[is_positive]
        y = y[is_positive]
        weights = weights[is_positive]
    if len(rows) == 0:
        raise DataError("A tree needs at least one training row with a positive weight. Got none.")
    return TargetBatch(
        starts=np.array([0, len(rows)]),
        rows=rows,
        y=y,
        weights=weights,
        repeated=are_repetitions,
        n_classes=target.n_classes,
        columns=table.active_columns(target.extra, target.columns),
    )


def _check_targets(table: PreparedTable, targets: TargetBatch, settings: TreeSettings) -> None:
    """Raise an error for sizes, rows or classes with which kernels would read invalid memory."""
    starts = targets.starts
    rows = targets.rows
    y = targets.y
    weights = targets.weights
    n_classes = targets.n_classes
    is_consistent = (
        len(rows) == len(y) == starts[-1]
        and len(weights) in (0, len(rows))
        and starts[0] == 0
        and (np.diff(starts) >= 1).all()
    )
    if not is_consistent or settings.min_objects < 1:
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
            f"The classes of a target must be codes in 0..{n_classes - 1}, where n_classes is "
            f"{n_classes}. Got {y.min()} to {y.max()}."
        )


def _grow(table: PreparedTable, targets: TargetBatch, settings: TreeSettings) -> Nodes:
    """Check the targets and grow one tree for each of them."""
    _check_targets(table, targets, settings)
    columns = table.active_columns() if targets.columns is None else targets.columns
    kernel_targets = targets._replace(
        starts=as_readonly_array(targets.starts, np.int64),
        rows=as_readonly_array(targets.rows, np.uint32),
        y=as_readonly_array(targets.y, np.int32),
        columns=columns,
    )
    if len(targets.weights):
        total_weights = np.add.reduceat(targets.weights, targets.starts[:-1])
    else:
        total_weights = np.diff(targets.starts)
    largest_weight = total_weights.max(initial=0)
    if not targets.repeated:
        largest_weight = min(largest_weight, max(table.n_rows, _LARGEST_TABLE))
    x_ln_x_table = table.x_ln_x(int(largest_weight) + 2)
    nodes = kernels.grow_trees(table, kernel_targets, settings, x_ln_x_table)
    n_trees = len(nodes["sizes"])
    return Nodes(n_classes=np.full(n_trees, targets.n_classes, np.int64), **nodes)


def predict_trees(
    trees: Sequence[Tree],
    X: Any,
    *,
    extra: Any = None,
    laplace: bool = False,
    positive_only: bool = False,
    n_jobs: int | None = None,
) -> Array:
    """Predict the class probabilities of every row by every tree.

    Parameters
    ----------
    trees : sequence of Tree
        Trees that were grown on tables with the columns of ``X``.
    X : float ndarray or csr_array of shape (n_samples, n_features)
        Rows to predict.
    extra : csr_array of bool, optional
        The extra columns of these rows.
    laplace : bool
        Whether to smooth the probabilities by adding one row per class.
    positive_only : bool
        Whether to return only the probability of class 1, as one column per tree.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    array of shape (n_samples, total number of classes)
        The columns of the first tree, followed by those of the second one, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.learn.trees.c45 import Target, grow_trees, predict_trees, prepare_table
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
    return forest.predict_proba(X, extra=extra, n_jobs=n_jobs)
