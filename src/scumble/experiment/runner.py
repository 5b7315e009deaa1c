"""Running cells until all are done, whatever happens in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from scumble._core.progress import track
from scumble.experiment.cell import NOTHING, Cell, Result
from scumble.experiment.executors import Executor, HereExecutor, Outcome, ProcessExecutor
from scumble.experiment.store import Store

#: Seconds between signs of life.
BEAT = 10.0
#: Seconds to wait for something to end before looking around.
WAIT = 0.5


@dataclass(frozen=True)
class Report:
    """What a run has done.

    Attributes
    ----------
    n_cells : int
        Cells the plan asks for.
    n_done, n_failed : int
        Computed and failed in this run.
    n_known : int
        Done before this run began.
    n_failed_before : int
        Failed before this run began, and not tried again.
    failures : tuple of Outcome
        Cells that failed in this run.
    seconds : float
        How long it took.
    """

    n_cells: int
    n_done: int
    n_failed: int
    n_known: int
    failures: tuple[Outcome, ...]
    seconds: float
    n_failed_before: int = 0


def run_cells(
    cells: Iterable[Cell],
    store: Store,
    *,
    compute: Callable[[Cell], Result],
    n_jobs: int | None = 1,
    cluster: Any = None,
    retry_failed: bool = False,
    observe: Callable[[str, Any], None] | None = None,
) -> Report:
    """Compute all cells that the store does not have yet.

    Results do not depend on ``n_jobs``, on the order of cells, or on interruptions.

    Parameters
    ----------
    cells : iterable of Cell
        What is wanted.
    store : Store
        Where results go.
    compute : callable
        Takes a `Cell`, returns a `Result`.
    n_jobs : int or None
        Number of worker processes, negative to count from the number of cores; 0 computes in
        this process without limits and without signs of life to runners on other machines.
    cluster : str or distributed.Client, optional
        Address of a Dask scheduler; then ``n_jobs`` is not used.
    retry_failed : bool
        Whether cells that failed before are tried again.
    observe : callable, optional
        Called with ``"begin"`` and a cell, ``"end"`` and an `Outcome`.

    Returns
    -------
    Report
        What was done.
    """
    wanted = {cell.key: cell for cell in cells}
    began = time.perf_counter()
    store.add(wanted.values())
    if retry_failed:
        store.retry_failed(list(wanted))
    store.want_predictions([key for key, cell in wanted.items() if _has_predictions(cell)])
    store.register()
    try:
        with _executor(compute, n_jobs, cluster) as executor:
            loop = _Loop(wanted, store, executor, observe or _ignore)
            return loop.run(began)
    finally:
        store.retire()


class _Loop:
    """Claim, compute, record."""

    def __init__(
        self,
        wanted: dict[str, Cell],
        store: Store,
        executor: Executor,
        observe: Callable[[str, Any], None],
    ) -> None:
        self._wanted, self._store = wanted, store
        self._executor, self._observe = executor, observe
        self._in_flight: set[str] = set()
        self._last_beat = 0.0
        self._done: list[Outcome] = []
        self._failed: list[Outcome] = []
        self._open: list[str] = []

    def run(self, began: float) -> Report:
        self._store.release_stale()
        n_known, n_failed_before = self._look()
        with track("Computing cells", len(self._wanted)) as advance:
            advance(len(self._wanted) - len(self._open))
            while self._open or self._in_flight:
                self._beat()
                self._fill()
                if not self._in_flight:  # what is left is claimed by other runners
                    advance(self._follow_others())
                    continue
                for outcome in self._executor.wait(WAIT):
                    self._record(outcome)
                    advance(1)
        return Report(
            n_cells=len(self._wanted),
            n_done=len(self._done),
            n_failed=len(self._failed),
            n_known=n_known,
            failures=tuple(self._failed),
            seconds=time.perf_counter() - began,
            n_failed_before=n_failed_before,
        )

    def _look(self) -> tuple[int, int]:
        """Find out what is left to do; count what is done and what has failed."""
        states = self._store.states()
        self._open = [key for key in self._wanted if states[key] in ("pending", "running")]
        ended = [states[key] for key in self._wanted]
        return ended.count("done"), ended.count("failed")

    def _fill(self) -> None:
        """Claim cells while there is room."""
        while self._open and self._executor.has_room():
            key = self._store.claim(self._open)
            if key is None:
                break
            self._open.remove(key)
            self._in_flight.add(key)
            self._observe("begin", self._wanted[key])
            self._executor.submit(self._wanted[key])

    def _record(self, outcome: Outcome) -> None:
        key = outcome.cell.key
        self._in_flight.discard(key)
        seconds, megabytes = outcome.seconds, outcome.megabytes
        if outcome.result is not None:
            kept = self._store.finish(key, outcome.result, seconds=seconds, megabytes=megabytes)
            self._done += [outcome] if kept else []
        else:
            kept = self._store.fail(
                key, outcome.reason, outcome.error, seconds=seconds, megabytes=megabytes
            )
            self._failed += [outcome] if kept else []
        self._observe("end", outcome)

    def _follow_others(self) -> int:
        """Wait while other runners compute what is left; take over from those that die."""
        before = len(self._open)
        if self._store.release_stale() == 0:
            self._look()
            if self._open:
                time.sleep(WAIT)
        return before - len(self._open)

    def _beat(self) -> None:
        if time.monotonic() - self._last_beat > BEAT:
            self._store.beat()
            self._store.release_stale()
            self._last_beat = time.monotonic()


@contextmanager
def _executor(
    compute: Callable[[Cell], Result], n_jobs: int | None, cluster: Any
) -> Iterator[Executor]:
    executor: Executor
    if cluster is not None:
        from scumble.experiment.cluster import ClusterExecutor

        executor = ClusterExecutor(compute, cluster)
    elif n_jobs == 0:
        executor = HereExecutor(compute)
    else:
        from scumble._core.parallel import thread_count  # needs numpy, which a worker may not

        count = thread_count(n_jobs)
        threads = max(1, thread_count(-1) // count)
        executor = ProcessExecutor(compute, n_jobs=count, threads=threads)
    try:
        yield executor
    finally:
        executor.close()


def _has_predictions(cell: Cell) -> bool:
    return cell.keep_predictions and cell.classifier.name != NOTHING


def _ignore(_event: str, _what: Any) -> None:
    """Nobody watches."""
