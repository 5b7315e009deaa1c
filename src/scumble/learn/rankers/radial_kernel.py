"""Radial kernels: similarities of rows, 1 for equal rows and falling to 0 with their distance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, to_dense
from scumble._core.parallel import row_slices, run_in_threads, single_threaded_blas
from scumble.learn.rankers.row_sums import add_manhattan_distances, add_overlaps
from scumble.learn.trees.c45.table import as_row_arrays

#: Rows whose distances to all points the median is computed from; more rows hardly change it.
_N_SAMPLED = 512
#: Products or differences that are summed at a time, which bounds memory ...
_AT_ONCE = 2**26
#: ... but at least those of this number of rows.
_MIN_ROWS = 64
#: The power of differences that each kernel sums.
KERNEL_POWERS = {"rbf": 2, "laplacian": 1}


@dataclass(frozen=True, eq=False)
class RadialKernel:
    """The kernel ``exp(-gamma * d)`` of rows x and points p, ``d = sum(abs(x - p)**power)``."""

    points: Any
    gamma: float  # one over the distance at which the similarity is 1/e
    power: int = 2  # 2 (Gaussian): large differences dominate; 1 (Laplacian): all columns count

    @classmethod
    def fit(
        cls, points: Any, bandwidth: float, power: int = 2, *, n_jobs: int | None = None
    ) -> tuple[RadialKernel, Array]:
        """Return a kernel, and the similarities of its points to each other.

        Gamma is one over the median distance of different points, times a power of ``bandwidth``.
        """
        distances = np.empty((points.shape[0], points.shape[0]))
        kernel = cls(points, 1.0, power)
        blocks = _row_blocks(points, points)

        def compute_distances(rows: slice) -> None:
            distances[rows] = kernel._distances(points[rows])

        with single_threaded_blas():
            run_in_threads(compute_distances, blocks, n_jobs=n_jobs)
            sample = distances[:: max(1, len(distances) // _N_SAMPLED)]
            positive = sample[sample > 1e-12 * max(1.0, float(sample.max()))]
            median = float(np.median(positive)) if len(positive) else 1.0
            kernel = replace(kernel, gamma=1 / (median * bandwidth**power))
            run_in_threads(
                lambda rows: kernel._to_similarities(distances[rows]), blocks, n_jobs=n_jobs
            )
        return kernel, distances

    def similarities(self, rows: Any) -> Array:
        """Return the similarities of rows to the points, of shape (n_rows, n_points)."""
        similarities = np.empty((rows.shape[0], self.points.shape[0]))
        for block in _row_blocks(rows, self.points):
            similarities[block] = self._to_similarities(self._distances(rows[block]))
        return similarities

    @cached_property
    def _columns(self) -> Any:
        """The points stored by column, for loops over the cells of a row."""
        if sparse.issparse(self.points):
            return sparse.csc_array(self.points)
        return np.asfortranarray(self.points)

    def _distances(self, rows: Any) -> Array:
        """Return the sums of powers of differences of rows and points."""
        if self.power == 1 and not sparse.issparse(self.points):
            return _manhattan_distances(to_dense(rows), self._columns)
        # Both distances are |x| + |p| - 2 c: with squared lengths and inner products c, or with
        # absolute lengths and overlaps c.
        if self.power == 2:
            distances = to_dense(rows @ self.points.T)
            row_lengths = _squared_lengths(rows)
            point_lengths = _squared_lengths(self.points)
        else:
            distances = _overlaps(rows, self._columns)
            row_lengths = _absolute_lengths(rows)
            point_lengths = _absolute_lengths(self.points)
        distances *= -2
        distances += row_lengths[:, None]
        distances += point_lengths[None, :]
        return np.maximum(distances, 0, out=distances)

    def _to_similarities(self, distances: Array) -> Array:
        """Turn distances into similarities, in place."""
        distances *= -self.gamma
        return np.exp(distances, out=distances)


def _row_blocks(rows: Any, points: Any) -> list[slice]:
    """Return slices of rows whose comparison with all points fits in memory."""
    width = points.shape[0] + (points.nnz if sparse.issparse(points) else points.size)
    return row_slices(rows.shape[0], min(width, _AT_ONCE // _MIN_ROWS), _AT_ONCE)


def _squared_lengths(rows: Any) -> Array:
    """Return the sum of squares of each row."""
    if not sparse.issparse(rows):
        return np.einsum("ij,ij->i", rows, rows)
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()


def _absolute_lengths(rows: Any) -> Array:
    """Return the sum of absolute values of each row."""
    return np.asarray(abs(rows).sum(axis=1)).ravel()


def _overlaps(rows: Any, columns: Any) -> Array:
    """Return the overlaps of sparse rows and points: half of |x| + |p| - |x - p|."""
    overlaps = np.zeros((rows.shape[0], columns.shape[0]))
    add_overlaps(as_row_arrays(sparse.csr_array(rows)), as_row_arrays(columns.T), overlaps)
    return overlaps


def _manhattan_distances(rows: Array, columns: Array) -> Array:
    """Return sums of absolute differences, four times as fast as scipy for many rows."""
    distances = np.zeros((len(rows), len(columns)))
    add_manhattan_distances(np.ascontiguousarray(rows), columns.T, distances)
    return distances
