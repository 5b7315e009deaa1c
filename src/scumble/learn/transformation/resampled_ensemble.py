"""An ensemble of classifiers, each fitted to a copy of the data that was resampled separately."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble._core.parameters import AnyValue, Int
from scumble.learn.base import BaseMultilabelClassifier, MultilabelClassifierConstraint
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.inner_classifier import InnerClassifier, TrainingData
from scumble.learn.thresholds.selection import label_thresholds
from scumble.learn.transformation.binary_relevance import BinaryRelevance
from scumble.resample import make_chain

#: Description of the allowed values of the parameter ``resampler``, for messages.
RESAMPLERS = "a name such as 'mlsol' or a resampler with fit_resample"


class ResampledEnsemble(
    BaseMultilabelClassifier, name="resampled", display_group="For rare labels"
):
    """Several classifiers, each fitted to a separately resampled copy; their scores are averaged.

    Resampling draws rows at random, and a single draw may give a classifier unusual rows. The
    mean over several draws varies less. The ensemble was proposed for MLSOL, but any resampler
    can be used.

    Parameters
    ----------
    estimator : multilabel classifier, default=None
        The classifier that is fitted to each copy; by default `BinaryRelevance`. Any multilabel
        classifier of this package or of scikit-learn is accepted.
    resampler : str or resampler, default="mlsol"
        A name such as ``"mlsol"``, a chain such as ``"remedial+mlsmote"``, or a resampler with
        its parameters.
    n_estimators : int, default=5
        Number of copies.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the resamplers and the classifiers.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    members_ : list of InnerClassifier
        The fitted classifiers.
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted at scores of at least its threshold.
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
    scumble.resample.MLSOL : The resampler that the ensemble was proposed with.

    Notes
    -----
    This is the ensemble of the MLSOL paper [1]_: scores are means over the members, and
    thresholds have the largest F1 on the training rows before resampling. MULAN's program adds 30
    percent rows to each copy (``resampler=MLSOL(percent=30)``) and chooses thresholds among 0.05,
    0.1, ...; here any number is possible. With a resampler that draws nothing, such as REMEDIAL,
    all copies are equal.

    The rule for thresholds does not guard against overfitting, as in the paper: for labels with
    few positives the choice is random (rule ``"plain"`` of `label_thresholds`). A label for which
    all training rows have the same score, because nothing was learnt, is not predicted unless all
    rows have it; the paper would predict it for every row.

    A resampled row has the weight of the row it comes from (``sample_indices_``). Sample weights
    are not used to draw rows or to choose thresholds.

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

    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True, weights_equal_repetitions=False)
    _parameter_constraints = {
        **BaseMultilabelClassifier._parameter_constraints,
        "estimator": MultilabelClassifierConstraint(),
        "resampler": AnyValue(RESAMPLERS),
        "n_estimators": Int(minimum=1),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        resampler: Any = "mlsol",
        n_estimators: int = 5,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.resampler = resampler
        self.n_estimators = n_estimators
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameter_combinations(self) -> None:
        """Raise an error if the parameter `resampler` is invalid."""
        self._make_resamplers()

    def _inner_estimator(self) -> Any:
        """Return the unfitted classifier of the members; None for `BinaryRelevance`."""
        return self.estimator

    def _make_resamplers(self) -> list[Any]:
        """Return new resamplers, which are applied in this order to make a resampled copy."""
        if isinstance(self.resampler, str):
            return list(make_chain(self.resampler))
        if isinstance(self.resampler, type) or not hasattr(self.resampler, "fit_resample"):
            requirement = f"be {RESAMPLERS}, such as MLSOL(percent=30)"
            raise parameter_error("resampler", type(self).__name__, requirement, self.resampler)
        return [clone(self.resampler)]

    def _resample(self, training: TrainingData) -> TrainingData:
        """Return a resampled copy of the training data.

        A resampled row has the weight of the row it comes from.
        """
        X, Y, weights = training.X, training.Y, training.weights
        for resampler in self._make_resamplers():
            resampler.set_params(**training.inherited_parameters(resampler))
            X, Y = resampler.fit_resample(X, Y)
            if weights is not None:
                weights = weights[self._source_rows(resampler)]
        return replace(training, X=X, Y=sparse.csr_array(Y), weights=weights)

    def _source_rows(self, resampler: Any) -> Array:
        """Return the indices of the input rows that the rows of a resampler's result come from.

        Raise an error if the fitted resampler has no ``sample_indices_``.
        """
        if not hasattr(resampler, "sample_indices_"):
            raise ParameterError(
                f"{type(self).__name__}: sample_weight was given, but {type(resampler).__name__} "
                "does not report from which row each of its rows comes (sample_indices_). Give "
                "another resampler, or no weights."
            )
        return np.asarray(resampler.sample_indices_)

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `members_`, and the `thresholds_` with the largest F1 on the original rows."""
        training = TrainingData(
            X=X,
            Y=Y,
            n_categories=self._codes.n_values,
            weights=sample_weight,
            generator=self._generator(),
            n_jobs=self.n_jobs,
        )
        classifier = BinaryRelevance() if self.estimator is None else self.estimator
        self.members_: list[InnerClassifier] = [
            self._resample(training).fit(classifier) for _ in range(self.n_estimators)
        ]
        scores = self._predict_scores(X)
        self.thresholds_: Array = label_thresholds(scores, Y, rule="plain", n_jobs=self.n_jobs)

    def _predict_scores(self, X: Any) -> Array:
        """Return the mean scores of the members."""
        sums = np.zeros((X.shape[0], self.n_labels_))
        for member in self.members_:
            _, scores = member.predict_labels_and_scores(X)
            sums += scores
        return sums / len(self.members_)
