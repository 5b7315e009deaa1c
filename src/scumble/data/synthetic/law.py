"""The bent power law that label counts follow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: Up to this many labels the law is computed label by label, beyond it by groups of ranks.
EXACT_BELOW = 8192
#: The most frequent label avoids being in more than this share of the rows, if it can.
USUAL_SHARE = 0.75


class BentPowerLaw:
    """Counts of labels by rank: max(1, M / IRLbl), with a law for IRLbl.

    For the k-th of n labels ln IRLbl = steepness (ln k / ln n)^bend. With a bend of 1 this is a
    power law. A larger bend lets more labels be about as frequent as the first. For each bend
    there is one steepness, and one M, with a wanted sum and MeanIR.
    """

    def __init__(self, n_labels: int, total: float, mean_ir: float) -> None:
        self.n_labels, self.total, self.mean_ir = n_labels, total, mean_ir
        ranks, self._weights = _ranks(n_labels)
        self._log_depth = _log_depth(ranks[1:], n_labels)
        self._labels_up_to = np.cumsum(self._weights)

    def values(self, bend: float) -> Array:
        """Compute the counts, not yet rounded."""
        log_steepness = self._solve(bend)
        level, _ = self._level(bend, log_steepness)
        depth = _log_depth(np.arange(2.0, self.n_labels + 1), self.n_labels)
        return np.maximum(level * _shares(bend, log_steepness, depth), 1.0)

    def least_bend(self, most: int) -> float:
        """Choose a bend: 1, a true power law, or as much more as keeps the largest count down."""
        straight = self._largest(1.0)
        for share, limit in ((USUAL_SHARE, 4.0), (0.9, 8.0), (1.0, 256.0)):
            wanted, low, high = share * most, 1.0, limit
            if straight <= wanted:
                return 1.0
            if self._largest(limit) <= wanted:
                break
        for _ in range(16):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._largest(middle) > wanted else (low, middle)
        return high

    def _largest(self, bend: float) -> float:
        return self._level(bend, self._solve(bend))[0]

    def _solve(self, bend: float) -> float:
        """Find ln steepness by bisection: MeanIR grows with it."""
        low, high = -40.0, 40.0 - bend * float(self._log_depth[0])
        for _ in range(60):
            middle = (low + high) / 2
            steeper = self._level(bend, middle)[1] < self.mean_ir
            low, high = (middle, high) if steeper else (low, middle)
        return (low + high) / 2

    def _level(self, bend: float, log_steepness: float) -> tuple[float, float]:
        """Return the M that gives the wanted sum, and the MeanIR that follows."""
        shares = _shares(bend, log_steepness, self._log_depth)
        # With only the first j values above 1, M would be levels[j]; the last j that fits is right.
        n_floor = self._labels_up_to[-1] - self._labels_up_to
        levels = (self.total - n_floor) / np.cumsum(self._weights * shares)
        fits = np.flatnonzero(levels * shares >= 1.0)
        level = float(levels[fits[-1]]) if len(fits) else 1.0
        ratios = level / np.maximum(level * shares, 1.0)
        return level, float(np.dot(self._weights, ratios) / self._labels_up_to[-1])


def _shares(bend: float, log_steepness: float, log_depth: Array) -> Array:
    """Compute 1 / IRLbl for the first label and those at the given depths."""
    falls = np.exp(np.minimum(log_steepness + bend * log_depth, 700.0))
    return np.concatenate([[1.0], np.exp(-falls)])


def _log_depth(ranks: Array, n_labels: int) -> Array:
    return np.log(np.log(ranks) / math.log(n_labels))


def _ranks(n_labels: int) -> tuple[Array, Array]:
    """List the ranks, or one rank for each of many groups, with the number it stands for."""
    if n_labels <= EXACT_BELOW:
        return np.arange(1.0, n_labels + 1), np.ones(n_labels)
    exact = EXACT_BELOW // 2
    edges = np.unique(np.geomspace(exact + 1, n_labels + 1, exact).astype(np.int64))
    edges[-1] = n_labels + 1
    middles = np.sqrt(edges[:-1] * (edges[1:] - 1.0))
    ranks = np.concatenate([np.arange(1.0, exact + 1), middles])
    return ranks, np.concatenate([np.ones(exact), np.diff(edges)])
