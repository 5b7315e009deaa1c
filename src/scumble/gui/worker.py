"""A process for heavy work: it tells how far it is, and can be killed at any time.

Values travel as pickles over the process's own pipes. Both ends are this module; nothing a client
sends is ever unpickled.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

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
        # Not multiprocessing: it would import the caller's main module once more, which takes
        # time, and asks scripts for a guard.
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from scumble.gui.worker import work; work()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": _python_path()},
        )
        self._in = cast(IO[bytes], self._process.stdin)
        self._out = cast(IO[bytes], self._process.stdout)
        self._is_busy = self._is_killed = False

    def run(self, task: str, arguments: dict[str, Any], tell: Callable[..., None]) -> Any:
        """Do a task and wait for it."""
        self._is_busy = True
        try:
            _write(self._in, (task, arguments))
            while True:
                kind, *content = pickle.load(self._out)
                if kind == "progress":
                    tell(*content)
                elif kind == "done":
                    return content[0]
                else:
                    raise TaskError(content[0])
        except TaskError:
            raise
        except Exception as error:  # gone, or not to be understood: then it has to go
            self._is_killed = True
            self._process.kill()
            self._process.wait()
            self._close()
            raise WorkerGoneError from error
        finally:
            self._is_busy = False

    def kill(self) -> None:
        """End the process at once; a thread in `run` then gets `WorkerGoneError`."""
        self._is_killed = True
        self._process.kill()
        if not self._is_busy:
            self._process.wait()
            self._close()

    def _close(self) -> None:
        for pipe in (self._in, self._out):
            try:
                pipe.close()
            except OSError:  # something was still to be written
                continue

    @property
    def is_alive(self) -> bool:
        """Whether it can take another task."""
        # A process that was killed a moment ago may still look alive.
        return not self._is_killed and self._process.poll() is None


class _Sink:
    """Sends progress to the parent, not more often than anyone could look."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._last = 0.0

    def start(self, title: str, total: int | None) -> Callable[[int], None]:
        done = 0
        _write(self._out, ("progress", title, 0, total))

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            now = time.monotonic()
            if now - self._last >= BEAT:
                self._last = now
                _write(self._out, ("progress", title, done, total))

        return advance

    def finish(self) -> None:
        """Nothing to clear: the next message replaces this one."""


def work() -> None:
    """Serve tasks from standard input until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    _go_first_when_memory_ends()
    tasks_in, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not get among the answers
    from scumble.gui import tasks

    while True:
        try:
            name, arguments = pickle.load(tasks_in)
        except (EOFError, OSError):
            return
        answer = _answer(getattr(tasks, name), arguments, _Sink(answers))
        try:
            _write(answers, answer)
        except OSError:
            return
        del answer, arguments  # they may be large, and the next task may be long in coming


def _go_first_when_memory_ends() -> None:
    """Ask Linux to end this process rather than the server, or anything else of the user's."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _answer(task: Callable[..., Any], arguments: dict[str, Any], sink: _Sink) -> tuple[str, Any]:
    from scumble._core.progress import show_progress

    try:
        with show_progress(sink), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", ScumbleWarning)
            result = task(**arguments)
    except ScumbleError as error:
        return "failed", str(error)
    except MemoryError:
        return "failed", "There is not enough memory for this."
    except Exception:
        traceback.print_exc()
        return "failed", "Something went wrong inside; the terminal shows where."
    notes = [str(each.message) for each in heard if issubclass(each.category, ScumbleWarning)]
    return "done", (result, notes)


def _write(pipe: IO[bytes], value: Any) -> None:
    pickle.dump(value, pipe, protocol=5)
    pipe.flush()


def _python_path() -> str:
    """Let the child find this package where its parent did."""
    own = str(Path(__file__).parents[2])
    return os.pathsep.join(filter(None, (own, os.environ.get("PYTHONPATH"))))
