"""MLeNN and MLTL: remove rows of frequent labels whose neighbours have other labels."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.features import Features
from scumble._core.neighbours import nearest
from scumble._core.parameters import Bool, Choice, Either, Int, Real, declare
from scumble.measures.concurrence import scumble
from scumble.measures.imbalance import irlbl, is_minority, mean_ir, minority_from_ratios
from scumble.resample.base import Resampled
from scumble.resample.by_distance import _DistanceResampler
from scumble.resample.kernels import labels as kernels


class MLeNN(_DistanceResampler, family="Remove rows"):
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

    domains = declare(n_neighbors=Int(1), threshold=Real(0, 1), union=Bool())

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

    def _resample_features(self, features: Features, Y: sparse.csr_array) -> Resampled:
        candidates = np.flatnonzero(~has_any(Y, is_minority(Y)))
        space = features.space(scale=self.scale)
        near = nearest(space, self.n_neighbors, rows=candidates, n_jobs=self.n_jobs).rows
        n_needed = max(near.shape[1] / 2, 1)
        return _without_different(Y, candidates, near, self.threshold, n_needed, union=self.union)


class MLTL(_DistanceResampler, family="Remove rows"):
    r"""Remove rows with a frequent label whose nearest neighbour has clearly other labels.

    Tomek links for several labels: two rows side by side with different labels lie on a border
    or are noise, and the frequent side gives way.

    Parameters
    ----------
    threshold : float or "auto"
        Two rows whose label distance is more than this count as different; ``"auto"`` chooses
        it by the data's imbalance, see Notes.
    mutual : bool
        Whether the two rows must each be the other's nearest neighbour, as in Tomek's links.
    clean : bool
        Whether rows with rare labels only may go as well: cleaning after oversampling.
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
    threshold_ : float
        The threshold that was used.

    See Also
    --------
    MLeNN : Asks several neighbours.

    Notes
    -----
    A row that has a majority label (IRLbl <= MeanIR) goes when the labels in which it differs
    from its nearest neighbour, divided by the labels active in either, are more than the
    threshold; two rows without labels do not differ. All rows are marked first, then removed.
    The paper [1]_ speaks of Tomek links, which are mutual; its author's program asks the
    nearest neighbour only, and so do we unless `mutual` is set. Nominal columns differ by 0 or 1;
    distances between rows with missing values are partial, as in `MLSMOTE`.

    ``threshold="auto"`` is 0.5 where SCUMBLE > 0.3; else 0.5, 0.3 or 0.15 as
    :math:`1 / \sqrt{\mathrm{MeanIR}}` is above 0.5, above 0.3, or less. (The R package
    mldr.resampling removes one row at most.)

    References
    ----------
    .. [1] Pereira, R. M., Costa, Y. M. G., & Silla, C. N. (2020). MLTL: a multi-label approach
       for the Tomek Link undersampling algorithm. *Neurocomputing*, 383.

    Examples
    --------
    MeanIR is (4/3 + 1 + 4) / 3 = 2.11 and 1 / sqrt(2.11) = 0.69, so the threshold is 0.5. The
    rows at 2 and 2.1 differ in all their labels and go. So does the row at 8, whose nearest has
    the rare label 2; that row has rare labels only and stays.

    >>> import numpy as np
    >>> from scumble.resample import MLTL
    >>> X = np.array([[0.0], [0.5], [2.0], [2.1], [3.0], [3.2], [8.0], [8.1]])
    >>> Y = np.eye(3, dtype=int)[[0, 0, 0, 1, 1, 1, 1, 2]]
    >>> X_new, Y_new = MLTL().fit_resample(X, Y)
    >>> X_new.ravel()
    array([0. , 0.5, 3. , 3.2, 8.1])
    """

    domains = declare(threshold=Either(Real(0, 1), Choice("auto")), mutual=Bool(), clean=Bool())

    def __init__(
        self,
        *,
        threshold: float | Literal["auto"] = "auto",
        mutual: bool = False,
        clean: bool = False,
        scale: bool = True,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.threshold = threshold
        self.mutual = mutual
        self.clean = clean
        self.scale = scale
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _resample_features(self, features: Features, Y: sparse.csr_array) -> Resampled:
        self.threshold_ = (
            automatic_threshold(Y) if self.threshold == "auto" else float(self.threshold)
        )
        candidates = np.arange(Y.shape[0]) if self.clean else _rows_with_majority_label(Y)
        near = self._nearest_row(features, candidates)
        return _without_different(Y, candidates, near, self.threshold_, 1, union=True)

    def _nearest_row(self, features: Features, candidates: Array) -> Array:
        """Find the nearest row of each candidate; its own number where the link is not mutual."""
        space = features.space(scale=self.scale)
        if not self.mutual:
            return nearest(space, 1, rows=candidates, n_jobs=self.n_jobs).rows
        near = nearest(space, 1, n_jobs=self.n_jobs).rows
        if near.shape[1]:
            rows = np.arange(len(near))
            near[:, 0] = np.where(near[near[:, 0], 0] == rows, near[:, 0], rows)
        return near[candidates]


def automatic_threshold(Y: sparse.csr_array) -> float:
    """Choose the threshold of `MLTL` by concurrence and imbalance."""
    if scumble(Y) > 0.3:
        return 0.5
    evenness = 1 / math.sqrt(mean_ir(Y))
    if evenness > 0.5:
        return 0.5
    return 0.3 if evenness > 0.3 else 0.15


def _rows_with_majority_label(Y: sparse.csr_array) -> Array:
    ratios = irlbl(Y)
    is_majority = ~np.isnan(ratios) & ~minority_from_ratios(ratios)
    return np.flatnonzero(has_any(Y, is_majority))


def _without_different(
    Y: sparse.csr_array,
    candidates: Array,
    near: Array,
    threshold: float,
    n_needed: float,
    *,
    union: bool,
) -> Resampled:
    """Remove the candidates that differ from at least so many of their neighbours."""
    n_far = np.zeros(len(candidates), np.int64)
    kernels.count_far(Y.indptr, Y.indices, candidates, near, float(threshold), bool(union), n_far)
    keep = np.ones(Y.shape[0], bool)
    keep[candidates[n_far >= n_needed]] = False
    rows = np.flatnonzero(keep)
    return Resampled(rows, Y[rows])


def has_any(Y: sparse.csr_array, is_wanted: Array) -> Array:
    """Tell which rows have at least one of some labels."""
    upto = np.concatenate([[0], np.cumsum(is_wanted[Y.indices])])
    return upto[Y.indptr[1:]] > upto[Y.indptr[:-1]]
