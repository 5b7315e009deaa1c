"""Multilabel classifiers inside other estimators: fitting copies, labels and scores of rows."""

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
from scumble.learn.weights import sample_weight_fit_params, take_weights
from scumble.measures.stratification import assign_folds

LabelsAndScores = tuple[Array, Array]

#: Seeds of estimators are drawn below this number, the largest that all libraries accept.
_SEED_LIMIT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class InnerClassifier:
    """A fitted classifier, and the labels that it was not fitted to because they are constant."""

    model: Any  # fitted to the labels that vary; None if there are none
    open_labels: Array  # indices of the labels that some training rows have and others have not
    always: Array  # bool, by label: all training rows have it

    def predict_labels_and_scores(self, X: Any, n_values: Array | None = None) -> LabelsAndScores:
        """Return labels (bool) and scores in [0, 1], of all labels.

        With the ``n_values`` of an outer estimator, X counts as validated by it, and a classifier
        of this package does not read it again.
        """
        labels = np.tile(self.always, (_num_samples(X), 1))
        scores = labels.astype(np.float64)
        if self.model is not None:
            n_open = len(self.open_labels)
            if _accepts_validated_rows(self.model, n_values):
                open_labels, open_scores = predict_validated(self.model, X)
            else:
                predicted, open_scores = predict_with_unit_interval_scores(self.model, X, n_open)
                open_labels = predicted.toarray()
            check_scores_shape(open_scores, (len(labels), n_open), self.model)
            labels[:, self.open_labels] = open_labels
            scores[:, self.open_labels] = open_scores
        return labels, scores

    def scores(self, X: Any, n_values: Array | None = None, *, caller: str) -> Array:
        """Return the scores alone; scores that are not finite numbers are an error."""
        scores = self.predict_labels_and_scores(X, n_values)[1]
        _check_finite_scores(scores, self.model, caller=caller)
        return scores


def _accepts_validated_rows(model: Any, n_values: Array | None) -> bool:
    """Return whether the rows of an outer estimator can be predicted without validation."""
    # A model from a file may hold other numbers of values than the estimator around it. Compiled
    # loops use codes as indices, so that such a model has to check them.
    return (
        n_values is not None
        and isinstance(model, BaseMultilabelClassifier)
        and type(model).predict_both is BaseMultilabelClassifier.predict_both
        and not model._passes_raw_features()
        and np.array_equal(model._codes.n_values, n_values)
    )


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The data that an inner estimator is fitted to, and values for parameters that are None."""

    X: Any
    Y: sparse.csr_array
    n_values: Array  # by column: number of values of a nominal one, 0 for a numeric one
    weights: Array | None = None
    generator: Any = None  # numpy Generator that seeds are drawn from
    n_jobs: int | None = None
    #: Whether X and Y are as in `scumble.learn.base.ValidatedData`. Classifiers of this package
    #: then do not validate them again.
    is_validated: bool = False

    @property
    def validated_n_values(self) -> Array | None:
        """`n_values` for `InnerClassifier.predict_labels_and_scores`; None if not validated."""
        return self.n_values if self.is_validated else None

    def take(self, rows: Array) -> TrainingData:
        """Return some of the rows."""
        X, weights = _safe_indexing(self.X, rows), take_weights(self.weights, rows)
        return replace(self, X=X, Y=self.Y[rows], weights=weights)

    def inherited_parameters(self, model: Any) -> dict[str, Any]:
        """Return values for parameters that are None: seeds, `n_jobs`, nominal columns."""
        parameters = model.get_params(deep=False)
        inherited: dict[str, Any] = {}
        names = unset_random_states(model)
        if names and self.generator is not None:
            inherited |= dict.fromkeys(names, int(self.generator.integers(_SEED_LIMIT)))
        if "n_jobs" in parameters and parameters["n_jobs"] is None:
            inherited["n_jobs"] = self.n_jobs
        nominal = {int(column): int(self.n_values[column]) for column in self.n_values.nonzero()[0]}
        columns = _nominal_columns_for(model, nominal)
        is_unset = "categorical_features" in parameters
        is_unset = is_unset and parameters["categorical_features"] is None
        if is_unset and columns != []:
            inherited["categorical_features"] = columns
        return inherited

    def fit(self, classifier: Any) -> InnerClassifier:
        """Return a fitted copy of a classifier."""
        return self._fit(classifier, out_of_sample=False)[0]

    def fit_with_scores(self, classifier: Any) -> tuple[InnerClassifier, Array]:
        """Return a fitted copy of a classifier with `fit_out_of_sample`, and these scores."""
        fitted, open_scores = self._fit(classifier, out_of_sample=True)
        n_rows = self.Y.shape[0]
        n_open = len(fitted.open_labels)
        if open_scores is not None:
            check_scores_shape(open_scores, (n_rows, n_open), classifier)
            if n_open == len(fitted.always):
                return fitted, open_scores
        scores = np.tile(fitted.always.astype(np.float64), (n_rows, 1))
        if open_scores is not None:
            scores[:, fitted.open_labels] = open_scores
        return fitted, scores

    def _fit(self, classifier: Any, *, out_of_sample: bool) -> tuple[InnerClassifier, Array | None]:
        """Fit a copy to the labels that vary; also return its out-of-sample scores, if any."""
        n_rows, n_labels = self.Y.shape
        counts = np.bincount(self.Y.indices, minlength=n_labels)
        open_labels = np.flatnonzero((counts > 0) & (counts < n_rows))
        always = (counts == n_rows) & (counts > 0)
        if len(open_labels) == 0:
            return InnerClassifier(None, open_labels, always), None
        model = clone(classifier)
        inherited = self.inherited_parameters(model)
        model.set_params(**inherited)
        Y = self.Y if len(open_labels) == n_labels else self.Y[:, open_labels]
        scores = None
        # A classifier that declares nominal columns itself has to read the features.
        if self.is_validated and "categorical_features" in inherited and _fits_validated(model):
            fit = model._fit_out_of_sample_validated if out_of_sample else model._fit_validated
            result = fit(self.X, Y, self.weights, n_values=self.n_values)
        else:
            fit = model.fit_out_of_sample if out_of_sample else model.fit
            weights = sample_weight_fit_params(model, self.weights)
            result = fit(self.X, adapt_labels(model, Y), **weights)
        if out_of_sample:
            scores = result
        return InnerClassifier(model, open_labels, always), scores


def _fits_validated(model: Any) -> bool:
    """Return whether a classifier can be fitted to the validated data of an outer estimator."""
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
    """Set the nominal columns of a classifier, or of the first one inside that takes them.

    Returns whether there is such a classifier. A value that is not among ``unset_values`` was set
    by the user, and stays.
    """
    holder = model
    while hasattr(holder, "get_params"):
        parameters = holder.get_params(deep=False)
        passes_raw = isinstance(holder, BaseMultilabelClassifier) and holder._passes_raw_features()
        if "categorical_features" in parameters and not passes_raw:
            value = parameters["categorical_features"]
            if (value is None or isinstance(value, str)) and value in unset_values:
                holder.set_params(categorical_features=_nominal_columns_for(holder, columns))
            return True
        holder = parameters.get("estimator")
    return False


def _nominal_columns_for(estimator: Any, columns: Any) -> Any:
    """Return nominal columns in the form an estimator takes them."""
    # Only estimators of this package take a mapping from columns to numbers of values.
    if isinstance(columns, Mapping) and not isinstance(estimator, ValidatedParametersMixin):
        return list(columns)
    return columns


def unset_random_states(estimator: Any) -> list[str]:
    """Return the names of the parameters ``random_state`` that are None, also of inner estimators.

    An estimator of this package seeds those inside it, which are left out.
    """
    parameters = estimator.get_params(deep=True)
    holders = {"": estimator}
    for name, value in parameters.items():
        holders[f"{name}__"] = value
    seeding = [prefix for prefix, holder in holders.items() if _seeds_inner_estimators(holder)]
    names = []
    for name, value in parameters.items():
        if value is None and name.split("__")[-1] == "random_state":
            is_inner = any(
                name.startswith(prefix) and name != f"{prefix}random_state" for prefix in seeding
            )
            if not is_inner:
                names.append(name)
    return names


def set_random_states(estimator: Any, seed: int) -> Any:
    """Set every ``random_state`` that is None, and return the estimator."""
    if hasattr(estimator, "get_params"):
        estimator.set_params(**dict.fromkeys(unset_random_states(estimator), seed))
    return estimator


def _seeds_inner_estimators(holder: Any) -> bool:
    """Return whether an object is an estimator of this package with a `random_state`."""
    is_ours = type(holder).__module__.startswith("scumble.") and hasattr(holder, "get_params")
    return is_ours and "random_state" in holder.get_params(deep=False)


# Out-of-sample scores -----------------------------------------------------------------------------


def fit_with_scores(
    estimator: Any, training: TrainingData, *, n_folds: int, caller: str
) -> tuple[InnerClassifier, Array]:
    """Return a fitted copy of any estimator, and out-of-sample scores of the training rows."""
    if estimator is None:
        raise ParameterTypeError(f"{caller}: got None where a classifier that scores is expected.")
    if hasattr(estimator, "fit_out_of_sample"):
        fitted, scores = training.fit_with_scores(estimator)
        _check_finite_scores(scores, estimator, caller=caller)
        return fitted, scores

    estimator_seed, fold_seed = training.generator.integers(_SEED_LIMIT, size=2)

    def fit(data: TrainingData) -> InnerClassifier:
        return replace(data, generator=np.random.default_rng(estimator_seed)).fit(estimator)

    def score_fold(train: Array, test: Array) -> Array:
        fold_model = fit(training.take(train))
        return fold_model.predict_labels_and_scores(
            _safe_indexing(training.X, test), training.validated_n_values
        )[1]

    fitted = fit(training)
    _check_has_scores(fitted.model, caller)
    generator = np.random.default_rng(fold_seed)
    scores = out_of_fold_scores(score_fold, training.Y, n_folds, generator, caller=caller)
    _check_finite_scores(scores, estimator, caller=caller)
    return fitted, scores


def fit_without_scores(estimator: Any, training: TrainingData, *, caller: str) -> InnerClassifier:
    """Return the same fitted copy as `fit_with_scores`, without scores of the training rows."""
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

    ``score_fold(train, test)`` fits a model to the rows ``train``, and returns the scores of the
    rows ``test``.
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
    """Raise an error for scores that are not finite numbers."""
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
    """Raise an error for a fitted model that predicts labels, but no scores."""
    if model is None or hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return
    raise ParameterTypeError(
        f"{caller}: {type(model).__name__} gives no scores. Expected an estimator with "
        "predict_proba or decision_function: without scores there is nothing to put a threshold on."
    )
