"""Everything one server holds while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from scumble.gui.answers import RefusedError
from scumble.gui.folders import Downloads, Models, PrivateFolder, Upload, Uploads, remove_abandoned
from scumble.gui.guard import Settings, Tickets
from scumble.gui.jobs import Finish, Job, Jobs
from scumble.gui.open_datasets import OpenDataset, OpenDatasets, PackedDataset
from scumble.gui.worker import Worker

#: Bytes of judged folds from which on a proof begins with none.
MAX_PROOFS = 1 << 28
#: Seconds left to the overview of a data set before its other pages are prepared.
HEAD_START = 0.5


class ServerState:
    """Open data sets, running jobs, uploads and files to download."""

    def __init__(
        self, settings: Settings, tickets: Tickets | None = None, idle: Sequence[Worker] = ()
    ) -> None:
        self.settings = settings
        self.tickets = tickets or Tickets()
        remove_abandoned()
        self._private = PrivateFolder()
        self.folder = self._private.path
        self.datasets = OpenDatasets(settings.max_open)
        self.uploads = Uploads(self.folder / "uploads", settings.max_upload)
        self.models = Models(self.folder / "models")
        self.files = Downloads(self.folder / "files")
        self.jobs = Jobs(settings.n_workers, idle)
        self.first_job: Job | None = None
        self.first: tuple[Upload, dict[str, Any]] | None = None
        self._catalogue: Job | None = None
        self._warming: set[asyncio.Future[None]] = set()
        self.is_closing: Callable[[], bool] = lambda: False

    async def close(self) -> None:
        """Stop all work and remove all files."""
        await self.jobs.close()
        await asyncio.gather(*self._warming, return_exceptions=True)
        self._private.remove()

    async def catalogue(self) -> dict[str, Any]:
        """Wait for the list of formats and methods; it is made once."""
        if self._catalogue is None or self._catalogue.state in ("failed", "cancelled"):
            self._catalogue = self.jobs.submit(
                "Looking up methods", "describe_catalogue", {}, is_asked_for=False
            )
        while not self._catalogue.is_over and not self.is_closing():
            await self._catalogue.wait(0.2)
        if self._catalogue.result is None:
            raise RefusedError(503, self._catalogue.error or "The server is closing.")
        return self._catalogue.result

    def proofs(self) -> Path:
        """Tell where judged folds are kept; too many are forgotten while no proof needs them."""
        path = self.folder / "proofs.db"
        jobs = [entry.latest.get("proof") for entry in self.datasets]
        is_free = all(job is None or job.is_over for job in jobs)
        if is_free and path.exists() and path.stat().st_size > MAX_PROOFS:
            for part in self.folder.glob("proofs.db*"):  # with what the data base keeps beside it
                part.unlink()
        return path

    def write(
        self, title: str, task: str, arguments: dict[str, Any], reads: Collection[str] = ()
    ) -> Job:
        """Begin to write a file for download, whose name and facts the task tells.

        The uploads that it ``reads`` are kept until its end.
        """
        folder = self.files.new_folder()  # first: a full disk must hold no upload for ever
        let_go = self.uploads.reading(reads)

        def finish(found: tuple[str, dict[str, Any]], _: list[str]) -> dict[str, Any]:
            name, facts = found
            return {**self.files.offer(folder.name, name), **facts}

        def clean_up(job: Job) -> None:
            self.files.forget_folder(folder.name)
            let_go(job)

        return self.jobs.submit(title, task, {**arguments, "folder": folder}, finish, clean_up)

    def open_result(self, source: str, options: dict[str, Any] | None = None) -> Finish:
        """Make the function that puts the result of a job among the open data sets."""
        return lambda packed, notes: self.open(packed, source, notes=notes, options=options or {})

    def begin_with(
        self, name: str, options: dict[str, Any], complain: Callable[[str], None]
    ) -> None:
        """Open what was named on the command line; a plain table waits until it is asked about."""
        given = {key: value for key, value in options.items() if value is not None}
        lent = self.uploads.lend(Path(name), name) if Path(name).is_file() else None
        self.first = None if lent is None else (lent, given)
        open_it = self.open_result(name, given)

        def finish(packed: PackedDataset | None, notes: list[str]) -> dict[str, Any]:
            if packed is None:
                return {"upload": None if lent is None else lent.id}
            if lent is not None:
                self.uploads.discard(lent.id)
            return open_it(packed, notes)

        def tell_failure(job: Job) -> None:
            if job.state == "failed":
                complain(str(job.error))

        arguments = {"name": name, "options": given}
        self.first_job = self.jobs.submit(
            f"Opening {name}", "open_path", arguments, finish, after=tell_failure
        )

    def open(self, packed: PackedDataset, source: str, **more: Any) -> dict[str, Any]:
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
