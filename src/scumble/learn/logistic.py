"""Logistic regression of many labels on the same columns, with hardly any ridge.

WEKA's objective: the log-likelihood less 1e-8 times the squared coefficients of standardised
columns. So small a ridge leaves the fit of ordinary labels alone and keeps the coefficients of
separable ones finite, where the likelihood alone has its maximum at infinity.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from scumble._core.arrays import Array, column_min_max, to_dense
from scumble._core.parallel import run_in_threads
from scumble.learn import logistic_kernels as kernels
from scumble.learn.c45.table import as_row_arrays

RIDGE = 1e-8
#: Newton's method ends with the step that promises less gain than this.
TOLERANCE = 1e-8
N_STEPS = 200
#: A method without second derivatives needs more steps, each of them cheap.
N_QUASI_STEPS = 500
#: Sparse columns this full are faster, and no larger, as a table.
DENSE_FROM = 0.25
#: Above this many columns, and rows, second derivatives are too many to keep.
MAX_NEWTON = 4000


@dataclass(frozen=True, eq=False)
class LogisticModels:
    """Fitted regressions, one per label."""

    weights: Array  # shape (n_columns, n_labels), of the columns as they are, not standardised
    intercepts: Array

    def predict_proba(self, X: Any) -> Array:
        """Tell how probable each label is."""
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
    """Regress each label on the columns."""
    # Newton's method with backtracking: quadratic near the optimum, and safe where a label is
    # separable and most rows weigh nothing. More columns than rows are turned into as many
    # coordinates as there are rows first, which changes neither fit nor ridge. Where both are above
    # 4,000, a quasi-Newton method without second derivatives takes over.
    columns, kept, centres, scales = _standardised(X)
    targets, fit, back = sparse.csc_array(Y), _newton, None
    if min(columns.shape) > MAX_NEWTON:
        fit = _quasi_newton
    else:
        columns, back = _rotated(columns)
    n_rows, n_labels = Y.shape
    counted = np.ones(n_rows) if weights is None else np.ascontiguousarray(weights, np.float64)
    fitted = np.empty((n_labels, columns.shape[1] + 1))

    def fit_label(label: int) -> bool:
        is_positive = np.zeros(n_rows, bool)
        is_positive[targets.indices[targets.indptr[label] : targets.indptr[label + 1]]] = True
        fitted[label], is_found = fit(columns, is_positive, counted, ridge)
        return is_found

    is_found = run_in_threads(fit_label, range(n_labels), n_jobs=n_jobs)
    if not all(is_found):
        _warn_about(np.flatnonzero(~np.array(is_found)), names)
    scaled = fitted[:, :-1] if back is None else fitted[:, :-1] @ back
    weights = np.zeros((X.shape[1], n_labels))
    weights[kept] = scaled.T / scales[:, None]
    return LogisticModels(weights, fitted[:, -1] - centres @ weights[kept])


def _warn_about(labels: Array, names: Sequence[str] | None) -> None:
    said = [f"{label}" if names is None else f"{names[label]!r}" for label in labels[:3]]
    more = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
    warnings.warn(
        f"The logistic regression of label {', '.join(said)}{more} did not converge; its "
        "coefficients are the last ones tried. Fewer columns would help, or fewer rows.",
        ConvergenceWarning,
        stacklevel=3,
    )


def _standardised(X: Any) -> tuple[Any, Array, Array, Array]:
    """Return columns of mean 0 (if dense) and deviation 1: which, their means and deviations."""
    n_rows, n_columns = X.shape
    is_sparse = sparse.issparse(X) and X.nnz < DENSE_FROM * n_rows * n_columns
    if not is_sparse:
        X = np.asarray(to_dense(X), np.float64)
        means = X.mean(axis=0)
        deviations = X.std(axis=0, ddof=1) if n_rows > 1 else np.zeros(n_columns)
    else:
        X = sparse.csr_array(X)
        means = np.asarray(X.mean(axis=0)).ravel()
        filled = np.bincount(X.indices, minlength=n_columns)
        squares = np.bincount(X.indices, (X.data - means[X.indices]) ** 2, n_columns)
        squares = squares + (n_rows - filled) * means**2
        deviations = np.sqrt(squares / max(n_rows - 1, 1))
    low, high = column_min_max(X)
    constant = low == high  # a sum of equal numbers may round
    kept = np.flatnonzero(~constant & (deviations > 0))
    scales = deviations[kept]
    if is_sparse:
        # Taking the mean off changes the intercept only, and would fill the table.
        columns = X[:, kept]
        columns.data /= scales[columns.indices]
        columns.sort_indices()
        return columns, kept, np.zeros(len(kept)), scales
    centres = means[kept]
    return np.ascontiguousarray((X[:, kept] - centres) / scales), kept, centres, scales


def _rotated(columns: Any) -> tuple[Any, Array | None]:
    """Turn more columns than rows into as many coordinates as their rank."""
    n_rows, n_columns = columns.shape
    if n_columns <= n_rows:
        return columns, None
    sizes, axes = np.linalg.eigh(to_dense(columns @ columns.T))
    real = sizes > sizes[-1] * n_columns * np.finfo(float).eps if n_rows else sizes > 0
    lengths = np.sqrt(sizes[real])
    coordinates = np.ascontiguousarray(axes[:, real] * lengths)
    back = np.asarray((columns.T @ axes[:, real]).T) / lengths[:, None]
    return coordinates, back


def _start(is_positive: Array, weights: Array, n_columns: int) -> Array:
    """Start where WEKA does: at the smoothed share of the label."""
    beta = np.zeros(n_columns + 1)
    n_positive = weights[is_positive].sum()
    beta[-1] = np.log((n_positive + 1) / (weights.sum() - n_positive + 1))
    return beta


def _newton(columns: Any, is_positive: Array, weights: Array, ridge: float) -> tuple[Array, bool]:
    beta = _start(is_positive, weights, columns.shape[1])
    rows = as_row_arrays(columns)
    steps = kernels.minimize_loss(rows, is_positive, weights, ridge, TOLERANCE, N_STEPS, beta)
    return beta, steps < N_STEPS


def _quasi_newton(
    columns: Any, is_positive: Array, weights: Array, ridge: float
) -> tuple[Array, bool]:
    from scipy.optimize import minimize

    target = is_positive.astype(float)

    def loss(beta: Array) -> tuple[float, Array]:
        scores = np.asarray(columns @ beta[:-1]) + beta[-1]
        excess = weights * (expit(scores) - target)
        value = (weights * np.logaddexp(0.0, np.where(is_positive, -scores, scores))).sum()
        slope = np.append(np.asarray(columns.T @ excess) + 2 * ridge * beta[:-1], excess.sum())
        return float(value + ridge * (beta[:-1] @ beta[:-1])), slope

    start = _start(is_positive, weights, columns.shape[1])
    options = {"maxiter": N_QUASI_STEPS}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    return found.x, bool(found.success)
