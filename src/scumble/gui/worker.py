"""A process for heavy work: it tells how far it is, and can be killed at any time."""

from __future__ import annotations

import multiprocessing
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from scumble._core.errors import ScumbleError, ScumbleWarning

#: Seconds between two messages about progress.
BEAT = 0.05


class TaskError(Exception):
    """A task failed for a reason its caller should read."""


class WorkerGoneError(Exception):
    """The process ended before its task did."""


class Worker:
    """One process that does one task after another."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # threads run here: forking is unsafe
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def run(self, task: str, arguments: dict[str, Any], tell: Callable[..., None]) -> Any:
        """Do a task and wait for it.

        Parameters
        ----------
        task : str
            Name of a function of `scumble.gui.tasks`.
        arguments : dict
            Its arguments.
        tell : callable
            Called with title, steps done and steps in all, whenever there is progress.

        Returns
        -------
        object
            What the function returns.

        Raises
        ------
        TaskError
            If it raises a `ScumbleError`.
        WorkerGoneError
            If the process was killed, or died.
        """
        try:
            self._ours.send((task, arguments))
            while True:
                kind, *content = self._ours.recv()
                if kind == "progress":
                    tell(*content)
                elif kind == "done":
                    return content[0]
                else:
                    raise TaskError(content[0])
        except (EOFError, OSError) as error:
            raise WorkerGoneError from error

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()  # a thread that waits for an answer reads the end of the pipe
        self._process.join()

    @property
    def is_alive(self) -> bool:
        """Whether it can take another task."""
        return self._process.is_alive()


class _Sink:
    """Sends progress to the parent, not more often than anyone could look."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last = 0.0

    def start(self, title: str, total: int | None) -> Callable[[int], None]:
        done = 0
        self._connection.send(("progress", title, 0, total))

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            now = time.monotonic()
            if now - self._last >= BEAT:
                self._last = now
                self._connection.send(("progress", title, done, total))

        return advance

    def finish(self) -> None:
        """Nothing to clear: the next message replaces this one."""


def _work(connection: Connection) -> None:
    """Serve tasks until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    from scumble._core.progress import show_progress
    from scumble.gui import tasks

    while True:
        try:
            name, arguments = connection.recv()
        except (EOFError, OSError):
            return
        try:
            with show_progress(_Sink(connection)), warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always", ScumbleWarning)
                result = getattr(tasks, name)(**arguments)
            notes = [str(each.message) for each in heard if issubclass(each.category, UserWarning)]
            answer: tuple[str, Any] = ("done", (result, notes))
        except ScumbleError as error:
            answer = ("failed", str(error))
        except MemoryError:
            answer = ("failed", "There is not enough memory for this.")
        except Exception:
            traceback.print_exc()
            answer = ("failed", "Something went wrong inside; the terminal shows where.")
        try:
            connection.send(answer)
        except OSError:
            return
        del answer, arguments
        result = None
