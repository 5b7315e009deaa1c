"""The state of a running server: open data sets, jobs, uploads, models and downloads."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from scumble.gui.folders import (
    Downloads,
    PrivateFolder,
    TrainedModels,
    Upload,
    Uploads,
    remove_abandoned_folders,
)
from scumble.gui.guard import DownloadTokens, Settings
from scumble.gui.http_messages import ItemsById, RequestError
from scumble.gui.jobs import Job, Jobs, ResultCallback
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.worker import Payload, Task, Worker

if TYPE_CHECKING:  # the server starts faster without the modules that compute
    from scumble.gui.pages import PagedTable

#: Bytes of the store of comparisons above which it is deleted before the next comparison.
MAX_COMPARISON_STORE_BYTES = 1 << 28
#: Seconds between the opening of a data set and the preparation of its other pages; in this time
#: the overview is sent.
WARM_UP_DELAY = 0.5
#: Maximum number of chord diagrams cached for each data set.
MAX_CACHED_CHORDS = 32


class LatestJobs:
    """The latest jobs on a data set, by kind: ``"advice"``, ``"methods"`` and others."""

    def __init__(self) -> None:
        self._latest: dict[str, Job] = {}
        self._done: dict[str, Job] = {}

    def add_job(self, kind: str, job: Job) -> Job:
        """Add a job and return it; the last one that was done stays available until this one is."""
        self._remember_if_done(kind)
        self._latest[kind] = job
        return job

    def get(self, kind: str) -> Job | None:
        """Return the unfinished job of a kind, else the last one that was done, else None."""
        self._remember_if_done(kind)
        job = self._latest.get(kind)
        if job is not None and not job.is_finished:
            return job
        return self._done.get(kind)

    @property
    def unfinished(self) -> list[Job]:
        """Jobs that are queued or running."""
        return [job for job in self._latest.values() if not job.is_finished]

    def result(self, kind: str) -> Payload | None:
        """Return the result of the last job of a kind that was done, or None."""
        self._remember_if_done(kind)
        job = self._done.get(kind)
        return None if job is None else job.result

    def _remember_if_done(self, kind: str) -> None:
        """Store the latest job of a kind as the last one that was done, if it is done."""
        job = self._latest.get(kind)
        if job is not None and job.state == "done":
            self._done[kind] = job


@dataclass(eq=False)
class OpenDataset:
    """An open data set.

    Attributes
    ----------
    id : str
        Its id in addresses.
    packed : PackedDataset
        The data with its measures.
    source : str
        Where it comes from, for the user: a file or a public data set, and the resamplers applied.
    parent : str or None
        Id of the data set that it was resampled from.
    treatment : dict or None
        The resamplers that were applied: ``title`` and ``chain`` with all parameters, and the
        report of `scumble.resample.apply_chain`.
    notes : list of str
        Warnings of the job that made it.
    copy : int
        Its number among the data sets with the same name and treatment, from 1 on.
    options : dict
        Options of its reader.
    latest_jobs : LatestJobs
        The latest advice, comparisons and models of this data set.
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
    _table_locks: dict[str, Lock] = field(default_factory=lambda: defaultdict(Lock), repr=False)

    @property
    def name(self) -> str:
        """Name of the data set, as its file states it."""
        return str(self.packed.metadata["name"])

    def to_dict(self) -> Payload:
        """Return the description for the client."""
        return {
            "id": self.id,
            "source": self.source,
            "parent": self.parent,
            "treatment": None if self.treatment is None else self.treatment["title"],
            "copy": self.copy,
            **self.packed.metadata,
            "notes": self.notes,
        }

    def table(self, name: str) -> PagedTable:
        """Return the table of all labels, labelsets or features; it is made once."""
        from scumble.gui.pages import TABLE_BUILDERS

        with self._table_locks[name]:
            if name not in self._tables:
                self._tables[name] = TABLE_BUILDERS[name](self.packed)
        return self._tables[name]

    def chord(
        self,
        *,
        labels: list[int] | None = None,
        n_labels: int | None = None,
        keep_order: bool = False,
    ) -> Payload:
        """Return the layout of a chord diagram; see `scumble.plots.chord_layout`."""
        from scumble.plots.chord_layout import chord_layout

        key = repr((labels, n_labels, keep_order))
        chord = self._chords.get(key)
        if chord is None:
            layout = chord_layout(
                self.packed.data,
                labels=labels,
                n_labels=n_labels,
                keep_order=keep_order,
                summary=self.packed.summary,
            )
            chord = layout.to_json()
            self._chords[key] = chord
            for old_key in list(self._chords)[:-MAX_CACHED_CHORDS]:
                self._chords.pop(old_key, None)  # another thread may have removed it
        return chord

    def warm_up(self) -> None:
        """Make what the pages request first; the imports that this needs take a second."""
        from scumble.gui.api.queries import TableQuery

        for name in ("labels", "labelsets", "features"):
            self.table(name).page(TableQuery())
        self.chord()


class OpenDatasets(ItemsById[OpenDataset]):
    """Open data sets by their ids, up to a limit."""

    def __init__(self, max_open: int) -> None:
        super().__init__("This data set is not open. It may have been closed: open it again.")
        self._max_open = max_open

    def __iter__(self) -> Iterator[OpenDataset]:
        return iter(list(self._items.values()))

    def check_open_limit(self) -> None:
        """Raise a `RequestError` if no further data set can be opened."""
        if len(self._items) >= self._max_open:
            raise RequestError(
                f"{self._max_open} data sets are open, which is the limit. Close one first.", 409
            )

    def add(
        self,
        packed: PackedDataset,
        source: str,
        *,
        parent: str | None = None,
        treatment: Payload | None = None,
        notes: Sequence[str] = (),
        options: Payload | None = None,
    ) -> OpenDataset:
        """Add a data set under a new id; the parameters are the attributes of `OpenDataset`."""
        self.check_open_limit()
        title = packed.metadata["name"]
        if treatment is not None:
            title = f"{title} {treatment['title']}"
        # The id of a closed data set is not reused while data sets made from it are open.
        parents = {entry.parent for entry in self._items.values() if entry.parent is not None}
        dataset_id, copy = unique_name({*self._items, *parents}, slug(title))
        entry = OpenDataset(
            id=dataset_id,
            packed=packed,
            source=source,
            parent=parent,
            treatment=treatment,
            notes=list(notes),
            copy=copy,
            options=options or {},
        )
        self._items[dataset_id] = entry
        return entry

    def keys(self) -> list[str]:
        """Return the keys of the open data sets, by which workers know them."""
        return [entry.packed.key for entry in self]

    def holds(self, entry: OpenDataset) -> bool:
        """Return whether this data set is still open, and not another one with its id."""
        return self._items.get(entry.id) is entry

    def close(self, dataset_id: str) -> None:
        """Close a data set."""
        del self._items[self.get(dataset_id).id]


class ServerState:
    """The open data sets, jobs, uploads, models and downloads of a server.

    Parameters
    ----------
    settings : Settings
        Address and limits of the server.
    download_tokens : DownloadTokens, optional
        The tokens that the guard of the server accepts.
    idle : sequence of Worker
        Workers that have been started already.

    Attributes
    ----------
    first_job : Job or None
        The job that opens what was named on the command line.
    initial_upload : tuple of Upload and dict, or None
        The file named on the command line, and the options for its reader.
    is_closing : callable
        Returns whether the server is about to end.
    """

    def __init__(
        self,
        settings: Settings,
        download_tokens: DownloadTokens | None = None,
        idle: Sequence[Worker] = (),
    ) -> None:
        self.settings = settings
        self.download_tokens = download_tokens or DownloadTokens()
        remove_abandoned_folders()
        self._private_folder = PrivateFolder()
        self.folder = self._private_folder.path
        self.datasets = OpenDatasets(settings.max_open)
        self.uploads = Uploads(self.folder / "uploads", settings.max_upload)
        self.models = TrainedModels(self.folder / "models")
        self.files = Downloads(self.folder / "files")
        self.jobs = Jobs(settings.n_workers, idle, open_dataset_keys=self.datasets.keys)
        self.first_job: Job | None = None
        self.initial_upload: tuple[Upload, Payload] | None = None
        self._catalogue_job: Job | None = None
        self._warm_ups: set[asyncio.Future[None]] = set()
        self.is_closing: Callable[[], bool] = lambda: False

    async def close(self) -> None:
        """Cancel all work and remove all files."""
        await self.jobs.close()
        await asyncio.gather(*self._warm_ups, return_exceptions=True)
        self._private_folder.remove()

    async def catalogue(self) -> Payload:
        """Return the formats and methods; a job lists them once."""
        job = self._catalogue_job
        if job is None or job.state in ("failed", "cancelled"):
            job = self.jobs.submit(
                "Listing methods", Task.DESCRIBE_CATALOGUE, {}, is_user_requested=False
            )
            self._catalogue_job = job
        while not job.is_finished and not self.is_closing():
            await job.wait(0.2)
        if job.result is None:
            raise RequestError(job.error or "The server is closing.", 503)
        return job.result

    def comparison_store_path(self) -> Path:
        """Return the path of the store of comparisons.

        If the store is too large and no comparison is running, it is deleted first.
        """
        path = self.folder / "comparisons.db"
        jobs = [entry.latest_jobs.get("comparison") for entry in self.datasets]
        is_unused = all(job is None or job.is_finished for job in jobs)
        if is_unused and path.exists() and path.stat().st_size > MAX_COMPARISON_STORE_BYTES:
            for database_file in self.folder.glob("comparisons.db*"):  # also its journal
                database_file.unlink()
        return path

    def submit_file_job(
        self, title: str, task: Task, arguments: Payload, upload_ids: Collection[str] = ()
    ) -> Job:
        """Submit a job that writes a file for download.

        Parameters
        ----------
        title : str
            Description for the user.
        task : Task
            A task that gets a ``folder``, and returns the name of the file in it and further values
            for the client.
        arguments : dict
            Further arguments of the task.
        upload_ids : collection of str
            Uploads that the task reads.
        """
        # The folder is made before the uploads are reserved: if the disk is full, this fails, and
        # the uploads would stay reserved.
        folder = self.files.new_folder()
        release_uploads = self.uploads.reserve(upload_ids)

        def make_result(file: tuple[str, Payload], _: list[str]) -> Payload:
            """Offer the written file for download; return its address and the other values."""
            name, values = file
            return {**self.files.offer(folder.name, name), **values}

        def clean_up(job: Job) -> None:
            """Remove the folder if it is not used, and release the uploads."""
            self.files.remove_unused_folder(folder.name)
            release_uploads(job)

        return self.jobs.submit(
            title,
            task,
            {**arguments, "folder": folder},
            make_result=make_result,
            on_finished=clean_up,
        )

    def make_open_callback(self, source: str, options: Payload | None = None) -> ResultCallback:
        """Return the function that opens the result of a job; fail if no data set can be opened."""
        self.datasets.check_open_limit()

        def open_result(packed: PackedDataset, notes: list[str]) -> Payload:
            """Open the data set that a job has read."""
            return self.open(packed, source, notes=notes, options=options)

        return open_result

    def open_initial_dataset(
        self, name: str, options: Payload, on_error: Callable[[str], None]
    ) -> None:
        """Open what was named on the command line; a plain table waits for its label columns."""
        options = {key: value for key, value in options.items() if value is not None}
        local_file: Upload | None = None
        if Path(name).is_file():
            local_file = self.uploads.add_local_file(Path(name), name)
            self.initial_upload = (local_file, options)
        open_result = self.make_open_callback(name, options)

        def make_result(packed: PackedDataset | None, notes: list[str]) -> Payload:
            """Open the data set; for None, return the id of the upload, to read it again."""
            if packed is None:  # a plain table without label options
                return {"upload": None if local_file is None else local_file.id}
            if local_file is not None:
                self.uploads.discard(local_file.id)
            return open_result(packed, notes)

        def report_failure(job: Job) -> None:
            """Pass the error of a failed job to ``on_error``."""
            if job.state == "failed":
                on_error(str(job.error))

        self.first_job = self.jobs.submit(
            f"Opening {name}",
            Task.OPEN_PATH,
            {"name": name, "options": options},
            make_result=make_result,
            on_finished=report_failure,
        )

    def open(
        self,
        packed: PackedDataset,
        source: str,
        *,
        parent: str | None = None,
        treatment: Payload | None = None,
        notes: Sequence[str] = (),
        options: Payload | None = None,
    ) -> Payload:
        """Open a data set and return its description; parameters as in `OpenDatasets.add`."""
        entry = self.datasets.add(
            packed, source, parent=parent, treatment=treatment, notes=notes, options=options
        )
        asyncio.get_running_loop().call_later(WARM_UP_DELAY, self._start_warm_up, entry)
        return {"dataset": entry.to_dict()}

    def _start_warm_up(self, entry: OpenDataset) -> None:
        """Prepare the other pages of a data set in a thread."""
        if self.is_closing():
            return
        warm_up = asyncio.ensure_future(asyncio.to_thread(entry.warm_up))
        self._warm_ups.add(warm_up)
        warm_up.add_done_callback(self._warm_ups.discard)


def slug(name: str) -> str:
    """Return a name in a form for addresses and file names.

    Examples
    --------
    >>> from scumble.gui.state import slug
    >>> slug("20ng (Subset)"), slug("../../etc/passwd"), slug("")
    ('20ng-subset', 'etc-passwd', 'data')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-") or "data"


def unique_name(names: Collection[str], name: str) -> tuple[str, int]:
    """Return a name that is not in use, and its number: debtags, debtags-2, debtags-3.

    Examples
    --------
    >>> from scumble.gui.state import unique_name
    >>> unique_name(["a", "a-2"], "a")
    ('a-3', 3)
    """
    number = 1
    candidate = name
    while candidate in names:
        number += 1
        candidate = f"{name}-{number}"
    return candidate, number
