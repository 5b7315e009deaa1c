"""Clone the rows of the rarest label."""

import numpy as np

from scumble.catalogue import Int
from scumble.measures import label_counts
from scumble.resample import BaseResampler, ResampleResult


class RareClones(BaseResampler):
    """Clone every row of the rarest label a number of times.

    Parameters
    ----------
    times : int
        How many clones each of its rows gets.

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0]], [[1, 0], [1, 1], [1, 0]]
    >>> X_new, Y_new = RareClones(times=2).fit_resample(X, Y)
    >>> X_new.ravel()
    array([0., 1., 2., 1., 1.])

    It passes the common checks:

    >>> from scumble.testing import check_resampler
    >>> check_resampler(RareClones())
    """

    _parameter_constraints = {"times": Int(0)}

    def __init__(self, times=1):
        self.times = times

    def _fit_resample(self, X, Y):
        rows = np.arange(Y.shape[0])
        counts = label_counts(Y)
        if counts.any():
            rarest = np.argmin(np.where(counts > 0, counts, Y.shape[0] + 1))
            has_it = np.flatnonzero(Y[:, [rarest]].toarray())
            rows = np.concatenate([rows, np.tile(has_it, self.times)])
        return ResampleResult(rows, Y[rows])
