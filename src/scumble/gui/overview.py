"""What the pages show of a data set, and of two of them side by side, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.arrays import Array
from scumble.data import MultilabelDataset
from scumble.measures.difficult import rank_difficult
from scumble.measures.summary import Summary, plain
from scumble.report.concurrence import difficult_as_dict, features_by_kind, verdict
from scumble.report.treatment import TRAITS, step_notes

if TYPE_CHECKING:
    from scumble.gui.open_datasets import OpenDataset
#: What is told of a label.
TOLD = ("count", "irlbl", "scumble")
N_DIFFICULT, N_PARTNERS = 12, 4
N_BINS = 40
#: Points of the scatter plot that a browser draws without effort.
MAX_POINTS = 4000


def overview(data: MultilabelDataset, summary: Summary) -> dict[str, Any]:
    """Gather what the overview shows."""
    table = summary.labels
    difficult = rank_difficult(data.Y, table.irlbl, table.scumble, data.labels)
    return {
        "summary": summary.to_dict(),
        "verdict": verdict(summary, difficult),
        "difficult": [difficult_as_dict(label, N_PARTNERS) for label in difficult[:N_DIFFICULT]],
        "points": _points(summary),
        "histograms": {
            "labels_per_instance": _sizes(data),
            "scumble_by_instance": scumble_histogram(summary),
            "label_frequency": _by_decade(table.count),
            "labelset_count": _by_decade(summary.labelsets.counts),
        },
        "kinds": features_by_kind(data),
    }


def _points(summary: Summary) -> dict[str, Any]:
    """Columns of the scatter plot; of very many labels the most concurrent."""
    table = summary.labels
    seen = np.flatnonzero(table.count > 0)
    order = seen[np.argsort(-table.scumble[seen], kind="stable")][:MAX_POINTS]
    return {
        "label": order.tolist(),
        "name": [table.name[at] for at in order],
        **{key: getattr(table, key)[order].tolist() for key in (*TOLD, "is_minority")},
        "n_left_out": len(seen) - len(order),
    }


def scumble_histogram(summary: Summary) -> dict[str, Any]:
    """Count instances by their SCUMBLE."""
    return _histogram(summary.scumble_by_instance, bins=N_BINS, range=(0.0, 1.0))


def _histogram(values: Array, **bins: Any) -> dict[str, Any]:
    counts, edges = np.histogram(values, **bins)
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _sizes(data: MultilabelDataset) -> dict[str, Any]:
    """How many instances have 0, 1, 2, ... labels; wide ranges are put into bins."""
    sizes = np.diff(data.Y.indptr)
    most = int(sizes.max(initial=0))
    step = -(-(most + 1) // N_BINS)
    return _histogram(sizes, bins=np.arange(0, most + step + 1, step))


def _by_decade(counts: Array) -> dict[str, Any]:
    """Put counts into bins 1-2, 2-5, 5-10, 10-20, ...: they spread over powers of ten."""
    seen = counts[counts > 0]
    most = int(seen.max(initial=1))
    edges = [1]
    while edges[-1] <= most:
        digit = int(str(edges[-1])[0])
        edges.append(edges[-1] * 2 if digit != 2 else edges[-1] * 5 // 2)
    return _histogram(seen, bins=np.array(edges) - 0.5) | {"edges": edges}


def comparison(before: OpenDataset | None, after: OpenDataset) -> dict[str, Any]:
    """Put a treated data set beside the one it was made of."""
    report = after.treatment or {}
    both = {} if before is None else {"before": before, "after": after}
    return {
        "dataset": after.to_dict(),
        "steps": report.get("methods", []),
        "chain": report.get("chain", []),
        "notes": step_notes(report) if report else [],
        "traits": [
            {
                "key": key,
                "title": title,
                "before": report["before"][key],
                "steps": [step[key] for step in report["steps"]],
            }
            for key, title, _ in TRAITS
        ],
        "labels": [] if before is None else _label_changes(before, both),
        "histograms": {when: scumble_histogram(each.packed.summary) for when, each in both.items()},
    }


def _label_changes(before: OpenDataset, both: dict[str, OpenDataset]) -> list[dict[str, Any]]:
    """Follow the difficult labels of the first data set."""
    tables = {when: each.packed.summary.labels for when, each in both.items()}
    return [
        {"label": each["label"], "name": each["name"]}
        | {
            when: {key: plain(table[key][each["label"]]) for key in TOLD}
            for when, table in tables.items()
        }
        for each in before.packed.overview["difficult"][:N_DIFFICULT]
    ]
