"""Difficult labels: rare ones that live in the shadow of frequent ones."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.table_repr import RecordList, TableReprMixin
from scumble._core.validation import check_count, check_named_labels
from scumble.measures.concurrence import concurrence
from scumble.measures.imbalance import minority_from_ratios
from scumble.measures.shape import joint_counts

#: How often a label occurs, the numbers of labels it meets, and how often each.
LabelCooccurrences = tuple[int, Array, Array]


@dataclass(frozen=True, slots=True)
class CooccurringLabel:
    """A majority label that a difficult label meets.

    Attributes
    ----------
    label : int
        Its number.
    name : str
        Its name.
    joint_count : int
        How many instances have both labels.
    irlbl, scumble : float
        Its imbalance ratio and SCUMBLELbl.

    Examples
    --------
    >>> from scumble.measures import difficult_labels
    >>> partner = difficult_labels([[1, 0], [1, 0], [1, 1]])[0].partners[0]
    >>> partner.label, partner.joint_count
    (0, 1)
    """

    label: int
    name: str
    joint_count: int
    irlbl: float
    scumble: float

    def __str__(self) -> str:
        return f"{self.name} ({self.joint_count:,})"


@dataclass(frozen=True, slots=True, repr=False)
class DifficultLabel(TableReprMixin):
    """A minority label and the majority labels that mask it.

    Attributes
    ----------
    label : int
        Its number.
    name : str
        Its name.
    count : int
        How many instances have it.
    irlbl, scumble : float
        Its imbalance ratio and SCUMBLELbl.
    partners : tuple of Partner
        The majority labels it meets, most frequent company first.

    Examples
    --------
    >>> from scumble.measures import difficult_labels
    >>> label = difficult_labels([[1, 0], [1, 0], [1, 1]])[0]
    >>> label.label, label.irlbl, round(label.scumble, 3)
    (1, 3.0, 0.134)
    """

    label: int
    name: str
    count: int
    irlbl: float
    scumble: float
    partners: tuple[CooccurringLabel, ...]


def difficult_labels(Y: Any, *, n_labels: int | None = None) -> RecordList[DifficultLabel]:
    """Rank the minority labels by SCUMBLELbl and tell which majority labels they meet.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    n_labels : int, optional
        How many to return at the most. By default as mldr's concurrence report: all of up to
        three minority labels, three of up to thirty, else a tenth of them.

    Returns
    -------
    list of DifficultLabel
        Highest SCUMBLELbl first, then the rarer, then by position.

    Notes
    -----
    Minority labels have IRLbl > MeanIR, all others are majority labels. A minority label that
    never meets a majority label is listed with no partners.

    Examples
    --------
    >>> from scumble.measures import difficult_labels
    >>> [hardest] = difficult_labels([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
    >>> hardest.label, round(hardest.scumble, 3), hardest.partners[0].label
    (2, 0.2, 0)
    """
    matrix, names = check_named_labels(Y, caller="difficult_labels")
    found = concurrence(matrix)
    names = names or tuple(f"y{at}" for at in range(matrix.shape[1]))
    return rank_difficult_labels(
        cooccurrence_counter(matrix), found.irlbl, found.by_label, names, n_labels
    )


def cooccurrence_counter(Y: sparse.csr_array) -> Callable[[Array], Iterator[LabelCooccurrences]]:
    """Let labels tell which other ones they meet."""

    def meetings(chosen: Array) -> Iterator[LabelCooccurrences]:
        joint = joint_counts(Y, chosen)
        for row, label in enumerate(chosen):
            part = slice(joint.indptr[row], joint.indptr[row + 1])
            yield int(joint[row, label]), joint.indices[part], joint.data[part]

    return meetings


def rank_difficult_labels(
    meetings: Callable[[Array], Iterable[LabelCooccurrences]],
    ratios: Array,
    scores: Array,
    names: Sequence[str],
    n_labels: int | None = None,
) -> RecordList[DifficultLabel]:
    """Rank the minority labels; ``meetings`` tells of some of them what labels each meets."""
    if n_labels is not None:
        check_count(n_labels, name="n_labels", caller="difficult_labels", minimum=0)
    is_minority = minority_from_ratios(ratios)
    is_majority = ~is_minority & ~np.isnan(ratios)
    ranked = sort_by_difficulty(np.flatnonzero(is_minority), ratios, scores)
    chosen = ranked[: _report_size(len(ranked)) if n_labels is None else n_labels]

    def partners(met: Array, times: Array) -> tuple[CooccurringLabel, ...]:
        met, times = met[is_majority[met]], times[is_majority[met]]
        order = np.lexsort((met, -times))
        return tuple(
            CooccurringLabel(k, names[k], n, float(ratios[k]), float(scores[k]))
            for k, n in zip(met[order].tolist(), times[order].tolist(), strict=True)
        )

    found = (
        DifficultLabel(
            at, names[at], count, float(ratios[at]), float(scores[at]), partners(met, times)
        )
        for at, (count, met, times) in zip(chosen.tolist(), meetings(chosen), strict=True)
    )
    columns = ("name", "count", "irlbl", "scumble", "partners")
    return RecordList(found, "difficult labels", columns)


def sort_by_difficulty(labels: Array, ratios: Array, scores: Array) -> Array:
    """Sort labels by decreasing SCUMBLELbl, then the rarer first, then by position."""
    return labels[np.lexsort((labels, -ratios[labels], -scores[labels]))]


def _report_size(n_minority: int) -> int:
    """How many minority labels mldr's report shows."""
    if n_minority <= 3:
        return n_minority
    return 3 if n_minority <= 30 else math.ceil(n_minority / 10)
