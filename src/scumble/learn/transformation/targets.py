"""Targets of single-label models: one per label, computed on access, optionally undersampled."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.learn.trees.c45 import Target
from scumble.learn.weights import select_weights


class LazyTargets(Sequence[Any]):
    """A sequence of targets that are computed on access by ``make_target(index)``.

    All targets together would take as much memory as a dense label matrix.
    """

    def __init__(self, n_targets: int, make_target: Callable[[int], Target]) -> None:
        self._indices = range(n_targets)
        self._compute_target = make_target

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, index: Any) -> Any:
        return self._compute_target(self._indices[index])


class LabelTargets(LazyTargets):
    """One target per label, with class 1 for the rows that have the label, and 0 for the others.

    ``row_indices`` are the rows of X that the rows of the label matrix Y belong to, all by default;
    ``weights`` are those of these rows.
    """

    def __init__(
        self, Y: Any, row_indices: Array | None = None, weights: Array | None = None
    ) -> None:
        self.Y_by_label: sparse.csc_array = Y.tocsc()

        def make_target(label: int) -> Target:
            """Return the target of the label with this index."""
            return Target(self.label_column(label), rows=row_indices, weights=weights)

        super().__init__(Y.shape[1], make_target)

    def label_column(self, label: int) -> Array:
        """Return the column of Y with this index as int32: 1 for a row with the label, else 0."""
        indptr, indices = self.Y_by_label.indptr, self.Y_by_label.indices
        codes = np.zeros(self.Y_by_label.shape[0], np.int32)
        codes[indices[indptr[label] : indptr[label + 1]]] = 1
        return codes


def undersample_rows(y: Array, row_indices: Array, generator: np.random.Generator) -> Array:
    """Draw as many of the given rows from each class as the smallest class has among them.

    ``y`` holds the class code of every row; ``row_indices`` may repeat rows. Return the sorted
    indices of the rows that are drawn, without replacement.
    """
    codes = y[row_indices]
    rows_by_class = [row_indices[codes == code] for code in np.unique(codes)]
    if not rows_by_class:
        return row_indices
    size = min(len(class_rows) for class_rows in rows_by_class)
    samples = []
    for class_rows in rows_by_class:
        if len(class_rows) > size:
            sample = generator.choice(class_rows, size, replace=False, shuffle=False)
        else:
            sample = class_rows
        samples.append(sample)
    return np.sort(np.concatenate(samples))


def undersample_target(target: Target, seed: int) -> Target:
    """Return a target of as many rows of each class as the smallest class has, drawn at random.

    The given target must hold all rows of X. If it has ``repeats``, the rows are drawn from this
    bootstrap sample.
    """
    generator = np.random.default_rng(seed)
    all_rows = np.arange(len(target.y))
    if target.repeats is None:
        return select_target_rows(target, undersample_rows(target.y, all_rows, generator))
    sample = np.repeat(all_rows, target.repeats)
    row_indices, repeats = np.unique(
        undersample_rows(target.y, sample, generator), return_counts=True
    )
    return select_target_rows(target, row_indices, repeats)


def select_target_rows(target: Target, row_indices: Array, repeats: Array | None = None) -> Target:
    """Return the part of a target with the given rows; the target must hold all rows of X.

    ``repeats`` says how often each row counts; once by default.
    """
    return replace(
        target,
        y=target.y[row_indices],
        rows=row_indices,
        repeats=repeats,
        weights=select_weights(target.weights, row_indices),
    )


def spawn_seeds(generator: np.random.Generator, n_seeds: int) -> Array:
    """Draw seeds, one per target, so that targets can be computed in any order."""
    return generator.integers(2**63 - 1, size=n_seeds)
