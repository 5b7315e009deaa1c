"""Many trees as a few arrays: quick to ask, small to keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads
from scumble.learn.c45.predict import predict_rows
from scumble.learn.c45.table import as_row_arrays, even_ranges
from scumble.learn.c45.tree import Nodes, Tree, concatenate_ranges, find_parents, start_offsets


@dataclass(frozen=True, eq=False)
class Forest:
    """The nodes of many trees, one tree after another."""

    roots: Array  # int64, by tree: its first node
    feature: Array  # int32, by node: the column it asks for, -1 at a leaf
    cut: Array  # values at or below it go to the first branch; NaN where the column is nominal
    first: Array  # first child
    width: Array  # number of children
    share: Array  # part of its parent's rows that came down to a node; -1 for an empty leaf
    leaf: Array  # where the probabilities of a node begin
    probabilities: Array  # class probabilities of the nodes, flat
    n_classes: Array  # int64, by tree

    @classmethod
    def from_trees(cls, trees: Sequence[Tree | Nodes], *, laplace: bool = False) -> Forest:
        """Put trees of the same columns together; ``laplace`` smooths by one row per class."""
        nodes = concatenate_nodes(trees)
        roots = start_offsets(nodes.sizes)
        feature = nodes.feature.astype(np.int32, copy=False)
        width = nodes.width.astype(np.int32, copy=False)
        first = nodes.first.astype(np.int64) + np.repeat(roots, nodes.sizes)
        empty = nodes.empty.astype(bool)
        parent = find_parents(feature, first, width)
        per_node = np.repeat(nodes.n_classes, nodes.sizes)
        leaf = start_offsets(per_node)
        totals = np.add.reduceat(nodes.counts, leaf) if len(leaf) else np.zeros(0)
        shares = _shares(nodes.branch, totals, parent, empty)
        source = np.where(empty & (parent >= 0), parent, np.arange(len(parent)))
        answers = _answers(nodes.counts, totals, leaf, per_node, source, laplace=laplace)
        return cls(roots, feature, nodes.cut, first, width, shares, leaf, answers, nodes.n_classes)

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.roots)

    def positive_only(self) -> Forest:
        """Give trees that answer with the probability of class 1 alone."""
        answers, ones = self.probabilities[self.leaf + 1], np.ones_like(self.n_classes)
        return replace(self, leaf=np.arange(len(answers)), probabilities=answers, n_classes=ones)

    def ask(self, X: Any, *, extra: Any = None, n_jobs: int | None = None) -> Array:
        """Ask every tree for the class probabilities of every row, tree after tree."""
        out = np.empty((X.shape[0], int(self.n_classes.sum())))
        n_columns = X.shape[1] + (0 if extra is None else extra.shape[1])
        run_kernel_on_rows(predict_rows, self, X, n_columns, out, extra=extra, n_jobs=n_jobs)
        return out


def concatenate_nodes(trees: Sequence[Tree | Nodes]) -> Nodes:
    """Put the nodes of trees one after another, with flat counts."""
    sizes = [tree.n_nodes if isinstance(tree, Tree) else tree.sizes for tree in trees]
    n_classes, *fields = (
        _joined(getattr(tree, name) for tree in trees) for name in Nodes._fields[1:]
    )
    return Nodes(_joined(sizes).astype(np.int64), n_classes.astype(np.int64), *fields)


def run_kernel_on_rows(
    kernel: Any, forest: Forest, X: Any, *more: Any, extra: Any = None, n_jobs: int | None = None
) -> None:
    """Call a kernel that asks trees on ranges of rows, in threads where that is worth it."""
    rows, n_rows = as_row_arrays(X, extra), X.shape[0]
    blocks = even_ranges(n_rows, 1 if n_rows * len(forest) < 5_000 else 64)
    run_in_threads(lambda block: kernel(rows, forest, *block, *more), blocks, n_jobs=n_jobs)


def _joined(parts: Iterable[Any]) -> Array:
    flat = [np.ravel(part) for part in parts]
    return np.concatenate(flat) if flat else np.zeros(0)


def _shares(branch: Array, totals: Array, parent: Array, empty: Array) -> Array:
    above = totals[np.maximum(parent, 0)] if len(parent) else np.zeros(0)
    shares = np.divide(branch, above, out=np.zeros(len(branch)), where=above > 0)
    return np.where(empty, -1.0, shares)


def _answers(
    counts: Array, totals: Array, leaf: Array, width: Array, source: Array, *, laplace: bool
) -> Array:
    """Turn counts into probabilities; an empty leaf answers like its parent, its ``source``."""
    total = np.repeat(totals[source], width)
    answers = counts[concatenate_ranges(leaf[source], width)]
    if laplace:
        return (answers + 1) / (total + np.repeat(width, width))
    return np.divide(answers, total, out=np.zeros_like(answers), where=total >= 1e-6)
