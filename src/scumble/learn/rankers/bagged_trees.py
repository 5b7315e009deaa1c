"""Bagged C4.5 trees as a ranker: several trees per label, each on rows drawn at random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterTypeError
from scumble._core.parallel import row_slices
from scumble._core.parameters import Choice, Int, ParameterConstraint, Real
from scumble.learn.base import BaseRanker
from scumble.learn.transformation.single_label_models import (
    SingleLabelFitter,
    predict_positive_proba,
)
from scumble.learn.transformation.targets import LabelTargets, LazyTargets, spawn_seeds
from scumble.learn.trees.c45 import C45Classifier, Target
from scumble.learn.trees.c45.forest import Forest
from scumble.learn.weights import compute_class_weight_factors

DRAWS = ("bootstrap", "balanced", "weighted")
#: Probabilities of all trees that are in memory at a time (128 MB).
_PROBABILITIES_AT_ONCE = 2**24


class C45Constraint(ParameterConstraint):
    """A C4.5 classifier, or None."""

    kind = "hidden"
    error = ParameterTypeError
    description = "None or a C45Classifier"

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value is None or a `C45Classifier`, and not of a subclass."""
        return value is None or type(value) is C45Classifier

    def suggestion(self, value: Any) -> str:
        """Return a hint to the ensemble that takes other classifiers."""
        return " For others, use ResampledEnsemble."


class BaggedTrees(BaseRanker, name="bagging", display_group="Rankers"):
    """Bagged C4.5 trees for each label.

    A single pruned tree of a rare label is often a single leaf, which ranks nothing. Unpruned trees
    fitted to different rows disagree, and the mean of their probabilities ranks well. The rows that
    were not drawn for a tree are new to it, so that out-of-sample scores (out of bag) cost nothing.

    Parameters
    ----------
    n_estimators : int, default=20
        Number of trees per label.
    draw : {"bootstrap", "balanced", "weighted"}, default="bootstrap"
        ``"bootstrap"`` draws as many rows as there are, with replacement, the same for all labels.
        ``"balanced"`` draws for each label equally many rows with and without it, of each as many
        as the smaller class has. ``"weighted"`` draws as many rows as there are; rows with and
        without the label are drawn in proportion to the square roots of their numbers.
    columns : float, default=0.5
        The share of the columns that each tree may use, drawn anew for every tree: trees that use
        different columns make different errors.
    estimator : C45Classifier, default=None
        The parameters of the trees; by default without pruning and with smoothed probabilities.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the drawn rows and columns.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    models_ : Forest
        The trees: for each draw, one of every label.
    classes_ : list of ndarray, or ndarray
        The two values of each label; the classes if ``y`` held one class per row.
    n_labels_ : int
        Number of labels, or of classes.
    label_names_ : tuple of str or None
        Names of the labels; None if they have none.
    n_features_in_ : int
        Number of columns of X in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X; only if they have names.

    See Also
    --------
    EnsembleOfClassifierChains : Bagged classifiers that also use other labels.

    Notes
    -----
    A score is the mean of the trees' probabilities. If all trees of a label were fitted to a row,
    its out-of-sample score is the share of the label. The labels of a row are slightly rarer in
    draws without it, by one in the number of rows. Bootstrap scores are corrected for that, so that
    a row is not ranked by its own label. Scores from balanced draws are higher than the frequencies
    of the labels.

    Examples
    --------
    >>> from scumble.learn import BaggedTrees
    >>> X = [[1], [2], [3], [4], [5], [6], [7], [8]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]]
    >>> BaggedTrees(random_state=0).fit(X, Y).predict([[1], [8]])
    array([[1, 0],
           [0, 1]])
    """

    _parameter_constraints = {
        **BaseRanker._parameter_constraints,
        "n_estimators": Int(minimum=1),
        "draw": Choice(*DRAWS),
        "columns": Real(0, 1, closed="right"),
        "estimator": C45Constraint(),
    }

    def __init__(
        self,
        n_estimators: int = 20,
        *,
        draw: str = "bootstrap",
        columns: float = 0.5,
        estimator: Any = None,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.draw = draw
        self.columns = columns
        self.estimator = estimator
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Grow the trees."""
        self._grow(X, Y, sample_weight)

    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None) -> Array:
        """Grow the trees, and return the mean probabilities of those not fitted to each row."""
        targets = self._grow(X, Y, sample_weight)
        scores = np.empty(Y.shape, order="F")
        weights = np.ones(Y.shape[0]) if sample_weight is None else sample_weight
        shares = np.asarray(weights @ Y) / weights.sum()
        for block in self._row_blocks(X.shape[0]):
            probabilities = self._predict_with_all_trees(X[block])
            is_new = targets.is_out_of_bag(block)
            n_trees = is_new.sum(axis=1)
            sums = (probabilities * is_new).sum(axis=1)
            scores[block] = np.where(n_trees > 0, sums / np.maximum(n_trees, 1), shares)
            if self.draw == "bootstrap":  # a row's labels are slightly rarer in draws without it
                shifts = (Y[block].toarray() - shares) / (Y.shape[0] - 1)
                scores[block] = np.clip(scores[block] + shifts, 0, 1)
        return scores

    def _predict_scores(self, X: Any) -> Array:
        """Return the mean probabilities of all trees."""
        blocks = self._row_blocks(X.shape[0])
        means = [self._predict_with_all_trees(X[block]).mean(axis=1) for block in blocks]
        if means:
            return np.vstack(means)
        return np.zeros((0, self.n_labels_))

    def _grow(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None) -> BagTargets:
        """Grow the trees, and return their targets with the drawn rows."""
        targets = BagTargets(self, X.shape[1], Y, sample_weight)
        tree = self.estimator
        if tree is None:
            tree = C45Classifier(prune=False, laplace=True)
        fitter = SingleLabelFitter(tree, X, self._codes.n_values, n_jobs=self.n_jobs)
        models = fitter.fit(targets)
        assert isinstance(models, Forest)
        self.models_: Forest = models
        return targets

    def _predict_with_all_trees(self, X: Any) -> Array:
        """Return the probability of each tree, of shape (n_rows, n_draws, n_labels)."""
        probabilities = predict_positive_proba(self.models_, X, n_jobs=self.n_jobs)
        return probabilities.reshape(X.shape[0], -1, self.n_labels_)

    def _row_blocks(self, n_rows: int) -> list[slice]:
        """Return slices of rows for which the probabilities of all trees fit in memory."""
        return row_slices(n_rows, len(self.models_), _PROBABILITIES_AT_ONCE)


class BagTargets(LazyTargets):
    """The targets of all trees: for each draw, one of every label; computed on access."""

    def __init__(
        self, bags: BaggedTrees, n_columns: int, Y: Any, sample_weight: Array | None
    ) -> None:
        n_rows, n_labels = Y.shape
        n_trees = bags.n_estimators * n_labels
        self._bags = bags
        self._n_columns = n_columns
        self._labels = LabelTargets(Y, weights=sample_weight)
        # A bootstrap sample serves all labels; other draws depend on the label.
        n_draws = bags.n_estimators if bags.draw == "bootstrap" else n_trees
        generator = bags._generator()
        self._row_seeds = spawn_seeds(generator, n_draws)
        self._column_seeds = spawn_seeds(generator, n_trees)
        # One bit per draw and row: whether the row was drawn.
        self._is_drawn = np.zeros((n_draws, (n_rows + 7) // 8), np.uint8)
        super().__init__(n_trees, self._make_target)

    def _make_target(self, tree: int) -> Target:
        """Return the target of one tree, with its rows and columns."""
        bag, label = divmod(tree, len(self._labels))
        target = self._labels[label]
        draw = bag if self._bags.draw == "bootstrap" else tree
        repeats = self._draw_rows(target.y, np.random.default_rng(self._row_seeds[draw]))
        self._is_drawn[draw] = np.packbits(repeats > 0)
        return replace(target, repeats=repeats, columns=self._draw_columns(tree))

    def _draw_columns(self, tree: int) -> Array | None:
        """Return the columns that a tree may use; None for all."""
        n_drawn = max(1, round(self._bags.columns * self._n_columns))
        if n_drawn == self._n_columns:
            return None
        generator = np.random.default_rng(self._column_seeds[tree])
        return np.sort(generator.permutation(self._n_columns)[:n_drawn])

    def is_out_of_bag(self, block: slice) -> Array:
        """Return whether rows were not drawn, of shape (n_rows, n_estimators, n_labels or 1).

        To be called after all targets were accessed.
        """
        first_byte = block.start // 8
        bits = np.unpackbits(self._is_drawn[:, first_byte : (block.stop + 7) // 8], axis=1)
        is_drawn = bits[:, block.start - 8 * first_byte : block.stop - 8 * first_byte]
        n_rows = is_drawn.shape[1]
        return (is_drawn == 0).T.reshape(n_rows, self._bags.n_estimators, -1)

    def _draw_rows(self, codes: Array, generator: np.random.Generator) -> Array:
        """Draw rows, and return how often each was drawn."""
        n_rows = len(codes)
        draw = self._bags.draw
        if draw == "bootstrap":
            return np.bincount(generator.integers(n_rows, size=n_rows), minlength=n_rows)
        rows_of_class = [np.flatnonzero(codes == code) for code in (0, 1)]
        class_sizes = np.array([len(rows) for rows in rows_of_class])
        if class_sizes.min() == 0:  # there is only one class
            return np.ones(n_rows, np.int64)
        if draw == "balanced":
            n_drawn = np.full(2, class_sizes.min())
        else:
            factors = compute_class_weight_factors(class_sizes, "sqrt")
            n_drawn = np.maximum(1, np.rint(class_sizes * factors)).astype(np.int64)
        drawn = [
            rows[generator.integers(len(rows), size=size)]
            for rows, size in zip(rows_of_class, n_drawn, strict=True)
        ]
        return np.bincount(np.concatenate(drawn), minlength=n_rows)
