"""A treated data set beside the one it was made of, as plain values."""

from __future__ import annotations

from typing import Any

from scumble.gui.open_datasets import OpenDataset
from scumble.gui.overview import N_DIFFICULT, scumble_histogram
from scumble.measures.summary import LabelTable, plain
from scumble.report.treatment import TRAITS


def comparison(before: OpenDataset | None, after: OpenDataset) -> dict[str, Any]:
    """Put a treated data set beside the one it was made of."""
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
            "before": scumble_histogram(before.summary),
            "after": scumble_histogram(after.summary),
        }
    return found


def _label_changes(before: OpenDataset, after: OpenDataset) -> list[dict[str, Any]]:
    """Follow the difficult labels of the first data set."""
    return [
        {
            "label": each["label"],
            "name": each["name"],
            "before": _of_label(before.summary.labels, each["label"]),
            "after": _of_label(after.summary.labels, each["label"]),
        }
        for each in before.packed.overview["difficult"][:N_DIFFICULT]
    ]


def _of_label(table: LabelTable, label: int) -> dict[str, Any]:
    return {
        "count": int(table.count[label]),
        "irlbl": plain(table.irlbl[label]),
        "scumble": plain(table.scumble[label]),
    }
