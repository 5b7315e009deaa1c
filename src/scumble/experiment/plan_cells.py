"""From a plan to its cells, and how long they will take."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scumble._core.errors import ScumbleError
from scumble._core.progress import track
from scumble.experiment.cell import Cell, Part, PlanError
from scumble.experiment.parts import Facts, facts_of, runs_otherwise, versions_of
from scumble.experiment.plan import LIMITS, Plan, parts_of
from scumble.experiment.store import Store

#: Raised when cells hold other numbers than before, so that stored ones are computed anew.
REVISION = 1
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

    Examples
    --------
    See `estimate`, which makes them.

    >>> from scumble.experiment import Estimate
    >>> Estimate(n_cells=20, n_done=5, seconds=90.0, n_measured=15).seconds
    90.0
    """

    n_cells: int
    n_done: int
    seconds: float
    n_measured: int


def cells_of(plan: Plan, store: Store | None = None) -> list[Cell]:
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
    >>> from scumble.experiment import Part, Plan, cells_of
    >>> two_folds = Part("kfold", {"n_splits": 2, "n_repeats": 1})
    >>> plan = Plan(["debtags"], ["br"], resamplers=["none", "remedial"], splitter=two_folds)
    >>> [(cell.resampler.name, cell.fold) for cell in cells_of(plan)]
    [('none', 0), ('none', 1), ('remedial', 0), ('remedial', 1)]
    """
    plan.check()
    return enumerate_cells(plan, store)


def enumerate_cells(plan: Plan, store: Store | None) -> list[Cell]:
    """Make the cells of a plan that was checked."""
    known = _facts(plan, store)
    (splitter,) = parts_of(plan, "splitter")
    folds = _fold_file(splitter, plan.folder)
    turns = list(itertools.product(plan.seeds, range(plan.n_folds)))
    kinds = (parts_of(plan, kind) for kind in ("datasets", "classifiers", "resamplers"))
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


def estimate(cells: Iterable[Cell], store: Store | None, *, n_jobs: int = 1) -> Estimate:
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
    >>> from scumble.experiment import Part, Plan, cells_of, estimate
    >>> plan = Plan(["debtags"], ["br"], splitter=Part("kfold", {"n_splits": 5, "n_repeats": 2}))
    >>> guess = estimate(cells_of(plan), None, n_jobs=2)
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
    return Estimate(len(cells), len(cells) - len(todo), total / max(n_jobs, 1), measured)


def _facts(plan: Plan, store: Store | None) -> dict[str, Facts]:
    found: dict[str, Facts] = {}
    broken = []
    with track("Reading data sets", len(plan.datasets)) as advance:
        for part in parts_of(plan, "datasets"):
            try:
                found[part.label] = facts_of(part, plan.folder, store)
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


def _fits(classifier: Part, facts: Facts) -> bool:
    """Tell whether a classifier is meant for data of some size."""
    limits = classifier.where.items()
    return all(facts[f"n_{name.removeprefix('max_')}"] <= most for name, most in limits)


def _versions(resampler: Part, classifier: Part, splitter: Part, facts: Facts) -> dict[str, str]:
    newer = {"fold": "2"} if runs_otherwise(classifier, facts["weighted"]) else {}
    return {"cells": str(REVISION), **versions_of(resampler, classifier, splitter), **newer}


def _fold_file(splitter: Part, folder: str) -> dict[str, str]:
    """Make the content of a file of folds part of the key."""
    table = splitter.parameters.get("fold_table")
    if not isinstance(table, str):
        return {}
    return {"folds": hashlib.sha256(Path(folder, table).read_bytes()).hexdigest()[:32]}
