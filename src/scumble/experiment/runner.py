"""Make the cells of a plan, estimate their time, and compute them until all are done."""

import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble._core.errors import ScumbleError
from scumble._core.progress import progress_bar
from scumble.experiment.components import (
    DatasetMetadata,
    clear_dataset_cache,
    code_versions,
    dataset_metadata,
    results_changed_since_first_run_fold,
)
from scumble.experiment.extra_scores import EXTRA_METRICS, EXTRA_SCORES
from scumble.experiment.plan import Plan, get_components
from scumble.experiment.plan_error import PlanError
from scumble.experiment.score_names import GROUP_SCORES_MARKER, needs_group_scores
from scumble.results.cell import NO_ESTIMATOR, Cell, Component
from scumble.results.executors import ComputeFunction, count_workers
from scumble.results.run_cells import RunReport, run_cells
from scumble.results.store import MeanSeconds, Store

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
                    extra_scores=tuple(plan.extra_scores),
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
    >>> first.n_done, second.n_done, second.n_done_before
    (4, 0, 4)
    """
    from scumble.experiment.compute_cell import compute_cell  # imports more than a plan needs

    plan.check()
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        cells = enumerate_cells(plan, opened)
        if n_jobs != 0 or cluster is not None:
            clear_dataset_cache()
        opened.set_metadata("metrics", list(plan.metrics))
        _requeue_incomplete(plan, cells, opened)
        if on_event is not None:
            on_event("plan", estimate_runtime(cells, opened, n_jobs=count_workers(n_jobs)))
        return run_cells(
            cells, opened, compute=compute or compute_cell, n_jobs=n_jobs, cluster=cluster,
            retry_failed=retry_failed, on_event=on_event,
        )  # fmt: skip


def _requeue_incomplete(plan: Plan, cells: list[Cell], store: Store) -> None:
    """Make the done cells pending that lack scores which the plan asks for.

    They are from an older version, or from a plan that did not ask for the same extra scores.
    """
    all_keys = [cell.key for cell in cells]
    keys_with_classifier = [cell.key for cell in cells if cell.classifier.name != NO_ESTIMATOR]
    if any(map(needs_group_scores, plan.metrics)):
        store.requeue_incomplete(keys_with_classifier, without_score=GROUP_SCORES_MARKER)
    for extra_score in plan.extra_scores:
        keys = keys_with_classifier if extra_score in EXTRA_METRICS else all_keys
        store.requeue_incomplete(keys, without_score=EXTRA_SCORES[extra_score][0])
