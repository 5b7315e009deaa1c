"""A grown tree, and the settings for growing it."""

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
    >>> from scumble.learn.trees.c45 import TreeSettings
    >>> TreeSettings(prune=False).min_objects
    2
    """

    confidence: float = 0.25
    min_objects: int = 2
    prune: bool = True
    subtree_raising: bool = True
    mdl: bool = True
    class_weight: Any = None  # None, a rule or factors by code, see `compute_class_weight_factors`

    @cached_property
    def normal_quantile(self) -> float:
        """The quantile of the standard normal distribution at 1 - ``confidence``."""
        return NormalDist().inv_cdf(1 - self.confidence)


class Nodes(NamedTuple):
    """The nodes of several trees, one tree after another.

    The fields from ``feature`` on are by node and have the meaning of those of `Tree`; indices in
    ``first`` are counted from the root of the tree.
    """

    sizes: Array  # int64, by tree: number of nodes
    n_classes: Array  # int64, by tree
    feature: Array
    cut: Array
    first: Array
    width: Array
    branch: Array
    empty: Array
    counts: Array  # of shape (n_nodes, n_classes), or flat if the trees differ in their classes


@dataclass(frozen=True)
class Tree:
    """A grown tree, as arrays with an element for each node.

    Node 0 is the root. Children come after their parent and have consecutive indices.

    Parameters
    ----------
    feature : array of int
        Column that a node splits; -1 at a leaf.
    cut : array of float
        Values at or below it go to the first branch; NaN where the column is nominal.
    first, width : arrays of int
        Index of the first child, and number of children.
    branch : array of float
        Weight of the training rows that reached the node.
    empty : array of bool
        Whether the node is a leaf that no training row reached.
    counts : array of shape (n_nodes, n_classes)
        Weight of the training rows of each class that reached the node. Rows with a missing value
        count in every branch with a part of their weight.

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
        """Number of nodes: leaves and inner nodes."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves, including leaves without training rows."""
        return int(np.count_nonzero(self.feature < 0))

    @property
    def n_classes(self) -> int:
        """Number of declared classes."""
        return int(self.counts.shape[1])

    @cached_property
    def parent(self) -> Array:
        """Index of the parent of every node; -1 for the root."""
        return find_parents(self.feature, self.first, self.width)

    def information_gains(self) -> Array:
        """Return the information gain of each node's split in bits, times the node's weight.

        Leaves have a gain of 0, and so have splits whose gain is negative.
        """
        weights = self.counts.sum(axis=1, keepdims=True)
        shares = np.divide(
            self.counts, weights, out=np.ones_like(self.counts), where=self.counts > 0
        )
        entropies = -(self.counts * np.log2(shares)).sum(axis=1)
        gains = np.where(self.feature >= 0, entropies, 0.0)
        children = np.flatnonzero(self.parent >= 0)
        np.subtract.at(gains, self.parent[children], entropies[children])
        return np.maximum(gains, 0.0)

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : float ndarray or csr_array
            The rows.

        Returns
        -------
        csr_array of bool, shape (n_samples, n_nodes)
            True where a row passes a node. A row passes every non-empty branch of a node where
            its value is missing.
        """
        X_by_column = X.tocsc() if sparse.issparse(X) else X
        rows_of_nodes = [np.arange(X.shape[0])]  # indices of the rows that pass each node
        rows_of_nodes += [np.empty(0, int)] * (self.n_nodes - 1)
        for node in np.flatnonzero(self.feature >= 0):  # parents come before their children
            rows = rows_of_nodes[node]
            if len(rows) == 0:
                continue
            values = to_dense(X_by_column[:, [int(self.feature[node])]])[rows, 0]
            is_missing = np.isnan(values)
            is_nominal = np.isnan(self.cut[node])
            branches = values if is_nominal else values > self.cut[node]
            for branch in range(self.width[node]):
                child = self.first[node] + branch
                is_passing = (branches == branch) & ~is_missing
                if not self.empty[child]:
                    is_passing |= is_missing
                rows_of_nodes[child] = rows[is_passing]
        indptr = np.concatenate([[0], np.cumsum([len(rows) for rows in rows_of_nodes])])
        indices = np.concatenate(rows_of_nodes)
        shape = (X.shape[0], self.n_nodes)
        path = sparse.csc_array((np.ones(len(indices), bool), indices, indptr), shape=shape)
        return path.tocsr()


def start_offsets(sizes: Array) -> Array:
    """Return the position of the first element of each array, if arrays are concatenated.

    ``sizes`` are their numbers of elements.
    """
    return (np.cumsum(sizes) - sizes).astype(np.int64)


def concatenate_ranges(starts: Array, sizes: Array) -> Array:
    """Return the integers of all ranges in one array.

    Range i consists of ``sizes[i]`` integers, of which ``starts[i]`` is the first.
    """
    offsets_in_range = np.arange(sizes.sum()) - np.repeat(start_offsets(sizes), sizes)
    return np.repeat(starts, sizes) + offsets_in_range


def find_parents(feature: Array, first: Array, width: Array) -> Array:
    """Return the index of the parent of every node; -1 for a root.

    The arrays are those of a `Tree` or `Forest`.
    """
    parent = np.full(len(feature), -1, np.int64)
    inner_nodes = np.flatnonzero(feature >= 0)
    widths = width[inner_nodes].astype(np.int64)
    parent[concatenate_ranges(first[inner_nodes], widths)] = np.repeat(inner_nodes, widths)
    return parent
