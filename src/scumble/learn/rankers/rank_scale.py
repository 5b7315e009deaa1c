"""A common scale for the scores of several rankers: ranks among training rows, and log odds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads

#: Number of highest ranks that are stored exactly: of a rare label they matter most.
_N_EXACT = 32
#: Factor between stored ranks after those: fewer than 200 knots represent a million rows.
_RANK_FACTOR = 1.08
#: Probabilities are clipped to this, and to one minus this, so that log odds are finite.
_MIN_PROBABILITY = 1e-4


# With r of n scores at least as high as s, the log rate of s is -log(r / (n + 1)): 0 for the lowest
# scores, and large for the few highest. Equal scores have the mean of their ranks. Rates alone do
# not show the gap between rows that have the label and rows that have not: for a frequent and easy
# label, the order within either group would outweigh it. Log odds show the gap.
@dataclass(frozen=True, eq=False)
class RankScale:
    """The scale on which the scores of a ranker become comparable with those of others.

    The value of a score on the scale is the mean of its log rate among the training rows and of
    its log odds, or the log rate alone if the scores are not probabilities. Log rates are stored
    for some scores of each label, the *knots*, and interpolated between them.
    """

    starts: Array  # shape (n_labels + 1,): the knots of label j are starts[j] to starts[j + 1] - 1
    scores: Array  # score of each knot, ascending within a label
    rates: Array  # log rate of each knot; interpolated linearly between them
    are_probabilities: bool  # whether all scores are in [0, 1], and so have odds

    @classmethod
    def fit(cls, scores: Array, *, n_jobs: int | None = None) -> RankScale:
        """Return the scale for scores of training rows, of shape (n_rows, n_labels)."""
        knots_by_label = run_in_threads(
            lambda label: _find_knots(scores[:, label]), range(scores.shape[1]), n_jobs=n_jobs
        )
        knot_scores = [label_scores for label_scores, _ in knots_by_label]
        knot_rates = [label_rates for _, label_rates in knots_by_label]
        return cls(
            starts=np.cumsum([0, *map(len, knot_scores)]),
            scores=np.concatenate(knot_scores),
            rates=np.concatenate(knot_rates),
            are_probabilities=bool(scores.min(initial=0) >= 0 and scores.max(initial=0) <= 1),
        )

    def transform(self, scores: Array, *, n_jobs: int | None = None) -> Array:
        """Return the values of scores on the scale, both of shape (n_rows, n_labels)."""
        scaled = np.empty(scores.shape, order="F")

        def transform_label(label: int) -> None:
            """Write the values of the scores of one label."""
            knots = slice(self.starts[label], self.starts[label + 1])
            label_scores = scores[:, label]
            scaled[:, label] = np.interp(label_scores, self.scores[knots], self.rates[knots])
            if self.are_probabilities:
                scaled[:, label] += logit(label_scores.clip(_MIN_PROBABILITY, 1 - _MIN_PROBABILITY))
                scaled[:, label] /= 2

        run_in_threads(transform_label, range(scores.shape[1]), n_jobs=n_jobs)
        return scaled


def _find_knots(scores: Array) -> tuple[Array, Array]:
    """Return some of the scores of one label, ascending, and their log rates.

    The log rate of a score is ``-log(rank / (n_scores + 1))``. The largest score has rank 1, and
    equal scores share their mean rank.
    """
    descending = np.sort(scores)[::-1]
    # Positions of the last and the first of each group of equal scores.
    last = np.flatnonzero(np.append(descending[1:] < descending[:-1], True))
    first = np.append(0, last[:-1] + 1)
    ranks = (first + last) / 2 + 1
    selected = _select_ranks(ranks)
    rates = -np.log(ranks[selected] / (len(scores) + 1))
    return descending[last[selected]][::-1], rates[::-1]


def _select_ranks(ranks: Array) -> Array:
    """Return the indices of the ranks to store.

    ``ranks`` ascend from the highest score to the lowest. Those below 32 are selected, then ones
    that grow by a factor of 1.08, and the last.
    """
    targets = [float(_N_EXACT)]
    while targets[-1] < ranks[-1]:
        targets.append(targets[-1] * _RANK_FACTOR)
    exact = np.arange(np.searchsorted(ranks, _N_EXACT))
    approximate = np.searchsorted(ranks, targets).clip(max=len(ranks) - 1)
    return np.unique(np.concatenate([exact, approximate]))
