"""Everything one server holds while it runs."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

from scumble.gui.answers import FileAnswer, RefusedError
from scumble.gui.jobs import Job, Jobs
from scumble.gui.settings import Settings
from scumble.gui.store import Entry, Store
from scumble.gui.uploads import Uploads
from scumble.gui.worker import Worker

#: Files made for download that are kept.
KEPT = 12


class Desk:
    """Open data sets, running jobs, uploads and files to download.

    Parameters
    ----------
    settings : Settings
        What is allowed.
    idle : sequence of Worker
        Processes for heavy work that were started before.
    """

    def __init__(self, settings: Settings, idle: Sequence[Worker] = ()) -> None:
        self.settings = settings
        self.folder = Path(tempfile.mkdtemp(prefix="scumble-gui-"))  # readable by its owner only
        self._remover = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        for part in ("uploads", "files"):
            (self.folder / part).mkdir()
        self.store = Store(settings.max_open)
        self.uploads = Uploads(self.folder / "uploads", settings.max_upload)
        self.jobs = Jobs(settings.n_workers, idle)
        self._files: dict[str, str] = {}
        self._catalogue: Job | None = None
        self.is_closing: Callable[[], bool] = lambda: False

    async def close(self) -> None:
        """Stop all work and remove all files."""
        await self.jobs.close()
        self._remover()

    async def catalogue(self) -> dict[str, Any]:
        """Wait for the list of formats and methods; it is made once.

        Returns
        -------
        dict
            See `scumble.gui.tasks.describe_catalogue`.
        """
        if self._catalogue is None or self._catalogue.state in ("failed", "cancelled"):
            self._catalogue = self.jobs.submit(
                "Looking up methods", "describe_catalogue", {}, lambda found: found
            )
        while not self._catalogue.is_over and not self.is_closing():
            await asyncio.sleep(0.02)
        if self._catalogue.result is None:
            raise RefusedError(503, self._catalogue.error or "The server is closing.")
        return self._catalogue.result

    def new_folder(self) -> tuple[str, Path]:
        """Make a folder for a file to download.

        Returns
        -------
        number : str
            Its number.
        folder : Path
            The folder, empty.
        """
        number = token_hex(8)
        folder = self.folder / "files" / number
        folder.mkdir()
        return number, folder

    def offer(self, number: str, name: str) -> dict[str, Any]:
        """Offer a file for download.

        Parameters
        ----------
        number : str
            Of its folder.
        name : str
            Its name, chosen by us.

        Returns
        -------
        dict
            ``file``, ``name`` and ``size``.
        """
        self._files[number] = name
        for old in list(self._files)[:-KEPT]:
            del self._files[old]
            shutil.rmtree(self.folder / "files" / old, ignore_errors=True)
        size = (self.folder / "files" / number / name).stat().st_size
        return {"file": number, "name": name, "size": size}

    def file(self, number: str) -> FileAnswer:
        """Find a file offered for download.

        Parameters
        ----------
        number : str
            Its number.

        Returns
        -------
        FileAnswer
            The file.
        """
        if number not in self._files:
            raise RefusedError(404, "This file is gone. Make it again.")
        name = self._files[number]
        return FileAnswer(self.folder / "files" / number / name, name)

    def open_result(self, source: str, **more: Any) -> Any:
        """Make the function that puts the result of a job among the open data sets.

        Parameters
        ----------
        source : str
            Where the data comes from.
        **more : object
            Further fields of `Entry`.

        Returns
        -------
        callable
            For `Jobs.submit`.
        """

        def finish(found: Any) -> dict[str, Any]:
            entry: Entry = self.store.add(found.data, found.summary, source, **more)
            return {"dataset": entry.to_dict()}

        return finish
