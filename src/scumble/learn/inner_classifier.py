"""Multilabel classifiers inside other estimators: fit copies of them, and predict with these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterTypeError
from scumble._core.parameters import ValidatedParametersMixin
from scumble.learn.base import BaseMultilabelClassifier, BaseRanker
from scumble.learn.predictions import (
    adapt_labels,
    check_scores_shape,
    predict_validated,
    predict_with_unit_interval_scores,
)
from scumble.learn.weights import sample_weight_fit_params, select_weights
from scumble.measures.stratification import assign_folds

#: Predicted labels (bool) and scores (float64), both of shape (n_rows, n_labels).
LabelsAndScores = tuple[Array, Array]

#: Exclusive upper limit of the seeds that are drawn for estimators; all libraries accept seeds up
#: to a signed 32-bit integer.
_SEED_LIMIT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class InnerClassifier:
    """A fitted classifier inside another estimator, which predicts constant labels as well.

    A label is constant if all training rows have it, or none. The model is fitted to the other
    labels only, because many classifiers cannot be fitted to a single class.
    """

    model: Any  # fitted to the varying labels; None if all labels are constant
    varying_labels: Array  # int64: indices of the labels that are not constant, ascending
    is_always_present: Array  # bool, shape (n_labels,): all training rows have the label

    def predict_labels_and_scores(
        self, X: Any, n_categories: Array | None = None
    ) -> LabelsAndScores:
        """Return the predicted labels and the scores in [0, 1] of all labels.

        A constant label has the score 0 or 1. ``n_categories`` says that an outer estimator has
        validated X, and how many categories its nominal columns have; see `TrainingData`. A model
        of this package then does not validate X again.
        """
        labels = np.tile(self.is_always_present, (_num_samples(X), 1))
        scores = labels.astype(np.float64)
        if self.model is not None:
            n_varying = len(self.varying_labels)
            if _can_skip_validation(self.model, n_categories):
                model_labels, model_scores = predict_validated(self.model, X)
            else:
                predicted, model_scores = predict_with_unit_interval_scores(
                    self.model, X, n_varying
                )
                model_labels = predicted.toarray()
            check_scores_shape(model_scores, (len(labels), n_varying), self.model)
            labels[:, self.varying_labels] = model_labels
            scores[:, self.varying_labels] = model_scores
        return labels, scores

    def predict_scores(self, X: Any, n_categories: Array | None = None, *, caller: str) -> Array:
        """Return the scores of `predict_labels_and_scores`, of shape (n_rows, n_labels).

        Raise an error, which names ``caller``, for NaN or infinite scores.
        """
        scores = self.predict_labels_and_scores(X, n_categories)[1]
        _check_finite_scores(scores, self.model, caller=caller)
        return scores


def _can_skip_validation(model: Any, n_categories: Array | None) -> bool:
    """Return whether a fitted model can predict rows that an outer estimator has validated.

    ``n_categories`` are those of the outer estimator; None if the rows are not validated.
    """
    # A model from a file may have other numbers of categories than the estimator around it.
    # Compiled loops use codes as indices, so that such a model has to validate them.
    return (
        n_categories is not None
        and isinstance(model, BaseMultilabelClassifier)
        and type(model).predict_both is BaseMultilabelClassifier.predict_both
        and not model._passes_raw_features()
        and np.array_equal(model._codes.n_values, n_categories)
    )


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The data that inner estimators are fitted to, and values for their parameters.

    A copy of an estimator whose ``random_state``, ``n_jobs`` or ``categorical_features`` is None
    gets the values of the outer estimator.
    """

    X: Any
    Y: sparse.csr_array  # bool, shape (n_samples, n_labels)
    n_categories: Array  # int64, by column: categories of a nominal one, 0 for a numeric one
    weights: Array | None = None  # by row; None if all are 1
    generator: Any = None  # numpy Generator that seeds are drawn from; None leaves them None
    n_jobs: int | None = None
    #: Whether X and Y are as in `scumble.learn.base.ValidatedData`. Classifiers of this package
    #: then do not validate them again.
    is_validated: bool = False

    @property
    def validated_n_categories(self) -> Array | None:
        """`n_categories` if X is validated, else None; for `InnerClassifier`."""
        return self.n_categories if self.is_validated else None

    def select_rows(self, row_indices: Array) -> TrainingData:
        """Return the training data of some rows, with the same parameters."""
        X = _safe_indexing(self.X, row_indices)
        weights = select_weights(self.weights, row_indices)
        return replace(self, X=X, Y=self.Y[row_indices], weights=weights)

    def inherited_parameters(self, model: Any) -> dict[str, Any]:
        """Return values by name for parameters of an estimator that are None.

        These are every ``random_state``, also of nested estimators, for which one seed is drawn,
        ``n_jobs`` and ``categorical_features``.
        """
        parameters = model.get_params(deep=False)
        inherited: dict[str, Any] = {}
        names = unset_random_states(model)
        if names and self.generator is not None:
            inherited |= dict.fromkeys(names, int(self.generator.integers(_SEED_LIMIT)))
        if "n_jobs" in parameters and parameters["n_jobs"] is None:
            inherited["n_jobs"] = self.n_jobs
        nominal_columns = self.n_categories.nonzero()[0]
        columns = _categorical_features_for(
            model, {int(column): int(self.n_categories[column]) for column in nominal_columns}
        )
        is_unset = "categorical_features" in parameters
        is_unset = is_unset and parameters["categorical_features"] is None
        if is_unset and columns != []:
            inherited["categorical_features"] = columns
        return inherited

    def fit(self, classifier: Any) -> InnerClassifier:
        """Return a copy of a classifier, fitted to this data."""
        return self._fit(classifier, out_of_sample=False)[0]

    def fit_with_scores(self, classifier: Any) -> tuple[InnerClassifier, Array]:
        """Return a fitted copy of a classifier, and the out-of-sample scores of all rows.

        The classifier has a method `fit_out_of_sample`; the scores have the shape of Y.
        """
        fitted, model_scores = self._fit(classifier, out_of_sample=True)
        n_rows = self.Y.shape[0]
        n_varying = len(fitted.varying_labels)
        if model_scores is not None:
            check_scores_shape(model_scores, (n_rows, n_varying), classifier)
            if n_varying == len(fitted.is_always_present):
                return fitted, model_scores
        scores = np.tile(fitted.is_always_present.astype(np.float64), (n_rows, 1))
        if model_scores is not None:
            scores[:, fitted.varying_labels] = model_scores
        return fitted, scores

    def _fit(self, classifier: Any, *, out_of_sample: bool) -> tuple[InnerClassifier, Array | None]:
        """Return a copy fitted to the varying labels, and its out-of-sample scores of these labels.

        The scores are None unless ``out_of_sample``, or if all labels are constant.
        """
        n_rows, n_labels = self.Y.shape
        counts = np.bincount(self.Y.indices, minlength=n_labels)
        varying_labels = np.flatnonzero((counts > 0) & (counts < n_rows))
        is_always_present = (counts == n_rows) & (counts > 0)
        if len(varying_labels) == 0:
            return InnerClassifier(None, varying_labels, is_always_present), None
        model = clone(classifier)
        inherited = self.inherited_parameters(model)
        model.set_params(**inherited)
        Y = self.Y if len(varying_labels) == n_labels else self.Y[:, varying_labels]
        scores = None
        # A classifier that declares nominal columns itself has to validate the features.
        if self.is_validated and "categorical_features" in inherited and _has_fit_validated(model):
            fit = model._fit_out_of_sample_validated if out_of_sample else model._fit_validated
            result = fit(self.X, Y, self.weights, n_categories=self.n_categories)
        else:
            fit = model.fit_out_of_sample if out_of_sample else model.fit
            weights = sample_weight_fit_params(model, self.weights)
            result = fit(self.X, adapt_labels(model, Y), **weights)
        if out_of_sample:
            scores = result
        return InnerClassifier(model, varying_labels, is_always_present), scores


def _has_fit_validated(model: Any) -> bool:
    """Return whether `_fit_validated` of a classifier does the same as its `fit`.

    It does for classifiers of this package, unless a subclass replaces `fit` or
    `fit_out_of_sample`.
    """
    return (
        isinstance(model, BaseMultilabelClassifier)
        and type(model).fit is BaseMultilabelClassifier.fit
        and not model._passes_raw_features()
        and (
            not isinstance(model, BaseRanker)
            or type(model).fit_out_of_sample is BaseRanker.fit_out_of_sample
        )
    )


# Parameters of inner estimators -------------------------------------------------------------------


def set_categorical_features(
    model: Any, columns: Any, *, unset_values: tuple[Any, ...] = (None,)
) -> bool:
    """Set `categorical_features` of a classifier, or of the first inner estimator that has it.

    Return whether there is such an estimator. ``columns`` are any allowed value of the parameter.
    A value that is not among ``unset_values`` was set by the user, and is not replaced.
    """
    estimator = model
    while hasattr(estimator, "get_params"):
        parameters = estimator.get_params(deep=False)
        passes_raw_features = (
            isinstance(estimator, BaseMultilabelClassifier) and estimator._passes_raw_features()
        )
        if "categorical_features" in parameters and not passes_raw_features:
            value = parameters["categorical_features"]
            if (value is None or isinstance(value, str)) and value in unset_values:
                value = _categorical_features_for(estimator, columns)
                estimator.set_params(categorical_features=value)
            return True
        estimator = parameters.get("estimator")
    return False


def _categorical_features_for(estimator: Any, columns: Any) -> Any:
    """Return nominal columns as a value of an estimator's parameter `categorical_features`.

    A mapping becomes a list of its keys for an estimator of another package.
    """
    # Only estimators of this package take a mapping from columns to numbers of categories.
    if isinstance(columns, Mapping) and not isinstance(estimator, ValidatedParametersMixin):
        return list(columns)
    return columns


def unset_random_states(estimator: Any) -> list[str]:
    """Return the names of the parameters ``random_state`` that are None, also of inner estimators.

    Names are those of ``set_params``, such as ``"estimator__random_state"``. Parameters of
    estimators inside one of this package are left out, because that one sets their seeds itself.
    """
    parameters = estimator.get_params(deep=True)
    values_by_prefix = {"": estimator}
    for name, value in parameters.items():
        values_by_prefix[f"{name}__"] = value
    seeding_prefixes = [
        prefix for prefix, value in values_by_prefix.items() if _seeds_inner_estimators(value)
    ]
    names = []
    for name, value in parameters.items():
        if value is None and name.split("__")[-1] == "random_state":
            is_seeded = any(
                name.startswith(prefix) and name != f"{prefix}random_state"
                for prefix in seeding_prefixes
            )
            if not is_seeded:
                names.append(name)
    return names


def set_random_states(estimator: Any, seed: int) -> Any:
    """Set every ``random_state`` that `unset_random_states` names to a seed.

    Return the estimator itself.
    """
    if hasattr(estimator, "get_params"):
        estimator.set_params(**dict.fromkeys(unset_random_states(estimator), seed))
    return estimator


def _seeds_inner_estimators(value: Any) -> bool:
    """Return whether an object is an estimator of this package with a `random_state`."""
    is_of_scumble = type(value).__module__.startswith("scumble.") and hasattr(value, "get_params")
    return is_of_scumble and "random_state" in value.get_params(deep=False)


# Out-of-sample scores -----------------------------------------------------------------------------


def fit_with_scores(
    estimator: Any, training: TrainingData, *, n_folds: int, caller: str
) -> tuple[InnerClassifier, Array]:
    """Return a fitted copy of any estimator, and out-of-sample scores of the training rows.

    Scores are those of `fit_out_of_sample` if the estimator has this method, else out-of-fold
    scores. Their shape is that of Y. Scores that are not finite are an error.
    """
    if estimator is None:
        raise ParameterTypeError(f"{caller}: got None where a classifier that scores is expected.")
    if hasattr(estimator, "fit_out_of_sample"):
        fitted, scores = training.fit_with_scores(estimator)
        _check_finite_scores(scores, estimator, caller=caller)
        return fitted, scores

    estimator_seed, fold_seed = training.generator.integers(_SEED_LIMIT, size=2)

    def fit(data: TrainingData) -> InnerClassifier:
        """Return a copy of the estimator fitted to data; all copies get the same seeds."""
        return replace(data, generator=np.random.default_rng(estimator_seed)).fit(estimator)

    def score_fold(train: Array, test: Array) -> Array:
        """Return the scores of the rows ``test`` by a copy fitted to the rows ``train``."""
        fold_model = fit(training.select_rows(train))
        return fold_model.predict_labels_and_scores(
            _safe_indexing(training.X, test), training.validated_n_categories
        )[1]

    fitted = fit(training)
    _check_has_scores(fitted.model, caller)
    generator = np.random.default_rng(fold_seed)
    scores = out_of_fold_scores(score_fold, training.Y, n_folds, generator, caller=caller)
    _check_finite_scores(scores, estimator, caller=caller)
    return fitted, scores


def fit_without_scores(estimator: Any, training: TrainingData, *, caller: str) -> InnerClassifier:
    """Return the fitted copy that `fit_with_scores` returns, but compute no scores.

    Raise an error if the copy cannot score rows.
    """
    if not hasattr(estimator, "fit_out_of_sample"):
        estimator_seed, _ = training.generator.integers(_SEED_LIMIT, size=2)
        training = replace(training, generator=np.random.default_rng(estimator_seed))
    fitted = training.fit(estimator)
    _check_has_scores(fitted.model, caller)
    return fitted


def out_of_fold_scores(
    score_fold: Callable[[Array, Array], Array],
    Y: Any,
    n_folds: int,
    generator: Any,
    *,
    caller: str,
) -> Array:
    """Return the score of every row by a model that was fitted to the other folds.

    The rows of the label matrix Y are divided into ``n_folds`` folds, or fewer if there are fewer
    rows. ``score_fold(train, test)`` gets indices of rows, fits a model to the rows ``train``, and
    returns the scores of the rows ``test``, of shape (n_test, n_labels).
    """
    n_rows = Y.shape[0]
    if n_rows < 2:
        raise DataError(
            f"{caller}: found 1 sample (training row). Expected at least 2: a threshold needs "
            "scores by a model that has not seen the row."
        )
    folds = assign_folds(Y, min(n_folds, n_rows), generator)
    scores = np.empty(Y.shape, order="F")
    for fold in np.unique(folds):
        train = np.flatnonzero(folds != fold)
        test = np.flatnonzero(folds == fold)
        scores[test] = score_fold(train, test)
    return scores


def _check_finite_scores(scores: Array, estimator: Any, *, caller: str) -> None:
    """Raise an error that names the first score that is NaN or infinite, if there is one."""
    is_wrong = ~np.isfinite(scores)
    if is_wrong.any():
        row, label = map(int, np.argwhere(is_wrong)[0])
        score = scores[row, label]
        text = "NaN" if np.isnan(score) else f"{score:g}"
        raise DataError(
            f"{caller}: {type(estimator).__name__} gives {text} as the score of row {row} for "
            f"label {label}. Expected a finite number: see whether the estimator copes with "
            "missing values and with labels that have few positives, or give another estimator."
        )


def _check_has_scores(model: Any, caller: str) -> None:
    """Raise an error if a fitted model has neither ``predict_proba`` nor ``decision_function``.

    None stands for constant labels only, which need no model.
    """
    if model is None or hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return
    raise ParameterTypeError(
        f"{caller}: {type(model).__name__} gives no scores. Expected an estimator with "
        "predict_proba or decision_function: without scores there is nothing to put a threshold on."
    )
