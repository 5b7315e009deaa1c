"""ML-ROS and ML-RUS: clone rows with rare labels, delete rows with frequent labels only."""

import itertools
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Real
from scumble.measures.imbalance import mean_of_ratios, ratios_from_counts
from scumble.measures.threaded_kernels import count_labels
from scumble.resample.base import BaseResampler, ResampleResult, n_rows_from_percent
from scumble.resample.containers import take_labels
from scumble.resample.kernels import bags as kernels


class MLROS(BaseResampler, display_group="Add rows"):
    r"""Clone random rows of rare labels until the data has grown by a percentage.

    The rare labels take turns. At each turn a random row that has the label is cloned, with all
    its labels. A label takes no further turns once its imbalance ratio is at most the mean of
    the input.

    Parameters
    ----------
    percent : float
        Number of rows to add, as a percentage of the rows of the input. Fewer are added if all
        rare labels reach the mean before.
    random_state : int, Generator, RandomState or None
        Source of the random numbers; the same int gives the same rows.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        For every row of the result, the input row that it comes from: all rows in order, then
        the sources of the clones.
    n_added_, n_removed_ : int
        Number of clones; 0.

    See Also
    --------
    MLRUS : Delete rows without rare labels instead.
    LPROS : Clone rows of rare labelsets.

    Notes
    -----
    A label is rare if IRLbl > MeanIR; its bag holds the *original* rows that have it. In label
    order, one random row of each open bag is cloned. Before each clone the IRLbl of the label is
    computed from the current counts (clones included), and the bag is closed for good once it is
    at most the MeanIR of the input. The loop ends at exactly
    :math:`T = \lfloor n P / 100 \rfloor` clones, or when no bag is open.

    The pseudo-code of the paper [1]_ compares the number of clones with T once per round and may
    exceed it; here the loop stops within the round. (The R package mldr.resampling never closes
    a bag, and clones arbitrary rows for a label of one row.)

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

    _parameter_constraints = {
        **BaseResampler._parameter_constraints,
        "percent": Real(minimum=0),
    }

    def __init__(self, *, percent: float = 25, random_state: Any = None) -> None:
        self.percent = percent
        self.random_state = random_state

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        """Return all rows, then clones: enough, or until no rare label has IRLbl above MeanIR."""
        n_rows = Y.shape[0]
        counts = count_labels(Y)
        ratios = ratios_from_counts(counts)
        mean_ir = mean_of_ratios(ratios)
        minority = np.flatnonzero(ratios > mean_ir)
        n_clones = n_rows_from_percent(self.percent, n_rows) if len(minority) else 0
        label_rows = rows_by_label(Y, minority)
        uniforms = self._generator().random(n_clones)
        clones = kernels.clone_in_turns(
            Y.indptr,
            Y.indices,
            minority,
            label_rows.starts,
            label_rows.rows,
            counts,
            mean_ir,
            uniforms,
        )
        rows = np.concatenate([np.arange(n_rows), clones])
        return ResampleResult(rows, take_labels(Y, rows))


class MLRUS(BaseResampler, display_group="Remove rows"):
    r"""Delete random rows of frequent labels until the data has shrunk by a percentage.

    The frequent labels take turns. At each turn a random row that has the label is deleted; rows
    with a rare label are never deleted. A label takes no further turns once its imbalance ratio
    is at least the mean of the input.

    Parameters
    ----------
    percent : float
        Number of rows to remove, as a percentage of the rows of the input. Fewer are removed if
        no more rows may be deleted.
    random_state : int, Generator, RandomState or None
        Source of the random numbers; the same int gives the same rows.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input rows that remain, in order.
    n_added_, n_removed_ : int
        0; number of rows deleted.

    See Also
    --------
    MLROS : Clone rows with rare labels instead.
    LPRUS : Delete rows of frequent labelsets.

    Notes
    -----
    A label is frequent if IRLbl <= MeanIR, else rare. Rows with a rare label are protected, and
    rows without labels are never deleted. In label order, one random unprotected row of each
    open frequent label is deleted, without replacement. Before each deletion the IRLbl of the
    label is computed from the current counts; the label is closed for good once this is at least
    the MeanIR of the input, or no unprotected row has the label. The loop ends at exactly
    :math:`T = \lfloor n P / 100 \rfloor` deletions, or when no label is open.

    The pseudo-code of the paper [1]_ compares the number of deletions with T once per round; here
    the loop stops within the round. (The R package mldr.resampling draws once, with replacement,
    and so deletes fewer rows.)

    References
    ----------
    .. [1] Charte, F., Rivera, A. J., del Jesus, M. J., & Herrera, F. (2015). Addressing
       imbalance in multilabel classification: measures and random resampling algorithms.
       *Neurocomputing*, 163.

    Examples
    --------
    Label 1 is rare, so the last row is protected. Label 0 has ratio 1 and MeanIR is 3: all
    T = floor(6 * 0.5) = 3 deletions are made, after which its ratio is 1.

    >>> import numpy as np
    >>> from scumble.resample import MLRUS
    >>> X = np.arange(6).reshape(-1, 1)
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [1, 0], [0, 1]])
    >>> X_new, Y_new = MLRUS(percent=50, random_state=0).fit_resample(X, Y)
    >>> X_new.ravel()
    array([2, 4, 5])
    """

    _parameter_constraints = {
        **BaseResampler._parameter_constraints,
        "percent": Real(minimum=0, maximum=100),
    }

    def __init__(self, *, percent: float = 25, random_state: Any = None) -> None:
        self.percent = percent
        self.random_state = random_state

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        """Return the rows that remain.

        Rows are deleted until there are enough, or until every frequent label has reached MeanIR.
        """
        n_rows = Y.shape[0]
        counts = count_labels(Y)
        ratios = ratios_from_counts(counts)
        mean_ir = mean_of_ratios(ratios)
        is_rare = ratios > mean_ir
        labels = np.flatnonzero(~is_rare & (counts > 0))
        n_deletions = n_rows_from_percent(self.percent, n_rows) if len(labels) else 0
        candidates = np.empty(Y.nnz, np.int32 if n_rows < 2**31 else np.int64)
        starts = kernels.list_unprotected(Y.indptr, Y.indices, is_rare, counts, candidates)
        pools = _DeletionPools(
            labels=labels,
            candidates=candidates,
            starts=starts,
            sizes=np.diff(starts),
            counts=counts,
            n_labels_by_count=np.bincount(counts, minlength=1),
        )
        state = _DeletionState(
            turn=0,
            n_remaining=n_deletions,
            max_count=int(counts.max(initial=0)),
            n_open=len(labels),
        )
        is_kept = np.ones(n_rows, bool)
        rng = self._generator()
        while state.n_remaining > 0 and state.n_open > 0:
            # Some draws hit a row that is already deleted, so a few more are made than needed.
            uniforms = rng.random(state.n_remaining * 5 // 4 + 16)
            state = _DeletionState._make(
                kernels.delete_in_turns(
                    Y.indptr, Y.indices, candidates, pools, mean_ir, state, uniforms, is_kept
                )
            )
        rows = np.flatnonzero(is_kept)
        return ResampleResult(rows, take_labels(Y, rows))


class _DeletionPools(NamedTuple):
    """The rows that may be deleted for each frequent label; the kernel updates sizes and counts."""

    labels: Array  # the frequent labels, in order
    candidates: Array  # the rows without a rare label that have the label, label by label
    starts: Array  # by label: index of its first candidate
    sizes: Array  # by label: number of candidates left, -1 once the label takes no more turns
    counts: Array  # by label: number of rows that have it
    n_labels_by_count: Array  # by count: number of labels with it, to find the largest count fast


class _DeletionState(NamedTuple):
    """The progress of a deletion that may take several calls of the kernel."""

    turn: int  # index in ``labels`` of the label whose turn it is
    n_remaining: int  # deletions still to make
    max_count: int  # largest count of a label
    n_open: int  # labels that still take turns


class RowsByLabel(NamedTuple):
    """For some labels, the indices of the rows that have them."""

    starts: Array  # shape (n_labels + 1,): positions in ``rows``
    rows: Array  # row indices; those of label i are ``rows[starts[i] : starts[i + 1]]``

    def split(self) -> list[Array]:
        """Return an array of row indices for each label."""
        return [self.rows[start:stop] for start, stop in itertools.pairwise(self.starts)]


def rows_by_label(Y: sparse.csr_array, labels: Array) -> RowsByLabel:
    """Return the rows that have a label, for each of the label indices ``labels``."""
    position_of_label = np.full(Y.shape[1], -1, np.int64)
    position_of_label[labels] = np.arange(len(labels))
    starts = np.concatenate([[0], np.cumsum(count_labels(Y)[labels])])
    rows = np.empty(starts[-1], np.int64)
    kernels.list_rows(Y.indptr, Y.indices, position_of_label, starts[:-1].copy(), rows)
    return RowsByLabel(starts, rows)
