"""IBLR: the labels of the neighbours as the features of a logistic regression."""

from typing import Any

from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Bool, default
from scumble.learn.base import parameters
from scumble.learn.features import append_columns
from scumble.learn.logistic import LogisticModels, fit_logistic
from scumble.learn.neighbourhood import NeighbourClassifier
from scumble.learn.regression_columns import RegressionColumns


@parameters(kw_only=True)
class IBLR(NeighbourClassifier, name="iblr", display_group="Neighbours"):
    """Learn from the labels of the nearest rows how they speak for and against each other.

    Every row is described by the share of its neighbours that have each label. One logistic
    regression per label then weighs these shares: a neighbourhood full of *beach* may speak for
    *sea* and against *mountain*.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of nearest rows to ask. A training set with fewer other rows asks them all.
    features : bool, default=False
        Whether the row's own features join the neighbours' labels (IBLR+). Nominal columns
        become one column per value, missing values the mean or the most frequent value.
    ties : {"weka", "row"}, default="weka"
        Which of equally near rows are asked: those WEKA's search would find, and so MULAN, or
        the earlier ones.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; two values differ by 0 or 1.

    Attributes
    ----------
    models_ : LogisticModels
        Weights of the shares (and features) for each label, and intercepts.
    space_ : Space
        The training rows, scaled.
    labels_ : csr_array of bool, shape (n_samples, n_labels)
        Their labels.
    n_neighbors_ : int
        How many rows are asked: at most one less than there are training rows.

    See Also
    --------
    MLkNN : Judges each label by the neighbours that have this label alone.

    Notes
    -----
    A label is predicted at a probability of one half or more [1]_. The regression has WEKA's
    ridge of 1e-8, which is small enough to leave ordinary labels alone. Rare labels are often
    separable: then the likelihood has no maximum, the ridge alone decides where the coefficients
    end, and probabilities are near 0 or 1. WEKA's optimiser ends elsewhere there, so that MULAN's
    confidences differ from ours. Weights of rows weigh their terms of the likelihood; neighbours
    are counted as ever.

    References
    ----------
    .. [1] Cheng, W., & Hüllermeier, E. (2009). Combining instance-based learning and logistic
       regression for multilabel classification. *Machine Learning*, 76.

    Examples
    --------
    >>> from scumble.learn import IBLR
    >>> X = [[0], [1], [2], [3], [7], [8], [9], [10]]
    >>> Y = [[1, 0], [1, 0], [0, 0], [1, 0], [0, 1], [1, 1], [0, 0], [0, 1]]
    >>> model = IBLR(n_neighbors=3).fit(X, Y)
    >>> model.predict([[1.5], [8.5]])
    array([[1, 0],
           [0, 1]])
    """

    features: bool = default(False, Bool())

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        self._store_training_rows(X, Y)
        self._columns = RegressionColumns.of(X, self._codes.n_values) if self.features else None
        described, names = self._describe(self._count_labels(), X), self.label_names_
        how: dict[str, Any] = {"weights": weights, "names": names, "n_jobs": self.n_jobs}
        self.models_: LogisticModels = fit_logistic(described, Y, **how)

    def _predict_scores(self, X: Any) -> Array:
        return self.models_.predict_proba(self._describe(self._count_labels(X), X))

    def _describe(self, counts: sparse.csr_array, X: Any) -> Any:
        """Put the shares of the labels beside the row's own columns, where these are wanted."""
        counts.data /= max(self.n_neighbors_, 1)
        if self._columns is None:
            return counts
        own = self._columns.transform(X)
        return append_columns(counts if sparse.issparse(own) else counts.toarray(), own)
