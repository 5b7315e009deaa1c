"""Ridge regression of many labels at once, with exact leave-one-out scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack

from scumble._core.arrays import Array, to_dense
from scumble._core.parallel import row_slices, run_in_threads, single_threaded_blas
from scumble.learn.c45.table import as_row_arrays
from scumble.learn.row_sums import quadratic_forms

#: Penalties are tried in steps of half a power of ten, between these powers.
LOWEST, HIGHEST = -4.0, 4.0
#: The first two that are tried, one for each of two threads; from the better one it goes downhill.
FIRST = (0.0, 0.5)
_NONE = np.zeros(0)
#: So many cells of scores are computed at a time.
_CELLS_AT_ONCE = 2**21
#: Scores nearer than this to 0 and 1, or beyond, are bent.
_BENT = 0.05


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """Rows, labels and weights of a regression."""

    rows: Any  # ndarray or csr_array of float64: columns on one scale
    labels: sparse.csr_array
    weights: Array  # greater than 0
    n_steps: int = 60  # of an iterative solution, at the most

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    def label_means(self) -> Array:
        """Return the share of rows that have each label."""
        return np.asarray(self.weights @ self.labels) / self.total

    def blocks(self) -> list[slice]:
        """Cut the rows into pieces of a size that scores fit well into memory."""
        n_rows, n_labels = self.labels.shape
        return row_slices(n_rows, n_labels, _CELLS_AT_ONCE)

    def dense_labels(self, block: slice) -> Array:
        """Return the labels of some rows as numbers."""
        return self.labels[block].toarray().astype(np.float64)

    def mean_shifts(self, labels: Array, means: Array, block: slice) -> Array:
        """Tell how far leaving out a row moves the mean of each label, which ranks must not see."""
        # Without a positive row the label is a little rarer: all positives would rank behind all
        # negatives where nothing else tells them apart.
        weights = self.weights[block, None]
        return weights * (labels - means) / np.maximum(self.total - weights, 1e-300)

    def solve_iteratively(self, penalty: float, n_jobs: int | None) -> tuple[Array, Array]:
        """Solve by conjugate gradients: only products with the rows are needed."""
        rows, weights, total = self.rows, self.weights, self.total
        means = np.asarray(weights @ rows) / total
        squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
        length = float(np.asarray(weights @ squares).sum()) / total
        scale = _positive(length - float(means @ means))
        blocks = row_slices(self.labels.shape[1], max(rows.shape), _CELLS_AT_ONCE * 8)
        descend = partial(_descend, self, means, penalty * scale)
        with single_threaded_blas():
            coefficients = np.hstack(run_in_threads(descend, blocks, n_jobs=n_jobs))
            return coefficients, self.label_means() - means @ coefficients


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """Coefficients for one penalty, and what leaving out each row tells of them."""

    coefficients: Array  # one column per label; of the training rows in a dual solution
    intercepts: Array
    #: one less the leverage: the share of a row's residual that it does not pull away itself
    one_minus_leverage: Array
    penalty: float
    error: float = np.inf  # mean squared, of leaving one out


def fit_with_best_penalty(solver: Solver, penalty: float | None, n_jobs: int | None) -> RidgeFit:
    """Fit with the given penalty, or with the one of least leave-one-out error."""
    if penalty is not None:
        with single_threaded_blas():
            return solver.fit(penalty * solver.scale)
    found: dict[float, RidgeFit] = {}
    wanted: Sequence[float] = FIRST
    while wanted:
        with single_threaded_blas():  # the same sums for any number of threads
            tried = [solver.scale * 10.0**power for power in wanted]
            fits = run_in_threads(solver.fit, tried, n_jobs=n_jobs)
        found |= dict(zip(wanted, fits, strict=True))
        best = min(found, key=lambda power: (found[power].error, power))
        for power in found:  # the others' coefficients are not needed any more
            if power != best:
                found[power] = replace(found[power], coefficients=_NONE, one_minus_leverage=_NONE)
        around = (best - 0.5, best + 0.5)
        wanted = [p for p in around if p not in found and LOWEST <= p <= HIGHEST]
    return found[best]


class PrimalSolver:
    """Solve in the columns: for tables with no more than some thousand of them."""

    def __init__(self, problem: RidgeProblem) -> None:
        self.problem = problem
        rows, weights = problem.rows, problem.weights
        self.means = np.asarray(weights @ rows) / problem.total
        self.label_means = problem.label_means()
        weighted = _scale_rows(rows, weights)
        self.gram = to_dense(weighted.T @ rows)
        self.gram -= problem.total * np.outer(self.means, self.means)
        self.cross_products = to_dense(weighted.T @ problem.labels.astype(np.float64))
        self.cross_products -= problem.total * np.outer(self.means, self.label_means)
        self.scale = _positive(float(np.trace(self.gram)) / problem.total)

    def fit(self, penalty: float) -> RidgeFit:
        """Fit with one penalty."""
        problem = self.problem
        root, penalty = inverse_cholesky_factor(self.gram, penalty)
        coefficients = _solve(root, self.cross_products)
        intercepts = self.label_means - self.means @ coefficients
        remaining = _kept(1 - problem.weights * (self._leverage(root) + 1 / problem.total))
        fitted = RidgeFit(coefficients, intercepts, remaining, penalty)
        error = sum(self._error(fitted, block) for block in problem.blocks())
        return RidgeFit(coefficients, intercepts, remaining, penalty, error / problem.total)

    def leave_one_out_residuals(self, fit: RidgeFit, block: slice, labels: Array) -> Array:
        """Return what a fit without each row leaves of its labels."""
        scores = np.asarray(self.problem.rows[block] @ fit.coefficients)
        return (labels - scores - fit.intercepts) / fit.one_minus_leverage[block, None]

    def _error(self, fit: RidgeFit, block: slice) -> float:
        left = self.leave_one_out_residuals(fit, block, self.problem.dense_labels(block))
        return float(self.problem.weights[block] @ np.einsum("ij,ij->i", left, left))

    def _leverage(self, root: Array) -> Array:
        """Return x' M x for every centred row x, where M is the inverse."""
        rows, means = self.problem.rows, self.means
        out = np.empty(rows.shape[0])
        if sparse.issparse(rows) and 10 * rows.nnz < rows.shape[0] * rows.shape[1]:
            inverse = _inverse(root)
            quadratic_forms(as_row_arrays(rows), inverse, out)
            pull = inverse @ means
            return out - 2 * (rows @ pull) + means @ pull
        for start in range(0, len(out), 1024):
            part = to_dense(rows[start : start + 1024]) - means
            turned = blas.dtrmm(1.0, root, part.T, lower=True, overwrite_b=True)
            out[start : start + 1024] = np.einsum("ij,ij->j", turned, turned)
        return out


class LandmarkSolver(PrimalSolver):
    """Solve in the likeness to some of the rows, as a kernel is seen through them."""

    def __init__(self, problem: RidgeProblem, drawn: Array, whitening: Array) -> None:
        super().__init__(problem)
        self.drawn = drawn  # the landmarks among the rows
        self.whitening = whitening  # from coefficients to those of the landmarks

    # A row that is left out is no landmark either, as a new row is none. With M the inverse without
    # the row x and u the direction in which a landmark's coefficient grows, the coefficients c
    # under which it is zero are c - M u (u'c) / (u'M u).
    def forget_landmarks(self, fit: RidgeFit, scores: Array) -> None:
        """Take from the scores of landmarks, each left out, what they say as their own landmark."""
        problem, drawn = self.problem, self.drawn
        block = RidgeProblem(problem.rows[drawn], problem.labels[drawn], problem.weights[drawn])
        root, _ = inverse_cholesky_factor(self.gram, fit.penalty)
        rows = blas.dtrmm(1.0, root, (block.rows - self.means).T, lower=True)
        points = blas.dtrmm(1.0, root, self.whitening.T, lower=True)
        across = np.einsum("ij,ij->j", rows, points)
        along = np.einsum("ij,ij->j", points, points)
        residuals = block.dense_labels(slice(None)) - block.rows @ fit.coefficients
        residuals -= fit.intercepts
        pull = across / fit.one_minus_leverage[drawn]
        weighted = (block.weights * pull)[:, None]
        own = self.whitening @ fit.coefficients - weighted * residuals
        scores[drawn] -= own * (pull / (along + block.weights * across * pull))[:, None]


class DualSolver:
    """Solve in the rows: for tables with no more than some thousand of them."""

    def __init__(self, problem: RidgeProblem, products: Array) -> None:
        self.problem = problem
        shares = problem.weights / problem.total
        self.shares = shares
        self.means = products @ shares
        self.roots = np.sqrt(problem.weights)
        self.label_means = problem.label_means()
        products -= self.means[:, None]
        products -= self.means[None, :]
        products += shares @ self.means
        products *= self.roots[:, None]
        products *= self.roots[None, :]
        self.products = products
        self.scale = _positive(float(np.trace(products)) / problem.total)

    def fit(self, penalty: float) -> RidgeFit:
        """Fit with one penalty."""
        problem = self.problem
        root, penalty = inverse_cholesky_factor(self.products, penalty)
        diagonal = np.einsum("ij,ij->j", root, root)
        remaining = _kept(penalty * diagonal - self.shares)
        centred = problem.dense_labels(slice(None)) - self.label_means
        solved = _solve(root, self.roots[:, None] * centred)
        left = penalty * solved / remaining[:, None]
        error = float(np.einsum("ij,ij->", left, left)) / problem.total
        solved *= self.roots[:, None]  # each column sums to zero: the products are centred
        intercepts = self.label_means - self.means @ solved
        return RidgeFit(solved, intercepts, remaining, penalty, error)

    def leave_one_out_residuals(self, fit: RidgeFit, block: slice, labels: Array) -> Array:
        """Return what a fit without each row leaves of its labels, as the coefficients tell."""
        pulled = fit.penalty * fit.coefficients[block] / self.problem.weights[block, None]
        return pulled / fit.one_minus_leverage[block, None]


Solver = PrimalSolver | DualSolver


def leave_one_out_scores(solver: Solver, fit: RidgeFit, n_jobs: int | None) -> Array:
    """Return the scores of all rows, each by a fit without it, bent into [0, 1]."""
    problem, means = solver.problem, solver.label_means
    out = np.empty(problem.labels.shape, order="F")

    def work(block: slice) -> None:
        labels = problem.dense_labels(block)
        left = solver.leave_one_out_residuals(fit, block, labels)
        out[block] = labels - left + problem.mean_shifts(labels, means, block)

    with single_threaded_blas():
        run_in_threads(work, problem.blocks(), n_jobs=n_jobs)
        if isinstance(solver, LandmarkSolver):
            solver.forget_landmarks(fit, out)
        run_in_threads(
            lambda block: squash_to_unit_interval(out[block]), problem.blocks(), n_jobs=n_jobs
        )
    return out


def _descend(problem: RidgeProblem, means: Array, penalty: float, block: slice) -> Array:
    """Do the steps for some labels, each with a step length of its own."""
    rows, weights = problem.rows, problem.weights
    labels = problem.labels[:, block].astype(np.float64)
    label_means = np.asarray(weights @ labels) / problem.total
    right = to_dense(_scale_rows(rows, weights).T @ labels)
    right -= problem.total * np.outer(means, label_means)
    found, residual = np.zeros_like(right), right.copy()
    direction = residual.copy()
    length = np.einsum("ij,ij->j", residual, residual)
    enough = 1e-10 * length
    for _ in range(problem.n_steps):
        if (length <= enough).all():
            break
        ahead = np.asarray(rows @ direction) - means @ direction
        ahead *= weights[:, None]
        product = np.asarray(rows.T @ ahead) - np.outer(means, ahead.sum(axis=0))
        product += penalty * direction
        step = _ratio(length, np.einsum("ij,ij->j", direction, product))
        found += step * direction
        residual -= step * product
        shorter = np.einsum("ij,ij->j", residual, residual)
        direction *= _ratio(shorter, length)
        direction += residual
        length = shorter
    return found


def _positive(scale: float) -> float:
    """Return a scale for penalties; any will do where all rows are equal."""
    return scale if scale > 1e-300 else 1.0


def _ratio(one: Array, other: Array) -> Array:
    return np.divide(one, other, out=np.zeros_like(one), where=other > 0)


def _scale_rows(rows: Any, weights: Array) -> Any:
    if (weights == 1).all():
        return rows
    if not sparse.issparse(rows):
        return rows * weights[:, None]
    data = rows.data * np.repeat(weights, np.diff(rows.indptr))
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _kept(one_minus_leverage: Array) -> Array:
    """Keep a divisor away from 0: rounding may bring it there where the penalty is tiny."""
    return np.maximum(one_minus_leverage, 1e-9)


def inverse_cholesky_factor(matrix: Array, penalty: float) -> tuple[Array, float]:
    """Return R, lower, with R'R the inverse of the matrix with a penalty on its diagonal."""
    # The penalty comes back too: where it is so tiny that rounding fails, a larger one is taken.
    factor, failed = _factor(matrix, penalty)
    while failed:
        penalty = 10 * max(penalty, 1e-12 * float(np.abs(matrix.diagonal()).max()), 1e-300)
        factor, failed = _factor(matrix, penalty)
    root, _ = lapack.dtrtri(factor, lower=True, overwrite_c=True)
    return root, penalty


def _solve(root: Array, right: Array) -> Array:
    """Multiply with the inverse: R'R times each column."""
    half = blas.dtrmm(1.0, root, right, lower=True)
    whole = blas.dtrmm(1.0, root, half, lower=True, trans_a=True, overwrite_b=True)
    return np.ascontiguousarray(whole)


def _inverse(root: Array) -> Array:
    """Multiply R'R out."""
    inverse, _ = lapack.dlauum(root, lower=True)
    for start in range(0, len(inverse), 256):  # only the lower triangle is there yet
        stop = min(start + 256, len(inverse))
        inverse[start:stop, stop:] = inverse[stop:, start:stop].T
        square = inverse[start:stop, start:stop]
        square[:] = np.tril(square) + np.tril(square, -1).T
    return inverse.T  # the same numbers, row by row in memory


def _factor(matrix: Array, penalty: float) -> tuple[Array, bool]:
    shifted = matrix.copy(order="F")
    shifted[np.diag_indices_from(shifted)] += penalty
    factor, failed = lapack.dpotrf(shifted, lower=True, overwrite_a=True)
    return factor, bool(failed)


def squash_to_unit_interval(scores: Array) -> Array:
    """Bring numbers that are mostly in [0, 1] inside it, keeping their order."""
    low, high = scores < _BENT, scores > 1 - _BENT
    scores[low] = _BENT / (2 - scores[low] / _BENT)
    scores[high] = 1 - _BENT / (2 - (1 - scores[high]) / _BENT)
    return scores
