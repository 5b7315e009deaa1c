"""REMEDIAL: split instances so that rare and frequent labels no longer share them."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import SERIAL_BELOW, run_in_threads
from scumble._core.parameters import Choice, Int
from scumble.measures.concurrence import concurrence, is_above_mean
from scumble.measures.imbalance import Unseen, minority_from_ratios
from scumble.resample.base import BaseResampler, ResampleResult
from scumble.resample.kernels import remedial as kernels

#: Blocks of rows that threads take; enough that the last ones to finish cost little time.
N_BLOCKS = 64


@dataclass(frozen=True, slots=True)
class RemedialPass:
    """Counts of one pass of REMEDIAL: each instance with SCUMBLE above the mean is split once.

    A *one-sided* instance has only majority labels or only minority labels.
    """

    scumble: float  # mean of SCUMBLE of the data before the pass, which is the threshold
    n_above_mean: int  # instances above the threshold
    n_one_sided: int  # one-sided instances above the threshold
    n_added: int  # clones appended


class REMEDIAL(BaseResampler, display_group="Decouple"):
    r"""Split the instances that have both rare and frequent labels.

    If a rare label occurs only together with frequent ones, a classifier learns the frequent
    ones. REMEDIAL splits each instance with above-average concurrence: the original keeps its
    rare labels, a clone with the same features gets the frequent ones. No label assignment is
    added or lost.

    Parameters
    ----------
    passes : int
        Number of passes; each uses the measures of the result of the pass before.
    one_sided : {"clone", "keep"}
        How to treat an instance above the mean that has only majority (or only minority) labels.
        ``"clone"``, the published algorithm, clones it too, and one of the two copies has no
        label. ``"keep"`` leaves such instances unchanged.
    unseen : {"nan", "zero"}
        How labels that never occur count in MeanIR: not at all, or with ratio 0, as in the R
        package mldr. With zeros MeanIR is lower and more labels may be minority labels: the same
        instances are split, but their labels may be divided differently.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        For every row of the result, the input row that it comes from.
    n_added_, n_removed_ : int
        Number of rows appended; number of rows removed (always 0).
    n_one_sided_ : int
        Number of one-sided instances above the mean, over all passes.
    passes_ : tuple of RemedialPass
        For each pass: ``scumble`` (the threshold), ``n_above_mean``, ``n_one_sided`` and
        ``n_added``.

    See Also
    --------
    scumble.measures.scumble_by_instance : The concurrence of an instance.
    scumble.measures.difficult_labels : The labels that this method is meant for.

    Notes
    -----
    With :math:`s_i` the SCUMBLE of an instance and :math:`\bar{s}` their mean, all instances
    with :math:`s_i > \bar{s}` are split [1]_. Minority labels have IRLbl > MeanIR. All numbers
    are those of the input of the pass. Originals keep their positions and clones are appended in
    order, as in the pseudo-code of the paper; mldr returns the same rows in another order, and
    the result of ``unseen="zero"`` if some labels never occur. (Two of slashdot's 22 labels never
    do: with them MeanIR is 17.69 instead of 19.46, and no ratio lies between the two.)

    A classifier that learns one label at a time does not know which copy got which labels: for
    each label of a split row, one of the two copies has the label and the other has not. If the
    labels were divided between the copies at random, binary relevance would get, label by label,
    the same rows with the same targets in another order, and hence make the same predictions with
    every base learner that does not depend on the order of rows. (C4.5 trees do not, if no value
    is missing and weights are integers: they are then computed from counts.) Classifiers that
    learn several labels together use the difference, but most of those that were measured did not
    benefit: a label whose rows are all split has as many negative as positive copies, and most
    rows of minority labels are split (56 to 100 % on the paper's data sets). Decoupling lowers
    measures of the labels; before learning it mostly harms (see the study on the guide's page
    about decoupling).

    In most real data the majority of the instances above the mean are one-sided (776 of 845 in
    enron), so the published algorithm mostly adds copies without labels; ``n_one_sided_`` counts
    them. If no instance is above the mean, the data is returned unchanged.

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

    _parameter_constraints = {
        **BaseResampler._parameter_constraints,
        "passes": Int(minimum=1),
        "one_sided": Choice("clone", "keep"),
        "unseen": Choice("nan", "zero"),
    }

    def __init__(
        self,
        *,
        passes: int = 1,
        one_sided: Literal["clone", "keep"] = "clone",
        unseen: Unseen = "nan",
    ) -> None:
        self.passes = passes
        self.one_sided = one_sided
        self.unseen = unseen

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        """Return the rows and their clones after all passes; set ``passes_`` and ``n_one_sided_``.

        Clones are appended to the rows, and each pass decouples the result of the one before.
        """
        sources = np.arange(Y.shape[0])
        passes = []
        for _ in range(self.passes):
            decoupled = decouple_labels(Y, one_sided=self.one_sided, unseen=self.unseen)
            Y = decoupled.Y
            sources = np.concatenate([sources, sources[decoupled.cloned_rows]])
            passes.append(decoupled.counts)
        self.passes_ = tuple(passes)
        self.n_one_sided_ = sum(counts.n_one_sided for counts in passes)
        return ResampleResult(sources, Y)


class DecoupledLabels(NamedTuple):
    """The result of one pass of REMEDIAL on labels."""

    Y: sparse.csr_array  # labels of all rows, then of the clones
    cloned_rows: Array  # the row that each clone comes from
    counts: RemedialPass


def decouple_labels(
    Y: sparse.csr_array, *, one_sided: Literal["clone", "keep"], unseen: Unseen = "nan"
) -> DecoupledLabels:
    """Return the labels after one pass of REMEDIAL; the parameters are those of `REMEDIAL`."""
    measured = concurrence(Y)
    ratios = measured.irlbl
    # SCUMBLE depends on the labels an instance has; unseen labels only change MeanIR.
    is_minority = minority_from_ratios(np.nan_to_num(ratios) if unseen == "zero" else ratios)
    mean = measured.scumble
    is_split = is_above_mean(measured.by_instance, mean)
    del measured  # frees one float per row, which the result may need
    above = np.flatnonzero(is_split)
    n_majority, is_mixed = _count_majority_labels(Y, is_minority, above)
    n_one_sided = len(above) - int(np.count_nonzero(is_mixed))
    if one_sided == "clone":
        rows = above
        n_moved = n_majority
    else:
        rows, n_moved = above[is_mixed], n_majority[is_mixed]
        is_split[above[~is_mixed]] = False
    counts = RemedialPass(
        scumble=mean, n_above_mean=len(above), n_one_sided=n_one_sided, n_added=len(rows)
    )
    if len(rows):
        Y = _split_rows(Y, is_minority, is_split, rows=rows, n_moved=n_moved)
    return DecoupledLabels(Y, rows, counts)


def _count_majority_labels(
    Y: sparse.csr_array, is_minority: Array, rows: Array
) -> tuple[Array, Array]:
    """Return two arrays for the row indices ``rows``.

    They are the number of majority labels of each row, and whether it has minority labels too.
    """
    n_majority = np.empty(len(rows), Y.indptr.dtype)
    is_mixed = np.empty(len(rows), bool)
    borders = _block_borders(len(rows))

    def count_block(block: int) -> None:
        """Count the labels of a block of rows."""
        start, stop = borders[block : block + 2]
        kernels.count_majority_labels(
            Y.indptr, Y.indices, is_minority, rows, start, stop, n_majority, is_mixed
        )

    run_in_threads(count_block, range(len(borders) - 1))
    return n_majority, is_mixed


def _split_rows(
    Y: sparse.csr_array, is_minority: Array, is_split: Array, *, rows: Array, n_moved: Array
) -> sparse.csr_array:
    """Return ``Y`` with the minority labels of ``rows`` only, and clones with their other labels.

    ``rows`` are indices and ``is_split`` is the mask of the same rows; ``n_moved`` is the number of
    labels of each that move to its clone. Clones follow all rows.
    """
    n_rows = Y.shape[0] + len(rows)
    new_indptr = np.empty(n_rows + 1, Y.indptr.dtype)
    new_indptr[0] = 0
    new_indices = np.empty(Y.nnz, Y.indices.dtype)
    clone_indptr = new_indptr[Y.shape[0] :]

    # Each block writes to a range of ``new_indices`` that is computed beforehand: first the labels
    # that stay (``original_ends``), after all of them those that move to clones (``clone_ends``).
    borders = _block_borders(Y.shape[0])
    clone_borders = np.searchsorted(rows, borders)
    # Summed block by block: a cumulative sum would need another int64 per split row.
    moved = [n_moved[start:stop].sum(dtype=np.int64) for start, stop in pairwise(clone_borders)]
    moved_before = np.concatenate([[0], np.cumsum(moved, dtype=np.int64)])
    original_ends = Y.indptr[borders] - moved_before
    clone_ends = original_ends[-1] + moved_before
    is_majority = ~is_minority

    def write_block(block: int) -> None:
        """Write the labels of the rows of a block, and of their clones."""
        rows_of_block = slice(borders[block], borders[block + 1])
        clones_of_block = slice(clone_borders[block], clone_borders[block + 1])
        kernels.write_rows(
            Y.indptr[rows_of_block.start : rows_of_block.stop + 1],
            Y.indices,
            is_split[rows_of_block],
            is_kept=is_minority,
            rows=None,
            new_indptr=new_indptr[rows_of_block.start : rows_of_block.stop + 1],
            new_indices=new_indices[original_ends[block] : original_ends[block + 1]],
            n_before=original_ends[block],
        )
        kernels.write_rows(
            Y.indptr,
            Y.indices,
            is_split,
            is_kept=is_majority,
            rows=rows[clones_of_block],
            new_indptr=clone_indptr[clones_of_block.start : clones_of_block.stop + 1],
            new_indices=new_indices[clone_ends[block] : clone_ends[block + 1]],
            n_before=clone_ends[block],
        )

    run_in_threads(write_block, range(len(borders) - 1))
    present = np.ones(Y.nnz, bool)
    return sparse.csr_array((present, new_indices, new_indptr), shape=(n_rows, Y.shape[1]))


def _block_borders(n_rows: int) -> Array:
    """Return the first row of each block of rows, a unit of work, and then ``n_rows``."""
    n_blocks = 1 if n_rows < SERIAL_BELOW else N_BLOCKS
    return np.arange(n_blocks + 1) * n_rows // n_blocks
