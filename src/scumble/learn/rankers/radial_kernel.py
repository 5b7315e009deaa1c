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
#: Products or differences that are summed at a time, which bounds memory.
_TERMS_PER_BLOCK = 2**26
#: The smallest number of rows per block; with fewer, matrix products are slow.
_MIN_ROWS_PER_BLOCK = 64
#: The power of the differences that each kernel sums, by the name of the kernel.
KERNEL_POWERS = {"rbf": 2, "laplacian": 1}


@dataclass(frozen=True, eq=False)
class RadialKernel:
    """The kernel ``exp(-gamma * d)`` of rows x and points p, ``d = sum(abs(x - p)**power)``.

    Points are the training rows or landmarks that rows are compared with.
    """

    points: Any  # ndarray or csr_array of shape (n_points, n_columns)
    gamma: float  # one over the distance at which the similarity is 1/e
    power: int = 2  # 2 (Gaussian): large differences dominate; 1 (Laplacian): all columns count

    @classmethod
    def fit(
        cls, points: Any, bandwidth: float, power: int = 2, *, n_jobs: int | None = None
    ) -> tuple[RadialKernel, Array]:
        """Return a kernel, and the similarities of its points, of shape (n_points, n_points).

        Gamma is one over the median distance of different points times ``bandwidth**power``; the
        median is 1 if all points are equal.
        """
        distances = np.empty((points.shape[0], points.shape[0]))
        kernel = cls(points, 1.0, power)
        blocks = _row_blocks(points, points)

        def compute_distances(block: slice) -> None:
            """Write the distances of a slice of points to all points."""
            distances[block] = kernel._distances(points[block])

        with single_threaded_blas():
            run_in_threads(compute_distances, blocks, n_jobs=n_jobs)
            sample = distances[:: max(1, len(distances) // _N_SAMPLED)]
            positive = sample[sample > 1e-12 * max(1.0, float(sample.max()))]
            median = float(np.median(positive)) if len(positive) else 1.0
            kernel = replace(kernel, gamma=1 / (median * bandwidth**power))
            run_in_threads(
                lambda block: kernel._to_similarities(distances[block]), blocks, n_jobs=n_jobs
            )
        return kernel, distances  # turned into similarities in place

    def similarities(self, X: Any) -> Array:
        """Return the similarities of the rows of X to the points, of shape (n_rows, n_points)."""
        similarities = np.empty((X.shape[0], self.points.shape[0]))
        for block in _row_blocks(X, self.points):
            similarities[block] = self._to_similarities(self._distances(X[block]))
        return similarities

    @cached_property
    def _columns(self) -> Any:
        """The points as a CSC matrix or Fortran array, for loops over the cells of a row."""
        if sparse.issparse(self.points):
            return sparse.csc_array(self.points)
        return np.asfortranarray(self.points)

    def _distances(self, X: Any) -> Array:
        """Return the distance d of each row of X and point, of shape (n_rows, n_points)."""
        if self.power == 1 and not sparse.issparse(self.points):
            return _manhattan_distances(to_dense(X), self._columns)
        # Both distances are |x| + |p| - 2 c: with squared lengths and inner products c, or with
        # absolute lengths and overlaps c.
        if self.power == 2:
            distances = to_dense(X @ self.points.T)
            row_lengths = _squared_lengths(X)
            point_lengths = _squared_lengths(self.points)
        else:
            distances = _overlaps(X, self._columns)
            row_lengths = _absolute_lengths(X)
            point_lengths = _absolute_lengths(self.points)
        distances *= -2
        distances += row_lengths[:, None]
        distances += point_lengths[None, :]
        return np.maximum(distances, 0, out=distances)

    def _to_similarities(self, distances: Array) -> Array:
        """Change distances in place to similarities, and return them."""
        distances *= -self.gamma
        return np.exp(distances, out=distances)


def _row_blocks(X: Any, points: Any) -> list[slice]:
    """Return slices of the rows of X whose comparison with all points fits in memory."""
    width = points.shape[0] + (points.nnz if sparse.issparse(points) else points.size)
    max_width = _TERMS_PER_BLOCK // _MIN_ROWS_PER_BLOCK
    return row_slices(X.shape[0], min(width, max_width), _TERMS_PER_BLOCK)


def _squared_lengths(X: Any) -> Array:
    """Return the sum of squares of each row of X."""
    if not sparse.issparse(X):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def _absolute_lengths(X: Any) -> Array:
    """Return the sum of absolute values of each row of X."""
    return np.asarray(abs(X).sum(axis=1)).ravel()


def _overlaps(X: Any, columns: Any) -> Array:
    """Return the overlaps of sparse rows and points, of shape (n_rows, n_points).

    The overlap of row x and point p is half of |x| + |p| - |x - p|, where |.| is the sum of
    absolute values. ``columns`` are the points as a CSC matrix.
    """
    overlaps = np.zeros((X.shape[0], columns.shape[0]))
    add_overlaps(as_row_arrays(sparse.csr_array(X)), as_row_arrays(columns.T), overlaps)
    return overlaps


def _manhattan_distances(X: Array, columns: Array) -> Array:
    """Return the sum of absolute differences of each row of X and point, (n_rows, n_points).

    ``columns`` are the points in Fortran order. This is four times as fast as scipy for many rows.
    """
    distances = np.zeros((len(X), len(columns)))
    add_manhattan_distances(np.ascontiguousarray(X), columns.T, distances)
    return distances
