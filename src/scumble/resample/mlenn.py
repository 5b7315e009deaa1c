"""MLeNN: remove rows of frequent labels whose neighbours have other labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.features import Features
from scumble._core.neighbours import nearest_neighbours
from scumble._core.parameters import Bool, Int, Real, default
from scumble.measures.imbalance import is_minority
from scumble.resample.base import ResampleResult, _DistanceResampler
from scumble.resample.containers import take_labels


@dataclass(kw_only=True, eq=False, repr=False)
class MLeNN(_DistanceResampler, display_group="Remove rows"):
    r"""Remove rows without rare labels that disagree with their neighbours.

    The edited nearest neighbour rule for several labels: a row goes when at least half of its
    nearest neighbours have clearly different labels. Rows with a rare label always stay.

    Parameters
    ----------
    n_neighbors : int
        How many neighbours are asked.
    threshold : float
        A neighbour whose label distance is more than this counts as different; from 0 to 1.
    union : bool
        Whether the number of differing labels is divided by the labels active in either row,
        instead of by the sum of both rows' numbers of labels.
    scale : bool
        Whether numeric columns are scaled to [0, 1] before distances are taken.
    categorical_features : None, indices, names, mask or mapping
        The columns of ``X`` that hold codes; see `MLSMOTE`.
    n_jobs : int or None
        Threads; they change the time and never the result.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input rows that stay, in order.
    n_added_, n_removed_ : int
        0; rows removed.

    See Also
    --------
    MLTL : Asks the nearest neighbour only.

    Notes
    -----
    A row :math:`i` without any minority label is removed when at least :math:`k / 2` of its
    :math:`k` nearest neighbours among *all* rows have

    .. math:: d(i, j) = \frac{|Y_i \,\triangle\, Y_j|}{|Y_i| + |Y_j|} > \mathrm{threshold}

    with :math:`d = 0` where both have no label [1]_. All rows are marked first, then removed.
    Distances between rows with missing values are partial, as in `MLSMOTE`.
    With fewer than :math:`k` other rows, those there are count as :math:`k`; a row alone stays.
    Nominal columns differ by 0 or 1.

    The R package mldr.resampling removes one row at most. Its own rule marks many more, and more
    than ours: it spares no row that has a frequent label beside a rare one, and asks the second
    to the :math:`(k+1)`-th nearest. On emotions (k = 3, threshold 0.5, unscaled) it marks 144
    rows, 136 with the nearest neighbours in their place, and 43 of these have no rare label:
    those we remove.

    References
    ----------
    .. [1] Charte, F., Rivera, A. J., del Jesus, M. J., & Herrera, F. (2014). MLeNN: a first
       approach to heuristic multilabel undersampling. *IDEAL 2014*, LNCS 8669.

    Examples
    --------
    The row at 1.1 has label 1 amid three rows with label 0, so it goes. Label 2 is rare, which
    protects the last row although its neighbours all differ.

    >>> import numpy as np
    >>> from scumble.resample import MLeNN
    >>> X = np.array([[1.0], [1.1], [1.2], [1.3], [9.0], [9.1], [9.2], [9.3]])
    >>> Y = np.eye(3, dtype=int)[[0, 1, 0, 0, 1, 1, 1, 2]]
    >>> X_new, Y_new = MLeNN().fit_resample(X, Y)
    >>> X_new.ravel()
    array([1. , 1.2, 1.3, 9. , 9.1, 9.2, 9.3])
    """

    n_neighbors: int = default(3, Int(1))
    threshold: float = default(0.75, Real(0, 1))
    union: bool = default(False, Bool())
    scale: bool = True
    categorical_features: Any = None
    n_jobs: int | None = None

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        candidates = np.flatnonzero(~(Y @ is_minority(Y)))  # without any
        space = features.space(scale=self.scale)
        near = nearest_neighbours(space, self.n_neighbors, rows=candidates, n_jobs=self.n_jobs).rows
        return remove_disagreeing_rows(Y, candidates, near, self.threshold, union=self.union)


def remove_disagreeing_rows(
    Y: sparse.csr_array, candidates: Array, near: Array, threshold: float, *, union: bool
) -> ResampleResult:
    """Remove the candidates that differ from at least half of their neighbours."""
    n_asked = near.shape[1]
    own, others = (take_labels(Y, rows) for rows in (np.repeat(candidates, n_asked), near.ravel()))
    sizes = np.diff(Y.indptr)
    both = sizes[candidates, None] + sizes[near]
    different = both - 2 * np.diff(own.multiply(others).indptr).reshape(both.shape)
    # Labels in both count twice: (|A| + |B| + different) / 2 labels are active in either.
    active = (both + different) / 2 if union else both
    is_far = np.divide(different, active, out=np.zeros(both.shape), where=both > 0) > threshold
    is_out = is_far.sum(axis=1) >= max(n_asked / 2, 1)
    rows = np.delete(np.arange(Y.shape[0]), candidates[is_out])
    return ResampleResult(rows, take_labels(Y, rows))
