"""A ranker that scores labels by the nearest training rows."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.neighbours import Space, nearest_neighbours
from scumble._core.parameters import Int
from scumble.learn.base import BaseRanker
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.features import append_columns
from scumble.learn.rankers.scaling import Scaling, normalize_rows

#: The smallest similarity of a neighbour, so that the similarities of all never sum to 0.
_MIN_SIMILARITY = 1e-6


class NeighbourRanker(BaseRanker, name="neighbours", display_group="Rankers"):
    """Similarity-weighted shares of the labels among the nearest training rows.

    A rare label gets a high score from a single similar row. Out-of-sample scores are those of the
    other training rows, so that they cost one search.

    Parameters
    ----------
    n_neighbors : int, default=20
        Number of nearest rows; all other rows if there are fewer.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    space_ : Space
        The training rows, scaled and of length one.
    labels_ : csr_array of float64, shape (n_samples, n_labels)
        Their labels.
    n_neighbors_ : int
        Number of neighbours used: at most one less than there are training rows.
    classes_ : list of ndarray, or ndarray
        The two values of each label; the classes if ``y`` held one class per row.
    n_labels_ : int
        Number of labels, or of classes.
    label_names_ : tuple of str or None
        Names of the labels; None if they have none.
    n_features_in_ : int
        Number of columns of X in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X; only if they have names.

    See Also
    --------
    MLkNN : Applies Bayes' rule to the number of neighbours with a label.

    Notes
    -----
    The score of a label is the weighted share of the neighbours that have it. The weight of a
    neighbour is the cosine of the two rows, at least one millionth, times its sample weight. Rows
    are scaled first, see `scumble.learn.rankers.scaling`. Of equally distant rows the earlier ones
    are used. The search compares all rows with each other.

    Examples
    --------
    >>> from scumble.learn import NeighbourRanker
    >>> X = [[1, 0, 0], [1, 0.2, 0], [0, 1, 0], [0, 1, 0.1]]
    >>> Y = [[1, 0], [1, 1], [0, 1], [0, 1]]
    >>> NeighbourRanker(n_neighbors=2).fit(X, Y).predict_proba([[1, 0.1, 0]]).round(1)
    array([[1. , 0.5]])
    """

    classifier_tags = ClassifierTags(weights_equal_repetitions=False, sparse_equals_dense=False)
    _parameter_constraints = {
        **BaseRanker._parameter_constraints,
        "n_neighbors": Int(minimum=1),
    }

    def __init__(
        self,
        n_neighbors: int = 20,
        *,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set the fitted attributes: the scaled training rows, their labels and weights."""
        n_rows = X.shape[0]
        self._scaling, X_scaled = Scaling.fit_transform(
            X, self._codes.n_values, sample_weight, n_jobs=self.n_jobs
        )
        self.space_: Space = Space.from_matrix(_unit_rows(X_scaled), scale=False)
        self._weights = np.ones(n_rows) if sample_weight is None else sample_weight
        self.labels_: sparse.csr_array = Y.astype(np.float64)
        # The weighted fraction of rows with each label: the scores if there are no neighbours.
        self._shares = np.asarray(self._weights @ self.labels_) / self._weights.sum()
        self.n_neighbors_: int = min(int(self.n_neighbors), n_rows - 1)

    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None) -> Array:
        """Set the fitted attributes; return the score of each training row by the other rows."""
        self._fit(X, Y, sample_weight)
        return self._neighbour_scores(None, X.shape[0])

    def _predict_scores(self, X: Any) -> Array:
        """Return the scores of new rows by their neighbours, (n_samples, n_labels)."""
        X_unit = _unit_rows(self._scaling.transform(X, n_jobs=self.n_jobs))
        return self._neighbour_scores(self.space_.transform(X_unit), X.shape[0])

    def _neighbour_scores(self, queries: Space | None, n_rows: int) -> Array:
        """Return, per query and label, the weighted fraction of neighbours that have the label.

        ``queries`` are ``n_rows`` rows to score; None stands for the training rows, none of which
        is a neighbour of itself. If there is only one training row, the scores are its labels.
        """
        k = self.n_neighbors_
        if k == 0:
            return np.tile(self._shares, (n_rows, 1))
        neighbours = nearest_neighbours(self.space_, k, queries=queries, n_jobs=self.n_jobs)
        # For rows of length one, the squared distance is 2 - 2 times the cosine.
        cosines = np.maximum(1 - neighbours.distances**2 / 2, _MIN_SIMILARITY)
        weights = cosines * self._weights[neighbours.rows]
        row_starts = np.arange(0, weights.size + 1, k)
        weight_matrix = sparse.csr_array(
            (weights.ravel(), neighbours.rows.ravel(), row_starts),
            shape=(n_rows, self.labels_.shape[0]),
        )
        return (weight_matrix @ self.labels_).toarray() / weights.sum(axis=1, keepdims=True)


def _unit_rows(X: Any) -> Any:
    """Return rows of length one, with a last column that is 1 in rows of zeros and 0 in all others.

    With this column, rows of zeros are similar to each other, and to no other rows.
    """
    X_unit = normalize_rows(X)
    if sparse.issparse(X_unit):
        is_zero = np.diff(X_unit.indptr) == 0
    else:
        is_zero = ~X_unit.any(axis=1)
    return append_columns(X_unit, is_zero[:, None].astype(np.float64))
