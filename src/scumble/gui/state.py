"""Everything one server holds while it runs: above all data sets, with what is known of them."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from scumble.gui.folders import (
    Downloads,
    PrivateFolder,
    TrainedModels,
    Upload,
    Uploads,
    remove_abandoned_folders,
)
from scumble.gui.guard import DownloadTokens, Settings
from scumble.gui.http_messages import ApiRequest, ItemsById, RequestError
from scumble.gui.jobs import Job, Jobs, ResultCallback
from scumble.gui.worker import PackedDataset, Payload, Worker

if TYPE_CHECKING:  # what computes is imported when something is computed
    from scumble.gui.pages import PagedTable

#: Bytes of judged folds from which on a proof begins with none.
MAX_PROOFS = 1 << 28
#: Seconds left to the overview of a data set before its other pages are prepared.
HEAD_START = 0.5
#: Chord diagrams remembered for each data set.
N_CHORDS = 32


class LatestJobs:
    """Jobs by kind: what runs, or else what was done last."""

    def __init__(self) -> None:
        self._begun: dict[str, Job] = {}
        self._done: dict[str, Job] = {}

    def add_job(self, kind: str, job: Job) -> Job:
        """Remember a job; one of its kind that was done stays until this one is."""
        self.get(kind)
        self._begun[kind] = job
        return job

    def get(self, kind: str) -> Job | None:
        """Find the job that runs, or the last one that was done."""
        job = self._begun.get(kind)
        if job is not None and job.state == "done":
            self._done[kind] = job
        return job if job is not None and not job.is_finished else self._done.get(kind)

    @property
    def running(self) -> list[Job]:
        """Jobs that are not over."""
        return [job for job in self._begun.values() if not job.is_finished]

    def result(self, kind: str) -> Payload | None:
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
    treatment: Payload | None = None
    notes: list[str] = field(default_factory=list)
    copy: int = 1
    options: Payload = field(default_factory=dict)
    latest_jobs: LatestJobs = field(default_factory=LatestJobs, repr=False)
    _chords: dict[str, Payload] = field(default_factory=dict, repr=False)
    _tables: dict[str, PagedTable] = field(default_factory=dict, repr=False)
    _making: dict[str, Lock] = field(default_factory=lambda: defaultdict(Lock), repr=False)

    @property
    def name(self) -> str:
        """What the data set calls itself."""
        return str(self.packed.metadata["name"])

    def to_dict(self) -> Payload:
        """Return what a list of data sets shows."""
        keys = ("id", "source", "parent", "treatment", "copy")
        told = {key: getattr(self, key) for key in keys} | self.packed.metadata
        title = None if self.treatment is None else self.treatment["title"]
        return {**told, "treatment": title, "notes": self.notes}

    def table(self, name: str) -> PagedTable:
        """Return the table of all labels, labelsets or features; it is made once."""
        from scumble.gui.pages import TABLE_BUILDERS

        with self._making[name]:
            if name not in self._tables:
                self._tables[name] = TABLE_BUILDERS[name](self.packed)
        return self._tables[name]

    def chord(self, **wish: Any) -> Payload:
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
            self.table(table).page(ApiRequest())
        self.chord(labels=None, n_labels=None, keep_order=False)


class OpenDatasets(ItemsById[OpenDataset]):
    """Open data sets by their names in addresses, up to a limit."""

    def __init__(self, max_open: int) -> None:
        super().__init__("This data set is not open. It may have been closed: open it again.")
        self._max_open = max_open

    def __iter__(self) -> Any:
        return iter(list(self._items.values()))

    def check_open_limit(self) -> None:
        """Refuse to begin work whose result would find no place."""
        if len(self._items) >= self._max_open:
            raise RequestError(
                f"{self._max_open} data sets are open, which is the limit. Close one first.", 409
            )

    def add(self, packed: PackedDataset, source: str, **more: Any) -> OpenDataset:
        """Open a data set under a name of its own."""
        self.check_open_limit()
        treatment = more.get("treatment")
        given = packed.metadata["name"]
        wanted = given if treatment is None else f"{given} {treatment['title']}"
        # The name of a closed data set is not given to another while something made of it is open.
        parents = {each.parent for each in self._items.values() if each.parent is not None}
        name, copy = copy_of({*self._items, *parents}, slug(wanted))
        entry = self._items[name] = OpenDataset(name, packed, source, copy=copy, **more)
        return entry

    def holds(self, entry: OpenDataset) -> bool:
        """Tell whether this data set, not another one of its name, is still open."""
        return self._items.get(entry.id) is entry

    def close(self, name: str) -> None:
        """Forget a data set."""
        del self._items[self.get(name).id]


class ServerState:
    """Open data sets, running jobs, uploads and files to download."""

    def __init__(
        self,
        settings: Settings,
        download_tokens: DownloadTokens | None = None,
        idle: Sequence[Worker] = (),
    ) -> None:
        self.settings = settings
        self.download_tokens = download_tokens or DownloadTokens()
        remove_abandoned_folders()
        self._private = PrivateFolder()
        self.folder = self._private.path
        self.datasets = OpenDatasets(settings.max_open)
        self.uploads = Uploads(self.folder / "uploads", settings.max_upload)
        self.models = TrainedModels(self.folder / "models")
        self.files = Downloads(self.folder / "files")
        self.jobs = Jobs(settings.n_workers, idle)
        self.first_job: Job | None = None
        self.initial_upload: tuple[Upload, Payload] | None = None
        self._catalogue: Job | None = None
        self._warming: set[asyncio.Future[None]] = set()
        self.is_closing: Callable[[], bool] = lambda: False

    async def close(self) -> None:
        """Stop all work and remove all files."""
        await self.jobs.close()
        await asyncio.gather(*self._warming, return_exceptions=True)
        self._private.remove()

    async def catalogue(self) -> Payload:
        """Wait for the list of formats and methods; it is made once."""
        if self._catalogue is None or self._catalogue.state in ("failed", "cancelled"):
            self._catalogue = self.jobs.submit(
                "Looking up methods", "tasks.describe_catalogue", {}, is_user_requested=False
            )
        while not self._catalogue.is_finished and not self.is_closing():
            await self._catalogue.wait(0.2)
        if self._catalogue.result is None:
            raise RequestError(self._catalogue.error or "The server is closing.", 503)
        return self._catalogue.result

    def comparison_store_path(self) -> Path:
        """Tell where judged folds are kept; too many are forgotten while no proof needs them."""
        path = self.folder / "proofs.db"
        jobs = [entry.latest_jobs.get("proof") for entry in self.datasets]
        is_free = all(job is None or job.is_finished for job in jobs)
        if is_free and path.exists() and path.stat().st_size > MAX_PROOFS:
            for part in self.folder.glob("proofs.db*"):  # with what the data base keeps beside it
                part.unlink()
        return path

    def submit_file_job(
        self, title: str, task: str, arguments: Payload, reads: Collection[str] = ()
    ) -> Job:
        """Begin to write a file for download, whose name and facts the task tells.

        The uploads that it ``reads`` are kept until its end.
        """
        folder = self.files.new_folder()  # first: a full disk must hold no upload for ever
        let_go = self.uploads.reserve(reads)

        def finish(found: tuple[str, Payload], _: list[str]) -> Payload:
            name, facts = found
            return {**self.files.offer(folder.name, name), **facts}

        def clean_up(job: Job) -> None:
            self.files.remove_unused_folder(folder.name)
            let_go(job)

        return self.jobs.submit(title, task, {**arguments, "folder": folder}, finish, clean_up)

    def make_open_callback(self, source: str, options: Payload | None = None) -> ResultCallback:
        """Make the function that puts the result of a job among the open ones, if there is room."""
        self.datasets.check_open_limit()
        return lambda packed, notes: self.open(packed, source, notes=notes, options=options or {})

    def open_initial_dataset(
        self, name: str, options: Payload, on_error: Callable[[str], None]
    ) -> None:
        """Open what was named on the command line; a plain table waits until it is asked about."""
        given = {key: value for key, value in options.items() if value is not None}
        lent = self.uploads.add_local_file(Path(name), name) if Path(name).is_file() else None
        self.initial_upload = None if lent is None else (lent, given)
        open_it = self.make_open_callback(name, given)

        def finish(packed: PackedDataset | None, notes: list[str]) -> Payload:
            if packed is None:
                return {"upload": None if lent is None else lent.id}
            if lent is not None:
                self.uploads.discard(lent.id)
            return open_it(packed, notes)

        def tell_failure(job: Job) -> None:
            if job.state == "failed":
                on_error(str(job.error))

        arguments = {"name": name, "options": given}
        self.first_job = self.jobs.submit(
            f"Opening {name}", "tasks.open_path", arguments, finish, after=tell_failure
        )

    def open(self, packed: PackedDataset, source: str, **more: Any) -> Payload:
        """Put a data set among the open ones."""
        entry = self.datasets.add(packed, source, **more)
        asyncio.get_running_loop().call_later(HEAD_START, self._warm_up, entry)
        return {"dataset": entry.to_dict()}

    def _warm_up(self, entry: OpenDataset) -> None:
        """Prepare the other pages of a data set, beside the event loop."""
        if self.is_closing():
            return
        warming = asyncio.ensure_future(asyncio.to_thread(entry.warm_up))
        self._warming.add(warming)
        warming.add_done_callback(self._warming.discard)


def slug(name: str) -> str:
    """Make a name fit for addresses and file names.

    Examples
    --------
    >>> from scumble.gui.state import slug
    >>> slug("20ng (Subset)"), slug("../../etc/passwd"), slug("")
    ('20ng-subset', 'etc-passwd', 'data')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-") or "data"


def copy_of(names: Collection[str], wanted: str) -> tuple[str, int]:
    """Choose a name that is not taken, and tell its number: debtags, debtags-2, debtags-3.

    Examples
    --------
    >>> from scumble.gui.state import copy_of
    >>> copy_of(["a", "a-2"], "a")
    ('a-3', 3)
    """
    number, name = 1, wanted
    while name in names:
        number += 1
        name = f"{wanted}-{number}"
    return name, number
