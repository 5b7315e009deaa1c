"""MLeNN: remove rows of frequent labels whose neighbours have other labels."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Bool, Int, Real
from scumble._validation.features import Features
from scumble.measures.imbalance import is_minority
from scumble.resample.base import BaseDistanceResampler, ResampleResult
from scumble.resample.containers import take_labels


class MLeNN(BaseDistanceResampler, display_group="Remove rows"):
    r"""Remove rows without rare labels that disagree with their neighbours.

    This is the edited nearest neighbour rule for several labels: a row is removed if at least
    half of its nearest neighbours have clearly different labels. Rows with a rare label are never
    removed.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours that a row is compared with.
    threshold : float
        A neighbour counts as different if its label distance, from 0 to 1, is more than this.
    union : bool
        Whether the number of differing labels is divided by the number of labels that either row
        has, instead of by the sum of the numbers of labels of both rows.
    scale : bool
        Whether numeric columns are scaled to [0, 1] before distances are computed.
    categorical_features : None, indices, names, mask or mapping
        The columns of ``X`` that hold codes of nominal values; see `MLSMOTE`.
    n_jobs : int or None
        Number of threads; they change the time, never the result.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input rows that remain, in order.
    n_added_, n_removed_ : int
        0; number of rows removed.

    See Also
    --------
    MLTL : Compares a row with its nearest neighbour only.

    Notes
    -----
    A row :math:`i` without any minority label is removed if at least :math:`k / 2` of its
    :math:`k` nearest neighbours among *all* rows have

    .. math:: d(i, j) = \frac{|Y_i \,\triangle\, Y_j|}{|Y_i| + |Y_j|} > \mathrm{threshold}

    with :math:`d = 0` if neither row has a label [1]_. All rows are marked first, then removed.
    Distances between rows with missing values are partial, as in `MLSMOTE`. If there are fewer
    than :math:`k` other rows, :math:`k` is their number; a single row is kept. The distance of
    two nominal values is 0 or 1.

    The R package mldr.resampling removes at most one row. Its rule marks many more, and more than
    this class: it does not protect rows that have both frequent and rare labels, and
    compares with the second to the :math:`(k+1)`-th nearest row. On emotions (k = 3, threshold
    0.5, unscaled) it marks 144 rows, or 136 with the nearest neighbours instead; 43 of these have
    no rare label and are the rows that this class removes.

    References
    ----------
    .. [1] Charte, F., Rivera, A. J., del Jesus, M. J., & Herrera, F. (2014). MLeNN: a first
       approach to heuristic multilabel undersampling. *IDEAL 2014*, LNCS 8669.

    Examples
    --------
    The row at 1.1 has label 1 among three rows with label 0, so it is removed. Label 2 is rare,
    which protects the last row although all its neighbours differ.

    >>> import numpy as np
    >>> from scumble.resample import MLeNN
    >>> X = np.array([[1.0], [1.1], [1.2], [1.3], [9.0], [9.1], [9.2], [9.3]])
    >>> Y = np.eye(3, dtype=int)[[0, 1, 0, 0, 1, 1, 1, 2]]
    >>> X_new, Y_new = MLeNN().fit_resample(X, Y)
    >>> X_new.ravel()
    array([1. , 1.2, 1.3, 9. , 9.1, 9.2, 9.3])
    """

    _parameter_constraints = {
        **BaseDistanceResampler._parameter_constraints,
        "n_neighbors": Int(minimum=1),
        "threshold": Real(minimum=0, maximum=1),
        "union": Bool(),
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 3,
        threshold: float = 0.75,
        union: bool = False,
        scale: bool = True,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.threshold = threshold
        self.union = union
        self.scale = scale
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        """Return the rows that remain: those with minority labels or with similar neighbours."""
        has_minority_label = Y @ is_minority(Y)
        candidates = np.flatnonzero(~has_minority_label)
        nearest = self._find_neighbours(features, self.n_neighbors, rows=candidates)
        return remove_disagreeing_rows(
            Y, candidates, nearest, threshold=self.threshold, union=self.union
        )


def remove_disagreeing_rows(
    Y: sparse.csr_array, candidates: Array, neighbours: Array, *, threshold: float, union: bool
) -> ResampleResult:
    """Return the rows that remain after candidates that differ from their neighbours are removed.

    ``candidates`` are indices of rows, ``neighbours`` of shape (n_candidates, k) their nearest
    rows. A candidate is removed if at least half of its neighbours have a label distance above
    ``threshold`` from it; ``union`` chooses the denominator of the distance, see `MLeNN`.
    """
    n_neighbors = neighbours.shape[1]
    candidate_labels = take_labels(Y, np.repeat(candidates, n_neighbors))
    neighbour_labels = take_labels(Y, neighbours.ravel())
    n_shared = np.diff(candidate_labels.multiply(neighbour_labels).indptr)
    n_labels = np.diff(Y.indptr)
    sums = n_labels[candidates, None] + n_labels[neighbours]
    n_different = sums - 2 * n_shared.reshape(sums.shape)
    # The sum counts shared labels twice, so that either row has (sum + different) / 2 labels.
    denominators = (sums + n_different) / 2 if union else sums
    distances = np.divide(n_different, denominators, out=np.zeros(sums.shape), where=sums > 0)
    is_removed = (distances > threshold).sum(axis=1) >= max(n_neighbors / 2, 1)
    rows = np.delete(np.arange(Y.shape[0]), candidates[is_removed])
    return ResampleResult(rows, take_labels(Y, rows))
