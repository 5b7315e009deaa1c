"""A threshold of its own for every label of any classifier."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.features import FeatureCodes
from scumble._core.parameters import Int, default
from scumble.learn.base import BaseMultilabelClassifier, MultilabelClassifierConstraint, parameters
from scumble.learn.inner_classifier import (
    TrainingData,
    fit_with_scores,
    fit_without_scores,
    set_categorical_features,
)
from scumble.learn.ridge import RidgeRanker
from scumble.learn.thresholds import RULE_CONSTRAINTS, ScoreColumns, ThresholdCurve, ThresholdRule


@parameters()
class ThresholdedClassifier(
    BaseMultilabelClassifier, name="thresholded", display_group="For rare labels"
):
    """Predict each label from a score on that was chosen for it.

    Rare labels are never predicted by most classifiers because their scores never reach one half.
    Here the training rows are scored by models that have not seen them, and for every label the
    threshold is taken that would have done best, with a guard for labels with few positives.

    Parameters
    ----------
    estimator : classifier, default=None
        Anything that scores labels, of this package or scikit-learn's, also a pipeline with a
        resampler; `RidgeRanker` by default.
    rule : {"shrunken", "capped", "plain", "rate", "fixed"}, default="shrunken"
        How thresholds are chosen, see `label_thresholds`.
    metric : {"f1", "f2", "f0.5"}, default="f1"
        What a threshold shall make large.
    strength : float, default=20.0
        How many positives the mean of all labels is worth.
    threshold : float, default=0.5
        The threshold of rule ``"fixed"``.
    n_folds : int, default=5
        Inner folds for estimators that cannot tell out-of-sample scores by themselves; as many
        as there are rows where these are fewer.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`. An estimator of
        another package gets them as they are, and must have such a parameter.
    random_state : None, int, Generator or RandomState, default=None
        Seeds the estimator where it was left without one, and deals inner folds.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted where its score is at least this. Infinite: never; minus infinite:
        always.
    curves_ : list of ThresholdCurve
        What every possible threshold of each label gives on the training rows. Empty with rule
        ``"fixed"``, which fits the estimator once and scores no training rows.
    estimator_ : InnerClassifier
        The fitted estimator.
    classes_, n_labels_, label_names_, n_features_in_, feature_names_in_ : various
        See `BaseMultilabelClassifier`; the last two are not there where X is no table, such as
        texts.

    See Also
    --------
    RareLabelClassifier : With the estimators that work best, ready to use.
    label_thresholds : The same for scores of a model that lives elsewhere.
    scumble.plots.plot_thresholds : Draw the curves.

    Notes
    -----
    Out-of-sample scores cost nothing where the estimator has a method
    ``fit_out_of_sample(X, Y, sample_weight=None)``: leave-one-out for ridge regression and
    neighbours, out-of-bag for trees. Any other estimator is fitted ``n_folds + 1`` times. Its
    scores are those of ``predict_proba``, else of ``decision_function``. A label without
    positives is never predicted, one that all rows have always; one whose scores are all equal
    is not predicted.

    An estimator of this package gets features as this class reads them. Any other, a pipeline for
    instance, gets them as they were given, be they tables, texts or anything else with a length.

    ``sample_weight`` weighs what the estimator learns. Thresholds are chosen on training rows that
    count once each.

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

    estimator: Any = default(None, MultilabelClassifierConstraint())
    rule: str = default("shrunken", RULE_CONSTRAINTS["rule"])
    _: KW_ONLY
    metric: str = default("f1", RULE_CONSTRAINTS["metric"])
    strength: float = default(20.0, RULE_CONSTRAINTS["strength"])
    threshold: float = default(0.5, RULE_CONSTRAINTS["threshold"])
    n_folds: int = default(5, Int(2))
    random_state: Any = None

    def _rule(self) -> ThresholdRule:
        return ThresholdRule(self.rule, self.metric, self.strength, self.threshold)

    def _inner_estimator(self) -> Any:
        """Return what scores labels, not fitted."""
        return RidgeRanker() if self.estimator is None else self.estimator

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        rule, name = self._rule(), type(self).__name__
        n_values, generator = self._codes.n_values, self._generator()
        is_validated = not self._passes_raw_features()
        training = TrainingData(X, Y, n_values, weights, generator, self.n_jobs, is_validated)
        if rule.rule == "fixed":
            self.estimator_ = fit_without_scores(
                self._configured_estimator(), training, caller=name
            )
            self.thresholds_, self.curves_ = (
                rule.fixed_thresholds(Y.sum(axis=0)),
                list[ThresholdCurve](),
            )
            return
        how: dict[str, Any] = {"n_folds": int(self.n_folds), "caller": name}
        self.estimator_, scores = fit_with_scores(self._configured_estimator(), training, **how)
        columns = ScoreColumns(np.asfortranarray(scores), Y.tocsc())
        self.thresholds_, self.curves_ = columns.choose_with_curves(rule, self.n_jobs)

    def _configured_estimator(self) -> Any:
        """Return what scores labels; one that reads features itself is told of nominal ones."""
        if self.categorical_features is None or not self._passes_raw_features():
            return self._inner_estimator()
        scorer = clone(self._inner_estimator())
        if not set_categorical_features(
            scorer, self.categorical_features, unset_values=(None, "from_dtype")
        ):
            name = type(self).__name__
            raise ParameterError(
                f"The 'categorical_features' parameter of {name} must be None here: the estimator "
                f"inside, {type(scorer).__name__}, has no such parameter. Give a pipeline that "
                "encodes these columns."
            )
        return scorer

    def _predict_scores(self, X: Any) -> Array:
        n_values = None if self._passes_raw_features() else self._codes.n_values
        return self.estimator_.scores(X, n_values, caller=type(self).__name__)

    def _passes_raw_features(self) -> bool:
        return not isinstance(self._inner_estimator(), BaseMultilabelClassifier)

    def _read_training(self, X: Any) -> Any:
        if not self._passes_raw_features():
            return super()._read_training(X)
        X, n_columns = _as_given(X), 0
        if len(getattr(X, "shape", ())) == 2:
            _check_feature_names(self, X, reset=True)
            _check_n_features(self, X, reset=True)
            n_columns = self.n_features_in_
        self._codes = FeatureCodes.numeric(n_columns)
        return X

    def _read_rows(self, X: Any) -> Any:
        if not self._passes_raw_features():
            return super()._read_rows(X)
        check_is_fitted(self)
        return _as_given(X)


def _as_given(X: Any) -> Any:
    """Make a table of lists of numbers; texts and the like stay as they are."""
    if hasattr(X, "shape"):
        return X
    try:
        table = np.asarray(X)
    except ValueError:  # lists of unequal length: the estimator may know what they are
        return X
    return table if table.ndim == 2 else X
