"""Computing a cell: split, treat the training part, learn, predict, judge."""

import io
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from scumble.evaluate import confusion, evaluate
from scumble.evaluate.bipartition_metrics import f1s
from scumble.evaluate.folds import LabelCounts, add_elapsed_seconds, run_fold
from scumble.experiment import parts
from scumble.experiment.cell import (
    LABEL_COUNTS_KEY,
    MEASURES,
    METRICS_IGNORING_UNDEFINED,
    NOTHING,
    Cell,
    Result,
)
from scumble.learn import TextColumns
from scumble.measures import characterize
from scumble.resample import run_chain

_folds: OrderedDict[Hashable, list[Any]] = OrderedDict()


def compute_cell(cell: Cell) -> Result:
    """Compute one cell; resampling sees the training part only."""
    started = time.process_time()
    data = parts.load_cell_dataset(cell)
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
    with add_elapsed_seconds(seconds, "seconds_resampling"):
        treated = run_chain(TextColumns.of(training).transform(training), chain)
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
        LABEL_COUNTS_KEY: LabelCounts.of(fold.evaluation).to_dict(),
    }
    archive = _archive(test, fold.predictions, fold.scores) if cell.keep_predictions else None
    return Result(scores, details, archive)


def _split(cell: Cell, data: Any) -> tuple[Any, Any]:
    def split() -> list[Any]:
        splitter = parts.make_splitter(cell.splitter, seed=seed, folder=cell.folder)
        return list(splitter.split(data))

    seed = cell.seed_for("folds")  # it depends on data and splitter, too
    train, test = parts.lru_get(_folds, (cell.dataset_checksum, seed, cell.folder), split)[
        cell.fold
    ]
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
    found |= {f"ignore.{name}": float(ignoring[name]) for name in METRICS_IGNORING_UNDEFINED}
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
