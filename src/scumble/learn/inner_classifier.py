"""Multilabel classifiers inside others: fitted on any labels, asked in one way."""

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
from scumble.learn.base import BaseMultilabelClassifier
from scumble.learn.predictions import (
    adapt_labels,
    check_scores_shape,
    predict_with_unit_interval_scores,
)
from scumble.learn.weights import sample_weight_fit_params, take_weights
from scumble.measures.stratification import assign_folds

LabelsAndScores = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class InnerClassifier:
    """A fitted classifier, and the labels it was spared because they are constant."""

    model: Any  # fitted to the open labels; None where there are none
    open_labels: Array  # labels that some training rows have and some have not
    always: Array  # bool, by label: all training rows have it

    def ask(self, X: Any) -> LabelsAndScores:
        """Ask about rows."""
        labels = np.tile(self.always, (_num_samples(X), 1))
        confidences = labels.astype(np.float64)
        if self.model is not None:
            found, sure = predict_with_unit_interval_scores(self.model, X, len(self.open_labels))
            check_scores_shape(sure, (len(labels), len(self.open_labels)), self.model)
            labels[:, self.open_labels] = found.toarray()
            confidences[:, self.open_labels] = sure
        return labels, confidences

    def scores(self, X: Any, *, caller: str) -> Array:
        """Ask for the confidences alone, which must be finite numbers."""
        scores = self.ask(X)[1]
        _check_scores(scores, self.model, caller=caller)
        return scores


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a classifier inside another learns from, and what it is told where it was left open."""

    X: Any
    Y: sparse.csr_array
    n_values: Array  # of each column; 0 for a numeric one
    weights: Array | None = None
    generator: Any = None  # of numpy: draws seeds
    n_jobs: int | None = None

    def take(self, rows: Array) -> TrainingData:
        """Take some of the rows."""
        X, weights = _safe_indexing(self.X, rows), take_weights(self.weights, rows)
        return replace(self, X=X, Y=self.Y[rows], weights=weights)

    def inherited_parameters(self, model: Any) -> dict[str, Any]:
        """Tell what an estimator was left to be told: seed, threads, nominal columns."""
        known = model.get_params(deep=False)
        settings: dict[str, Any] = {}
        names = unset_random_states(model)
        if names and self.generator is not None:
            settings |= dict.fromkeys(names, int(self.generator.integers(2**31 - 1)))
        if known.get("n_jobs", 0) is None:
            settings["n_jobs"] = self.n_jobs
        nominal = {int(column): int(self.n_values[column]) for column in self.n_values.nonzero()[0]}
        columns = _nominal_for(model, nominal)
        if known.get("categorical_features", 0) is None and columns != []:
            settings["categorical_features"] = columns
        return settings

    def fit(self, classifier: Any) -> InnerClassifier:
        """Fit a copy of a classifier."""
        return self._fit(classifier, "fit")[0]

    def fit_with_scores(self, classifier: Any) -> tuple[InnerClassifier, Array]:
        """Fit a copy of a classifier that can score its training rows as if new."""
        fitted, found = self._fit(classifier, "fit_out_of_sample")
        n_rows = self.Y.shape[0]
        if found is not None:
            check_scores_shape(found, (n_rows, len(fitted.open_labels)), classifier)
        if len(fitted.open_labels) == len(fitted.always):
            return fitted, found
        scores = np.tile(fitted.always.astype(np.float64), (n_rows, 1))
        if found is not None:
            scores[:, fitted.open_labels] = found
        return fitted, scores

    def _fit(self, classifier: Any, method: str) -> tuple[InnerClassifier, Any]:
        n_rows, n_labels = self.Y.shape
        counts = np.bincount(self.Y.indices, minlength=n_labels)
        open_labels = np.flatnonzero((counts > 0) & (counts < n_rows))
        always = (counts == n_rows) & (counts > 0)
        if len(open_labels) == 0:
            return InnerClassifier(None, open_labels, always), None
        model = clone(classifier)
        model.set_params(**self.inherited_parameters(model))
        known = self.Y if len(open_labels) == n_labels else self.Y[:, open_labels]
        fit = getattr(model, method)
        found = fit(
            self.X, adapt_labels(model, known), **sample_weight_fit_params(model, self.weights)
        )
        return InnerClassifier(model, open_labels, always), found


def set_categorical_features(model: Any, columns: Any, *, left: tuple[Any, ...] = (None,)) -> bool:
    """Tell a classifier which columns are nominal, or the one inside that can be told."""
    holder = model
    while hasattr(holder, "get_params"):
        parameters = holder.get_params(deep=False)
        passes_by = isinstance(holder, BaseMultilabelClassifier) and holder._passes_raw_features()
        if "categorical_features" in parameters and not passes_by:
            told = parameters["categorical_features"]
            if (told is None or isinstance(told, str)) and told in left:
                holder.set_params(categorical_features=_nominal_for(holder, columns))
            return True
        holder = parameters.get("estimator")
    return False


def _nominal_for(estimator: Any, columns: Any) -> Any:
    """Give nominal columns as an estimator takes them; only ours know numbers of values."""
    foreign = isinstance(columns, Mapping) and not isinstance(estimator, ValidatedParametersMixin)
    return list(columns) if foreign else columns


def unset_random_states(estimator: Any) -> list[str]:
    """List the parameters ``random_state`` that are None, of an estimator and of those inside."""
    parameters = estimator.get_params(deep=True)
    holders = {"": estimator} | {f"{name}__": value for name, value in parameters.items()}
    own = [prefix for prefix, holder in holders.items() if _seeds_its_parts(holder)]
    names = [n for n, v in parameters.items() if v is None and n.split("__")[-1] == "random_state"]
    return [n for n in names if not any(n.startswith(p) and n != f"{p}random_state" for p in own)]


def set_random_states(estimator: Any, seed: int) -> Any:
    """Set every ``random_state`` that was left open, the estimator's own and those inside it."""
    if hasattr(estimator, "get_params"):
        estimator.set_params(**dict.fromkeys(unset_random_states(estimator), seed))
    return estimator


def _seeds_its_parts(holder: Any) -> bool:
    is_ours = type(holder).__module__.startswith("scumble.") and hasattr(holder, "get_params")
    return is_ours and "random_state" in holder.get_params(deep=False)


# Scores of training rows by models that have not seen them --------------------------------------


def fit_with_scores(
    estimator: Any, training: TrainingData, *, n_folds: int, caller: str
) -> tuple[InnerClassifier, Array]:
    """Fit any estimator, and score every training row without having seen it."""
    if estimator is None:
        raise ParameterTypeError(f"{caller}: got None where a classifier that scores is expected.")
    if hasattr(estimator, "fit_out_of_sample"):
        fitted, scores = training.fit_with_scores(estimator)
    else:
        seeds = training.generator.integers(2**31 - 1, size=2)

        def fit(some: TrainingData) -> InnerClassifier:
            return replace(some, generator=np.random.default_rng(seeds[0])).fit(estimator)

        def ask(train: Array, test: Array) -> Array:
            return fit(training.take(train)).ask(_safe_indexing(training.X, test))[1]

        fitted = fit(training)
        _check_gives_scores(fitted.model, caller)
        dealer = np.random.default_rng(seeds[1])
        scores = out_of_fold_scores(ask, training.Y, n_folds, dealer, caller=caller)
    _check_scores(scores, estimator, caller=caller)
    return fitted, scores


def _check_scores(scores: Array, estimator: Any, *, caller: str) -> None:
    """Refuse scores that are no finite numbers: nothing can be decided from them."""
    wrong = ~np.isfinite(scores)
    if wrong.any():
        row, label = map(int, np.argwhere(wrong)[0])
        found = "NaN" if np.isnan(scores[row, label]) else f"{scores[row, label]:g}"
        raise DataError(
            f"{caller}: {type(estimator).__name__} gives {found} as the score of row {row} for "
            f"label {label}. Expected a finite number: see whether the estimator copes with "
            "missing values and with labels that have few positives, or give another estimator."
        )


def fit_without_scores(estimator: Any, training: TrainingData, *, caller: str) -> InnerClassifier:
    """Fit an estimator that scores labels; the same model as with `fit_with_scores`."""
    if not hasattr(estimator, "fit_out_of_sample"):
        seeds = training.generator.integers(2**31 - 1, size=2)
        training = replace(training, generator=np.random.default_rng(seeds[0]))
    fitted = training.fit(estimator)
    _check_gives_scores(fitted.model, caller)
    return fitted


def _check_gives_scores(model: Any, caller: str) -> None:
    """Refuse a fitted model that tells labels and nothing more."""
    if model is None or hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return
    raise ParameterTypeError(
        f"{caller}: {type(model).__name__} gives no scores. Expected an estimator with "
        "predict_proba or decision_function: without scores there is nothing to put a threshold on."
    )


def out_of_fold_scores(
    ask: Callable[[Array, Array], Array], Y: Any, n_folds: int, generator: Any, *, caller: str
) -> Array:
    """Learn on all folds but one and score that one, for every fold."""
    n_rows = Y.shape[0]
    if n_rows < 2:
        raise DataError(
            f"{caller}: found 1 sample (training row). Expected at least 2: a threshold needs "
            "scores by a model that has not seen the row."
        )
    folds = assign_folds(Y, min(n_folds, n_rows), generator)
    scores = np.empty(Y.shape, order="F")
    for fold in np.unique(folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        scores[test] = ask(train, test)
    return scores
