"""The private folder of a server, which vanishes with it, and what is kept in it by number.

That is files to download, models, and files that clients send: bounded, under names of our own. The
folders of servers that were killed are removed by the next.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import sys
import tempfile
import time
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING, Any

from scumble.gui.http_messages import ApiResponse, ItemsById, RequestError, Thing

try:
    import fcntl
except ImportError:  # Windows, where a folder in use cannot be told from one left behind
    fcntl = None  # type: ignore[assignment]  # a module elsewhere

if TYPE_CHECKING:
    from scumble.gui.jobs import DoneCallback, Job

PREFIX = "scumble-gui-"
LOCK = "lock"
#: Models that are kept, and the bytes they may take together; more push out the oldest.
KEPT_MODELS, KEPT_BYTES = 24, 2 << 30
#: Files made for download that are kept after they were fetched, for another time.
KEPT_FILES = 12
#: Those that are kept for who has asked for them, and has not come yet.
KEPT_WAITING = 64
#: Uploads that wait to be opened; more push out the oldest that nobody is reading.
KEPT_UPLOADS = 128
#: How many times the largest file all of them may take together.
KEPT_SIZES = 4
#: Files that are being received at a time; further senders wait for their turn.
MAX_RECEIVING = 32
#: Seconds without a byte after which a sender is given up, and that a sender waits for its turn.
PATIENCE = 30.0
#: A name is for showing; nobody shows more.
MAX_NAME = 255
#: Seconds in which a server that begins has surely locked its folder.
BEGINNING = 60


class PrivateFolder:
    """A folder that only this user can read, locked as long as this process lives.

    Attributes
    ----------
    path : Path
        The folder.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = open(self.path / LOCK, "wb")  # open as long as the folder is there
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._remover = weakref.finalize(self, _remove, self.path, lock)

    def remove(self) -> None:
        """Remove it with all it holds; happens at exit if not before."""
        self._remover()


def remove_abandoned_folders() -> int:
    """Remove the folders of this user's servers that were killed."""
    if fcntl is None:
        return 0
    found = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if _is_ours_and_old(folder) and _is_abandoned(folder / LOCK):
                shutil.rmtree(folder, ignore_errors=True)
                found += 1
    return found


def _is_ours_and_old(folder: Path) -> bool:
    known = folder.lstat()  # not what a link points to
    is_ours = stat.S_ISDIR(known.st_mode) and known.st_uid == os.getuid()
    return is_ours and time.time() - known.st_mtime > BEGINNING


def _is_abandoned(lock: Path) -> bool:
    """Tell whether nobody holds the lock; it is the kernel that lets go of a dead process's."""
    with open(lock, "rb") as stream, suppress(BlockingIOError):
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _remove(folder: Path, lock: IO[bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.close()


class ItemsWithFolders(ItemsById[Thing]):
    """Things by number, each with a folder of its own, whose name is the number."""

    def __init__(self, folder: Path, gone: str) -> None:
        super().__init__(gone)
        folder.mkdir(exist_ok=True)
        self._folder = folder

    def new_folder(self, number: str = "") -> Path:
        """Make the folder for something that will be kept, or forgotten."""
        folder = self._folder / (number or token_hex(8))
        folder.mkdir(mode=0o700)
        return folder

    def remove_unused_folder(self, number: str) -> None:
        """Remove the folder of what is not kept after all."""
        if number not in self._items:
            shutil.rmtree(self._folder / number, ignore_errors=True)

    def discard(self, number: str) -> None:
        """Remove one of them, if it is still there."""
        if self._items.pop(number, None) is not None:
            self.remove_unused_folder(number)


class Downloads(ItemsWithFolders[str]):
    """Files made for download, by their names."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "This file is gone. Make it again.")
        self._fetched: set[str] = set()

    def offer(self, number: str, name: str) -> dict[str, Any]:
        """Offer a file for download."""
        self._items[number] = name
        fetched = [each for each in self._items if each in self._fetched]
        waiting = [each for each in self._items if each not in self._fetched]
        for old in (*fetched[:-KEPT_FILES], *waiting[:-KEPT_WAITING]):
            self._fetched.discard(old)
            self.discard(old)
        size = (self._folder / number / name).stat().st_size
        return {"file": number, "name": name, "size": size}

    def fetch(self, number: str) -> ApiResponse:
        """Find a file offered for download."""
        name = self.get(number)
        self._fetched.add(number)
        return ApiResponse(self._folder / number / name, filename=name)


@dataclass(frozen=True)
class TrainedModel:
    """A model in a file of ours."""

    id: str
    path: Path
    dataset: str
    metadata: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return what the API tells about it."""
        return {"model": self.id, "trained_on": self.dataset, **self.metadata}


class TrainedModels(ItemsWithFolders[TrainedModel]):
    """Trained models, to be asked about further files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "This model is gone. Train it again.")

    def add(self, number: str, dataset: str, metadata: dict[str, Any]) -> TrainedModel:
        """Keep a model that was trained; of too many, or too large ones, the oldest go."""
        path = self._folder / number / metadata["name"]
        metadata = {**metadata, "size": path.stat().st_size}
        model = self._items[number] = TrainedModel(number, path, dataset, metadata)
        for old in list(self._items)[:-1]:
            size = sum(model.metadata["size"] for model in self._items.values())
            if len(self._items) > KEPT_MODELS or size > KEPT_BYTES:
                self.discard(old)
        return model

    def discard_trained_on(self, dataset: str) -> None:
        """Remove the models of a data set: another one may come to have its name."""
        for model in self.list_trained_on(dataset):
            self.discard(model.id)

    def list_trained_on(self, dataset: str) -> list[TrainedModel]:
        """List the models trained on a data set, the newest first."""
        return [one for one in reversed(self._items.values()) if one.dataset == dataset]


@dataclass(frozen=True)
class Upload:
    """A file a client sent: where it lies, under a name of ours, and what the client calls it."""

    path: Path
    shown: str
    id: str = ""
    size: int = 0
    #: Whether it is a file of the user's own, named on the command line: no limit is set to it.
    is_local_file: bool = False


@dataclass(frozen=True)
class UploadedDataset:
    """The files that make a data set, its XML if any, with what is said of them and their bound."""

    file: Upload
    xml: Upload | None
    options: dict[str, Any]
    max_unpacked: int

    @property
    def upload_ids(self) -> list[str]:
        """The numbers of the uploads."""
        return [each.id for each in (self.file, self.xml) if each is not None]


class Uploads(ItemsWithFolders[Upload]):
    """Uploaded files, by number."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        super().__init__(folder, "There is no such upload any more. Send the file again.")
        self._max_bytes = max_bytes
        self._n_readers: Counter[str] = Counter()
        self._turns = asyncio.Semaphore(MAX_RECEIVING)

    async def store(
        self,
        name: str,
        body: AsyncIterator[bytes],
        *,
        declared: int | None,
        suffixes: Collection[str],
    ) -> Upload:
        """Receive a file."""
        if declared is not None and declared > self._max_bytes:
            raise RequestError(self._too_large, 413)
        await self._wait_for_turn()
        number = token_hex(8)
        try:
            place = self.new_folder(number)
            path = place / f"data{_known_suffix(name, suffixes)}"
            size = await self._receive(path, body)
        except BaseException:  # also when the client goes away
            self.remove_unused_folder(number)
            raise
        finally:
            self._turns.release()
        stored = self._items[number] = Upload(path, name[:MAX_NAME], number, size)
        self._make_room(stored)
        return stored

    def add_local_file(self, path: Path, shown: str) -> Upload:
        """Take a file that lies elsewhere on this machine as if it had been sent."""
        place = self.new_folder()
        target = place / f"data{''.join(path.suffixes[-2:])}"
        link_or_copy(os.symlink, path.resolve(), target)
        stored = self._items[place.name] = Upload(target, shown, place.name, is_local_file=True)
        return stored

    def holds(self, number: str) -> bool:
        """Tell whether an upload is still there."""
        return number in self._items

    def reserve(self, upload_ids: Collection[str], *, is_last: bool = True) -> DoneCallback:
        """Keep uploads for a job to read them; what it is to call at its end removes the rest.

        The last job to read them removes them with it, unless it was not done: then there may be
        another try with other options.
        """
        self._n_readers.update(upload_ids)

        def let_go(job: Job) -> None:
            self._n_readers.subtract(upload_ids)
            self._n_readers = +self._n_readers
            for number in set(upload_ids) - set(self._n_readers):
                self.remove_unused_folder(number)  # if nobody wants it any more
                for path in (self._folder / number).iterdir() if self.holds(number) else ():
                    if path != self._items[number].path:
                        path.unlink()
            for number in upload_ids if is_last and job.state == "done" else ():
                self.discard(number)

        return let_go

    def _make_room(self, newest: Upload) -> None:
        """Push out the oldest uploads that nobody reads, where there are too many or too much."""
        waiting = [
            each
            for each in self._items.values()
            if each is not newest and not self._n_readers[each.id]
        ]
        size = newest.size + sum(each.size for each in waiting)
        for at, old in enumerate(waiting):
            if len(waiting) - at < KEPT_UPLOADS and size <= KEPT_SIZES * self._max_bytes:
                return
            self.discard(old.id)
            size -= old.size

    async def _wait_for_turn(self) -> None:
        try:
            await asyncio.wait_for(self._turns.acquire(), PATIENCE)
        except TimeoutError:
            raise RequestError(
                "Too many files are being sent at once. Try again in a moment.", 503
            ) from None

    async def _receive(self, path: Path, body: AsyncIterator[bytes]) -> int:
        size = 0
        with open(path, "xb") as out:
            async for block in receive_with_timeout(
                body, PATIENCE, self._max_bytes, self._too_large
            ):
                size += out.write(block)
        if size == 0:
            raise RequestError("The file is empty. Expected a data set.")
        return size

    @property
    def _too_large(self) -> str:
        return (
            f"The file is larger than the {self._max_bytes >> 20:,} MB this server takes. Compress "
            "it, open it with 'scumble gui FILE', or start the server with a larger --max-upload."
        )


def link_or_copy(link: Callable[[Path, Path], None], path: Path, target: Path) -> None:
    """Let a file have a second place."""
    try:
        link(path, target)
    except OSError:  # no links in this file system, or for administrators only
        shutil.copyfile(path, target)


async def receive_with_timeout(
    body: AsyncIterator[bytes], seconds: float, most: int = sys.maxsize, refusal: str = ""
) -> AsyncIterator[bytes]:
    """Receive a body, unless its sender falls silent: a few such would hold all we have.

    More bytes than ``most`` are refused.
    """
    pieces = aiter(body)
    size = 0
    while True:
        try:
            block = await asyncio.wait_for(anext(pieces), seconds)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise RequestError("The rest of this stopped coming. Send it again.", 408) from None
        size += len(block)
        if size > most:
            raise RequestError(refusal, 413)
        yield block


def _known_suffix(name: str, suffixes: Collection[str]) -> str:
    from scumble._core.files import COMPRESSIONS  # with it all that decompresses

    parts = [f".{part}" for part in name.lower().split(".")[1:]]
    compression = parts.pop() if parts and parts[-1] in COMPRESSIONS else ""
    return (parts[-1] if parts and parts[-1] in suffixes else "") + compression
