"""The data sets that are open, with what has been computed about them."""

from __future__ import annotations

import pickle
import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from scumble.gui.answers import Call, RefusedError

if TYPE_CHECKING:  # what computes is imported when something is computed
    from scumble.data import MultilabelDataset
    from scumble.data.feature_table import FeatureTable
    from scumble.gui.jobs import Job
    from scumble.gui.pages import PagedTable
    from scumble.measures.summary import Summary

    Content = tuple[MultilabelDataset, Summary, FeatureTable]

#: Chord diagrams remembered for each data set.
N_CHORDS = 32


class PackedDataset:
    """A data set with its measures, on its way between two processes.

    It is packed until somebody looks inside. The server shows what a worker computed without
    unpacking it: so it need not import what the worker imports, and the page is there in half the
    time.
    """

    def __init__(self, facts: dict[str, Any], overview: dict[str, Any], packed: bytes) -> None:
        self.facts, self.overview = facts, overview
        self._packed: bytes | None = packed
        self._content: Content | None = None
        self._lock = Lock()

    @classmethod
    def pack(cls, overview: dict[str, Any], content: Content) -> PackedDataset:
        """Pack a data set."""
        sizes = ("n_instances", "n_features", "n_labels")
        facts = {"name": content[0].name, **{size: getattr(content[0], size) for size in sizes}}
        return cls(facts, overview, pickle.dumps(content, protocol=5))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel packed."""
        with self._lock:
            packed = self._packed
        if packed is None:
            packed = pickle.dumps(self._content, protocol=5)
        return PackedDataset, (self.facts, self.overview, packed)

    @property
    def data(self) -> MultilabelDataset:
        """The data set."""
        return self._unpacked()[0]

    @property
    def summary(self) -> Summary:
        """Its measures."""
        return self._unpacked()[1]

    @property
    def feature_table(self) -> FeatureTable:
        """The range of its features."""
        return self._unpacked()[2]

    def _unpacked(self) -> Content:
        with self._lock:  # fifty clients may ask at once
            if self._content is None:
                assert self._packed is not None
                self._content = pickle.loads(self._packed)  # made by a process of ours
                self._packed = None
            return self._content


class Latest:
    """Jobs by kind: what runs, or else what was done last."""

    def __init__(self) -> None:
        self._begun: dict[str, Job] = {}
        self._done: dict[str, Job] = {}

    def begin(self, kind: str, job: Job) -> Job:
        """Remember a job; one of its kind that was done stays until this one is."""
        self.get(kind)
        self._begun[kind] = job
        return job

    def get(self, kind: str) -> Job | None:
        """Find the job that runs, or the last one that was done."""
        job = self._begun.get(kind)
        if job is not None and job.state == "done":
            self._done[kind] = job
        return job if job is not None and not job.is_over else self._done.get(kind)

    @property
    def running(self) -> list[Job]:
        """Jobs that are not over."""
        return [job for job in self._begun.values() if not job.is_over]

    def result(self, kind: str) -> dict[str, Any] | None:
        """Return what the last one that was done found."""
        self.get(kind)
        job = self._done.get(kind)
        return None if job is None else job.result


@dataclass(eq=False)
class OpenDataset:
    """One open data set.

    Attributes
    ----------
    id : str
        Its name in addresses.
    packed : PackedDataset
        The data with its measures.
    source : str
        Where it comes from, for a person.
    parent : str or None
        The data set it was made of.
    treatment : dict or None
        What was done to it: ``title`` and ``chain`` with all parameters, and the report of
        `scumble.resample.apply_chain`.
    copy : int
        Of several with one name and treatment the how manieth it is.
    options : dict
        What its reader was told.
    latest : Latest
        The last advice, comparison and proof about it.
    """

    id: str
    packed: PackedDataset
    source: str
    parent: str | None = None
    treatment: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)
    copy: int = 1
    options: dict[str, Any] = field(default_factory=dict)
    latest: Latest = field(default_factory=Latest, repr=False)
    _chords: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)
    _tables: dict[str, PagedTable] = field(default_factory=dict, repr=False)
    _making: dict[str, Lock] = field(default_factory=lambda: defaultdict(Lock), repr=False)

    @property
    def name(self) -> str:
        """What the data set calls itself."""
        return str(self.packed.facts["name"])

    def to_dict(self) -> dict[str, Any]:
        """Return what a list of data sets shows."""
        return {
            "id": self.id,
            "source": self.source,
            "parent": self.parent,
            "treatment": None if self.treatment is None else self.treatment["title"],
            "copy": self.copy,
            **self.packed.facts,
            "notes": self.notes,
        }

    def table(self, name: str) -> PagedTable:
        """Return the table of all labels, labelsets or features; it is made once."""
        from scumble.gui.pages import MAKERS

        with self._making[name]:
            if name not in self._tables:
                self._tables[name] = MAKERS[name](self.packed)
        return self._tables[name]

    def chord(self, **wish: Any) -> dict[str, Any]:
        """Compute a chord diagram as `scumble.plots.chord_layout` is asked to, or remember it."""
        from scumble.plots.chord_layout import chord_layout

        key = repr(sorted(wish.items()))
        known = self._chords.get(key)
        if known is None:
            known = chord_layout(self.packed.data, summary=self.packed.summary, **wish).to_json()
            self._chords[key] = known
            for old in list(self._chords)[:-N_CHORDS]:
                self._chords.pop(old, None)
        return known

    def warm_up(self) -> None:
        """Unpack, and make what the pages ask for first; importing all it takes costs a second."""
        for table in ("labels", "labelsets", "features"):
            self.table(table).page(Call())
        self.chord(labels=None, n_labels=None, keep_order=False)


class OpenDatasets:
    """Open data sets by their names in addresses, up to a limit."""

    def __init__(self, max_open: int) -> None:
        self._max_open = max_open
        self._entries: dict[str, OpenDataset] = {}

    def __iter__(self) -> Any:
        return iter(list(self._entries.values()))

    def check_room(self) -> None:
        """Refuse to begin work whose result would find no place."""
        if len(self._entries) >= self._max_open:
            raise RefusedError(
                409, f"{self._max_open} data sets are open, which is the limit. Close one first."
            )

    def add(self, packed: PackedDataset, source: str, **more: Any) -> OpenDataset:
        """Open a data set under a name of its own."""
        self.check_room()
        treatment = more.get("treatment")
        given = packed.facts["name"]
        wanted = given if treatment is None else f"{given} {treatment['title']}"
        # The name of a closed data set is not given to another while something made of it is open.
        parents = {each.parent for each in self._entries.values() if each.parent is not None}
        name, copy = copy_of({*self._entries, *parents}, slug(wanted))
        entry = self._entries[name] = OpenDataset(name, packed, source, copy=copy, **more)
        return entry

    def get(self, name: str) -> OpenDataset:
        """Find a data set by its name in addresses."""
        if name not in self._entries:
            raise RefusedError(
                404, "This data set is not open. It may have been closed: open it again."
            )
        return self._entries[name]

    def holds(self, entry: OpenDataset) -> bool:
        """Tell whether this data set, not another one of its name, is still open."""
        return self._entries.get(entry.id) is entry

    def close(self, name: str) -> None:
        """Forget a data set."""
        del self._entries[self.get(name).id]


def slug(name: str) -> str:
    """Make a name fit for addresses and file names.

    Examples
    --------
    >>> from scumble.gui.open_datasets import slug
    >>> slug("20ng (Subset)"), slug("../../etc/passwd"), slug("")
    ('20ng-subset', 'etc-passwd', 'data')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-") or "data"


def copy_of(names: Collection[str], wanted: str) -> tuple[str, int]:
    """Choose a name that is not taken, and tell its number: debtags, debtags-2, debtags-3.

    Examples
    --------
    >>> from scumble.gui.open_datasets import copy_of
    >>> copy_of(["a", "a-2"], "a")
    ('a-3', 3)
    """
    number, name = 1, wanted
    while name in names:
        number += 1
        name = f"{wanted}-{number}"
    return name, number
