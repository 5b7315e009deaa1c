"""Scores of training rows by models that have not seen them, from any estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterTypeError
from scumble.learn.inner_classifier import InnerClassifier, Training
from scumble.measures.stratification import deal_rows


def fit_with_scores(
    estimator: Any,
    training: Training,
    generator: np.random.Generator,
    *,
    n_folds: int = 5,
    n_jobs: int | None = None,
    caller: str,
) -> tuple[InnerClassifier, Array]:
    """Fit an estimator, and score every training row without having seen it."""
    if estimator is None:
        raise ParameterTypeError(f"{caller}: got None where a classifier that scores is expected.")
    if hasattr(estimator, "fit_out_of_sample"):
        fitted, scores = InnerClassifier.fitted_with_scores(estimator, training, generator, n_jobs)
    else:
        seeds = generator.integers(2**31 - 1, size=2)

        def fit(some: Training) -> InnerClassifier:
            return InnerClassifier.fitted(estimator, some, np.random.default_rng(seeds[0]), n_jobs)

        def ask(train: Array, test: Array) -> Array:
            return fit(training.take(train)).ask(_safe_indexing(training.X, test))[1]

        fitted = fit(training)
        _check_gives_scores(fitted.model, caller)
        dealer = np.random.default_rng(seeds[1])
        scores = out_of_fold(ask, training.Y, n_folds, dealer, caller=caller)
    check_scores(scores, estimator, caller=caller)
    return fitted, scores


def check_scores(scores: Array, estimator: Any, *, caller: str) -> None:
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


def fit_alone(
    estimator: Any,
    training: Training,
    generator: np.random.Generator,
    *,
    n_jobs: int | None = None,
    caller: str,
) -> InnerClassifier:
    """Fit an estimator that scores labels; the same model as with `fit_with_scores`."""
    if not hasattr(estimator, "fit_out_of_sample"):
        generator = np.random.default_rng(generator.integers(2**31 - 1, size=2)[0])
    fitted = InnerClassifier.fitted(estimator, training, generator, n_jobs)
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


def out_of_fold(
    ask: Callable[[Array, Array], Array],
    Y: sparse.csr_array,
    n_folds: int,
    generator: np.random.Generator,
    *,
    caller: str,
) -> Array:
    """Learn on all folds but one and score that one, for every fold."""
    n_rows = Y.shape[0]
    if n_rows < 2:
        raise DataError(
            f"{caller}: found 1 sample (training row). Expected at least 2: a threshold needs "
            "scores by a model that has not seen the row."
        )
    folds = deal_rows(Y, min(n_folds, n_rows), generator)
    scores = np.empty(Y.shape, order="F")
    for fold in range(min(n_folds, n_rows)):
        held_out = folds == fold
        if held_out.any():
            train, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
            scores[test] = ask(train, test)
    return scores
