"""Scores of any scale on one: how few training rows would score as high."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scumble._core.arrays import Array
from scumble._core.parallel import run

#: So many of the highest scores are kept one by one; below, each is so many times further down.
_TOP, _STEP = 32, 1.08


# With r of n scores at least as high as s, the height of s is -log(r / (n + 1)): 0 at the bottom,
# and large for the few at the top. Equal scores share the mean of their places.
@dataclass(frozen=True, eq=False)
class LogRates:
    """The logarithm of the share of training rows that score as high, for every label."""

    starts: Array  # where the knots of each label start
    scores: Array  # of the knots, ascending within a label
    heights: Array  # of the knots; read linearly between them

    @classmethod
    def of(cls, scores: Array, *, n_jobs: int | None = None) -> LogRates:
        """Learn from scores of training rows."""
        knots = run(lambda label: _knots(scores[:, label]), range(scores.shape[1]), n_jobs=n_jobs)
        sizes = [len(values) for values, _ in knots]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(
            starts,
            np.concatenate([values for values, _ in knots]),
            np.concatenate([heights for _, heights in knots]),
        )

    def ask(self, scores: Array, *, n_jobs: int | None = None) -> Array:
        """Tell the heights of scores."""
        out = np.empty(scores.shape, order="F")

        def work(label: int) -> None:
            own = slice(*self.starts[label : label + 2])
            out[:, label] = np.interp(scores[:, label], self.scores[own], self.heights[own])

        run(work, range(scores.shape[1]), n_jobs=n_jobs)
        return out


def _knots(scores: Array) -> tuple[Array, Array]:
    """Return some of the scores, ascending, and their heights."""
    ordered = np.sort(scores)[::-1]
    ends = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], True))
    begins = np.append(0, ends[:-1] + 1)
    places = (begins + ends) / 2 + 1
    kept = _thinned(places)
    heights = -np.log(places[kept] / (len(scores) + 1))
    return ordered[ends[kept]][::-1], heights[::-1]


def _thinned(places: Array) -> Array:
    """Keep the top places and ever fewer below, and the last."""
    wanted = [float(_TOP)]
    while wanted[-1] < places[-1]:
        wanted.append(wanted[-1] * _STEP)
    further = np.searchsorted(places, wanted)
    top = np.arange(np.searchsorted(places, _TOP))
    return np.unique(np.concatenate([top, further.clip(max=len(places) - 1)]))
