"""A grown tree, and its settings."""

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, to_dense


@dataclass(frozen=True)
class TreeSettings:
    """The parameters of C4.5 and their defaults; see `C45Classifier`.

    Examples
    --------
    >>> from scumble.learn.c45 import TreeSettings
    >>> TreeSettings(prune=False).min_objects
    2
    """

    confidence: float = 0.25
    min_objects: int = 2
    prune: bool = True
    subtree_raising: bool = True
    mdl: bool = True
    class_weight: Any = None  # None, a rule, or factors by code: see `compute_class_weight_factors`

    @cached_property
    def deviate(self) -> float:
        """The standard normal deviate of the confidence."""
        return NormalDist().inv_cdf(1 - self.confidence)


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

    Examples
    --------
    >>> from scumble.learn import C45Classifier
    >>> tree = C45Classifier().fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]).tree_
    >>> tree.cut[0], tree.counts.tolist()
    (np.float64(2.0), [[2.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
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
        return find_parents(self.feature, self.first, self.width)

    def information_gains(self) -> Array:
        """Give the information each inner node gains, times its weight, in bits; 0 for leaves."""
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
        rows = [np.arange(X.shape[0]), *[np.empty(0, int)] * (self.n_nodes - 1)]
        for node in np.flatnonzero(self.feature >= 0):  # parents come before their children
            if not len(here := rows[node]):
                continue
            cells = to_dense(by_column[:, [int(self.feature[node])]])[here, 0]
            lost = np.isnan(cells)
            side = cells > self.cut[node] if not np.isnan(self.cut[node]) else cells
            for turn in range(self.width[node]):
                child = self.first[node] + turn
                passing = (side == turn) & ~lost
                rows[child] = here[passing if self.empty[child] else passing | lost]
        indptr = np.concatenate([[0], np.cumsum([len(part) for part in rows])])
        indices = np.concatenate(rows)
        shape = (X.shape[0], self.n_nodes)
        path = sparse.csc_array((np.ones(len(indices), bool), indices, indptr), shape=shape)
        return path.tocsr()


def start_offsets(sizes: Array) -> Array:
    """Tell where each of many parts begins when they stand one after another."""
    return (np.cumsum(sizes) - sizes).astype(np.int64)


def concatenate_ranges(starts: Array, sizes: Array) -> Array:
    """List the numbers of many ranges one after another."""
    inside = np.arange(sizes.sum()) - np.repeat(start_offsets(sizes), sizes)
    return np.repeat(starts, sizes) + inside


def find_parents(feature: Array, first: Array, width: Array) -> Array:
    """Tell the parent of every node, -1 for a root."""
    parent = np.full(len(feature), -1, np.int64)
    inner = np.flatnonzero(feature >= 0)
    parent[concatenate_ranges(first[inner], width[inner].astype(np.int64))] = np.repeat(
        inner, width[inner]
    )
    return parent
