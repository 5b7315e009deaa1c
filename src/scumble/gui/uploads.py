"""Files that clients send: bounded, in a private folder, under names of our own."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from scumble.gui.answers import RefusedError
from scumble.gui.folders import Numbered

if TYPE_CHECKING:
    from scumble.gui.jobs import After, Job

#: Uploads that wait to be opened; more push out the oldest that nobody is reading.
KEPT = 128
#: How many times the largest file all of them may take together.
KEPT_SIZES = 4
#: Files that are being received at a time; further senders wait for their turn.
MAX_RECEIVING = 32
#: Seconds without a byte after which a sender is given up, and that a sender waits for its turn.
PATIENCE = 30.0
#: A name is for showing; nobody shows more.
MAX_NAME = 255


@dataclass(frozen=True)
class Upload:
    """A file a client sent: where it lies, under a name of ours, and what the client calls it."""

    path: Path
    shown: str
    id: str = ""
    size: int = 0
    #: Whether it is a file of the user's own, named on the command line: no limit is set to it.
    is_lent: bool = False


@dataclass(frozen=True)
class Sent:
    """The files that make a data set, its XML if any, with what is said of them and their bound."""

    file: Upload
    xml: Upload | None
    options: dict[str, Any]
    max_unpacked: int

    @property
    def numbers(self) -> list[str]:
        """The numbers of the uploads."""
        return [each.id for each in (self.file, self.xml) if each is not None]


class Uploads(Numbered[Upload]):
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
        suffixes: frozenset[str],
    ) -> Upload:
        """Receive a file."""
        if declared is not None and declared > self._max_bytes:
            raise RefusedError(413, self._too_large)
        await self._wait_for_turn()
        number = token_hex(8)
        try:
            place = self.new_folder(number)
            path = place / f"data{_known_suffix(name, suffixes)}"
            size = await self._receive(path, body)
        except BaseException:  # also when the client goes away
            self.forget_folder(number)
            raise
        finally:
            self._turns.release()
        stored = self._kept[number] = Upload(path, name[:MAX_NAME], number, size)
        self._make_room(stored)
        return stored

    def lend(self, path: Path, shown: str) -> Upload:
        """Take a file that lies elsewhere on this machine as if it had been sent."""
        place = self.new_folder()
        target = place / f"data{''.join(path.suffixes[-2:])}"
        link_or_copy(os.symlink, path.resolve(), target)
        stored = self._kept[place.name] = Upload(target, shown, place.name, is_lent=True)
        return stored

    def holds(self, number: str) -> bool:
        """Tell whether an upload is still there."""
        return number in self._kept

    def reading(self, numbers: Collection[str]) -> After:
        """Keep uploads for a job to read them; what it is to call at its end removes them.

        They stay where the job was not done, for another try with other options.
        """
        self.hold(numbers)

        def let_go(job: Job) -> None:
            self.let_go(numbers)
            for number in numbers if job.state == "done" else ():
                self.discard(number)

        return let_go

    def hold(self, numbers: Collection[str]) -> None:
        """Keep uploads while they are read."""
        self._n_readers.update(numbers)

    def let_go(self, numbers: Collection[str]) -> None:
        """End what `hold` began, and remove what reading has left beside an upload."""
        self._n_readers.subtract(numbers)
        self._n_readers = +self._n_readers
        for number in set(numbers) - set(self._n_readers):
            self.forget_folder(number)  # if nobody wants it any more
            for path in (self._folder / number).iterdir() if self.holds(number) else ():
                if path != self._kept[number].path:
                    path.unlink()

    def _make_room(self, newest: Upload) -> None:
        """Push out the oldest uploads that nobody reads, where there are too many or too much."""
        waiting = [
            each
            for each in self._kept.values()
            if each is not newest and not self._n_readers[each.id]
        ]
        size = newest.size + sum(each.size for each in waiting)
        for at, old in enumerate(waiting):
            if len(waiting) - at < KEPT and size <= KEPT_SIZES * self._max_bytes:
                return
            self.discard(old.id)
            size -= old.size

    async def _wait_for_turn(self) -> None:
        try:
            await asyncio.wait_for(self._turns.acquire(), PATIENCE)
        except TimeoutError:
            raise RefusedError(
                503, "Too many files are being sent at once. Try again in a moment."
            ) from None

    async def _receive(self, path: Path, body: AsyncIterator[bytes]) -> int:
        size = 0
        with open(path, "xb") as out:
            async for block in patiently(body, PATIENCE, self._max_bytes, self._too_large):
                size += out.write(block)
        if size == 0:
            raise RefusedError(422, "The file is empty. Expected a data set.")
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


async def patiently(
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
            raise RefusedError(408, "The rest of this stopped coming. Send it again.") from None
        size += len(block)
        if size > most:
            raise RefusedError(413, refusal)
        yield block


def _known_suffix(name: str, suffixes: frozenset[str]) -> str:
    from scumble._core.files import COMPRESSIONS  # with it all that decompresses

    parts = [f".{part}" for part in name.lower().split(".")[1:]]
    compression = parts.pop() if parts and parts[-1] in COMPRESSIONS else ""
    return (parts[-1] if parts and parts[-1] in suffixes else "") + compression
