"""IBLR: logistic regression on the labels of the neighbours."""

from typing import Any

from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Bool
from scumble.learn.features import append_columns
from scumble.learn.neighbours.logistic import LogisticModels, fit_logistic
from scumble.learn.neighbours.neighbourhood import NeighbourClassifier
from scumble.learn.regression_columns import RegressionColumns


class IBLR(NeighbourClassifier, name="iblr", display_group="Neighbours"):
    """Logistic regression whose features are the labels of the nearest rows.

    The features of a row are the shares of its neighbours that have each label. One logistic
    regression per label weights these shares: many neighbours with the label *beach* may make
    *sea* more probable and *mountain* less.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of nearest rows. If there are fewer other training rows, all of them are used.
    features : bool, default=False
        Whether the features of the row are added to the labels of its neighbours (IBLR+). Nominal
        columns become one column per value, missing values the mean or the most frequent value.
    ties : {"weka", "row"}, default="weka"
        Which of equally near rows are neighbours: those that the search of WEKA, and so MULAN,
        finds, or the first ones.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; the distance of two values is 0 or 1.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    models_ : LogisticModels
        Coefficients of the shares (and features) for each label, and intercepts.
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
    MLkNN : Predicts each label from the neighbours that have this label alone.

    Notes
    -----
    A label is predicted at a probability of one half or more [1]_. The regression has the ridge
    penalty of WEKA, 1e-8, which hardly changes the coefficients of frequent labels. Rare labels
    are often separable: the likelihood then has no maximum, the penalty alone determines the
    coefficients, and probabilities are near 0 or 1. WEKA's optimiser stops elsewhere in this
    case, so that the scores of MULAN differ. Sample weights weight the terms of the likelihood;
    neighbours are counted without them.

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

    _parameter_constraints = {
        **NeighbourClassifier._parameter_constraints,
        "features": Bool(),
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        features: bool = False,
        ties: str = "weka",
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.features = features
        self.ties = ties
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Store the training rows, and set `models_`: one regression per label."""
        self._store_training_rows(X, Y)
        self._columns: RegressionColumns | None = None
        if self.features:
            self._columns = RegressionColumns.from_training_rows(X, self._codes.n_values)
        self.models_: LogisticModels = fit_logistic(
            self._regression_columns(self._count_labels(), X),
            Y,
            sample_weight=sample_weight,
            label_names=self.label_names_,
            n_jobs=self.n_jobs,
        )

    def _predict_scores(self, X: Any) -> Array:
        """Return the probabilities of the regressions, of shape (n_rows, n_labels)."""
        return self.models_.predict_proba(self._regression_columns(self._count_labels(X), X))

    def _regression_columns(self, counts: sparse.csr_array, X: Any) -> Any:
        """Return X of the regression: the share of neighbours with each label, and the features.

        The features X are used by IBLR+ only. ``counts``, the numbers of neighbours with each
        label, is changed in place.
        """
        counts.data /= max(self.n_neighbors_, 1)
        if self._columns is None:
            return counts
        columns = self._columns.transform(X)
        shares = counts if sparse.issparse(columns) else counts.toarray()
        return append_columns(shares, columns)
