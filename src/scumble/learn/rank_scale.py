"""Scores of any ranker on one scale: how few training rows score as high, and the odds it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads

#: So many of the highest scores are kept one by one; below, each is so many times further down.
_TOP, _STEP = 32, 1.08
#: Probabilities count as no smaller than this, and no nearer to one.
_SMALLEST = 1e-4


# With r of n scores at least as high as s, the log rate of s is -log(r / (n + 1)): 0 at the bottom,
# and large for the few at the top. Equal scores share the mean of their places. Rates alone say
# nothing of the gap between rows that have the label and rows that have not: where a label is
# frequent and easy, the order within either would outweigh it. The odds see the gap.
@dataclass(frozen=True, eq=False)
class RankScale:
    """The mean of log rate and log odds of scores, for every label; the rate where no odds are."""

    starts: Array  # where the knots of each label start
    scores: Array  # of the knots, ascending within a label
    rates: Array  # log rates of the knots; read linearly between them
    are_probabilities: bool  # whether the scores are probabilities, and so have odds

    @classmethod
    def of(cls, scores: Array, *, n_jobs: int | None = None) -> RankScale:
        """Learn from scores of training rows."""
        knots = run_in_threads(
            lambda label: _knots(scores[:, label]), range(scores.shape[1]), n_jobs=n_jobs
        )
        values, rates = zip(*knots, strict=True)
        starts = np.cumsum([0, *map(len, values)])
        are_probabilities = bool(scores.min(initial=0) >= 0 and scores.max(initial=0) <= 1)
        return cls(starts, np.concatenate(values), np.concatenate(rates), are_probabilities)

    def ask(self, scores: Array, *, n_jobs: int | None = None) -> Array:
        """Tell the heights of scores."""
        out = np.empty(scores.shape, order="F")

        def work(label: int) -> None:
            own = slice(*self.starts[label : label + 2])
            out[:, label] = np.interp(scores[:, label], self.scores[own], self.rates[own])
            if self.are_probabilities:
                out[:, label] += logit(scores[:, label].clip(_SMALLEST, 1 - _SMALLEST))
                out[:, label] /= 2

        run_in_threads(work, range(scores.shape[1]), n_jobs=n_jobs)
        return out


def _knots(scores: Array) -> tuple[Array, Array]:
    """Return some of the scores, ascending, and their log rates."""
    ordered = np.sort(scores)[::-1]
    ends = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], True))
    begins = np.append(0, ends[:-1] + 1)
    places = (begins + ends) / 2 + 1
    kept = _thinned(places)
    rates = -np.log(places[kept] / (len(scores) + 1))
    return ordered[ends[kept]][::-1], rates[::-1]


def _thinned(places: Array) -> Array:
    """Keep the top places and ever fewer below, and the last."""
    wanted = [float(_TOP)]
    while wanted[-1] < places[-1]:
        wanted.append(wanted[-1] * _STEP)
    further = np.searchsorted(places, wanted)
    top = np.arange(np.searchsorted(places, _TOP))
    return np.unique(np.concatenate([top, further.clip(max=len(places) - 1)]))
