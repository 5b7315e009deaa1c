"""The tables of a data set: labels, labelsets, features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble.data import MultilabelDataset
from scumble.data.feature_table import FeatureTable, describe_features
from scumble.gui.paged_tables import PagedTable, matcher
from scumble.measures.summary import Summary

Array = np.ndarray[Any, Any]
#: Names of a labelset that a page shows; the rest is counted.
N_SHOWN_LABELS = 40


def labels(summary: Summary) -> PagedTable:
    """List all labels."""
    table = summary.labels
    return PagedTable(
        {
            "label": np.arange(len(table)),
            "name": table.name,
            "count": table.count,
            "frequency": table.frequency,
            "irlbl": table.irlbl,
            "scumble": table.scumble,
            "scumble_cv": table.scumble_cv,
            "is_minority": table.is_minority,
        },
        matcher(table.name),
        "scumble",
    )


def labelsets(data: MultilabelDataset, summary: Summary) -> PagedTable:
    """List all labelsets.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    summary : Summary
        Its measures.

    Returns
    -------
    PagedTable
        The most frequent first.
    """
    sets = summary.labelsets
    rows = sets.first_row[sets.order]
    members = data.Y[rows]

    def matches(text: str) -> Array:
        return np.asarray(members @ matcher(data.labels)(text).astype(np.int64)).ravel() > 0

    def details(shown: Array) -> list[dict[str, Any]]:
        return [{"labels": _names(members, int(at), data.labels, N_SHOWN_LABELS)} for at in shown]

    return PagedTable(
        {
            "rank": np.arange(1, len(rows) + 1),
            "size": np.diff(members.indptr),
            "count": sets.counts[sets.order],
            "imbalance": sets.imbalance[sets.order],
            "scumble": summary.scumble_by_instance[rows],
        },
        matches,
        "rank",
        "ascending",
        details,
        {"labels": _Joined(members, data.labels)},
    )


def features(data: MultilabelDataset, table: FeatureTable) -> PagedTable:
    """List all features."""
    known: dict[int, dict[str, Any]] = {}

    def details(shown: Array) -> list[dict[str, Any]]:
        columns = [int(at) for at in shown]
        new = [column for column in columns if column not in known]
        known.update(zip(new, describe_features(data, new), strict=True))
        return [known[column] for column in columns]

    return PagedTable(
        {
            "feature": np.arange(len(table)),
            "name": table.name,
            "kind": table.kind,
            "n_missing": table.n_missing,
            "n_nonzero": table.n_nonzero,
            "minimum": table.minimum,
            "mean": table.mean,
            "maximum": table.maximum,
        },
        matcher(table.name),
        "feature",
        "ascending",
        details,
    )


class _Joined:
    """Labelsets as one text each, made when a row is written."""

    def __init__(self, members: Any, names: Sequence[str]) -> None:
        self._members, self._names = members, names

    def __getitem__(self, at: int) -> str:
        return " | ".join(_names(self._members, int(at), self._names))


def _names(members: Any, at: int, names: Sequence[str], most: int | None = None) -> list[str]:
    held = members.indices[members.indptr[at] : members.indptr[at + 1]]
    return [names[label] for label in held[:most]]
