"""The tables of a data set, a page at a time or whole as CSV."""

from __future__ import annotations

from typing import Any

from scumble.gui.answers import Answer, Call
from scumble.gui.state import ServerState


def labels(state: ServerState, call: Call) -> dict[str, Any]:
    """Give a page of the labels."""
    return state.datasets.get(call.path["dataset"]).labels.page(call)


def labels_csv(state: ServerState, call: Call) -> Answer:
    """Give all labels as CSV."""
    entry = state.datasets.get(call.path["dataset"])
    return entry.labels.csv(call, f"{entry.id}-labels.csv")


def labelsets(state: ServerState, call: Call) -> dict[str, Any]:
    """Give a page of the labelsets."""
    return state.datasets.get(call.path["dataset"]).labelsets.page(call)


def labelsets_csv(state: ServerState, call: Call) -> Answer:
    """Give all labelsets as CSV."""
    entry = state.datasets.get(call.path["dataset"])
    return entry.labelsets.csv(call, f"{entry.id}-labelsets.csv")


def features(state: ServerState, call: Call) -> dict[str, Any]:
    """Give a page of the features."""
    return state.datasets.get(call.path["dataset"]).features.page(call)


def features_csv(state: ServerState, call: Call) -> Answer:
    """Give all features as CSV."""
    entry = state.datasets.get(call.path["dataset"])
    return entry.features.csv(call, f"{entry.id}-features.csv")
