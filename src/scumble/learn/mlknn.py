"""MLkNN: how many neighbours have a label, and how often that means that a row has it too."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Real, default
from scumble.learn.base import parameters
from scumble.learn.neighbourhood import NeighbourClassifier
from scumble.learn.weights import cell_weights


@parameters()
class MLkNN(NeighbourClassifier, name="mlknn", display_group="Neighbours"):
    """Judge each label by Bayes' rule from the number of near rows that have it.

    For every label the training rows tell how often c of the nearest rows have it, among rows
    that have it themselves and among those that do not. A new row's count c then makes the label
    more or less probable than its share in the training rows.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of nearest rows to ask. A training set with fewer other rows asks them all.
    smoothing : float, default=1.0
        Added to every count, so that nothing is impossible; greater than 0.
    ties : {"weka", "row"}, default="weka"
        Which of equally near rows are asked: those WEKA's search would find, and so MULAN, or
        the earlier ones.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; two values differ by 0 or 1.

    Attributes
    ----------
    priors_ : ndarray of shape (n_labels,)
        Smoothed share of each label.
    present_, absent_ : ndarray of shape (n_neighbors_ + 1, n_labels)
        How probable c neighbours with the label are for a row that has it, and one that has not.
    space_ : Space
        The training rows, scaled.
    labels_ : csr_array of bool, shape (n_samples, n_labels)
        Their labels.
    n_neighbors_ : int
        How many rows are asked: at most one less than there are training rows.

    See Also
    --------
    IBLR : Learns from the neighbours' labels by logistic regression.

    Notes
    -----
    With s the smoothing, n rows, :math:`n_l` of which have label l, and :math:`N_l(c)` those
    among them with c neighbours that have it, the prior is :math:`(s + n_l) / (2s + n)` and the
    likelihood :math:`(s + N_l(c)) / (s(k+1) + n_l)` [1]_; likewise for rows without the label.
    The confidence is the posterior probability. A label is predicted when it is more probable
    than its absence; where both are equal MULAN tosses a coin, and we do not predict it. Of rows
    with weights, n, :math:`n_l` and :math:`N_l(c)` are sums of weights; c, the number of
    neighbours that have the label, is a number of rows as ever.

    Numeric columns are scaled to [0, 1] by the training rows. A missing value (NaN) is as far
    from any other as can be.

    References
    ----------
    .. [1] Zhang, M.-L., & Zhou, Z.-H. (2007). ML-kNN: A lazy learning approach to multi-label
       learning. *Pattern Recognition*, 40(7).

    Examples
    --------
    >>> from scumble.learn import MLkNN
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [1, 1]]
    >>> model = MLkNN(n_neighbors=2).fit(X, Y)
    >>> model.predict([[1.5], [8.5]])
    array([[1, 0],
           [0, 1]])
    >>> model.predict_proba([[1.5], [8.5]]).round(2)
    array([[0.83, 0.2 ],
           [0.28, 0.8 ]])
    """

    smoothing: float = default(1.0, Real(0, closed="right"))

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        self._store_training_rows(X, Y)
        n_rows = Y.shape[0] if weights is None else weights.sum()
        smoothing = float(self.smoothing)
        n_counts = self.n_neighbors_ + 1
        counts = self._count_labels()
        n_present = np.bincount(Y.indices, cell_weights(Y, weights), Y.shape[1])
        # A product cell by cell leaves the counts of rows that have the label themselves.
        with_label = _tally(sparse.csr_array(counts.multiply(Y)), n_counts, weights, n_present)
        without = _tally(counts, n_counts, weights, n_rows) - with_label
        without = np.maximum(without, 0)  # sums of weights round
        self.priors_ = (smoothing + n_present) / (2 * smoothing + n_rows)
        self.present_ = (smoothing + with_label) / (smoothing * n_counts + n_present)
        self.absent_ = (smoothing + without) / (smoothing * n_counts + n_rows - n_present)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        counts = self._count_labels(X).toarray().astype(np.intp)
        labels = np.arange(self.n_labels_)
        present = self.priors_ * self.present_[counts, labels]
        absent = (1 - self.priors_) * self.absent_[counts, labels]
        return present > absent, present / (present + absent)


def _tally(counts: sparse.csr_array, n_counts: int, weights: Array | None, totals: Any) -> Array:
    """Sum up for each label the rows that have each count; the rest of the totals have 0."""
    n_labels = counts.shape[1]
    cells = counts.data.astype(np.int64) * n_labels + counts.indices
    tally = np.bincount(cells, cell_weights(counts, weights), n_counts * n_labels)
    tally = tally.reshape(n_counts, n_labels)
    tally[0] += totals - tally.sum(axis=0)
    return np.maximum(tally, 0)
