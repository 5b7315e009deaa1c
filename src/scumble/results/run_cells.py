"""Compute the cells that a store does not have yet, until all are done."""

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scumble._core.progress import progress_bar
from scumble.results.cell import NO_ESTIMATOR, Cell
from scumble.results.executors import ComputeFunction, Executor, Outcome, make_executor
from scumble.results.store import Store

#: Seconds between two heartbeats, by which other runners see that this one is alive: many before it
#: counts as dead (`STALE_AFTER` in `store`), and few enough that writing them costs nothing.
HEARTBEAT_SECONDS = 10.0
#: Seconds to wait for an outcome before heartbeats and other runners are checked.
WAIT_SECONDS = 0.5


@dataclass(frozen=True)
class RunReport:
    """The result of a run: how many cells it has computed.

    Attributes
    ----------
    n_cells : int
        Number of cells.
    n_done, n_failed : int
        Number of cells that were computed, and that failed, in this run.
    n_done_before : int
        Number of cells that were done before this run.
    n_failed_before : int
        Number of cells that failed before this run and were not tried again.
    failures : tuple of Outcome
        The outcomes of the cells that failed in this run.
    seconds : float
        Duration of the run.

    Examples
    --------
    `run` returns such reports.

    >>> from scumble.experiment import RunReport
    >>> report = RunReport(
    ...     n_cells=9, n_done=4, n_failed=0, n_done_before=3, failures=(), seconds=1.0
    ... )
    >>> report.n_cells - report.n_done - report.n_done_before  # computed by other runners
    2
    """

    n_cells: int
    n_done: int
    n_failed: int
    n_done_before: int
    failures: tuple[Outcome, ...]
    seconds: float
    n_failed_before: int = 0


def run_cells(
    cells: Iterable[Cell],
    store: Store,
    *,
    compute: ComputeFunction,
    n_jobs: int | None = 1,
    cluster: Any = None,
    retry_failed: bool = False,
    on_event: Callable[[str, Any], None] | None = None,
) -> RunReport:
    """Compute all cells that the store does not have yet.

    Results do not depend on ``n_jobs``, on the order of cells, or on interruptions.

    Parameters
    ----------
    cells : iterable of Cell
        The cells to compute.
    store : Store
        The store of results.
    compute : callable
        Function that takes a `Cell` and returns a `Result`.
    n_jobs : int or None
        Number of worker processes; negative numbers count from the number of cores. With 0, cells
        are computed in this process, without limits, and no heartbeats are sent during a cell.
    cluster : str or distributed.Client, optional
        Address of a Dask scheduler; then ``n_jobs`` is not used.
    retry_failed : bool
        Whether cells that failed before are tried again.
    on_event : callable, optional
        Called with ``"begin"`` and a cell, and with ``"end"`` and an `Outcome`.

    Returns
    -------
    RunReport
        Numbers of cells that were computed, failed, or were done before.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.experiment import Cell, Component, Result, Store, run_cells
    >>> toy, none, kfold = Component("toy"), Component("none"), Component("kfold")
    >>> cells = [Cell(toy, none, none, kfold, seed=1, fold=fold) for fold in range(3)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(pathlib.Path(folder) / "results.db") as store:
    ...         report = run_cells(
    ...             cells, store, compute=lambda cell: Result({"fold": cell.fold}), n_jobs=0
    ...         )
    ...         [cell["scores"] for cell in store.cells()]
    [{'fold': 0.0}, {'fold': 1.0}, {'fold': 2.0}]
    >>> report.n_done
    3
    """
    cells_by_key = {cell.key: cell for cell in cells}
    started = time.perf_counter()
    store.add(cells_by_key.values())
    if retry_failed:
        store.retry_failed(list(cells_by_key))
    store.requeue_incomplete(
        [
            key
            for key, cell in cells_by_key.items()
            if cell.keep_predictions and cell.classifier.name != NO_ESTIMATOR
        ]
    )
    store.register()
    try:
        with closing(make_executor(compute, n_jobs, cluster)) as executor:
            scheduler = _Scheduler(cells_by_key, store, executor, on_event)
            return scheduler.run(started)
    finally:
        store.unregister()


class _FinishedCells(NamedTuple):
    """Numbers of cells that need not be computed."""

    n_done: int
    n_failed: int


@dataclass
class _Scheduler:
    """Claims cells in the store, submits them to an executor and stores their outcomes.

    A *runner* is a process that computes the cells of a store; several can share one. The runner of
    a cell *claims* it first, so that no other computes it. A cell is *open* if it is neither done
    nor failed.
    """

    cells: dict[str, Cell]  # by key
    store: Store
    executor: Executor
    on_event: Callable[[str, Any], None] | None
    n_done: int = 0
    last_heartbeat: float = 0.0
    submitted: set[str] = field(default_factory=set)  # keys of cells that the executor has
    failures: list[Outcome] = field(default_factory=list)
    open_keys: list[str] = field(default_factory=list)  # keys of open cells that are not submitted

    def run(self, started: float) -> RunReport:
        """Compute all open cells, show a progress bar, and return the numbers of cells.

        ``started`` is the time at which the run has started, on the clock of time.perf_counter.
        """
        self.store.release_stale()
        finished_before = self._refresh_open_cells()
        with progress_bar("Computing cells", len(self.cells)) as advance:
            advance(len(self.cells) - len(self.open_keys))
            while self.open_keys or self.submitted:
                self._send_heartbeat_if_due()
                self._submit_cells()
                if not self.submitted:  # all open cells are claimed by other runners
                    advance(self._wait_for_others())
                    continue
                for outcome in self.executor.wait(WAIT_SECONDS):
                    advance(self._store_outcome(outcome))
        return RunReport(
            n_cells=len(self.cells),
            n_done=self.n_done,
            n_failed=len(self.failures),
            n_done_before=finished_before.n_done,
            failures=tuple(self.failures),
            seconds=time.perf_counter() - started,
            n_failed_before=finished_before.n_failed,
        )

    def _refresh_open_cells(self) -> _FinishedCells:
        """Set `open_keys` to the cells that are not finished in the store; count the others.

        The states in the store are "pending" and "running", possibly by another runner, which are
        open, and "done" and "failed", which are counted. No cell may be submitted meanwhile.
        """
        state_by_key = self.store.states()
        self.open_keys = [key for key in self.cells if state_by_key[key] in ("pending", "running")]
        states = [state_by_key[key] for key in self.cells]
        return _FinishedCells(n_done=states.count("done"), n_failed=states.count("failed"))

    def _submit_cells(self) -> None:
        """Claim cells and submit them to the executor, as long as it takes them."""
        while self.open_keys and self.executor.can_submit():
            key = self.store.claim(self.open_keys)
            if key is None:
                return
            self.open_keys.remove(key)
            self.submitted.add(key)
            self._report("begin", self.cells[key])
            self.executor.submit(self.cells[key])

    def _store_outcome(self, outcome: Outcome) -> int:
        """Store the outcome of a cell; return the number of cells that are finished by it, 0 or 1.

        It is 0 if this runner has lost its claim: then the outcome is dropped and the cell is open.
        """
        key = outcome.cell.key
        self.submitted.discard(key)
        costs: dict[str, Any] = {"seconds": outcome.seconds, "megabytes": outcome.megabytes}
        if outcome.result is not None:
            is_stored = self.store.finish(key, outcome.result, **costs)
            self.n_done += is_stored
        else:
            is_stored = self.store.fail(key, outcome.reason, outcome.error, **costs)
            if is_stored:
                self.failures.append(outcome)
        if not is_stored:
            # Other runners took this one for dead. Whether or not one of them computes the cell
            # now, it is not done yet.
            self.store.send_heartbeat()
            self.open_keys.append(key)
        self._report("end", outcome)
        return int(is_stored)

    def _wait_for_others(self) -> int:
        """Wait a moment while other runners compute the open cells; return how many have finished.

        If a runner has died, its cells can be claimed at once, so there is no waiting.
        """
        n_open = len(self.open_keys)
        if self.store.release_stale() == 0:
            self._refresh_open_cells()
            if self.open_keys:
                time.sleep(WAIT_SECONDS)
        return n_open - len(self.open_keys)

    def _send_heartbeat_if_due(self) -> None:
        """Send a heartbeat and release cells of dead runners, if `HEARTBEAT_SECONDS` are over."""
        if time.monotonic() - self.last_heartbeat > HEARTBEAT_SECONDS:
            self.store.send_heartbeat()
            self.store.release_stale()
            self.last_heartbeat = time.monotonic()

    def _report(self, event: str, subject: Cell | Outcome) -> None:
        """Call ``on_event(event, subject)``, if there is such a function."""
        if self.on_event is not None:
            self.on_event(event, subject)
