"""Difficult labels: rare labels whose instances have frequent labels as well."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import check_count
from scumble._core.table_repr import RecordList, TableReprMixin
from scumble._core.text import default_names
from scumble._validation.labels import check_named_labels
from scumble.measures.concurrence import concurrence
from scumble.measures.imbalance import minority_from_ratios
from scumble.measures.shape import joint_counts


class LabelCooccurrences(NamedTuple):
    """The labels that occur in the instances of a label."""

    n_instances: int  # number of instances that have the label
    labels: Array  # indices of the co-occurring labels
    joint_counts: Array  # for each of these, the number of instances that have both labels


@dataclass(frozen=True, slots=True)
class CooccurringLabel:
    """A majority label that occurs in the same instances as a difficult label.

    Attributes
    ----------
    label : int
        Index of the label.
    name : str
        Name of the label.
    joint_count : int
        Number of instances that have both labels.
    irlbl, scumble : float
        Imbalance ratio and SCUMBLELbl of the label.

    Examples
    --------
    >>> from scumble.measures import difficult_labels
    >>> frequent = difficult_labels([[1, 0], [1, 0], [1, 1]])[0].partners[0]
    >>> frequent.label, frequent.joint_count
    (0, 1)
    """

    label: int
    name: str
    joint_count: int
    irlbl: float
    scumble: float

    def __str__(self) -> str:
        """Return the name with the joint count."""
        return f"{self.name} ({self.joint_count:,})"


@dataclass(frozen=True, slots=True, repr=False)
class DifficultLabel(TableReprMixin):
    """A minority label and the majority labels that mask it.

    Attributes
    ----------
    label : int
        Index of the label.
    name : str
        Name of the label.
    count : int
        Number of instances that have the label.
    irlbl, scumble : float
        Imbalance ratio and SCUMBLELbl of the label.
    partners : tuple of CooccurringLabel
        The majority labels that co-occur with it, highest joint count first.

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
    """Rank the minority labels by SCUMBLELbl and list the majority labels they co-occur with.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    n_labels : int, optional
        Maximum number of labels to return. The default is that of the concurrence report of mldr:
        all of up to three minority labels, three of up to thirty, else a tenth of them.

    Returns
    -------
    list of DifficultLabel
        Highest SCUMBLELbl first; ties with the rarest label first, then by index.

    Notes
    -----
    Minority labels have IRLbl > MeanIR, all others are majority labels. A minority label that
    co-occurs with no majority label is listed without partners.

    Examples
    --------
    >>> from scumble.measures import difficult_labels
    >>> [hardest] = difficult_labels([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
    >>> hardest.label, round(hardest.scumble, 3), hardest.partners[0].label
    (2, 0.2, 0)
    """
    matrix, names = check_named_labels(Y, caller="difficult_labels")
    result = concurrence(matrix)
    return rank_difficult_labels(
        cooccurrence_counter(matrix),
        ratios=result.irlbl,
        scores=result.by_label,
        names=names or default_names("y", matrix.shape[1]),
        n_labels=n_labels,
    )


def cooccurrence_counter(Y: sparse.csr_array) -> Callable[[Array], Iterator[LabelCooccurrences]]:
    """Return a function that yields the `LabelCooccurrences` of the labels with given indices.

    The label itself is among its co-occurring labels.
    """

    def count_cooccurrences(labels: Array) -> Iterator[LabelCooccurrences]:
        """Yield the co-occurrences of each of the labels."""
        counts = joint_counts(Y, labels)
        for row, label in enumerate(labels):
            stored = slice(counts.indptr[row], counts.indptr[row + 1])
            yield LabelCooccurrences(
                n_instances=int(counts[row, label]),
                labels=counts.indices[stored],
                joint_counts=counts.data[stored],
            )

    return count_cooccurrences


def rank_difficult_labels(
    count_cooccurrences: Callable[[Array], Iterable[LabelCooccurrences]],
    ratios: Array,
    scores: Array,
    names: Sequence[str],
    n_labels: int | None = None,
) -> RecordList[DifficultLabel]:
    """Rank the minority labels by SCUMBLELbl, with their majority partners; see `difficult_labels`.

    ``count_cooccurrences`` takes indices of labels and yields the co-occurrences of each; only the
    labels in the result are counted. ``ratios``, ``scores`` and ``names`` hold the imbalance ratio,
    SCUMBLELbl and name of every label.
    """
    if n_labels is not None:
        check_count(n_labels, name="n_labels", caller="difficult_labels", minimum=0)
    is_minority = minority_from_ratios(ratios)
    is_majority = ~is_minority & ~np.isnan(ratios)
    ranked = sort_by_difficulty(np.flatnonzero(is_minority), ratios, scores)
    if n_labels is None:
        n_labels = _report_size(len(ranked))
    selected = ranked[:n_labels]

    def majority_partners(labels: Array, counts: Array) -> tuple[CooccurringLabel, ...]:
        """Return those of the co-occurring labels that are majority labels, by joint count."""
        is_partner = is_majority[labels]
        labels = labels[is_partner]
        counts = counts[is_partner]
        order = np.lexsort((labels, -counts))
        return tuple(
            CooccurringLabel(
                label=label,
                name=names[label],
                joint_count=joint_count,
                irlbl=float(ratios[label]),
                scumble=float(scores[label]),
            )
            for label, joint_count in zip(
                labels[order].tolist(), counts[order].tolist(), strict=True
            )
        )

    difficult = [
        DifficultLabel(
            label=label,
            name=names[label],
            count=cooccurrences.n_instances,
            irlbl=float(ratios[label]),
            scumble=float(scores[label]),
            partners=majority_partners(cooccurrences.labels, cooccurrences.joint_counts),
        )
        for label, cooccurrences in zip(
            selected.tolist(), count_cooccurrences(selected), strict=True
        )
    ]
    columns = ("name", "count", "irlbl", "scumble", "partners")
    return RecordList(difficult, "difficult labels", columns)


def sort_by_difficulty(labels: Array, ratios: Array, scores: Array) -> Array:
    """Return indices of labels by decreasing SCUMBLELbl; ties: the rarest first, then by index.

    ``ratios`` and ``scores`` hold the imbalance ratio and SCUMBLELbl of all labels.
    """
    return labels[np.lexsort((labels, -ratios[labels], -scores[labels]))]


def _report_size(n_minority: int) -> int:
    """Return how many of ``n_minority`` minority labels the report of mldr shows."""
    if n_minority <= 3:
        return n_minority
    return 3 if n_minority <= 30 else math.ceil(n_minority / 10)
