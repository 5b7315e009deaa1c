"""MLTL: remove rows of frequent labels whose nearest neighbour has other labels."""

import math
from typing import Any, Literal

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Bool, Choice, Either, Real
from scumble._validation.features import Features
from scumble.measures.concurrence import scumble
from scumble.measures.imbalance import irlbl, mean_ir, minority_from_ratios
from scumble.resample.base import BaseDistanceResampler, ResampleResult
from scumble.resample.mlenn import remove_disagreeing_rows


class MLTL(BaseDistanceResampler, display_group="Remove rows"):
    r"""Remove rows with a frequent label whose nearest neighbour has clearly different labels.

    These are Tomek links for several labels: two neighbouring rows with different labels lie on a
    class border or are noise, and the row with the frequent label is removed.

    Parameters
    ----------
    threshold : float or "auto"
        Two rows count as different if their label distance is more than this; ``"auto"`` chooses
        the threshold by the imbalance of the data, see Notes.
    mutual : bool
        Whether each of the two rows must be the nearest neighbour of the other, as in Tomek's
        links.
    clean : bool
        Whether rows with rare labels only may be removed too, for cleaning after oversampling.
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
    threshold_ : float
        The threshold that was used.

    See Also
    --------
    MLeNN : Compares a row with several neighbours.

    Notes
    -----
    A row that has a majority label (IRLbl <= MeanIR) is removed if the number of labels in which
    it differs from its nearest neighbour, divided by the number of labels that either has, is
    more than the threshold; two rows without labels do not differ. All rows are marked first,
    then removed. The paper [1]_ describes Tomek links, which are mutual; its author's program
    looks at the nearest neighbour only, as this class does unless `mutual` is set. The distance
    of two nominal values is 0 or 1; distances between rows with missing values are partial, as in
    `MLSMOTE`.

    ``threshold="auto"`` is 0.5 if SCUMBLE > 0.3; otherwise it is 0.5 if
    :math:`1 / \sqrt{\mathrm{MeanIR}}` is above 0.5, 0.3 if it is above 0.3, and else 0.15. (The
    R package mldr.resampling removes at most one row.)

    References
    ----------
    .. [1] Pereira, R. M., Costa, Y. M. G., & Silla, C. N. (2020). MLTL: a multi-label approach
       for the Tomek Link undersampling algorithm. *Neurocomputing*, 383.

    Examples
    --------
    MeanIR is (4/3 + 1 + 4) / 3 = 2.11 and 1 / sqrt(2.11) = 0.69, so the threshold is 0.5. The
    rows at 2 and 2.1 differ in all their labels and are removed. So is the row at 8, whose
    nearest row has the rare label 2; that row has rare labels only and is kept.

    >>> import numpy as np
    >>> from scumble.resample import MLTL
    >>> X = np.array([[0.0], [0.5], [2.0], [2.1], [3.0], [3.2], [8.0], [8.1]])
    >>> Y = np.eye(3, dtype=int)[[0, 0, 0, 1, 1, 1, 1, 2]]
    >>> X_new, Y_new = MLTL().fit_resample(X, Y)
    >>> X_new.ravel()
    array([0. , 0.5, 3. , 3.2, 8.1])
    """

    _parameter_constraints = {
        **BaseDistanceResampler._parameter_constraints,
        "threshold": Either(Real(minimum=0, maximum=1), Choice("auto")),
        "mutual": Bool(),
        "clean": Bool(),
    }

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

    def _fit_resample(self, features: Features, Y: sparse.csr_array) -> ResampleResult:
        """Return the rows that remain; set ``threshold_``.

        The rows with a majority label (with ``clean``, all rows) are removed if the labels of their
        nearest neighbour are clearly different.
        """
        if self.threshold == "auto":
            self.threshold_ = automatic_threshold(Y)
        else:
            self.threshold_ = float(self.threshold)
        candidates = np.arange(Y.shape[0]) if self.clean else _rows_with_majority_label(Y)
        if self.mutual:
            nearest = self._mutual_neighbours(features)[candidates]
        else:
            nearest = self._find_neighbours(features, n_neighbors=1, rows=candidates)
        return remove_disagreeing_rows(
            Y, candidates, nearest, threshold=self.threshold_, union=True
        )

    def _mutual_neighbours(self, features: Features) -> Array:
        """Return the nearest row of each row, or the row itself if it is not nearest to that row.

        The shape is (n_rows, 1), or (n_rows, 0) if a single row has no neighbour.
        """
        nearest = self._find_neighbours(features, n_neighbors=1)
        if nearest.shape[1] == 0:  # a single row has no neighbour
            return nearest
        rows = np.arange(len(nearest))
        neighbour = nearest[:, 0]
        is_mutual = neighbour[neighbour] == rows
        return np.where(is_mutual, neighbour, rows)[:, None]


def automatic_threshold(Y: sparse.csr_array) -> float:
    """Return the ``threshold`` of `MLTL` for ``"auto"``: 0.5, 0.3 or 0.15.

    It is the larger, the higher SCUMBLE and the lower MeanIR of the labels are.
    """
    evenness = 1 / math.sqrt(mean_ir(Y))
    if scumble(Y) > 0.3 or evenness > 0.5:
        return 0.5
    return 0.3 if evenness > 0.3 else 0.15


def _rows_with_majority_label(Y: sparse.csr_array) -> Array:
    """Return the indices of the rows that have a label with IRLbl <= MeanIR."""
    ratios = irlbl(Y)
    is_majority = ~np.isnan(ratios) & ~minority_from_ratios(ratios)
    return np.flatnonzero(Y @ is_majority)
