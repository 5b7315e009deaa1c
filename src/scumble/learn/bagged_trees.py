"""Many C4.5 trees per label, each on rows drawn anew."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterTypeError
from scumble._core.parallel import row_slices
from scumble._core.parameters import Choice, Int, ParameterConstraint, Real, default
from scumble.learn.base import BaseRanker, parameters
from scumble.learn.c45 import C45Classifier, Target
from scumble.learn.c45.forest import Forest
from scumble.learn.single_label_models import SingleLabelFitter, predict_positive_proba
from scumble.learn.targets import LabelTargets, LazyTargets, spawn_seeds
from scumble.learn.weights import compute_class_weight_factors

DRAWS = ("bootstrap", "balanced", "weighted")
#: So many answers of trees are held at a time.
_ANSWERS_AT_ONCE = 2**24


class OnlyTrees(ParameterConstraint):
    """C4.5, or None."""

    kind = "hidden"
    error = ParameterTypeError
    description = "None or a C45Classifier"

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        return value is None or type(value) is C45Classifier

    def suggestion(self, value: Any) -> str:
        """Say what takes other classifiers."""
        return " For others, use ResampledEnsemble."


@parameters()
class BaggedTrees(BaseRanker, name="bagging", display_group="Rankers"):
    """Grow several C4.5 trees for each label on rows drawn by chance, and average them.

    A single pruned tree of a rare label is often one leaf, which ranks nothing. Trees that are
    not pruned and see different rows disagree, and the mean of what they say ranks well. The rows
    that were not drawn for a tree are new to it: out-of-sample scores come with the trees.

    Parameters
    ----------
    n_estimators : int, default=20
        Trees per label.
    draw : {"bootstrap", "balanced", "weighted"}, default="bootstrap"
        ``"bootstrap"`` draws as many rows as there are, with replacement, the same for all
        labels. ``"balanced"`` draws for each label as many rows with it as without it, of each
        as many as the smaller class has. ``"weighted"`` draws as many rows as there are, those
        with the label as often as the square roots of both classes' sizes say.
    columns : float, default=0.5
        The share of the columns each tree may use, drawn anew for every tree: trees that look at
        different columns err differently.
    estimator : C45Classifier, default=None
        The parameters of the trees; not pruned and with smoothed probabilities by default.

    Attributes
    ----------
    models_ : Forest
        The trees, draw after draw, of all labels each.

    See Also
    --------
    EnsembleOfClassifierChains : Bags whose trees also see other labels.

    Notes
    -----
    A score is the mean of the trees' probabilities; the out-of-sample score of a row that every
    tree of a label has seen is the label's share. Draws that miss a row hold its labels less often,
    by one in the number of rows: bootstrap scores are set right by that, so that a row is not
    ranked by its own label. Scores from balanced draws are higher than the labels are frequent.

    Examples
    --------
    >>> from scumble.learn import BaggedTrees
    >>> X = [[1], [2], [3], [4], [5], [6], [7], [8]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]]
    >>> BaggedTrees(random_state=0).fit(X, Y).predict([[1], [8]])
    array([[1, 0],
           [0, 1]])
    """

    n_estimators: int = default(20, Int(1))
    _: KW_ONLY
    draw: str = default("bootstrap", Choice(*DRAWS))
    columns: float = default(0.5, Real(0, 1, closed="right"))
    estimator: Any = default(None, OnlyTrees())
    random_state: Any = None

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        self._grow(X, Y, weights)

    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, weights: Array | None) -> Array:
        targets = self._grow(X, Y, weights)
        scores = np.empty(Y.shape, order="F")
        counted = np.ones(Y.shape[0]) if weights is None else weights
        shares = np.asarray(counted @ Y) / counted.sum()
        for block in self._blocks(X.shape[0]):
            answers, unseen = self._answers(X[block]), targets.unseen(block)
            n_unseen = unseen.sum(axis=1)
            sums = (answers * unseen).sum(axis=1)
            scores[block] = np.where(n_unseen > 0, sums / np.maximum(n_unseen, 1), shares)
            if self.draw == "bootstrap":  # draws without a row hold its labels a little less often
                shifts = (Y[block].toarray() - shares) / (Y.shape[0] - 1)
                scores[block] = np.clip(scores[block] + shifts, 0, 1)
        return scores

    def _predict_scores(self, X: Any) -> Array:
        parts = [self._answers(X[block]).mean(axis=1) for block in self._blocks(X.shape[0])]
        return np.vstack(parts) if parts else np.zeros((0, self.n_labels_))

    def _grow(self, X: Any, Y: sparse.csr_array, weights: Array | None) -> BagTargets:
        targets = BagTargets(self, X.shape[1], Y, weights)
        unpruned = C45Classifier(prune=False, laplace=True)
        tree = unpruned if self.estimator is None else self.estimator
        models = SingleLabelFitter(tree, X, self._codes.n_values, n_jobs=self.n_jobs).fit(targets)
        assert isinstance(models, Forest)
        self.models_: Forest = models
        return targets

    def _answers(self, X: Any) -> Array:
        """Ask all trees; shape (rows, draws, labels)."""
        answers = predict_positive_proba(self.models_, X, n_jobs=self.n_jobs)
        return answers.reshape(X.shape[0], -1, self.n_labels_)

    def _blocks(self, n_rows: int) -> list[slice]:
        return row_slices(n_rows, len(self.models_), _ANSWERS_AT_ONCE)


class BagTargets(LazyTargets):
    """The targets of all trees, draw after draw, of all labels each; made when asked for."""

    def __init__(self, bags: BaggedTrees, n_columns: int, Y: Any, weights: Array | None) -> None:
        self._bags, self._n_columns = bags, n_columns
        self._labels = LabelTargets(Y, weights=weights)
        generator, n_trees = bags._generator(), bags.n_estimators * Y.shape[1]
        n_seeds = bags.n_estimators if bags.draw == "bootstrap" else n_trees
        self._seeds = spawn_seeds(generator, n_seeds)
        self._column_seeds = spawn_seeds(generator, n_trees)
        # A bit per row and draw: which rows a tree has seen.
        self._seen = np.zeros((n_seeds, (Y.shape[0] + 7) // 8), np.uint8)
        super().__init__(n_trees, self._target)

    def _target(self, at: int) -> Target:
        bag, label = divmod(at, len(self._labels))
        target = self._labels[label]
        place = bag if self._bags.draw == "bootstrap" else at
        repeats = self._repeats(target.y, np.random.default_rng(self._seeds[place]))
        self._seen[place] = np.packbits(repeats > 0)
        return replace(target, repeats=repeats, columns=self._columns(at))

    def _columns(self, at: int) -> Array | None:
        """Draw the columns of one tree; None for all."""
        wanted = max(1, round(self._bags.columns * self._n_columns))
        if wanted == self._n_columns:
            return None
        drawn = np.random.default_rng(self._column_seeds[at]).permutation(self._n_columns)
        return np.sort(drawn[:wanted])

    def unseen(self, block: slice) -> Array:
        """Tell which trees have not seen which rows, after all targets were made."""
        first = block.start // 8
        bits = np.unpackbits(self._seen[:, first : (block.stop + 7) // 8], axis=1)
        seen = bits[:, block.start - 8 * first : block.stop - 8 * first]
        return (seen == 0).T.reshape(seen.shape[1], self._bags.n_estimators, -1)

    def _repeats(self, codes: Array, generator: np.random.Generator) -> Array:
        """Draw rows, and tell how often each was drawn."""
        n_rows, draw = len(codes), self._bags.draw
        if draw == "bootstrap":
            return np.bincount(generator.integers(n_rows, size=n_rows), minlength=n_rows)
        members = [np.flatnonzero(codes == code) for code in (0, 1)]
        sizes = np.array([len(rows) for rows in members])
        if sizes.min() == 0:  # nothing to balance
            return np.ones(n_rows, np.int64)
        if draw == "balanced":
            wanted = np.full(2, sizes.min())
        else:
            wanted = np.maximum(
                1, np.rint(sizes * compute_class_weight_factors(sizes, "sqrt"))
            ).astype(np.int64)
        pairs = zip(members, wanted, strict=True)
        drawn = [rows[generator.integers(len(rows), size=size)] for rows, size in pairs]
        return np.bincount(np.concatenate(drawn), minlength=n_rows)
