"""Computing a cell: split, treat the training part, learn, predict, judge."""

from __future__ import annotations

import io
import time
from collections import OrderedDict
from typing import Any

from scumble._core.errors import DataError
from scumble.experiment.cell import NOTHING, Cell, Part, Result
from scumble.experiment.making import (
    content_of,
    load_dataset,
    make_classifier,
    make_resamplers,
    make_splitter,
)

#: Measures of the training part that are kept with every cell, before and after resampling.
MEASURES = ("n_instances", "n_labelsets", "cardinality", "mean_ir", "max_ir", "cvir", "scumble")
#: Raised when cells hold other numbers than before, so that stored ones are computed anew.
REVISION = 1
#: A worker keeps this many data sets.
KEPT = 2

_data: OrderedDict[str, Any] = OrderedDict()
_folds: OrderedDict[tuple[str, int], list[Any]] = OrderedDict()


def compute(cell: Cell) -> Result:
    """Compute one cell; resampling sees the training part only.

    Parameters
    ----------
    cell : Cell
        What to combine.

    Returns
    -------
    Result
        Every metric, and measures of the training part before and after resampling.
    """
    started = time.process_time()
    data = _load(cell)
    train, test = _split(cell, data)
    training = data[train]
    began = time.perf_counter()
    treated = training
    for resampler in make_resamplers(cell.resampler, seed=cell.seed_for("resampler")):
        treated = resampler.resample(treated)
    resampled = time.perf_counter()
    scores = {**_measures("before", training.Y), **_measures("after", treated.Y)}
    details = {"seconds_resampling": resampled - began}
    if cell.classifier.name == NOTHING:
        details["cpu_seconds"] = time.process_time() - started
        return Result(scores, details)
    predictions, confidences, times = _learn(cell, data, treated, data[test])
    judged, by_label = _judge(data[test], predictions, confidences)
    archive = _archive(test, predictions, confidences) if cell.keep_predictions else None
    # Of all threads, and not longer on a busy machine: what a cell costs.
    details["cpu_seconds"] = time.process_time() - started
    return Result({**judged, **scores}, {**details, **times, **by_label}, archive)


def _load(cell: Cell) -> Any:
    """Load the data set of a cell, and make sure that it is the one the plan saw."""
    key = cell.content
    if key not in _data:
        data = load_dataset(Part(cell.dataset.name, cell.dataset.parameters), cell.folder)
        if key and content_of(data) != key:
            raise DataError(
                f"{cell.dataset.name}: the data set has changed since the plan was made. "
                "Run the plan again."
            )
        _data[key] = data
        while len(_data) > KEPT:
            _data.popitem(last=False)
    _data.move_to_end(key)
    return _data[key]


def _split(cell: Cell, data: Any) -> tuple[Any, Any]:
    seed = cell.seed_for("folds")
    key = (cell.content, seed)
    if key not in _folds:
        splitter = make_splitter(cell.splitter, seed=seed, folder=cell.folder)
        _folds[key] = list(splitter.split(data))
        while len(_folds) > KEPT:
            _folds.popitem(last=False)
    train, test = _folds[key][cell.fold]
    return train, test


def _measures(when: str, Y: Any) -> dict[str, float]:
    from scumble.measures import characterize

    summary = characterize(Y)
    found = {f"{when}.{name}": float(getattr(summary, name)) for name in MEASURES}
    # mldr, and therefore the paper, counts a label that never occurs as a ratio of zero.
    n_labels = summary.n_labels
    seen = n_labels - summary.n_unseen
    found[f"{when}.mean_ir_zero"] = summary.mean_ir * seen / n_labels if seen else 0.0
    return found


def _learn(cell: Cell, data: Any, training: Any, test: Any) -> tuple[Any, Any, dict[str, float]]:
    categories = {
        at: len(feature.categories)
        for at, feature in enumerate(data.features)
        if feature.is_categorical
    }
    classifier = make_classifier(
        cell.classifier, seed=cell.seed_for("classifier"), categories=categories
    )
    began = time.perf_counter()
    classifier.fit(training.X, _labels_for(classifier, training.Y))
    fitted = time.perf_counter()
    if hasattr(classifier, "predict_both"):
        predictions, confidences = classifier.predict_both(test.X)
    else:
        predictions = classifier.predict(test.X)
        confidences = _positive(classifier, test.X)
    ended = time.perf_counter()
    return (
        predictions,
        confidences,
        {"seconds_fitting": fitted - began, "seconds_predicting": ended - fitted},
    )


def _labels_for(classifier: Any, Y: Any) -> Any:
    """Give our own classifiers sparse labels, others the dense ones they understand."""
    ours = type(classifier).__module__.startswith("scumble.")
    return Y if ours else Y.toarray().astype(int)


def _positive(classifier: Any, X: Any) -> Any:
    """Return the confidence in each label, in whichever form scikit-learn gives it."""
    import numpy as np

    if not hasattr(classifier, "predict_proba"):
        return None
    found = classifier.predict_proba(X)
    if not isinstance(found, list):
        return found
    columns = []
    for table, classes in zip(found, classifier.classes_, strict=True):
        at = np.flatnonzero(np.asarray(classes) == 1)
        columns.append(table[:, at[0]] if len(at) else np.zeros(len(table)))
    return np.stack(columns, axis=1)


def _judge(
    test: Any, predictions: Any, confidences: Any
) -> tuple[dict[str, float], dict[str, Any]]:
    from scumble.evaluate import evaluate

    judged = evaluate(test, predictions, confidences)
    found = {name: float(value) for name, value in judged.items()}
    # The rule for 0/0 decides about means of F, so three are kept: MULAN's, leaving out what is
    # undefined, and leaving out what has no hit, where precision and recall are 0 and F is 0/0.
    ignoring = evaluate(test, predictions, confidences, undefined="ignore")
    for name in ("precision", "recall", "f1", "macro_precision", "macro_recall", "macro_f1"):
        found[f"ignore.{name}"] = float(ignoring[name])
    found["hits.f1"], found["hits.macro_f1"] = _means_of_hits(test.Y, predictions)
    return found, {"n_predicted": int(predictions.sum())}


def _means_of_hits(Y: Any, predictions: Any) -> tuple[float, float]:
    """Average F over the rows, and over the labels, with at least one correct prediction."""
    import numpy as np
    from scipy import sparse

    said = sparse.csr_array(predictions).astype(bool)
    hits = Y.multiply(said)
    found = []
    for axis in (1, 0):
        right = np.asarray(hits.sum(axis=axis)).ravel()
        total = np.asarray(Y.sum(axis=axis)).ravel() + np.asarray(said.sum(axis=axis)).ravel()
        has_hit = right > 0
        known = 2 * right[has_hit] / total[has_hit]
        found.append(float(known.mean()) if len(known) else float("nan"))
    return found[0], found[1]


def _archive(test: Any, predictions: Any, confidences: Any) -> bytes:
    import numpy as np

    dense = predictions.toarray() if hasattr(predictions, "toarray") else np.asarray(predictions)
    stream = io.BytesIO()
    parts = {"rows": test, "shape": dense.shape, "predictions": np.packbits(dense.astype(bool))}
    if confidences is not None:
        parts["confidences"] = np.asarray(confidences, dtype=np.float32)
    np.savez_compressed(stream, **parts)
    return stream.getvalue()
