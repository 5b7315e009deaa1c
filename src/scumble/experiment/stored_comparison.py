"""`scumble.evaluate.compare` with a store, so that results of earlier comparisons are used again.

Each fold of each method is a *cell* of the store, see `cell`. A method is a classifier with the
resamplers before it.
"""

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
from scumble.experiment.components import dataset_checksum
from scumble.results.cell import LABEL_COUNTS_KEY, NO_ESTIMATOR, Cell, Component, Result
from scumble.results.run_cells import run_cells
from scumble.results.store import Store


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
        requirement = "be a whole number, so that the same folds are made again"
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
    """Compute the cells that the store does not have, store the results, and compare the methods.

    Raises a DataError if a method failed on a fold.
    """
    cells_by_method = list(_iterate_cells_by_method(run))
    all_cells = list(itertools.chain.from_iterable(cells_by_method))
    method_index_by_key: dict[str, int] = {}
    for method_index, method_cells in enumerate(cells_by_method):
        method_index_by_key |= dict.fromkeys((cell.key for cell in method_cells), method_index)
    store.set_metadata("metrics", list(run.metrics))
    compute = partial(_compute_fold, run, method_index_by_key)
    run_cells(all_cells, store, compute=compute, n_jobs=n_jobs or 0, retry_failed=True)
    stored_by_key = {
        stored["key"]: stored for stored in store.cells() if stored["key"] in method_index_by_key
    }
    for stored in stored_by_key.values():
        if stored["state"] != "done":
            method_name = stored["classifier"]
            if stored["resampler"] != NO_ESTIMATOR:
                method_name += f" after {stored['resampler']}"
            error = str(stored["error"]).partition("\n")[0]
            raise DataError(f"compare: {method_name} failed on fold {stored['fold']}: {error}")
    return run.summarize(
        [
            [_fold_result(stored_by_key[cell.key]) for cell in method_cells]
            for method_cells in cells_by_method
        ]
    )


def _compute_fold(run: ComparisonRun, method_index_by_key: Mapping[str, int], cell: Cell) -> Result:
    """Run the method of a cell on its fold, and return what the store saves of the result.

    ``method_index_by_key`` has the index in ``run.methods`` by the key of a cell.
    """
    fold = run.cross_validate_fold(method_index_by_key[cell.key], cell.fold)
    details: dict[str, Any] = {LABEL_COUNTS_KEY: fold.counts.to_dict(), "seconds": fold.seconds}
    if fold.draws is not None:
        details["draws"] = {name: values.tolist() for name, values in fold.draws.items()}
    return Result(fold.values, details)


def _fold_result(stored: Mapping[str, Any]) -> MethodFoldResult:
    """Return the result that `_compute_fold` has stored, from a dict of `Store.cells`."""
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


def _iterate_cells_by_method(run: ComparisonRun) -> Iterator[list[Cell]]:
    """Yield for each method of a comparison the list of its cells, one per fold."""
    checksum = dataset_checksum(run.data)
    splitter = _splitter_component(run)
    for name, classifier, resampler in run.methods:
        classifier_label = name if resampler is None else name.partition(" after ")[0]
        model = resolve_classifier(classifier)
        chain = resolve_resamplers(resampler)
        resampler_component = Component(NO_ESTIMATOR)
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


def estimator_spec(value: Any) -> Any:
    """Return a JSON value that identifies an estimator, or a parameter, in every process.

    An estimator becomes a dict with its class and parameters, without ``n_jobs``; an array becomes
    its dtype, shape and checksum. Raises a ParameterError for what cannot be identified.
    """
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
    """Return the ``repr`` of a value; raise a ParameterError if it contains a memory address."""
    text = repr(value)
    if " at 0x" in text or " object" in text:
        raise ParameterError(
            f"compare with a store cannot identify {text} in a later run. Expected plain values as "
            "parameters, whole numbers as seeds; or leave out the store."
        )
    return text


def _versions(estimator: Any) -> Iterator[tuple[str, str]]:
    """Yield (name, version) of an estimator's code, and of the estimators among its parameters.

    For a class of another package, these are the name and version of the package; for a class of
    scumble with a ``revision``, which is increased if its results change, its name and revision.
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
