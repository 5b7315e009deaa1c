"""Decision thresholds per label for any classifier that scores labels."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.parameters import Int
from scumble._validation.features import FeatureCodes
from scumble.learn.base import BaseMultilabelClassifier, MultilabelClassifierConstraint
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.inner_classifier import (
    TrainingData,
    fit_with_scores,
    fit_without_scores,
    set_categorical_features,
)
from scumble.learn.rankers.ridge import RidgeRanker
from scumble.learn.thresholds.selection import (
    RULE_CONSTRAINTS,
    ScoredLabels,
    ThresholdCurve,
    ThresholdRule,
)


class ThresholdedClassifier(
    BaseMultilabelClassifier, name="thresholded", display_group="For rare labels"
):
    """Classifier with a decision threshold per label, chosen from out-of-sample scores.

    Most classifiers never predict rare labels, because their scores never reach 0.5. Here the
    training rows are scored out of sample, and for every label the threshold is chosen that is
    best on these scores, with a guard for labels with few positives.

    Parameters
    ----------
    estimator : classifier, default=None
        Any classifier that scores labels, of this package or of scikit-learn, also a pipeline with
        a resampler; `RidgeRanker` by default.
    rule : {"shrunken", "capped", "plain", "rate", "fixed"}, default="shrunken"
        The rule by which thresholds are chosen, see `label_thresholds`.
    metric : {"f1", "f2", "f0.5"}, default="f1"
        The metric that thresholds maximize.
    strength : float, default=20.0
        The number of positives that the mean of all labels counts as, in rule ``"shrunken"``.
    threshold : float, default=0.5
        The threshold of rule ``"fixed"``.
    n_folds : int, default=5
        Inner folds for estimators without out-of-sample scores; at most the number of rows.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`. An estimator of
        another package gets them unchanged, and must have a parameter of this name.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the inner folds, and of the estimator if its own `random_state` is None.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted at scores of at least its threshold. Infinity: never predicted; minus
        infinity: always predicted.
    curves_ : list of ThresholdCurve
        The results of all candidate thresholds of each label on the training rows. Empty with rule
        ``"fixed"``, which scores no training rows.
    estimator_ : InnerClassifier
        The fitted estimator.
    classes_ : list of ndarray, or ndarray
        The two values of each label; the classes if ``y`` held one class per row.
    n_labels_ : int
        Number of labels, or of classes.
    label_names_ : tuple of str or None
        Names of the labels; None if they have none.
    n_features_in_ : int
        Number of columns of X in `fit`; only if X is a table, not texts for instance.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X; only if they have names.

    See Also
    --------
    RareLabelClassifier : The same with estimators that work well for rare labels.
    label_thresholds : Chooses thresholds for the scores of any other model.
    scumble.plots.plot_thresholds : Plots the curves.

    Notes
    -----
    An estimator with a method ``fit_out_of_sample(X, y, sample_weight=None)`` is fitted once: ridge
    regression and neighbours have leave-one-out scores, bagged trees out-of-bag scores. Any other
    estimator is fitted ``n_folds + 1`` times. Its scores are those of ``predict_proba``, else of
    ``decision_function``. A label without positives is never predicted, and a label that all rows
    have is always predicted. A label whose scores are all equal is not predicted.

    An estimator of this package gets features as this class reads them. Any other one, such as a
    pipeline, gets X unchanged, which may be a table, texts, or anything else with a length.

    ``sample_weight`` is used to fit the estimator. In the choice of thresholds every training row
    counts once.

    Examples
    --------
    >>> import scumble
    >>> from scumble.learn import BinaryRelevance, ThresholdedClassifier
    >>> data = scumble.make_multilabel(400, 10, mean_ir=10, random_state=0)
    >>> plain = BinaryRelevance().fit(data.X[:300], data.Y[:300])
    >>> model = ThresholdedClassifier().fit(data.X[:300], data.Y[:300])
    >>> from scumble.evaluate import macro_f1
    >>> f1 = [macro_f1(data.Y[300:], m.predict(data.X[300:])) for m in (plain, model)]
    >>> f1[0] < f1[1]
    True
    """

    classifier_tags = ClassifierTags(weights_equal_repetitions=False)
    _parameter_constraints = {
        **BaseMultilabelClassifier._parameter_constraints,
        **RULE_CONSTRAINTS,
        "estimator": MultilabelClassifierConstraint(),
        "n_folds": Int(minimum=2),
    }

    def __init__(
        self,
        estimator: Any = None,
        rule: str = "shrunken",
        *,
        metric: str = "f1",
        strength: float = 20.0,
        threshold: float = 0.5,
        n_folds: int = 5,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.metric = metric
        self.strength = strength
        self.threshold = threshold
        self.n_folds = n_folds
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _threshold_rule(self) -> ThresholdRule:
        """Return the parameters of the rule as one `ThresholdRule`."""
        return ThresholdRule(
            rule=self.rule,
            metric=self.metric,
            strength=self.strength,
            threshold=self.threshold,
        )

    def _inner_estimator(self) -> Any:
        """Return the unfitted estimator whose scores are compared with thresholds."""
        return RidgeRanker() if self.estimator is None else self.estimator

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `estimator_`, `thresholds_` and `curves_`.

        The estimator is fitted, and thresholds are chosen from its out-of-sample scores. The rule
        "fixed" needs no scores and has no curves.
        """
        rule = self._threshold_rule()
        caller = type(self).__name__
        estimator = self._configured_estimator()
        training = TrainingData(
            X=X,
            Y=Y,
            n_categories=self._codes.n_values,
            weights=sample_weight,
            generator=self._generator(),
            n_jobs=self.n_jobs,
            is_validated=not self._passes_raw_features(),
        )
        self.curves_: list[ThresholdCurve] = []
        if rule.rule == "fixed":
            self.estimator_ = fit_without_scores(estimator, training, caller=caller)
            self.thresholds_ = rule.fixed_thresholds(Y.sum(axis=0))
            return
        self.estimator_, scores = fit_with_scores(
            estimator, training, n_folds=int(self.n_folds), caller=caller
        )
        scored_labels = ScoredLabels(np.asfortranarray(scores), Y.tocsc())
        self.thresholds_, self.curves_ = scored_labels.select_with_curves(rule, self.n_jobs)

    def _configured_estimator(self) -> Any:
        """Return the unfitted inner estimator, with its parameter `categorical_features` set.

        It is set only if the estimator is of another package and this classifier has nominal
        columns. Raise an error if the estimator has no such parameter.
        """
        if self.categorical_features is None or not self._passes_raw_features():
            return self._inner_estimator()
        estimator = clone(self._inner_estimator())
        is_set = set_categorical_features(
            estimator, self.categorical_features, unset_values=(None, "from_dtype")
        )
        if not is_set:
            raise ParameterError(
                f"The 'categorical_features' parameter of {type(self).__name__} must be None here: "
                f"the estimator inside, {type(estimator).__name__}, has no such parameter. Give a "
                "pipeline that encodes these columns."
            )
        return estimator

    def _predict_scores(self, X: Any) -> Array:
        """Return the scores of the inner estimator, of shape (n_rows, n_labels)."""
        n_categories = None if self._passes_raw_features() else self._codes.n_values
        return self.estimator_.predict_scores(X, n_categories, caller=type(self).__name__)

    def _passes_raw_features(self) -> bool:
        """Return whether the inner estimator is of another package, and thus gets X unchanged."""
        return not isinstance(self._inner_estimator(), BaseMultilabelClassifier)

    def _validate_training_features(self, X: Any) -> Any:
        """Return validated features of training rows, and set attributes that describe them.

        For an estimator of another package only lists of numbers are converted.
        """
        if not self._passes_raw_features():
            return super()._validate_training_features(X)
        X = _array_if_numbers(X)
        n_columns = 0
        if len(getattr(X, "shape", ())) == 2:
            _check_feature_names(self, X, reset=True)
            _check_n_features(self, X, reset=True)
            n_columns = self.n_features_in_
        self._codes = FeatureCodes.numeric(n_columns)
        return X

    def _validate_features(self, X: Any) -> Any:
        """Return validated features of rows to predict.

        For an estimator of another package only lists of numbers are converted.
        """
        if not self._passes_raw_features():
            return super()._validate_features(X)
        check_is_fitted(self)
        return _array_if_numbers(X)


def _array_if_numbers(X: Any) -> Any:
    """Return lists of equal length as a two-dimensional array, and any other X unchanged."""
    if hasattr(X, "shape"):
        return X
    try:
        array = np.asarray(X)
    except ValueError:  # lists of unequal length, which the estimator may be able to read
        return X
    return array if array.ndim == 2 else X
