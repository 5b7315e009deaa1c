"""Executors compute cells: in this process, in child processes with limits, or on a cluster.

An executor has four methods. `can_submit` returns whether it takes another cell, `submit` hands
over a cell, `wait` returns the outcomes of cells that have finished since, and `close` ends all
work.

On a Dask cluster, workers compute; only the process that runs the plan writes to the store. If a
worker dies, Dask gives its cells to another one. Inside a worker every cell is computed in a
separate process, so that limits are enforced there, too.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scumble._core.errors import ParameterError
from scumble._core.optional import import_optional_dependency
from scumble._core.process_pool import ProcessPool, describe_error, drain_queue
from scumble._core.processes import pickle_value
from scumble.results.cell import Cell, Result

#: A function that computes a cell.
ComputeFunction = Callable[[Cell], Result]
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
        Time and peak memory (2 ** 20 bytes) that the cell took; no memory (None) if it was
        computed in the calling process or did not run.

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


def _compute_outcome(compute: ComputeFunction, cell: Cell) -> Outcome:
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
        environment = dict.fromkeys(("SCUMBLE_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
        self._pool = ProcessPool(compute, n_processes=n_jobs, environment=environment)

    def can_submit(self) -> bool:
        """Return whether a process is idle or can be started."""
        return self._pool.can_submit()

    def submit(self, cell: Cell) -> None:
        """Send a cell to an idle child process, or to a new one."""
        self._pool.submit(cell, seconds=cell.seconds, megabytes=cell.megabytes)

    def wait(self, timeout: float) -> list[Outcome]:
        """Wait until a cell has finished, and return the outcomes of all that have.

        Meanwhile, kill the processes whose cells exceed their limits. The list is empty if no cell
        finishes within ``timeout`` seconds.
        """
        return [
            Outcome(
                outcome.task.request,
                result=outcome.value,
                reason=outcome.reason,
                error=outcome.error,
                seconds=outcome.seconds,
                megabytes=outcome.megabytes,
            )
            for outcome in self._pool.wait(timeout)
        ]

    def close(self) -> None:
        """Kill all child processes."""
        self._pool.close()


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
        """Wait up to ``timeout`` seconds until a cell has finished; return all outcomes there are.

        The list is empty if no cell finishes in this time.
        """
        finished = drain_queue(self._finished, timeout)
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
    for pickled_function, executor in drain_queue(_idle_executors, 0):
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
    """Return the number of processes that compute cells, see `thread_count`.

    This is 1 if ``n_jobs`` is 0, because then the calling process computes them.
    """
    from scumble._core.parallel import thread_count  # imports numpy, which a worker may not need

    return thread_count(1 if n_jobs == 0 else n_jobs)
