"""Calibrated label ranking: all pairs of labels vote, and a virtual label divides them."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads, thread_count
from scumble._core.parameters import Bool, default
from scumble.learn.base import parameters
from scumble.learn.c45 import Target
from scumble.learn.c45.forest import Forest, run_kernel_on_rows
from scumble.learn.c45.growing import TargetBatch
from scumble.learn.c45.predict import count_pair_votes, find_exclusive_rows
from scumble.learn.single_label_models import ProblemTransformationClassifier
from scumble.learn.targets import LabelTargets, LazyTargets


@parameters(kw_only=True)
class CalibratedLabelRanking(
    ProblemTransformationClassifier, name="clr", display_group="Pairs of labels"
):
    """A classifier for each pair of labels and one for each label: they vote.

    The classifier of a pair learns from the rows that have exactly one of the two labels, and
    votes for one of them. The classifier of a label votes for it or for a virtual label, which
    stands where the present labels end and the absent ones begin.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns each pair and label; `C45Classifier` by default. Any scikit-learn classifier
        will do.
    mulan_compat : bool, default=False
        Whether to lose the votes MULAN (since 1.5.0) loses: those of all pairs after the first
        pair that no row tells apart.

    Attributes
    ----------
    pairs_ : ndarray of int32, shape (n_pairs, 2)
        The pairs that have a model: without those no training row tells apart.
    models_ : Forest or ForeignModels
        The models of the pairs, then those of the labels.

    See Also
    --------
    BinaryRelevance : The classifiers of the labels alone.

    Notes
    -----
    A label is predicted if it has at least as many votes as the virtual label [1]_. Its
    confidence is its votes, its own classifier's included, over the number of labels, so one
    half is no border. A pair in doubt votes for its first label, as in MULAN.

    References
    ----------
    .. [1] Fuernkranz, J., Huellermeier, E., Loza Mencia, E., & Brinker, K. (2008). Multilabel
       classification via calibrated label ranking. *Machine Learning*, 73(2).

    Examples
    --------
    >>> from scumble.learn import CalibratedLabelRanking
    >>> X = [[1], [2], [3], [4], [5], [6]]
    >>> Y = [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 1]]
    >>> CalibratedLabelRanking().fit(X, Y).predict_both([[1], [6]])
    (array([[1, 0],
           [0, 1]]), array([[1., 0.],
           [0., 1.]]))
    """

    mulan_compat: bool = default(False, Bool())

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        self.pairs_: Array = _separable_label_pairs(Y, stop_at_gap=bool(self.mulan_compat))
        self._fit_models(X, _PairwiseTargets(Y, self.pairs_, weights))

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        votes = self._count_votes(X)
        scores, virtual = votes[:, :-1], votes[:, -1:]
        return scores >= virtual, scores / self.n_labels_

    def _count_votes(self, X: Any) -> Array:
        """Let each model vote for one of two; the virtual label comes after the others."""
        labels = np.arange(self.n_labels_)
        against_virtual = np.column_stack([labels, np.full_like(labels, self.n_labels_)])
        duels = np.vstack([self.pairs_, against_virtual]).astype(np.int64)
        votes = np.zeros((X.shape[0], self.n_labels_ + 1), np.int32)
        if isinstance(self.models_, Forest):
            run_kernel_on_rows(count_pair_votes, self.models_, X, duels, votes, n_jobs=self.n_jobs)
        else:
            _count_foreign(self.models_, duels, X, votes, self.n_jobs)
        return votes


class _PairwiseTargets(LazyTargets):
    """The targets of all pairs, then of all labels, made when asked for: there may be millions."""

    def __init__(self, Y: sparse.csr_array, pairs: Array, weights: Array | None = None) -> None:
        self._labels = LabelTargets(Y, weights=weights)
        self._weights = weights
        self._pairs = np.ascontiguousarray(pairs, np.int32)
        self.n_listed = len(pairs)
        self._indptr = self._labels.by_label.indptr.astype(np.int64)
        self._rows = self._labels.by_label.indices.astype(np.uint32)
        super().__init__(self.n_listed + len(self._labels), self._target)

    def _target(self, at: int) -> Target:
        if at >= self.n_listed:
            return self._labels[at - self.n_listed]
        _, rows, y, weights, *_ = self.listed(range(at, at + 1))
        return Target(y, rows=rows, weights=weights if len(weights) else None)

    def listed(self, block: range) -> TargetBatch:
        """Lay out some of the pairs one after another."""
        pairs = self._pairs[block.start : block.stop]
        room = int(np.diff(self._indptr)[pairs].sum())
        starts = np.zeros(len(pairs) + 1, np.int64)
        rows, y = np.empty(room, np.uint32), np.empty(room, np.uint8)
        n = find_exclusive_rows(self._indptr, self._rows, pairs, starts, rows, y)
        if self._weights is None:
            return TargetBatch(starts, rows[:n], y[:n])
        return TargetBatch(starts, rows[:n], y[:n], self._weights[rows[:n]])


def _separable_label_pairs(Y: sparse.csr_array, *, stop_at_gap: bool) -> Array:
    """List the pairs with a row that has one label only; up to the first other pair if wanted."""
    by_label = Y.tocsc()
    rows = np.split(by_label.indices, by_label.indptr[1:-1])
    numbers: dict[bytes, int] = {}
    # Labels on the same rows get the same number, and cannot be told apart.
    same = np.array([numbers.setdefault(part.tobytes(), len(numbers)) for part in rows])
    first, second = np.triu_indices(Y.shape[1], 1)
    told = same[first] != same[second]
    if stop_at_gap and not told.all():
        told[int(told.argmin()) :] = False
    return np.column_stack([first[told], second[told]]).astype(np.int32)


def _count_foreign(models: Any, duels: Array, X: Any, votes: Array, n_jobs: int | None) -> None:
    """Count the votes of scikit-learn's models, some at a time: their answers are dense."""

    def lost(at: int) -> Array:
        both = models.predict_proba_of(at, X)
        return both[:, 0] > both[:, 1]

    at_once = 16 * thread_count(n_jobs)
    for start in range(0, len(duels), at_once):
        block = range(start, min(start + at_once, len(duels)))
        for at, is_lost in zip(block, run_in_threads(lost, block, n_jobs=n_jobs), strict=True):
            winner, loser = duels[at]
            votes[:, winner] += ~is_lost
            votes[:, loser] += is_lost
