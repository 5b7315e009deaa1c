"""An ensemble of classifiers, each on a copy of the data that was resampled in its own way."""

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble._core.parameters import AnyValue, Int, default
from scumble.learn.base import BaseMultilabelClassifier, MultilabelClassifierConstraint, parameters
from scumble.learn.binary_relevance import BinaryRelevance
from scumble.learn.inner_classifier import InnerClassifier, TrainingData
from scumble.learn.thresholds import label_thresholds
from scumble.resample import make_chain

#: What resamples the rows of a copy.
RESAMPLERS = "a name such as 'mlsol' or a resampler with fit_resample"


@parameters()
class ResampledEnsemble(
    BaseMultilabelClassifier, name="resampled", display_group="For rare labels"
):
    """Several classifiers, each fitted on a resampled copy of its own; their mean decides.

    Resampling draws rows at random, and one unlucky draw teaches a classifier rows that are not
    like any others. Several draws average this out. Made for MLSOL, but any resampler will do.

    Parameters
    ----------
    estimator : multilabel classifier, default=None
        What learns each copy; `BinaryRelevance` by default. Any multilabel classifier of this
        package or of scikit-learn will do.
    resampler : str or resampler, default="mlsol"
        A name such as ``"mlsol"``, several such as ``"remedial+mlsmote"``, or a resampler with
        its parameters.
    n_estimators : int, default=5
        Number of copies.

    Attributes
    ----------
    members_ : list of InnerClassifier
        The fitted classifiers.
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted from this confidence on.

    See Also
    --------
    scumble.resample.MLSOL : The resampler the ensemble was proposed with.

    Notes
    -----
    The ensemble of the MLSOL paper [1]_: confidences are means over the members, thresholds those
    with the largest F on the training rows as they were before resampling. MULAN's program adds
    30 percent rows to each copy (``resampler=MLSOL(percent=30)``) and looks for thresholds among
    0.05, 0.1, ..., ours may be anywhere. A resampler that draws nothing, such as REMEDIAL, makes
    all copies equal.

    The rule for thresholds has no guard, as in the paper: where positives are few it follows
    chance (rule ``"plain"`` of `label_thresholds`). A label whose training rows all get the same
    confidence, because nothing was learnt about it, is not predicted unless all rows have it; the
    paper would predict it for every row.

    A row that a resampler makes has the weight of the row it comes from (``sample_indices_``).
    Rows are drawn, and thresholds chosen, whatever the rows weigh.

    References
    ----------
    .. [1] Liu, B., & Tsoumakas, G. (2019). Synthetic oversampling of multi-label data based on
       local label distribution. *ECML PKDD 2019*, LNCS 11907.

    Examples
    --------
    >>> from scumble.learn import ResampledEnsemble
    >>> X = [[number] for number in range(20)]
    >>> Y = [[number < 10, number > 15] for number in range(20)]
    >>> model = ResampledEnsemble(resampler="mlros", random_state=0).fit(X, Y)
    >>> model.predict([[3], [12], [18]]).astype(int)
    array([[1, 0],
           [0, 0],
           [0, 1]])
    """

    estimator: Any = default(None, MultilabelClassifierConstraint())
    _: KW_ONLY
    resampler: Any = default("mlsol", AnyValue(RESAMPLERS))
    n_estimators: int = default(5, Int(1))
    random_state: Any = None

    def _check_parameter_combinations(self) -> None:
        self._steps()

    def _inner_estimator(self) -> Any:
        return self.estimator

    def _steps(self) -> list[Any]:
        """Make the resamplers a copy goes through."""
        if isinstance(self.resampler, str):
            return list(make_chain(self.resampler))
        if isinstance(self.resampler, type) or not hasattr(self.resampler, "fit_resample"):
            must = f"be {RESAMPLERS}, such as MLSOL(percent=30)"
            raise parameter_error("resampler", type(self).__name__, must, self.resampler)
        return [clone(self.resampler)]

    def _copy(self, training: TrainingData) -> TrainingData:
        """Resample the training rows, and give each new row the weight of the one it is from."""
        X, Y, weights = training.X, training.Y, training.weights
        for step in self._steps():
            X, Y = step.set_params(**training.inherited_parameters(step)).fit_resample(X, Y)
            weights = None if weights is None else weights[self._sources(step)]
        return replace(training, X=X, Y=sparse.csr_array(Y), weights=weights)

    def _sources(self, step: Any) -> Array:
        """Ask a resampler from which row each of its rows comes."""
        if not hasattr(step, "sample_indices_"):
            raise ParameterError(
                f"{type(self).__name__}: sample_weight was given, but {type(step).__name__} does "
                "not tell from which row each of its rows comes (sample_indices_). Give another "
                "resampler, or no weights."
            )
        return np.asarray(step.sample_indices_)

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        n_values, generator = self._codes.n_values, self._generator()
        training = TrainingData(X, Y, n_values, weights, generator, self.n_jobs)
        inner = BinaryRelevance() if self.estimator is None else self.estimator
        copies = (self._copy(training) for _ in range(self.n_estimators))
        self.members_: list[InnerClassifier] = [copy.fit(inner) for copy in copies]
        sure = self._predict_scores(X)
        self.thresholds_: Array = label_thresholds(sure, Y, rule="plain", n_jobs=self.n_jobs)

    def _predict_scores(self, X: Any) -> Array:
        sums = np.zeros((X.shape[0], self.n_labels_))
        for member in self.members_:
            sums += member.predict_labels_and_scores(X)[1]
        return sums / len(self.members_)
