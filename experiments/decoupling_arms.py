"""Control treatments for REMEDIAL, each of which shares a part of what it does.

REMEDIAL splits rows above the mean. Rows with minority and majority labels are called mixed, the
others one-sided. Each treatment changes one thing and leaves the rest unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.parameters import as_generator
from scumble.learn.transformation.binary_relevance import BinaryRelevance
from scumble.learn.transformation.calibrated_label_ranking import (
    CalibratedLabelRanking,
    _PairwiseTargets,
    _separable_label_pairs,
)
from scumble.learn.transformation.targets import LabelTargets
from scumble.learn.trees.c45 import Target
from scumble.measures import is_minority, scumble_by_instance
from scumble.measures.concurrence import is_above_mean
from scumble.resample import REMEDIAL, BaseResampler, ResampleResult

Array = np.ndarray[Any, Any]


class Sides(NamedTuple):
    """The minority labels, and the mixed and one-sided rows above the mean."""

    is_minority: Array  # bool, by label
    mixed: Array  # indices of rows
    one_sided: Array  # indices of rows


def sides_of(Y: sparse.csr_array) -> Sides:
    """Return the minority labels and the rows that REMEDIAL splits."""
    is_rare = is_minority(Y)
    scores = scumble_by_instance(Y)
    is_above = is_above_mean(scores, float(scores.mean()))
    is_mixed = (Y @ is_rare > 0) & (Y @ ~is_rare > 0)
    return Sides(
        is_minority=is_rare,
        mixed=np.flatnonzero(is_above & is_mixed),
        one_sided=np.flatnonzero(is_above & ~is_mixed),
    )


def split_rows(Y: sparse.csr_array, rows: Array, moves: Array) -> ResampleResult:
    """Append a copy of some rows and move labels to it.

    ``moves`` says for each entry of Y whether it moves to the copy of its row.
    """
    n_rows, n_labels = Y.shape
    entries = Y.tocoo()
    copy_of = np.arange(n_rows)
    copy_of[rows] = n_rows + np.arange(len(rows))
    new_rows = np.where(moves, copy_of[entries.row], entries.row)
    shape = (n_rows + len(rows), n_labels)
    split = sparse.csr_array((np.ones(Y.nnz, bool), (new_rows, entries.col)), shape=shape)
    split.sort_indices()
    return ResampleResult(np.concatenate([np.arange(n_rows), rows]), split)


class EmptyCopies(BaseResampler):
    """Add copies without labels to one-sided rows, as many as there are mixed rows.

    The control for ``REMEDIAL(one_sided="keep")``, which splits the mixed rows: the number of
    treated rows is the same (if there are enough one-sided rows), but no row is decoupled.
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        """Move the majority labels of drawn one-sided rows to their copies."""
        generator = as_generator(self.random_state, caller=type(self).__name__)
        sides = sides_of(Y)
        size = min(len(sides.mixed), len(sides.one_sided))
        rows = np.sort(generator.choice(sides.one_sided, size, replace=False))
        entries = Y.tocoo()
        moves = np.isin(entries.row, rows) & ~sides.is_minority[entries.col]
        return split_rows(Y, rows, moves)


class DealtLabels(BaseResampler):
    """Split mixed rows, but draw at random which labels go to which copy.

    Each copy gets as many labels as from REMEDIAL. For a classifier that learns each label
    separately, the data are equivalent to those after ``REMEDIAL(one_sided="keep")``.
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        """Move as many labels of mixed rows as are majority labels, drawn at random."""
        generator = as_generator(self.random_state, caller=type(self).__name__)
        sides = sides_of(Y)
        entries = Y.tocoo()
        order = np.lexsort((generator.random(Y.nnz), entries.row))  # shuffled within every row
        rank_in_row = np.empty(Y.nnz, np.int64)
        rank_in_row[order] = np.arange(Y.nnz) - Y.indptr[entries.row[order]]
        n_majority = Y @ (~sides.is_minority).astype(np.int64)
        moves = np.isin(entries.row, sides.mixed) & (rank_in_row < n_majority[entries.row])
        return split_rows(Y, sides.mixed, moves)


class WholeCopies(BaseResampler):
    """Copy mixed rows with all their labels: rows have a larger weight, and none is decoupled."""

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        """Append the mixed rows once more."""
        rows = np.concatenate([np.arange(Y.shape[0]), sides_of(Y).mixed])
        return ResampleResult(rows, Y[rows])


class Decoupled(NamedTuple):
    """Labels after ``REMEDIAL(one_sided="keep")``, and the entries that it has removed."""

    sources: Array  # the original row of each row
    Y: sparse.csr_array
    removed: sparse.csr_array


def decoupled(Y: sparse.csr_array) -> Decoupled:
    """Split mixed rows, and return also the labels that each copy has lost."""
    sampler = REMEDIAL(one_sided="keep")
    _, split = sampler.fit_resample(sparse.csr_array((Y.shape[0], 1)), Y)
    original = Y[sampler.sample_indices_]
    return Decoupled(
        sources=sampler.sample_indices_, Y=split, removed=sparse.csr_array(original > split)
    )


class KnownTargets(Sequence[Any]):
    """One target per label, with the rows from which the label was not removed."""

    def __init__(self, labels: Decoupled) -> None:
        self._targets = LabelTargets(labels.Y)
        self._removed = LabelTargets(labels.removed)

    def __len__(self) -> int:
        return len(self._targets)

    def __getitem__(self, label: Any) -> Any:
        rows = np.flatnonzero(self._removed.label_column(label) == 0)
        return Target(self._targets.label_column(label)[rows], rows=rows)


class KnownBR(BinaryRelevance):
    """Binary relevance on decoupled rows, where removed labels are unknown, not absent.

    A copy is left out when a label that it has lost is learnt.
    """

    def _fit(self, X: Any, Y: sparse.csr_array) -> None:
        """Fit one model per label."""
        labels = decoupled(Y)
        self.models_ = self._fit_targets(X[labels.sources], KnownTargets(labels))


class _KnownPairTargets(_PairwiseTargets):
    """Targets of pairs of labels, from the original rows.

    A row in which one label of a pair is unknown does not say which of them is present. Therefore
    the pairs learn each mixed row once, as before decoupling.
    """

    def __init__(self, labels: Decoupled, Y: sparse.csr_array, pairs: Array) -> None:
        super().__init__(Y, pairs)
        self._label_targets = KnownTargets(labels)


class KnownCLR(CalibratedLabelRanking):
    """Calibrated label ranking on decoupled rows, where removed labels are unknown, not absent."""

    def _fit(self, X: Any, Y: sparse.csr_array) -> None:
        """Fit one model per pair of labels, and one per label."""
        labels = decoupled(Y)
        n_added = len(labels.sources) - Y.shape[0]
        without_labels = sparse.csr_array((n_added, Y.shape[1]), dtype=bool)
        original = sparse.csr_array(sparse.vstack([Y, without_labels]))
        self.pairs_ = _separable_label_pairs(Y, stop_at_first_inseparable=bool(self.mulan_compat))
        targets = _KnownPairTargets(labels, original, self.pairs_)
        self.models_ = self._fit_targets(X[labels.sources], targets)
