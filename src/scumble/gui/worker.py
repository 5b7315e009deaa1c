"""A process for heavy work: it tells how far it is, and can be stopped or killed at any time.

Workers ignore SIGINT, so that it can be sent at any time: who is not ready for it goes on, and is
killed if it does so for too long.
"""

from __future__ import annotations

import errno
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from scumble._core.processes import Child

#: What somebody is told who cannot do anything about it.
WRONG_INSIDE = "Something went wrong inside; the terminal shows where."

#: What the system answers where not a byte more may be written.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def no_room(error: Exception) -> str | None:
    """Say that the disk has no room and what to do, where an error means that."""
    if not isinstance(error, OSError) or error.errno not in FULL:
        return None
    return (
        f"There is no room left for this on the disk of {tempfile.gettempdir()}. Nothing was kept "
        "of it. Free some space, or start the server with TMPDIR naming a folder on a larger disk."
    )


class TaskError(Exception):
    """A task failed for a reason its caller should read."""


class TaskStoppedError(Exception):
    """A task was stopped before it had found anything."""


class Worker(Child):
    """One process that does one task after another."""

    def __init__(self) -> None:
        super().__init__("scumble.gui.tasks.answer")

    def run(self, task: str, arguments: dict[str, Any], tell: Callable[..., None]) -> Any:
        """Do a task and wait for it; `ChildGoneError` where the process ends before."""
        self.send((task, arguments))
        while True:
            kind, *content = self.receive()
            if kind == "progress":
                tell(*content)
            elif kind == "done":
                return content[0]
            elif kind == "stopped":
                raise TaskStoppedError
            else:
                raise TaskError(content[0])


# Inside the process: work that may be stopped, and gives what it has found by then


class _Asked:
    """Whether a message is on its way, and whether somebody asked to stop meanwhile."""

    is_speaking = False
    to_stop = False


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt in here, though in the midst of no message."""
    _Asked.to_stop = False
    before = signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def whole(tell: Callable[[Any], None]) -> Callable[[Any], None]:
    """Make a function that sends a message to its end: half of one would make all unreadable."""

    def tell_whole(message: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            tell(message)
            return
        _Asked.is_speaking = True
        try:
            tell(message)
        finally:
            _Asked.is_speaking = False
        if _Asked.to_stop:
            _Asked.to_stop = False
            raise KeyboardInterrupt

    return tell_whole


def _stop(*_: Any) -> None:
    if not _Asked.is_speaking:
        raise KeyboardInterrupt
    _Asked.to_stop = True
