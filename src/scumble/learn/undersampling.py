"""Random undersampling of single-label problems: as many rows of each class as of the smallest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scumble._core.arrays import Array
from scumble.learn.c45 import Target
from scumble.learn.weights import take_weights


def undersample(codes: Array, rows: Array, generator: np.random.Generator) -> Array:
    """Draw as many rows of each class as the smallest class has."""
    found = codes[rows]
    members = [rows[found == code] for code in np.unique(found)]
    size = min((len(part) for part in members), default=0)
    drawn = [
        part if len(part) == size else generator.choice(part, size, replace=False, shuffle=False)
        for part in members
    ]
    return np.sort(np.concatenate(drawn)) if drawn else rows


def on_rows(target: Target, rows: Array, repeats: Array | None = None) -> Target:
    """Learn from some rows only, of a target that knows all rows of the table."""
    weights = take_weights(target.weights, rows)
    return replace(target, y=target.y[rows], rows=rows, repeats=repeats, weights=weights)


def one_generator_each(generator: np.random.Generator, n: int) -> Array:
    """Draw a seed for each of many targets, so that they may be made in any order."""
    return generator.integers(2**63 - 1, size=n)
