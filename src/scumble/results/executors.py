"""Executors compute cells: in this process, in child processes with limits, or on a cluster.

An executor has four methods. `can_submit` returns whether it takes another cell, `submit` hands
over a cell, `wait` returns the outcomes of cells that have finished since, and `close` ends all
work.

On a Dask cluster, workers compute; only the process that runs the plan writes to the store. If a
worker dies, Dask gives its cells to another one. Inside a worker every cell is computed in a
separate process, so that limits are enforced there, too.
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
from typing import Any, NamedTuple

from scumble._core.errors import ParameterError
from scumble._core.optional import import_optional_dependency
from scumble._core.processes import (
    ChildExitedError,
    ChildProcess,
    peak_memory,
    pickle_value,
    reset_peak,
    resident_memory,
)
from scumble.results.cell import Cell, Result

#: A function that computes a cell.
ComputeFunction = Callable[[Cell], Result]
#: Seconds between two checks of the limits of time and memory: short compared with any useful
#: limit, and long enough that the checks take no noticeable time.
SECONDS_BETWEEN_CHECKS = 0.05
#: Seconds to wait for an answer of the Dask scheduler.
CONNECT_TIMEOUT = 30
#: Executors of this worker of a cluster that compute no cell at the moment, each with the pickled
#: function that it computes cells with. Their processes end with the worker.
_idle_executors: queue.SimpleQueue[tuple[bytes, ProcessExecutor]] = queue.SimpleQueue()


@dataclass(frozen=True)
class Outcome:
    """The outcome of a cell: its result, or the reason of its failure.

    Attributes
    ----------
    cell : Cell
        The cell.
    result : Result or None
        Its result; None if it failed.
    reason : str
        Empty, or the reason of the failure: ``"error"``, ``"time"``, ``"memory"``, ``"crash"``.
    error : str
        The full error message.
    seconds, megabytes : float
        Time and memory that the cell took.

    Examples
    --------
    >>> from scumble.experiment import Cell, Outcome, Component
    >>> none = Component("none")
    >>> cell = Cell(Component("toy"), none, none, Component("kfold"), seed=1, fold=0)
    >>> outcome = Outcome(cell, result=None, reason="time", error="stopped after 60.0 s")
    >>> outcome.result is None, outcome.reason
    (True, 'time')
    """

    cell: Cell
    result: Result | None
    reason: str = ""
    error: str = ""
    seconds: float = 0.0
    megabytes: float | None = None


def describe_error(error: BaseException) -> str:
    """Return the message of an exception, and the last three frames of its traceback."""
    message = "".join(traceback.format_exception_only(error)).strip()
    frames = traceback.format_tb(error.__traceback__)[-3:]
    return message + "\n" + "".join(frames).rstrip()


def _compute_outcome(compute: Callable[[Cell], Any], cell: Cell) -> Outcome:
    """Call ``compute(cell)`` and return its outcome with the seconds it took.

    If the call raises an exception, the outcome has no result, the reason "error" and the message.
    """
    started = time.perf_counter()
    try:
        result = compute(cell)
    except Exception as error:
        return Outcome(
            cell,
            result=None,
            reason="error",
            error=describe_error(error),
            seconds=time.perf_counter() - started,
        )
    return Outcome(cell, result, seconds=time.perf_counter() - started)


def _drain_queue(items: Any, timeout: float) -> Iterator[Any]:
    """Wait up to ``timeout`` seconds for an item of a queue; yield it and all others in it."""
    with suppress(queue.Empty):
        yield items.get(timeout=timeout)
        while True:
            yield items.get_nowait()


class SerialExecutor:
    """Computes cells in the calling process, without limits: for tiny cells and for debugging."""

    def __init__(self, compute: ComputeFunction) -> None:
        self._compute = compute
        self._waiting: list[Cell] = []

    def can_submit(self) -> bool:
        """Return whether no cell is waiting."""
        return not self._waiting

    def submit(self, cell: Cell) -> None:
        """Store a cell until `wait` computes it."""
        self._waiting.append(cell)

    def wait(self, timeout: float) -> list[Outcome]:
        """Compute the submitted cells and return their outcomes; ``timeout`` is not used."""
        cells = self._waiting
        self._waiting = []
        return [_compute_outcome(self._compute, cell) for cell in cells]

    def close(self) -> None:
        """Do nothing: no cell is computed between calls of `wait`."""


@dataclass
class _Job:
    """A cell that a child process computes at the moment."""

    cell: Cell
    started: float  # when the cell was sent: seconds on the clock of time.perf_counter
    peak_megabytes: float = 0.0  # largest memory of the process in all checks so far


class ProcessExecutor:
    """Computes cells in child processes; a process whose cell exceeds its limits is killed.

    Parameters
    ----------
    compute : callable
        Function that computes a cell.
    n_jobs : int
        Maximum number of child processes.
    threads : int
        Number of threads that each child process may use.
    """

    def __init__(self, compute: ComputeFunction, *, n_jobs: int, threads: int) -> None:
        self._compute = compute
        self._n_jobs = n_jobs
        self._environment = dict.fromkeys(("SCUMBLE_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
        self._messages: queue.Queue[tuple[ChildProcess, Any]] = queue.Queue()
        self._idle: list[ChildProcess] = []
        self._jobs: dict[ChildProcess, _Job] = {}

    def can_submit(self) -> bool:
        """Return whether a process is idle or can be started."""
        return len(self._jobs) < self._n_jobs

    def submit(self, cell: Cell) -> None:
        """Send a cell to an idle child process, or to a new one."""
        child = self._idle.pop() if self._idle else self._start_child()
        if not child.is_alive:  # it has died while it was idle
            child.close()
            child = self._start_child()
        self._jobs[child] = _Job(cell, started=time.perf_counter())
        child.send(cell)

    def wait(self, timeout: float) -> list[Outcome]:
        """Wait until a cell has finished, and return the outcomes of all that have.

        Meanwhile, kill the processes whose cells exceed their limits. The list is empty if no cell
        finishes within ``timeout`` seconds.
        """
        deadline = time.perf_counter() + timeout
        outcomes: list[Outcome] = []
        while not outcomes:
            remaining = deadline - time.perf_counter()
            if remaining <= 0:
                break
            for child, message in _drain_queue(
                self._messages, timeout=min(SECONDS_BETWEEN_CHECKS, remaining)
            ):
                outcomes += self._receive(child, message)
            outcomes += self._enforce_limits()
        return outcomes

    def close(self) -> None:
        """Kill all child processes."""
        for child in [*self._idle, *self._jobs]:
            child.close()
        self._idle = []
        self._jobs = {}

    def _start_child(self) -> ChildProcess:
        """Start a child process, and a thread that receives its messages; return the process."""
        child = ChildProcess(
            "scumble.results.executors.compute_with_peak_memory",
            self._compute,
            environment=self._environment,
            keeps_stderr=True,
        )
        threading.Thread(target=self._listen, args=(child,), daemon=True).start()
        return child

    def _listen(self, child: ChildProcess) -> None:
        """Put (child, message) into the queue for each message, and (child, None) when it exits."""
        with suppress(ChildExitedError):
            while True:
                self._messages.put((child, child.receive()))
        self._messages.put((child, None))

    def _receive(self, child: ChildProcess, message: Any) -> Iterator[Outcome]:
        """Update the lists of processes after a message, and yield the outcome of the cell if any.

        The message is a `_ChildMessage`, or None if the process has exited. Then the outcome of its
        cell is a failure, and a process that had no cell yields nothing.
        """
        job = self._jobs.pop(child, None)
        if job is None:  # it was killed, or has died while it was idle
            if child in self._idle:
                self._idle.remove(child)
                child.close()
        elif message is None:
            seconds = time.perf_counter() - job.started
            error = child.describe_exit()
            child.close()
            yield _failed_job(job, reason="crash", error=error, seconds=seconds)
        else:
            self._idle.append(child)
            result = None
            if message.pickled_result is not None:
                result = pickle.loads(message.pickled_result)
            yield replace(
                message.outcome,
                cell=job.cell,
                result=result,
                megabytes=message.peak_megabytes or job.peak_megabytes,
            )

    def _enforce_limits(self) -> Iterator[Outcome]:
        """Kill the processes whose cells exceed their limits; yield the outcomes of these cells."""
        for child, job in list(self._jobs.items()):
            # The time that starting the interpreter takes does not count.
            seconds = 0.0
            if child.ready_at is not None:
                seconds = time.perf_counter() - max(job.started, child.ready_at)
            job.peak_megabytes = max(job.peak_megabytes, resident_memory(child.pid) / 2**20)
            outcome = _outcome_over_limit(job, seconds)
            if outcome is not None:
                del self._jobs[child]
                child.close()
                yield outcome


class _ChildMessage(NamedTuple):
    """What a child process sends back for a cell."""

    outcome: Outcome  # without the result
    pickled_result: Any  # bytes; None if the cell failed
    peak_megabytes: float  # 0 where the system does not measure it


def compute_with_peak_memory(
    compute: ComputeFunction, cell: Cell, _report_progress: Any
) -> _ChildMessage:
    """Compute a cell and measure the peak memory of this process; called in a child process."""
    reset_peak()
    # The result is pickled here, so that an exception while pickling is an outcome as well.
    outcome = _compute_outcome(lambda cell: pickle.dumps(compute(cell)), cell)
    return _ChildMessage(
        outcome=replace(outcome, result=None),
        pickled_result=outcome.result,
        peak_megabytes=peak_memory() / 2**20,
    )


def _failed_job(job: _Job, *, reason: str, error: str, seconds: float) -> Outcome:
    """Return the outcome of a cell whose process has exited or was killed.

    ``reason`` is "crash", "time" or "memory".
    """
    return Outcome(
        job.cell,
        result=None,
        reason=reason,
        error=error,
        seconds=seconds,
        megabytes=job.peak_megabytes,
    )


def _outcome_over_limit(job: _Job, seconds: float) -> Outcome | None:
    """Return the failure of a cell that exceeds a limit after ``seconds``; None otherwise."""
    cell = job.cell
    if cell.seconds is not None and seconds > cell.seconds:
        error = f"stopped after {seconds:.1f} s; the limit is {cell.seconds:g} s"
        return _failed_job(job, reason="time", error=error, seconds=seconds)
    if cell.megabytes is not None and job.peak_megabytes > cell.megabytes:
        error = f"stopped at {job.peak_megabytes:.0f} MB; the limit is {cell.megabytes:g} MB"
        return _failed_job(job, reason="memory", error=error, seconds=seconds)
    return None


# On a Dask cluster --------------------------------------------------------------------------------


class ClusterExecutor:
    """Computes cells on the workers of a Dask cluster.

    Parameters
    ----------
    compute : callable
        Function that computes a cell.
    address : str or distributed.Client
        Address of the Dask scheduler; or a client, which `close` leaves open.
    """

    def __init__(self, compute: ComputeFunction, address: Any) -> None:
        distributed = import_optional_dependency(
            "distributed", purpose="--cluster", extra="cluster"
        )
        self._compute = compute
        self._owns_client = isinstance(address, str)
        self._client = address
        try:
            if self._owns_client:
                self._client = distributed.Client(
                    address, timeout=CONNECT_TIMEOUT, set_as_default=False
                )
        except (OSError, ValueError) as error:
            raise ParameterError(
                f"There is no Dask scheduler at {address!r}: {error}. Start one with 'dask "
                "scheduler', workers with 'dask worker ADDRESS', and give its address."
            ) from error
        self._futures: dict[Any, Cell] = {}
        self._finished: queue.Queue[Any] = queue.Queue()

    def can_submit(self) -> bool:
        """Return whether fewer than two cells per thread of the cluster are submitted."""
        threads = sum(self._client.nthreads().values())
        return len(self._futures) < max(1, 2 * threads)

    def submit(self, cell: Cell) -> None:
        """Send a cell to the cluster."""
        future = self._client.submit(
            compute_in_child_process, self._compute, cell, key=f"scumble-{cell.key}", pure=False
        )
        self._futures[future] = cell
        future.add_done_callback(self._finished.put)

    def wait(self, timeout: float) -> list[Outcome]:
        """Return the outcomes of the cells that finish within ``timeout`` seconds."""
        finished = _drain_queue(self._finished, timeout)
        return [self._outcome(future) for future in finished if future in self._futures]

    def close(self) -> None:
        """Cancel all cells that are not finished, and close the client if this executor made it."""
        if self._futures:
            self._client.cancel(list(self._futures), force=True)
        self._futures = {}
        if self._owns_client:
            self._client.close()

    def _outcome(self, future: Any) -> Outcome:
        """Return the outcome of the cell of a finished future, and forget the future."""
        cell = self._futures.pop(future)
        try:
            outcome: Outcome = future.result()
        except Exception as error:  # the cell killed several workers, or was cancelled
            return Outcome(cell, result=None, reason="crash", error=describe_error(error))
        finally:
            future.release()
        return outcome


def compute_in_child_process(compute: ComputeFunction, cell: Cell) -> Outcome:
    """Compute a cell in a child process that enforces its limits; called on a worker of a cluster.

    The process stays alive for the next cell.
    """
    pickled_compute = pickle_value(compute)
    executor = _pop_idle_executor(pickled_compute)
    if executor is None:
        executor = ProcessExecutor(compute, n_jobs=1, threads=1)
    executor.submit(cell)
    outcomes: list[Outcome] = []
    while not outcomes:
        outcomes = executor.wait(1.0)
    _idle_executors.put((pickled_compute, executor))
    return outcomes[0]


def _pop_idle_executor(pickled_compute: bytes) -> ProcessExecutor | None:
    """Remove and return an idle executor for a pickled function; None if there is none.

    Executors for other functions, which earlier plans have left, are closed.
    """
    for pickled_function, executor in _drain_queue(_idle_executors, 0):
        if pickled_function == pickled_compute:
            return executor
        executor.close()
    return None


#: Any of the executors.
Executor = SerialExecutor | ProcessExecutor | ClusterExecutor


def make_executor(compute: ComputeFunction, n_jobs: int | None, cluster: Any) -> Executor:
    """Return the executor for a cluster, for this process, or for child processes.

    ``cluster`` is the address of a Dask scheduler or a client; if it is None, ``n_jobs`` decides: 0
    stands for this process, other values for so many child processes, which share the cores.
    """
    if cluster is not None:
        return ClusterExecutor(compute, cluster)
    if n_jobs == 0:
        return SerialExecutor(compute)
    n_workers = count_workers(n_jobs)
    threads = max(1, count_workers(-1) // n_workers)
    return ProcessExecutor(compute, n_jobs=n_workers, threads=threads)


def count_workers(n_jobs: int | None) -> int:
    """Return the number of processes that compute cells.

    This is 1 if ``n_jobs`` is 0, because then the calling process computes them.
    """
    from scumble._core.parallel import thread_count  # imports numpy, which a worker may not need

    return thread_count(1 if n_jobs == 0 else n_jobs)
