"""From a plan to its cells, how long they will take, and running them until all are done."""

import hashlib
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scumble._core.errors import ScumbleError
from scumble._core.progress import progress_bar
from scumble.experiment.cell import (
    GROUP_SCORES_MARKER,
    NOTHING,
    Cell,
    Component,
    PlanError,
    needs_group_scores,
)
from scumble.experiment.executors import (
    ComputeFunction,
    Executor,
    Outcome,
    count_workers,
    make_executor,
)
from scumble.experiment.parts import (
    DatasetMetadata,
    clear_dataset_cache,
    code_versions,
    dataset_metadata,
    needs_fold_revision,
)
from scumble.experiment.plan import LIMITS, Plan, get_components
from scumble.experiment.store import Store

#: Seconds between signs of life.
HEARTBEAT_SECONDS = 10.0
#: Seconds to wait for something to end before looking around.
WAIT = 0.5
#: Raised when cells hold other numbers than before, so that stored ones are computed anew.
REVISION = 1
#: Where nothing has been measured: seconds per feature value and label, and for any cell.
SECONDS_PER_WORK = 2e-7
SECONDS_AT_LEAST = 0.3


@dataclass(frozen=True)
class RuntimeEstimate:
    """How long a plan will take.

    Attributes
    ----------
    n_cells, n_done : int
        Cells of the plan, and those the store has.
    seconds : float
        Of all workers together divided by their number.
    n_measured : int
        Cells whose time is known from others of the same kind; the rest is guessed from the
        size of the data.

    Examples
    --------
    See `estimate_errors`, which makes them.

    >>> from scumble.experiment import RuntimeEstimate
    >>> RuntimeEstimate(n_cells=20, n_done=5, seconds=90.0, n_measured=15).seconds
    90.0
    """

    n_cells: int
    n_done: int
    seconds: float
    n_measured: int


def plan_cells(plan: Plan, store: Store | None = None) -> list[Cell]:
    """Check a plan and make its cells; data sets are read for their checksums.

    Parameters
    ----------
    plan : Plan
        The plan.
    store : Store, optional
        Remembers checksums of files that have not changed.

    Returns
    -------
    list of Cell
        Data set by data set, without the combinations that a classifier's ``where`` rules out.

    Raises
    ------
    PlanError
        With everything that is wrong, or all data sets that cannot be read.

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
    """Make the cells of a plan that was checked."""
    known = _facts(plan, store)
    (splitter,) = get_components(plan, "splitter")
    folds = _fold_file(splitter, plan.folder)
    turns = list(itertools.product(plan.seeds, range(plan.n_folds)))
    kinds = (get_components(plan, kind) for kind in ("datasets", "classifiers", "resamplers"))
    given = {name: getattr(plan, name) for name in (*LIMITS, "keep_predictions", "folder")}
    return [
        Cell(dataset, resampler, classifier, splitter, *turn, facts["content"], versions, **rest)
        for dataset, classifier, resampler in itertools.product(*kinds)
        for facts in [known[dataset.label]]
        if _fits(classifier, facts)
        for versions in [{**_versions(resampler, classifier, splitter, facts), **folds}]
        for rest in [{"work": facts["work"], **given}]
        for turn in turns
    ]


def estimate_runtime(
    cells: Iterable[Cell], store: Store | None, *, n_jobs: int = 1
) -> RuntimeEstimate:
    """Tell how long the cells will take that are not done yet.

    Parameters
    ----------
    cells : iterable of Cell
        The cells of a plan.
    store : Store or None
        The store of results; None where there is none yet.
    n_jobs : int
        Number of workers.

    Returns
    -------
    Estimate
        Rough where nothing similar has been measured.

    Examples
    --------
    >>> from scumble.experiment import Component, Plan, plan_cells, estimate_errors
    >>> plan = Plan(["debtags"], ["br"], splitter=Part("kfold", {"n_splits": 5, "n_repeats": 2}))
    >>> guess = estimate_errors(plan_cells(plan), None, n_jobs=2)
    >>> guess.n_cells, guess.n_done, guess.n_measured
    (10, 0, 0)
    """
    cells = list(cells)
    states = {} if store is None else store.states()
    exact, similar = ({}, {}) if store is None else store.mean_seconds()
    todo = [cell for cell in cells if states.get(cell.key) != "done"]
    total, measured = 0.0, 0
    for cell in todo:
        place = (cell.dataset.label, cell.classifier.label)
        known = exact.get((*place, cell.resampler.label), similar.get(place))
        measured += known is not None
        total += known if known is not None else SECONDS_AT_LEAST + SECONDS_PER_WORK * cell.work
    return RuntimeEstimate(len(cells), len(cells) - len(todo), total / max(n_jobs, 1), measured)


def _facts(plan: Plan, store: Store | None) -> dict[str, DatasetMetadata]:
    found: dict[str, DatasetMetadata] = {}
    broken = []
    with progress_bar("Reading data sets", len(plan.datasets)) as advance:
        for part in get_components(plan, "datasets"):
            try:
                found[part.label] = dataset_metadata(part, plan.folder, store)
            except ScumbleError as error:
                broken.append(f"{part.label}: {error}")
            advance(1)
    broken += _duplicate_datasets(found)
    if broken:
        raise PlanError("Data sets cannot be used, so nothing was run. " + " ".join(broken))
    return found


def _duplicate_datasets(found: dict[str, DatasetMetadata]) -> Iterator[str]:
    """Find data sets of the same content: they would share their cells."""
    first: dict[str, str] = {}
    for label, facts in found.items():
        known = first.setdefault(facts["content"], label)
        if known != label:
            yield f"{known} and {label} hold the same data: keep one."


def _fits(classifier: Component, facts: DatasetMetadata) -> bool:
    """Tell whether a classifier is meant for data of some size."""
    limits = classifier.where.items()
    return all(facts[f"n_{name.removeprefix('max_')}"] <= most for name, most in limits)


def _versions(
    resampler: Component, classifier: Component, splitter: Component, facts: DatasetMetadata
) -> dict[str, str]:
    newer = {"fold": "2"} if needs_fold_revision(classifier, facts["weighted"]) else {}
    return {"cells": str(REVISION), **code_versions(resampler, classifier, splitter), **newer}


def _fold_file(splitter: Component, folder: str) -> dict[str, str]:
    """Make the content of a file of folds part of the key."""
    table = splitter.parameters.get("fold_table")
    if not isinstance(table, str):
        return {}
    return {"folds": hashlib.sha256(Path(folder, table).read_bytes()).hexdigest()[:32]}


# Running, whatever happens in between -------------------------------------------------------------


@dataclass(frozen=True)
class RunReport:
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
        Duration of the run.

    Examples
    --------
    See `run`, which makes them.

    >>> from scumble.experiment import RunReport
    >>> report = RunReport(n_cells=9, n_done=4, n_failed=0, n_known=3, failures=(), seconds=1.0)
    >>> report.n_cells - report.n_done - report.n_known  # what other runners have computed
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
        The store of results, or its file, which is made if it is not there.
    n_jobs, cluster, retry_failed : object
        See `run_cells`.
    observe : callable, optional
        Called with ``"plan"`` and an `RuntimeEstimate` before anything is computed, and as `run_cells`
        says.
    compute : callable, optional
        Computes a cell; by default it learns, predicts and judges.

    Returns
    -------
    Report
        Numbers of cells that were computed, failed or were known before.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.experiment import Component, Plan, run
    >>> two_folds = Component("kfold", {"n_splits": 2, "n_repeats": 1})
    >>> plan = Plan(["debtags"], ["none"], resamplers=["none", "remedial"], splitter=two_folds)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "results.db"
    ...     first, again = run(plan, store, n_jobs=0), run(plan, store, n_jobs=0)
    >>> first.n_done, again.n_done, again.n_known
    (4, 0, 4)
    """
    from scumble.experiment.compute_cell import compute_cell  # needs more than a plan does

    plan.check()
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        cells = enumerate_cells(plan, opened)
        if n_jobs != 0 or cluster is not None:
            clear_dataset_cache()
        opened.set_metadata("metrics", list(plan.metrics))
        if any(map(needs_group_scores, plan.metrics)):
            learnt = [cell.key for cell in cells if cell.classifier.name != NOTHING]
            opened.requeue_incomplete(learnt, without_score=GROUP_SCORES_MARKER)
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
        Numbers of cells that were computed, failed or were known before.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.experiment import Cell, Component, Result, Store, run_cells
    >>> parts = Component("toy"), Component("none"), Component("none"), Component("kfold")
    >>> cells = [Cell(*parts, seed=1, fold=fold) for fold in range(3)]
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
    wanted = {cell.key: cell for cell in cells}
    began = time.perf_counter()
    store.add(wanted.values())
    if retry_failed:
        store.retry_failed(list(wanted))
    kept = [key for key, cell in wanted.items() if cell.keep_predictions]
    store.requeue_incomplete([key for key in kept if wanted[key].classifier.name != NOTHING])
    store.register()
    try:
        with closing(make_executor(compute, n_jobs, cluster)) as executor:
            loop = _Scheduler(wanted, store, executor, on_event or (lambda _event, _what: None))
            return loop.run(began)
    finally:
        store.unregister()


@dataclass
class _Scheduler:
    """Claim, compute, record."""

    wanted: dict[str, Cell]
    store: Store
    executor: Executor
    on_event: Callable[[str, Any], None]
    n_done: int = 0
    last_beat: float = 0.0
    in_flight: set[str] = field(default_factory=set)
    failed: list[Outcome] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def run(self, began: float) -> RunReport:
        self.store.release_stale()
        n_known, n_failed_before = self._look()
        with progress_bar("Computing cells", len(self.wanted)) as advance:
            advance(len(self.wanted) - len(self.open))
            while self.open or self.in_flight:
                self._beat()
                self._fill()
                if not self.in_flight:  # what is left is claimed by other runners
                    advance(self._follow_others())
                    continue
                for outcome in self.executor.wait(WAIT):
                    advance(self._record(outcome))
        counted = (len(self.wanted), self.n_done, len(self.failed), n_known)
        seconds = time.perf_counter() - began
        return RunReport(*counted, tuple(self.failed), seconds, n_failed_before)

    def _look(self) -> tuple[int, int]:
        """Find out what is left to do; count what is done and what has failed."""
        states = self.store.states()
        self.open = [key for key in self.wanted if states[key] in ("pending", "running")]
        ended = [states[key] for key in self.wanted]
        return ended.count("done"), ended.count("failed")

    def _fill(self) -> None:
        """Claim cells while there is room."""
        while self.open and self.executor.can_submit() and (key := self.store.claim(self.open)):
            self.open.remove(key)
            self.in_flight.add(key)
            self.on_event("begin", self.wanted[key])
            self.executor.submit(self.wanted[key])

    def _record(self, outcome: Outcome) -> int:
        """Write down what became of a cell; count it unless the claim was lost."""
        key = outcome.cell.key
        self.in_flight.discard(key)
        costs: dict[str, Any] = {"seconds": outcome.seconds, "megabytes": outcome.megabytes}
        if outcome.result is not None:
            is_ours = self.store.finish(key, outcome.result, **costs)
            self.n_done += is_ours
        elif is_ours := self.store.fail(key, outcome.reason, outcome.error, **costs):
            self.failed.append(outcome)
        if not is_ours:  # others took us for dead: whoever has the cell now, it is not done
            self.store.send_heartbeat()
            self.open.append(key)
        self.on_event("end", outcome)
        return int(is_ours)

    def _follow_others(self) -> int:
        """Wait while other runners compute what is left; take over from those that die."""
        before = len(self.open)
        if self.store.release_stale() == 0:
            self._look()
            if self.open:
                time.sleep(WAIT)
        return before - len(self.open)

    def _beat(self) -> None:
        if time.monotonic() - self.last_beat > HEARTBEAT_SECONDS:
            self.store.send_heartbeat()
            self.store.release_stale()
            self.last_beat = time.monotonic()
