"""Many single-label problems on one table: C4.5 trees together, other classifiers one by one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from scumble._core.arrays import Array
from scumble._core.parallel import row_slices, run_in_threads, thread_count
from scumble._core.parameters import default
from scumble.learn.base import BaseMultilabelClassifier, SingleLabelClassifierConstraint, parameters
from scumble.learn.c45 import C45Classifier, Target, Tree, prepare_table
from scumble.learn.c45.forest import Forest, concatenate_nodes
from scumble.learn.c45.growing import grow_tree, grow_tree_batch
from scumble.learn.c45.table import even_ranges
from scumble.learn.c45.tree import Nodes
from scumble.learn.features import append_columns
from scumble.learn.inner_classifier import unset_random_states
from scumble.learn.weights import (
    apply_class_weight,
    compute_class_weight_factors,
    sample_weight_fit_params,
)

#: So many trees are joined at once, so that many small objects never live together.
_MANY_TREES = 256
#: No more trees are grown in one call, which cannot be interrupted.
_TREES_AT_ONCE = 4096


def uses_c45(estimator: Any) -> bool:
    """Tell whether the shared path can be taken: C4.5 itself, not something derived from it."""
    return estimator is None or type(estimator) is C45Classifier


def _ranges(start: int, stop: int, n_wanted: int) -> list[range]:
    """Cut a range into so many of about equal length, or into more that are not too long."""
    n_parts = max(n_wanted, -(-(stop - start) // _TREES_AT_ONCE))
    return [range(start + a, start + b) for a, b in even_ranges(stop - start, n_parts)]


@dataclass(frozen=True, eq=False)
class SklearnModels:
    """Fitted scikit-learn classifiers."""

    models: list[Any]  # a fitted classifier each, or the only class there was as a number
    n_classes: Array
    extra: list[Any]  # extra columns of each, or None

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.models)

    def predict_proba_of(self, at: int, X: Any, extra: Any = None) -> Array:
        """Ask one model for class probabilities."""
        model = self.models[at]
        out = np.zeros((X.shape[0], int(self.n_classes[at])))
        if isinstance(model, int):
            out[:, model] = 1.0
            return out
        X = _with_extra(X, extra, self.extra[at])
        if hasattr(model, "predict_proba"):
            out[:, model.classes_] = model.predict_proba(X)
        else:  # it is sure of what it says
            out[np.arange(X.shape[0]), model.predict(X)] = 1.0
        return out

    def ask(self, X: Any, *, n_jobs: int | None = None) -> Array:
        """Ask every model for the class probabilities of every row."""
        answers = run_in_threads(
            lambda at: self.predict_proba_of(at, X), range(len(self)), n_jobs=n_jobs
        )
        return np.hstack(answers) if answers else np.zeros((X.shape[0], 0))


#: Fitted models of many problems.
Models = Forest | SklearnModels


def predict_positive_proba(models: Models, X: Any, *, n_jobs: int | None = None) -> Array:
    """Ask every model for the probability of class 1 alone."""
    if isinstance(models, Forest):
        return models.positive_only().ask(X, n_jobs=n_jobs)
    answers = run_in_threads(
        lambda at: models.predict_proba_of(at, X)[:, 1], range(len(models)), n_jobs=n_jobs
    )
    return np.column_stack(answers)


@dataclass(frozen=True, eq=False)
class SingleLabelFitter:
    """A table, and the estimator of which a copy is fitted to each of many targets on it."""

    estimator: Any
    X: Any
    n_values: Array
    extra: Any = None  # columns that a target may choose from
    generator: Any = None  # of numpy: draws seeds
    class_weight: Any = None
    n_jobs: int | None = None

    def fit(self, targets: Sequence[Target]) -> Models:
        """Fit one model for each target."""
        if not uses_c45(self.estimator):
            return self._fit_foreign(targets)
        tree = C45Classifier() if self.estimator is None else clone(self.estimator)
        if self.class_weight is not None:
            tree.set_params(class_weight=self.class_weight)
        return self._grow(tree, targets)

    def _grow(self, tree: C45Classifier, targets: Any) -> Forest:
        """Grow a tree for each target on one prepared table."""
        table = prepare_table(self.X, self.n_values, extra=self.extra, n_jobs=self.n_jobs)
        settings, n_blocks = tree.settings(), 16 * thread_count(self.n_jobs)
        # The first many may be small, have two classes and be told in one go.
        n_listed = getattr(targets, "n_listed", 0)

        def grow(block: range) -> Sequence[Tree | Nodes]:
            if block.stop <= n_listed:
                return [grow_tree_batch(table, targets.listed(block), settings)]
            trees = [grow_tree(table, targets[at], settings) for at in block]
            return trees if len(trees) < _MANY_TREES else [concatenate_nodes(trees)]

        small = _ranges(0, n_listed, n_blocks)
        large = _ranges(n_listed, len(targets), n_blocks)
        # What is begun late should be small.
        parts = run_in_threads(grow, [*large, *small], n_jobs=self.n_jobs)
        in_order = [*parts[len(large) :], *parts[: len(large)]]
        return Forest.from_trees(
            [one for part in in_order for one in part], laplace=bool(tree.laplace)
        )

    def _fit_foreign(self, targets: Sequence[Target]) -> SklearnModels:
        names, n = (
            [] if self.generator is None else unset_random_states(self.estimator),
            len(targets),
        )
        seeds = self.generator.integers(2**31 - 1, size=n) if names else np.zeros(n, np.int64)

        def fit(at: int) -> tuple[Any, int, Any]:
            target = targets[at]
            model = self._fit_one(target, dict.fromkeys(names, int(seeds[at])))
            return model, target.n_classes, target.extra

        fitted = run_in_threads(fit, range(n), n_jobs=self.n_jobs)
        models, n_classes, extra = ([entry[part] for entry in fitted] for part in range(3))
        return SklearnModels(models, np.array(n_classes, np.int64), extra)

    def _fit_one(self, target: Target, seeds: dict[str, int]) -> Any:
        """Fit a model to the rows of a target as often as each is drawn, or give the only class."""
        all_rows = np.arange(self.X.shape[0])
        rows = all_rows if target.rows is None else np.asarray(target.rows, np.int64)
        y, weights = np.asarray(target.y), target.weights
        if target.repeats is not None:
            rows, y = np.repeat(rows, target.repeats), np.repeat(y, target.repeats)
            weights = None if weights is None else np.repeat(weights, target.repeats)
        if y.min() == y.max():
            return int(y[0])
        model = clone(self.estimator)
        if seeds:
            model.set_params(**seeds)
        if self.class_weight is not None and (name := class_weight_parameter(model)) is not None:
            model.set_params(**{name: _by_class(y, weights, self.class_weight)})
        else:
            weights = apply_class_weight(y, weights, target.n_classes, self.class_weight)
        X = _with_extra(self.X, self.extra, target.extra)
        return model.fit(X[rows], y, **sample_weight_fit_params(model, weights))


def class_weight_parameter(estimator: Any) -> str | None:
    """Find the parameter by which an estimator, or the last one of a pipeline, weighs classes."""
    steps = getattr(estimator, "steps", None)
    name = f"{steps[-1][0]}__class_weight" if steps else "class_weight"
    return name if name in estimator.get_params(deep=True) else None


def _by_class(y: Array, weights: Array | None, class_weight: Any) -> Any:
    """Tell a rule as other packages know it: by its name, or as weights by class."""
    if class_weight == "balanced" and weights is None:
        return class_weight
    factors = compute_class_weight_factors(np.bincount(y, weights), class_weight)
    return {code: float(factors[code]) for code in np.unique(y).tolist()}


def _with_extra(X: Any, extra: Any, chosen: Any) -> Any:
    """Append some of the extra columns, in their order."""
    if chosen is None or len(chosen) == 0:
        return X
    return append_columns(X, extra[:, np.sort(chosen)].astype(np.float64))


@parameters()
class ProblemTransformationClassifier(BaseMultilabelClassifier):
    """Base of the classifiers that ask a single-label classifier, C4.5 by default."""

    estimator: Any = default(None, SingleLabelClassifierConstraint())

    def _inner_estimator(self) -> Any:
        return self.estimator

    def _declared_categorical_features(self) -> Any:
        """Nominal columns may also be told to the tree."""
        if self.categorical_features is None and uses_c45(self.estimator):
            return getattr(self.estimator, "categorical_features", None)
        return self.categorical_features

    def _fit_targets(self, X: Any, targets: Sequence[Target], **settings: Any) -> Models:
        """Fit a copy of the estimator for each target."""
        n_values, n_jobs = self._codes.n_values, self.n_jobs
        return SingleLabelFitter(self.estimator, X, n_values, n_jobs=n_jobs, **settings).fit(
            targets
        )

    def _fit_models(self, X: Any, targets: Sequence[Target], **settings: Any) -> None:
        self.models_: Models = self._fit_targets(X, targets, **settings)

    def _predict_proba_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Ask all models for class probabilities, some rows at a time."""
        for rows in row_slices(X.shape[0], int(self.models_.n_classes.sum())):
            yield rows, self.models_.ask(X[rows], n_jobs=self.n_jobs)

    def _predict_proba_by_model(self, X: Any) -> Iterator[tuple[slice, int, Array]]:
        """Give the class probabilities of each model by its number, some rows at a time."""
        ends = np.cumsum(self.models_.n_classes)[:-1]
        for rows, answers in self._predict_proba_blocks(X):
            for model, part in enumerate(np.split(answers, ends, axis=1)):
                yield rows, model, part

    def _predict_positive_proba_blocks(
        self, models: Models, X: Any
    ) -> Iterator[tuple[slice, Array]]:
        """Ask models for the probability of class 1, some rows at a time."""
        for rows in row_slices(X.shape[0], len(models)):
            yield rows, predict_positive_proba(models, X[rows], n_jobs=self.n_jobs)
