"""Worker processes of the server: they run tasks, report progress, and can be stopped or killed.

A worker keeps the data sets that it has opened, made or received; tasks name them by their keys.

Workers ignore SIGINT unless a task handles it, so it can be sent at any time. A task that does not
end after the signal is killed.
"""

from __future__ import annotations

import errno
import signal
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Any

from scumble._core.processes import ChildProcess
from scumble.gui.packed_dataset import DatasetReference, PackedDataset

#: Values by name: bodies of requests and responses, arguments and results of tasks.
Payload = dict[str, Any]

#: Result of a task that writes a file: the name of the file, and further values for the client.
WrittenFile = tuple[str, Payload]

#: Message for a user about an unexpected error; its traceback is printed in the terminal.
INTERNAL_ERROR_MESSAGE = "An internal error occurred; the terminal shows the details."

#: Errors of the system when nothing more can be written: the disk, a quota or a file is full.
DISK_FULL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def disk_full_message(error: Exception) -> str | None:
    """Return what a user can do about a full disk, or None if an error has another reason."""
    if not isinstance(error, OSError) or error.errno not in DISK_FULL_ERRORS:
        return None
    return (
        f"The disk of {tempfile.gettempdir()} is full. No part of this was kept. Free some space, "
        "or start the server with TMPDIR set to a folder on a larger disk."
    )


class Task(StrEnum):
    """What a worker can do; `scumble.gui.tasks.run` has the function of each task."""

    DESCRIBE_CATALOGUE = auto()
    OPEN_PATH = auto()
    OPEN_NAMED = auto()
    OPEN_UPLOAD = auto()
    PREVIEW_UPLOAD = auto()
    LIST_MEMBERS = auto()
    TREAT = auto()
    COMPARE_RESAMPLERS = auto()
    EXPORT_DATA = auto()
    EXPORT_REPORT = auto()
    ADVISE = auto()
    EXPORT_ADVICE = auto()
    RUN_COMPARISON = auto()
    TRAIN = auto()
    PREDICT = auto()


class TaskError(Exception):
    """A task failed; the message is for the user."""


class TaskStoppedError(Exception):
    """A task was stopped before it had a partial result."""


@dataclass(frozen=True)
class RetainDatasets:
    """A request to a worker: drop all data sets but those with these keys."""

    keys: tuple[str, ...]


class Worker(ChildProcess):
    """A process that runs one task after another, and keeps the data sets of these tasks."""

    def __init__(self) -> None:
        super().__init__("scumble.gui.tasks.run.handle_request")

    def run(self, task: Task, arguments: Payload, report_progress: Callable[..., None]) -> Any:
        """Run a task and return its result with its warnings.

        Parameters
        ----------
        task : Task
            The task.
        arguments : dict
            The arguments of its function by name. Of a `PackedDataset`, only the key is sent if the
            process has it already.
        report_progress : callable
            Is called with the title, the number of steps done and the total of each report.

        Raises
        ------
        TaskError
            If the task failed.
        TaskStoppedError
            If it was stopped before it had a partial result.
        ChildExitedError
            If the process ended before the task did.
        """
        self.send((task, {name: _as_reference(value) for name, value in arguments.items()}))
        while True:
            kind, *content = self.receive()
            if kind == "progress":
                report_progress(*content)
            elif kind == "missing":
                self.send((task, arguments))
            elif kind == "retained":
                continue
            elif kind == "done":
                return content[0]
            elif kind == "stopped":
                raise TaskStoppedError
            else:
                raise TaskError(content[0])

    def retain_datasets(self, keys: Collection[str]) -> None:
        """Let the process drop all data sets but those with these keys; no task may be running.

        `run` skips the response, so that nothing waits for it.
        """
        self.send(RetainDatasets(tuple(keys)))


def _as_reference(value: Any) -> Any:
    """Return the key of a data set, and any other value as it is."""
    return DatasetReference(value.key) if isinstance(value, PackedDataset) else value


# In the worker process: tasks that can be stopped and then return a partial result


class _SignalState:
    """Whether the main thread is sending a message, and whether SIGINT arrived in the meantime."""

    is_sending = False
    stop_requested = False


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT inside the block, but never while a message is sent."""
    _SignalState.stop_requested = False
    previous_handler = signal.signal(signal.SIGINT, _handle_sigint)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)


def send_uninterrupted(send: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a function that sends a complete message before it raises KeyboardInterrupt.

    After a partial message the parent process could not read any further one.
    """

    def send_complete_message(message: Any) -> None:
        """Send a message; a stop signal during it raises KeyboardInterrupt afterwards."""
        if threading.current_thread() is not threading.main_thread():
            send(message)  # signals interrupt the main thread only
            return
        _SignalState.is_sending = True
        try:
            send(message)
        finally:
            _SignalState.is_sending = False
        if _SignalState.stop_requested:
            _SignalState.stop_requested = False
            raise KeyboardInterrupt

    return send_complete_message


def _handle_sigint(*_: Any) -> None:
    """Raise KeyboardInterrupt, or note the request to stop if a message is being sent."""
    if not _SignalState.is_sending:
        raise KeyboardInterrupt
    _SignalState.stop_requested = True
