"""Base class of the classifiers that use the labels of the nearest training rows."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.neighbours import Space, nearest_neighbours
from scumble._core.parameters import Choice, Int
from scumble.learn.base import BaseMultilabelClassifier
from scumble.learn.classifier_tags import ClassifierTags


class NeighbourClassifier(BaseMultilabelClassifier):
    """Base class of the classifiers that count the labels of the nearest training rows."""

    classifier_tags = ClassifierTags(weights_equal_repetitions=False)
    _parameter_constraints = {
        **BaseMultilabelClassifier._parameter_constraints,
        "n_neighbors": Int(minimum=1),
        "ties": Choice("weka", "row"),
    }
    n_neighbors: int
    ties: str

    def _store_training_rows(self, X: Any, Y: sparse.csr_array) -> None:
        """Set `space_` (the scaled training rows), `labels_` and `n_neighbors_`."""
        self.space_ = Space.from_matrix(X, self._codes.n_values, shift=True)
        self.labels_ = Y.copy()
        # A training row is not a neighbour of itself.
        self.n_neighbors_ = min(int(self.n_neighbors), X.shape[0] - 1)

    def _count_labels(self, X: Any = None) -> sparse.csr_array:
        """Return how many neighbours of each row of X have each label, shape (n_rows, n_labels).

        If X is None, the rows are the training rows, which are no neighbours of themselves.
        """
        counts = sparse.csr_array(self._neighbours(X) @ self.labels_.astype(np.float64))
        counts.sort_indices()
        return counts

    def _neighbours(self, X: Any = None) -> sparse.csr_array:
        """Return a matrix of shape (n_rows, n_training_rows) with 1 for the neighbours of a row.

        If X is None, the rows are the training rows, which are no neighbours of themselves.
        """
        n_training_rows = len(self.space_)
        k = self.n_neighbors_
        n_rows = n_training_rows if X is None else X.shape[0]
        if k == 0:
            return sparse.csr_array((n_rows, n_training_rows))
        queries = None if X is None else self.space_.transform(X)
        nearest = nearest_neighbours(
            self.space_, k, queries=queries, ties=self.ties, n_jobs=self.n_jobs
        ).rows
        csr_parts = (np.ones(nearest.size), nearest.ravel(), np.arange(0, nearest.size + 1, k))
        return sparse.csr_array(csr_parts, shape=(n_rows, n_training_rows))
