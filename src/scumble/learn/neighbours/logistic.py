"""Logistic regression of many labels on the same columns, with a very small ridge penalty.

The objective is WEKA's: the log-likelihood less 1e-8 times the squared coefficients of standardized
columns. So small a penalty hardly changes the fit of ordinary labels. For separable labels, whose
likelihood has its maximum at infinity, it keeps the coefficients finite.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from scumble._core.arrays import Array, column_min_max, to_dense
from scumble._core.parallel import run_in_threads
from scumble.learn.neighbours import logistic_kernels as kernels
from scumble.learn.trees.c45.table import as_row_arrays

#: WEKA's ridge penalty.
RIDGE = 1e-8
#: Newton's method ends with a step of which less gain in log-likelihood is expected.
TOLERANCE = 1e-8
#: Maximum number of Newton steps.
N_STEPS = 200
#: Maximum number of steps without second derivatives, which are more and cheaper.
N_QUASI_STEPS = 500
#: The share of nonzero cells from which a dense table is faster than a sparse one, and no larger.
DENSE_FROM = 0.25
#: Above this number of columns and rows, the matrix of second derivatives is too large (128 MB).
MAX_NEWTON = 4000


@dataclass(frozen=True, eq=False)
class LogisticModels:
    """Fitted logistic regressions, one per label."""

    weights: Array  # coefficients of the original columns, of shape (n_columns, n_labels)
    intercepts: Array

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each label."""
        return expit(np.asarray(X @ self.weights) + self.intercepts)


def fit_logistic(
    X: Any,
    Y: sparse.csr_array,
    *,
    weights: Array | None = None,
    ridge: float = RIDGE,
    names: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> LogisticModels:
    """Fit a logistic regression of each label on the columns.

    ``names`` of the labels are for warnings.
    """
    # Newton's method with backtracking converges fast near the optimum, and also for separable
    # labels, where most rows have hardly any second derivative. A table of more columns than rows
    # is rotated to as many coordinates as rows first, which changes neither fit nor penalty. If
    # both are above 4,000, a quasi-Newton method without second derivatives is used.
    standardized = _standardize(X)
    columns = standardized.columns
    rotation = None
    is_large = min(columns.shape) > MAX_NEWTON
    if not is_large:
        columns, rotation = _rotate(columns)
    fit = _fit_quasi_newton if is_large else _fit_newton
    n_rows, n_labels = Y.shape
    labels = sparse.csc_array(Y)
    row_weights = np.ones(n_rows) if weights is None else np.ascontiguousarray(weights, np.float64)
    coefficients = np.empty((n_labels, columns.shape[1] + 1))  # the intercept is the last one

    def fit_label(label: int) -> bool:
        is_positive = np.zeros(n_rows, bool)
        is_positive[labels.indices[labels.indptr[label] : labels.indptr[label + 1]]] = True
        coefficients[label], has_converged = fit(columns, is_positive, row_weights, ridge)
        return has_converged

    has_converged = np.array(run_in_threads(fit_label, range(n_labels), n_jobs=n_jobs), bool)
    if not has_converged.all():
        _warn_about_convergence(np.flatnonzero(~has_converged), names)
    slopes = coefficients[:, :-1]
    intercepts = coefficients[:, -1]
    if rotation is not None:
        slopes = slopes @ rotation
    label_weights = np.zeros((X.shape[1], n_labels))
    label_weights[standardized.indices] = slopes.T / standardized.scales[:, None]
    shift = standardized.centres @ label_weights[standardized.indices]
    return LogisticModels(label_weights, intercepts - shift)


def _warn_about_convergence(labels: Array, names: Sequence[str] | None) -> None:
    """Warn of labels whose regression did not converge."""
    texts = [f"{label}" if names is None else f"{names[label]!r}" for label in labels[:3]]
    suffix = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
    warnings.warn(
        f"The logistic regression of label {', '.join(texts)}{suffix} did not converge; its "
        "coefficients are the last ones tried. Fewer columns would help, or fewer rows.",
        ConvergenceWarning,
        stacklevel=3,
    )


class _StandardizedColumns(NamedTuple):
    """The columns that are not constant, with standard deviation 1, and mean 0 if dense."""

    columns: Any
    indices: Array  # of these columns in the original table
    centres: Array  # subtracted from the columns; 0 if sparse
    scales: Array  # standard deviations, which the columns were divided by


def _standardize(X: Any) -> _StandardizedColumns:
    """Return standardized columns; sparse ones are not centred, and stay sparse."""
    n_rows, n_columns = X.shape
    is_sparse = sparse.issparse(X) and X.nnz < DENSE_FROM * n_rows * n_columns
    if not is_sparse:
        X = np.asarray(to_dense(X), np.float64)
        means = X.mean(axis=0)
        deviations = X.std(axis=0, ddof=1) if n_rows > 1 else np.zeros(n_columns)
    else:
        X = sparse.csr_array(X)
        means = np.asarray(X.mean(axis=0)).ravel()
        n_stored = np.bincount(X.indices, minlength=n_columns)
        squares = np.bincount(X.indices, (X.data - means[X.indices]) ** 2, n_columns)
        squares = squares + (n_rows - n_stored) * means**2
        deviations = np.sqrt(squares / max(n_rows - 1, 1))
    lowest, highest = column_min_max(X)
    # The deviation of equal numbers may differ from 0 by rounding.
    is_constant = (lowest == highest) | ~(deviations > 0)
    indices = np.flatnonzero(~is_constant)
    scales = deviations[indices]
    if is_sparse:
        # Centring would fill the table, and changes the intercept only.
        columns = X[:, indices]
        columns.data /= scales[columns.indices]
        columns.sort_indices()
        return _StandardizedColumns(columns, indices, np.zeros(len(indices)), scales)
    centres = means[indices]
    columns = np.ascontiguousarray((X[:, indices] - centres) / scales)
    return _StandardizedColumns(columns, indices, centres, scales)


def _rotate(columns: Any) -> tuple[Any, Array | None]:
    """Return coordinates of rows along principal axes, if there are more columns than rows.

    The second result turns coefficients of coordinates into those of columns; None if the columns
    are returned unchanged.
    """
    n_rows, n_columns = columns.shape
    if n_columns <= n_rows:
        return columns, None
    eigenvalues, vectors = np.linalg.eigh(to_dense(columns @ columns.T))
    rounding = eigenvalues[-1] * n_columns * np.finfo(float).eps if n_rows else 0.0
    is_used = eigenvalues > rounding
    lengths = np.sqrt(eigenvalues[is_used])
    coordinates = np.ascontiguousarray(vectors[:, is_used] * lengths)
    rotation = np.asarray((columns.T @ vectors[:, is_used]).T) / lengths[:, None]
    return coordinates, rotation


def _initial_coefficients(is_positive: Array, weights: Array, n_columns: int) -> Array:
    """Return WEKA's initial values: 0, and for the intercept the log odds of the label."""
    beta = np.zeros(n_columns + 1)
    n_positive = weights[is_positive].sum()
    beta[-1] = np.log((n_positive + 1) / (weights.sum() - n_positive + 1))
    return beta


def _fit_newton(
    columns: Any, is_positive: Array, weights: Array, ridge: float
) -> tuple[Array, bool]:
    """Return coefficients by Newton's method, and whether it converged."""
    beta = _initial_coefficients(is_positive, weights, columns.shape[1])
    n_steps = kernels.minimize_loss(
        rows=as_row_arrays(columns),
        is_positive=is_positive,
        sample_weight=weights,
        ridge=ridge,
        tolerance=TOLERANCE,
        n_steps=N_STEPS,
        beta=beta,
    )
    return beta, n_steps < N_STEPS


def _fit_quasi_newton(
    columns: Any, is_positive: Array, weights: Array, ridge: float
) -> tuple[Array, bool]:
    """Return coefficients by a quasi-Newton method, and whether it converged."""
    from scipy.optimize import minimize

    target = is_positive.astype(float)

    def loss_and_gradient(beta: Array) -> tuple[float, Array]:
        scores = np.asarray(columns @ beta[:-1]) + beta[-1]
        residuals = weights * (expit(scores) - target)
        loss = (weights * np.logaddexp(0.0, np.where(is_positive, -scores, scores))).sum()
        slopes = np.asarray(columns.T @ residuals) + 2 * ridge * beta[:-1]
        gradient = np.append(slopes, residuals.sum())
        return float(loss + ridge * (beta[:-1] @ beta[:-1])), gradient

    result = minimize(
        loss_and_gradient,
        _initial_coefficients(is_positive, weights, columns.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": N_QUASI_STEPS},
    )
    return result.x, bool(result.success)
