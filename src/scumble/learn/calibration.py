"""Scores of different labels on one scale: the probability of the label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from scumble._core.arrays import Array

#: Rows of nearly equal score are taken together.
_N_BINS = 256
#: How many rows' worth of evidence stands for a slope of one.
_STRENGTH = 4.0
_SMALLEST_SLOPE = 0.05


# The probability is 1 / (1 + exp(-(a + b s))). Curves of labels with few positives cannot be known
# from them alone: the slope is drawn towards one, which leaves log odds as they are and makes odds
# of log rates inverse to the rates. Slopes are at least 0.05, so that the order stays.
@dataclass(frozen=True, eq=False)
class Calibration:
    """A logistic curve from the score s of each label to its probability."""

    intercepts: Array
    slopes: Array

    @classmethod
    def of(cls, scores: Array, Y: sparse.csr_array, weights: Array | None = None) -> Calibration:
        """Fit the curves."""
        counted = np.ones(len(scores)) if weights is None else weights
        return cls(*_fit_curves(*_bins(scores, Y.tocsc(), counted)))

    def ask(self, scores: Array) -> Array:
        """Turn scores into probabilities."""
        return expit(self.intercepts + self.slopes * scores)


def _bins(scores: Array, Y: Any, weights: Array) -> tuple[Array, Array, Array]:
    """Return for each label the centres of bins, and the weight of positives and of all there."""
    n_labels = scores.shape[1]
    centres = np.zeros((n_labels, _N_BINS))
    present, counts = np.zeros_like(centres), np.zeros_like(centres)
    for label in range(n_labels):
        own = scores[:, label]
        low, high = own.min(), own.max()
        width = (high - low) / _N_BINS or 1.0
        places = np.minimum(((own - low) / width).astype(np.intp), _N_BINS - 1)
        rows = Y.indices[Y.indptr[label] : Y.indptr[label + 1]]
        counts[label] = np.bincount(places, weights, _N_BINS)
        present[label] = np.bincount(places[rows], weights[rows], _N_BINS)
        sums = np.bincount(places, own * weights, _N_BINS)
        centres[label] = np.divide(sums, counts[label], out=sums, where=counts[label] > 0)
    return centres, present, counts


def _fit_curves(centres: Array, present: Array, counts: Array) -> tuple[Array, Array]:
    """Maximise all penalised likelihoods by Newton's method, side by side."""
    positives, total = present.sum(axis=1), counts.sum(axis=1)
    intercepts = np.log((positives + 0.5) / (total - positives + 0.5)) - 1
    slopes = np.ones(len(intercepts))
    for _ in range(50):
        chances = expit(intercepts[:, None] + slopes[:, None] * centres)
        left = present - counts * chances
        spread = counts * chances * (1 - chances)
        up = left.sum(axis=1)
        along = (left * centres).sum(axis=1) - _STRENGTH * (slopes - 1)
        aa = spread.sum(axis=1) + 1e-3
        ab = (spread * centres).sum(axis=1)
        bb = (spread * centres**2).sum(axis=1) + _STRENGTH
        determinant = aa * bb - ab**2
        step_a = (bb * up - ab * along) / determinant
        step_b = (aa * along - ab * up) / determinant
        size = np.maximum(np.abs(step_a), np.abs(step_b))
        shorter = np.minimum(1.0, 2.0 / np.maximum(size, 1e-12))
        intercepts += shorter * step_a
        slopes += shorter * step_b
        if size.max(initial=0.0) < 1e-10:
            break
    return intercepts, np.maximum(slopes, _SMALLEST_SLOPE)
