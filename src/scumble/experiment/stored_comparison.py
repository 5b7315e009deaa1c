"""`scumble.evaluate.compare` with a store: what was judged before is not judged again."""

import hashlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
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
from scumble.evaluate.cross_validation import resolve_classifier, resolve_resamplers
from scumble.evaluate.folds import LabelCounts
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
    """Judge methods on the same folds, and keep every fold in a file as soon as it is judged.

    The answer is that of `scumble.evaluate.compare`. Work that was interrupted goes on where it
    ended; a method more, or another metric, costs what is new. Several processes may share a store.

    Parameters
    ----------
    data, classifiers, resamplers, folds, metrics, test, confidence : object
        See `scumble.evaluate.compare`.
    store : Store, str or Path
        Where results go; a file that is not there is made.
    random_state : int, default=0
        One seed, one answer; another seed is another comparison.
    n_jobs : int, optional
        Processes that share methods and folds. None works in this one.

    Returns
    -------
    Comparison
        See its ``verdicts()``, ``table``, ``best`` and ``gains(method)``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import scumble
    >>> from scumble.experiment import compare
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "mine.db"
    ...     found = compare(data, ["br", "rare"], folds="1x3", store=store)
    ...     again = compare(data, ["br", "rare"], folds="1x3", store=store)  # reads it
    >>> found.best, again.table == found.table
    ('rare', True)
    """
    if isinstance(random_state, bool) or not isinstance(random_state, int):
        must = "be a whole number, so that its folds are found again"
        raise parameter_error("random_state", "compare with a store", must, random_state)
    rules = (metrics, test, confidence, random_state)
    match = ComparisonRun(data, classifiers, resamplers, folds, *rules)
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        return _compare(match, opened, n_jobs)


def _compare(match: ComparisonRun, store: Store, n_jobs: int | None) -> Comparison:
    table = list(_cells(match))
    places = {cell.key: at for at, cells in enumerate(table) for cell in cells}
    wanted = [cell for cells in table for cell in cells]
    store.set_metadata("metrics", list(match.metrics))
    judge = partial(_judge_fold, match, places)
    run_cells(wanted, store, compute=judge, n_jobs=n_jobs or 0, retry_failed=True)
    found = {row["key"]: row for row in store.cells() if row["key"] in places}
    for row in found.values():
        if row["state"] != "done":
            what = " after ".join(n for n in (row["classifier"], row["resampler"]) if n != NOTHING)
            why = str(row["error"]).partition("\n")[0]
            raise DataError(f"compare: {what} failed on fold {row['fold']}: {why}")
    return match.summarize([[_read(found[cell.key]) for cell in cells] for cells in table])


def _judge_fold(match: ComparisonRun, places: Mapping[str, int], cell: Cell) -> Result:
    """Judge the fold that a cell stands for."""
    fold = match.cross_validate_fold(places[cell.key], cell.fold)
    details: dict[str, Any] = {LABEL_COUNTS_KEY: fold.counts.to_dict(), "seconds": fold.seconds}
    if fold.draws is not None:
        details["draws"] = {name: values.tolist() for name, values in fold.draws.items()}
    return Result(fold.values, details)


def _read(row: Mapping[str, Any]) -> MethodFoldResult:
    details = row["details"]
    counts, draws = LabelCounts.from_dict(details[LABEL_COUNTS_KEY]), details.get("draws")
    drawn = None if draws is None else {n: np.array(v, np.float64) for n, v in draws.items()}
    return MethodFoldResult(row["scores"], counts, details["seconds"], drawn)


def _cells(match: ComparisonRun) -> Iterator[list[Cell]]:
    """Make the cells of every method."""
    content = dataset_checksum(match.data)
    splitter = _part_of_folds(match)
    for name, classifier, resampler in match.methods:
        learner = name if resampler is None else name.partition(" after ")[0]
        treatment = name.removeprefix(f"{learner} after ")
        model, chain = resolve_classifier(classifier), resolve_resamplers(resampler)
        steps = Component("+", {"steps": [estimator_spec(step) for step in chain]}, treatment)
        versions = {"scumble": __version__}
        versions |= (one for part in (model, *chain) for one in _versions(part))
        data, classifier = (
            Component(match.data.name or "data"),
            Component("one", estimator_spec(model), learner),
        )
        given = (
            data,
            steps if chain else Component(NOTHING),
            classifier,
            splitter,
            match.random_state,
        )
        yield [Cell(*given, fold, content, versions) for fold in range(len(match.splits))]


def _part_of_folds(match: ComparisonRun) -> Component:
    """Know folds by their rows; what is drawn of a test part depends on the metrics."""
    rows = hashlib.sha256()
    for split in match.splits:
        for part in split:
            rows.update(np.asarray(part, np.int64).tobytes() + b"|")
    given: dict[str, Any] = {"rows": rows.hexdigest()[:32]}
    if match.draws:
        given["metrics"] = list(match.metrics)
    return Component("same folds", given, f"{len(match.splits)} folds compared")


def estimator_spec(value: Any) -> Any:
    """Tell an estimator, or a parameter of one, in plain values that stay the same."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_params"):
        given = value.get_params(deep=False)
        inside = {name: estimator_spec(one) for name, one in given.items() if name != "n_jobs"}
        return {"class": estimator_spec(type(value)), "parameters": inside}
    if isinstance(value, list | tuple):
        return [estimator_spec(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): estimator_spec(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    return _text_of(value)


def _text_of(value: Any) -> str:
    text = repr(value)
    if " at 0x" in text or " object" in text:
        raise ParameterError(
            f"compare with a store cannot recognise {text} again. Expected plain values as "
            "parameters, whole numbers as seeds; or leave out the store."
        )
    return text


def _versions(estimator: Any) -> Iterator[tuple[str, str]]:
    """Name versions of the code inside; a class whose results change raises its ``revision``."""
    kind = type(estimator)
    package = kind.__module__.partition(".")[0]
    if package != "scumble":
        yield package, str(getattr(import_module(package), "__version__", "unknown"))
    elif getattr(kind, "revision", 0):
        yield kind.__name__, str(kind.revision)
    given = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    for inner in given.values():
        if hasattr(inner, "get_params") and not isinstance(inner, type):
            yield from _versions(inner)
