"""From a plan to a store full of results."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble._core.errors import ScumbleError
from scumble._core.progress import track
from scumble.experiment.cell import NOTHING, Cell, Part, Result, canonical
from scumble.experiment.errors import PlanError
from scumble.experiment.plan import Plan
from scumble.experiment.runner import Report, run_cells
from scumble.experiment.scores import NEWER, is_newer
from scumble.experiment.store import Store

#: What is known of a data set before it is used: checksum, work, shape, whether it has weights.
Facts = dict[str, Any]
#: Where nothing has been measured: seconds per feature value and label, and for any cell.
SECONDS_PER_WORK = 2e-7
SECONDS_AT_LEAST = 0.3


@dataclass(frozen=True)
class Estimate:
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
    """

    n_cells: int
    n_done: int
    seconds: float
    n_measured: int


def run(
    plan: Plan,
    store: Store | str | os.PathLike[str],
    *,
    n_jobs: int | None = 1,
    cluster: Any = None,
    retry_failed: bool = False,
    observe: Callable[[str, Any], None] | None = None,
    compute: Callable[[Cell], Result] | None = None,
) -> Report:
    """Check a plan and compute every cell that the store does not have yet.

    Parameters
    ----------
    plan : Plan
        What is wanted.
    store : Store, str or Path
        Where results go.
    n_jobs, cluster, retry_failed, observe : object
        See `run_cells`.
    compute : callable, optional
        What computes a cell, if not `scumble.experiment.compute_cell.compute`.

    Returns
    -------
    Report
        What was done.
    """
    from scumble.experiment.compute_cell import compute as default

    plan.check()
    if not isinstance(store, Store):
        with Store(store) as opened:
            return run(
                plan, opened, n_jobs=n_jobs, cluster=cluster, retry_failed=retry_failed,
                observe=observe, compute=compute,
            )  # fmt: skip
    cells = cells_of(plan, store)
    store.remember_metrics(plan.metrics)
    if any(map(is_newer, plan.metrics)):
        store.want_scores([c.key for c in cells if c.classifier.name != NOTHING], NEWER)
    return run_cells(
        cells,
        store,
        compute=compute or default,
        n_jobs=n_jobs,
        cluster=cluster,
        retry_failed=retry_failed,
        observe=observe,
    )


def cells_of(plan: Plan, store: Store | None = None) -> list[Cell]:
    """Make the cells of a plan; data sets are read for their checksums.

    Parameters
    ----------
    plan : Plan
        What is wanted.
    store : Store, optional
        Remembers checksums of files that have not changed.

    Returns
    -------
    list of Cell
        Data set by data set, without the combinations that a classifier's ``where`` rules out.

    Raises
    ------
    PlanError
        With all data sets that cannot be read.
    """
    from scumble.experiment.compute_cell import REVISION
    from scumble.experiment.parts import fits, runs_otherwise, versions_of

    known = _contents(plan, store)
    assert isinstance(plan.splitter, Part)
    folds = _fold_file(plan.splitter, plan.folder)
    cells = []
    for dataset, resampler, classifier, seed, fold in plan.combinations():
        facts = known[dataset.label]
        if not fits(classifier, facts):
            continue
        cells.append(
            Cell(
                dataset=dataset,
                resampler=resampler,
                classifier=classifier,
                splitter=plan.splitter,
                seed=seed,
                fold=fold,
                content=facts["content"],
                versions={
                    "cells": str(REVISION),
                    **versions_of(resampler, classifier, plan.splitter),
                    **({"fold": "2"} if runs_otherwise(classifier, facts["weighted"]) else {}),
                    **folds,
                },
                seconds=plan.seconds,
                megabytes=plan.megabytes,
                keep_predictions=plan.keep_predictions,
                folder=plan.folder,
                work=facts["work"],
            )
        )
    return cells


def estimate(cells: Iterable[Cell], store: Store | None, *, n_jobs: int = 1) -> Estimate:
    """Tell how long the cells will take that are not done yet.

    Parameters
    ----------
    cells : iterable of Cell
        What is wanted.
    store : Store or None
        What is there; None where there is no store yet.
    n_jobs : int
        Workers.

    Returns
    -------
    Estimate
        Rough where nothing similar has been measured.
    """
    cells = list(cells)
    rows = [] if store is None else store.cells()
    done = {row["key"]: row for row in rows if row["state"] == "done"}
    exact = _means(
        (row["dataset"], row["resampler"], row["classifier"], row["seconds"])
        for row in done.values()
    )
    similar = _means((row["dataset"], row["classifier"], row["seconds"]) for row in done.values())
    total, measured = 0.0, 0
    for cell in cells:
        if cell.key in done:
            continue
        place = (cell.dataset.label, cell.resampler.label, cell.classifier.label)
        known = exact.get(place, similar.get((place[0], place[2])))
        measured += known is not None
        total += known if known is not None else SECONDS_AT_LEAST + SECONDS_PER_WORK * cell.work
    n_done = sum(cell.key in done for cell in cells)
    return Estimate(len(cells), n_done, total / max(n_jobs, 1), measured)


def _means(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], float]:
    found: dict[tuple[Any, ...], list[float]] = {}
    for *place, seconds in rows:
        found.setdefault(tuple(place), []).append(seconds)
    return {place: sum(values) / len(values) for place, values in found.items()}


def _contents(plan: Plan, store: Store | None) -> dict[str, Facts]:
    found: dict[str, Facts] = {}
    broken = []
    with track("Reading data sets", len(plan.datasets)) as advance:
        for part in plan.datasets:
            assert isinstance(part, Part)
            try:
                found[part.label] = _content(part, plan.folder, store)
            except ScumbleError as error:
                broken.append(f"{part.label}: {error}")
            advance(1)
    broken += _twins(found)
    if broken:
        raise PlanError("Data sets cannot be used, so nothing was run. " + " ".join(broken))
    return found


def _twins(found: dict[str, Facts]) -> Iterator[str]:
    """Find data sets of the same content: they would share their cells."""
    first: dict[str, str] = {}
    for label, facts in found.items():
        known = first.setdefault(facts["content"], label)
        if known != label:
            yield f"{known} and {label} hold the same data: keep one."


def _content(part: Part, folder: str, store: Store | None) -> Facts:
    """Return checksum, size and shape of a data set, read only if its file is new."""
    from scumble.experiment.parts import content_of, file_of, load_dataset, with_label_file

    part = with_label_file(part, folder)
    path = file_of(part, folder) or _on_the_shelf(part)
    stamp = "" if path is None else _stamp(path, part.parameters.get("labels"))
    place = canonical([str(path or part.name), part.spec()])
    known = store.known_content(place, stamp) if store is not None and stamp else None
    facts = store.facts(known[0]) if store is not None and known is not None else None
    if known is not None and facts is not None:
        return {**facts, "content": known[0], "work": known[1]}
    data = load_dataset(part, folder)
    values = data.X.nnz if hasattr(data.X, "nnz") else data.X.size
    content, work = content_of(data), float(values) * len(data.labels)
    shape = {
        f"n_{what}": getattr(data, f"n_{what}") for what in ("instances", "features", "labels")
    }
    facts = {**shape, "weighted": data.weights is not None}
    if store is not None and stamp:
        store.remember_content(place, stamp, content, work)
        store.remember_facts(content, facts)
    return {**facts, "content": content, "work": work}


def _on_the_shelf(part: Part) -> Path | None:
    from scumble.data import shelf

    try:
        return shelf.locate(part.name)
    except ScumbleError:
        return None


def _stamp(path: Path, labels: Any) -> str:
    """Describe the files of a data set; its labels may stand in a file beside it or elsewhere."""
    files = [path, *sorted(path.parent.glob("*.xml"))]
    if isinstance(labels, str) and Path(labels).is_file():
        files.append(Path(labels))
    return canonical([[p.name, p.stat().st_size, p.stat().st_mtime_ns] for p in files])


def _fold_file(splitter: Part, folder: str) -> dict[str, str]:
    """Make the content of a file of folds part of the key."""
    table = splitter.parameters.get("fold_table")
    if not isinstance(table, str):
        return {}
    return {"folds": hashlib.sha256(Path(folder, table).read_bytes()).hexdigest()[:32]}
