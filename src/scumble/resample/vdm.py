"""The value difference metric: how far two nominal values differ in what they say of a label."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.features import Features
from scumble.resample.kernels import values as kernels

Array = np.ndarray[Any, Any]


class ValueDifference:
    r"""Tables of the value difference metric, one per label.

    Notes
    -----
    Two values of a nominal column differ by

    .. math:: \mathrm{VDM}(a, b) = \sum_c |P(c \mid a) - P(c \mid b)|

    where :math:`c` runs over having and not having the label in hand, so that the sum is
    :math:`2 |P(l \mid a) - P(l \mid b)|`. The shares are those among all rows whose value is known.

    Examples
    --------
    Of the three rows with value 0 one has the label, of the two with value 1 both have it.

    >>> import numpy as np
    >>> from scumble._core.features import read_features
    >>> from scumble.resample.vdm import ValueDifference
    >>> X = np.array([[0], [0], [0], [1], [1]])
    >>> features = read_features(X, [0], caller="docs")
    >>> ValueDifference(features).table(np.array([2, 3, 4])).round(3)
    array([0.667, 2.   ])
    """

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
