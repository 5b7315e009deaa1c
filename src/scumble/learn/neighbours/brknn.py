"""BRkNN: a label is predicted if at least half of the neighbours have it."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Choice
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.neighbours.neighbourhood import NeighbourClassifier
from scumble.learn.weights import repeat_weights_by_row

#: Relative difference up to which sums of weights count as equal, because of rounding errors.
_RELATIVE_TOLERANCE = 1e-12


class BRkNN(NeighbourClassifier, name="brknn", display_group="Neighbours"):
    """Predict the labels that at least half of the nearest rows have.

    This is binary relevance with nearest neighbours, which are searched once for all labels. Rare
    labels seldom occur in half of a neighbourhood, and many rows get no label: with the
    extensions such rows get the most frequent label of their neighbours, or every row gets as
    many labels as its neighbours have on average.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of nearest rows; all training rows if there are fewer.
    extension : {None, "a", "b"}, default=None
        Which labels are predicted. None: those that at least half of the neighbours have.
        ``"a"``: the same, or the most frequent one if there are none. ``"b"``: the most frequent
        ones, as many as the neighbours have on average, rounded.
    ties : {"weka", "row"}, default="weka"
        Which of equally near rows are neighbours: those that the search of WEKA, and so MULAN,
        finds, or the first ones.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; the distance of two values is 0 or 1.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    space_ : Space
        The training rows, scaled.
    labels_ : csr_array of bool, shape (n_samples, n_labels)
        Their labels.
    weights_ : ndarray of shape (n_samples,) or None
        Their weights; None if all weights are 1.
    n_neighbors_ : int
        Number of neighbours: at most the number of training rows.
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
    MLkNN : Estimates how probable a label is, given the number of neighbours that have it.

    Notes
    -----
    The score of a label is the share of neighbours that have it [1]_. MULAN adds a row of weight
    1/n with all labels, and so does not predict a label of exactly half of the neighbours if
    there are more than two labels; the paper does, and so does this class. If the extensions have
    to choose between labels of equally many neighbours, those that are more frequent in training
    come first, then those in earlier columns; MULAN draws. With sample weights, shares, halves,
    means and frequencies are computed from sums of weights; `n_neighbors` is still a number of
    rows.

    References
    ----------
    .. [1] Spyromitros, E., Tsoumakas, G., & Vlahavas, I. (2008). An empirical study of lazy
       multilabel classification algorithms. *SETN 2008*, LNCS 5138.

    Examples
    --------
    >>> from scumble.learn import BRkNN
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> Y = [[1, 0, 0], [1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]
    >>> BRkNN(n_neighbors=3).fit(X, Y).predict([[1.5], [8.5]])
    array([[1, 0, 0],
           [0, 0, 0]])
    >>> BRkNN(n_neighbors=3, extension="a").fit(X, Y).predict([[1.5], [8.5]])
    array([[1, 0, 0],
           [0, 1, 0]])
    """

    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True, weights_equal_repetitions=False)
    _parameter_constraints = {
        **NeighbourClassifier._parameter_constraints,
        "extension": Choice(None, "a", "b"),
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        extension: str | None = None,
        ties: str = "weka",
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.extension = extension
        self.ties = ties
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `space_`, `labels_`, `n_neighbors_` and `weights_`."""
        self._store_training_rows(X, Y)
        # No training row is predicted here, so that all of them may be neighbours.
        self.n_neighbors_ = min(int(self.n_neighbors), X.shape[0])
        self.weights_: Array | None = sample_weight

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the labels by the rule of `extension`, and the shares of neighbours as scores."""
        votes, totals = self._count_votes(X)
        labels = 2 * votes >= totals * (1 - _RELATIVE_TOLERANCE)
        if self.extension == "a":
            unlabelled = np.flatnonzero(~labels.any(axis=1))
            labels[unlabelled] = self._most_frequent_labels(
                votes[unlabelled], np.ones(len(unlabelled))
            )
        elif self.extension == "b":
            means = votes.sum(axis=1) / totals.ravel()
            n_labels = np.floor(means * (1 + _RELATIVE_TOLERANCE) + 0.5)  # halves round up
            labels = self._most_frequent_labels(votes, n_labels)
        return labels, np.minimum(votes / totals, 1.0)

    def _count_votes(self, X: Any) -> tuple[Array, Array]:
        """Return the total weight of the neighbours with each label, and of all neighbours.

        The shapes are (n_rows, n_labels) and (n_rows, 1). Without weights these are counts.
        """
        neighbours = self._neighbours(X)
        if self.weights_ is not None:
            neighbours.data = self.weights_[neighbours.indices]
        votes = neighbours @ self.labels_.astype(np.float64)
        return votes.toarray(), neighbours.sum(axis=1)[:, None]

    def _most_frequent_labels(self, votes: Array, n_labels: Array) -> Array:
        """Return for each row the ``n_labels`` labels with the most votes, as a bool matrix.

        ``votes`` has shape (n_rows, n_labels_), and ``n_labels`` one number per row.
        """
        weights = repeat_weights_by_row(self.labels_, self.weights_)
        training_counts = np.bincount(self.labels_.indices, weights, self.n_labels_)
        by_frequency = np.argsort(-training_counts, kind="stable")
        order = by_frequency[np.argsort(-votes[:, by_frequency], axis=1, kind="stable")]
        labels = np.zeros(votes.shape, bool)
        is_selected = np.arange(self.n_labels_) < n_labels[:, None]
        np.put_along_axis(labels, order, is_selected, axis=1)
        return labels
