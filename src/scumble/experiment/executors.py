"""Where cells are computed: in this process, in worker processes with limits, on a cluster.

On a cluster workers compute; the process that runs the plan alone touches the store. A worker that
dies takes its cells with it, and Dask gives them to another one. Inside a worker every cell runs in
a process of its own, so that limits hold there, too.
"""

from __future__ import annotations

import pickle
import queue
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from scumble._core.optional import import_optional_dependency
from scumble._core.processes import (
    ChildExitedError,
    ChildProcess,
    peak_memory,
    pickle_value,
    reset_peak,
    resident_memory,
)
from scumble.experiment.cell import Cell, PlanError, Result

ComputeFunction = Callable[[Cell], Result]
#: How often limits are looked at, in seconds.
TICK = 0.05
#: Seconds to wait for the scheduler to answer.
CONNECT = 30
#: Warm processes of this cluster's worker, with the function they know. They end with it.
_warm: queue.SimpleQueue[tuple[bytes, ProcessExecutor]] = queue.SimpleQueue()


@dataclass(frozen=True)
class Outcome:
    """What became of a cell.

    Attributes
    ----------
    cell : Cell
        The cell.
    result : Result or None
        What it gave; None if it failed.
    reason : str
        Empty, or why it failed in a word: ``"error"``, ``"time"``, ``"memory"``, ``"crash"``.
    error : str
        The same in full.
    seconds, megabytes : float
        Time and memory that it took.

    Examples
    --------
    >>> from scumble.experiment import Cell, Outcome, Component
    >>> parts = Component("toy"), Component("none"), Component("none"), Component("kfold")
    >>> outcome = Outcome(Cell(*parts, seed=1, fold=0), None, "time", "stopped after 60.0 s")
    >>> outcome.result is None, outcome.reason
    (True, 'time')
    """

    cell: Cell
    result: Result | None
    reason: str = ""
    error: str = ""
    seconds: float = 0.0
    megabytes: float | None = None


def describe(error: BaseException) -> str:
    """Say what went wrong in one line, and where in a few more."""
    head = "".join(traceback.format_exception_only(error)).strip()
    frames = traceback.format_tb(error.__traceback__)[-3:]
    return head + "\n" + "".join(frames).rstrip()


def _try(compute: Callable[[Cell], Any], cell: Cell) -> Outcome:
    """Compute a cell, or say what went wrong."""
    began = time.perf_counter()
    try:
        return Outcome(cell, compute(cell), seconds=time.perf_counter() - began)
    except Exception as error:
        return Outcome(cell, None, "error", describe(error), time.perf_counter() - began)


def _arrived(waiting: Any, timeout: float) -> Iterator[Any]:
    """Wait for something in a queue, and take it out with all that has come by then."""
    with suppress(queue.Empty):
        yield waiting.get(timeout=timeout)
        while True:
            yield waiting.get_nowait()


class HereExecutor:
    """Computes in the calling process; for tiny cells and for debugging. No limits are enforced."""

    def __init__(self, compute: ComputeFunction) -> None:
        self._compute = compute
        self._waiting: list[Cell] = []

    def can_submit(self) -> bool:
        """Tell whether nothing waits."""
        return not self._waiting

    def submit(self, cell: Cell) -> None:
        """Remember a cell until `wait`."""
        self._waiting.append(cell)

    def wait(self, timeout: float) -> list[Outcome]:
        """Compute what was submitted."""
        cells, self._waiting = self._waiting, []
        return [_try(self._compute, cell) for cell in cells]

    def close(self) -> None:
        """Do nothing: nothing runs between calls."""


@dataclass
class _Job:
    cell: Cell
    began: float
    largest: float = 0.0


class ProcessExecutor:
    """Computes in child processes; a cell over its limits is killed with its process."""

    def __init__(self, compute: ComputeFunction, *, n_jobs: int, threads: int) -> None:
        self._compute, self._n_jobs = compute, n_jobs
        self._environment = dict.fromkeys(("SCUMBLE_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
        self._messages: queue.Queue[tuple[ChildProcess, Any]] = queue.Queue()
        self._idle: list[ChildProcess] = []
        self._busy: dict[ChildProcess, _Job] = {}

    def can_submit(self) -> bool:
        """Tell whether a process is free or can be started."""
        return len(self._busy) < self._n_jobs

    def submit(self, cell: Cell) -> None:
        """Give a cell to a process."""
        child = self._idle.pop() if self._idle else self._start()
        if not child.is_alive:  # it died while it had nothing to do
            child.close()
            child = self._start()
        self._busy[child] = _Job(cell, time.perf_counter())
        child.send(cell)

    def wait(self, timeout: float) -> list[Outcome]:
        """Collect answers and enforce limits."""
        deadline = time.perf_counter() + timeout
        outcomes: list[Outcome] = []
        while not outcomes and (rest := deadline - time.perf_counter()) > 0:
            for child, message in _arrived(self._messages, min(TICK, rest)):
                outcomes += self._receive(child, message)
            outcomes += self._enforce()
        return outcomes

    def close(self) -> None:
        """Kill all processes."""
        for child in [*self._idle, *self._busy]:
            child.close()
        self._idle, self._busy = [], {}

    def _start(self) -> ChildProcess:
        answer = "scumble.experiment.executors.compute_measured"
        child = ChildProcess(
            answer, self._compute, environment=self._environment, keeps_stderr=True
        )
        threading.Thread(target=self._listen, args=(child,), daemon=True).start()
        return child

    def _listen(self, child: ChildProcess) -> None:
        with suppress(ChildExitedError):
            while True:
                self._messages.put((child, child.receive()))
        self._messages.put((child, None))

    def _receive(self, child: ChildProcess, message: Any) -> Iterator[Outcome]:
        job = self._busy.pop(child, None)
        if job is None:  # killed, or died while idle
            if child in self._idle:
                self._idle.remove(child)
                child.close()
        elif message is None:
            spent = time.perf_counter() - job.began
            words = child.describe_exit()
            child.close()
            yield Outcome(job.cell, None, "crash", words, spent, job.largest)
        else:
            self._idle.append(child)
            outcome, packed, most = message
            result = None if packed is None else pickle.loads(packed)
            yield replace(outcome, cell=job.cell, result=result, megabytes=most or job.largest)

    def _enforce(self) -> Iterator[Outcome]:
        for child, job in list(self._busy.items()):
            # Starting an interpreter is not the cell's fault.
            ready = child.ready_at
            spent = 0.0 if ready is None else time.perf_counter() - max(job.began, ready)
            job.largest = max(job.largest, resident_memory(child.pid) / 2**20)
            verdict = _over_limit(job, spent)
            if verdict is not None:
                del self._busy[child]
                child.close()
                yield Outcome(job.cell, None, *verdict, spent, job.largest)


def compute_measured(
    compute: ComputeFunction, cell: Cell, _tell: Any
) -> tuple[Outcome, Any, float]:
    """Compute a cell in a child: what became of it, the pickled result, and megabytes."""
    reset_peak()
    found = _try(lambda cell: pickle.dumps(compute(cell)), cell)
    return replace(found, result=None), found.result, peak_memory() / 2**20


def _over_limit(job: _Job, spent: float) -> tuple[str, str] | None:
    cell = job.cell
    if cell.seconds is not None and spent > cell.seconds:
        return "time", f"stopped after {spent:.1f} s; the limit is {cell.seconds:g} s"
    if cell.megabytes is not None and job.largest > cell.megabytes:
        return "memory", f"stopped at {job.largest:.0f} MB; the limit is {cell.megabytes:g} MB"
    return None


# On a Dask cluster --------------------------------------------------------------------------------


class ClusterExecutor:
    """Computes cells on the workers of a Dask cluster."""

    def __init__(self, compute: ComputeFunction, address: Any) -> None:
        distributed = import_optional_dependency(
            "distributed", purpose="--cluster", extra="cluster"
        )
        self._compute = compute
        self._is_ours = isinstance(address, str)
        self._client = address
        try:
            if self._is_ours:
                self._client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise PlanError(
                f"There is no Dask scheduler at {address!r}: {error}. Start one with 'dask "
                "scheduler', workers with 'dask worker ADDRESS', and give its address."
            ) from error
        self._futures: dict[Any, Cell] = {}
        self._ended: queue.Queue[Any] = queue.Queue()

    def can_submit(self) -> bool:
        """Tell whether a thread of the cluster is free, with one cell in reserve for each."""
        threads = sum(self._client.nthreads().values())
        return len(self._futures) < max(1, 2 * threads)

    def submit(self, cell: Cell) -> None:
        """Send a cell."""
        future = self._client.submit(
            compute_guarded, self._compute, cell, key=f"scumble-{cell.key}", pure=False
        )
        self._futures[future] = cell
        future.add_done_callback(self._ended.put)

    def wait(self, timeout: float) -> list[Outcome]:
        """Collect what has ended."""
        ended = _arrived(self._ended, timeout)
        return [self._outcome(future) for future in ended if future in self._futures]

    def close(self) -> None:
        """Cancel what is under way."""
        if self._futures:
            self._client.cancel(list(self._futures), force=True)
        self._futures = {}
        if self._is_ours:
            self._client.close()

    def _outcome(self, future: Any) -> Outcome:
        cell = self._futures.pop(future)
        try:
            outcome: Outcome = future.result()
        except Exception as error:  # the cell killed several workers, or was cancelled
            return Outcome(cell, None, "crash", describe(error))
        finally:
            future.release()
        return outcome


def compute_guarded(compute: ComputeFunction, cell: Cell) -> Outcome:
    """Compute a cell in a process of its own, with its limits; called on a cluster's worker."""
    known = pickle_value(compute)
    executor = _idle_for(known) or ProcessExecutor(compute, n_jobs=1, threads=1)
    executor.submit(cell)
    outcomes: list[Outcome] = []
    while not outcomes:
        outcomes = executor.wait(1.0)
    _warm.put((known, executor))
    return outcomes[0]


def _idle_for(known: bytes) -> ProcessExecutor | None:
    """Find an idle process that knows a function; those of earlier plans are ended."""
    for function, executor in _arrived(_warm, 0):
        if function == known:
            return executor
        executor.close()
    return None


#: What computes cells, some at a time.
Executor = HereExecutor | ProcessExecutor | ClusterExecutor


def make_executor(compute: ComputeFunction, n_jobs: int | None, cluster: Any) -> Executor:
    """Choose where cells are computed."""
    if cluster is not None:
        return ClusterExecutor(compute, cluster)
    if n_jobs == 0:
        return HereExecutor(compute)
    count = count_workers(n_jobs)
    return ProcessExecutor(compute, n_jobs=count, threads=max(1, count_workers(-1) // count))


def count_workers(n_jobs: int | None) -> int:
    """Return the number of worker processes; none is one, this process."""
    from scumble._core.parallel import thread_count  # needs numpy, which a worker may not

    return thread_count(1 if n_jobs == 0 else n_jobs)
