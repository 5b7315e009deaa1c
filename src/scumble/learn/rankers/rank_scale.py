"""A common scale for the scores of several rankers: ranks among training rows, and log odds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads

#: Ranks that are stored exactly.
_N_EXACT = 32
#: Factor between stored ranks after them: fewer than 200 knots represent the scores of a million
#: rows.
_FACTOR = 1.08
#: Probabilities are clipped to this, and to one minus this, so that log odds are finite.
_MIN_PROBABILITY = 1e-4


# With r of n scores at least as high as s, the log rate of s is -log(r / (n + 1)): 0 for the lowest
# scores, and large for the few highest. Equal scores have the mean of their ranks. Rates alone do
# not show the gap between rows that have the label and rows that have not: for a frequent and easy
# label, the order within either group would outweigh it. Log odds show the gap.
@dataclass(frozen=True, eq=False)
class RankScale:
    """The mean of log rate and log odds of scores, by label; the log rate if there are no odds."""

    starts: Array  # index of the first knot of each label, and the number of knots
    scores: Array  # of the knots, ascending within a label
    rates: Array  # log rates of the knots; interpolated linearly between them
    are_probabilities: bool  # whether all scores are in [0, 1], and so have odds

    @classmethod
    def fit(cls, scores: Array, *, n_jobs: int | None = None) -> RankScale:
        """Return the scale of the scores of training rows."""
        knots = run_in_threads(
            lambda label: _find_knots(scores[:, label]), range(scores.shape[1]), n_jobs=n_jobs
        )
        knot_scores = [label_scores for label_scores, _ in knots]
        knot_rates = [label_rates for _, label_rates in knots]
        return cls(
            starts=np.cumsum([0, *map(len, knot_scores)]),
            scores=np.concatenate(knot_scores),
            rates=np.concatenate(knot_rates),
            are_probabilities=bool(scores.min(initial=0) >= 0 and scores.max(initial=0) <= 1),
        )

    def transform(self, scores: Array, *, n_jobs: int | None = None) -> Array:
        """Return the scores on the scale."""
        scaled = np.empty(scores.shape, order="F")

        def process(label: int) -> None:
            knots = slice(self.starts[label], self.starts[label + 1])
            column = scores[:, label]
            scaled[:, label] = np.interp(column, self.scores[knots], self.rates[knots])
            if self.are_probabilities:
                scaled[:, label] += logit(column.clip(_MIN_PROBABILITY, 1 - _MIN_PROBABILITY))
                scaled[:, label] /= 2

        run_in_threads(process, range(scores.shape[1]), n_jobs=n_jobs)
        return scaled


def _find_knots(scores: Array) -> tuple[Array, Array]:
    """Return some of the scores, ascending, and their log rates."""
    descending = np.sort(scores)[::-1]
    last = np.flatnonzero(np.append(descending[1:] < descending[:-1], True))  # of equal scores
    first = np.append(0, last[:-1] + 1)
    ranks = (first + last) / 2 + 1
    selected = _select_ranks(ranks)
    rates = -np.log(ranks[selected] / (len(scores) + 1))
    return descending[last[selected]][::-1], rates[::-1]


def _select_ranks(ranks: Array) -> Array:
    """Return the indices of the highest ranks, of ever fewer lower ones, and of the lowest."""
    targets = [float(_N_EXACT)]
    while targets[-1] < ranks[-1]:
        targets.append(targets[-1] * _FACTOR)
    exact = np.arange(np.searchsorted(ranks, _N_EXACT))
    approximate = np.searchsorted(ranks, targets).clip(max=len(ranks) - 1)
    return np.unique(np.concatenate([exact, approximate]))
