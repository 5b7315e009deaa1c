"""Where the arcs and ribbons of a chord diagram lie: computed once, drawn by any ink.

Angles are in radians, clockwise from twelve o'clock: the point at angle ``a`` of the unit circle is
``(sin a, cos a)`` with the y axis pointing up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.selection import resolve_label_indices
from scumble._core.validation import check_count, check_labels
from scumble.measures.difficult import sort_by_difficulty
from scumble.measures.shape import joint_counts
from scumble.measures.summary import Summary, characterize, to_json_value
from scumble.plots.base import spread_positions

#: Up to so many labels are all drawn.
DRAW_ALL = 30
#: Of more, so many difficult ones and so many of their partners.
N_LABELS, N_PARTNERS = 12, 12
#: Ribbons drawn at the most.
MAX_RIBBONS = 1000
#: Angle between two arcs, and the share of the circle all gaps may take together.
GAP, GAP_SHARE = math.radians(2), 0.25
#: How many times wider the gap between minority and majority labels is.
WIDE_GAP = 3
#: Angle a written name takes. An ink writes in a size that fits.
NAME_STEP = math.radians(2.8)
#: How far a name may stand from its arc.
MAX_NAME_SHIFT = math.radians(15)


@dataclass(frozen=True, slots=True)
class ChordArc:
    """One label on the circle.

    Attributes
    ----------
    label : int
        Its number.
    name : str
        Its name.
    count : int
        Instances that have it; the arc is as long as that.
    n_company : int
        Those of them that have another label too.
    n_drawn_company : int
        Those of them that have another of the labels drawn.
    start, end : float
        Angles of the arc.
    ribbons_end : float
        Ribbons leave between `start` and this angle: the part of the instances with drawn company.
    company_end : float
        From `ribbons_end` to here the company is not drawn; from here to `end` there is none.
    name_angle : float or None
        Where to write the name, so that names keep apart; None where there is no room for it.
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
        Instances that have both labels.
    source_start, source_end, target_start, target_end : float
        Angles at both ends.
    is_mixed : bool
        Whether a minority label meets a majority label.

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
    """A chord diagram, ready to be drawn.

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
        Those to draw first come first: the wide ones lie below the narrow.
    n_labels : int
        How many labels occur in the data.
    n_labels_left_out, n_ribbons_left_out : int
        What is not drawn: labels that occur, and pairs of drawn labels that meet.
    is_choice : bool
        Whether the labels were chosen by difficulty, rather than given or all.

    See Also
    --------
    chord_layout : Makes it.

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
        """Labels drawn without their name."""
        return sum(arc.name_angle is None for arc in self.arcs)

    @property
    def note(self) -> str:
        """What is drawn and what was left out, in words."""
        n_rare, n_drawn = sum(arc.is_minority for arc in self.arcs), len(self.arcs)
        shown = f"{n_drawn:,} of {self.n_labels:,} labels"
        if not self.n_labels_left_out:
            shown = f"All {n_drawn:,} labels that occur." if n_drawn != 1 else "The only label."
        elif not self.is_choice:
            shown += ", as chosen."
        elif n_rare:
            n_other = n_drawn - n_rare
            shown += f": the {n_rare:,} most difficult and {n_other:,} frequent ones they meet."
        else:
            shown += "."
        if self.n_ribbons_left_out:
            shown += f" {self.n_ribbons_left_out:,} slighter ribbons are not drawn."
        if self.n_names_left_out:
            shown += f" For {self.n_names_left_out:,} names there is no room."
        return shown

    def to_json(self) -> dict[str, Any]:
        """Return the layout as plain values, which JSON can hold.

        Returns
        -------
        dict
            The fields, `note`, and ``arcs`` and ``ribbons`` as lists of dicts; NaN becomes None.
        """
        return {**to_json_value(asdict(self)), "note": self.note}

    @classmethod
    def from_json(cls, whole: dict[str, Any]) -> ChordLayout:
        """Make a layout again from what `to_json` gave.

        Parameters
        ----------
        whole : dict
            Plain values.

        Returns
        -------
        ChordLayout
            The same layout.
        """
        numbers = {key: value for key, value in whole.items() if key != "note"}
        scumble = math.nan if whole["scumble"] is None else whole["scumble"]
        arcs = tuple(ChordArc(**arc) for arc in whole["arcs"])
        ribbons = tuple(ChordRibbon(**ribbon) for ribbon in whole["ribbons"])
        return cls(**{**numbers, "scumble": scumble, "arcs": arcs, "ribbons": ribbons})


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
    """Place labels on a circle and join those that share instances.

    A label's arc is as long as its count. Its ribbons share the part of the arc whose instances
    have company, in proportion to the joint counts; the rest of the arc stays bare.

    Parameters
    ----------
    data : MultilabelDataset, or labels as array, sparse matrix, DataFrame or label lists
        The data.
    labels : sequence of str or int, optional
        Names or numbers of the labels to draw. By default the most difficult ones and their
        partners.
    n_labels : int, optional
        How many difficult labels: minority labels by decreasing SCUMBLELbl. By default all labels
        of the data are drawn where at most thirty occur, else twelve and their partners.
    n_partners : int
        How many majority labels: first the most frequent companion of each difficult label, then
        those that meet difficult labels most often.
    max_ribbons : int
        How many ribbons at the most. Those that matter least to both labels, as a share of their
        counts, are left out.
    keep_order : bool
        Whether ``labels`` stand on the circle in the given order, so that two diagrams can be
        compared, rather than by difficulty and count.
    summary : Summary, optional
        The measures of ``data``, where they are at hand.

    Returns
    -------
    ChordLayout
        Arcs and ribbons, and how much was left out.

    Notes
    -----
    Instances with several labels take part in several ribbons, so joint counts add up to more than
    the count. Ribbons of label :math:`l` are therefore scaled by the instances with drawn company
    over the sum of its joint counts: a ribbon may have different widths at its two ends.

    Examples
    --------
    >>> from scumble.plots import chord_layout
    >>> layout = chord_layout([["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> [(arc.name, arc.count, arc.n_company) for arc in layout.arcs]
    [('c', 1, 1), ('a', 4, 3), ('b', 2, 2)]
    >>> [(ribbon.source, ribbon.target, ribbon.joint_count) for ribbon in layout.ribbons]
    [(2, 1, 2), (0, 1, 1)]
    """
    limits = {"n_labels": n_labels, "n_partners": n_partners, "max_ribbons": max_ribbons}
    for name, value in limits.items():
        if value is not None:
            check_count(value, name=name, caller="chord_layout", minimum=0)
    if isinstance(data, Summary):
        raise ParameterError(
            "chord_layout: a summary does not say which labels meet. Give the data set, and the "
            "summary as summary=..."
        )
    whole, n_difficult = (DRAW_ALL, N_LABELS) if n_labels is None else (0, n_labels)
    chosen, Y, measured = choose_labels(data, labels, (whole, n_difficult, n_partners), summary)
    if keep_order and labels is not None:
        place = {
            int(at): k for k, at in enumerate(find_label_indices(labels, measured.labels.name))
        }
        chosen = np.array(sorted(chosen.tolist(), key=place.__getitem__), np.int64)
    arcs, joint = _arcs(Y, measured, chosen)
    ribbons, n_hidden = _ribbons(arcs, joint, max_ribbons)
    n_seen = len(measured.labels) - measured.n_unseen
    return ChordLayout(
        name=measured.name,
        scumble=measured.scumble,
        arcs=arcs,
        ribbons=ribbons,
        n_labels=n_seen,
        n_labels_left_out=n_seen - len(chosen),
        n_ribbons_left_out=n_hidden,
        is_choice=labels is None,
    )


def choose_labels(
    data: Any, labels: Any, limits: tuple[int, int, int], summary: Summary | None = None
) -> tuple[Array, sparse.csr_array, Summary]:
    """Choose labels to draw: those given, all, or the most difficult ones and their partners."""
    # All are drawn up to a first limit; of more, so many difficult ones, and so many partners.
    whole, n_labels, n_partners = limits
    Y = check_labels(data, caller="choose_labels")
    measured = characterize(data) if summary is None else summary
    seen = np.flatnonzero(measured.labels.count > 0)
    if labels is not None:
        chosen = np.intersect1d(find_label_indices(labels, measured.labels.name), seen)
    elif len(seen) <= whole:
        chosen = seen
    else:
        chosen = _difficult_and_partners(Y, measured, n_labels, n_partners)
    return _in_order(chosen, measured), Y, measured


def find_label_indices(labels: Any, names: Sequence[str]) -> Array:
    """Turn names and numbers of labels into numbers."""
    return resolve_label_indices(labels, len(names), names, caller="Labels to draw")


def _difficult_and_partners(
    Y: sparse.csr_array, summary: Summary, n_labels: int, n_partners: int
) -> Array:
    table = summary.labels
    rare = np.flatnonzero(table.is_minority)
    if not len(rare):  # equally frequent labels: none is difficult, so the most concurrent ones
        rare = np.flatnonzero(table.count > 0)
    difficult = sort_by_difficulty(rare, table.irlbl, table.scumble)[:n_labels]
    joint = joint_counts(Y, difficult).toarray()
    joint[:, table.is_minority] = 0
    joint[:, difficult] = 0
    total = joint.sum(axis=0)
    met = np.flatnonzero(total)
    foremost = joint[joint.any(axis=1)].argmax(axis=1)  # the first companion of each
    partners = met[np.lexsort((met, -total[met], ~np.isin(met, foremost)))][:n_partners]
    return np.concatenate([difficult, partners])


def _in_order(chosen: Array, summary: Summary) -> Array:
    """Minority labels by difficulty, then majority labels by count."""
    table = summary.labels
    is_rare = table.is_minority[chosen]
    scores = np.round(table.scumble[chosen], 12)  # ties stay ties in any order of the rows
    rank = np.where(is_rare, -scores, -table.count[chosen])
    return chosen[np.lexsort((chosen, table.count[chosen], rank, ~is_rare))]


def _arcs(
    Y: sparse.csr_array, summary: Summary, chosen: Array
) -> tuple[tuple[ChordArc, ...], Array]:
    table = summary.labels
    drawn = sparse.csr_array(Y[:, chosen].astype(np.int64))
    n_company, n_drawn = (drawn.T @ (np.diff(rows.indptr) > 1) for rows in (Y, drawn))
    counts = table.count[chosen]
    is_rare = table.is_minority[chosen]
    starts, per_row = _starts(counts, int(np.append(~is_rare, True).argmax()))
    ends, ribbons_end, company_end = (starts + per_row * n for n in (counts, n_drawn, n_company))
    angles = _name_angles(starts, ends, table.scumble[chosen])
    joint = (drawn.T @ drawn).toarray()
    np.fill_diagonal(joint, 0)
    # Column by column, in the order of the fields of an arc.
    names = [table.name[label] for label in chosen]
    sizes = (counts, n_company, n_drawn, starts, ends, ribbons_end, company_end)
    kinds = (is_rare, table.irlbl[chosen], table.scumble[chosen])
    plain_sizes, plain_kinds = ([each.tolist() for each in group] for group in (sizes, kinds))
    columns = (chosen.tolist(), names, *plain_sizes, angles, *plain_kinds)
    return tuple(ChordArc(*arc) for arc in zip(*columns, strict=True)), joint


def _starts(counts: Array, n_rare: int) -> tuple[Array, float]:
    """Place the arcs, the leading ones around twelve o'clock; also the angle of one instance."""
    n_arcs = len(counts)
    if not n_arcs:
        return np.empty(0), 0.0
    has_both = 0 < n_rare < n_arcs
    n_gaps = (n_arcs if n_arcs > 1 else 0) + (2 * (WIDE_GAP - 1) if has_both else 0)
    gap = min(GAP, GAP_SHARE * 2 * math.pi / max(n_gaps, 1))
    per_row = (2 * math.pi - n_gaps * gap) / float(counts.sum())
    gaps = np.full(n_arcs, gap)
    if has_both:
        gaps[[n_rare - 1, -1]] = WIDE_GAP * gap
    steps = counts * per_row + gaps
    starts = np.concatenate([[0.0], np.cumsum(steps[:-1])])
    group = n_rare if has_both else 1
    return starts - (starts[group - 1] + counts[group - 1] * per_row) / 2, per_row


def _name_angles(starts: Array, ends: Array, scores: Array) -> list[float | None]:
    """Write names beside the middle of their arcs, moved apart where they would overlap."""
    # Where not all have room, the longest arcs and the most concurrent labels keep their names.
    if not len(starts):
        return []
    middles = (starts + ends) / 2
    # The circle is cut in the gap before the first arc; no name may cross the cut.
    cut = (starts[0] + ends[-1] - 2 * math.pi) / 2
    by_length = np.argsort(np.argsort(starts - ends, kind="stable"))
    by_score = np.argsort(np.argsort(-scores, kind="stable"))
    rank = np.minimum(by_length, by_score)
    named = np.sort(np.argsort(rank, kind="stable")[: int(2 * math.pi / NAME_STEP)])
    while True:
        places = spread_positions(middles[named], NAME_STEP, cut, cut + 2 * math.pi)
        moved = np.abs(places - middles[named])
        if moved.max() <= MAX_NAME_SHIFT:
            break
        near = np.abs(middles[named] - middles[named][moved.argmax()]) <= MAX_NAME_SHIFT
        named = np.delete(named, np.flatnonzero(near)[rank[named][near].argmax()])
    angles = dict(zip(named.tolist(), places.tolist(), strict=True))
    return [angles.get(at) for at in range(len(starts))]


def _ribbons(
    arcs: tuple[ChordArc, ...], joint: Array, max_ribbons: int
) -> tuple[tuple[ChordRibbon, ...], int]:
    counts = np.array([arc.count for arc in arcs], np.int64)
    first, second = np.nonzero(np.triu(joint))
    times = joint[first, second]
    weight = times / np.minimum(counts[first], counts[second]) if len(times) else times
    kept = np.sort(np.lexsort((second, first, -times, -weight))[:max_ribbons])
    spans = [_spans(arc, at, joint[at]) for at, arc in enumerate(arcs)]
    ribbons = []
    for a, b, n in np.column_stack((first, second, times))[kept].tolist():
        rarer, other = (a, b) if arcs[a].count <= arcs[b].count else (b, a)
        is_mixed = arcs[a].is_minority != arcs[b].is_minority
        (start, end), (low, high) = spans[rarer][other], spans[other][rarer]
        ribbons.append(ChordRibbon(rarer, other, n, start, end, low, high, is_mixed))
    ribbons.sort(key=lambda ribbon: (ribbon.is_mixed, -ribbon.joint_count))
    return tuple(ribbons), len(times) - len(kept)


def _spans(arc: ChordArc, at: int, row: Array) -> dict[int, tuple[float, float]]:
    """Deal the part of an arc with drawn company among the labels it meets."""
    # The neighbour on the left gets the left end and so on round the circle, so that ribbons of one
    # arc do not cross each other.
    met = np.flatnonzero(row)
    met = met[np.argsort((at - met) % len(row))]
    edges = np.concatenate([[0], np.cumsum(row[met])])
    places = arc.start + (arc.ribbons_end - arc.start) * edges / max(edges[-1], 1)
    return dict(zip(met.tolist(), pairwise(places.tolist()), strict=True))
