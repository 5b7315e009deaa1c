"""The concurrence report: one plain summary, from which every ink draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from scumble.data import MultilabelDataset
from scumble.measures import Summary, characterize
from scumble.measures.difficult import DifficultLabel, rank_difficult
from scumble.measures.summary import plain

#: Majority partners shown per difficult label, as in mldr.
N_PARTNERS = 10
#: The paper's finding: "avoid resampling algorithms when the SCUMBLE measure is well above 0.1".
HIGH_CONCURRENCE = 0.1


def concurrence_report(
    data: MultilabelDataset, *, n_labels: int | None = None, n_partners: int = N_PARTNERS
) -> dict[str, Any]:
    """Gather what the concurrence report says, as plain values.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    n_labels : int, optional
        How many difficult labels to list; see `scumble.measures.difficult_labels`.
    n_partners : int
        How many majority partners of each.

    Returns
    -------
    dict
        ``summary`` (all measures), ``labels`` (by decreasing SCUMBLELbl), ``difficult`` (each
        with its ``partners``) and ``verdict`` (sentences). Ready for JSON.

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
    summary = characterize(data)
    difficult = rank_difficult(
        data.Y, summary.labels.irlbl, summary.labels.scumble, data.labels, n_labels=n_labels
    )
    return {
        "summary": summary.to_dict(),
        "labels": _labels_by_scumble(summary),
        "difficult": [_difficult_as_dict(label, n_partners) for label in difficult],
        "verdict": verdict(summary, difficult),
    }


def verdict(summary: Summary, difficult: tuple[DifficultLabel, ...]) -> list[str]:
    """Say in words what the numbers mean.

    Parameters
    ----------
    summary : Summary
        The measures.
    difficult : tuple of DifficultLabel
        The labels most affected.

    Returns
    -------
    list of str
        Sentences.
    """
    return [
        sentence
        for sentence in (
            _on_imbalance(summary),
            _on_concurrence(summary),
            _on_difficult(difficult),
            _on_gaps(summary),
        )
        if sentence
    ]


def _labels_by_scumble(summary: Summary) -> list[dict[str, Any]]:
    table = list(summary.labels)
    scores = np.nan_to_num(summary.labels.scumble, nan=-1.0)
    rare = summary.labels.is_minority
    return [
        {
            **{key: plain(value) for key, value in table[at].items()},
            "is_minority": bool(rare[at]),
        }
        for at in np.argsort(-scores, kind="stable")
    ]


def _difficult_as_dict(label: DifficultLabel, n_partners: int) -> dict[str, Any]:
    shown = label.partners[:n_partners]
    return {
        "label": label.label,
        "name": label.name,
        "count": label.count,
        "irlbl": plain(label.irlbl),
        "scumble": plain(label.scumble),
        "n_partners": len(label.partners),
        "partners": [
            {
                "label": partner.label,
                "name": partner.name,
                "joint_count": partner.joint_count,
                "irlbl": plain(partner.irlbl),
                "scumble": plain(partner.scumble),
            }
            for partner in shown
        ],
    }


def _on_imbalance(summary: Summary) -> str:
    if not summary.mean_ir >= 1:
        return "No label ever occurs, so there is nothing to measure."
    if summary.max_ir < 1.5:
        return f"The labels are about equally frequent (MaxIR {summary.max_ir:.2f})."
    degree = "mildly" if summary.mean_ir < 1.5 else "clearly" if summary.mean_ir < 20 else "highly"
    return (
        f"The labels are {degree} imbalanced: on average a label is {summary.mean_ir:,.1f} times "
        f"rarer than the most frequent one, the rarest {summary.max_ir:,.1f} times. "
        f"{summary.n_minority} of {summary.n_labels} labels are rarer than average."
    )


def _on_concurrence(summary: Summary) -> str:
    if not summary.scumble >= 0 or not summary.mean_ir >= 1:
        return ""
    if summary.scumble == 0:
        return "Rare and frequent labels never share an instance: plain resampling can work."
    if summary.scumble <= HIGH_CONCURRENCE:
        return (
            f"SCUMBLE is {summary.scumble:.3f}: rare and frequent labels seldom share instances. "
            "At this level the paper found that resampling works as intended."
        )
    return (
        f"SCUMBLE is {summary.scumble:.3f}: rare labels often share their instances with frequent "
        "ones. Above about 0.1 the paper found that resampling alone helps little, since clones "
        "of rare labels bring frequent ones along: decouple them first (scumble remedial)."
    )


def _on_difficult(difficult: tuple[DifficultLabel, ...]) -> str:
    masked = [label for label in difficult if label.partners and label.scumble > 0]
    if not masked:
        return ""
    first = masked[0]
    company = ", ".join(partner.name for partner in first.partners[:3])
    return (
        f"The most difficult label is {first.name} ({_times(first.count, 'instance')}), masked by "
        f"{company}."
    )


def _on_gaps(summary: Summary) -> str:
    gaps = []
    if summary.n_unseen:
        gaps.append(
            f"{_times(summary.n_unseen, 'label')} never occur{'s' * (summary.n_unseen == 1)}"
        )
    if summary.n_unlabelled:
        verb = "has" if summary.n_unlabelled == 1 else "have"
        gaps.append(f"{_times(summary.n_unlabelled, 'instance')} {verb} no label")
    return f"Note: {' and '.join(gaps)}." if gaps else ""


def _times(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
