"""The value difference metric: how far two nominal values differ in what they say of a label."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.features import Features
from scumble.resample.kernels import values as kernels


# Two values of a nominal column differ by the sum of |P(c | a) - P(c | b)|, where c runs over
# having and not having the label in hand, so that it is 2 |P(l | a) - P(l | b)|. The shares are
# those among all rows whose value is known.
class ValueDifference:
    """Tables of the value difference metric, one per label."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self.starts = np.cumsum(features.n_values) - features.n_values
        self.totals = self._count(np.arange(features.values.shape[0]))

    def table(self, rows: Array) -> Array:
        """Make the table of one label."""
        with_label = self._count(rows)
        shares = np.zeros(len(self.totals))
        np.divide(with_label, self.totals, out=shares, where=self.totals > 0)
        return 2 * shares

    def _count(self, rows: Array) -> Array:
        values, n_values = self.features.values, self.features.n_values
        counts = np.zeros(int(n_values.sum()), np.int64)
        if not len(counts):
            return counts
        if sparse.issparse(values):
            kernels.count_sparse(
                values.indptr, values.indices, values.data, n_values, self.starts, rows, counts
            )
        else:
            kernels.count_dense(values, n_values, self.starts, rows, counts)
        return counts
