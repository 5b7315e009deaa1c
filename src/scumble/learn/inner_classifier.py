"""Multilabel classifiers inside others: fitted on any labels, asked in one way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from scumble._core.arrays import Array
from scumble._core.parameters import Declared
from scumble.learn.base import BaseMultilabelClassifier
from scumble.learn.predictions import labels_for, predict_with_confidences, refuse_shape
from scumble.learn.seeds import open_seeds
from scumble.learn.weights import given_weights, take_weights

Answer = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Training:
    """What a classifier inside another learns from."""

    X: Any
    Y: sparse.csr_array
    n_values: Array  # of each column; 0 for a numeric one
    weights: Array | None = None

    def take(self, rows: Array) -> Training:
        """Take some of the rows."""
        X, weights = _safe_indexing(self.X, rows), take_weights(self.weights, rows)
        return Training(X, self.Y[rows], self.n_values, weights)


@dataclass(frozen=True, eq=False)
class InnerClassifier:
    """A fitted classifier, and the labels it was spared because they are constant."""

    model: Any  # fitted to the open labels; None where there are none
    open_labels: Array  # labels that some training rows have and some have not
    always: Array  # bool, by label: all training rows have it

    @classmethod
    def fitted(
        cls,
        classifier: Any,
        training: Training,
        generator: np.random.Generator | None,
        n_jobs: int | None,
    ) -> InnerClassifier:
        """Fit a copy of a classifier."""
        return cls._fit("fit", classifier, training, generator, n_jobs)[0]

    @classmethod
    def fitted_with_scores(
        cls,
        classifier: Any,
        training: Training,
        generator: np.random.Generator | None,
        n_jobs: int | None,
    ) -> tuple[InnerClassifier, Array]:
        """Fit a copy of a classifier that can score its training rows as if new."""
        fitted, found = cls._fit("fit_out_of_sample", classifier, training, generator, n_jobs)
        n_rows = training.Y.shape[0]
        if found is not None:
            refuse_shape(found, (n_rows, len(fitted.open_labels)), classifier)
        if len(fitted.open_labels) == len(fitted.always):
            return fitted, found
        scores = np.tile(fitted.always.astype(np.float64), (n_rows, 1))
        if found is not None:
            scores[:, fitted.open_labels] = found
        return fitted, scores

    @classmethod
    def _fit(
        cls, method: str, classifier: Any, training: Training, generator: Any, n_jobs: int | None
    ) -> tuple[InnerClassifier, Any]:
        Y = training.Y
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        open_labels = np.flatnonzero((counts > 0) & (counts < Y.shape[0]))
        always = (counts == Y.shape[0]) & (counts > 0)
        if len(open_labels) == 0:
            return cls(None, open_labels, always), None
        model = clone(classifier)
        model.set_params(**open_settings(model, training.n_values, generator, n_jobs))
        known = labels_for(model, Y if len(open_labels) == Y.shape[1] else Y[:, open_labels])
        fit = getattr(model, method)
        found = fit(training.X, known, **given_weights(model, training.weights))
        return cls(model, open_labels, always), found

    def ask(self, X: Any) -> Answer:
        """Ask about rows."""
        labels = np.tile(self.always, (_num_samples(X), 1))
        confidences = labels.astype(np.float64)
        if self.model is not None:
            found, sure = predict_with_confidences(self.model, X, len(self.open_labels))
            refuse_shape(sure, (len(labels), len(self.open_labels)), self.model)
            labels[:, self.open_labels] = found.toarray()
            confidences[:, self.open_labels] = sure
        return labels, confidences


def tell_nominal(model: Any, columns: Any, *, left: tuple[Any, ...] = (None,)) -> bool:
    """Tell a classifier which columns are nominal, or the one inside that can be told."""
    holder = model
    while hasattr(holder, "get_params"):
        parameters = holder.get_params(deep=False)
        passes_by = isinstance(holder, BaseMultilabelClassifier) and holder._reads_itself()
        if "categorical_features" in parameters and not passes_by:
            told = parameters["categorical_features"]
            if (told is None or isinstance(told, str)) and told in left:
                holder.set_params(categorical_features=_nominal_for(holder, columns))
            return True
        holder = parameters.get("estimator")
    return False


def _nominal_for(estimator: Any, columns: Any) -> Any:
    """Give nominal columns as an estimator takes them; only ours know numbers of values."""
    foreign = isinstance(columns, Mapping) and not isinstance(estimator, Declared)
    return list(columns) if foreign else columns


def open_settings(
    model: Any, n_values: Array, generator: np.random.Generator | None, n_jobs: int | None
) -> dict[str, Any]:
    """Tell what an estimator was left to be told: seed, threads, nominal columns."""
    known = model.get_params(deep=False)
    settings: dict[str, Any] = {}
    names = open_seeds(model)
    if names and generator is not None:
        settings |= dict.fromkeys(names, int(generator.integers(2**31 - 1)))
    if known.get("n_jobs", 0) is None:
        settings["n_jobs"] = n_jobs
    nominal = {int(column): int(n_values[column]) for column in np.flatnonzero(n_values)}
    columns = _nominal_for(model, nominal)
    if known.get("categorical_features", 0) is None and columns != []:
        settings["categorical_features"] = columns
    return settings
