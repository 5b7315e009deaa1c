"""The private folder of a server: uploads, downloads and models, each in a folder named by its id.

Their numbers and sizes are limited. The folder is removed when the server ends; if the server was
killed, the next one removes it.
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

from scumble.gui.http_messages import ApiResponse, Item, ItemsById, RequestError

try:
    import fcntl
except ImportError:  # Windows: a folder in use cannot be distinguished from an abandoned one
    fcntl = None  # type: ignore[assignment]  # a module elsewhere

if TYPE_CHECKING:
    from scumble.gui.jobs import FinishedCallback, Job

#: Beginning of the names of all private folders, by which abandoned ones are recognized.
FOLDER_PREFIX = "scumble-gui-"
#: Name of the file in a private folder that its server keeps locked.
LOCK_NAME = "lock"
#: Maximum number of models, and of their bytes together; further ones replace the oldest. A few
#: models of many labels could fill a disk.
MAX_MODELS, MAX_MODEL_BYTES = 24, 2 << 30
#: Maximum number of downloads that were fetched and remain available, so that a client can retry.
MAX_FETCHED_DOWNLOADS = 12
#: Maximum number of downloads that no client has fetched yet; many clients may need one at once.
MAX_UNFETCHED_DOWNLOADS = 64
#: Maximum number of uploads that no job reads; further ones replace the oldest.
MAX_UPLOADS = 128
#: Maximum bytes of these uploads together, as a multiple of the maximum of one file.
MAX_UPLOADS_SIZE_RATIO = 4
#: Maximum number of files that are received at the same time; further clients wait.
MAX_CONCURRENT_UPLOADS = 32
#: Seconds without a byte after which a transfer is aborted; also the time that a client waits for
#: the beginning of its transfer.
TRANSFER_TIMEOUT = 30.0
#: Maximum characters of a file's name, which is only displayed; most file systems allow as many.
MAX_NAME_LENGTH = 255
#: Seconds after which a starting server has certainly locked its folder.
LOCK_GRACE_SECONDS = 60


class PrivateFolder:
    """A temporary folder that only this user can read, locked while this process lives.

    Attributes
    ----------
    path : Path
        The folder.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        lock = open(self.path / LOCK_NAME, "wb")  # stays open as long as the folder exists
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._remover = weakref.finalize(self, _remove_folder, self.path, lock)

    def remove(self) -> None:
        """Remove the folder and its content; without this call, it happens at exit."""
        self._remover()


def remove_abandoned_folders() -> int:
    """Remove the folders of this user's servers that were killed; return their number."""
    if fcntl is None:
        return 0
    n_removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with suppress(OSError):
            if _is_old_folder_of_user(folder) and _is_unlocked(folder / LOCK_NAME):
                shutil.rmtree(folder, ignore_errors=True)
                n_removed += 1
    return n_removed


def _is_old_folder_of_user(folder: Path) -> bool:
    """Return whether a path is a folder of this user that is old enough to have been locked."""
    status = folder.lstat()  # of a link itself, not of its target
    belongs_to_user = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return belongs_to_user and time.time() - status.st_mtime > LOCK_GRACE_SECONDS


def _is_unlocked(lock: Path) -> bool:
    """Return whether no process holds a lock; the system releases the locks of ended processes."""
    with open(lock, "rb") as stream, suppress(BlockingIOError):
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _remove_folder(folder: Path, lock: IO[bytes]) -> None:
    """Remove a private folder, then release its lock."""
    shutil.rmtree(folder, ignore_errors=True)
    lock.close()


class ItemsWithFolders(ItemsById[Item]):
    """Items by their ids, each with a folder whose name is the id."""

    def __init__(self, folder: Path, not_found_message: str) -> None:
        super().__init__(not_found_message)
        folder.mkdir(exist_ok=True)
        self._folder = folder

    def new_folder(self, item_id: str = "") -> Path:
        """Create the folder of a new item; by default, with a random id."""
        folder = self._folder / (item_id or token_hex(8))
        folder.mkdir(mode=0o700)
        return folder

    def remove_unused_folder(self, item_id: str) -> None:
        """Remove the folder of an id if no item has this id."""
        if item_id not in self._items:
            shutil.rmtree(self._folder / item_id, ignore_errors=True)

    def discard(self, item_id: str) -> None:
        """Remove an item with its folder, if it exists."""
        if self._items.pop(item_id, None) is not None:
            self.remove_unused_folder(item_id)


class Downloads(ItemsWithFolders[str]):
    """Files made for download: their names by their ids."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "This file no longer exists. Create it again.")
        self._fetched: set[str] = set()

    def offer(self, file_id: str, name: str) -> dict[str, Any]:
        """Make a file available; return its description for the client."""
        self._items[file_id] = name
        fetched = [item_id for item_id in self._items if item_id in self._fetched]
        unfetched = [item_id for item_id in self._items if item_id not in self._fetched]
        for old_id in fetched[:-MAX_FETCHED_DOWNLOADS] + unfetched[:-MAX_UNFETCHED_DOWNLOADS]:
            self._fetched.discard(old_id)
            self.discard(old_id)
        size = (self._folder / file_id / name).stat().st_size
        return {"file": file_id, "name": name, "size": size}

    def fetch(self, file_id: str) -> ApiResponse:
        """Return the response that contains a file."""
        name = self.get(file_id)
        self._fetched.add(file_id)
        return ApiResponse(self._folder / file_id / name, filename=name)


@dataclass(frozen=True)
class TrainedModel:
    """A trained model in a file of the private folder.

    Attributes
    ----------
    id : str
        Id of the model.
    path : Path
        The file.
    dataset : str
        Id of the data set that it was trained on.
    metadata : dict
        Name and size of the file, title of the method and number of labels.
    """

    id: str
    path: Path
    dataset: str
    metadata: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the description of the model for the client."""
        return {"model": self.id, "trained_on": self.dataset, **self.metadata}


class TrainedModels(ItemsWithFolders[TrainedModel]):
    """Trained models, which can be downloaded or predict labels for other files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "This model no longer exists. Train it again.")

    def add(self, model_id: str, dataset: str, metadata: dict[str, Any]) -> TrainedModel:
        """Add a model; if there are too many or they are too large, remove the oldest."""
        path = self._folder / model_id / metadata["name"]
        metadata = {**metadata, "size": path.stat().st_size}
        model = TrainedModel(id=model_id, path=path, dataset=dataset, metadata=metadata)
        self._items[model_id] = model
        for old_id in list(self._items)[:-1]:
            n_bytes = sum(item.metadata["size"] for item in self._items.values())
            if len(self._items) > MAX_MODELS or n_bytes > MAX_MODEL_BYTES:
                self.discard(old_id)
        return model

    def discard_trained_on(self, dataset: str) -> None:
        """Remove the models of a data set: another data set may get its id later."""
        for model in self.list_trained_on(dataset):
            self.discard(model.id)

    def list_trained_on(self, dataset: str) -> list[TrainedModel]:
        """Return the models that were trained on a data set, the newest first."""
        return [model for model in reversed(self._items.values()) if model.dataset == dataset]


@dataclass(frozen=True)
class Upload:
    """A file that a client sent.

    Attributes
    ----------
    path : Path
        The file in the private folder.
    display_name : str
        The name that the client gave; it is only displayed.
    id : str
        Id of the upload.
    size : int
        Bytes of the file.
    is_local_file : bool
        Whether it is a file that was named on the command line. Its size is not limited.
    """

    path: Path
    display_name: str
    id: str = ""
    size: int = 0
    is_local_file: bool = False


@dataclass(frozen=True)
class UploadedDataset:
    """The uploads that form a data set, and how to read them.

    Attributes
    ----------
    file : Upload
        The file with the data.
    xml : Upload or None
        The XML file with the labels of a MULAN file.
    options : dict
        Options for the reader.
    max_unpacked : int
        Maximum bytes of the decompressed file.
    """

    file: Upload
    xml: Upload | None
    options: dict[str, Any]
    max_unpacked: int

    @property
    def upload_ids(self) -> list[str]:
        """Ids of the uploads."""
        return [upload.id for upload in (self.file, self.xml) if upload is not None]


class Uploads(ItemsWithFolders[Upload]):
    """Files that clients sent, by their ids.

    Parameters
    ----------
    folder : Path
        The folder for the files.
    max_bytes : int
        Maximum bytes of a file.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        super().__init__(folder, "This upload no longer exists. Send the file again.")
        self._max_bytes = max_bytes
        self._n_readers: Counter[str] = Counter()
        self._transfer_slots = asyncio.Semaphore(MAX_CONCURRENT_UPLOADS)

    async def store(
        self,
        name: str,
        body: AsyncIterator[bytes],
        *,
        declared_size: int | None,
        suffixes: Collection[str],
    ) -> Upload:
        """Receive a file and return its upload.

        Parameters
        ----------
        name : str
            The name that the client gave.
        body : async iterator of bytes
            The content.
        declared_size : int or None
            The size according to the request.
        suffixes : collection of str
            File name extensions that the file may keep; readers recognize some formats by them.
        """
        if declared_size is not None and declared_size > self._max_bytes:
            raise RequestError(self._too_large_message, 413)
        await self._wait_for_transfer_slot()
        upload_id = token_hex(8)
        try:
            path = self.new_folder(upload_id) / f"data{_recognized_suffix(name, suffixes)}"
            size = await self._receive(path, body)
        except BaseException:  # also if the client disconnects
            self.remove_unused_folder(upload_id)
            raise
        finally:
            self._transfer_slots.release()
        upload = Upload(path, name[:MAX_NAME_LENGTH], upload_id, size)
        self._items[upload_id] = upload
        self._discard_oldest(newest=upload)
        return upload

    def add_local_file(self, path: Path, display_name: str) -> Upload:
        """Add a file of this machine as an upload, by a link to it."""
        folder = self.new_folder()
        target = folder / f"data{''.join(path.suffixes[-2:])}"
        link_or_copy(os.symlink, path.resolve(), target)
        upload = Upload(target, display_name, id=folder.name, is_local_file=True)
        self._items[folder.name] = upload
        return upload

    def holds(self, upload_id: str) -> bool:
        """Return whether an upload still exists."""
        return upload_id in self._items

    def reserve(self, upload_ids: Collection[str], *, is_last: bool = True) -> FinishedCallback:
        """Keep uploads while a job reads them; return the function to call when it has finished.

        If the job was successful and ``is_last`` is true, this function removes the uploads. After
        a failure they remain, so that the client can try again with other options.
        """
        self._n_readers.update(upload_ids)

        def release(job: Job) -> None:
            """Mark the uploads as not read by this job, and remove what is not needed any more.

            These are the files derived from uploads that no job reads, and the uploads themselves
            if this was the last job for them and has succeeded.
            """
            self._n_readers.subtract(upload_ids)
            self._n_readers = +self._n_readers  # without those that no job reads
            for upload_id in set(upload_ids) - set(self._n_readers):
                self.remove_unused_folder(upload_id)
                self._remove_derived_files(upload_id)
            if is_last and job.state == "done":
                for upload_id in upload_ids:
                    self.discard(upload_id)

        return release

    def _remove_derived_files(self, upload_id: str) -> None:
        """Remove the files that jobs made of an upload, such as its decompressed content."""
        if not self.holds(upload_id):
            return
        for path in (self._folder / upload_id).iterdir():
            if path != self._items[upload_id].path:
                path.unlink()

    def _discard_oldest(self, newest: Upload) -> None:
        """Remove the oldest uploads that no job reads, until number and size are within limits."""
        unread = [
            upload
            for upload in self._items.values()
            if upload is not newest and not self._n_readers[upload.id]
        ]
        n_unread = len(unread)
        n_bytes = newest.size + sum(upload.size for upload in unread)
        for upload in unread:
            is_within_size = n_bytes <= MAX_UPLOADS_SIZE_RATIO * self._max_bytes
            if n_unread < MAX_UPLOADS and is_within_size:
                return
            self.discard(upload.id)
            n_unread -= 1
            n_bytes -= upload.size

    async def _wait_for_transfer_slot(self) -> None:
        """Wait until another file may be received."""
        try:
            await asyncio.wait_for(self._transfer_slots.acquire(), TRANSFER_TIMEOUT)
        except TimeoutError:
            raise RequestError(
                "Too many files are being sent at once. Try again in a moment.", 503
            ) from None

    async def _receive(self, path: Path, body: AsyncIterator[bytes]) -> int:
        """Write the content of an upload to a new file; return its size."""
        blocks = receive_with_timeout(
            body,
            seconds=TRANSFER_TIMEOUT,
            max_bytes=self._max_bytes,
            too_large_message=self._too_large_message,
        )
        n_bytes = 0
        with open(path, "xb") as out:
            async for block in blocks:
                n_bytes += out.write(block)
        if n_bytes == 0:
            raise RequestError("The file is empty. Expected a data set.")
        return n_bytes

    @property
    def _too_large_message(self) -> str:
        """The message for a file that is larger than the limit."""
        return (
            f"The file is larger than {self._max_bytes >> 20:,} MB, the limit of this server. "
            "Compress it, open it with 'scumble gui FILE', or start the server with a larger "
            "--max-upload."
        )


def link_or_copy(link: Callable[[Path, Path], None], path: Path, target: Path) -> None:
    """Make a file available under a second path: by a link or, if that fails, by a copy."""
    try:
        link(path, target)
    except OSError:  # the file system has no links, or only administrators may make them
        shutil.copyfile(path, target)


async def receive_with_timeout(
    body: AsyncIterator[bytes],
    seconds: float,
    max_bytes: int = sys.maxsize,
    too_large_message: str = "",
) -> AsyncIterator[bytes]:
    """Yield the blocks of a body; raise a `RequestError` if no block comes for ``seconds``.

    Without the time limit a few silent clients could use up all transfers. A body of more than
    ``max_bytes`` raises one with status 413 and the message ``too_large_message``.
    """
    blocks = aiter(body)
    n_bytes = 0
    while True:
        try:
            block = await asyncio.wait_for(anext(blocks), seconds)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise RequestError(
                "The transfer stopped before its end. Send the request again.", 408
            ) from None
        n_bytes += len(block)
        if n_bytes > max_bytes:
            raise RequestError(too_large_message, 413)
        yield block


def _recognized_suffix(name: str, suffixes: Collection[str]) -> str:
    """Return the extensions of a file name that are a known format, a known compression or both."""
    from scumble._core.files import COMPRESSIONS  # imports all modules that decompress

    extensions = [f".{part}" for part in name.lower().split(".")[1:]]
    compression = ""
    if extensions and extensions[-1] in COMPRESSIONS:
        compression = extensions.pop()
    if extensions and extensions[-1] in suffixes:
        return extensions[-1] + compression
    return compression
