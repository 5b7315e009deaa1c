"""The private folder of a server, which vanishes with it; and those of servers that were killed."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows, where a folder in use cannot be told from one left behind
    fcntl = None  # type: ignore[assignment]  # a module elsewhere

PREFIX = "scumble-gui-"
LOCK = "lock"
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
