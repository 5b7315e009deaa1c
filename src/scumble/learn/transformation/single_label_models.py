"""Models of many targets on the same X: a C4.5 tree or a scikit-learn classifier for each.

A *target* is what one model is fitted to: the class of each of some rows, the weights of these
rows, and the extra columns that the model may use besides X; see `scumble.learn.trees.c45.Target`.
A multilabel classifier makes a target per label, per pair of labels, or of the labelsets.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from scumble._core.arrays import Array
from scumble._core.parallel import row_slices, run_in_threads, thread_count
from scumble.learn.base import BaseMultilabelClassifier, SingleLabelClassifierConstraint
from scumble.learn.classifier_tags import ClassifierTags
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

#: Number of trees in a block from which on their nodes are joined as soon as the block is grown:
#: many small objects take memory.
_MIN_TREES_TO_JOIN = 256
#: Maximum number of trees that one call of the kernel grows; a call cannot be interrupted.
_MAX_TREES_PER_CALL = 4096
#: Blocks of trees per thread: enough that no thread waits long for the last one.
_BLOCKS_PER_THREAD = 16


def uses_c45(estimator: Any) -> bool:
    """Return whether the base learner is C4.5, the default, whose trees are grown together.

    A subclass of `C45Classifier` may override any method, and is fitted like any other classifier.
    """
    return estimator is None or type(estimator) is C45Classifier


def _block_ranges(start: int, stop: int, n_blocks: int) -> list[range]:
    """Divide the tree indices from ``start`` to ``stop`` into ranges of about equal length.

    There are ``n_blocks`` of them, or more if each would exceed ``_MAX_TREES_PER_CALL``.
    """
    n_ranges = max(n_blocks, -(-(stop - start) // _MAX_TREES_PER_CALL))
    return [range(start + first, start + end) for first, end in even_ranges(stop - start, n_ranges)]


@dataclass(frozen=True, eq=False)
class SklearnModels:
    """Fitted scikit-learn classifiers, one per target."""

    models: list[Any]  # classifiers; an int, the class code, if the target had only this class
    n_classes: Array  # int64, by model
    #: By model: indices of the extra columns that it uses after those of X; None for none.
    extra_column_indices: list[Any]

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.models)

    def predict_proba_of(self, index: int, X: Any, X_extra: Any = None) -> Array:
        """Return the class probabilities of the model with this index, shape (n_rows, n_classes).

        ``X_extra`` holds all extra columns, in csr format, if the model uses some of them. A model
        without ``predict_proba`` gives its predicted class the probability 1.
        """
        model = self.models[index]
        probabilities = np.zeros((X.shape[0], int(self.n_classes[index])))
        if isinstance(model, int):
            probabilities[:, model] = 1.0
            return probabilities
        X = _append_extra_columns(X, X_extra, self.extra_column_indices[index])
        if hasattr(model, "predict_proba"):
            probabilities[:, model.classes_] = model.predict_proba(X)
        else:
            probabilities[np.arange(X.shape[0]), model.predict(X)] = 1.0
        return probabilities

    def predict_proba(self, X: Any, *, n_jobs: int | None = None) -> Array:
        """Return the class probabilities of all models, which use no extra columns.

        The shape is (n_rows, sum of ``n_classes``): the columns of the first model, then those of
        the second one, and so on.
        """
        probabilities = run_in_threads(
            lambda index: self.predict_proba_of(index, X), range(len(self)), n_jobs=n_jobs
        )
        return np.hstack(probabilities) if probabilities else np.zeros((X.shape[0], 0))


#: Fitted models, one per target.
Models = Forest | SklearnModels


def predict_positive_proba(models: Models, X: Any, *, n_jobs: int | None = None) -> Array:
    """Return the probability of class 1 by every model, shape (n_rows, n_models).

    The models use no extra columns.
    """
    if isinstance(models, Forest):
        return models.positive_only().predict_proba(X, n_jobs=n_jobs)
    columns = run_in_threads(
        lambda index: models.predict_proba_of(index, X)[:, 1], range(len(models)), n_jobs=n_jobs
    )
    return np.column_stack(columns)


class _FittedTarget(NamedTuple):
    """The model that was fitted to a target, and properties of the target."""

    model: Any  # a fitted classifier, or the class code if there was only this class
    n_classes: int
    extra_column_indices: Array | None


@dataclass(frozen=True, eq=False)
class SingleLabelFitter:
    """Fits a copy of an estimator to each of many targets on the same X."""

    estimator: Any  # None for C4.5
    X: Any  # as in `scumble.learn.base.ValidatedData`
    n_categories: Array  # int64, by column of X: categories of a nominal one, 0 for a numeric one
    X_extra: Any = None  # csr_array of bool: the extra columns, of which a target may use some
    generator: Any = None  # numpy Generator that seeds are drawn from; None sets no seeds
    class_weight: Any = None  # replaces that of the estimator; None leaves it
    n_jobs: int | None = None

    def fit(self, targets: Sequence[Target]) -> Models:
        """Return one fitted model per target."""
        if not uses_c45(self.estimator):
            return self._fit_sklearn_models(targets)
        unfitted_tree = C45Classifier() if self.estimator is None else clone(self.estimator)
        if self.class_weight is not None:
            unfitted_tree.set_params(class_weight=self.class_weight)
        return self._grow_forest(unfitted_tree, targets)

    def _grow_forest(self, unfitted_tree: C45Classifier, targets: Any) -> Forest:
        """Return a C4.5 tree for each target, grown with the parameters of ``unfitted_tree``.

        All trees use one prepared table, that is X with every column sorted. ``targets`` may have
        an attribute ``n_in_batches`` and a method ``make_batch``: the first ``n_in_batches``
        targets have two classes and few rows, and their trees are grown in batches.
        """
        table = prepare_table(self.X, self.n_categories, extra=self.X_extra, n_jobs=self.n_jobs)
        settings = unfitted_tree.settings()
        n_in_batches = getattr(targets, "n_in_batches", 0)

        def grow_block(block: range) -> Sequence[Tree | Nodes]:
            """Return the trees of some targets; as joined nodes if there are many."""
            if block.stop <= n_in_batches:
                return [grow_tree_batch(table, targets.make_batch(block), settings)]
            trees = [grow_tree(table, targets[index], settings) for index in block]
            if len(trees) < _MIN_TREES_TO_JOIN:
                return trees
            return [concatenate_nodes(trees)]

        n_blocks = _BLOCKS_PER_THREAD * thread_count(self.n_jobs)
        small_blocks = _block_ranges(0, n_in_batches, n_blocks)
        large_blocks = _block_ranges(n_in_batches, len(targets), n_blocks)
        # Small blocks come last, so that the threads finish at about the same time.
        results = run_in_threads(grow_block, [*large_blocks, *small_blocks], n_jobs=self.n_jobs)
        n_large = len(large_blocks)
        trees: list[Tree | Nodes] = []
        for block_trees in [*results[n_large:], *results[:n_large]]:
            trees.extend(block_trees)
        return Forest.from_trees(trees, laplace=bool(unfitted_tree.laplace))

    def _fit_sklearn_models(self, targets: Sequence[Target]) -> SklearnModels:
        """Return a copy of the estimator for each target, fitted to it."""
        n_targets = len(targets)
        seed_names = [] if self.generator is None else unset_random_states(self.estimator)
        seeds = np.zeros(n_targets, np.int64)
        if seed_names:
            seeds = self.generator.integers(2**31 - 1, size=n_targets)

        def fit_target(index: int) -> _FittedTarget:
            """Return the model of the target with this index."""
            target = targets[index]
            model = self._fit_model(target, dict.fromkeys(seed_names, int(seeds[index])))
            return _FittedTarget(model, target.n_classes, target.extra)

        results = run_in_threads(fit_target, range(n_targets), n_jobs=self.n_jobs)
        return SklearnModels(
            models=[result.model for result in results],
            n_classes=np.array([result.n_classes for result in results], np.int64),
            extra_column_indices=[result.extra_column_indices for result in results],
        )

    def _fit_model(self, target: Target, seeds: dict[str, int]) -> Any:
        """Return a copy of the estimator fitted to a target.

        If all rows of the target are of one class, return the code of this class instead. ``seeds``
        holds values of parameters ``random_state`` by name.
        """
        all_rows = np.arange(self.X.shape[0])
        row_indices = all_rows if target.rows is None else np.asarray(target.rows, np.int64)
        y = np.asarray(target.y)
        weights = target.weights
        if target.repeats is not None:
            row_indices = np.repeat(row_indices, target.repeats)
            y = np.repeat(y, target.repeats)
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
        X = _append_extra_columns(self.X, self.X_extra, target.extra)
        return model.fit(X[row_indices], y, **sample_weight_fit_params(model, weights))


def class_weight_parameter(estimator: Any) -> str | None:
    """Return the name of the parameter ``class_weight`` of an estimator; None if it has none.

    For a pipeline this is the parameter of its last step, such as ``"svc__class_weight"``.
    """
    steps = getattr(estimator, "steps", None)
    name = f"{steps[-1][0]}__class_weight" if steps else "class_weight"
    return name if name in estimator.get_params(deep=True) else None


def _sklearn_class_weight(y: Array, weights: Array | None, class_weight: Any) -> Any:
    """Return a value of the parameter ``class_weight`` of a scikit-learn classifier.

    ``class_weight`` is that of `compute_class_weight_factors`. Except for "balanced" without sample
    weights, the result is a mapping from the class codes in ``y`` to factors.
    """
    # scikit-learn computes "balanced" from numbers of rows, and does not know "sqrt".
    if class_weight == "balanced" and weights is None:
        return class_weight
    factors = compute_class_weight_factors(np.bincount(y, weights), class_weight)
    return {code: float(factors[code]) for code in np.unique(y).tolist()}


def _append_extra_columns(X: Any, X_extra: Any, column_indices: Any) -> Any:
    """Return X followed by the columns of ``X_extra`` with these indices, in ascending order.

    Without indices, or if they are None, return X unchanged.
    """
    if column_indices is None or len(column_indices) == 0:
        return X
    return append_columns(X, X_extra[:, np.sort(column_indices)].astype(np.float64))


class ModelProbabilities(NamedTuple):
    """The class probabilities of one model for a block of rows."""

    block: slice  # of the rows
    model_index: int
    probabilities: Array  # shape (n_rows_of_block, n_classes of the model)


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

    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True)
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
        """Return the unfitted base learner; None for C4.5."""
        return self.estimator

    def _declared_categorical_features(self) -> Any:
        """Return the parameter `categorical_features`; if it is None, that of the base learner.

        This is so for C4.5 only: any other base learner gets encoded features.
        """
        if self.categorical_features is None and uses_c45(self.estimator):
            return getattr(self.estimator, "categorical_features", None)
        return self.categorical_features

    def _fit_targets(
        self,
        X: Any,
        targets: Sequence[Target],
        *,
        X_extra: Any = None,
        generator: Any = None,
        class_weight: Any = None,
    ) -> Models:
        """Return a fitted copy of the base learner for each target.

        For ``X_extra``, ``generator`` and ``class_weight`` see `SingleLabelFitter`.
        """
        fitter = SingleLabelFitter(
            estimator=self.estimator,
            X=X,
            n_categories=self._codes.n_values,
            X_extra=X_extra,
            generator=generator,
            class_weight=class_weight,
            n_jobs=self.n_jobs,
        )
        return fitter.fit(targets)

    def _predict_proba_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield slices of the rows of X, with the class probabilities of all models for them.

        The probabilities of a model stand in adjacent columns. Blocks of rows bound memory.
        """
        for block in row_slices(X.shape[0], int(self.models_.n_classes.sum())):
            yield block, self.models_.predict_proba(X[block], n_jobs=self.n_jobs)

    def _predict_proba_by_model(self, X: Any) -> Iterator[ModelProbabilities]:
        """Yield the class probabilities of every model for every block of rows of X."""
        ends = np.cumsum(self.models_.n_classes)[:-1]
        for block, probabilities in self._predict_proba_blocks(X):
            for index, model_probabilities in enumerate(np.split(probabilities, ends, axis=1)):
                yield ModelProbabilities(block, index, model_probabilities)

    def _predict_positive_proba_blocks(
        self, models: Models, X: Any
    ) -> Iterator[tuple[slice, Array]]:
        """Yield slices of the rows of X, with the probability of class 1 by every model for them.

        The probabilities have shape (n_rows_of_block, n_models).
        """
        for block in row_slices(X.shape[0], len(models)):
            yield block, predict_positive_proba(models, X[block], n_jobs=self.n_jobs)
