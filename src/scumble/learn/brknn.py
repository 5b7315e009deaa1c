"""BRkNN: a label is there if half of the neighbours have it."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Choice, default
from scumble.learn.base import parameters
from scumble.learn.neighbourhood import NeighbourClassifier
from scumble.learn.weights import cell_weights

#: Sums of weights round: two are equal if they differ by this share of them.
_ROUNDED = 1e-12


@parameters(kw_only=True)
class BRkNN(NeighbourClassifier, name="brknn", display_group="Neighbours"):
    """Predict the labels that at least half of the nearest rows have.

    Binary relevance with nearest neighbours, which are looked for once for all labels. Rare labels
    seldom have half of any neighbourhood, and many rows get no label at all: the extensions give
    such rows the likeliest label, or as many as their neighbours have on average.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of nearest rows to ask; all, where there are fewer.
    extension : {None, "a", "b"}, default=None
        Which labels are predicted. None: those at least half of the neighbours have. ``"a"``: the
        same, or else the one most of them have. ``"b"``: as many as the neighbours have on
        average, rounded, those that most of them have.
    ties : {"weka", "row"}, default="weka"
        Which of equally near rows are asked: those WEKA's search would find, and so MULAN, or
        the earlier ones.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; two values differ by 0 or 1.

    Attributes
    ----------
    space_ : Space
        The training rows, scaled.
    labels_ : csr_array of bool, shape (n_samples, n_labels)
        Their labels.
    weights_ : ndarray of shape (n_samples,) or None
        Their weights; None where each weighs 1.
    n_neighbors_ : int
        How many rows are asked: at most as many as there are training rows.

    See Also
    --------
    MLkNN : Also learns how often such neighbourhoods mean that a row has the label.

    Notes
    -----
    The confidence of a label is the share of neighbours that have it [1]_. MULAN adds a row of
    weight 1/n with all labels, so that it does not predict a label of exactly half of the
    neighbours where there are more than two labels; the paper does, and so do we. Where the
    extensions have to choose between labels of equally many neighbours, the more frequent ones in
    training come first, and of those the earlier; MULAN draws. Of rows with weights, shares,
    halves, means and frequencies are those of the weights; `n_neighbors` is a number of rows as
    ever.

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

    extension: str | None = default(None, Choice(None, "a", "b"))

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        self._store_training_rows(X, Y)
        self.n_neighbors_ = min(int(self.n_neighbors), X.shape[0])  # no training row is asked for
        self.weights_: Array | None = weights

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        counts, totals = self._votes(X)
        labels = 2 * counts >= totals * (1 - _ROUNDED)
        if self.extension == "a":
            empty = np.flatnonzero(~labels.any(axis=1))
            labels[empty] = self._most_frequent(counts[empty], np.ones(len(empty)))
        elif self.extension == "b":
            # To the nearest whole number, and up from the middle.
            mean = counts.sum(axis=1) / totals.ravel()
            labels = self._most_frequent(counts, np.floor(mean * (1 + _ROUNDED) + 0.5))
        return labels, np.minimum(counts / totals, 1.0)

    def _votes(self, X: Any) -> tuple[Array, Array]:
        """Sum up the weights of each row's neighbours: of those with each label, and of all."""
        near = self._neighbours(X)
        if self.weights_ is not None:
            near.data = self.weights_[near.indices]
        counts = near @ self.labels_.astype(np.float64)
        return counts.toarray(), near.sum(axis=1)[:, None]

    def _most_frequent(self, counts: Array, wanted: Array) -> Array:
        """Mark in each row so many labels, those of the most neighbours."""
        cells = cell_weights(self.labels_, self.weights_)
        n_present = np.bincount(self.labels_.indices, cells, self.n_labels_)
        by_frequency = np.argsort(-n_present, kind="stable")
        order = by_frequency[np.argsort(-counts[:, by_frequency], axis=1, kind="stable")]
        labels = np.zeros(counts.shape, bool)
        np.put_along_axis(labels, order, np.arange(self.n_labels_) < wanted[:, None], axis=1)
        return labels
