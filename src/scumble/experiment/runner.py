"""Make the cells of a plan, estimate their time, and compute them until all are done."""

import hashlib
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from scumble._core.errors import ScumbleError
from scumble._core.progress import progress_bar
from scumble.experiment.cell import (
    GROUP_SCORES_MARKER,
    NO_ESTIMATOR,
    Cell,
    Component,
    PlanError,
    needs_group_scores,
)
from scumble.experiment.components import (
    DatasetMetadata,
    clear_dataset_cache,
    code_versions,
    dataset_metadata,
    results_changed_since_first_run_fold,
)
from scumble.experiment.executors import (
    ComputeFunction,
    Executor,
    Outcome,
    count_workers,
    make_executor,
)
from scumble.experiment.plan import Plan, get_components
from scumble.experiment.store import MeanSeconds, Store

#: Seconds between two heartbeats, by which other runners see that this one is alive: many before it
#: counts as dead (`STALE_AFTER` in `store`), and few enough that writing them costs nothing.
HEARTBEAT_SECONDS = 10.0
#: Seconds to wait for an outcome before heartbeats and other runners are checked.
WAIT_SECONDS = 0.5
#: Part of the key of every cell. It is increased if results change, so that stored cells are
#: computed again.
REVISION = 1
#: Estimated time of a cell if no similar one has been measured: `MIN_SECONDS`, and in addition
#: `SECONDS_PER_WORK` for every unit of `Cell.work` (feature values times labels). This is rough,
#: because it is the same for all classifiers.
SECONDS_PER_WORK = 2e-7
MIN_SECONDS = 0.3


@dataclass(frozen=True)
class RuntimeEstimate:
    """The estimated time that a plan takes.

    Attributes
    ----------
    n_cells, n_done : int
        Number of cells of the plan, and of those that are in the store.
    seconds : float
        Sum of the seconds of the other cells, divided by the number of workers.
    n_measured : int
        Number of cells whose time is estimated from similar cells; for the others it is estimated
        from the size of the data set.

    Examples
    --------
    `estimate_runtime` returns such estimates.

    >>> from scumble.experiment import RuntimeEstimate
    >>> RuntimeEstimate(n_cells=20, n_done=5, seconds=90.0, n_measured=15).seconds
    90.0
    """

    n_cells: int
    n_done: int
    seconds: float
    n_measured: int


def plan_cells(plan: Plan, store: Store | None = None) -> list[Cell]:
    """Check a plan and make its cells; data sets are read to compute their checksums.

    Parameters
    ----------
    plan : Plan
        The plan.
    store : Store, optional
        Stores the checksums of data sets, so that they are read again only if their files change.

    Returns
    -------
    list of Cell
        The cells, data set by data set, without those that a classifier's ``where`` leaves out.

    Raises
    ------
    PlanError
        If something is wrong; the message lists all errors, or all data sets that cannot be read.

    Examples
    --------
    >>> from scumble.experiment import Component, Plan, plan_cells
    >>> two_folds = Component("kfold", {"n_splits": 2, "n_repeats": 1})
    >>> plan = Plan(["debtags"], ["br"], resamplers=["none", "remedial"], splitter=two_folds)
    >>> [(cell.resampler.name, cell.fold) for cell in plan_cells(plan)]
    [('none', 0), ('none', 1), ('remedial', 0), ('remedial', 1)]
    """
    plan.check()
    return enumerate_cells(plan, store)


def enumerate_cells(plan: Plan, store: Store | None) -> list[Cell]:
    """Return the cells of a plan that has been checked, see `plan_cells`."""
    metadata_by_dataset = _read_metadata(plan, store)
    (splitter,) = get_components(plan, "splitter")
    fold_table_version = _fold_table_version(splitter, plan.folder)
    folds = list(itertools.product(plan.seeds, range(plan.n_splits)))
    cells = []
    for dataset, classifier, resampler in itertools.product(
        get_components(plan, "datasets"),
        get_components(plan, "classifiers"),
        get_components(plan, "resamplers"),
    ):
        metadata = metadata_by_dataset[dataset.label]
        if not _is_within_limits(classifier, metadata):
            continue
        versions = {
            **_versions(resampler, classifier, splitter, metadata),
            **fold_table_version,
        }
        for seed, fold in folds:
            cells.append(
                Cell(
                    dataset=dataset,
                    resampler=resampler,
                    classifier=classifier,
                    splitter=splitter,
                    seed=seed,
                    fold=fold,
                    dataset_checksum=metadata.checksum,
                    versions=versions,
                    seconds=plan.seconds,
                    megabytes=plan.megabytes,
                    keep_predictions=plan.keep_predictions,
                    folder=plan.folder,
                    work=metadata.work,
                )
            )
    return cells


def estimate_runtime(
    cells: Iterable[Cell], store: Store | None, *, n_jobs: int = 1
) -> RuntimeEstimate:
    """Estimate the time of the cells that are not done yet.

    Parameters
    ----------
    cells : iterable of Cell
        The cells of a plan.
    store : Store or None
        The store of results; None if there is none yet.
    n_jobs : int
        Number of workers.

    Returns
    -------
    RuntimeEstimate
        The estimate, which is rough for cells without similar ones in the store.

    Examples
    --------
    >>> from scumble.experiment import Component, Plan, estimate_runtime, plan_cells
    >>> ten_folds = Component("kfold", {"n_splits": 5, "n_repeats": 2})
    >>> plan = Plan(["debtags"], ["br"], splitter=ten_folds)
    >>> estimate = estimate_runtime(plan_cells(plan), None, n_jobs=2)
    >>> estimate.n_cells, estimate.n_done, estimate.n_measured
    (10, 0, 0)
    """
    cells = list(cells)
    states: dict[str, str] = {}
    mean_seconds = MeanSeconds(by_method={}, by_classifier={})
    if store is not None:
        states = store.states()
        mean_seconds = store.mean_seconds()
    remaining = [cell for cell in cells if states.get(cell.key) != "done"]
    total_seconds = 0.0
    n_measured = 0
    for cell in remaining:
        key = (cell.dataset.label, cell.classifier.label)
        seconds = mean_seconds.by_method.get((*key, cell.resampler.label))
        if seconds is None:
            seconds = mean_seconds.by_classifier.get(key)
        if seconds is None:
            seconds = MIN_SECONDS + SECONDS_PER_WORK * cell.work
        else:
            n_measured += 1
        total_seconds += seconds
    return RuntimeEstimate(
        n_cells=len(cells),
        n_done=len(cells) - len(remaining),
        seconds=total_seconds / max(n_jobs, 1),
        n_measured=n_measured,
    )


def _read_metadata(plan: Plan, store: Store | None) -> dict[str, DatasetMetadata]:
    """Return the metadata of the data sets of a plan by label, and show a progress bar.

    Raises a PlanError that lists all data sets that cannot be read or hold the same data.
    """
    metadata_by_dataset: dict[str, DatasetMetadata] = {}
    errors = []
    with progress_bar("Reading data sets", len(plan.datasets)) as advance:
        for dataset in get_components(plan, "datasets"):
            try:
                metadata_by_dataset[dataset.label] = dataset_metadata(dataset, plan.folder, store)
            except ScumbleError as error:
                errors.append(f"{dataset.label}: {error}")
            advance(1)
    errors += _duplicate_dataset_errors(metadata_by_dataset)
    if errors:
        raise PlanError("Data sets cannot be used, so nothing was run. " + " ".join(errors))
    return metadata_by_dataset


def _duplicate_dataset_errors(metadata_by_dataset: dict[str, DatasetMetadata]) -> Iterator[str]:
    """Yield an error message for each pair of data sets of the same content.

    Their cells would have the same key.
    """
    first_label_by_content: dict[str, str] = {}
    for label, metadata in metadata_by_dataset.items():
        first_label = first_label_by_content.setdefault(metadata.checksum, label)
        if first_label != label:
            yield f"{first_label} and {label} hold the same data: keep one."


def _is_within_limits(classifier: Component, metadata: DatasetMetadata) -> bool:
    """Return whether a data set is within the size limits ``where`` of a classifier."""
    sizes = {
        "max_instances": metadata.n_instances,
        "max_features": metadata.n_features,
        "max_labels": metadata.n_labels,
    }
    return all(sizes[name] <= limit for name, limit in classifier.where.items())


def _versions(
    resampler: Component, classifier: Component, splitter: Component, metadata: DatasetMetadata
) -> dict[str, str]:
    """Return the entry "versions" of the spec of a cell: what its key says about the code."""
    versions = {"cells": str(REVISION), **code_versions(resampler, classifier, splitter)}
    if results_changed_since_first_run_fold(classifier, metadata.has_weights):
        versions["fold"] = "2"
    return versions


def _fold_table_version(splitter: Component, folder: str) -> dict[str, str]:
    """Return the checksum of the file of folds under "folds"; an empty dict without such a file.

    It becomes part of the key of cells, whose results change if the file changes.
    """
    table = splitter.parameters.get("fold_table")
    if not isinstance(table, str):
        return {}
    return {"folds": hashlib.sha256(Path(folder, table).read_bytes()).hexdigest()[:32]}


# Computing cells ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunReport:
    """The result of a run: how many cells it has computed.

    Attributes
    ----------
    n_cells : int
        Number of cells of the plan.
    n_done, n_failed : int
        Number of cells that were computed, and that failed, in this run.
    n_known : int
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
    >>> report = RunReport(n_cells=9, n_done=4, n_failed=0, n_known=3, failures=(), seconds=1.0)
    >>> report.n_cells - report.n_done - report.n_known  # failed, or computed by other runners
    2
    """

    n_cells: int
    n_done: int
    n_failed: int
    n_known: int
    failures: tuple[Outcome, ...]
    seconds: float
    n_failed_before: int = 0


def run(
    plan: Plan,
    store: Store | str | os.PathLike[str],
    *,
    n_jobs: int | None = 1,
    cluster: Any = None,
    retry_failed: bool = False,
    on_event: Callable[[str, Any], None] | None = None,
    compute: ComputeFunction | None = None,
) -> RunReport:
    """Check a plan and compute every cell that the store does not have yet.

    Parameters
    ----------
    plan : Plan
        The plan to run.
    store : Store, str or Path
        The store of results, or its file, which is created if it does not exist.
    n_jobs : int or None
        Number of worker processes; negative numbers count from the number of cores. With 0, cells
        are computed in this process, without limits of time and memory.
    cluster : str or distributed.Client, optional
        Address of a Dask scheduler; then ``n_jobs`` is not used.
    retry_failed : bool
        Whether cells that failed before are tried again.
    on_event : callable, optional
        Called with ``"plan"`` and a `RuntimeEstimate` before cells are computed, and then as
        described in `run_cells`.
    compute : callable, optional
        Function that computes a cell; by default it resamples, fits, predicts and evaluates.

    Returns
    -------
    RunReport
        Numbers of cells that were computed, failed, or were done before.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.experiment import Component, Plan, run
    >>> two_folds = Component("kfold", {"n_splits": 2, "n_repeats": 1})
    >>> plan = Plan(["debtags"], ["none"], resamplers=["none", "remedial"], splitter=two_folds)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "results.db"
    ...     first = run(plan, store, n_jobs=0)
    ...     second = run(plan, store, n_jobs=0)
    >>> first.n_done, second.n_done, second.n_known
    (4, 0, 4)
    """
    from scumble.experiment.compute_cell import compute_cell  # imports more than a plan needs

    plan.check()
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        cells = enumerate_cells(plan, opened)
        if n_jobs != 0 or cluster is not None:
            clear_dataset_cache()
        opened.set_metadata("metrics", list(plan.metrics))
        if any(map(needs_group_scores, plan.metrics)):
            with_classifier = [cell.key for cell in cells if cell.classifier.name != NO_ESTIMATOR]
            opened.requeue_incomplete(with_classifier, without_score=GROUP_SCORES_MARKER)
        if on_event is not None:
            on_event("plan", estimate_runtime(cells, opened, n_jobs=count_workers(n_jobs)))
        return run_cells(
            cells, opened, compute=compute or compute_cell, n_jobs=n_jobs, cluster=cluster,
            retry_failed=retry_failed, on_event=on_event,
        )  # fmt: skip


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
    open: list[str] = field(default_factory=list)  # keys of open cells that are not submitted

    def run(self, started: float) -> RunReport:
        """Compute all open cells, show a progress bar, and return the numbers of cells.

        ``started`` is the time at which the run has started, on the clock of time.perf_counter.
        """
        self.store.release_stale()
        finished_before = self._update_open()
        with progress_bar("Computing cells", len(self.cells)) as advance:
            advance(len(self.cells) - len(self.open))
            while self.open or self.submitted:
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
            n_known=finished_before.n_done,
            failures=tuple(self.failures),
            seconds=time.perf_counter() - started,
            n_failed_before=finished_before.n_failed,
        )

    def _update_open(self) -> _FinishedCells:
        """Read the states of all cells, set the open cells, and count the others."""
        state_by_key = self.store.states()
        self.open = [key for key in self.cells if state_by_key[key] in ("pending", "running")]
        states = [state_by_key[key] for key in self.cells]
        return _FinishedCells(n_done=states.count("done"), n_failed=states.count("failed"))

    def _submit_cells(self) -> None:
        """Claim cells and submit them to the executor, as long as it takes them."""
        while self.open and self.executor.can_submit():
            key = self.store.claim(self.open)
            if key is None:
                return
            self.open.remove(key)
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
            self.open.append(key)
        self._report("end", outcome)
        return int(is_stored)

    def _wait_for_others(self) -> int:
        """Wait a moment while other runners compute the open cells; return how many have finished.

        If a runner has died, its cells can be claimed at once, so there is no waiting.
        """
        n_open = len(self.open)
        if self.store.release_stale() == 0:
            self._update_open()
            if self.open:
                time.sleep(WAIT_SECONDS)
        return n_open - len(self.open)

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
