"""Computing cells: those of a plan, and those of methods that are compared on the same folds.

A cell of a plan is split, its training part treated, learnt from, predicted and judged. With a
store `scumble.evaluate.compare` makes its folds cells, too: what was judged before is not judged
again.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from scumble._core.errors import DataError, ParameterError, refused
from scumble._core.version import __version__
from scumble.data import MultilabelDataset
from scumble.evaluate import confusion, evaluate
from scumble.evaluate.bipartition_metrics import f1s
from scumble.evaluate.comparison import FOLDS, METRICS, Comparison, FoldTrial, Match
from scumble.evaluate.cross_validation import as_chain, as_classifier
from scumble.evaluate.folds import LabelCounts, run_fold, timed
from scumble.experiment import parts
from scumble.experiment.cell import IGNORING, LABELS, MEASURES, NOTHING, Cell, Part, Result
from scumble.experiment.runner import run_cells
from scumble.experiment.store import Store
from scumble.learn import TextColumns
from scumble.measures import characterize
from scumble.resample import run_chain

_folds: OrderedDict[Hashable, list[Any]] = OrderedDict()


def compute_cell(cell: Cell) -> Result:
    """Compute one cell; resampling sees the training part only."""
    started = time.process_time()
    data = parts.dataset_of(cell)
    train, test = _split(cell, data)
    chain = parts.make_resamplers(cell.resampler, seed=cell.seed_for("resampler"))
    if cell.classifier.name == NOTHING:
        result = _only_resample(data[train], chain)
    else:
        result = _run(cell, data, train, test, chain)
    # Of all threads, and not longer on a busy machine: what a cell costs.
    cost = {"cpu_seconds": time.process_time() - started}
    return replace(result, details={**result.details, **cost})


def _only_resample(training: Any, chain: list[Any]) -> Result:
    seconds = {"seconds_resampling": 0.0}
    with timed(seconds, "seconds_resampling"):
        treated = run_chain(TextColumns.of(training).apply(training), chain)
    return Result({**_measures("before", training.Y), **_measures("after", treated.Y)}, seconds)


def _run(cell: Cell, data: Any, train: Any, test: Any, chain: list[Any]) -> Result:
    """Learn and judge; all seeds are set when the parts are made."""
    classifier = parts.make_classifier(cell.classifier, seed=cell.seed_for("classifier"))
    fold = run_fold(data[train], data[test], classifier, chain)
    scores = _judge(fold, data[test]) | _measures("before", fold.training.Y)
    scores |= _measures("after", fold.resampled.Y)
    details = {
        "seconds_resampling": fold.seconds["resample"],
        "seconds_fitting": fold.seconds["fit"],
        "seconds_predicting": fold.seconds["predict"],
        "n_predicted": int(fold.predictions.nnz),
        LABELS: LabelCounts.of(fold.evaluation).to_plain(),
    }
    archive = _archive(test, fold.predictions, fold.scores) if cell.keep_predictions else None
    return Result(scores, details, archive)


def _split(cell: Cell, data: Any) -> tuple[Any, Any]:
    def split() -> list[Any]:
        splitter = parts.make_splitter(cell.splitter, seed=seed, folder=cell.folder)
        return list(splitter.split(data))

    seed = cell.seed_for("folds")  # it depends on data and splitter, too
    train, test = parts.recent(_folds, (cell.content, seed, cell.folder), split)[cell.fold]
    return train, test


def _measures(when: str, Y: Any) -> dict[str, float]:
    summary = characterize(Y)
    found = {f"{when}.{name}": float(getattr(summary, name)) for name in MEASURES}
    # mldr, and therefore the paper, counts a label that never occurs as a ratio of zero.
    n_labels = summary.n_labels
    seen = n_labels - summary.n_unseen
    found[f"{when}.mean_ir_zero"] = summary.mean_ir * seen / n_labels if seen else 0.0
    return found


def _judge(fold: Any, test: Any) -> dict[str, float]:
    found = {name: float(value) for name, value in fold.evaluation.items()}
    # The rule for 0/0 decides about means of F, so three are kept: MULAN's, leaving out what is
    # undefined, and leaving out what has no hit, where precision and recall are 0 and F is 0/0.
    ignoring = evaluate(test, fold.predictions, undefined="ignore")
    found |= {f"ignore.{name}": float(ignoring[name]) for name in IGNORING}
    found["hits.f1"], found["hits.macro_f1"] = _means_of_hits(test.Y, fold.predictions)
    return found


def _means_of_hits(Y: Any, predictions: Any) -> tuple[float, ...]:
    """Average F over the rows, and over the labels, with at least one correct prediction."""
    counts = confusion(Y, predictions)
    rated = (f1s(one.take(one.hits > 0))[0] for one in (counts.by_instance, counts.by_label))
    return tuple(float(found.mean()) if len(found) else float("nan") for found in rated)


def _archive(test: Any, predictions: Any, confidences: Any) -> bytes:
    stream = io.BytesIO()
    packed = np.packbits(predictions.toarray())
    kept = {"rows": test, "shape": predictions.shape, "predictions": packed}
    if confidences is not None:
        kept["confidences"] = np.asarray(confidences, dtype=np.float32)
    np.savez_compressed(stream, **kept)
    return stream.getvalue()


# Methods on the same folds ---------------------------------------------------------------------


def compare(
    data: MultilabelDataset,
    classifiers: Sequence[Any] | Mapping[str, Any] = ("br", "rare"),
    resamplers: Sequence[Any] | Mapping[str, Any] = ("none",),
    *,
    store: Store | str | os.PathLike[str],
    folds: Any = FOLDS,
    metrics: Sequence[str] = METRICS,
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
        raise refused("random_state", "compare with a store", must, random_state)
    rules = (metrics, test, confidence, random_state)
    match = Match(data, classifiers, resamplers, folds, *rules)
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        return _compare(match, opened, n_jobs)


def _compare(match: Match, store: Store, n_jobs: int | None) -> Comparison:
    table = list(_cells(match))
    places = {cell.key: at for at, cells in enumerate(table) for cell in cells}
    wanted = [cell for cells in table for cell in cells]
    store.remember("metrics", list(match.metrics))
    judge = partial(_judge_fold, match, places)
    run_cells(wanted, store, compute=judge, n_jobs=n_jobs or 0, retry_failed=True)
    found = {row["key"]: row for row in store.cells() if row["key"] in places}
    for row in found.values():
        if row["state"] != "done":
            what = " after ".join(n for n in (row["classifier"], row["resampler"]) if n != NOTHING)
            why = str(row["error"]).partition("\n")[0]
            raise DataError(f"compare: {what} failed on fold {row['fold']}: {why}")
    return match.conclude([[_read(found[cell.key]) for cell in cells] for cells in table])


def _judge_fold(match: Match, places: Mapping[str, int], cell: Cell) -> Result:
    """Judge the fold that a cell stands for."""
    fold = match.judge_fold(places[cell.key], cell.fold)
    details: dict[str, Any] = {LABELS: fold.counts.to_plain(), "seconds": fold.seconds}
    if fold.draws is not None:
        details["draws"] = {name: values.tolist() for name, values in fold.draws.items()}
    return Result(fold.values, details)


def _read(row: Mapping[str, Any]) -> FoldTrial:
    details = row["details"]
    counts, draws = LabelCounts.from_plain(details[LABELS]), details.get("draws")
    drawn = None if draws is None else {n: np.array(v, np.float64) for n, v in draws.items()}
    return FoldTrial(row["scores"], counts, details["seconds"], drawn)


def _cells(match: Match) -> Iterator[list[Cell]]:
    """Make the cells of every method."""
    content = parts.content_of(match.data)
    splitter = _part_of_folds(match)
    for name, classifier, resampler in match.methods:
        learner = name if resampler is None else name.partition(" after ")[0]
        treatment = name.removeprefix(f"{learner} after ")
        model, chain = as_classifier(classifier), as_chain(resampler)
        steps = Part("+", {"steps": [describe(step) for step in chain]}, treatment)
        versions = {"scumble": __version__}
        versions |= (one for part in (model, *chain) for one in _versions(part))
        data, classifier = Part(match.data.name or "data"), Part("one", describe(model), learner)
        given = (data, steps if chain else Part(NOTHING), classifier, splitter, match.random_state)
        yield [Cell(*given, fold, content, versions) for fold in range(len(match.splits))]


def _part_of_folds(match: Match) -> Part:
    """Know folds by their rows; what is drawn of a test part depends on the metrics."""
    rows = hashlib.sha256()
    for split in match.splits:
        for part in split:
            rows.update(np.asarray(part, np.int64).tobytes() + b"|")
    given: dict[str, Any] = {"rows": rows.hexdigest()[:32]}
    if match.draws:
        given["metrics"] = list(match.metrics)
    return Part("same folds", given, f"{len(match.splits)} folds compared")


def describe(value: Any) -> Any:
    """Tell an estimator, or a parameter of one, in plain values that stay the same."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_params"):
        given = value.get_params(deep=False)
        inside = {name: describe(one) for name, one in given.items() if name != "n_jobs"}
        return {"class": describe(type(value)), "parameters": inside}
    if isinstance(value, list | tuple):
        return [describe(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): describe(one) for name, one in value.items()}
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
