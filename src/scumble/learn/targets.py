"""Targets of single-label problems: one per label, made when asked for, and on fewer rows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.learn.c45 import Target
from scumble.learn.weights import take_weights


class LazyTargets(Sequence[Any]):
    """Targets made of their numbers when asked for: all together are as large as dense labels."""

    def __init__(self, n_targets: int, make: Callable[[int], Target]) -> None:
        self._numbers = range(n_targets)
        self._make = make

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, at: Any) -> Any:
        return self._make(self._numbers[at])


class LabelTargets(LazyTargets):
    """One target per label."""

    def __init__(self, Y: Any, rows: Array | None = None, weights: Array | None = None) -> None:
        self.by_label: sparse.csc_array = Y.tocsc()
        super().__init__(Y.shape[1], lambda at: Target(self.codes(at), rows=rows, weights=weights))

    def codes(self, label: int) -> Array:
        """Tell for each row whether it has a label."""
        indptr, indices = self.by_label.indptr, self.by_label.indices
        codes = np.zeros(self.by_label.shape[0], np.int32)
        codes[indices[indptr[label] : indptr[label + 1]]] = 1
        return codes


def undersample_rows(codes: Array, rows: Array, generator: np.random.Generator) -> Array:
    """Draw as many rows of each class as the smallest class has."""
    found = codes[rows]
    members = [rows[found == code] for code in np.unique(found)]
    size = min((len(part) for part in members), default=0)
    drawn = [
        part if len(part) == size else generator.choice(part, size, replace=False, shuffle=False)
        for part in members
    ]
    return np.sort(np.concatenate(drawn)) if drawn else rows


def undersample_target(target: Target, seed: int) -> Target:
    """Learn from as many rows of each class as of the smallest, of all rows or of those drawn."""
    rows, repeats = np.arange(len(target.y)), target.repeats
    drawn = rows if repeats is None else np.repeat(rows, repeats)
    kept = undersample_rows(target.y, drawn, np.random.default_rng(seed))
    found = (kept,) if repeats is None else np.unique(kept, return_counts=True)
    return select_target_rows(target, *found)


def select_target_rows(target: Target, rows: Array, repeats: Array | None = None) -> Target:
    """Learn from some rows only, of a target that knows all rows of the table."""
    weights = take_weights(target.weights, rows)
    return replace(target, y=target.y[rows], rows=rows, repeats=repeats, weights=weights)


def spawn_seeds(generator: np.random.Generator, n: int) -> Array:
    """Draw a seed for each of many targets, so that they may be made in any order."""
    return generator.integers(2**63 - 1, size=n)
