"""What the classifiers share that tell how probable labels are, and leave deciding to others."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from scumble._core.arrays import Array
from scumble._core.errors import DataError
from scumble._core.provenance import carried_weights
from scumble.learn.base import BaseMultilabelClassifier

#: Scores nearer than this to 0 and 1, or beyond, are bent.
_BENT = 0.05


# A subclass implements `_fit_labels`; `_fit_out_of_sample`, which learns the same and returns
# scores of the training rows by models that have not seen them; and `_scores`. For rare labels a
# score of one half is hardly ever reached: put a `ThresholdedClassifier` around it.
class BaseRanker(BaseMultilabelClassifier):
    """Base of classifiers that rank rows well for every label; they predict from one half on."""

    @abstractmethod
    def _scores(self, X: Any) -> Array:
        """Return scores in [0, 1] of clean rows."""

    @abstractmethod
    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, weights: Array | None) -> Array:
        """Learn, and return scores of the training rows by models that have not seen them."""

    def fit_out_of_sample(self, X: Any, Y: Any, sample_weight: Any = None) -> Array:
        """Learn, and tell what would be said of each training row had it not been there."""
        # This is the whole protocol by which `ThresholdedClassifier` gets scores for nothing: any
        # estimator that has a method of this name and meaning is asked for it.
        sample_weight = carried_weights(Y, sample_weight)
        table, labels, weights = self._read(X, Y, sample_weight)
        if labels.shape[0] < 2:
            raise DataError(
                f"{type(self).__name__}: found 1 sample (training row). Expected at least 2: what "
                "would be said of a row without it needs another."
            )
        scores = self._fit_out_of_sample(table, labels, weights)
        if len(scores) == _num_samples(X):
            return scores
        kept = np.asarray(sample_weight) > 0  # a row of weight 0 is a new row to the model
        whole = np.empty((len(kept), scores.shape[1]), order="F")
        whole[kept] = scores
        whole[~kept] = self.predict_proba(_safe_indexing(X, np.flatnonzero(~kept)))
        return whole

    def _judge(self, X: Any) -> tuple[Array, Array]:
        scores = self._scores(X)
        return scores >= 0.5, scores


def bend(scores: Array) -> Array:
    """Bring numbers that are mostly in [0, 1] inside it, keeping their order."""
    low, high = scores < _BENT, scores > 1 - _BENT
    scores[low] = _BENT / (2 - scores[low] / _BENT)
    scores[high] = 1 - _BENT / (2 - (1 - scores[high]) / _BENT)
    return scores
