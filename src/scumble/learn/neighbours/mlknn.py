"""MLkNN: the probability of a label, given how many neighbours have it."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Real
from scumble.learn.neighbours.neighbourhood import NeighbourClassifier
from scumble.learn.weights import repeat_weights_by_row


class MLkNN(NeighbourClassifier, name="mlknn", display_group="Neighbours"):
    """Predict each label by Bayes' rule from the number of nearest rows that have it.

    The training rows give, for every label, the distribution of the number of nearest rows that
    have it, among the rows that have the label themselves and among those that have not. The
    number for a new row then makes the label more or less probable than its share in the training
    rows.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of nearest rows. If there are fewer other training rows, all of them are used.
    smoothing : float, default=1.0
        Added to every count, so that no probability is 0; greater than 0.
    ties : {"weka", "row"}, default="weka"
        Which of equally near rows are neighbours: those that the search of WEKA, and so MULAN,
        finds, or the first ones.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; the distance of two values is 0 or 1.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    priors_ : ndarray of shape (n_labels,)
        Smoothed share of each label.
    present_, absent_ : ndarray of shape (n_neighbors_ + 1, n_labels)
        The probability of c neighbours with the label, for a row that has it and for one that has
        not.
    space_ : Space
        The training rows, scaled.
    labels_ : csr_array of bool, shape (n_samples, n_labels)
        Their labels.
    n_neighbors_ : int
        Number of neighbours: at most one less than the number of training rows.
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
    IBLR : Uses the labels of the neighbours in a logistic regression.

    Notes
    -----
    With s the smoothing, n rows, :math:`n_l` of which have label l, and :math:`N_l(c)` those
    among them with c neighbours that have it, the prior is :math:`(s + n_l) / (2s + n)` and the
    likelihood :math:`(s + N_l(c)) / (s(k+1) + n_l)` [1]_; likewise for rows without the label.
    The score is the posterior probability. A label is predicted if it is more probable than its
    absence; if both are equally probable, it is not predicted (MULAN tosses a coin). With sample
    weights, n, :math:`n_l` and :math:`N_l(c)` are sums of weights; c, the number of neighbours
    that have the label, is still a number of rows.

    Numeric columns are scaled to [0, 1] by the training rows. A missing value (NaN) has the
    largest possible distance from any other value.

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

    _parameter_constraints = {
        **NeighbourClassifier._parameter_constraints,
        "smoothing": Real(minimum=0, closed="right"),
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        smoothing: float = 1.0,
        *,
        ties: str = "weka",
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.ties = ties
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Store the training rows, and set `priors_`, `present_` and `absent_`."""
        self._store_training_rows(X, Y)
        n_rows = Y.shape[0] if sample_weight is None else sample_weight.sum()
        smoothing = float(self.smoothing)
        n_counts = self.n_neighbors_ + 1
        counts = self._count_labels()
        n_present = np.bincount(Y.indices, repeat_weights_by_row(Y, sample_weight), Y.shape[1])
        # The elementwise product keeps the counts of the rows that have the label themselves.
        counts_with_label = sparse.csr_array(counts.multiply(Y))
        with_label = _count_histogram(counts_with_label, n_counts, sample_weight, totals=n_present)
        all_rows = _count_histogram(counts, n_counts, sample_weight, totals=n_rows)
        without_label = np.maximum(all_rows - with_label, 0)  # sums of weights have rounding errors
        self.priors_ = (smoothing + n_present) / (2 * smoothing + n_rows)
        self.present_ = (smoothing + with_label) / (smoothing * n_counts + n_present)
        self.absent_ = (smoothing + without_label) / (smoothing * n_counts + n_rows - n_present)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the labels that are more probable than their absence, and the probabilities."""
        counts = self._count_labels(X).toarray().astype(np.intp)
        labels = np.arange(self.n_labels_)
        present = self.priors_ * self.present_[counts, labels]
        absent = (1 - self.priors_) * self.absent_[counts, labels]
        return present > absent, present / (present + absent)


def _count_histogram(
    counts: sparse.csr_array, n_counts: int, weights: Array | None, *, totals: Any
) -> Array:
    """Return for c = 0, ..., n_counts - 1 and each label the total weight of the rows with count c.

    ``counts`` has shape (n_rows, n_labels), the result (n_counts, n_labels). ``totals``, a number
    or an array by label, is the total weight of all rows; those that ``counts`` does not store have
    count 0.
    """
    n_labels = counts.shape[1]
    bins = counts.data.astype(np.int64) * n_labels + counts.indices  # (count, label) as a number
    histogram = np.bincount(bins, repeat_weights_by_row(counts, weights), n_counts * n_labels)
    histogram = histogram.reshape(n_counts, n_labels)
    histogram[0] += totals - histogram.sum(axis=0)
    return np.maximum(histogram, 0)
