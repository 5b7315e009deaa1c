"""Many trees as a few arrays: fast to predict with, and compact in memory and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads
from scumble.learn.trees.c45.predict import predict_rows
from scumble.learn.trees.c45.table import as_row_arrays, even_ranges
from scumble.learn.trees.c45.tree import (
    Nodes,
    Tree,
    concatenate_ranges,
    find_parents,
    start_offsets,
)

#: With fewer rows times trees than this, prediction takes less time than starting threads.
_MIN_PREDICTIONS_FOR_THREADS = 5_000


@dataclass(frozen=True, eq=False)
class Forest:
    """The nodes of many trees, one tree after another."""

    roots: Array  # int64, by tree: its first node
    feature: Array  # int32, by node: the column that it splits; -1 at a leaf
    cut: Array  # values at or below it go to the first branch; NaN where the column is nominal
    first: Array  # int64, by node: the first child
    width: Array  # int32, by node: number of children
    share: Array  # weight of a node as a part of its parent's weight; -1 for an empty leaf
    leaf: Array  # position of the node's first value in ``probabilities``
    probabilities: Array  # class probabilities of all nodes, flat
    n_classes: Array  # int64, by tree

    @classmethod
    def from_trees(cls, trees: Sequence[Tree | Nodes], *, laplace: bool = False) -> Forest:
        """Combine trees that were grown on the same columns.

        With ``laplace``, one row per class is added when class probabilities are computed.
        """
        nodes = concatenate_nodes(trees)
        roots = start_offsets(nodes.sizes)
        feature = nodes.feature.astype(np.int32, copy=False)
        width = nodes.width.astype(np.int32, copy=False)
        first = nodes.first.astype(np.int64) + np.repeat(roots, nodes.sizes)
        empty = nodes.empty.astype(bool)
        parent = find_parents(feature, first, width)
        n_classes_of_nodes = np.repeat(nodes.n_classes, nodes.sizes)
        leaf = start_offsets(n_classes_of_nodes)
        totals = np.add.reduceat(nodes.counts, leaf) if len(leaf) else np.zeros(0)
        # An empty leaf predicts the class probabilities of its parent.
        sources = np.where(empty & (parent >= 0), parent, np.arange(len(parent)))
        probabilities = _class_probabilities(
            counts=nodes.counts[concatenate_ranges(leaf[sources], n_classes_of_nodes)],
            totals=totals[sources],
            n_classes=n_classes_of_nodes,
            laplace=laplace,
        )
        return cls(
            roots=roots,
            feature=feature,
            cut=nodes.cut,
            first=first,
            width=width,
            share=_branch_shares(nodes.branch, totals=totals, parent=parent, empty=empty),
            leaf=leaf,
            probabilities=probabilities,
            n_classes=nodes.n_classes,
        )

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.roots)

    def positive_only(self) -> Forest:
        """Return trees that predict only the probability of class 1."""
        probabilities = self.probabilities[self.leaf + 1]
        return replace(
            self,
            leaf=np.arange(len(probabilities)),
            probabilities=probabilities,
            n_classes=np.ones_like(self.n_classes),
        )

    def predict_proba(self, X: Any, *, extra: Any = None, n_jobs: int | None = None) -> Array:
        """Return the class probabilities of all rows by all trees, side by side."""
        out = np.empty((X.shape[0], int(self.n_classes.sum())))
        n_columns = X.shape[1] + (0 if extra is None else extra.shape[1])
        run_kernel_on_rows(predict_rows, self, X, n_columns, out, extra=extra, n_jobs=n_jobs)
        return out


def concatenate_nodes(trees: Sequence[Tree | Nodes]) -> Nodes:
    """Return the nodes of all trees, one tree after another, with flat counts."""
    sizes = [tree.n_nodes if isinstance(tree, Tree) else tree.sizes for tree in trees]
    fields = {
        name: _concatenate_flat(getattr(tree, name) for tree in trees)
        for name in Nodes._fields
        if name != "sizes"
    }
    fields["n_classes"] = fields["n_classes"].astype(np.int64)
    return Nodes(sizes=_concatenate_flat(sizes).astype(np.int64), **fields)


def run_kernel_on_rows(
    kernel: Callable[..., None],
    forest: Forest,
    X: Any,
    *arguments: Any,
    extra: Any = None,
    n_jobs: int | None = None,
) -> None:
    """Call ``kernel(rows, forest, start, stop, *arguments)`` for ranges of rows, in threads.

    There is only one range if so few rows and trees do not need threads.
    """
    rows = as_row_arrays(X, extra)
    n_rows = X.shape[0]
    n_ranges = 1 if n_rows * len(forest) < _MIN_PREDICTIONS_FOR_THREADS else 64
    run_in_threads(
        lambda block: kernel(rows, forest, *block, *arguments),
        even_ranges(n_rows, n_ranges),
        n_jobs=n_jobs,
    )


def _concatenate_flat(parts: Iterable[Any]) -> Array:
    """Concatenate the values of arrays or numbers."""
    flat = [np.ravel(part) for part in parts]
    return np.concatenate(flat) if flat else np.zeros(0)


def _branch_shares(branch: Array, *, totals: Array, parent: Array, empty: Array) -> Array:
    """Return the weight of each node as a part of its parent's weight; -1 for empty leaves."""
    parent_totals = totals[np.maximum(parent, 0)] if len(parent) else np.zeros(0)
    shares = np.divide(branch, parent_totals, out=np.zeros(len(branch)), where=parent_totals > 0)
    return np.where(empty, -1.0, shares)


def _class_probabilities(*, counts: Array, totals: Array, n_classes: Array, laplace: bool) -> Array:
    """Return the class probabilities of all nodes, flat.

    ``counts`` are flat, too; ``totals`` and ``n_classes`` are by node.
    """
    totals = np.repeat(totals, n_classes)
    if laplace:
        return (counts + 1) / (totals + np.repeat(n_classes, n_classes))
    return np.divide(counts, totals, out=np.zeros_like(counts), where=totals >= 1e-6)
