"""Models of many single-label problems on one table: C4.5 trees, or scikit-learn classifiers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from scumble._core.arrays import Array
from scumble._core.parallel import row_slices, run_in_threads, thread_count
from scumble.learn.base import BaseMultilabelClassifier, SingleLabelClassifierConstraint
from scumble.learn.features import append_columns
from scumble.learn.inner_classifier import unset_random_states
from scumble.learn.trees.c45 import C45Classifier, Target, Tree, prepare_table
from scumble.learn.trees.c45.forest import Forest, concatenate_nodes
from scumble.learn.trees.c45.growing import grow_tree, grow_tree_batch
from scumble.learn.trees.c45.table import even_ranges
from scumble.learn.trees.c45.tree import Nodes
from scumble.learn.weights import (
    apply_class_weight,
    compute_class_weight_factors,
    sample_weight_fit_params,
)

#: From this many trees in a block on, they are joined at once: many small objects take memory.
_JOIN_FROM_TREES = 256
#: Most trees that one call of the kernel grows; a call cannot be interrupted.
_MAX_TREES_PER_CALL = 4096
#: Blocks of trees per thread: enough that no thread waits long for the last one.
_BLOCKS_PER_THREAD = 16


def uses_c45(estimator: Any) -> bool:
    """Return whether the base learner is C4.5 itself, whose trees are grown together."""
    # A class derived from C45Classifier may override any method, and is fitted like any other.
    return estimator is None or type(estimator) is C45Classifier


def _block_ranges(start: int, stop: int, n_blocks: int) -> list[range]:
    """Divide a range into at least ``n_blocks`` blocks of about equal and limited length."""
    n_parts = max(n_blocks, -(-(stop - start) // _MAX_TREES_PER_CALL))
    return [range(start + first, start + end) for first, end in even_ranges(stop - start, n_parts)]


@dataclass(frozen=True, eq=False)
class SklearnModels:
    """Fitted scikit-learn classifiers, one per problem."""

    models: list[Any]  # fitted classifiers; an int instead if there was only this class
    n_classes: Array
    extra: list[Any]  # by model: the extra columns that it uses, or None

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.models)

    def predict_proba_of(self, index: int, X: Any, extra: Any = None) -> Array:
        """Return the class probabilities of one model, shape (n_rows, n_classes)."""
        model = self.models[index]
        probabilities = np.zeros((X.shape[0], int(self.n_classes[index])))
        if isinstance(model, int):
            probabilities[:, model] = 1.0
            return probabilities
        X = _append_extra_columns(X, extra, self.extra[index])
        if hasattr(model, "predict_proba"):
            probabilities[:, model.classes_] = model.predict_proba(X)
        else:
            probabilities[np.arange(X.shape[0]), model.predict(X)] = 1.0
        return probabilities

    def predict_proba(self, X: Any, *, n_jobs: int | None = None) -> Array:
        """Return the class probabilities of all models, side by side."""
        parts = run_in_threads(
            lambda index: self.predict_proba_of(index, X), range(len(self)), n_jobs=n_jobs
        )
        return np.hstack(parts) if parts else np.zeros((X.shape[0], 0))


#: Fitted models of many problems.
Models = Forest | SklearnModels


def predict_positive_proba(models: Models, X: Any, *, n_jobs: int | None = None) -> Array:
    """Return the probability of class 1 by every model, shape (n_rows, n_models)."""
    if isinstance(models, Forest):
        return models.positive_only().predict_proba(X, n_jobs=n_jobs)
    columns = run_in_threads(
        lambda index: models.predict_proba_of(index, X)[:, 1], range(len(models)), n_jobs=n_jobs
    )
    return np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class SingleLabelFitter:
    """Fits a copy of an estimator to each of many targets on the same table."""

    estimator: Any
    X: Any
    n_values: Array
    extra: Any = None  # columns of which a target may choose some
    generator: Any = None  # numpy Generator that seeds are drawn from
    class_weight: Any = None
    n_jobs: int | None = None

    def fit(self, targets: Sequence[Target]) -> Models:
        """Return one fitted model per target."""
        if not uses_c45(self.estimator):
            return self._fit_sklearn_models(targets)
        tree = C45Classifier() if self.estimator is None else clone(self.estimator)
        if self.class_weight is not None:
            tree.set_params(class_weight=self.class_weight)
        return self._grow_forest(tree, targets)

    def _grow_forest(self, tree: C45Classifier, targets: Any) -> Forest:
        """Grow a tree for each target on one prepared table."""
        table = prepare_table(self.X, self.n_values, extra=self.extra, n_jobs=self.n_jobs)
        settings = tree.settings()
        # Some targets have small first problems of two classes, which `listed` returns in batches.
        n_listed = getattr(targets, "n_listed", 0)

        def grow_block(block: range) -> Sequence[Tree | Nodes]:
            if block.stop <= n_listed:
                return [grow_tree_batch(table, targets.listed(block), settings)]
            trees = [grow_tree(table, targets[index], settings) for index in block]
            if len(trees) < _JOIN_FROM_TREES:
                return trees
            return [concatenate_nodes(trees)]

        n_blocks = _BLOCKS_PER_THREAD * thread_count(self.n_jobs)
        small_blocks = _block_ranges(0, n_listed, n_blocks)
        large_blocks = _block_ranges(n_listed, len(targets), n_blocks)
        # Small blocks come last, so that the threads finish at about the same time.
        results = run_in_threads(grow_block, [*large_blocks, *small_blocks], n_jobs=self.n_jobs)
        n_large = len(large_blocks)
        trees: list[Tree | Nodes] = []
        for block_trees in [*results[n_large:], *results[:n_large]]:
            trees.extend(block_trees)
        return Forest.from_trees(trees, laplace=bool(tree.laplace))

    def _fit_sklearn_models(self, targets: Sequence[Target]) -> SklearnModels:
        """Fit a copy of the estimator to each target."""
        n_targets = len(targets)
        seed_names = [] if self.generator is None else unset_random_states(self.estimator)
        seeds = np.zeros(n_targets, np.int64)
        if seed_names:
            seeds = self.generator.integers(2**31 - 1, size=n_targets)

        def fit_target(index: int) -> tuple[Any, int, Any]:
            target = targets[index]
            model = self._fit_model(target, dict.fromkeys(seed_names, int(seeds[index])))
            return model, target.n_classes, target.extra

        results = run_in_threads(fit_target, range(n_targets), n_jobs=self.n_jobs)
        return SklearnModels(
            models=[model for model, _, _ in results],
            n_classes=np.array([n_classes for _, n_classes, _ in results], np.int64),
            extra=[extra for _, _, extra in results],
        )

    def _fit_model(self, target: Target, seeds: dict[str, int]) -> Any:
        """Return a model fitted to the rows of a target, or the class if there is only one."""
        all_rows = np.arange(self.X.shape[0])
        rows = all_rows if target.rows is None else np.asarray(target.rows, np.int64)
        y = np.asarray(target.y)
        weights = target.weights
        if target.repeats is not None:
            rows, y = np.repeat(rows, target.repeats), np.repeat(y, target.repeats)
            weights = None if weights is None else np.repeat(weights, target.repeats)
        if y.min() == y.max():
            return int(y[0])
        model = clone(self.estimator)
        if seeds:
            model.set_params(**seeds)
        parameter = None if self.class_weight is None else class_weight_parameter(model)
        if parameter is not None:
            model.set_params(**{parameter: _sklearn_class_weight(y, weights, self.class_weight)})
        else:
            weights = apply_class_weight(y, weights, target.n_classes, self.class_weight)
        X = _append_extra_columns(self.X, self.extra, target.extra)
        return model.fit(X[rows], y, **sample_weight_fit_params(model, weights))


def class_weight_parameter(estimator: Any) -> str | None:
    """Return the name of the class weight of an estimator, or of the last one of a pipeline."""
    steps = getattr(estimator, "steps", None)
    name = f"{steps[-1][0]}__class_weight" if steps else "class_weight"
    return name if name in estimator.get_params(deep=True) else None


def _sklearn_class_weight(y: Array, weights: Array | None, class_weight: Any) -> Any:
    """Return a class weight that scikit-learn accepts: its own rule, or a weight per class."""
    # scikit-learn computes "balanced" from numbers of rows, and does not know "sqrt".
    if class_weight == "balanced" and weights is None:
        return class_weight
    factors = compute_class_weight_factors(np.bincount(y, weights), class_weight)
    return {code: float(factors[code]) for code in np.unique(y).tolist()}


def _append_extra_columns(X: Any, extra: Any, columns: Any) -> Any:
    """Append some of the extra columns, in their order."""
    if columns is None or len(columns) == 0:
        return X
    return append_columns(X, extra[:, np.sort(columns)].astype(np.float64))


class ProblemTransformationClassifier(BaseMultilabelClassifier):
    """Base class of the classifiers that fit copies of a base learner, C4.5 by default.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; by default `C45Classifier`. Any scikit-learn classifier is accepted.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.
    """

    models_: Models

    _parameter_constraints = {
        **BaseMultilabelClassifier._parameter_constraints,
        "estimator": SingleLabelClassifierConstraint(),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _inner_estimator(self) -> Any:
        """Return the base learner, not fitted."""
        return self.estimator

    def _declared_categorical_features(self) -> Any:
        """Return the `categorical_features` of this classifier, else those of a C4.5 tree."""
        if self.categorical_features is None and uses_c45(self.estimator):
            return getattr(self.estimator, "categorical_features", None)
        return self.categorical_features

    def _fit_targets(
        self,
        X: Any,
        targets: Sequence[Target],
        *,
        extra: Any = None,
        generator: Any = None,
        class_weight: Any = None,
    ) -> Models:
        """Return a fitted copy of the base learner for each target; see `SingleLabelFitter`."""
        fitter = SingleLabelFitter(
            estimator=self.estimator,
            X=X,
            n_values=self._codes.n_values,
            extra=extra,
            generator=generator,
            class_weight=class_weight,
            n_jobs=self.n_jobs,
        )
        return fitter.fit(targets)

    def _predict_proba_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of rows, with the class probabilities of all models side by side."""
        for rows in row_slices(X.shape[0], int(self.models_.n_classes.sum())):
            yield rows, self.models_.predict_proba(X[rows], n_jobs=self.n_jobs)

    def _predict_proba_by_model(self, X: Any) -> Iterator[tuple[slice, int, Array]]:
        """Yield blocks of rows, the index of a model, and its class probabilities of the rows."""
        ends = np.cumsum(self.models_.n_classes)[:-1]
        for rows, probabilities in self._predict_proba_blocks(X):
            for index, part in enumerate(np.split(probabilities, ends, axis=1)):
                yield rows, index, part

    def _predict_positive_proba_blocks(
        self, models: Models, X: Any
    ) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of rows, with the probability of class 1 by every model."""
        for rows in row_slices(X.shape[0], len(models)):
            yield rows, predict_positive_proba(models, X[rows], n_jobs=self.n_jobs)
