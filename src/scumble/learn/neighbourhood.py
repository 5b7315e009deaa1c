"""What the classifiers that ask the labels of near rows share."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.neighbours import Space, nearest_neighbours
from scumble._core.parameters import Choice, Int, default
from scumble.learn.base import BaseMultilabelClassifier, parameters


@parameters()
class NeighbourClassifier(BaseMultilabelClassifier):
    """Base of the classifiers that count the labels of the nearest training rows."""

    n_neighbors: int = default(10, Int(1))
    _: KW_ONLY
    ties: str = default("weka", Choice("weka", "row"))

    def _store_training_rows(self, X: Any, Y: sparse.csr_array) -> None:
        """Keep the training rows. Each has all others to choose its neighbours from, no more."""
        self.space_ = Space.of(X, self._codes.n_values, shift=True)
        self.labels_ = Y.copy()
        self.n_neighbors_ = min(int(self.n_neighbors), X.shape[0] - 1)

    def _count_labels(self, X: Any = None) -> sparse.csr_array:
        """Count for each row and label the neighbours that have it."""
        counts = sparse.csr_array(self._neighbours(X) @ self.labels_.astype(np.float64))
        counts.sort_indices()
        return counts

    def _neighbours(self, X: Any = None) -> sparse.csr_array:
        """Mark the neighbours of each row with 1 among the training rows."""
        n_points, k = len(self.space_), self.n_neighbors_
        shape = (n_points if X is None else X.shape[0], n_points)
        if k == 0:
            return sparse.csr_array(shape)
        queries = None if X is None else self.space_.place(X)
        found = nearest_neighbours(
            self.space_, k, queries=queries, ties=self.ties, n_jobs=self.n_jobs
        ).rows
        cells = (np.ones(found.size), found.ravel(), np.arange(0, found.size + 1, k))
        return sparse.csr_array(cells, shape=shape)
