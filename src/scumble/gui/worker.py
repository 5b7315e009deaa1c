"""A process for heavy work: it tells how far it is, and can be stopped or killed at any time.

Data sets travel to it and back with their measures.

Workers ignore SIGINT, so that it can be sent at any time: who is not ready for it goes on, and is
killed if it does so for too long.
"""

from __future__ import annotations

import errno
import pickle
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scumble._core.processes import ChildProcess

if TYPE_CHECKING:  # what computes is imported when something is computed
    from scumble.data import MultilabelDataset
    from scumble.data.feature_table import FeatureTable
    from scumble.measures.summary import Summary

    Content = tuple[MultilabelDataset, Summary, FeatureTable]

#: Values by name: what a client says or is told, and what a task is given or finds.
Payload = dict[str, Any]

#: What somebody is told who cannot do anything about it.
INTERNAL_ERROR_MESSAGE = "Something went wrong inside; the terminal shows where."

#: What the system answers where not a byte more may be written.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def disk_full_message(error: Exception) -> str | None:
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


class Worker(ChildProcess):
    """One process that does one task after another."""

    def __init__(self) -> None:
        super().__init__("scumble.gui.tasks.answer")

    def run(self, task: str, arguments: Payload, tell: Callable[..., None]) -> Any:
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


class PackedDataset:
    """A data set with its measures, on its way between two processes.

    It is packed until somebody looks inside. The server shows what a worker computed without
    unpacking it: so it need not import what the worker imports, and the page is there in half the
    time.
    """

    def __init__(self, metadata: Payload, overview: Payload, packed: bytes) -> None:
        self.metadata, self.overview = metadata, overview
        self._content: Content | bytes = packed
        self._lock = threading.Lock()

    @classmethod
    def pack(cls, overview: Payload, content: Content) -> PackedDataset:
        """Pack a data set."""
        sizes = ("n_instances", "n_features", "n_labels")
        facts = {"name": content[0].name, **{size: getattr(content[0], size) for size in sizes}}
        return cls(facts, overview, pickle.dumps(content, protocol=5))

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the packed bytes to another process, not the arrays."""
        with self._lock:
            known = self._content
        packed = known if isinstance(known, bytes) else pickle.dumps(known, protocol=5)
        return PackedDataset, (self.metadata, self.overview, packed)

    @property
    def data(self) -> MultilabelDataset:
        """The data set."""
        return self._unpacked()[0]

    @property
    def summary(self) -> Summary:
        """Its measures."""
        return self._unpacked()[1]

    @property
    def feature_table(self) -> FeatureTable:
        """The range of its features."""
        return self._unpacked()[2]

    def _unpacked(self) -> Content:
        with self._lock:  # fifty clients may ask at once
            if isinstance(self._content, bytes):
                content: Content = pickle.loads(self._content)  # made by a process of ours
                self._content = content  # not twice in memory
            return self._content


# Inside the process: work that may be stopped, and gives what it has found by then


class _Asked:
    """Whether a message is on its way, and whether somebody asked to stop meanwhile."""

    is_speaking = False
    to_stop = False


@contextmanager
def interruptible() -> Iterator[None]:
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
