"""MLTL: remove rows of frequent labels whose nearest neighbour has other labels."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.features import Features
from scumble._core.neighbours import nearest_neighbours
from scumble._core.parameters import Bool, Choice, Either, Real, default
from scumble.measures.concurrence import scumble
from scumble.measures.imbalance import irlbl, mean_ir, minority_from_ratios
from scumble.resample.base import ResampleResult, _DistanceResampler
from scumble.resample.mlenn import remove_disagreeing_rows


@dataclass(kw_only=True, eq=False, repr=False)
class MLTL(_DistanceResampler, display_group="Remove rows"):
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

    threshold: float | Literal["auto"] = default("auto", Either(Real(0, 1), Choice("auto")))
    mutual: bool = default(False, Bool())
    clean: bool = default(False, Bool())
    scale: bool = True
    categorical_features: Any = None
    n_jobs: int | None = None

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        is_free = self.threshold == "auto"
        self.threshold_ = automatic_threshold(Y) if is_free else float(self.threshold)
        candidates = np.arange(Y.shape[0]) if self.clean else _rows_with_majority_label(Y)
        near = self._nearest_row(features, candidates)
        return remove_disagreeing_rows(Y, candidates, near, self.threshold_, union=True)

    def _nearest_row(self, features: Features, candidates: Array) -> Array:
        """Find the nearest row of each candidate; its own number where the link is not mutual."""
        space = features.space(scale=self.scale)
        if not self.mutual:
            return nearest_neighbours(space, 1, rows=candidates, n_jobs=self.n_jobs).rows
        near = nearest_neighbours(space, 1, n_jobs=self.n_jobs).rows
        if near.shape[1]:
            rows = np.arange(len(near))
            near[:, 0] = np.where(near[near[:, 0], 0] == rows, near[:, 0], rows)
        return near[candidates]


def automatic_threshold(Y: sparse.csr_array) -> float:
    """Choose the threshold of `MLTL` by concurrence and imbalance."""
    evenness = 1 / math.sqrt(mean_ir(Y))
    if scumble(Y) > 0.3 or evenness > 0.5:
        return 0.5
    return 0.3 if evenness > 0.3 else 0.15


def _rows_with_majority_label(Y: sparse.csr_array) -> Array:
    ratios = irlbl(Y)
    is_majority = ~np.isnan(ratios) & ~minority_from_ratios(ratios)
    return np.flatnonzero(Y @ is_majority)
