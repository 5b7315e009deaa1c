"""A comparison with a store: results of earlier comparisons are used again.

Each fold of each method is a *cell* of the store, see `scumble.results.cell`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from scumble._core.errors import DataError
from scumble._core.version import __version__
from scumble.data.checksum import dataset_checksum
from scumble.evaluate.comparison_result import MethodFoldResult
from scumble.evaluate.comparison_run import ComparisonRun, Method
from scumble.evaluate.model_selection.folds import LabelCounts
from scumble.results.cell import LABEL_COUNTS_KEY, NO_ESTIMATOR, Cell, Component, Result
from scumble.results.estimator_spec import estimator_spec, estimator_versions
from scumble.results.run_cells import run_cells
from scumble.results.store import Store


def run_with_store(
    run: ComparisonRun, store: Store | str | os.PathLike[str], *, n_jobs: int | None
) -> dict[str, list[MethodFoldResult]]:
    """Compute the cells that the store does not have, and store their results.

    Returns by the name of each method its results, one per fold. Raises a DataError if a method
    failed on a fold.
    """
    cells_by_method = _make_cells(run)
    cells: list[Cell] = []
    method_name_by_key: dict[str, str] = {}
    for method_name, method_cells in cells_by_method.items():
        cells += method_cells
        method_name_by_key |= dict.fromkeys((cell.key for cell in method_cells), method_name)
    # All methods on one fold, then on the next: each process cuts the data once per fold.
    cells.sort(key=lambda cell: cell.fold)
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        opened.set_metadata("metrics", list(run.metrics))
        run_cells(
            cells,
            opened,
            compute=partial(_compute_cell, run, method_name_by_key),
            n_jobs=0 if n_jobs is None else n_jobs,
            retry_failed=True,
        )
        stored_by_key = {stored["key"]: stored for stored in opened.cells()}
    for cell in cells:
        stored = stored_by_key[cell.key]
        if stored["state"] != "done":
            error = str(stored["error"]).partition("\n")[0]
            method_name = method_name_by_key[cell.key]
            raise DataError(f"compare: {method_name} failed on fold {cell.fold}: {error}")
    return {
        method_name: [_fold_result(stored_by_key[cell.key]) for cell in method_cells]
        for method_name, method_cells in cells_by_method.items()
    }


def _compute_cell(run: ComparisonRun, method_name_by_key: Mapping[str, str], cell: Cell) -> Result:
    """Run the method of a cell on its fold, and return what the store saves of the result.

    ``method_name_by_key`` has the name of the method by the key of a cell.
    """
    fold_result = run.run_fold(cell.fold, method_name_by_key[cell.key])
    details: dict[str, Any] = {
        LABEL_COUNTS_KEY: fold_result.counts.to_dict(),
        "seconds": fold_result.seconds,
    }
    if fold_result.draws is not None:
        details["draws"] = {name: values.tolist() for name, values in fold_result.draws.items()}
    return Result(fold_result.values, details)


def _fold_result(stored: Mapping[str, Any]) -> MethodFoldResult:
    """Return the result that `_compute_cell` has stored, from a dict of `Store.cells`."""
    details = stored["details"]
    draws = None
    if "draws" in details:
        draws = {name: np.array(values, float) for name, values in details["draws"].items()}
    return MethodFoldResult(
        values=stored["scores"],
        counts=LabelCounts.from_dict(details[LABEL_COUNTS_KEY]),
        seconds=details["seconds"],
        draws=draws,
    )


def _make_cells(run: ComparisonRun) -> dict[str, list[Cell]]:
    """Return by the name of each method of a comparison its cells, one per fold."""
    checksum = dataset_checksum(run.data)
    splitter = _splitter_component(run)
    cells_by_method = {}
    for name, method in run.methods.items():
        cell = Cell(
            dataset=Component(run.data.name or "data"),
            resampler=_resampler_component(method),
            classifier=Component("one", estimator_spec(method.classifier), method.classifier_name),
            splitter=splitter,
            seed=run.random_state,
            fold=0,
            dataset_checksum=checksum,
            versions=_versions(method),
        )
        cells_by_method[name] = [replace(cell, fold=fold) for fold in range(len(run.splits))]
    return cells_by_method


def _resampler_component(method: Method) -> Component:
    """Return the component that identifies the resamplers of a method."""
    if not method.resamplers:
        return Component(NO_ESTIMATOR)
    steps = [estimator_spec(resampler) for resampler in method.resamplers]
    return Component("+", {"steps": steps}, method.resampler_name or "")


def _versions(method: Method) -> dict[str, str]:
    """Return the versions of the code that the results of a method depend on, by name."""
    versions = {"scumble": __version__}
    for estimator in (method.classifier, *method.resamplers):
        versions |= dict(estimator_versions(estimator))
    return versions


def _splitter_component(run: ComparisonRun) -> Component:
    """Return a component that identifies the splits of a comparison by a checksum of their rows.

    With a test set, results hold metrics on bootstrap draws of its rows, for the metrics of the
    comparison only; so the component contains these metrics as well.
    """
    checksum = hashlib.sha256()
    for split in run.splits:
        for row_indices in split:
            checksum.update(np.asarray(row_indices, np.int64).tobytes() + b"|")
    parameters: dict[str, Any] = {"rows": checksum.hexdigest()[:32]}
    if run.has_test_set:
        parameters["metrics"] = list(run.metrics)
    return Component("same folds", parameters, f"{len(run.splits)} folds compared")
