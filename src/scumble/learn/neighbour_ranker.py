"""The labels of near rows as scores."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.neighbours import Space, nearest_neighbours
from scumble._core.parameters import Int, default
from scumble.learn.base import BaseRanker, parameters
from scumble.learn.features import append_columns
from scumble.learn.scaling import Scaling, normalize_rows


@parameters()
class NeighbourRanker(BaseRanker, name="neighbours", display_group="Rankers"):
    """Let the nearest rows vote for their labels, the nearer the louder.

    A rare label needs but one row that is near to be thought of. What a training row would be
    told without itself is what its neighbours say, so that out-of-sample scores cost one search.

    Parameters
    ----------
    n_neighbors : int, default=20
        Number of nearest rows to ask. A training set with fewer other rows asks them all.

    Attributes
    ----------
    space_ : Space
        The training rows, on one scale and of length one.
    labels_ : csr_array of float64, shape (n_samples, n_labels)
        Their labels.
    n_neighbors_ : int
        How many rows are asked.

    See Also
    --------
    MLkNN : Judges the number of neighbours with a label by Bayes' rule.

    Notes
    -----
    The score of a label is the share of the votes of the neighbours that have it. A vote is the
    cosine of the two rows, not less than a millionth, times the weight of the neighbour. Rows are
    scaled first, see `scumble.learn.scaling`; of equally near rows the earlier are asked.
    The search compares all rows with each other.

    Examples
    --------
    >>> from scumble.learn import NeighbourRanker
    >>> X = [[1, 0, 0], [1, 0.2, 0], [0, 1, 0], [0, 1, 0.1]]
    >>> Y = [[1, 0], [1, 1], [0, 1], [0, 1]]
    >>> NeighbourRanker(n_neighbors=2).fit(X, Y).predict_proba([[1, 0.1, 0]]).round(1)
    array([[1. , 0.5]])
    """

    n_neighbors: int = default(20, Int(1))

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        self._scaling, rows = Scaling.of(X, self._codes.n_values, weights, n_jobs=self.n_jobs)
        self.space_: Space = Space.of(_place(rows), scale=False)
        self._weights = np.ones(X.shape[0]) if weights is None else weights
        self.labels_: sparse.csr_array = Y.astype(np.float64)
        self._shares = np.asarray(self._weights @ self.labels_) / self._weights.sum()
        self.n_neighbors_: int = min(int(self.n_neighbors), X.shape[0] - 1)

    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, weights: Array | None) -> Array:
        self._fit(X, Y, weights)
        return self._votes(None, X.shape[0])

    def _predict_scores(self, X: Any) -> Array:
        placed = _place(self._scaling.transform(X, n_jobs=self.n_jobs))
        return self._votes(self.space_.place(placed), X.shape[0])

    def _votes(self, queries: Space | None, n_rows: int) -> Array:
        """Count votes; of the training rows where no others are given, none its own neighbour."""
        k = self.n_neighbors_
        if k == 0:
            return np.tile(self._shares, (n_rows, 1))
        found = nearest_neighbours(self.space_, k, queries=queries, n_jobs=self.n_jobs)
        cosines = np.maximum(1 - found.distances**2 / 2, 1e-6)
        votes = cosines * self._weights[found.rows]
        starts = np.arange(0, votes.size + 1, k)
        shape = (n_rows, self.labels_.shape[0])
        voters = sparse.csr_array((votes.ravel(), found.rows.ravel(), starts), shape=shape)
        return (voters @ self.labels_).toarray() / votes.sum(axis=1, keepdims=True)


def _place(rows: Any) -> Any:
    """Bring rows to length one; those of zeros are alike, and like no others."""
    rows = normalize_rows(rows)
    stored = np.diff(rows.indptr) if sparse.issparse(rows) else rows.any(axis=1)
    return append_columns(rows, (stored == 0)[:, None].astype(np.float64))
