"""How alike rows are: one for equal rows, falling to zero with their distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, dense
from scumble._core.parallel import one_thread_for_products, run

#: The median distance is taken from so many rows to all points.
_ASKED = 512
#: Rows that are compared at a time.
_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class RadialKernel:
    """Likeness of rows to points, ``exp(-gamma * |x - p|**2)``."""

    points: Any
    gamma: float  # one over the squared distance at which likeness has fallen to 1/e

    @classmethod
    def of(cls, points: Any, bandwidth: float) -> RadialKernel:
        """Choose gamma by the median of the distances between different points."""
        every = max(1, points.shape[0] // _ASKED)
        with one_thread_for_products():
            squares = _squared_distances(points[::every], points)
        apart = squares[squares > 1e-12]
        median = float(np.median(apart)) if len(apart) else 1.0
        return cls(points, 1 / (median * bandwidth**2))

    def ask(self, rows: Any, *, n_jobs: int | None = None) -> Array:
        """Tell how alike rows are to the points."""
        out = np.empty((rows.shape[0], self.points.shape[0]))

        def work(start: int) -> None:
            part = _squared_distances(rows[start : start + _AT_ONCE], self.points)
            part *= -self.gamma
            np.exp(part, out=out[start : start + _AT_ONCE])

        with one_thread_for_products():
            run(work, range(0, rows.shape[0], _AT_ONCE), n_jobs=n_jobs)
        return out


def _squared_distances(rows: Any, points: Any) -> Array:
    squares = dense(rows @ points.T)
    squares *= -2
    squares += _squared_lengths(rows)[:, None]
    squares += _squared_lengths(points)[None, :]
    return np.maximum(squares, 0, out=squares)


def _squared_lengths(rows: Any) -> Array:
    if not sparse.issparse(rows):
        return np.einsum("ij,ij->i", rows, rows)
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
