"""`scumble.evaluate.compare` with a store: results of earlier comparisons are used again."""

import hashlib
import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from scumble._core.errors import DataError, ParameterError, parameter_error
from scumble._core.version import __version__
from scumble.data import MultilabelDataset
from scumble.evaluate.comparison import (
    DEFAULT_FOLDS,
    DEFAULT_METRICS,
    Comparison,
    ComparisonRun,
    MethodFoldResult,
)
from scumble.evaluate.model_selection.cross_validation import resolve_classifier, resolve_resamplers
from scumble.evaluate.model_selection.folds import LabelCounts
from scumble.experiment.cell import LABEL_COUNTS_KEY, NOTHING, Cell, Component, Result
from scumble.experiment.parts import dataset_checksum
from scumble.experiment.runner import run_cells
from scumble.experiment.store import Store


def compare(
    data: MultilabelDataset,
    classifiers: Sequence[Any] | Mapping[str, Any] = ("br", "rare"),
    resamplers: Sequence[Any] | Mapping[str, Any] = ("none",),
    *,
    store: Store | str | os.PathLike[str],
    folds: Any = DEFAULT_FOLDS,
    metrics: Sequence[str] = DEFAULT_METRICS,
    test: MultilabelDataset | None = None,
    confidence: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare methods on the same folds, and store the result of every fold in a file.

    The result is that of `scumble.evaluate.compare`. A comparison that was interrupted continues
    where it ended. If methods or metrics are added, only new results are computed. Several
    processes can use the same store.

    Parameters
    ----------
    data, classifiers, resamplers, folds, metrics, test, confidence : object
        See `scumble.evaluate.compare`.
    store : Store, str or Path
        The store of results; its file is created if it does not exist.
    random_state : int, default=0
        The seed. Results of one seed are not used for another.
    n_jobs : int, optional
        Number of processes that compute methods and folds; None computes in this process.

    Returns
    -------
    Comparison
        The comparison, with ``verdicts()``, ``table``, ``best`` and ``gains(method)``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import scumble
    >>> from scumble.experiment import compare
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "mine.db"
    ...     computed = compare(data, ["br", "rare"], folds="1x3", store=store)
    ...     stored = compare(data, ["br", "rare"], folds="1x3", store=store)  # reads the results
    >>> computed.best, stored.table == computed.table
    ('rare', True)
    """
    if isinstance(random_state, bool) or not isinstance(random_state, int):
        requirement = "be a whole number, so that its folds are found again"
        raise parameter_error("random_state", "compare with a store", requirement, random_state)
    run = ComparisonRun(
        data,
        classifiers=classifiers,
        resamplers=resamplers,
        folds=folds,
        metrics=metrics,
        test=test,
        confidence=confidence,
        random_state=random_state,
    )
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        return _compare(run, opened, n_jobs)


def _compare(run: ComparisonRun, store: Store, n_jobs: int | None) -> Comparison:
    """Compute all cells that the store does not have, and compare the methods."""
    cells_by_method = list(_cells(run))
    cells = list(itertools.chain.from_iterable(cells_by_method))
    method_of_cell: dict[str, int] = {}
    for method, method_cells in enumerate(cells_by_method):
        method_of_cell |= dict.fromkeys((cell.key for cell in method_cells), method)
    store.set_metadata("metrics", list(run.metrics))
    compute = partial(_compute_fold, run, method_of_cell)
    run_cells(cells, store, compute=compute, n_jobs=n_jobs or 0, retry_failed=True)
    rows = {row["key"]: row for row in store.cells() if row["key"] in method_of_cell}
    for row in rows.values():
        if row["state"] != "done":
            method_name = row["classifier"]
            if row["resampler"] != NOTHING:
                method_name += f" after {row['resampler']}"
            error = str(row["error"]).partition("\n")[0]
            raise DataError(f"compare: {method_name} failed on fold {row['fold']}: {error}")
    return run.summarize(
        [[_fold_result(rows[cell.key]) for cell in cells] for cells in cells_by_method]
    )


def _compute_fold(run: ComparisonRun, method_of_cell: Mapping[str, int], cell: Cell) -> Result:
    """Compute the method and fold of a cell."""
    fold = run.cross_validate_fold(method_of_cell[cell.key], cell.fold)
    details: dict[str, Any] = {LABEL_COUNTS_KEY: fold.counts.to_dict(), "seconds": fold.seconds}
    if fold.draws is not None:
        details["draws"] = {name: values.tolist() for name, values in fold.draws.items()}
    return Result(fold.values, details)


def _fold_result(row: Mapping[str, Any]) -> MethodFoldResult:
    """Return the result of a fold from a cell of the store."""
    details = row["details"]
    draws = None
    if "draws" in details:
        draws = {name: np.array(values, float) for name, values in details["draws"].items()}
    return MethodFoldResult(
        values=row["scores"],
        counts=LabelCounts.from_dict(details[LABEL_COUNTS_KEY]),
        seconds=details["seconds"],
        draws=draws,
    )


def _cells(run: ComparisonRun) -> Iterator[list[Cell]]:
    """Yield the cells of every method, one per fold."""
    checksum = dataset_checksum(run.data)
    splitter = _splitter_component(run)
    for name, classifier, resampler in run.methods:
        classifier_label = name if resampler is None else name.partition(" after ")[0]
        model = resolve_classifier(classifier)
        chain = resolve_resamplers(resampler)
        resampler_component = Component(NOTHING)
        if chain:
            steps = [estimator_spec(step) for step in chain]
            resampler_label = name.removeprefix(f"{classifier_label} after ")
            resampler_component = Component("+", {"steps": steps}, resampler_label)
        versions = {"scumble": __version__}
        for estimator in (model, *chain):
            versions |= dict(_versions(estimator))
        cell = Cell(
            dataset=Component(run.data.name or "data"),
            resampler=resampler_component,
            classifier=Component("one", estimator_spec(model), classifier_label),
            splitter=splitter,
            seed=run.random_state,
            fold=0,
            dataset_checksum=checksum,
            versions=versions,
        )
        yield [replace(cell, fold=fold) for fold in range(len(run.splits))]


def _splitter_component(run: ComparisonRun) -> Component:
    """Return the folds as a component, which is identified by a checksum of their rows.

    Draws of the rows of a test set depend on the metrics, too.
    """
    checksum = hashlib.sha256()
    for split in run.splits:
        for rows in split:
            checksum.update(np.asarray(rows, np.int64).tobytes() + b"|")
    parameters: dict[str, Any] = {"rows": checksum.hexdigest()[:32]}
    if run.draws:
        parameters["metrics"] = list(run.metrics)
    return Component("same folds", parameters, f"{len(run.splits)} folds compared")


def estimator_spec(value: Any) -> Any:
    """Describe an estimator, or a parameter of one, by plain values that stay the same."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_params"):
        parameters = value.get_params(deep=False)
        parameters.pop("n_jobs", None)
        specs = {name: estimator_spec(parameter) for name, parameter in parameters.items()}
        return {"class": estimator_spec(type(value)), "parameters": specs}
    if isinstance(value, list | tuple):
        return [estimator_spec(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): estimator_spec(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    return _stable_repr(value)


def _stable_repr(value: Any) -> str:
    """Return the ``repr`` of a value, or raise an error if it is not the same in each process."""
    text = repr(value)
    if " at 0x" in text or " object" in text:
        raise ParameterError(
            f"compare with a store cannot recognise {text} again. Expected plain values as "
            "parameters, whole numbers as seeds; or leave out the store."
        )
    return text


def _versions(estimator: Any) -> Iterator[tuple[str, str]]:
    """Yield name and version of packages and classes that an estimator consists of.

    A class of scumble whose results change increases its ``revision``.
    """
    cls = type(estimator)
    package = cls.__module__.partition(".")[0]
    if package != "scumble":
        yield package, str(getattr(import_module(package), "__version__", "unknown"))
    elif getattr(cls, "revision", 0):
        yield cls.__name__, str(cls.revision)
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    for parameter in parameters.values():
        if hasattr(parameter, "get_params") and not isinstance(parameter, type):
            yield from _versions(parameter)
