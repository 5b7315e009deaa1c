"""Targets of single-label problems: one per label, computed on access, optionally undersampled."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.learn.trees.c45 import Target
from scumble.learn.weights import take_weights


class LazyTargets(Sequence[Any]):
    """Targets that are computed on access; all of them together are as large as dense labels."""

    def __init__(self, n_targets: int, make: Callable[[int], Target]) -> None:
        self._indices = range(n_targets)
        self._make = make

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, index: Any) -> Any:
        return self._make(self._indices[index])


class LabelTargets(LazyTargets):
    """One target per label: whether a row has the label."""

    def __init__(self, Y: Any, rows: Array | None = None, weights: Array | None = None) -> None:
        self.by_label: sparse.csc_array = Y.tocsc()
        super().__init__(
            Y.shape[1], lambda label: Target(self.codes(label), rows=rows, weights=weights)
        )

    def codes(self, label: int) -> Array:
        """Return 1 for each row that has a label, else 0."""
        indptr, indices = self.by_label.indptr, self.by_label.indices
        codes = np.zeros(self.by_label.shape[0], np.int32)
        codes[indices[indptr[label] : indptr[label + 1]]] = 1
        return codes


def undersample_rows(codes: Array, rows: Array, generator: np.random.Generator) -> Array:
    """Draw as many rows of each class as the smallest class has."""
    row_codes = codes[rows]
    classes = [rows[row_codes == code] for code in np.unique(row_codes)]
    if not classes:
        return rows
    size = min(len(members) for members in classes)
    samples = []
    for members in classes:
        if len(members) > size:
            members = generator.choice(members, size, replace=False, shuffle=False)
        samples.append(members)
    return np.sort(np.concatenate(samples))


def undersample_target(target: Target, seed: int) -> Target:
    """Reduce a target to as many rows of each class as its smallest class has.

    If the target has ``repeats``, the rows are drawn from that bootstrap sample.
    """
    generator = np.random.default_rng(seed)
    all_rows = np.arange(len(target.y))
    if target.repeats is None:
        return select_target_rows(target, undersample_rows(target.y, all_rows, generator))
    sample = np.repeat(all_rows, target.repeats)
    rows, repeats = np.unique(undersample_rows(target.y, sample, generator), return_counts=True)
    return select_target_rows(target, rows, repeats)


def select_target_rows(target: Target, rows: Array, repeats: Array | None = None) -> Target:
    """Reduce a target that holds all rows of the table to some of them."""
    weights = take_weights(target.weights, rows)
    return replace(target, y=target.y[rows], rows=rows, repeats=repeats, weights=weights)


def spawn_seeds(generator: np.random.Generator, n: int) -> Array:
    """Draw a seed for each target, so that targets can be computed in any order."""
    return generator.integers(2**63 - 1, size=n)
