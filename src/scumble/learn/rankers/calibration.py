"""Calibration: logistic curves that turn scores of each label into comparable probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from scumble._core.arrays import Array

#: Number of bins of the scores of a label. Rows of nearly equal score share a bin, so that the cost
#: of a Newton step does not grow with the number of rows.
_N_BINS = 256
#: Factor of half the squared difference of slope and one, which is subtracted from the log
#: likelihood.
_SLOPE_PENALTY = 4.0
#: The smallest slope: it is positive, so that the order of scores stays.
_MIN_SLOPE = 0.05
#: Largest number of Newton steps.
_MAX_ITER = 50
#: Largest change of a coefficient in one step: longer steps may overshoot.
_MAX_STEP = 2.0
#: The steps end when no coefficient changes by more than this.
_TOLERANCE = 1e-10


# The probability is 1 / (1 + exp(-(a + b s))). The curve of a label with few positives cannot be
# estimated from them alone: a penalty draws the slope towards one, which leaves log odds unchanged
# and makes odds inverse to rates where scores are log rates.
@dataclass(frozen=True, eq=False)
class Calibration:
    """A logistic curve per label, from the score s to the probability."""

    intercepts: Array  # a in the formula above, of shape (n_labels,)
    slopes: Array  # b in the formula above, of shape (n_labels,)

    @classmethod
    def fit(cls, scores: Array, Y: sparse.csr_array, weights: Array | None = None) -> Calibration:
        """Return the curves fitted to scores of training rows, of shape (n_rows, n_labels).

        ``weights`` are sample weights; None means 1 for each row.
        """
        row_weights = np.ones(len(scores)) if weights is None else weights
        return _fit_curves(_bin_scores(scores, Y.tocsc(), row_weights))

    def transform(self, scores: Array) -> Array:
        """Return the probabilities of scores, both of shape (n_rows, n_labels)."""
        return expit(self.intercepts + self.slopes * scores)


class _Bins(NamedTuple):
    """Bins of scores, arrays of shape (n_labels, n_bins)."""

    centres: Array  # weighted mean score of the rows in the bin
    positives: Array  # weight of the rows in the bin that have the label
    totals: Array  # weight of all rows in the bin


def _bin_scores(scores: Array, Y: Any, weights: Array) -> _Bins:
    """Divide the scores of each label into 256 bins of equal width, and return their sums.

    ``Y`` is a CSC matrix of labels, ``weights`` are sample weights.
    """
    n_labels = scores.shape[1]
    centres = np.zeros((n_labels, _N_BINS))
    positives, totals = np.zeros_like(centres), np.zeros_like(centres)
    for label in range(n_labels):
        label_scores = scores[:, label]
        low, high = label_scores.min(), label_scores.max()
        width = (high - low) / _N_BINS if high > low else 1.0
        bins = np.minimum(((label_scores - low) / width).astype(np.intp), _N_BINS - 1)
        positive_rows = Y.indices[Y.indptr[label] : Y.indptr[label + 1]]
        totals[label] = np.bincount(bins, weights, _N_BINS)
        positives[label] = np.bincount(bins[positive_rows], weights[positive_rows], _N_BINS)
        sums = np.bincount(bins, label_scores * weights, _N_BINS)
        centres[label] = np.divide(sums, totals[label], out=sums, where=totals[label] > 0)
    return _Bins(centres, positives, totals)


def _fit_curves(bins: _Bins) -> Calibration:
    """Return the curves of largest penalized likelihood, by Newton's method for all labels."""
    positive_weights = bins.positives.sum(axis=1)
    total_weights = bins.totals.sum(axis=1)
    negative_weights = total_weights - positive_weights
    intercepts = np.log((positive_weights + 0.5) / (negative_weights + 0.5)) - 1
    slopes = np.ones(len(intercepts))
    for _ in range(_MAX_ITER):
        probabilities = expit(intercepts[:, None] + slopes[:, None] * bins.centres)
        residuals = bins.positives - bins.totals * probabilities
        variances = bins.totals * probabilities * (1 - probabilities)
        # First derivatives, and the entries of the symmetric 2 x 2 matrix of second derivatives.
        # The small number added to the first entry keeps the matrix invertible.
        intercept_gradient = residuals.sum(axis=1)
        slope_gradient = (residuals * bins.centres).sum(axis=1) - _SLOPE_PENALTY * (slopes - 1)
        hessian_00 = variances.sum(axis=1) + 1e-3
        hessian_01 = (variances * bins.centres).sum(axis=1)
        hessian_11 = (variances * bins.centres**2).sum(axis=1) + _SLOPE_PENALTY
        determinant = hessian_00 * hessian_11 - hessian_01**2
        intercept_step = (
            hessian_11 * intercept_gradient - hessian_01 * slope_gradient
        ) / determinant
        slope_step = (hessian_00 * slope_gradient - hessian_01 * intercept_gradient) / determinant
        size = np.maximum(np.abs(intercept_step), np.abs(slope_step))
        shrinkage = np.minimum(1.0, _MAX_STEP / np.maximum(size, 1e-12))
        intercepts += shrinkage * intercept_step
        slopes += shrinkage * slope_step
        if size.max(initial=0.0) < _TOLERANCE:
            break
    return Calibration(intercepts, np.maximum(slopes, _MIN_SLOPE))
