"""Where cells are computed: in this process, in worker processes with limits, on a cluster."""

from __future__ import annotations

import contextlib
import queue
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from scumble.experiment.cell import Cell, Result
from scumble.experiment.processes import resident_megabytes
from scumble.experiment.workers import Worker

Compute = Callable[[Cell], Result]
#: How often limits are looked at, in seconds.
TICK = 0.05


@dataclass(frozen=True)
class Outcome:
    """What became of a cell.

    Attributes
    ----------
    cell : Cell
        Which.
    result : Result or None
        What it gave; None if it failed.
    reason : str
        Empty, or why it failed in a word: ``"error"``, ``"time"``, ``"memory"``, ``"crash"``.
    error : str
        The same in full.
    seconds, megabytes : float
        What it cost.
    """

    cell: Cell
    result: Result | None
    reason: str = ""
    error: str = ""
    seconds: float = 0.0
    megabytes: float | None = None


class Executor(Protocol):
    """Computes cells, some at a time."""

    def has_room(self) -> bool:
        """Tell whether another cell can be taken at once."""

    def submit(self, cell: Cell) -> None:
        """Begin a cell."""

    def wait(self, timeout: float) -> list[Outcome]:
        """Return what has ended, after at most ``timeout`` seconds."""

    def close(self) -> None:
        """Stop everything at once."""


def describe(error: BaseException) -> str:
    """Say what went wrong in one line, and where in a few more."""
    head = "".join(traceback.format_exception_only(error)).strip()
    frames = traceback.format_tb(error.__traceback__)[-3:]
    return head + "\n" + "".join(frames).rstrip()


class HereExecutor:
    """Computes in the calling process; for tiny cells and for debugging. No limits are enforced."""

    def __init__(self, compute: Compute) -> None:
        self._compute = compute
        self._waiting: list[Cell] = []

    def has_room(self) -> bool:
        """Tell whether nothing waits."""
        return not self._waiting

    def submit(self, cell: Cell) -> None:
        """Remember a cell until `wait`."""
        self._waiting.append(cell)

    def wait(self, timeout: float) -> list[Outcome]:
        """Compute what was submitted."""
        if not self._waiting:
            time.sleep(timeout)
        cells, self._waiting = self._waiting, []
        return [self._run(cell) for cell in cells]

    def close(self) -> None:
        """Do nothing: nothing runs between calls."""

    def _run(self, cell: Cell) -> Outcome:
        began = time.perf_counter()
        try:
            result = self._compute(cell)
        except Exception as error:
            spent = time.perf_counter() - began
            return Outcome(cell, None, "error", describe(error), spent)
        return Outcome(cell, result, seconds=time.perf_counter() - began)


@dataclass
class _Job:
    cell: Cell
    began: float
    largest: float = 0.0


class ProcessExecutor:
    """Computes in worker processes; a cell over its limits is killed with its worker."""

    def __init__(self, compute: Compute, *, n_jobs: int, threads: int) -> None:
        self._compute, self._threads = compute, threads
        self._n_jobs = n_jobs
        self._messages: queue.Queue[tuple[Worker, Any]] = queue.Queue()
        self._idle: list[Worker] = []
        self._busy: dict[Worker, _Job] = {}

    def has_room(self) -> bool:
        """Tell whether a worker is free or can be started."""
        return len(self._busy) < self._n_jobs

    def submit(self, cell: Cell) -> None:
        """Give a cell to a worker."""
        worker = self._idle.pop() if self._idle else self._start()
        if not worker.is_running():  # it died while it had nothing to do
            worker.kill()
            worker = self._start()
        self._busy[worker] = _Job(cell, time.perf_counter())
        worker.send(cell)

    def wait(self, timeout: float) -> list[Outcome]:
        """Collect answers and enforce limits."""
        deadline = time.perf_counter() + timeout
        outcomes: list[Outcome] = []
        while not outcomes:
            rest = deadline - time.perf_counter()
            if rest <= 0:
                break
            with contextlib.suppress(queue.Empty):
                outcomes += self._receive(*self._messages.get(timeout=min(TICK, rest)))
            with contextlib.suppress(queue.Empty):
                while True:
                    outcomes += self._receive(*self._messages.get_nowait())
            outcomes += self._enforce()
        return outcomes

    def close(self) -> None:
        """Kill all workers."""
        for worker in [*self._idle, *self._busy]:
            worker.kill()
        self._idle, self._busy = [], {}

    def _start(self) -> Worker:
        return Worker(self._compute, self._threads, self._messages.put)

    def _receive(self, worker: Worker, message: Any) -> list[Outcome]:
        job = self._busy.pop(worker, None)
        if job is None:  # killed, or died while idle
            if worker in self._idle:
                self._idle.remove(worker)
                worker.kill()
            return []
        spent = time.perf_counter() - job.began
        if message is None:
            outcome = Outcome(job.cell, None, "crash", worker.last_words(), spent, job.largest)
            worker.kill()
            return [outcome]
        self._idle.append(worker)
        kind, answer, seconds, peak = message
        megabytes = peak if peak is not None else job.largest
        if kind == "error":
            return [Outcome(job.cell, None, "error", answer, seconds, megabytes)]
        return [Outcome(job.cell, answer, seconds=seconds, megabytes=megabytes)]

    def _enforce(self) -> list[Outcome]:
        outcomes = []
        for worker, job in list(self._busy.items()):
            # Starting an interpreter is not the cell's fault.
            ready = worker.ready_at
            spent = 0.0 if ready is None else time.perf_counter() - max(job.began, ready)
            job.largest = max(job.largest, resident_megabytes(worker.pid) or 0.0)
            verdict = _over_limit(job, spent)
            if verdict is not None:
                del self._busy[worker]
                worker.kill()
                outcomes.append(Outcome(job.cell, None, *verdict, spent, job.largest))
        return outcomes


def _over_limit(job: _Job, spent: float) -> tuple[str, str] | None:
    cell = job.cell
    if cell.seconds is not None and spent > cell.seconds:
        return "time", f"stopped after {spent:.1f} s; the limit is {cell.seconds:g} s"
    if cell.megabytes is not None and job.largest > cell.megabytes:
        return "memory", f"stopped at {job.largest:.0f} MB; the limit is {cell.megabytes:g} MB"
    return None
