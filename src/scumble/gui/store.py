"""The data sets that are open, with what has been computed about them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from scumble.data import MultilabelDataset
from scumble.data.feature_table import FeatureTable, describe_features, feature_table
from scumble.gui.answers import RefusedError
from scumble.gui.tables import Table, matcher
from scumble.measures.difficult import DifficultLabel, rank_difficult
from scumble.measures.summary import Summary

Array = np.ndarray[Any, Any]
#: Names of a labelset that a page shows; the rest is counted.
N_SHOWN_LABELS = 40


@dataclass(eq=False)
class Entry:
    """One open data set.

    Attributes
    ----------
    id : str
        Its name in addresses.
    data : MultilabelDataset
        The data.
    summary : Summary
        Its measures.
    source : str
        Where it comes from, for a person.
    parent : str or None
        The data set it was made of.
    treatment : dict or None
        What was done to it: ``steps``, and the report of `scumble.report.apply_chain`.
    """

    id: str
    data: MultilabelDataset
    summary: Summary
    source: str
    parent: str | None = None
    treatment: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return what a list of data sets shows.

        Returns
        -------
        dict
            Ready for JSON.
        """
        return {
            "id": self.id,
            "name": self.data.name,
            "source": self.source,
            "parent": self.parent,
            "treatment": None if self.treatment is None else self.treatment["title"],
            "n_instances": self.data.n_instances,
            "n_features": self.data.n_features,
            "n_labels": self.data.n_labels,
            "notes": self.notes,
        }

    @cached_property
    def difficult(self) -> tuple[DifficultLabel, ...]:
        """The difficult labels."""
        table = self.summary.labels
        return rank_difficult(self.data.Y, table.irlbl, table.scumble, self.data.labels)

    @cached_property
    def labels(self) -> Table:
        """All labels."""
        table = self.summary.labels
        return Table(
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

    @cached_property
    def labelsets(self) -> Table:
        """All labelsets."""
        sets = self.summary.labelsets
        rows = sets.first_row[sets.order]
        names = self.data.labels
        members = self.data.Y[rows]

        def matches(text: str) -> Array:
            return np.asarray(members @ matcher(names)(text).astype(np.int64)).ravel() > 0

        def details(shown: Array) -> list[dict[str, Any]]:
            return [{"labels": _names(members, int(at), names, N_SHOWN_LABELS)} for at in shown]

        return Table(
            {
                "rank": np.arange(1, len(rows) + 1),
                "size": np.diff(members.indptr),
                "count": sets.counts[sets.order],
                "imbalance": sets.imbalance[sets.order],
                "scumble": self.summary.scumble_by_instance[rows],
            },
            matches,
            "rank",
            "ascending",
            details,
        )

    @cached_property
    def labelsets_for_export(self) -> Table:
        """All labelsets with the names of their labels in one column."""
        shown = self.labelsets
        sets = self.summary.labelsets
        members = self.data.Y[sets.first_row[sets.order]]
        joined = [
            " | ".join(_names(members, at, self.data.labels)) for at in range(members.shape[0])
        ]
        return Table({**shown.columns, "labels": joined}, shown.matches, "rank", "ascending")

    @cached_property
    def feature_table(self) -> FeatureTable:
        """The range of all features."""
        return feature_table(self.data)

    @cached_property
    def features(self) -> Table:
        """All features."""
        table = self.feature_table
        known: dict[int, dict[str, Any]] = {}

        def details(shown: Array) -> list[dict[str, Any]]:
            columns = [int(at) for at in shown]
            new = [column for column in columns if column not in known]
            known.update(zip(new, describe_features(self.data, new), strict=True))
            return [known[column] for column in columns]

        return Table(
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


class Store:
    """Open data sets, by their names in addresses.

    Parameters
    ----------
    max_open : int
        How many at the most.
    """

    def __init__(self, max_open: int) -> None:
        self._max_open = max_open
        self._entries: dict[str, Entry] = {}

    def __iter__(self) -> Any:
        return iter(list(self._entries.values()))

    def check_room(self) -> None:
        """Refuse to begin work whose result would find no place."""
        if len(self._entries) >= self._max_open:
            raise RefusedError(
                409, f"{self._max_open} data sets are open, which is the limit. Close one first."
            )

    def add(self, data: MultilabelDataset, summary: Summary, source: str, **more: Any) -> Entry:
        """Open a data set.

        Parameters
        ----------
        data : MultilabelDataset
            The data.
        summary : Summary
            Its measures.
        source : str
            Where it comes from.
        **more : object
            Further fields of `Entry`.

        Returns
        -------
        Entry
            With a name of its own.
        """
        self.check_room()
        treatment = more.get("treatment")
        wanted = data.name if treatment is None else f"{data.name} {treatment['title']}"
        name = copy_of(self._entries, slug(wanted))
        entry = self._entries[name] = Entry(name, data, summary, source, **more)
        return entry

    def get(self, name: str) -> Entry:
        """Find a data set.

        Parameters
        ----------
        name : str
            Its name in addresses.

        Returns
        -------
        Entry
            The data set.

        Raises
        ------
        RefusedError
            If it is not open.
        """
        if name not in self._entries:
            raise RefusedError(
                404, "This data set is not open. It may have been closed: open it again."
            )
        return self._entries[name]

    def close(self, name: str) -> None:
        """Forget a data set.

        Parameters
        ----------
        name : str
            Its name in addresses.
        """
        del self._entries[self.get(name).id]


def slug(name: str) -> str:
    """Make a name fit for addresses and file names.

    Parameters
    ----------
    name : str
        Any text.

    Returns
    -------
    str
        Lower case letters, digits and dashes, at most 40.

    Examples
    --------
    >>> from scumble.gui.store import slug
    >>> slug("20ng (Subset)"), slug("../../etc/passwd"), slug("")
    ('20ng-subset', 'etc-passwd', 'data')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-") or "data"


def copy_of(names: Collection[str], wanted: str) -> str:
    """Choose a name that is not taken: debtags, debtags-2, debtags-3.

    Parameters
    ----------
    names : collection of str
        Names in use.
    wanted : str
        The name to begin with.

    Returns
    -------
    str
        A free one.

    Examples
    --------
    >>> from scumble.gui.store import copy_of
    >>> copy_of(["a", "a-2"], "a")
    'a-3'
    """
    number, name = 1, wanted
    while name in names:
        number += 1
        name = f"{wanted}-{number}"
    return name


def _names(members: Any, at: int, names: tuple[str, ...], most: int | None = None) -> list[str]:
    held = members.indices[members.indptr[at] : members.indptr[at + 1]]
    return [names[label] for label in held[:most]]
