"""Logistic regression of many labels on the same columns, with a very small ridge penalty.

The objective is WEKA's: the log-likelihood less 1e-8 times the squared coefficients of standardized
columns. So small a penalty hardly changes the fit of ordinary labels. For separable labels, whose
likelihood has its maximum at infinity, it keeps the coefficients finite.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from scumble._core.arrays import Array, column_min_max, to_dense
from scumble._core.parallel import run_in_threads
from scumble.learn.neighbours import logistic_kernels as kernels
from scumble.learn.trees.c45.table import as_row_arrays

#: WEKA's ridge penalty: the factor of the squared coefficients in the objective.
RIDGE = 1e-8
#: Newton's method ends with a step of which less gain in log-likelihood is expected. A row with a
#: probability of one half contributes 0.69, so that the gain is negligible.
TOLERANCE = 1e-8
#: Maximum number of Newton steps; labels that need more are named in a warning.
MAX_NEWTON_STEPS = 200
#: Maximum number of quasi-Newton steps, which are cheaper, but of which more are needed.
MAX_QUASI_NEWTON_STEPS = 500
#: The share of nonzero values from which a dense matrix is faster than a sparse one.
MIN_DENSE_SHARE = 0.25
#: Maximum number of columns for Newton's method; beyond it the matrix of second derivatives would
#: be larger than 128 MB.
MAX_NEWTON_COLUMNS = 4000


@dataclass(frozen=True, eq=False)
class LogisticModels:
    """Fitted logistic regressions, one per label."""

    coefficients: Array  # of the columns of X, shape (n_columns, n_labels)
    intercepts: Array  # by label

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each label, shape (n_rows, n_labels)."""
        return expit(np.asarray(X @ self.coefficients) + self.intercepts)


class _FittedCoefficients(NamedTuple):
    """The result of an optimizer for one label."""

    coefficients: Array  # of the standardized columns; the intercept is the last one
    has_converged: bool


def fit_logistic(
    X: Any,
    Y: sparse.csr_array,
    *,
    sample_weight: Array | None = None,
    ridge: float = RIDGE,
    tolerance: float = TOLERANCE,
    label_names: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> LogisticModels:
    """Fit a logistic regression on the columns of X for each label.

    X has no missing values and no nominal columns. ``ridge`` is the factor of the penalty. Newton's
    method ends with a step that improves the log-likelihood by less than ``tolerance``. Warn of
    labels whose regression does not converge, by their ``label_names`` or else their indices.
    """
    # Newton's method with backtracking converges fast near the optimum, and also for separable
    # labels, where most rows have hardly any second derivative. If X has more columns than rows, it
    # is rotated to as many coordinates as rows first, which changes neither fit nor penalty. If
    # there are too many of both, a quasi-Newton method without second derivatives is used.
    standardized = _standardize(X)
    columns = standardized.X
    rotation = None
    is_large = min(columns.shape) > MAX_NEWTON_COLUMNS
    if not is_large:
        columns, rotation = _rotate(columns)
    fit = _fit_quasi_newton if is_large else partial(_fit_newton, tolerance=tolerance)
    n_rows, n_labels = Y.shape
    Y_by_label = sparse.csc_array(Y)
    if sample_weight is None:
        weights = np.ones(n_rows)
    else:
        weights = np.ascontiguousarray(sample_weight, np.float64)
    fitted = np.empty((n_labels, columns.shape[1] + 1))  # the intercept is the last coefficient

    def fit_label(label: int) -> bool:
        """Set the coefficients of one label, and return whether the regression converged."""
        start, stop = Y_by_label.indptr[label : label + 2]
        is_positive = np.zeros(n_rows, bool)
        is_positive[Y_by_label.indices[start:stop]] = True
        result = fit(columns, is_positive, weights, ridge)
        fitted[label] = result.coefficients
        return result.has_converged

    has_converged = np.array(run_in_threads(fit_label, range(n_labels), n_jobs=n_jobs), bool)
    if not has_converged.all():
        _warn_about_convergence(np.flatnonzero(~has_converged), label_names)
    slopes = fitted[:, :-1]
    intercepts = fitted[:, -1]
    if rotation is not None:
        slopes = slopes @ rotation
    coefficients = np.zeros((X.shape[1], n_labels))
    coefficients[standardized.indices] = slopes.T / standardized.scales[:, None]
    shift = standardized.centres @ coefficients[standardized.indices]
    return LogisticModels(coefficients, intercepts - shift)


def _warn_about_convergence(labels: Array, label_names: Sequence[str] | None) -> None:
    """Warn that the regressions of the labels with these indices did not converge.

    The first three are named.
    """
    if label_names is None:
        texts = [f"{label}" for label in labels[:3]]
    else:
        texts = [f"{label_names[label]!r}" for label in labels[:3]]
    suffix = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
    warnings.warn(
        f"The logistic regression of label {', '.join(texts)}{suffix} did not converge; its "
        "coefficients are the last ones tried. Fewer columns would help, or fewer rows.",
        ConvergenceWarning,
        stacklevel=3,
    )


class _StandardizedColumns(NamedTuple):
    """The columns of X that are not constant, with standard deviation 1, and mean 0 if dense."""

    X: Any  # an ndarray or csr_array
    indices: Array  # of these columns in the original X
    centres: Array  # means that were subtracted from the columns; 0 if sparse
    scales: Array  # standard deviations that the columns were divided by


def _standardize(X: Any) -> _StandardizedColumns:
    """Return the standardized columns of X, without constant ones.

    A sparse X of few nonzero values stays sparse, and is not centred.
    """
    n_rows, n_columns = X.shape
    is_sparse = sparse.issparse(X) and X.nnz < MIN_DENSE_SHARE * n_rows * n_columns
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
        # Centring would make the matrix dense, and changes the intercept only.
        columns = X[:, indices]
        columns.data /= scales[columns.indices]
        columns.sort_indices()
        return _StandardizedColumns(columns, indices, np.zeros(len(indices)), scales)
    centres = means[indices]
    columns = np.ascontiguousarray((X[:, indices] - centres) / scales)
    return _StandardizedColumns(columns, indices, centres, scales)


def _rotate(X: Any) -> tuple[Any, Array | None]:
    """Return X, or coordinates of its rows along principal axes if it has more columns than rows.

    The second result is the rotation, of shape (n_coordinates, n_columns): coefficients of
    coordinates times the rotation are coefficients of columns. It is None if X is returned.
    """
    n_rows, n_columns = X.shape
    if n_columns <= n_rows:
        return X, None
    eigenvalues, vectors = np.linalg.eigh(to_dense(X @ X.T))
    rounding = eigenvalues[-1] * n_columns * np.finfo(float).eps if n_rows else 0.0
    is_used = eigenvalues > rounding
    lengths = np.sqrt(eigenvalues[is_used])
    coordinates = np.ascontiguousarray(vectors[:, is_used] * lengths)
    rotation = np.asarray((X.T @ vectors[:, is_used]).T) / lengths[:, None]
    return coordinates, rotation


def _initial_coefficients(is_positive: Array, weights: Array, n_columns: int) -> Array:
    """Return WEKA's initial values: 0 for ``n_columns`` columns, then the intercept.

    The intercept is the log odds of the label, with one row added to the positives and one to the
    negatives.
    """
    beta = np.zeros(n_columns + 1)
    n_positive = weights[is_positive].sum()
    beta[-1] = np.log((n_positive + 1) / (weights.sum() - n_positive + 1))
    return beta


def _fit_newton(
    X: Any, is_positive: Array, weights: Array, ridge: float, *, tolerance: float
) -> _FittedCoefficients:
    """Return the coefficients of one label by Newton's method.

    ``is_positive`` says which rows of the standardized X have the label. The method has converged
    if the expected gain in log-likelihood of a step is less than ``tolerance``; it stops after
    `MAX_NEWTON_STEPS` steps.
    """
    beta = _initial_coefficients(is_positive, weights, X.shape[1])
    n_steps = kernels.minimize_loss(
        rows=as_row_arrays(X),
        is_positive=is_positive,
        sample_weight=weights,
        ridge=ridge,
        tolerance=tolerance,
        max_steps=MAX_NEWTON_STEPS,
        beta=beta,
    )
    return _FittedCoefficients(beta, has_converged=n_steps < MAX_NEWTON_STEPS)


def _fit_quasi_newton(
    X: Any, is_positive: Array, weights: Array, ridge: float
) -> _FittedCoefficients:
    """Return the coefficients of one label by L-BFGS-B, with the arguments of `_fit_newton`."""
    from scipy.optimize import minimize

    y = is_positive.astype(float)

    def loss_and_gradient(beta: Array) -> tuple[float, Array]:
        """Return the penalized negative log-likelihood, and its derivatives by ``beta``."""
        scores = np.asarray(X @ beta[:-1]) + beta[-1]
        residuals = weights * (expit(scores) - y)
        loss = (weights * np.logaddexp(0.0, np.where(is_positive, -scores, scores))).sum()
        slopes = np.asarray(X.T @ residuals) + 2 * ridge * beta[:-1]
        gradient = np.append(slopes, residuals.sum())
        return float(loss + ridge * (beta[:-1] @ beta[:-1])), gradient

    result = minimize(
        loss_and_gradient,
        _initial_coefficients(is_positive, weights, X.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_QUASI_NEWTON_STEPS},
    )
    return _FittedCoefficients(result.x, has_converged=bool(result.success))
