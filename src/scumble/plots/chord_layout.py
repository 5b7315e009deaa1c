"""Computes the positions of arcs and ribbons of chord diagrams, for every output format.

Every label is an arc of a circle; two labels with common instances, a *pair*, are joined by a
ribbon. The *joint count* of a pair is the number of its common instances. The *partners* of a label
are the labels that it has ribbons with.

Angles are in radians, clockwise from twelve o'clock: the point at angle ``a`` of the unit circle is
``(sin a, cos a)`` with the y axis pointing up. Labels are given by their indices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.parameters import check_count
from scumble._validation.labels import check_labels
from scumble._validation.selection import resolve_label_indices
from scumble.measures.difficult import sort_by_difficulty
from scumble.measures.shape import joint_counts
from scumble.measures.summary import Summary, characterize, to_json_value
from scumble.plots.base import spread_positions

#: If at most this many labels occur in the data, all are drawn; more names do not fit well.
MAX_LABELS_TO_DRAW_ALL = 30
#: Number of difficult labels that are drawn if not all labels are.
N_DIFFICULT_LABELS = 12
#: Number of majority labels co-occurring with them that are drawn if not all labels are.
N_PARTNERS = 12
#: Largest number of ribbons; more can neither be told apart nor be drawn quickly.
MAX_RIBBONS = 1000
#: Angle between two arcs.
GAP_ANGLE = math.radians(2)
#: Largest share of the circle that all gaps may take.
MAX_GAP_SHARE = 0.25
#: Width of the gaps between minority and majority labels, in multiples of the other gaps.
WIDE_GAP_FACTOR = 3
#: Smallest angle between two names. The font size is chosen to fit.
NAME_STEP = math.radians(2.8)
#: Largest angle between a name and the middle of its arc: beyond, their line is hard to follow.
MAX_NAME_SHIFT = math.radians(15)


@dataclass(frozen=True, slots=True)
class ChordArc:
    """One label on the circle.

    Attributes
    ----------
    label : int
        Index of the label.
    name : str
        Its name.
    count : int
        Number of instances that have the label; the length of the arc is proportional to it.
    n_company : int
        Number of these instances that have another label as well.
    n_drawn_company : int
        Number of these instances that have another of the drawn labels.
    start, end : float
        Angles of the arc.
    ribbons_end : float
        The part of the arc from `start` to this angle stands for the instances with another drawn
        label; all ribbons of the label begin in this part.
    company_end : float
        The part from `ribbons_end` to this angle stands for the instances whose other labels are
        not drawn, the part from this angle to `end` for the instances without another label.
    name_angle : float or None
        Angle at which the name is written, so that names do not overlap; None if there is no space
        for it.
    is_minority : bool
        Whether IRLbl > MeanIR.
    irlbl, scumble : float
        Imbalance ratio and SCUMBLELbl.

    Examples
    --------
    >>> from scumble.plots import chord_layout
    >>> arc = chord_layout([["war"], ["war", "love"], ["war", "noir"], ["war", "love"]]).arcs[0]
    >>> arc.name, arc.count, arc.is_minority
    ('noir', 1, True)
    """

    label: int
    name: str
    count: int
    n_company: int
    n_drawn_company: int
    start: float
    end: float
    ribbons_end: float
    company_end: float
    name_angle: float | None
    is_minority: bool
    irlbl: float
    scumble: float


@dataclass(frozen=True, slots=True)
class ChordRibbon:
    """Two labels that share instances.

    Attributes
    ----------
    source, target : int
        Positions of the two arcs; the rarer label is the source.
    joint_count : int
        Number of instances that have both labels.
    source_start, source_end, target_start, target_end : float
        Angles at both ends.
    is_mixed : bool
        Whether one is a minority label and the other a majority label.

    Examples
    --------
    >>> from scumble.plots import chord_layout
    >>> layout = chord_layout([["war"], ["war", "love"], ["war", "noir"], ["war", "love"]])
    >>> ribbon = layout.ribbons[0]
    >>> layout.arcs[ribbon.source].name, layout.arcs[ribbon.target].name, ribbon.joint_count
    ('love', 'war', 2)
    """

    source: int
    target: int
    joint_count: int
    source_start: float
    source_end: float
    target_start: float
    target_end: float
    is_mixed: bool


@dataclass(frozen=True, slots=True)
class ChordLayout:
    """The positions of all parts of a chord diagram.

    Attributes
    ----------
    name : str
        Name of the data set.
    scumble : float
        Its SCUMBLE.
    arcs : tuple of ChordArc
        Clockwise: minority labels, the most difficult first, then majority labels, the most
        frequent first.
    ribbons : tuple of ChordRibbon
        In drawing order: wide ribbons lie below narrow ones.
    n_labels : int
        Number of labels that occur in the data.
    n_labels_left_out, n_ribbons_left_out : int
        Numbers of labels that occur but are not drawn, and of pairs of drawn labels that co-occur
        but have no ribbon.
    is_choice : bool
        Whether the labels were selected automatically, rather than given.

    See Also
    --------
    chord_layout : Computes it.

    Examples
    --------
    >>> from scumble.plots import ChordLayout, chord_layout
    >>> layout = chord_layout([["war"], ["war", "love"], ["war", "noir"], ["war", "love"]])
    >>> [arc.name for arc in layout.arcs], len(layout.ribbons)
    (['noir', 'war', 'love'], 2)
    >>> ChordLayout.from_json(layout.to_json()) == layout
    True
    """

    name: str
    scumble: float
    arcs: tuple[ChordArc, ...]
    ribbons: tuple[ChordRibbon, ...]
    n_labels: int
    n_labels_left_out: int
    n_ribbons_left_out: int
    is_choice: bool

    @property
    def n_names_left_out(self) -> int:
        """Number of labels that are drawn without their name."""
        return sum(arc.name_angle is None for arc in self.arcs)

    @property
    def note(self) -> str:
        """Sentences about what is drawn and what is left out, for a line below the diagram."""
        n_rare = sum(arc.is_minority for arc in self.arcs)
        n_drawn = len(self.arcs)
        text = f"{n_drawn:,} of {self.n_labels:,} labels"
        if not self.n_labels_left_out:
            text = f"All {n_drawn:,} labels that occur." if n_drawn != 1 else "The only label."
        elif not self.is_choice:
            text += ", as chosen."
        elif n_rare:
            n_other = n_drawn - n_rare
            text += (
                f": the {n_rare:,} most difficult and {n_other:,} frequent ones that co-occur with "
                "them."
            )
        else:
            text += "."
        if self.n_ribbons_left_out:
            text += f" {self.n_ribbons_left_out:,} narrower ribbons are not drawn."
        if self.n_names_left_out:
            text += f" For {self.n_names_left_out:,} names there is no room."
        return text

    def to_json(self) -> dict[str, Any]:
        """Return the layout as values that JSON can store.

        Returns
        -------
        dict
            The fields, `note`, and ``arcs`` and ``ribbons`` as lists of dicts; NaN becomes None.
        """
        return {**to_json_value(asdict(self)), "note": self.note}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ChordLayout:
        """Return the layout from which `to_json` made these values.

        Parameters
        ----------
        values : dict
            The result of `to_json`.

        Returns
        -------
        ChordLayout
            The same layout.
        """
        fields = {key: value for key, value in values.items() if key != "note"}
        if fields["scumble"] is None:
            fields["scumble"] = math.nan
        fields["arcs"] = tuple(ChordArc(**arc) for arc in values["arcs"])
        fields["ribbons"] = tuple(ChordRibbon(**ribbon) for ribbon in values["ribbons"])
        return cls(**fields)


def chord_layout(
    data: Any,
    labels: Sequence[str | int] | None = None,
    *,
    n_labels: int | None = None,
    n_partners: int = N_PARTNERS,
    max_ribbons: int = MAX_RIBBONS,
    keep_order: bool = False,
    summary: Summary | None = None,
) -> ChordLayout:
    """Compute the layout of a chord diagram: labels on a circle, joined if they share instances.

    The length of an arc is proportional to the count of its label. The ribbons share the part of
    the arc whose instances have another drawn label, in proportion to the joint counts; no ribbon
    begins at the remaining part.

    Parameters
    ----------
    data : MultilabelDataset, or labels as array, sparse matrix, DataFrame or label lists
        The data.
    labels : sequence of str or int, optional
        Names or indices of the labels to draw. By default the most difficult labels and the labels
        they co-occur with.
    n_labels : int, optional
        Number of difficult labels: minority labels by decreasing SCUMBLELbl. By default all labels
        are drawn if at most thirty occur, else twelve difficult ones and their partners.
    n_partners : int
        Number of majority labels: first the one that co-occurs most often with each difficult
        label, then those that co-occur most often with all difficult labels.
    max_ribbons : int
        Largest number of ribbons. Those whose joint count is the smallest share of the count of
        the rarer label are left out.
    keep_order : bool
        Whether ``labels`` are placed in the given order, so that two diagrams can be compared,
        rather than by difficulty and count.
    summary : Summary, optional
        The measures of ``data``, if they are known already.

    Returns
    -------
    ChordLayout
        Arcs and ribbons, and the numbers of those left out.

    Notes
    -----
    Instances with several labels belong to several ribbons, so joint counts add up to more than the
    count. Ribbons of label :math:`l` are therefore scaled by the number of its instances with
    another drawn label, divided by the sum of its joint counts: a ribbon may have different widths
    at its two ends.

    Examples
    --------
    >>> from scumble.plots import chord_layout
    >>> layout = chord_layout([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [(arc.name, arc.count, arc.n_company) for arc in layout.arcs]
    [('c', 1, 1), ('a', 4, 3), ('b', 2, 2)]
    >>> [(ribbon.source, ribbon.target, ribbon.joint_count) for ribbon in layout.ribbons]
    [(2, 1, 2), (0, 1, 1)]
    """
    counts = {"n_labels": n_labels, "n_partners": n_partners, "max_ribbons": max_ribbons}
    for name, value in counts.items():
        if value is not None:
            check_count(value, name=name, caller="chord_layout", minimum=0)
    if isinstance(data, Summary):
        raise ParameterError(
            "chord_layout: a summary does not contain which labels co-occur. Give the data set, "
            "and the summary as summary=..."
        )
    if n_labels is None:
        limits = LabelLimits(
            max_to_draw_all=MAX_LABELS_TO_DRAW_ALL,
            n_difficult=N_DIFFICULT_LABELS,
            n_partners=n_partners,
        )
    else:
        limits = LabelLimits(max_to_draw_all=0, n_difficult=n_labels, n_partners=n_partners)
    selection = select_labels(data, labels, limits, caller="chord_layout", summary=summary)
    selected = selection.labels
    data_summary = selection.summary
    if keep_order and labels is not None:
        ordered = find_label_indices(labels, data_summary.labels.name)
        rank = {int(label): position for position, label in enumerate(ordered)}
        selected = np.array(sorted(selected.tolist(), key=rank.__getitem__), np.int64)
    arcs, pair_counts = _make_arcs(selection.Y, data_summary, selected)
    ribbons, n_hidden = _make_ribbons(arcs, pair_counts, max_ribbons)
    n_occurring = len(data_summary.labels) - data_summary.n_unseen
    return ChordLayout(
        name=data_summary.name,
        scumble=data_summary.scumble,
        arcs=arcs,
        ribbons=ribbons,
        n_labels=n_occurring,
        n_labels_left_out=n_occurring - len(selected),
        n_ribbons_left_out=n_hidden,
        is_choice=labels is None,
    )


class LabelLimits(NamedTuple):
    """How many labels to draw, if they are not given."""

    max_to_draw_all: int  # if at most this many labels occur, all are drawn; otherwise ...
    n_difficult: int  # ... this many difficult labels ...
    n_partners: int  # ... and this many majority labels that co-occur with them


class LabelSelection(NamedTuple):
    """Labels that `select_labels` selects, with the label matrix and the measures of the data."""

    labels: Array  # indices, in the order around the circle
    Y: sparse.csr_array  # of all labels
    summary: Summary


def select_labels(
    data: Any,
    labels: Any,
    limits: LabelLimits,
    *,
    caller: str,
    summary: Summary | None = None,
) -> LabelSelection:
    """Return the labels to draw: ``labels``, or as many as ``limits`` allow if that is None.

    ``labels`` are names or indices; those that never occur are left out. ``summary`` holds the
    measures of the data if they are known. Errors name ``caller``.
    """
    Y = check_labels(data, caller=caller)
    if summary is None:
        summary = characterize(data)
    occurring = np.flatnonzero(summary.labels.count > 0)
    if labels is not None:
        selected = np.intersect1d(find_label_indices(labels, summary.labels.name), occurring)
    elif len(occurring) <= limits.max_to_draw_all:
        selected = occurring
    else:
        selected = _difficult_and_partners(Y, summary, limits)
    return LabelSelection(_sort_for_circle(selected, summary), Y, summary)


def find_label_indices(labels: Any, names: Sequence[str]) -> Array:
    """Return the indices of labels that are given by name or by index.

    ``names`` are the names of all labels. An unknown name or index raises an error.
    """
    return resolve_label_indices(labels, len(names), names, caller="Labels to draw")


def _difficult_and_partners(Y: sparse.csr_array, summary: Summary, limits: LabelLimits) -> Array:
    """Return the indices of difficult labels, then of majority labels that co-occur with them.

    Majority labels come first if no other one co-occurs as often with some difficult label, then by
    the sum of their joint counts with all difficult labels.
    """
    measures = summary.labels
    candidates = np.flatnonzero(measures.is_minority)
    if not len(candidates):  # equally frequent labels: none is rare, so the most concurrent ones
        candidates = np.flatnonzero(measures.count > 0)
    by_difficulty = sort_by_difficulty(candidates, measures.irlbl, measures.scumble)
    difficult = by_difficulty[: limits.n_difficult]
    pair_counts = joint_counts(Y, difficult).toarray()
    pair_counts[:, measures.is_minority] = 0
    pair_counts[:, difficult] = 0
    total_counts = pair_counts.sum(axis=0)
    cooccurring = np.flatnonzero(total_counts)
    has_partner = pair_counts.any(axis=1)
    best_partners = pair_counts[has_partner].argmax(axis=1)  # of each difficult label
    is_best = np.isin(cooccurring, best_partners)
    order = np.lexsort((cooccurring, -total_counts[cooccurring], ~is_best))
    partners = cooccurring[order][: limits.n_partners]
    return np.concatenate([difficult, partners])


def _sort_for_circle(labels: Array, summary: Summary) -> Array:
    """Return label indices sorted: minority labels by SCUMBLELbl, then majority labels by count.

    Both decrease; of equal ones the rarer label comes first.
    """
    measures = summary.labels
    is_rare = measures.is_minority[labels]
    # Rounded, because rounding errors, which depend on the order of rows, must not break ties.
    scores = np.round(measures.scumble[labels], 12)
    sort_key = np.where(is_rare, -scores, -measures.count[labels])
    return labels[np.lexsort((labels, measures.count[labels], sort_key, ~is_rare))]


def _make_arcs(
    Y: sparse.csr_array, summary: Summary, labels: Array
) -> tuple[tuple[ChordArc, ...], Array]:
    """Return the arcs of labels, and a matrix with the joint counts of their pairs.

    ``labels`` are indices in the order around the circle. The diagonal of the matrix is 0.
    """
    measures = summary.labels
    Y_drawn = sparse.csr_array(Y[:, labels].astype(np.int64))
    n_company = Y_drawn.T @ (np.diff(Y.indptr) > 1)
    n_drawn_company = Y_drawn.T @ (np.diff(Y_drawn.indptr) > 1)
    counts = measures.count[labels]
    is_rare = measures.is_minority[labels]
    # The labels before the first majority label; True stands for one after all of them.
    n_rare = int(np.append(~is_rare, True).argmax())
    starts, angle_per_instance = _arc_starts(counts, n_rare)
    ends = starts + angle_per_instance * counts
    ribbons_end = starts + angle_per_instance * n_drawn_company
    company_end = starts + angle_per_instance * n_company
    name_angles = _name_angles(starts, ends, measures.scumble[labels])
    arcs = tuple(
        ChordArc(
            label=int(label),
            name=measures.name[label],
            count=counts[position].item(),
            n_company=n_company[position].item(),
            n_drawn_company=n_drawn_company[position].item(),
            start=starts[position].item(),
            end=ends[position].item(),
            ribbons_end=ribbons_end[position].item(),
            company_end=company_end[position].item(),
            name_angle=name_angles[position],
            is_minority=is_rare[position].item(),
            irlbl=measures.irlbl[label].item(),
            scumble=measures.scumble[label].item(),
        )
        for position, label in enumerate(labels)
    )
    pair_counts = (Y_drawn.T @ Y_drawn).toarray()
    np.fill_diagonal(pair_counts, 0)
    return arcs, pair_counts


def _arc_starts(counts: Array, n_rare: int) -> tuple[Array, float]:
    """Return the angle at which each arc begins, and the angle that stands for one instance.

    ``counts`` are the numbers of instances of the labels, of which the first ``n_rare`` are rare;
    the arcs of these lie around the top of the circle.
    """
    n_arcs = len(counts)
    if not n_arcs:
        return np.empty(0), 0.0
    has_both_groups = 0 < n_rare < n_arcs
    n_gaps = n_arcs if n_arcs > 1 else 0  # in units of a narrow gap
    if has_both_groups:
        n_gaps += 2 * (WIDE_GAP_FACTOR - 1)
    gap = min(GAP_ANGLE, MAX_GAP_SHARE * 2 * math.pi / max(n_gaps, 1))
    angle_per_instance = (2 * math.pi - n_gaps * gap) / float(counts.sum())
    gaps = np.full(n_arcs, gap)
    if has_both_groups:
        gaps[[n_rare - 1, -1]] = WIDE_GAP_FACTOR * gap
    steps = counts * angle_per_instance + gaps
    starts = np.concatenate([[0.0], np.cumsum(steps[:-1])])
    # The circle is turned so that the middle of the rare labels is at the top; if not both rare and
    # frequent labels are drawn, the middle of the first label.
    last_at_top = n_rare - 1 if has_both_groups else 0
    end_at_top = starts[last_at_top] + counts[last_at_top] * angle_per_instance
    return starts - end_at_top / 2, angle_per_instance


def _name_angles(starts: Array, ends: Array, scores: Array) -> list[float | None]:
    """Return the angle of each name: the middle of its arc, moved if names would overlap.

    ``starts`` and ``ends`` are the angles of the arcs, ``scores`` the SCUMBLELbl of the labels. If
    there is not enough space, the longest arcs and the labels with the highest scores keep their
    names; the others get None.
    """
    if not len(starts):
        return []
    middles = (starts + ends) / 2
    # The circle is cut in the gap before the first arc; no name may cross the cut.
    cut = (starts[0] + ends[-1] - 2 * math.pi) / 2
    length_rank = np.argsort(np.argsort(starts - ends, kind="stable"))
    score_rank = np.argsort(np.argsort(-scores, kind="stable"))
    rank = np.minimum(length_rank, score_rank)
    named = np.sort(np.argsort(rank, kind="stable")[: int(2 * math.pi / NAME_STEP)])
    while True:
        angles = spread_positions(middles[named], NAME_STEP, cut, cut + 2 * math.pi)
        shifts = np.abs(angles - middles[named])
        if shifts.max() <= MAX_NAME_SHIFT:
            break
        # Leave out the least important of the names around the one that moved most.
        is_close = np.abs(middles[named] - middles[named][shifts.argmax()]) <= MAX_NAME_SHIFT
        named = np.delete(named, np.flatnonzero(is_close)[rank[named][is_close].argmax()])
    angle_of = dict(zip(named.tolist(), angles.tolist(), strict=True))
    return [angle_of.get(position) for position in range(len(starts))]


def _make_ribbons(
    arcs: tuple[ChordArc, ...], pair_counts: Array, max_ribbons: int
) -> tuple[tuple[ChordRibbon, ...], int]:
    """Return the ribbons in drawing order, and the number of ribbons left out.

    ``pair_counts`` is the matrix of joint counts. Those ribbons are left out whose joint count is
    the smallest share of the count of the rarer label.
    """
    counts = np.array([arc.count for arc in arcs], np.int64)
    first, second = np.nonzero(np.triu(pair_counts))
    joint = pair_counts[first, second]
    weight = joint
    if len(joint):
        weight = joint / np.minimum(counts[first], counts[second])
    drawn = np.sort(np.lexsort((second, first, -joint, -weight))[:max_ribbons])
    spans = [
        _ribbon_spans(arc, position, pair_counts[position]) for position, arc in enumerate(arcs)
    ]
    ribbons = []
    for a, b, joint_count in np.column_stack((first, second, joint))[drawn].tolist():
        source, target = (a, b) if arcs[a].count <= arcs[b].count else (b, a)  # the rarer one first
        source_start, source_end = spans[source][target]
        target_start, target_end = spans[target][source]
        ribbons.append(
            ChordRibbon(
                source=source,
                target=target,
                joint_count=joint_count,
                source_start=source_start,
                source_end=source_end,
                target_start=target_start,
                target_end=target_end,
                is_mixed=arcs[a].is_minority != arcs[b].is_minority,
            )
        )
    ribbons.sort(key=lambda ribbon: (ribbon.is_mixed, -ribbon.joint_count))
    return tuple(ribbons), len(joint) - len(drawn)


def _ribbon_spans(arc: ChordArc, position: int, joint: Array) -> dict[int, tuple[float, float]]:
    """Return start and end angle of each ribbon at an arc, by the position of the other arc.

    ``position`` is that of the arc; ``joint`` holds its joint counts with all arcs.
    """
    # The left neighbour gets the left end, and so on around the circle, so that the ribbons of an
    # arc do not cross each other.
    partners = np.flatnonzero(joint)
    partners = partners[np.argsort((position - partners) % len(joint))]
    cumulative = np.concatenate([[0], np.cumsum(joint[partners])])
    angles = arc.start + (arc.ribbons_end - arc.start) * cumulative / max(cumulative[-1], 1)
    return dict(zip(partners.tolist(), pairwise(angles.tolist()), strict=True))
