"""How scores order the labels of an instance and the instances of a label."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterTypeError
from scumble._core.parallel import SERIAL_BELOW, run
from scumble._core.validation import check_choice
from scumble.evaluate import kernels
from scumble.learn.predictions import refuse_other_shape

#: How equal scores are ranked; kernels know each by its place here.
TIES = ("mulan", "average", "worst")
MAX_BLOCKS = 64
#: Labels judged side by side; fewer would read every line of the scores several times.
LABELS_AT_ONCE = 8


class InstanceRankings(NamedTuple):
    """How the labels of each instance are ordered; 0 where no label is relevant."""

    n_relevant: Array  # number of labels the instance has
    n_pairs: Array  # pairs of a relevant and an irrelevant label
    wrong_pairs: Array  # those with the irrelevant label first, ties as chosen
    tied_wrong_pairs: Array  # those with the irrelevant label first, ties as halves
    worst_rank: Array  # rank of the last relevant label
    precision: Array  # average precision
    top_fault: Array  # whether the best label is irrelevant


class LabelRankings(NamedTuple):
    """How the instances are ordered by the scores of each label; NaN where there is no answer."""

    auc: Array  # area under the ROC curve
    # Mean precision at the relevant instances, and at ten levels of recall.
    average_precision: Array
    interpolated_precision: Array
    auc_pr: Array  # area under the precision-recall curve


class Rankings:
    """Labels and scores, each kind of ranking computed when it is first asked for."""

    def __init__(
        self, Y: sparse.csr_array, scores: Any, *, ties: str = "mulan", caller: str = "evaluate"
    ) -> None:
        self.Y = Y
        self.scores = check_scores(scores, Y.shape, caller=caller)
        self.ties = check_ties(ties, caller=caller)

    @cached_property
    def by_instance(self) -> InstanceRankings:
        """Judge every instance."""
        Y = self.Y
        judged = np.zeros((Y.shape[0], 5))
        arrays = (Y.indptr, Y.indices, self.scores, TIES.index(self.ties), judged)
        self._over_rows(partial(kernels.rank_rows, *arrays))
        n_relevant = np.diff(Y.indptr).astype(np.int64)
        n_pairs = n_relevant * (Y.shape[1] - n_relevant)
        wrong, twice, worst, precision, top = judged.T
        return InstanceRankings(n_relevant, n_pairs, wrong, twice / 2, worst, precision, top)

    @cached_property
    def by_label(self) -> LabelRankings:
        """Judge every label."""
        n_labels = self.Y.shape[1]
        columns = self.Y.tocsc()
        columns.sort_indices()
        arrays = columns.indptr, columns.indices
        curves = np.empty((n_labels, 4))

        def work(start: int) -> None:
            stop = min(start + LABELS_AT_ONCE, n_labels)
            kernels.rank_labels(*arrays, self.scores, start, stop, self.ties != "mulan", curves)

        n_jobs = 1 if self.scores.size < SERIAL_BELOW else None
        run(work, range(0, n_labels, LABELS_AT_ONCE), n_jobs=n_jobs)
        return LabelRankings(*curves.T)

    @cached_property
    def micro_auc(self) -> float:
        """Area under the ROC curve of all cells together; NaN where one kind is missing."""
        n_positive = self.Y.nnz
        n_negative = self.scores.size - n_positive
        if n_positive == 0 or n_negative == 0:
            return math.nan
        rows = np.repeat(np.arange(self.Y.shape[0]), np.diff(self.Y.indptr))
        distinct, times = np.unique(self.scores[rows, self.Y.indices], return_counts=True)
        below = np.concatenate([[0], np.cumsum(times)])
        arrays = (self.scores, distinct, below)
        twice = sum(self._over_rows(partial(kernels.count_positives_above, *arrays)))
        # Positives met positives too: of each two, one is better or they are tied.
        return (twice - n_positive**2) / (2 * n_positive * n_negative)

    @cached_property
    def are_probabilities(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        return bool(self.scores.min() >= 0 and self.scores.max() <= 1)

    @cached_property
    def log_and_square(self) -> tuple[float, float]:
        """Sums of log loss and squared error over all cells."""
        arrays = (self.Y.indptr, self.Y.indices, self.scores)
        parts = self._over_rows(partial(kernels.judge_probabilities, *arrays))
        log_total, square_total = np.sum(parts, axis=0)
        return float(log_total), float(square_total)

    def _over_rows(self, work: Callable[[int, int], Any]) -> list[Any]:
        """Judge blocks of rows, cut by their number alone, so that threads change no bit."""
        n_rows = self.Y.shape[0]
        n_blocks = 1 if self.scores.size < SERIAL_BELOW else min(MAX_BLOCKS, n_rows)
        cuts = [n_rows * at // n_blocks for at in range(n_blocks + 1)]
        return run(lambda block: work(*block), list(itertools.pairwise(cuts)))


def check_ties(ties: Any, *, caller: str) -> str:
    """Refuse what is no way to rank equal scores."""
    return check_choice(ties, TIES, name="ties", caller=caller)


def check_scores(scores: Any, shape: tuple[int, int], *, caller: str) -> Array:
    """Bring scores into a plain table, or say what is wrong with them."""
    if sparse.issparse(scores):
        scores = scores.toarray()
    try:
        table = np.ascontiguousarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterTypeError(
            f"{caller}: scores must be a table of numbers ({error}). A list of arrays, as some "
            "scikit-learn classifiers give, holds one per label: take the column of class 1 of "
            "each."
        ) from None
    refuse_other_shape(table.shape, tuple(shape), what="scores", caller=caller)
    missing = np.isnan(table)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise DataError(
            f"{caller}: the score in row {row}, column {column} is NaN, which has no rank. "
            f"{int(missing.sum()):,} scores are; give each label a number."
        )
    return table
