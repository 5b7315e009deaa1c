"""The paper's data sets on this machine."""

from __future__ import annotations

import warnings

from scumble._core.errors import DataError, ScumbleWarning
from scumble.data import MultilabelDataset, shelf

#: Why a data set that was found is not quite the paper's.
SUBSTITUTES = {
    "mediamill": ("mediamill_reduced", "2,000 of its 43,907 instances"),
    "tmc2007": ("tmc2007-500", "the same labels with 500 features"),
}


def load(name: str) -> MultilabelDataset | None:
    """Load one of the paper's data sets; None where it is not on this machine.

    Nothing is downloaded: a check of the paper must not start with an hour of transfers. ``scumble
    data get NAME`` brings a missing one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScumbleWarning)  # the ledger names substitutes itself
        try:
            shelf.locate(name)
        except DataError:
            return None
        return shelf.load(name, download=False)


def substitution(name: str, data: MultilabelDataset) -> str:
    """Tell what stands in for a data set of the paper."""
    other, how = SUBSTITUTES.get(name, ("", ""))
    return f"{other}: {how}" if data.name == other else ""
