"""Compute a cell: split, resample the training set, fit, predict, evaluate."""

import io
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.data import MultilabelDataset
from scumble.evaluate.model_selection.folds import LabelCounts, add_elapsed_seconds, run_fold
from scumble.experiment import components
from scumble.experiment.extra_scores import MEAN_IR_ZERO, extra_metrics, mean_ir_with_zeros
from scumble.experiment.score_names import MEASURES
from scumble.learn import TextColumns
from scumble.measures import characterize
from scumble.resample import run_chain
from scumble.results.cell import LABEL_COUNTS_KEY, NO_ESTIMATOR, Cell, Result

Split = tuple[Array, Array]  # indices of the training rows and of the test rows
#: The splits of all folds of the data sets used last, by (checksum of the data, seed, folder).
_cached_splits: OrderedDict[Hashable, list[Split]] = OrderedDict()


def compute_cell(cell: Cell) -> Result:
    """Compute a cell: load its data, split, resample the training set, fit, predict and evaluate.

    Without a classifier, only the measures of the training set before and after resampling are
    computed. Raises an error if the data set has changed since the plan was made.
    """
    started = time.process_time()
    data = components.load_cell_dataset(cell)
    train_indices, test_indices = _split(cell, data)
    resamplers = components.make_resamplers(cell.resampler, seed=cell.seed_for("resampler"))
    if cell.classifier.name == NO_ESTIMATOR:
        result = _measure_resampling(cell, data[train_indices], resamplers)
    else:
        result = _fit_and_evaluate(
            cell,
            data,
            train_indices=train_indices,
            test_indices=test_indices,
            resamplers=resamplers,
        )
    # The CPU time of all threads does not depend on what else the machine computes.
    cpu_seconds = time.process_time() - started
    return replace(result, details={**result.details, "cpu_seconds": cpu_seconds})


def _measure_resampling(cell: Cell, training: MultilabelDataset, resamplers: list[Any]) -> Result:
    """Resample a training set; return its measures before and after, and the seconds it took."""
    seconds = {"seconds_resampling": 0.0}
    with add_elapsed_seconds(seconds, "seconds_resampling"):
        resampled = run_chain(TextColumns.of(training).transform(training), resamplers)
    scores = _measures(cell, "before", training.Y) | _measures(cell, "after", resampled.Y)
    return Result(scores, seconds)


def _fit_and_evaluate(
    cell: Cell,
    data: MultilabelDataset,
    *,
    train_indices: Array,
    test_indices: Array,
    resamplers: list[Any],
) -> Result:
    """Run one fold and return its scores and details, with predictions if the cell keeps them.

    The scores are all metrics, the extra scores of the cell, and the measures of the training set
    before and after resampling.
    """
    classifier = components.make_classifier(cell.classifier, seed=cell.seed_for("classifier"))
    test = data[test_indices]
    fold = run_fold(data[train_indices], test, classifier, resamplers)
    scores = {name: float(value) for name, value in fold.evaluation.items()}
    scores |= extra_metrics(test, fold.predictions, cell.extra_scores)
    scores |= _measures(cell, "before", fold.training.Y)
    scores |= _measures(cell, "after", fold.resampled.Y)
    details = {
        "seconds_resampling": fold.seconds["resample"],
        "seconds_fitting": fold.seconds["fit"],
        "seconds_predicting": fold.seconds["predict"],
        "n_predicted": int(fold.predictions.nnz),
        LABEL_COUNTS_KEY: LabelCounts.of(fold.evaluation).to_dict(),
    }
    archive = None
    if cell.keep_predictions:
        archive = _archive_predictions(test_indices, fold.predictions, fold.scores)
    return Result(scores, details, archive)


def _split(cell: Cell, data: MultilabelDataset) -> Split:
    """Return the indices of the training rows and of the test rows of a cell.

    The splits of all folds are made once and cached, because the next cells need them as well.
    """
    seed = cell.seed_for("folds")  # depends on data set and splitter, too

    def make_splits() -> list[Split]:
        """Return the splits of all folds."""
        splitter = components.make_splitter(cell.splitter, seed=seed, folder=cell.folder)
        return list(splitter.split(data))

    cache_key = (cell.dataset_checksum, seed, cell.folder)
    splits = components.lru_get(_cached_splits, cache_key, make_splits)
    return splits[cell.fold]


def _measures(cell: Cell, prefix: str, Y: sparse.csr_array) -> dict[str, float]:
    """Return the measures of a label matrix by name.

    ``prefix`` is "before" or "after" (resampling): the names are such as ``before.mean_ir``.
    """
    summary = characterize(Y)
    values = {f"{prefix}.{name}": float(getattr(summary, name)) for name in MEASURES}
    if MEAN_IR_ZERO in cell.extra_scores:
        values[f"{prefix}.mean_ir_zero"] = mean_ir_with_zeros(summary)
    return values


def _archive_predictions(
    test_indices: Array, predictions: sparse.csr_array, scores: Array | None
) -> bytes:
    """Return test rows, predicted labels and scores as a compressed NumPy archive (npz).

    The predictions are packed to one bit each, row by row. ``scores`` are left out if None.
    """
    stream = io.BytesIO()
    arrays = {
        "rows": test_indices,
        "shape": predictions.shape,
        "predictions": np.packbits(predictions.toarray()),
    }
    if scores is not None:
        arrays["confidences"] = np.asarray(scores, dtype=np.float32)
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()
