"""How alike rows are: one for equal rows, falling to zero with their distance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, to_dense
from scumble._core.parallel import row_slices, run_in_threads, single_threaded_blas
from scumble.learn.c45.table import as_row_arrays
from scumble.learn.row_sums import add_manhattan_distances, add_overlaps

#: The median distance is taken from so many rows to all points.
_ASKED = 512
#: So many products or differences are added up at a time, of no fewer rows than these.
_AT_ONCE, _FEWEST_ROWS = 2**26, 64
#: The power of differences that each kernel adds up.
KERNEL_POWERS = {"rbf": 2, "laplacian": 1}


@dataclass(frozen=True, eq=False)
class RadialKernel:
    """Likeness of rows to points, ``exp(-gamma * d)`` with ``d = sum(abs(x - p)**power)``."""

    points: Any
    gamma: float  # one over the distance at which likeness has fallen to 1/e
    power: int = 2  # 2: squares, which large differences rule; 1: every column has its say

    @classmethod
    def of(
        cls, points: Any, bandwidth: float, power: int = 2, *, n_jobs: int | None = None
    ) -> tuple[RadialKernel, Array]:
        """Choose gamma by the median distance of different points, and tell how alike they are."""
        distances = np.empty((points.shape[0], points.shape[0]))
        kernel, blocks = cls(points, 1.0, power), _blocks(points, points)

        def compare(rows: slice) -> None:
            distances[rows] = kernel._distances(points[rows])

        with single_threaded_blas():
            run_in_threads(compare, blocks, n_jobs=n_jobs)
            asked = distances[:: max(1, len(distances) // _ASKED)]
            apart = asked[asked > 1e-12 * max(1.0, float(asked.max()))]
            median = float(np.median(apart)) if len(apart) else 1.0
            kernel = replace(kernel, gamma=1 / (median * bandwidth**power))
            run_in_threads(lambda rows: kernel._likeness(distances[rows]), blocks, n_jobs=n_jobs)
        return kernel, distances

    def ask(self, rows: Any) -> Array:
        """Tell how alike rows are to the points."""
        out = np.empty((rows.shape[0], self.points.shape[0]))
        for block in _blocks(rows, self.points):
            out[block] = self._likeness(self._distances(rows[block]))
        return out

    @cached_property
    def _columns(self) -> Any:
        """The points column by column, for loops over the cells of a row."""
        by_column = sparse.csc_array if sparse.issparse(self.points) else np.asfortranarray
        return by_column(self.points)

    def _distances(self, rows: Any) -> Array:
        if self.power == 2:
            common, sizes = to_dense(rows @ self.points.T), _squared_lengths
        elif sparse.issparse(self.points):
            common, sizes = _overlaps(rows, self._columns), _absolute_lengths
        else:
            return _differences(to_dense(rows), self._columns)
        common *= -2
        common += sizes(rows)[:, None]
        common += sizes(self.points)[None, :]
        return np.maximum(common, 0, out=common)

    def _likeness(self, distances: Array) -> Array:
        distances *= -self.gamma
        return np.exp(distances, out=distances)


def _blocks(rows: Any, points: Any) -> list[slice]:
    width = points.shape[0] + (points.nnz if sparse.issparse(points) else points.size)
    return row_slices(rows.shape[0], min(width, _AT_ONCE // _FEWEST_ROWS), _AT_ONCE)


def _squared_lengths(rows: Any) -> Array:
    if not sparse.issparse(rows):
        return np.einsum("ij,ij->i", rows, rows)
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()


def _absolute_lengths(rows: Any) -> Array:
    return np.asarray(abs(rows).sum(axis=1)).ravel()


def _overlaps(rows: Any, columns: Any) -> Array:
    """Return what rows and points have in common: |x| + |p| - |x - p| is twice as much."""
    out = np.zeros((rows.shape[0], columns.shape[0]))
    add_overlaps(as_row_arrays(sparse.csr_array(rows)), as_row_arrays(columns.T), out)
    return out


def _differences(rows: Array, columns: Array) -> Array:
    """Return sums of absolute differences; for many rows scipy takes four times as long."""
    out = np.zeros((len(rows), len(columns)))
    add_manhattan_distances(np.ascontiguousarray(rows), columns.T, out)
    return out
