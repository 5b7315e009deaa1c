"""What the overview of a data set shows, as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from scumble.gui.store import Entry
from scumble.measures.difficult import DifficultLabel
from scumble.measures.summary import plain
from scumble.report.concurrence import verdict
from scumble.report.treatment import TRAITS

Array = np.ndarray[Any, Any]
N_DIFFICULT, N_PARTNERS = 12, 4
N_BINS = 40
#: Points of the scatter plot that a browser draws without effort.
MAX_POINTS = 4000


def overview(entry: Entry) -> dict[str, Any]:
    """Gather what the overview shows.

    Parameters
    ----------
    entry : Entry
        The data set.

    Returns
    -------
    dict
        ``summary``, ``verdict``, ``difficult``, ``points`` (labels as IRLbl against SCUMBLELbl)
        and ``histograms``. Ready for JSON.
    """
    return {
        "dataset": entry.to_dict(),
        "summary": entry.summary.to_dict(),
        "verdict": verdict(entry.summary, entry.difficult),
        "difficult": [_difficult(label) for label in entry.difficult[:N_DIFFICULT]],
        "points": _points(entry),
        "histograms": {
            "labels_per_instance": _sizes(entry),
            "scumble_by_instance": _histogram(entry.summary.scumble_by_instance, 0.0, 1.0),
            "label_frequency": _by_decade(entry.summary.labels.count),
            "labelset_count": _by_decade(entry.summary.labelsets.counts),
        },
        "kinds": _kinds(entry),
        "treatment": entry.treatment,
    }


def comparison(before: Entry | None, after: Entry) -> dict[str, Any]:
    """Put a treated data set beside the one it was made of.

    Parameters
    ----------
    before : Entry or None
        The data set before; None if it has been closed.
    after : Entry
        The treated one.

    Returns
    -------
    dict
        ``traits`` (rows of a table: title, before, after each step), ``steps``, and, while the
        first is open, ``labels`` (the difficult ones, before and after) and ``histograms``.
    """
    report = after.treatment or {}
    found: dict[str, Any] = {
        "dataset": after.to_dict(),
        "steps": report.get("methods", []),
        "chain": report.get("chain", []),
        "traits": [
            {
                "key": key,
                "title": title,
                "before": report["before"][key],
                "steps": [step[key] for step in report["steps"]],
            }
            for key, title, _ in TRAITS
        ],
        "labels": [],
        "histograms": {},
    }
    if before is not None:
        found["labels"] = _label_changes(before, after)
        found["histograms"] = {
            "before": _histogram(before.summary.scumble_by_instance, 0.0, 1.0),
            "after": _histogram(after.summary.scumble_by_instance, 0.0, 1.0),
        }
    return found


def _label_changes(before: Entry, after: Entry) -> list[dict[str, Any]]:
    old, new = before.summary.labels, after.summary.labels
    return [
        {
            "label": each.label,
            "name": each.name,
            "before": {
                "count": int(old.count[each.label]),
                "irlbl": plain(old.irlbl[each.label]),
                "scumble": plain(old.scumble[each.label]),
            },
            "after": {
                "count": int(new.count[each.label]),
                "irlbl": plain(new.irlbl[each.label]),
                "scumble": plain(new.scumble[each.label]),
            },
        }
        for each in before.difficult[:N_DIFFICULT]
    ]


def _difficult(label: DifficultLabel) -> dict[str, Any]:
    return {
        "label": label.label,
        "name": label.name,
        "count": label.count,
        "irlbl": plain(label.irlbl),
        "scumble": plain(label.scumble),
        "n_partners": len(label.partners),
        "partners": [
            {"label": other.label, "name": other.name, "joint_count": other.joint_count}
            for other in label.partners[:N_PARTNERS]
        ],
    }


def _points(entry: Entry) -> dict[str, Any]:
    """Columns of the scatter plot; of very many labels the most concurrent."""
    table = entry.summary.labels
    seen = np.flatnonzero(table.count > 0)
    order = seen[np.argsort(-table.scumble[seen], kind="stable")][:MAX_POINTS]
    return {
        "label": order.tolist(),
        "name": [table.name[at] for at in order],
        "count": table.count[order].tolist(),
        "irlbl": table.irlbl[order].tolist(),
        "scumble": table.scumble[order].tolist(),
        "is_minority": table.is_minority[order].tolist(),
        "n_left_out": len(seen) - len(order),
    }


def _histogram(values: Array, low: float, high: float) -> dict[str, Any]:
    counts, edges = np.histogram(values, bins=N_BINS, range=(low, high))
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _sizes(entry: Entry) -> dict[str, Any]:
    """How many instances have 0, 1, 2, ... labels; wide ranges are put into bins."""
    sizes = np.diff(entry.data.Y.indptr)
    most = int(sizes.max(initial=0))
    step = -(-(most + 1) // N_BINS)
    edges = np.arange(0, most + step + 1, step)
    counts, _ = np.histogram(sizes, bins=edges)
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _by_decade(counts: Array) -> dict[str, Any]:
    """Put counts into bins 1-2, 2-5, 5-10, 10-20, ...: they spread over powers of ten."""
    seen = counts[counts > 0]
    most = int(seen.max(initial=1))
    edges = [1]
    while edges[-1] <= most:
        digit = int(str(edges[-1])[0])
        edges.append(edges[-1] * 2 if digit != 2 else edges[-1] * 5 // 2)
    found, _ = np.histogram(seen, bins=np.array(edges) - 0.5)
    return {"edges": edges, "counts": found.tolist()}


def _kinds(entry: Entry) -> dict[str, int]:
    found: dict[str, int] = {}
    for feature in entry.data.features:
        found[feature.kind] = found.get(feature.kind, 0) + 1
    return found
