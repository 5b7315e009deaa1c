"""Random undersampling of single-label problems: as many rows of each class as of the smallest."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def undersample(codes: Array, rows: Array, generator: np.random.Generator) -> Array:
    """Draw as many rows of each class as the smallest class has.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.learn.undersampling import undersample
    >>> codes = np.array([0, 0, 0, 1, 0, 1])
    >>> undersample(codes, np.arange(6), np.random.default_rng(0))
    array([2, 3, 4, 5])
    """
    found = codes[rows]
    members = [rows[found == code] for code in np.unique(found)]
    size = min((len(part) for part in members), default=0)
    drawn = [
        part if len(part) == size else generator.choice(part, size, replace=False, shuffle=False)
        for part in members
    ]
    return np.sort(np.concatenate(drawn)) if drawn else rows


def one_generator_each(generator: np.random.Generator, n: int) -> Array:
    """Draw a seed for each of many targets, so that they may be made in any order."""
    return generator.integers(2**63 - 1, size=n)
