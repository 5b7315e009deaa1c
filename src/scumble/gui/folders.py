"""The private folder of a server, which vanishes with it, and what is kept in it by number.

The folders of servers that were killed are removed by the next.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Generic, TypeVar

from scumble.gui.answers import Answer, RefusedError

try:
    import fcntl
except ImportError:  # Windows, where a folder in use cannot be told from one left behind
    fcntl = None  # type: ignore[assignment]  # a module elsewhere

PREFIX = "scumble-gui-"
LOCK = "lock"
#: Models that are kept, and the bytes they may take together; more push out the oldest.
KEPT_MODELS, KEPT_BYTES = 24, 2 << 30
#: Files made for download that are kept after they were fetched, for another time.
KEPT_FILES = 12
#: Those that are kept for who has asked for them, and has not come yet.
KEPT_WAITING = 64
#: Seconds in which a server that begins has surely locked its folder.
BEGINNING = 60

Thing = TypeVar("Thing")


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


def remove_abandoned() -> int:
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
    with open(lock, "rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _remove(folder: Path, lock: IO[bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.close()


class Numbered(Generic[Thing]):
    """Things by number, each with a folder of its own, whose name is the number."""

    def __init__(self, folder: Path, gone: str) -> None:
        folder.mkdir(exist_ok=True)
        self._folder, self._gone = folder, gone
        self._kept: dict[str, Thing] = {}

    def new_folder(self, number: str = "") -> Path:
        """Make the folder for something that will be kept, or forgotten."""
        folder = self._folder / (number or token_hex(8))
        folder.mkdir(mode=0o700)
        return folder

    def forget_folder(self, number: str) -> None:
        """Remove the folder of what is not kept after all."""
        if number not in self._kept:
            shutil.rmtree(self._folder / number, ignore_errors=True)

    def get(self, number: str) -> Thing:
        """Find one of them."""
        if number not in self._kept:
            raise RefusedError(404, self._gone)
        return self._kept[number]

    def discard(self, number: str) -> None:
        """Remove one of them, if it is still there."""
        if self._kept.pop(number, None) is not None:
            self.forget_folder(number)


class Downloads(Numbered[str]):
    """Files made for download, by their names."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "This file is gone. Make it again.")
        self._fetched: set[str] = set()

    def offer(self, number: str, name: str) -> dict[str, Any]:
        """Offer a file for download."""
        self._kept[number] = name
        fetched = [each for each in self._kept if each in self._fetched]
        waiting = [each for each in self._kept if each not in self._fetched]
        for old in (*fetched[:-KEPT_FILES], *waiting[:-KEPT_WAITING]):
            self._fetched.discard(old)
            self.discard(old)
        size = (self._folder / number / name).stat().st_size
        return {"file": number, "name": name, "size": size}

    def fetch(self, number: str) -> Answer:
        """Find a file offered for download."""
        name = self.get(number)
        self._fetched.add(number)
        return Answer(self._folder / number / name, filename=name)


@dataclass(frozen=True)
class Model:
    """A model in a file of ours."""

    id: str
    path: Path
    dataset: str
    facts: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what the API tells about it."""
        return {"model": self.id, "trained_on": self.dataset, **self.facts}


class Models(Numbered[Model]):
    """Trained models, to be asked about further files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "This model is gone. Train it again.")

    def add(self, number: str, name: str, dataset: str, facts: dict[str, Any]) -> Model:
        """Keep a model that was trained; of too many, or too large ones, the oldest go."""
        path = self._folder / number / name
        model = self._kept[number] = Model(number, path, dataset, facts)
        for old in list(self._kept)[:-1]:
            size = sum(model.facts["size"] for model in self._kept.values())
            if len(self._kept) > KEPT_MODELS or size > KEPT_BYTES:
                self.discard(old)
        return model

    def forget(self, dataset: str) -> None:
        """Remove the models of a data set: another one may come to have its name."""
        for model in self.of(dataset):
            self.discard(model.id)

    def of(self, dataset: str) -> list[Model]:
        """List the models trained on a data set, the newest first."""
        return [one for one in reversed(self._kept.values()) if one.dataset == dataset]
