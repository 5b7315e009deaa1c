"""What REMEDIAL is held against: treatments that share one half of what it does.

REMEDIAL takes rows above the mean apart. Rows that hold minority and majority labels are called
mixed, the others one-sided. Each treatment here changes one thing and leaves the rest alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.parameters import as_generator
from scumble.learn.binary_relevance import BinaryRelevance
from scumble.learn.c45 import Target
from scumble.learn.calibrated_label_ranking import (
    CalibratedLabelRanking,
    _PairwiseTargets,
    _separable_label_pairs,
)
from scumble.learn.targets import LabelTargets
from scumble.measures import is_minority, scumble_by_instance
from scumble.measures.concurrence import is_above_mean
from scumble.resample import REMEDIAL, BaseResampler, ResampleResult

Array = np.ndarray[Any, Any]


class Sides(NamedTuple):
    """Which labels are rare, and which rows above the mean are mixed or one-sided."""

    is_minority: Array
    mixed: Array
    one_sided: Array


def sides_of(Y: sparse.csr_array) -> Sides:
    """Look at labels as REMEDIAL does."""
    rare = is_minority(Y)
    scores = scumble_by_instance(Y)
    above = is_above_mean(scores, float(scores.mean()))
    has_both = (Y @ rare > 0) & (Y @ ~rare > 0)
    return Sides(rare, np.flatnonzero(above & has_both), np.flatnonzero(above & ~has_both))


def split_rows(Y: sparse.csr_array, rows: Array, moves: Array) -> ResampleResult:
    """Append a copy of some rows; it takes those labels along that move, entry by entry of Y."""
    n_rows, n_labels = Y.shape
    entries = Y.tocoo()
    place = np.arange(n_rows)
    place[rows] = n_rows + np.arange(len(rows))
    at = np.where(moves, place[entries.row], entries.row)
    shape = (n_rows + len(rows), n_labels)
    split = sparse.csr_array((np.ones(Y.nnz, bool), (at, entries.col)), shape=shape)
    split.sort_indices()
    return ResampleResult(np.concatenate([np.arange(n_rows), rows]), split)


class EmptyCopies(BaseResampler):
    """As many one-sided rows as there are mixed ones get a copy without labels; none is decoupled.

    Beside ``REMEDIAL(one_sided="keep")``, which treats the mixed rows, the dose is the same (where
    there are enough one-sided rows) and the kind of row another.
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        generator = as_generator(self.random_state, caller=type(self).__name__)
        rare, mixed, one_sided = sides_of(Y)
        size = min(len(mixed), len(one_sided))
        rows = np.sort(generator.choice(one_sided, size, replace=False))
        entries = Y.tocoo()
        return split_rows(Y, rows, np.isin(entries.row, rows) & ~rare[entries.col])


class DealtLabels(BaseResampler):
    """Mixed rows are taken apart, but which labels go to which copy is drawn.

    Each copy gets as many labels as REMEDIAL would give it. For a learner of single labels this is
    the same data as after ``REMEDIAL(one_sided="keep")``.
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        generator = as_generator(self.random_state, caller=type(self).__name__)
        rare, mixed, _ = sides_of(Y)
        entries = Y.tocoo()
        order = np.lexsort((generator.random(Y.nnz), entries.row))  # shuffled within every row
        place_in_row = np.empty(Y.nnz, np.int64)
        place_in_row[order] = np.arange(Y.nnz) - Y.indptr[entries.row[order]]
        n_majority = Y @ (~rare).astype(np.int64)
        moves = np.isin(entries.row, mixed) & (place_in_row < n_majority[entries.row])
        return split_rows(Y, mixed, moves)


class WholeCopies(BaseResampler):
    """Mixed rows are copied with all their labels: heavier rows, and nothing decoupled."""

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        rows = np.concatenate([np.arange(Y.shape[0]), sides_of(Y).mixed])
        return ResampleResult(rows, Y[rows])


class Decoupled(NamedTuple):
    """Labels after REMEDIAL with ``one_sided="keep"``, and which entries it took away."""

    sources: Array
    Y: sparse.csr_array
    lost: sparse.csr_array


def decoupled(Y: sparse.csr_array) -> Decoupled:
    """Take mixed rows apart, and remember the labels that each copy has lost."""
    sampler = REMEDIAL(one_sided="keep")
    _, split = sampler.fit_resample(sparse.csr_array((Y.shape[0], 1)), Y)
    whole = Y[sampler.sample_indices_]
    return Decoupled(sampler.sample_indices_, split, sparse.csr_array(whole > split))


class KnownTargets(Sequence[Any]):
    """One target per label, of the rows that have not lost it."""

    def __init__(self, found: Decoupled) -> None:
        self._targets = LabelTargets(found.Y)
        self._lost = LabelTargets(found.lost)

    def __len__(self) -> int:
        return len(self._targets)

    def __getitem__(self, at: Any) -> Any:
        known = np.flatnonzero(self._lost.codes(at) == 0)
        return Target(self._targets.codes(at)[known], rows=known)


class KnownBR(BinaryRelevance):
    """Binary relevance on decoupled rows, where a label that a copy has lost counts as unknown.

    The copy is left out when this label is learnt, instead of saying that the label is absent.
    """

    def _fit(self, X: Any, Y: sparse.csr_array) -> None:
        found = decoupled(Y)
        self.models_ = self._fit_targets(X[found.sources], KnownTargets(found))


class _KnownDuels(_PairwiseTargets):
    """Pairs learn from whole rows: where one of two labels is unknown a row cannot tell them apart.

    So of a mixed row the pairs are left that it told apart before, once each.
    """

    def __init__(self, found: Decoupled, whole: sparse.csr_array, pairs: Array) -> None:
        super().__init__(whole, pairs)
        self._labels = KnownTargets(found)


class KnownCLR(CalibratedLabelRanking):
    """Calibrated label ranking where a label that a copy has lost counts as unknown."""

    def _fit(self, X: Any, Y: sparse.csr_array) -> None:
        found = decoupled(Y)
        n_added = len(found.sources) - Y.shape[0]
        whole = sparse.csr_array(
            sparse.vstack([Y, sparse.csr_array((n_added, Y.shape[1]), dtype=bool)])
        )
        self.pairs_ = _separable_label_pairs(Y, stop_at_gap=bool(self.mulan_compat))
        duels = _KnownDuels(found, whole, self.pairs_)
        self.models_ = self._fit_targets(X[found.sources], duels)
