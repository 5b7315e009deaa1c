"""Cells on a Dask cluster.

Workers compute; the process that runs the plan alone touches the store. A worker that dies takes
its cells with it, and Dask gives them to another one. Inside a worker every cell runs in a process
of its own, so that limits hold there, too.
"""

from __future__ import annotations

import queue
from typing import Any

from scumble._core.children import pack
from scumble._core.optional import require
from scumble.experiment.cell import Cell
from scumble.experiment.errors import PlanError
from scumble.experiment.executors import Compute, Outcome, ProcessExecutor, describe

#: Seconds to wait for the scheduler to answer.
CONNECT = 30
#: Warm processes of this cluster's worker, with the function they know. They end with it.
_idle: queue.SimpleQueue[tuple[bytes, ProcessExecutor]] = queue.SimpleQueue()


class ClusterExecutor:
    """Computes cells on the workers of a Dask cluster."""

    def __init__(self, compute: Compute, address: Any) -> None:
        distributed = require("distributed", purpose="--cluster", extra="cluster")
        self._compute = compute
        self._is_ours = isinstance(address, str)
        try:
            self._client = (
                distributed.Client(address, timeout=CONNECT, set_as_default=False)
                if self._is_ours
                else address
            )
        except (OSError, ValueError) as error:
            raise PlanError(
                f"There is no Dask scheduler at {address!r}: {error}. Start one with 'dask "
                "scheduler', workers with 'dask worker ADDRESS', and give its address."
            ) from error
        self._futures: dict[Any, Cell] = {}
        self._ended: queue.Queue[Any] = queue.Queue()

    def has_room(self) -> bool:
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
        try:
            futures = [self._ended.get(timeout=timeout)]
        except queue.Empty:
            return []
        while not self._ended.empty():
            futures.append(self._ended.get())
        return [self._outcome(future) for future in futures if future in self._futures]

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


def compute_guarded(compute: Compute, cell: Cell) -> Outcome:
    """Compute a cell in a process of its own, with its limits; called on a cluster's worker."""
    known = pack(compute)
    executor = _warm(known) or ProcessExecutor(compute, n_jobs=1, threads=1)
    executor.submit(cell)
    outcomes: list[Outcome] = []
    while not outcomes:
        outcomes = executor.wait(1.0)
    _idle.put((known, executor))
    return outcomes[0]


def _warm(known: bytes) -> ProcessExecutor | None:
    """Find an idle process that knows a function; those of earlier plans are ended."""
    while True:
        try:
            function, executor = _idle.get_nowait()
        except queue.Empty:
            return None
        if function == known:
            return executor
        executor.close()
