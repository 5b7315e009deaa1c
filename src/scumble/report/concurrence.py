"""The concurrence report: one plain summary, from which every ink draws."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date
from typing import Any

import numpy as np

from scumble._core.text import pluralize
from scumble._core.validation import check_named_labels
from scumble._core.version import __version__
from scumble.advice.evidence import BORDERLINE_CONCURRENCE, HIGH_CONCURRENCE, treatment_sentences
from scumble.data import MultilabelDataset
from scumble.measures import Summary, characterize
from scumble.measures.difficult import (
    CooccurringLabel,
    DifficultLabel,
    cooccurrence_counter,
    rank_difficult_labels,
)
from scumble.measures.summary import to_json_value

#: Majority partners shown per difficult label, as in mldr.
N_PARTNERS = 10
#: Labelsets listed, the most frequent ones.
N_LABELSETS = 25
#: A frequent label is named as company of a rare one from this part of the rare one's instances on.
GOOD_PART = 0.1
#: The level of its three data sets for which resampling changed next to nothing.
VERY_HIGH_CONCURRENCE = 0.3
_HELPS_LITTLE = (
    "share their instances with frequent ones. Above about 0.1 the paper found that resampling "
    "alone helps little, since clones of rare labels bring frequent ones along."
)
#: What the paper says of SCUMBLE up to a level.
MEANINGS = {
    HIGH_CONCURRENCE: "rare and frequent labels seldom share instances. At this level the paper "
    "found that resampling works as intended.",
    BORDERLINE_CONCURRENCE: "rare labels share instances with frequent ones. This is the border: the paper found "
    "that resampling works up to about 0.1 and fails well above.",
    VERY_HIGH_CONCURRENCE: f"rare labels often {_HELPS_LITTLE}",
    math.inf: f"rare labels very often {_HELPS_LITTLE} On its three data sets above 0.3 resampling "
    "lowered MeanIR by 6 % and raised MaxIR by as much, against a fall by half on those up to 0.1.",
}


def concurrence_report(
    data: Any,
    *,
    n_labels: int | None = None,
    n_partners: int = N_PARTNERS,
    treatments: Sequence[str] = (),
    random_state: int | None = None,
    origin: str = "",
) -> dict[str, Any]:
    """Gather what the concurrence report says, as plain values.

    Parameters
    ----------
    data : MultilabelDataset, or labels as array, sparse matrix, DataFrame or label lists
        The data; a column of label lists will do.
    n_labels : int, optional
        How many difficult labels to list; see `scumble.measures.difficult_labels`.
    n_partners : int
        How many majority partners of each.
    treatments : sequence of str
        Resamplers to try, such as ``"remedial"`` or ``"remedial+mlsmote"``.
    random_state : int, optional
        The seed of the resamplers.
    origin : str
        Where the data comes from and when the report was made, to be printed below its title.

    Returns
    -------
    dict
        ``version`` (of this package), ``origin``, ``summary`` (all measures), ``verdict_sentences``
        (sentences), ``labels`` (by decreasing SCUMBLELbl), ``difficult`` (each with its
        ``partners``), ``labelsets`` (the most frequent ones of those that occur more than once),
        ``features`` (how many of each kind), ``chord`` (see `scumble.plots.chord_layout`) and
        ``treatments`` (what `scumble.resample.apply_chain` reports of each, with its ``method``
        and ``chord``). Ready for JSON.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import concurrence_report
    >>> data = scumble.MultilabelDataset(
    ...     [[0.0]] * 4, [["a"], ["a", "b"], ["a", "c"], ["a", "b"]], name="small"
    ... )
    >>> report = concurrence_report(data)
    >>> [label["name"] for label in report["labels"]]
    ['c', 'a', 'b']
    >>> report["difficult"][0]["partners"][0]["name"]
    'a'
    """
    from scumble.plots.chord_layout import chord_layout  # here: it brings all plots along

    summary = characterize(data)
    data = _with_features(data)
    meetings, table = cooccurrence_counter(data.Y), summary.labels
    difficult = rank_difficult_labels(meetings, table.irlbl, table.scumble, data.labels, n_labels)
    chord = chord_layout(data, summary=summary)
    drawn = [arc.label for arc in chord.arcs]
    labelsets = frequent_labelsets(data, summary, top=N_LABELSETS)
    return {
        "version": __version__,
        "origin": origin,
        "summary": summary.to_dict(),
        "verdict": verdict_sentences(summary, difficult),
        "labels": label_rows(summary, sort="scumble"),
        "difficult": [difficult_label_to_dict(label, n_partners) for label in difficult],
        # What occurs once says little, and may fill pages with its names.
        "labelsets": [row for row in labelsets if row["count"] > 1],
        "features": features_by_kind(data),
        "chord": chord.to_json(),
        "treatments": [_treated(data, method, drawn, random_state) for method in treatments],
    }


def _with_features(data: Any) -> MultilabelDataset:
    """Take labels alone for a data set without features."""
    if isinstance(data, MultilabelDataset):
        return data
    labels, names = check_named_labels(data, caller="concurrence_report")
    return MultilabelDataset(np.empty((labels.shape[0], 0)), labels, labels=names)


def origin_text(source: str) -> str:
    """Name where data comes from, and this day."""
    return f"From {source}; made on {date.today().isoformat()}."


def size_text(summary: dict[str, Any]) -> str:
    """Say how large a data set is."""
    nouns = ("instance", "feature", "label")
    sizes = {noun: summary[f"n_{noun}s"] for noun in nouns}
    return ", ".join("–" if n is None else pluralize(n, noun) for noun, n in sizes.items())


def more_labelsets_text(report: dict[str, Any]) -> str:
    """Say how many labelsets a report does not list, and how many of them occur once."""
    n_all, n_single = (report["summary"][key] for key in ("n_labelsets", "n_single_labelsets"))
    n_more = n_all - len(report["labelsets"])
    if n_more <= 0:
        return ""
    if n_single == 0:
        return f"and {n_more:,} more"
    once = "once each" if n_single > 1 else "once"
    if n_more == n_single:
        lead = "and " if report["labelsets"] else ""
        return f"{lead}{pluralize(n_more, 'labelset')} that occur{'s' * (n_more == 1)} {once}"
    return f"and {n_more:,} more, of which {n_single:,} occur{'s' * (n_single == 1)} {once}"


def _treated(
    data: MultilabelDataset, method: str, drawn: list[int], random_state: int | None
) -> dict[str, Any]:
    """Report what resamplers do to a data set, with the chord diagram of the same labels."""
    from scumble.learn import TextColumns
    from scumble.plots.chord_layout import chord_layout
    from scumble.resample import apply_chain, make_chain

    numbers = TextColumns.of(data).transform(data)  # between texts there are no distances
    after, report = apply_chain(numbers, make_chain(method, random_state=random_state))
    chord = chord_layout(after, drawn, keep_order=True)
    return {"method": method, **report, "chord": chord.to_json()}


def frequent_labelsets(
    data: MultilabelDataset, summary: Summary, *, top: int | None = None
) -> list[dict[str, Any]]:
    """List the labelsets, most frequent first."""
    found = summary.labelsets
    order = found.order[:top]
    rows = found.first_row[order]
    return [
        {
            "labels": [data.labels[label] for label in labels],
            "count": int(found.counts[at]),
            "imbalance": found.max_count / int(found.counts[at]),
            "scumble": float(summary.scumble_by_instance[row]),
        }
        for labels, at, row in zip(data.Y[rows].tolil().rows, order, rows, strict=True)
    ]


def labelset_rows(
    data: MultilabelDataset, *, top: int | None = None
) -> tuple[list[dict[str, Any]], int]:
    """List the labelsets, most frequent first, and tell how many there are."""
    summary = characterize(data)
    return frequent_labelsets(data, summary, top=top), summary.n_labelsets


def features_by_kind(data: MultilabelDataset) -> dict[str, int]:
    """Count the features of each kind."""
    return dict(Counter(feature.kind for feature in data.features))


def verdict_sentences(summary: Summary, difficult: Sequence[DifficultLabel]) -> list[str]:
    """Say in words what the numbers mean."""
    masked = [label for label in difficult if label.partners and label.scumble > 0]
    sentences = [
        _on_imbalance(summary),
        _on_concurrence(summary),
        _on_difficult(masked),
        _on_others(masked),
        # By the rules that `scumble.advise` follows, and what was measured for them.
        *(treatment_sentences(summary.scumble) if summary.n_minority else ()),
        _on_gaps(summary),
    ]
    return [sentence for sentence in sentences if sentence]


def label_rows(
    summary: Summary, *, sort: str = "order", top: int | None = None
) -> list[dict[str, Any]]:
    """List the labels with their measures."""
    rare = summary.labels.is_minority
    rows = [
        {**to_json_value(row), "is_minority": bool(rare[at])}
        for at, row in enumerate(summary.labels)
    ]
    if sort == "name":
        rows.sort(key=lambda row: row["name"])
    elif sort != "order":
        rows.sort(key=lambda row: float("-inf") if row[sort] is None else row[sort], reverse=True)
    return rows[:top]


def difficult_label_to_dict(label: DifficultLabel, n_partners: int = N_PARTNERS) -> dict[str, Any]:
    """Describe a difficult label and what masks it."""
    told = to_json_value(asdict(replace(label, partners=label.partners[:n_partners])))
    shown = told.pop("partners")
    return {**told, "n_partners": len(label.partners), "partners": shown}


def _on_imbalance(summary: Summary) -> str:
    if not summary.mean_ir >= 1:
        return "No label ever occurs, so there is nothing to measure."
    if summary.max_ir < 1.5:
        return f"The labels are about equally frequent (MaxIR {summary.max_ir:.2f})."
    degree = "mildly" if summary.mean_ir < 1.5 else "clearly" if summary.mean_ir < 20 else "highly"
    return (
        f"The labels are {degree} imbalanced: on average a label is {summary.mean_ir:,.1f} times "
        f"rarer than the most frequent one, the rarest {summary.max_ir:,.1f} times. "
        f"{summary.n_minority:,} of {pluralize(summary.n_labels, 'label')} are rarer than average."
    )


def _on_concurrence(summary: Summary) -> str:
    if not summary.scumble >= 0 or not summary.mean_ir >= 1:
        return ""
    if summary.scumble == 0:
        return "Rare and frequent labels never share an instance: plain resampling can work."
    meaning = next(text for level, text in MEANINGS.items() if summary.scumble <= level)
    return f"SCUMBLE is {summary.scumble:.3f}: {meaning}"


def _on_difficult(masked: Sequence[DifficultLabel]) -> str:
    """Name the most difficult label, and the frequent ones in a good part of its instances."""
    # Majority labels mask a minority label "when they appear together", says the paper: the word is
    # kept for labels that are themselves highly concurrent.
    if not masked:
        return ""
    first = masked[0]
    company = ", ".join(
        f"{partner.name} ({100 * partner.joint_count / first.count:.0f} % of them)"
        for partner in _companions(first)[:3]
    )
    of_which = f"{first.name} ({pluralize(first.count, 'instance')})"
    if not company:
        return f"The most difficult label is {of_which}; it meets no frequent label often."
    if first.scumble > HIGH_CONCURRENCE:
        return f"The most difficult label is {of_which}, masked by {company}."
    return f"Of the rare labels {of_which} shares most: with {company}."


def _companions(label: DifficultLabel) -> list[CooccurringLabel]:
    """List the partners that are in a good part of a label's instances."""
    return [each for each in label.partners if each.joint_count >= GOOD_PART * label.count]


def _on_others(masked: Sequence[DifficultLabel]) -> str:
    """Name what masks the difficult labels as a group."""
    if len(masked) < 2:
        return ""
    others = ", ".join(label.name for label in masked[1:4])
    met = Counter(partner.name for label in masked for partner in _companions(label))
    name, times = met.most_common(1)[0] if met else ("", 0)
    if times < 2:
        return f"Next in difficulty: {others}."
    share = f"{times} of the {len(masked)}"
    if times == len(masked):
        share = "both" if times == 2 else f"all {times}"
    return (
        f"Next in difficulty: {others}. The frequent label {name} is in at least a tenth of the "
        f"instances of {share} difficult labels."
    )


def _on_gaps(summary: Summary) -> str:
    n_unseen, n_bare, gaps = summary.n_unseen, summary.n_unlabelled, []
    if n_unseen:
        gaps.append(f"{pluralize(n_unseen, 'label')} never occur{'s' * (n_unseen == 1)}")
    if n_bare:
        gaps.append(f"{pluralize(n_bare, 'instance')} {'has' if n_bare == 1 else 'have'} no label")
    return f"Note: {' and '.join(gaps)}." if gaps else ""
