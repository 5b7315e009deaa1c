"""Places for names that would overlap."""

from __future__ import annotations

import numpy as np

from scumble._core.arrays import Array


def keep_apart(wanted: Array, step: float, low: float, high: float) -> Array:
    """Move places apart by as little as possible, in the sense of least squares."""
    steps = step * np.arange(len(wanted))
    first = low + step / 2
    last = max(high - step * (len(wanted) - 0.5), first)
    return np.clip(_never_falling(wanted - steps), first, last) + steps


def _never_falling(values: Array) -> Array:
    """Find the nearest sequence that never falls: neighbours in the wrong order meet midway."""
    pools: list[list[float]] = []  # [mean, size]
    for value in values.tolist():
        pools.append([value, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, size = pools.pop()
            before, n_before = pools[-1]
            pools[-1] = [(before * n_before + mean * size) / (n_before + size), n_before + size]
    return np.repeat([mean for mean, _ in pools], [int(size) for _, size in pools])
