"""Compute a cell: split, resample the training set, fit, predict, evaluate."""

import io
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from scumble.evaluate import confusion, evaluate
from scumble.evaluate.metrics.bipartition import f1s
from scumble.evaluate.model_selection.folds import LabelCounts, add_elapsed_seconds, run_fold
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

#: The folds that were used last, by data set, seed and folder.
_folds: OrderedDict[Hashable, list[Any]] = OrderedDict()


def compute_cell(cell: Cell) -> Result:
    """Compute one cell; only its training set is resampled."""
    started = time.process_time()
    data = parts.load_cell_dataset(cell)
    train, test = _split(cell, data)
    resamplers = parts.make_resamplers(cell.resampler, seed=cell.seed_for("resampler"))
    if cell.classifier.name == NOTHING:
        result = _resample(data[train], resamplers)
    else:
        result = _fit_and_evaluate(cell, data, train, test, resamplers)
    # The CPU time of all threads does not depend on what else the machine computes.
    cpu_seconds = time.process_time() - started
    return replace(result, details={**result.details, "cpu_seconds": cpu_seconds})


def _resample(training: Any, resamplers: list[Any]) -> Result:
    """Compute the measures of a training set before and after resampling."""
    seconds = {"seconds_resampling": 0.0}
    with add_elapsed_seconds(seconds, "seconds_resampling"):
        resampled = run_chain(TextColumns.of(training).transform(training), resamplers)
    scores = _measures("before", training.Y) | _measures("after", resampled.Y)
    return Result(scores, seconds)


def _fit_and_evaluate(
    cell: Cell, data: Any, train: Any, test: Any, resamplers: list[Any]
) -> Result:
    """Compute scores, measures and times of a cell with a classifier."""
    classifier = parts.make_classifier(cell.classifier, seed=cell.seed_for("classifier"))
    fold = run_fold(data[train], data[test], classifier, resamplers)
    scores = _scores(fold, data[test])
    scores |= _measures("before", fold.training.Y)
    scores |= _measures("after", fold.resampled.Y)
    details = {
        "seconds_resampling": fold.seconds["resample"],
        "seconds_fitting": fold.seconds["fit"],
        "seconds_predicting": fold.seconds["predict"],
        "n_predicted": int(fold.predictions.nnz),
        LABEL_COUNTS_KEY: LabelCounts.of(fold.evaluation).to_dict(),
    }
    archive = None
    if cell.keep_predictions:
        archive = _archive_predictions(test, fold.predictions, fold.scores)
    return Result(scores, details, archive)


def _split(cell: Cell, data: Any) -> tuple[Any, Any]:
    """Return the indices of the training and test rows of a cell."""
    seed = cell.seed_for("folds")  # depends on data set and splitter, too

    def make_folds() -> list[Any]:
        splitter = parts.make_splitter(cell.splitter, seed=seed, folder=cell.folder)
        return list(splitter.split(data))

    folds = parts.lru_get(_folds, (cell.dataset_checksum, seed, cell.folder), make_folds)
    train, test = folds[cell.fold]
    return train, test


def _measures(prefix: str, Y: Any) -> dict[str, float]:
    """Return the measures of labels, with ``prefix`` ("before" or "after") before their names."""
    summary = characterize(Y)
    values = {f"{prefix}.{name}": float(getattr(summary, name)) for name in MEASURES}
    # mldr, and therefore the paper, counts an unseen label as a ratio of zero.
    n_labels = summary.n_labels
    n_seen = n_labels - summary.n_unseen
    values[f"{prefix}.mean_ir_zero"] = summary.mean_ir * n_seen / n_labels if n_seen else 0.0
    return values


def _scores(fold: Any, test: Any) -> dict[str, float]:
    """Return the values of all metrics on the test set."""
    scores = {name: float(value) for name, value in fold.evaluation.items()}
    # Means of F depend on the rule for 0/0. Three are stored: MULAN's; without undefined values;
    # and without rows or labels that have no hit, where precision and recall are 0 and F is 0/0.
    without_undefined = evaluate(test, fold.predictions, undefined="ignore")
    for name in METRICS_IGNORING_UNDEFINED:
        scores[f"ignore.{name}"] = float(without_undefined[name])
    scores["hits.f1"], scores["hits.macro_f1"] = _means_of_hits(test.Y, fold.predictions)
    return scores


def _means_of_hits(Y: Any, predictions: Any) -> tuple[float, ...]:
    """Return the mean F1 of rows, and of labels, with at least one correct prediction."""
    counts = confusion(Y, predictions)
    means = []
    for group in (counts.by_instance, counts.by_label):
        values = f1s(group.take(group.hits > 0))[0]
        means.append(float(values.mean()) if len(values) else float("nan"))
    return tuple(means)


def _archive_predictions(test: Any, predictions: Any, scores: Any) -> bytes:
    """Return a compressed NumPy archive of test rows, predictions and scores."""
    stream = io.BytesIO()
    arrays = {
        "rows": test,
        "shape": predictions.shape,
        "predictions": np.packbits(predictions.toarray()),
    }
    if scores is not None:
        arrays["confidences"] = np.asarray(scores, dtype=np.float32)
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()
