"""ML-ROS and ML-RUS: clone rows with rare labels, delete rows with frequent labels only."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Real, default
from scumble.measures.imbalance import mean_of_ratios, ratios_from_counts
from scumble.measures.threaded_kernels import count_labels
from scumble.resample.base import BaseResampler, ResampleResult, n_rows_from_percent
from scumble.resample.containers import take_labels
from scumble.resample.kernels import bags as kernels


@dataclass(kw_only=True, eq=False, repr=False)
class MLROS(BaseResampler, display_group="Add rows"):
    r"""Clone random rows of rare labels until the data has grown by a percentage.

    The rare labels take turns. At each turn a random row that has the label is cloned, with all
    its labels; a label leaves the round once it is no longer rarer than the average was.

    Parameters
    ----------
    percent : float
        How many rows to add, in percent of the rows there are. Fewer are added where all rare
        labels have reached the average before.
    random_state : int, Generator, RandomState or None
        Where the draws come from; the same number gives the same rows.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input row each output row comes from: all rows in order, then the clones.
    n_added_, n_removed_ : int
        Clones; 0.

    See Also
    --------
    MLRUS : Delete rows without rare labels instead.
    LPROS : Clone rows of rare labelsets.

    Notes
    -----
    A label is rare where IRLbl > MeanIR; its bag holds the *original* rows that have it. In
    label order, one random row of each open bag is cloned. Before each clone the label's IRLbl
    is computed from the counts of the moment (clones included), and the bag is closed for good
    once IRLbl is at most the MeanIR of the input. It ends at exactly
    :math:`T = \lfloor n P / 100 \rfloor` clones, or with no bag open.

    The pseudo-code of the paper [1]_ checks the number of clones once a round only and so may
    exceed it; we stop inside the round. (The R package mldr.resampling never closes a bag, and
    with a label of one row clones arbitrary rows.)

    References
    ----------
    .. [1] Charte, F., Rivera, A. J., del Jesus, M. J., & Herrera, F. (2015). Addressing
       imbalance in multilabel classification: measures and random resampling algorithms.
       *Neurocomputing*, 163.

    Examples
    --------
    The ratios are 1, 1.5 and 6, their mean is 2.83: the last label is rare. Cloning its one row
    raises the first label to 7 and this one to 2, ratio 3.5; a second clone gives 8/3 = 2.67,
    which closes the bag before the third clone that T = floor(6 * 0.5) = 3 would allow.

    >>> import numpy as np
    >>> from scumble.resample import MLROS
    >>> X = np.arange(6).reshape(-1, 1)
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 1]])
    >>> X_new, Y_new = MLROS(percent=50, random_state=0).fit_resample(X, Y)
    >>> X_new.ravel()
    array([0, 1, 2, 3, 4, 5, 5, 5])
    """

    percent: float = default(25, Real(0))
    random_state: Any = None

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        n_rows = Y.shape[0]
        counts = count_labels(Y)
        ratios = ratios_from_counts(counts)
        mean_ir = mean_of_ratios(ratios)
        minority = np.flatnonzero(ratios > mean_ir)
        wanted = n_rows_from_percent(self.percent, n_rows) if len(minority) else 0
        bags = [minority, *rows_by_label(Y, minority)]
        drawn = self._generator().random(wanted)
        clones = kernels.clone_in_turns(Y.indptr, Y.indices, bags, counts, mean_ir, drawn)
        rows = np.concatenate([np.arange(n_rows), clones])
        return ResampleResult(rows, take_labels(Y, rows))


@dataclass(kw_only=True, eq=False, repr=False)
class MLRUS(BaseResampler, display_group="Remove rows"):
    r"""Delete random rows of frequent labels until the data has shrunk by a percentage.

    The frequent labels take turns. At each turn a random row that has the label is deleted; rows
    with a rare label are never touched. A label leaves the round once it has become as rare as
    the average was.

    Parameters
    ----------
    percent : float
        How many rows to remove, in percent of the rows there are. Fewer are removed where no
        row is left that may go.
    random_state : int, Generator, RandomState or None
        Where the draws come from; the same number gives the same rows.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input rows that stay, in order.
    n_added_, n_removed_ : int
        0; rows deleted.

    See Also
    --------
    MLROS : Clone rows with rare labels instead.
    LPRUS : Delete rows of frequent labelsets.

    Notes
    -----
    A label is frequent where IRLbl <= MeanIR, else rare. Rows with a rare label are protected,
    and rows without labels are never deleted. In label order, one random unprotected row of
    each open frequent label is deleted, without replacement. Before each deletion the label's
    IRLbl is computed from the counts of the moment; the label is closed for good once it is at
    least the MeanIR of the input, or no unprotected row with the label is left. It ends at
    exactly :math:`T = \lfloor n P / 100 \rfloor` deletions, or with no label open.

    The pseudo-code of the paper [1]_ checks the number of deletions once a round only; we stop
    inside the round. (The R package mldr.resampling draws once, with replacement, and so deletes
    fewer rows.)

    References
    ----------
    .. [1] Charte, F., Rivera, A. J., del Jesus, M. J., & Herrera, F. (2015). Addressing
       imbalance in multilabel classification: measures and random resampling algorithms.
       *Neurocomputing*, 163.

    Examples
    --------
    Label 1 is rare, so the last row is protected. Label 0 has ratio 1 and MeanIR is 3: of
    T = floor(6 * 0.5) = 3 deletions all three are made, which leaves it ratio 1.

    >>> import numpy as np
    >>> from scumble.resample import MLRUS
    >>> X = np.arange(6).reshape(-1, 1)
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [1, 0], [0, 1]])
    >>> X_new, Y_new = MLRUS(percent=50, random_state=0).fit_resample(X, Y)
    >>> X_new.ravel()
    array([2, 4, 5])
    """

    percent: float = default(25, Real(0, 100))
    random_state: Any = None

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        n_rows = Y.shape[0]
        counts = count_labels(Y)
        ratios = ratios_from_counts(counts)
        mean_ir = mean_of_ratios(ratios)
        is_rare = ratios > mean_ir
        labels = np.flatnonzero(~is_rare & (counts > 0))
        wanted = n_rows_from_percent(self.percent, n_rows) if len(labels) else 0
        listed = np.empty(Y.nnz, np.int32 if n_rows < 2**31 else np.int64)
        starts = kernels.list_unprotected(Y.indptr, Y.indices, is_rare, counts, listed)
        keep = np.ones(n_rows, bool)
        lists = (labels, starts, np.diff(starts), counts, np.bincount(counts, minlength=1))
        state = np.array([0, wanted, counts.max(initial=0), len(labels)])
        rng = self._generator()
        while state[1] > 0 and state[3] > 0:
            # Some draws hit a row that is gone already, so a few more are taken than needed.
            drawn = rng.random(int(state[1]) * 5 // 4 + 16)
            kernels.delete_in_turns(Y.indptr, Y.indices, listed, lists, mean_ir, state, drawn, keep)
        rows = np.flatnonzero(keep)
        return ResampleResult(rows, take_labels(Y, rows))


def rows_by_label(Y: sparse.csr_array, labels: Array) -> tuple[Array, Array]:
    """List the rows that have each of some labels."""
    number = np.full(Y.shape[1], -1, np.int64)
    number[labels] = np.arange(len(labels))
    starts = np.concatenate([[0], np.cumsum(count_labels(Y)[labels])])
    rows = np.empty(starts[-1], np.int64)
    kernels.list_rows(Y.indptr, Y.indices, number, starts[:-1].copy(), rows)
    return starts, rows
