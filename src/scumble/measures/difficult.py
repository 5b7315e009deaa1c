"""Difficult labels: rare ones that live in the shadow of frequent ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.shown import Records, Shown
from scumble._core.validation import check_count, check_named_labels
from scumble.measures.concurrence import concurrence
from scumble.measures.imbalance import minority_from_ratios
from scumble.measures.shape import joint_counts


@dataclass(frozen=True, slots=True)
class Partner:
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
class DifficultLabel(Shown):
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
    partners: tuple[Partner, ...]


def difficult_labels(Y: Any, *, n_labels: int | None = None) -> Records[DifficultLabel]:
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
    if n_labels is not None:
        check_count(n_labels, name="n_labels", caller="difficult_labels", minimum=0)
    result = concurrence(matrix)
    return rank_difficult(matrix, result.irlbl, result.by_label, names, n_labels=n_labels)


def rank_difficult(
    Y: sparse.csr_array,
    ratios: Array,
    scores: Array,
    names: Sequence[str] | None,
    *,
    n_labels: int | None = None,
) -> Records[DifficultLabel]:
    """Do what `difficult_labels` does, from measures already at hand."""
    minority = np.flatnonzero(minority_from_ratios(ratios))
    ranked = minority[np.lexsort((minority, -ratios[minority], -scores[minority]))]
    chosen = ranked[: _report_size(len(minority)) if n_labels is None else n_labels]
    is_majority = ~minority_from_ratios(ratios) & ~np.isnan(ratios)
    joint = joint_counts(Y, chosen)

    def name_of(label: int) -> str:
        return names[label] if names is not None else f"y{label}"

    def partners_of(row: int) -> tuple[Partner, ...]:
        met = joint.indices[joint.indptr[row] : joint.indptr[row + 1]]
        times = joint.data[joint.indptr[row] : joint.indptr[row + 1]]
        met, times = met[is_majority[met]], times[is_majority[met]]
        order = np.lexsort((met, -times))
        return tuple(
            Partner(int(k), name_of(int(k)), int(n), float(ratios[k]), float(scores[k]))
            for k, n in zip(met[order], times[order], strict=True)
        )

    found = (
        DifficultLabel(
            int(label),
            name_of(int(label)),
            int(joint[row, label]),
            float(ratios[label]),
            float(scores[label]),
            partners_of(row),
        )
        for row, label in enumerate(chosen)
    )
    return listed(found)


def listed(labels: Iterable[DifficultLabel]) -> Records[DifficultLabel]:
    """Make a list that prints as a table."""
    columns = ("name", "count", "irlbl", "scumble", "partners")
    return Records(labels, "difficult labels", columns)


def _report_size(n_minority: int) -> int:
    """How many minority labels mldr's report shows."""
    if n_minority <= 3:
        return n_minority
    return 3 if n_minority <= 30 else math.ceil(n_minority / 10)
