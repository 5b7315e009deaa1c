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
from scumble.learn.rankers.row_sums import quadratic_forms
from scumble.learn.trees.c45.table import as_row_arrays

#: Smallest and largest power of ten of the candidate penalties, which are in steps of one half.
LOWEST = -4.0
HIGHEST = 4.0
#: The first two powers that are evaluated: two, because two threads are common. The search
#: continues from the better one, as long as the error decreases.
FIRST = (0.0, 0.5)
_EMPTY = np.zeros(0)
#: Cells of scores that are computed at a time (16 MB).
_CELLS_AT_ONCE = 2**21
#: Scores below this, and above one minus this, are squashed into [0, 1].
_SQUASHED = 0.05
#: The smallest number that counts as a positive length or weight.
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """Rows, labels and weights of a regression."""

    rows: Any  # ndarray or csr_array of float64: scaled columns
    labels: sparse.csr_array
    weights: Array  # positive
    n_steps: int = 60  # maximum number of steps of an iterative solution

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    def label_means(self) -> Array:
        """Return the weighted share of rows that have each label."""
        return np.asarray(self.weights @ self.labels) / self.total

    def blocks(self) -> list[slice]:
        """Return slices of rows whose scores fit in memory."""
        n_rows, n_labels = self.labels.shape
        return row_slices(n_rows, n_labels, _CELLS_AT_ONCE)

    def dense_labels(self, block: slice) -> Array:
        """Return the labels of some rows as float64."""
        return self.labels[block].toarray().astype(np.float64)

    def mean_shifts(self, labels: Array, means: Array, block: slice) -> Array:
        """Return how far leaving out each row shifts the mean of each label."""
        # These shifts are taken out of leave-one-out scores. Without a positive row the label is a
        # little rarer, so that all positives would rank behind all negatives where the features do
        # not distinguish them.
        weights = self.weights[block, None]
        return weights * (labels - means) / np.maximum(self.total - weights, _TINY)

    def solve_iteratively(self, penalty: float, n_jobs: int | None) -> tuple[Array, Array]:
        """Return coefficients and intercepts, found by conjugate gradients."""
        rows, weights, total = self.rows, self.weights, self.total
        means = np.asarray(weights @ rows) / total
        squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
        mean_square = float(np.asarray(weights @ squares).sum()) / total
        scale = _positive_scale(mean_square - float(means @ means))
        blocks = row_slices(self.labels.shape[1], max(rows.shape), _CELLS_AT_ONCE * 8)
        solve_block = partial(_conjugate_gradients, self, means, penalty * scale)
        with single_threaded_blas():
            coefficients = np.hstack(run_in_threads(solve_block, blocks, n_jobs=n_jobs))
            return coefficients, self.label_means() - means @ coefficients


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """The solution for one penalty, and what leave-one-out scores need."""

    coefficients: Array  # one column per label; in a dual solution one row per training row
    intercepts: Array
    #: by training row: leave-one-out residuals are residuals divided by it
    one_minus_leverage: Array
    penalty: float
    error: float = np.inf  # mean squared leave-one-out residual


def fit_with_best_penalty(solver: Solver, penalty: float | None, n_jobs: int | None) -> RidgeFit:
    """Fit with the given penalty, or with the one of least leave-one-out error."""
    if penalty is not None:
        with single_threaded_blas():
            return solver.fit(penalty * solver.scale)
    fits: dict[float, RidgeFit] = {}  # by the power of ten of the penalty
    powers: Sequence[float] = FIRST
    while powers:
        with single_threaded_blas():  # sums do not depend on the number of threads
            penalties = [solver.scale * 10.0**power for power in powers]
            new_fits = run_in_threads(solver.fit, penalties, n_jobs=n_jobs)
        fits.update(zip(powers, new_fits, strict=True))
        best = min(fits, key=lambda power: (fits[power].error, power))
        for power in fits:  # frees the memory of the others
            if power != best:
                fits[power] = replace(fits[power], coefficients=_EMPTY, one_minus_leverage=_EMPTY)
        neighbours = (best - 0.5, best + 0.5)
        powers = [p for p in neighbours if p not in fits and LOWEST <= p <= HIGHEST]
    return fits[best]


class PrimalSolver:
    """Solver for tables with few columns: the unknowns are coefficients of columns."""

    def __init__(self, problem: RidgeProblem) -> None:
        self.problem = problem
        rows, weights = problem.rows, problem.weights
        self.means = np.asarray(weights @ rows) / problem.total
        self.label_means = problem.label_means()
        weighted_rows = _scale_rows(rows, weights)
        self.gram = to_dense(weighted_rows.T @ rows)
        self.gram -= problem.total * np.outer(self.means, self.means)
        self.cross_products = to_dense(weighted_rows.T @ problem.labels.astype(np.float64))
        self.cross_products -= problem.total * np.outer(self.means, self.label_means)
        self.scale = _positive_scale(float(np.trace(self.gram)) / problem.total)

    def fit(self, penalty: float) -> RidgeFit:
        """Return the solution for one penalty."""
        problem = self.problem
        root, penalty = inverse_cholesky_factor(self.gram, penalty)
        coefficients = _multiply_by_inverse(root, self.cross_products)
        leverage = problem.weights * (self._quadratic_forms(root) + 1 / problem.total)
        fit = RidgeFit(
            coefficients=coefficients,
            intercepts=self.label_means - self.means @ coefficients,
            one_minus_leverage=_away_from_zero(1 - leverage),
            penalty=penalty,
        )
        error = sum(self._squared_error(fit, block) for block in problem.blocks())
        return replace(fit, error=error / problem.total)

    def leave_one_out_residuals(self, fit: RidgeFit, block: slice, labels: Array) -> Array:
        """Return the residuals of some rows, each by a fit without the row."""
        scores = np.asarray(self.problem.rows[block] @ fit.coefficients)
        return (labels - scores - fit.intercepts) / fit.one_minus_leverage[block, None]

    def _squared_error(self, fit: RidgeFit, block: slice) -> float:
        """Return the weighted sum of squared leave-one-out residuals of some rows."""
        labels = self.problem.dense_labels(block)
        residuals = self.leave_one_out_residuals(fit, block, labels)
        squared = np.einsum("ij,ij->i", residuals, residuals)
        return float(self.problem.weights[block] @ squared)

    def _quadratic_forms(self, root: Array) -> Array:
        """Return x' M x for every centred row x, where M is the inverse of the penalized Gram."""
        rows = self.problem.rows
        means = self.means
        forms = np.empty(rows.shape[0])
        if sparse.issparse(rows) and 10 * rows.nnz < rows.shape[0] * rows.shape[1]:
            # (x - m)' M (x - m), multiplied out, so that rows stay sparse.
            inverse = _inverse(root)
            quadratic_forms(as_row_arrays(rows), inverse, forms)
            inverse_means = inverse @ means
            return forms - 2 * (rows @ inverse_means) + means @ inverse_means
        for start in range(0, len(forms), 1024):
            centred = to_dense(rows[start : start + 1024]) - means
            product = blas.dtrmm(1.0, root, centred.T, lower=True, overwrite_b=True)
            forms[start : start + 1024] = np.einsum("ij,ij->j", product, product)
        return forms


class LandmarkSolver(PrimalSolver):
    """Solver for a kernel that is approximated by landmarks, which are some of the rows."""

    def __init__(self, problem: RidgeProblem, landmarks: Array, whitening: Array) -> None:
        super().__init__(problem)
        self.landmarks = landmarks  # row indices
        self.whitening = whitening  # times coefficients: coefficients of the landmarks

    # Like a new row, a row that is left out is not a landmark. With M the inverse without the row
    # x, and u the direction in which the coefficient of a landmark grows, the coefficients c for
    # which it is zero are c - M u (u'c) / (u'M u).
    def remove_own_landmarks(self, fit: RidgeFit, scores: Array) -> None:
        """Subtract from the leave-one-out score of each landmark its own share as a landmark."""
        problem, landmarks = self.problem, self.landmarks
        rows, weights = problem.rows[landmarks], problem.weights[landmarks]
        labels = problem.labels[landmarks].toarray().astype(np.float64)
        one_minus_leverage = fit.one_minus_leverage[landmarks]
        root, _ = inverse_cholesky_factor(self.gram, fit.penalty)
        row_products = blas.dtrmm(1.0, root, (rows - self.means).T, lower=True)
        landmark_products = blas.dtrmm(1.0, root, self.whitening.T, lower=True)
        mixed_forms = np.einsum("ij,ij->j", row_products, landmark_products)
        landmark_forms = np.einsum("ij,ij->j", landmark_products, landmark_products)
        residuals = labels - rows @ fit.coefficients
        residuals -= fit.intercepts
        pull = mixed_forms / one_minus_leverage
        landmark_coefficients = self.whitening @ fit.coefficients
        landmark_coefficients -= (weights * pull)[:, None] * residuals
        factors = pull / (landmark_forms + weights * mixed_forms * pull)
        scores[landmarks] -= landmark_coefficients * factors[:, None]


class DualSolver:
    """Solver for tables with few rows: the unknowns are coefficients of rows."""

    def __init__(self, problem: RidgeProblem, products: Array) -> None:
        # ``products`` are inner products of all pairs of rows, or a kernel; they are overwritten
        # with the centred and weighted ones.
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
        self.scale = _positive_scale(float(np.trace(products)) / problem.total)

    def fit(self, penalty: float) -> RidgeFit:
        """Return the solution for one penalty."""
        problem = self.problem
        root, penalty = inverse_cholesky_factor(self.products, penalty)
        inverse_diagonal = np.einsum("ij,ij->j", root, root)
        one_minus_leverage = _away_from_zero(penalty * inverse_diagonal - self.shares)
        centred = problem.dense_labels(slice(None)) - self.label_means
        coefficients = _multiply_by_inverse(root, self.roots[:, None] * centred)
        residuals = penalty * coefficients / one_minus_leverage[:, None]
        error = float(np.einsum("ij,ij->", residuals, residuals)) / problem.total
        coefficients *= self.roots[:, None]  # columns sum to zero, since products are centred
        return RidgeFit(
            coefficients=coefficients,
            intercepts=self.label_means - self.means @ coefficients,
            one_minus_leverage=one_minus_leverage,
            penalty=penalty,
            error=error,
        )

    def leave_one_out_residuals(self, fit: RidgeFit, block: slice, labels: Array) -> Array:
        """Return the residuals of some rows, each by a fit without the row.

        They follow from the coefficients alone; ``labels`` are not used.
        """
        residuals = fit.penalty * fit.coefficients[block] / self.problem.weights[block, None]
        return residuals / fit.one_minus_leverage[block, None]


Solver = PrimalSolver | DualSolver


def leave_one_out_scores(solver: Solver, fit: RidgeFit, n_jobs: int | None) -> Array:
    """Return the scores of all training rows, each by a fit without the row, in [0, 1]."""
    problem, means = solver.problem, solver.label_means
    scores = np.empty(problem.labels.shape, order="F")

    def compute(block: slice) -> None:
        labels = problem.dense_labels(block)
        residuals = solver.leave_one_out_residuals(fit, block, labels)
        scores[block] = labels - residuals + problem.mean_shifts(labels, means, block)

    def squash(block: slice) -> None:
        squash_to_unit_interval(scores[block])

    with single_threaded_blas():
        run_in_threads(compute, problem.blocks(), n_jobs=n_jobs)
        if isinstance(solver, LandmarkSolver):
            solver.remove_own_landmarks(fit, scores)
        run_in_threads(squash, problem.blocks(), n_jobs=n_jobs)
    return scores


def _conjugate_gradients(
    problem: RidgeProblem, means: Array, penalty: float, block: slice
) -> Array:
    """Return the coefficients of some labels; each label has its own step lengths."""
    rows, weights = problem.rows, problem.weights
    labels = problem.labels[:, block].astype(np.float64)
    label_means = np.asarray(weights @ labels) / problem.total
    right_side = to_dense(_scale_rows(rows, weights).T @ labels)
    right_side -= problem.total * np.outer(means, label_means)
    solution = np.zeros_like(right_side)
    residual = right_side.copy()
    direction = residual.copy()
    squared_norm = np.einsum("ij,ij->j", residual, residual)
    tolerance = 1e-10 * squared_norm
    for _ in range(problem.n_steps):
        if (squared_norm <= tolerance).all():
            break
        # The product of the penalized Gram matrix and the direction.
        projected = np.asarray(rows @ direction) - means @ direction
        projected *= weights[:, None]
        product = np.asarray(rows.T @ projected) - np.outer(means, projected.sum(axis=0))
        product += penalty * direction
        step = _divide_or_zero(squared_norm, np.einsum("ij,ij->j", direction, product))
        solution += step * direction
        residual -= step * product
        new_squared_norm = np.einsum("ij,ij->j", residual, residual)
        direction *= _divide_or_zero(new_squared_norm, squared_norm)
        direction += residual
        squared_norm = new_squared_norm
    return solution


def _positive_scale(scale: float) -> float:
    """Return a positive scale for penalties; 1 if all rows are equal, when any will do."""
    return scale if scale > _TINY else 1.0


def _divide_or_zero(numerator: Array, denominator: Array) -> Array:
    """Return the quotient; 0 where the denominator is not positive."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def _scale_rows(rows: Any, weights: Array) -> Any:
    """Return the rows, each multiplied by its weight."""
    if (weights == 1).all():
        return rows
    if not sparse.issparse(rows):
        return rows * weights[:, None]
    data = rows.data * np.repeat(weights, np.diff(rows.indptr))
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _away_from_zero(one_minus_leverage: Array) -> Array:
    """Return divisors that are not 0, as rounding can make them where the penalty is tiny."""
    return np.maximum(one_minus_leverage, 1e-9)


def inverse_cholesky_factor(matrix: Array, penalty: float) -> tuple[Array, float]:
    """Return a lower triangular R, and the penalty used.

    R'R is the inverse of the matrix with the penalty added to its diagonal. If the penalty is so
    small that the factorization fails by rounding, a larger one is used.
    """
    factor, has_failed = _cholesky_factor(matrix, penalty)
    while has_failed:
        penalty = 10 * max(penalty, 1e-12 * float(np.abs(matrix.diagonal()).max()), _TINY)
        factor, has_failed = _cholesky_factor(matrix, penalty)
    root, _ = lapack.dtrtri(factor, lower=True, overwrite_c=True)
    return root, penalty


def _multiply_by_inverse(root: Array, right_side: Array) -> Array:
    """Return R'R times a matrix, where R is ``root``."""
    product = blas.dtrmm(1.0, root, right_side, lower=True)
    solution = blas.dtrmm(1.0, root, product, lower=True, trans_a=True, overwrite_b=True)
    return np.ascontiguousarray(solution)


def _inverse(root: Array) -> Array:
    """Return R'R, where R is ``root``."""
    inverse, _ = lapack.dlauum(root, lower=True)
    for start in range(0, len(inverse), 256):  # LAPACK computes the lower triangle alone
        stop = min(start + 256, len(inverse))
        inverse[start:stop, stop:] = inverse[stop:, start:stop].T
        square = inverse[start:stop, start:stop]
        square[:] = np.tril(square) + np.tril(square, -1).T
    return inverse.T  # the matrix is symmetric; transposed, it is in C order


def _cholesky_factor(matrix: Array, penalty: float) -> tuple[Array, bool]:
    """Return the Cholesky factor with a penalty on the diagonal, and whether that failed."""
    shifted = matrix.copy(order="F")
    shifted[np.diag_indices_from(shifted)] += penalty
    factor, info = lapack.dpotrf(shifted, lower=True, overwrite_a=True)
    return factor, bool(info)


def squash_to_unit_interval(scores: Array) -> Array:
    """Change scores in place so that they are in [0, 1], and return them; their order stays."""
    is_low = scores < _SQUASHED
    is_high = scores > 1 - _SQUASHED
    scores[is_low] = _SQUASHED / (2 - scores[is_low] / _SQUASHED)
    scores[is_high] = 1 - _SQUASHED / (2 - (1 - scores[is_high]) / _SQUASHED)
    return scores
