"""REMEDIAL: give rare and frequent labels instances of their own."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import SERIAL_BELOW, run_in_threads
from scumble._core.parameters import Choice, Int, default
from scumble.measures.concurrence import concurrence, is_above_mean
from scumble.measures.imbalance import Unseen, minority_from_ratios
from scumble.resample.base import BaseResampler, ResampleResult
from scumble.resample.kernels import remedial as kernels

PARTS = 64  # into which many rows are cut for the threads


@dataclass(frozen=True, slots=True)
class RemedialPass:
    """What one pass of REMEDIAL met."""

    scumble: float  # before the pass: the threshold
    n_above_mean: int  # instances above it
    n_one_sided: int  # those among them with only majority or only minority labels
    n_added: int  # clones appended


@dataclass(kw_only=True, eq=False, repr=False)
class REMEDIAL(BaseResampler, display_group="Decouple"):
    r"""Split the instances in which rare and frequent labels meet.

    A classifier that sees a rare label only in the company of frequent ones learns the frequent
    ones. REMEDIAL takes each instance with above-average concurrence apart: the original keeps
    its rare labels, a clone with the same features gets the frequent ones. No label is added or
    lost.

    Parameters
    ----------
    passes : int
        How often to repeat it, each time with the measures of the data so far.
    one_sided : {"clone", "keep"}
        What happens to an instance above the mean that has only majority (or only minority)
        labels. ``"clone"`` is the published algorithm: it is cloned all the same, and one of
        the two copies has no label at all. ``"keep"`` leaves such instances alone.
    unseen : {"nan", "zero"}
        How labels that never occur count in MeanIR: not at all, or as ratio 0, as in the R
        package mldr. With zeros MeanIR is lower and more labels may be minority labels, so the
        same instances are split, at another place.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input row each output row comes from.
    n_added_, n_removed_ : int
        Rows appended; rows removed (always 0).
    n_one_sided_ : int
        One-sided instances met, over all passes.
    passes_ : tuple of Pass
        What each pass met.

    See Also
    --------
    scumble.measures.scumble_by_instance : The concurrence of an instance.
    scumble.measures.difficult_labels : The labels this is meant for.

    Notes
    -----
    With :math:`s_i` the SCUMBLE of an instance and :math:`\bar{s}` their mean, all instances
    with :math:`s_i > \bar{s}` are split [1]_. Minority labels have IRLbl > MeanIR. All numbers
    are those of the input of the pass. Originals stay in place and clones are appended in
    order, as in the paper's pseudo-code; mldr returns the same rows in another order, and where
    labels never occur those of ``unseen="zero"``. (Two of slashdot's 22 labels never do: with
    them MeanIR is 17.69 instead of 19.46, and no ratio lies between the two.)

    A learner of one label at a time cannot see to which copy a label went: of the two copies of a
    split row one has the label and one has not, for each of its labels. If the labels were dealt
    to the two at random, binary relevance would get, label by label, the same rows with the same
    answers in another order, and so the same predictions from every base learner that does not
    mind the order of rows. (C4.5 trees do not where no value is missing and weights are whole:
    then they follow from counts.) Learners of several labels at once do see the difference, but
    where it was measured most of them did not profit: a label whose rows are all split has as many
    equal rows against it as for it, and most rows of minority labels are split (56 to 100 % on the
    paper's data sets). Decoupling lowers measures of the labels; before learning it mostly harms
    (the guide's page on decoupling has the study).

    On most real data the majority of the instances above the mean are one-sided (776 of 845 in
    enron), so the published algorithm mostly adds copies without labels: `n_one_sided_` tells.
    Where no instance lies above the mean the data comes back unchanged.

    References
    ----------
    .. [1] Charte, F., Rivera, A. J., del Jesus, M. J., & Herrera, F. (2019). Dealing with
       difficult minority labels in imbalanced multilabel data sets. *Neurocomputing*, 326-327.

    Examples
    --------
    Label 0 is everywhere and label 2 appears once: the third instance is split.

    >>> import numpy as np
    >>> from scumble.resample import REMEDIAL
    >>> X = np.array([[0], [1], [2], [3]])
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
    >>> X_new, Y_new = REMEDIAL().fit_resample(X, Y)
    >>> X_new.ravel()
    array([0, 1, 2, 3, 2])
    >>> Y_new
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 0, 1],
           [1, 1, 0],
           [1, 0, 0]])
    """

    passes: int = default(1, Int(1))
    one_sided: Literal["clone", "keep"] = default("clone", Choice("clone", "keep"))
    unseen: Unseen = default("nan", Choice("nan", "zero"))

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        sources = np.arange(Y.shape[0])
        history = []
        for _ in range(self.passes):
            Y, rows, met = decouple_labels(Y, one_sided=self.one_sided, unseen=self.unseen)
            sources = np.concatenate([sources, sources[rows]])
            history.append(met)
        self.passes_ = tuple(history)
        self.n_one_sided_ = sum(met.n_one_sided for met in history)
        return ResampleResult(sources, Y)


def decouple_labels(
    Y: sparse.csr_array, *, one_sided: Literal["clone", "keep"], unseen: Unseen = "nan"
) -> tuple[sparse.csr_array, Array, RemedialPass]:
    """Run one pass of REMEDIAL on the labels alone."""
    measured = concurrence(Y)
    ratios = measured.irlbl
    # Concurrence looks at the labels an instance has: only MeanIR knows of those never seen.
    is_minority = minority_from_ratios(np.nan_to_num(ratios) if unseen == "zero" else ratios)
    mean = measured.scumble
    is_split = is_above_mean(measured.by_instance, mean)
    del measured  # one number a row, whose memory the result can use
    above = np.flatnonzero(is_split)
    n_majority, mixed = _count_sides(Y, is_minority, above)
    n_one_sided = len(above) - int(np.count_nonzero(mixed))
    if one_sided == "clone":
        rows, n_moved = above, n_majority
    else:
        rows, n_moved = above[mixed], n_majority[mixed]
        is_split[above[~mixed]] = False
    met = RemedialPass(mean, len(above), n_one_sided, len(rows))
    if len(rows):
        Y = _split_rows(Y, is_minority, is_split, rows, n_moved)
    return Y, rows, met


def _count_sides(Y: sparse.csr_array, is_minority: Array, rows: Array) -> tuple[Array, Array]:
    """Count the majority labels of the rows, and tell which have minority ones too."""
    n_majority = np.empty(len(rows), Y.indptr.dtype)
    mixed = np.empty(len(rows), bool)

    def work(part: tuple[int, int]) -> None:
        kernels.count_majority_labels(
            Y.indptr, Y.indices, is_minority, rows, *part, n_majority, mixed
        )

    run_in_threads(work, list(pairwise(_borders(len(rows)).tolist())))
    return n_majority, mixed


def _split_rows(
    Y: sparse.csr_array, is_minority: Array, is_split: Array, rows: Array, n_moved: Array
) -> sparse.csr_array:
    """Leave the minority labels of ``rows`` in place and move the others to rows of their own."""
    n_rows = Y.shape[0] + len(rows)
    new_indptr = np.empty(n_rows + 1, Y.indptr.dtype)
    new_indptr[0] = 0
    new_indices = np.empty(Y.nnz, Y.indices.dtype)
    # What lies between two borders is written by one thread, to places known beforehand.
    borders = _borders(Y.shape[0])
    row_borders = np.searchsorted(rows, borders)
    sums = [n_moved[a:b].sum(dtype=np.int64) for a, b in pairwise(row_borders)]
    moved = np.concatenate([[0], np.cumsum(sums, dtype=np.int64)])
    kept = Y.indptr[borders] - moved

    labels, is_majority = (Y.indptr, Y.indices, is_split), ~is_minority
    clone_indptr = new_indptr[Y.shape[0] :]

    def write(at: int) -> None:
        ours = slice(at, at + 2)
        part = (*borders[ours], *kept[ours])
        kernels.write_rows(*labels, is_minority, None, part, new_indptr, new_indices)
        part = (*row_borders[ours], *(kept[-1] + moved[ours]))
        kernels.write_rows(*labels, is_majority, rows, part, clone_indptr, new_indices)

    run_in_threads(write, range(len(borders) - 1))
    present = np.ones(Y.nnz, bool)
    return sparse.csr_array((present, new_indices, new_indptr), shape=(n_rows, Y.shape[1]))


def _borders(n_rows: int) -> Array:
    """Tell where to cut rows for the threads."""
    n_parts = 1 if n_rows < SERIAL_BELOW else PARTS
    return np.arange(n_parts + 1) * n_rows // n_parts
