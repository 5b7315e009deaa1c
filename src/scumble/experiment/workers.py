"""Worker processes: fresh interpreters that compute one cell after another.

They are plain child processes that speak over their standard input and output, so that one can be
killed without harming the others, and so that they work inside a cluster's workers, too.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO, Any

from scumble.experiment.cell import Cell

_HEADER = struct.Struct("<Q")
#: How often a worker looks whether its parent is still there, in seconds.
WATCH = 0.5


class Worker:
    """The parent's end of a worker process."""

    def __init__(
        self, compute: Any, threads: int, deliver: Callable[[tuple[Worker, Any]], None]
    ) -> None:
        self._complaints = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from scumble.experiment.workers import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            start_new_session=True,  # Ctrl-C is the parent's affair
            env={
                **os.environ,
                "SCUMBLE_NUM_THREADS": str(threads),
                "OMP_NUM_THREADS": str(threads),
            },
        )
        #: When its modules were loaded; None before that.
        self.ready_at: float | None = None
        self._deliver = deliver
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._write(pack(compute))

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def send(self, cell: Cell) -> None:
        """Give the worker a cell."""
        self._write(pickle.dumps(cell))

    def is_running(self) -> bool:
        """Tell whether the process has not ended."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process at once, and whatever it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        self._listener.join(timeout=10)
        for stream in (self._process.stdin, self._process.stdout, self._complaints):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def last_words(self) -> str:
        """Tell how a process ended that has closed its output, with the end of what it printed."""
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "the worker process closed its output"
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        size = self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(0, size - 2000))
        printed = self._complaints.read().decode(errors="replace").strip()
        return f"the worker process died ({how})" + (f"\n{printed}" if printed else "")

    def _write(self, message: bytes) -> None:
        # A worker that died is reported by its listener.
        with contextlib.suppress(BrokenPipeError, OSError):
            _send(self._process.stdin, message)

    def _listen(self) -> None:
        stream = self._process.stdout
        while True:
            try:
                message = _receive(stream)
            except (EOFError, OSError, ValueError):
                self._deliver((self, None))
                return
            if self.ready_at is None:
                self.ready_at = time.perf_counter()
                continue
            self._deliver((self, pickle.loads(message)))


def serve() -> None:
    """Run a worker: read what to do, then compute cells until the parent has gone."""
    requests, answers = _take_streams()
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    compute = pickle.loads(_receive(requests))
    _send(answers, b"ready")
    while True:
        try:
            cell = pickle.loads(_receive(requests))
        except EOFError:
            return
        answer = _compute(compute, cell)
        try:
            _send(answers, answer)
        except (BrokenPipeError, OSError):
            return


def _compute(compute: Any, cell: Cell) -> bytes:
    from scumble.experiment.executors import describe
    from scumble.experiment.processes import peak_megabytes, reset_peak

    reset_peak()
    began = time.perf_counter()
    try:
        result = compute(cell)
        spent = time.perf_counter() - began
        return pickle.dumps(("done", result, spent, peak_megabytes()))
    except Exception as error:
        spent = time.perf_counter() - began
        return pickle.dumps(("error", describe(error), spent, peak_megabytes()))


def _take_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the streams for ourselves; what cells print goes to standard error."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, answers


def _leave_with(parent: int) -> None:
    """End this process when its parent has ended, even in the middle of a cell."""
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(1)


def pack(compute: Any) -> bytes:
    """Pickle a function; one that cannot be imported by name travels by value."""
    try:
        if getattr(compute, "__module__", "") == "__main__":
            raise pickle.PicklingError
        return pickle.dumps(compute)
    except (pickle.PicklingError, AttributeError, TypeError):
        from joblib import wrap_non_picklable_objects

        return pickle.dumps(wrap_non_picklable_objects(compute))


def _send(stream: Any, message: bytes) -> None:
    stream.write(_HEADER.pack(len(message)) + message)
    stream.flush()


def _receive(stream: Any) -> bytes:
    (length,) = _HEADER.unpack(_exactly(stream, _HEADER.size))
    return _exactly(stream, length)


def _exactly(stream: Any, size: int) -> bytes:
    data: bytes = stream.read(size)
    if len(data) != size:
        raise EOFError
    return data
