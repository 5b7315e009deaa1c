"""The concurrence report as a dictionary, from which the text, HTML and PDF reports are made.

Concurrence means that rare and frequent labels share instances. A *difficult label* is a minority
label with a high SCUMBLELbl; its *partners* are the majority labels that co-occur with it, the most
frequent first.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date
from typing import Any

import numpy as np

from scumble._core.text import pluralize
from scumble._core.version import __version__
from scumble._validation.labels import check_named_labels
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

#: Number of majority labels listed for a difficult label, as in mldr.
N_PARTNERS = 10
#: Number of most frequent labelsets that are listed.
N_LABELSETS = 25
#: Sentences name a frequent label if it is in at least this share of a rare label's instances.
MIN_NAMED_SHARE = 0.1
#: SCUMBLE above which, on three data sets of the paper, resampling changed almost nothing.
VERY_HIGH_CONCURRENCE = 0.3
#: End of the statements about high concurrence.
_RESAMPLING_HELPS_LITTLE = (
    "share their instances with frequent ones. Above about 0.1 the paper found that resampling "
    "alone helps little, since clones of rare labels bring frequent ones along."
)
#: What the paper says about data with a SCUMBLE up to each of these values.
STATEMENTS_BY_SCUMBLE = {
    HIGH_CONCURRENCE: "rare and frequent labels seldom share instances. At this level the paper "
    "found that resampling works as intended.",
    BORDERLINE_CONCURRENCE: "rare labels share instances with frequent ones. This is the border: "
    "the paper found that resampling works up to about 0.1 and fails well above.",
    VERY_HIGH_CONCURRENCE: f"rare labels often {_RESAMPLING_HELPS_LITTLE}",
    math.inf: f"rare labels very often {_RESAMPLING_HELPS_LITTLE} On its three data sets above 0.3 "
    "resampling lowered MeanIR by 6 % and raised MaxIR by as much, against a fall by half on those "
    "up to 0.1.",
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
    """Return the content of the concurrence report.

    Parameters
    ----------
    data : MultilabelDataset, or labels as array, sparse matrix, DataFrame or label lists
        The data; the labels alone suffice.
    n_labels : int, optional
        Number of difficult labels; see `scumble.measures.difficult_labels`.
    n_partners : int
        Maximum number of co-occurring majority labels per difficult label.
    treatments : sequence of str
        Resamplers to apply, such as ``"remedial"`` or ``"remedial+mlsmote"``.
    random_state : int, optional
        The seed of the resamplers.
    origin : str
        The origin of the data and the date, which is printed below the title.

    Returns
    -------
    dict
        ``version`` (of this package), ``origin``, ``summary`` (all measures), ``verdict``
        (sentences), ``labels`` (by decreasing SCUMBLELbl), ``difficult`` (each with its
        ``partners``), ``labelsets`` (the most frequent ones of those that occur more than once),
        ``features`` (counts by kind), ``chord`` (see `scumble.plots.chord_layout`) and
        ``treatments`` (the reports of `scumble.resample.apply_chain`, each with ``method`` and
        ``chord``). All values can be written as JSON.

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
    from scumble.plots.chord_layout import chord_layout  # imports all plots

    summary = characterize(data)
    data = _as_dataset(data)
    difficult = rank_difficult_labels(
        cooccurrence_counter(data.Y),
        summary.labels.irlbl,
        summary.labels.scumble,
        data.labels,
        n_labels,
    )
    chord = chord_layout(data, summary=summary)
    labels_in_chord = [arc.label for arc in chord.arcs]
    labelsets = frequent_labelsets(data, summary, top=N_LABELSETS)
    return {
        "version": __version__,
        "origin": origin,
        "summary": summary.to_dict(),
        "verdict": interpretation_sentences(summary, difficult),
        "labels": label_rows(summary, sort="scumble"),
        "difficult": [difficult_label_to_dict(label, n_partners) for label in difficult],
        # Labelsets that occur once are not informative, and their names could fill pages.
        "labelsets": [row for row in labelsets if row["count"] > 1],
        "features": features_by_kind(data),
        "chord": chord.to_json(),
        "treatments": [
            _treatment_report(data, method, labels_in_chord, random_state) for method in treatments
        ],
    }


def _as_dataset(data: Any) -> MultilabelDataset:
    """Return a data set unchanged, and labels alone as a data set without features."""
    if isinstance(data, MultilabelDataset):
        return data
    labels, names = check_named_labels(data, caller="concurrence_report")
    return MultilabelDataset(np.empty((labels.shape[0], 0)), labels, labels=names)


def origin_text(source: str) -> str:
    """Return a sentence with the origin of data, such as a file name, and the current date."""
    return f"From {source}; made on {date.today().isoformat()}."


def size_text(summary: dict[str, Any]) -> str:
    """Return the numbers of instances, features and labels as one text.

    ``summary`` is the result of `Summary.to_dict`; a number that is None becomes a dash.
    """
    sizes = []
    for noun in ("instance", "feature", "label"):
        n = summary[f"n_{noun}s"]
        sizes.append("–" if n is None else pluralize(n, noun))
    return ", ".join(sizes)


def more_labelsets_text(report: dict[str, Any]) -> str:
    """Return the number of labelsets that a report does not list, and of those that occur once.

    The text is "" if all labelsets are listed. ``report`` is that of `concurrence_report`.
    """
    n_single = report["summary"]["n_single_labelsets"]
    n_more = report["summary"]["n_labelsets"] - len(report["labelsets"])
    if n_more <= 0:
        return ""
    if n_single == 0:
        return f"and {n_more:,} more"
    verb = "occurs once" if n_single == 1 else "occur once each"
    if n_more == n_single:
        conjunction = "and " if report["labelsets"] else ""
        return f"{conjunction}{pluralize(n_more, 'labelset')} that {verb}"
    return f"and {n_more:,} more, of which {n_single:,} {verb}"


def _treatment_report(
    data: MultilabelDataset, method: str, labels: list[int], random_state: int | None
) -> dict[str, Any]:
    """Return the report of `scumble.resample.apply_chain`, with its name and a chord diagram.

    ``method`` names the resamplers, such as "remedial+mlsmote"; ``labels`` are the indices of the
    labels in the diagram of the resampled data. Texts are converted to numeric features first.
    """
    from scumble.learn import TextColumns
    from scumble.plots.chord_layout import chord_layout
    from scumble.resample import apply_chain, make_chain

    numbers = TextColumns.of(data).transform(data)  # resamplers need distances between rows
    after, report = apply_chain(numbers, make_chain(method, random_state=random_state))
    chord = chord_layout(after, labels, keep_order=True)
    return {"method": method, **report, "chord": chord.to_json()}


def frequent_labelsets(
    data: MultilabelDataset, summary: Summary, *, top: int | None = None
) -> list[dict[str, Any]]:
    """Return the ``top`` most frequent labelsets, the most frequent first; None returns all.

    Each is a dict with the names of its ``labels``, its ``count``, ``imbalance`` (count of the most
    frequent labelset divided by its own) and ``scumble`` (the score of its instances).
    """
    labelsets = summary.labelsets
    order = labelsets.order[:top]
    first_rows = labelsets.first_row[order]  # index of an instance with each labelset
    labels_of_rows = data.Y[first_rows].tolil().rows
    counts = labelsets.counts[order].tolist()
    return [
        {
            "labels": [data.labels[label] for label in labels],
            "count": count,
            "imbalance": labelsets.max_count / count,
            "scumble": float(summary.scumble_by_instance[row]),
        }
        for labels, count, row in zip(labels_of_rows, counts, first_rows, strict=True)
    ]


def labelset_rows(
    data: MultilabelDataset, *, top: int | None = None
) -> tuple[list[dict[str, Any]], int]:
    """Return the most frequent labelsets as in `frequent_labelsets`, and the number of all."""
    summary = characterize(data)
    return frequent_labelsets(data, summary, top=top), summary.n_labelsets


def features_by_kind(data: MultilabelDataset) -> dict[str, int]:
    """Return the number of features of each kind: numeric, nominal, date, text and so on."""
    return dict(Counter(feature.kind for feature in data.features))


def interpretation_sentences(summary: Summary, difficult: Sequence[DifficultLabel]) -> list[str]:
    """Return sentences that interpret the measures of a data set and name its difficult labels.

    ``difficult`` are its difficult labels, the most difficult first.
    """
    with_partners = [label for label in difficult if label.partners and label.scumble > 0]
    sentences = [
        _imbalance_sentence(summary),
        _concurrence_sentence(summary),
        _most_difficult_sentence(with_partners),
        _other_difficult_sentence(with_partners),
    ]
    if summary.n_minority:  # by the rules of `scumble.advise`, with the evidence for them
        sentences += treatment_sentences(summary.scumble)
    sentences.append(_missing_labels_sentence(summary))
    return [sentence for sentence in sentences if sentence]


def label_rows(
    summary: Summary, *, sort: str = "order", top: int | None = None
) -> list[dict[str, Any]]:
    """Return a dict with the measures of each label, and whether it is a minority label.

    ``sort`` is "order" (as in the data), "name", or a measure, by which labels are sorted from high
    to low; undefined values come last. Only the first ``top`` labels are returned, by default all.
    """
    rows = [
        {**to_json_value(row), "is_minority": bool(is_minority)}
        for row, is_minority in zip(summary.labels, summary.labels.is_minority, strict=True)
    ]
    if sort == "name":
        rows.sort(key=lambda row: row["name"])
    elif sort != "order":
        rows.sort(key=lambda row: -math.inf if row[sort] is None else row[sort], reverse=True)
    return rows[:top]


def difficult_label_to_dict(label: DifficultLabel, n_partners: int = N_PARTNERS) -> dict[str, Any]:
    """Return a difficult label with its first ``n_partners`` partners as values for JSON.

    The key ``n_partners`` of the result is the number of all partners.
    """
    description = to_json_value(asdict(replace(label, partners=label.partners[:n_partners])))
    partners = description.pop("partners")
    return {**description, "n_partners": len(label.partners), "partners": partners}


def _imbalance_sentence(summary: Summary) -> str:
    """Return a sentence about MeanIR and MaxIR: whether labels are imbalanced, and how much."""
    if not summary.mean_ir >= 1:
        return "No label ever occurs, so there is nothing to measure."
    if summary.max_ir < 1.5:
        return f"The labels are about equally frequent (MaxIR {summary.max_ir:.2f})."
    if summary.mean_ir < 1.5:
        degree = "mildly"
    elif summary.mean_ir < 20:
        degree = "clearly"
    else:
        degree = "highly"
    return (
        f"The labels are {degree} imbalanced: on average a label is {summary.mean_ir:,.1f} times "
        f"rarer than the most frequent one, the rarest {summary.max_ir:,.1f} times. "
        f"{summary.n_minority:,} of {pluralize(summary.n_labels, 'label')} are rarer than average."
    )


def _concurrence_sentence(summary: Summary) -> str:
    """Return a sentence about SCUMBLE, with what the paper says about such values.

    A SCUMBLE of 0 has a sentence of its own. The sentence is "" if SCUMBLE is undefined or no label
    occurs.
    """
    if not summary.scumble >= 0 or not summary.mean_ir >= 1:
        return ""
    if summary.scumble == 0:
        return "Rare and frequent labels never share an instance: plain resampling can work."
    statement = next(
        text for limit, text in STATEMENTS_BY_SCUMBLE.items() if summary.scumble <= limit
    )
    return f"SCUMBLE is {summary.scumble:.3f}: {statement}"


def _most_difficult_sentence(difficult: Sequence[DifficultLabel]) -> str:
    """Return a sentence about the first label, and up to three frequent partners of it.

    ``difficult`` are labels with partners; without any, the sentence is "".
    """
    # According to the paper, majority labels mask a minority label "when they appear together". The
    # sentence says so only of labels that are themselves highly concurrent.
    if not difficult:
        return ""
    label = difficult[0]
    partners = ", ".join(
        f"{partner.name} ({100 * partner.joint_count / label.count:.0f} % of them)"
        for partner in _frequent_partners(label)[:3]
    )
    label_text = f"{label.name} ({pluralize(label.count, 'instance')})"
    if not partners:
        return f"The most difficult label is {label_text}; no frequent label co-occurs often."
    if label.scumble > HIGH_CONCURRENCE:
        return f"The most difficult label is {label_text}, masked by {partners}."
    return f"Of the rare labels {label_text} shares most: with {partners}."


def _frequent_partners(label: DifficultLabel) -> list[CooccurringLabel]:
    """Return the partners that have at least `MIN_NAMED_SHARE` of a difficult label's instances."""
    min_joint_count = MIN_NAMED_SHARE * label.count
    return [partner for partner in label.partners if partner.joint_count >= min_joint_count]


def _other_difficult_sentence(difficult: Sequence[DifficultLabel]) -> str:
    """Return a sentence about the next difficult labels, and a frequent partner that they share.

    ``difficult`` are labels with partners; with fewer than two, the sentence is "".
    """
    if len(difficult) < 2:
        return ""
    next_names = ", ".join(label.name for label in difficult[1:4])
    n_labels_of_partner: Counter[str] = Counter()
    for label in difficult:
        n_labels_of_partner.update(partner.name for partner in _frequent_partners(label))
    [(partner_name, n_labels)] = n_labels_of_partner.most_common(1) or [("", 0)]
    if n_labels < 2:
        return f"Next in difficulty: {next_names}."
    if n_labels < len(difficult):
        labels_text = f"{n_labels} of the {len(difficult)}"
    else:
        labels_text = "both" if n_labels == 2 else f"all {n_labels}"
    return (
        f"Next in difficulty: {next_names}. The frequent label {partner_name} is in at least a "
        f"tenth of the instances of {labels_text} difficult labels."
    )


def _missing_labels_sentence(summary: Summary) -> str:
    """Return a note about unseen labels and unlabelled instances; "" if there are none."""
    notes = []
    if summary.n_unseen:
        verb = "occurs" if summary.n_unseen == 1 else "occur"
        notes.append(f"{pluralize(summary.n_unseen, 'label')} never {verb}")
    if summary.n_unlabelled:
        verb = "has" if summary.n_unlabelled == 1 else "have"
        notes.append(f"{pluralize(summary.n_unlabelled, 'instance')} {verb} no label")
    return f"Note: {' and '.join(notes)}." if notes else ""
