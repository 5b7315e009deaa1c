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

#: Smallest power of ten of the relative penalties that are compared, in steps of one half. With
#: smaller penalties the solution is close to least squares.
MIN_LOG10_PENALTY = -4.0
#: Largest power of ten. With larger penalties the scores are close to the mean of each label.
MAX_LOG10_PENALTY = 4.0
#: The exponents that are compared first: two, because two threads are common. The search continues
#: from the better one as long as the error decreases.
FIRST_LOG10_PENALTIES = (0.0, 0.5)
_EMPTY = np.zeros(0)
#: Numbers in a block of scores; a block takes 16 MB.
_NUMBERS_PER_BLOCK = 2**21
#: Scores below this, and above one minus this, are squashed into [0, 1]; scores between are kept.
_SQUASH_MARGIN = 0.05
#: Lengths and weights up to this count as zero, since a division by them could overflow.
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """The training data of a weighted ridge regression of many labels."""

    X: Any  # ndarray or csr_array of float64, shape (n_rows, n_columns): scaled features
    Y: sparse.csr_array  # shape (n_rows, n_labels); each label is regressed as 0 or 1
    weights: Array  # shape (n_rows,), positive sample weights
    max_iter: int = 60  # maximum number of conjugate-gradient steps of an iterative solution

    @property
    def total_weight(self) -> float:
        """Sum of the weights of all rows."""
        return float(self.weights.sum())

    def label_means(self) -> Array:
        """Return the weighted fraction of rows that have each label, of shape (n_labels,)."""
        return np.asarray(self.weights @ self.Y) / self.total_weight

    def row_blocks(self) -> list[slice]:
        """Return slices of rows, for each of which an array of all labels takes 16 MB at most."""
        n_rows, n_labels = self.Y.shape
        return row_slices(n_rows, n_labels, _NUMBERS_PER_BLOCK)

    def dense_labels(self, block: slice) -> Array:
        """Return a slice of the rows of Y as a float64 array of zeros and ones."""
        return self.Y[block].toarray().astype(np.float64)

    def mean_shifts(self, Y_block: Array, means: Array, block: slice) -> Array:
        """Return, per row and label, the mean of the label less its mean without the row.

        ``Y_block`` are the labels of the rows in ``block``, ``means`` those of `label_means`.
        """
        # These shifts are added to leave-one-out scores, which cancels them. Without a positive
        # row the label is a little rarer, so that all positives would rank behind all negatives
        # where the features do not distinguish them.
        weights = self.weights[block, None]
        return weights * (Y_block - means) / np.maximum(self.total_weight - weights, _TINY)

    def solve_iteratively(self, penalty: float, n_jobs: int | None) -> tuple[Array, Array]:
        """Return coefficients (n_columns, n_labels) and intercepts, by conjugate gradients.

        ``penalty`` is relative to the mean squared length of the centred rows.
        """
        X, weights, total_weight = self.X, self.weights, self.total_weight
        column_means = np.asarray(weights @ X) / total_weight
        squares = X.multiply(X) if sparse.issparse(X) else X * X
        mean_square = float(np.asarray(weights @ squares).sum()) / total_weight
        scale = _positive_or_one(mean_square - float(column_means @ column_means))
        label_blocks = row_slices(self.Y.shape[1], max(X.shape), _NUMBERS_PER_BLOCK * 8)
        solve_block = partial(_conjugate_gradients, self, column_means, penalty * scale)
        with single_threaded_blas():
            coefficients = np.hstack(run_in_threads(solve_block, label_blocks, n_jobs=n_jobs))
            return coefficients, self.label_means() - column_means @ coefficients


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """The solution for one penalty, and what leave-one-out scores are computed from."""

    #: shape (n_columns, n_labels); in a dual solution one row of coefficients per training row
    coefficients: Array
    intercepts: Array  # shape (n_labels,)
    #: shape (n_rows,): a leave-one-out residual is the residual of the row divided by this
    one_minus_leverage: Array
    absolute_penalty: float  # the relative penalty times the ``scale`` of the solver
    error: float = np.inf  # weighted mean over rows of the sum of squared leave-one-out residuals


def fit_with_best_penalty(solver: Solver, penalty: float | None, n_jobs: int | None) -> RidgeFit:
    """Return the fit with a relative penalty; None chooses that of least leave-one-out error."""
    if penalty is not None:
        with single_threaded_blas():
            return solver.fit(penalty * solver.scale)
    fits: dict[float, RidgeFit] = {}  # by the exponent of the relative penalty, a power of ten
    exponents: Sequence[float] = FIRST_LOG10_PENALTIES
    while exponents:
        with single_threaded_blas():  # sums do not depend on the number of threads
            absolute_penalties = [solver.scale * 10.0**exponent for exponent in exponents]
            new_fits = run_in_threads(solver.fit, absolute_penalties, n_jobs=n_jobs)
        fits.update(zip(exponents, new_fits, strict=True))
        best = min(fits, key=lambda exponent: (fits[exponent].error, exponent))
        for exponent, fit in fits.items():  # of the other fits only the error is needed
            if exponent != best:
                fits[exponent] = replace(fit, coefficients=_EMPTY, one_minus_leverage=_EMPTY)
        exponents = [
            exponent
            for exponent in (best - 0.5, best + 0.5)
            if exponent not in fits and MIN_LOG10_PENALTY <= exponent <= MAX_LOG10_PENALTY
        ]
    return fits[best]


class PrimalSolver:
    """Exact solver for few columns: the unknowns are one coefficient per column and label.

    ``scale`` is the weighted mean squared length of the centred rows; relative penalties times
    ``scale`` are absolute ones, which are added to the diagonal of ``gram``.
    """

    def __init__(self, problem: RidgeProblem) -> None:
        self.problem = problem
        X, weights = problem.X, problem.weights
        self.column_means = np.asarray(weights @ X) / problem.total_weight
        self.label_means = problem.label_means()
        weighted_X = _scale_rows(X, weights)
        # X'X and X'Y of centred and weighted data.
        self.gram = to_dense(weighted_X.T @ X)
        self.gram -= problem.total_weight * np.outer(self.column_means, self.column_means)
        self.cross_products = to_dense(weighted_X.T @ problem.Y.astype(np.float64))
        self.cross_products -= problem.total_weight * np.outer(self.column_means, self.label_means)
        self.scale = _positive_or_one(float(np.trace(self.gram)) / problem.total_weight)

    def fit(self, absolute_penalty: float) -> RidgeFit:
        """Return the solution for one penalty, with its leave-one-out error."""
        problem = self.problem
        inverse_factor, absolute_penalty = inverse_cholesky_factor(self.gram, absolute_penalty)
        coefficients = _multiply_by_inverse(inverse_factor, self.cross_products)
        leverage = problem.weights * (
            self._quadratic_forms(inverse_factor) + 1 / problem.total_weight
        )
        fit = RidgeFit(
            coefficients=coefficients,
            intercepts=self.label_means - self.column_means @ coefficients,
            one_minus_leverage=_away_from_zero(1 - leverage),
            absolute_penalty=absolute_penalty,
        )
        error = sum(self._squared_error(fit, block) for block in problem.row_blocks())
        return replace(fit, error=error / problem.total_weight)

    def leave_one_out_residuals(self, fit: RidgeFit, block: slice) -> Array:
        """Return label less score of the rows in a slice, each scored by a fit without the row."""
        scores = np.asarray(self.problem.X[block] @ fit.coefficients)
        residuals = self.problem.dense_labels(block) - scores - fit.intercepts
        return residuals / fit.one_minus_leverage[block, None]

    def _squared_error(self, fit: RidgeFit, block: slice) -> float:
        """Return the weighted sum of squared leave-one-out residuals of the rows in a slice."""
        residuals = self.leave_one_out_residuals(fit, block)
        squared = np.einsum("ij,ij->i", residuals, residuals)
        return float(self.problem.weights[block] @ squared)

    def _quadratic_forms(self, inverse_factor: Array) -> Array:
        """Return x' M x for every centred row x, where M is the inverse of the penalized Gram.

        ``inverse_factor`` is R with R'R = M, of `inverse_cholesky_factor`.
        """
        X, column_means = self.problem.X, self.column_means
        forms = np.empty(X.shape[0])
        if sparse.issparse(X) and 10 * X.nnz < X.shape[0] * X.shape[1]:
            # (x - m)' M (x - m), multiplied out, so that rows stay sparse.
            inverse = _inverse(inverse_factor)
            quadratic_forms(as_row_arrays(X), inverse, forms)
            inverse_means = inverse @ column_means
            return forms - 2 * (X @ inverse_means) + column_means @ inverse_means
        for start in range(0, len(forms), 1024):
            centred = to_dense(X[start : start + 1024]) - column_means
            product = blas.dtrmm(1.0, inverse_factor, centred.T, lower=True, overwrite_b=True)
            forms[start : start + 1024] = np.einsum("ij,ij->j", product, product)
        return forms


class LandmarkSolver(PrimalSolver):
    """Solver for a kernel that is approximated by landmarks, which are some of the training rows.

    ``landmark_indices`` are their row indices. ``problem.X`` holds similarities to the landmarks
    times the matrix ``whitening``, so that inner products of its rows approximate the kernel.
    """

    def __init__(self, problem: RidgeProblem, landmark_indices: Array, whitening: Array) -> None:
        super().__init__(problem)
        self.landmark_indices = landmark_indices  # of the training rows that are landmarks
        #: shape (n_landmarks, n_columns): its product with coefficients are those of the landmarks
        self.whitening = whitening

    # Like a new row, a row that is left out is not a landmark. With M the inverse without the row
    # x, and u the direction in which the coefficient of a landmark grows, the coefficients c for
    # which it is zero are c - M u (u'c) / (u'M u).
    def leave_out_landmarks(self, fit: RidgeFit, scores: Array) -> None:
        """Change leave-one-out ``scores`` in place, as if no left-out row were a landmark.

        Only the scores of the landmarks change; ``scores`` has shape (n_rows, n_labels).
        """
        problem, landmark_indices = self.problem, self.landmark_indices
        X, weights = problem.X[landmark_indices], problem.weights[landmark_indices]
        Y = problem.Y[landmark_indices].toarray().astype(np.float64)
        one_minus_leverage = fit.one_minus_leverage[landmark_indices]
        inverse_factor, _ = inverse_cholesky_factor(self.gram, fit.absolute_penalty)
        row_products = blas.dtrmm(1.0, inverse_factor, (X - self.column_means).T, lower=True)
        landmark_products = blas.dtrmm(1.0, inverse_factor, self.whitening.T, lower=True)
        mixed_forms = np.einsum("ij,ij->j", row_products, landmark_products)  # x'M u
        landmark_forms = np.einsum("ij,ij->j", landmark_products, landmark_products)  # u'M u
        residuals = Y - X @ fit.coefficients
        residuals -= fit.intercepts
        corrections = mixed_forms / one_minus_leverage
        landmark_coefficients = self.whitening @ fit.coefficients
        landmark_coefficients -= (weights * corrections)[:, None] * residuals
        factors = corrections / (landmark_forms + weights * mixed_forms * corrections)
        scores[landmark_indices] -= landmark_coefficients * factors[:, None]


class DualSolver:
    """Exact solver for few rows: the unknowns are one coefficient per training row and label.

    ``products`` are the inner products of all pairs of rows, or their kernel; they are overwritten
    with the centred and weighted ones. ``scale`` is the weighted mean squared length of the centred
    rows; relative penalties times ``scale`` are absolute ones, which are added to the diagonal of
    ``products``.
    """

    def __init__(self, problem: RidgeProblem, products: Array) -> None:
        self.problem = problem
        normalized_weights = problem.weights / problem.total_weight
        self.normalized_weights = normalized_weights
        self.product_means = products @ normalized_weights
        self.sqrt_weights = np.sqrt(problem.weights)
        self.label_means = problem.label_means()
        products -= self.product_means[:, None]
        products -= self.product_means[None, :]
        products += normalized_weights @ self.product_means
        products *= self.sqrt_weights[:, None]
        products *= self.sqrt_weights[None, :]
        self.products = products
        self.scale = _positive_or_one(float(np.trace(products)) / problem.total_weight)

    def fit(self, absolute_penalty: float) -> RidgeFit:
        """Return the solution for one penalty, with its leave-one-out error."""
        problem = self.problem
        inverse_factor, absolute_penalty = inverse_cholesky_factor(self.products, absolute_penalty)
        inverse_diagonal = np.einsum("ij,ij->j", inverse_factor, inverse_factor)
        one_minus_leverage = _away_from_zero(
            absolute_penalty * inverse_diagonal - self.normalized_weights
        )
        centred = problem.dense_labels(slice(None)) - self.label_means
        coefficients = _multiply_by_inverse(inverse_factor, self.sqrt_weights[:, None] * centred)
        # Leave-one-out residuals, each times the square root of the row's weight.
        weighted_residuals = absolute_penalty * coefficients / one_minus_leverage[:, None]
        squared_sum = float(np.einsum("ij,ij->", weighted_residuals, weighted_residuals))
        coefficients *= self.sqrt_weights[:, None]  # sum to zero, since products are centred
        return RidgeFit(
            coefficients=coefficients,
            intercepts=self.label_means - self.product_means @ coefficients,
            one_minus_leverage=one_minus_leverage,
            absolute_penalty=absolute_penalty,
            error=squared_sum / problem.total_weight,
        )

    def leave_one_out_residuals(self, fit: RidgeFit, block: slice) -> Array:
        """Return label less score of the rows in a slice, each scored by a fit without the row.

        They follow from the coefficients alone.
        """
        weights = self.problem.weights[block, None]
        residuals = fit.absolute_penalty * fit.coefficients[block] / weights
        return residuals / fit.one_minus_leverage[block, None]


Solver = PrimalSolver | DualSolver


def leave_one_out_scores(solver: Solver, fit: RidgeFit, n_jobs: int | None) -> Array:
    """Return the scores of all training rows in [0, 1], each by a fit without the row.

    The mean of each label stays that of all rows; see `RidgeProblem.mean_shifts`.
    """
    problem, label_means = solver.problem, solver.label_means
    scores = np.empty(problem.Y.shape, order="F")

    def score_block(block: slice) -> None:
        """Write the scores of a slice of rows."""
        Y_block = problem.dense_labels(block)
        residuals = solver.leave_one_out_residuals(fit, block)
        scores[block] = Y_block - residuals + problem.mean_shifts(Y_block, label_means, block)

    def squash_block(block: slice) -> None:
        """Change the scores of a slice of rows so that they are in [0, 1]."""
        squash_to_unit_interval(scores[block])

    with single_threaded_blas():
        run_in_threads(score_block, problem.row_blocks(), n_jobs=n_jobs)
        if isinstance(solver, LandmarkSolver):
            solver.leave_out_landmarks(fit, scores)
        run_in_threads(squash_block, problem.row_blocks(), n_jobs=n_jobs)
    return scores


def _conjugate_gradients(
    problem: RidgeProblem, column_means: Array, absolute_penalty: float, label_block: slice
) -> Array:
    """Return the coefficients (n_columns, n_labels) of a slice of labels.

    The labels are solved side by side, each with its step lengths, until the norm of all
    residuals is 1e-5 of its initial value, or for ``problem.max_iter`` steps.
    """
    X, weights = problem.X, problem.weights
    Y = problem.Y[:, label_block].astype(np.float64)
    label_means = np.asarray(weights @ Y) / problem.total_weight
    right_side = to_dense(_scale_rows(X, weights).T @ Y)
    right_side -= problem.total_weight * np.outer(column_means, label_means)
    solution = np.zeros_like(right_side)
    residual = right_side.copy()
    direction = residual.copy()
    squared_norm = np.einsum("ij,ij->j", residual, residual)
    tolerance = 1e-10 * squared_norm
    for _ in range(problem.max_iter):
        if (squared_norm <= tolerance).all():
            break
        # The product of the penalized Gram matrix and the direction.
        projected = np.asarray(X @ direction) - column_means @ direction
        projected *= weights[:, None]
        product = np.asarray(X.T @ projected) - np.outer(column_means, projected.sum(axis=0))
        product += absolute_penalty * direction
        step = _divide_or_zero(squared_norm, np.einsum("ij,ij->j", direction, product))
        solution += step * direction
        residual -= step * product
        new_squared_norm = np.einsum("ij,ij->j", residual, residual)
        direction *= _divide_or_zero(new_squared_norm, squared_norm)
        direction += residual
        squared_norm = new_squared_norm
    return solution


def _positive_or_one(scale: float) -> float:
    """Return a scale of penalties if it is positive, else 1.

    It is 0 if all rows are equal; then every penalty gives the same scores.
    """
    return scale if scale > _TINY else 1.0


def _divide_or_zero(numerator: Array, denominator: Array) -> Array:
    """Return numerator / denominator by element; 0 where the denominator is not positive."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def _scale_rows(X: Any, weights: Array) -> Any:
    """Return a dense or CSR matrix with each row multiplied by its weight.

    The result is X itself if all weights are 1.
    """
    if (weights == 1).all():
        return X
    if not sparse.issparse(X):
        return X * weights[:, None]
    data = X.data * np.repeat(weights, np.diff(X.indptr))
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _away_from_zero(one_minus_leverage: Array) -> Array:
    """Return the divisors raised to at least 1e-9; rounding can make them 0 for tiny penalties."""
    return np.maximum(one_minus_leverage, 1e-9)


def inverse_cholesky_factor(matrix: Array, absolute_penalty: float) -> tuple[Array, float]:
    """Return a lower triangular R, and the penalty used.

    R'R is the inverse of the symmetric matrix with the penalty added to its diagonal. If the
    penalty is so small that the factorization fails by rounding, it is raised tenfold until it
    succeeds.
    """
    factor, has_failed = _cholesky_factor(matrix, absolute_penalty)
    while has_failed:
        rounding_error = 1e-12 * float(np.abs(matrix.diagonal()).max())
        absolute_penalty = 10 * max(absolute_penalty, rounding_error, _TINY)
        factor, has_failed = _cholesky_factor(matrix, absolute_penalty)
    inverse_factor, _ = lapack.dtrtri(factor, lower=True, overwrite_c=True)
    return inverse_factor, absolute_penalty


def _multiply_by_inverse(inverse_factor: Array, right_side: Array) -> Array:
    """Return R'R times a matrix, where R is the lower triangular ``inverse_factor``."""
    product = blas.dtrmm(1.0, inverse_factor, right_side, lower=True)
    solution = blas.dtrmm(1.0, inverse_factor, product, lower=True, trans_a=True, overwrite_b=True)
    return np.ascontiguousarray(solution)


def _inverse(inverse_factor: Array) -> Array:
    """Return R'R in C order, where R is the lower triangular ``inverse_factor``."""
    inverse, _ = lapack.dlauum(inverse_factor, lower=True)
    for start in range(0, len(inverse), 256):  # LAPACK computes the lower triangle alone
        stop = min(start + 256, len(inverse))
        inverse[start:stop, stop:] = inverse[stop:, start:stop].T
        square = inverse[start:stop, start:stop]
        square[:] = np.tril(square) + np.tril(square, -1).T
    return inverse.T  # the matrix is symmetric; transposed, it is in C order


def _cholesky_factor(matrix: Array, absolute_penalty: float) -> tuple[Array, bool]:
    """Return the lower Cholesky factor with a penalty on the diagonal, and whether that failed.

    If it failed, because the matrix is not positive definite, the factor must not be used.
    """
    shifted = matrix.copy(order="F")
    shifted[np.diag_indices_from(shifted)] += absolute_penalty
    factor, info = lapack.dpotrf(shifted, lower=True, overwrite_a=True)
    return factor, bool(info)


def squash_to_unit_interval(scores: Array) -> Array:
    """Change scores in place so that they are in [0, 1], and return them.

    Their order stays; scores from 0.05 to 0.95 do not change.
    """
    is_low = scores < _SQUASH_MARGIN
    is_high = scores > 1 - _SQUASH_MARGIN
    scores[is_low] = _SQUASH_MARGIN / (2 - scores[is_low] / _SQUASH_MARGIN)
    scores[is_high] = 1 - _SQUASH_MARGIN / (2 - (1 - scores[is_high]) / _SQUASH_MARGIN)
    return scores
