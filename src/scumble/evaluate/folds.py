"""One fold: resample the training part, learn, predict, judge."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from scipy import sparse

from scumble._core.arrays import Array
from scumble.data import MultilabelDataset
from scumble.evaluate.evaluation import Evaluation, evaluate
from scumble.evaluate.groups import GROUPS
from scumble.learn import TextColumns, fit_dataset
from scumble.learn.predictions import predict_with_scores
from scumble.resample import run_chain

STEPS = ("resample", "fit", "predict")


@dataclass(frozen=True, eq=False)
class Fold:
    """Everything that came of one fold.

    Attributes
    ----------
    training, resampled : MultilabelDataset
        The training part before and after resampling, with numbers in the place of texts.
    model : estimator
        The fitted classifier.
    predictions : csr_array of bool
        What it predicted for the test part.
    scores : ndarray of shape (n_samples, n_labels) or None
        How sure it was, where it can tell.
    evaluation : Evaluation
        All metrics, of all labels and of each group.
    seconds : dict of str to float
        Wall time of ``resample``, ``fit`` and ``predict``.

    Examples
    --------
    >>> import scumble
    >>> from scumble.evaluate import run_fold
    >>> from scumble.learn import BinaryRelevance
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> fold = run_fold(data[:60], data[60:], BinaryRelevance())
    >>> type(fold.model).__name__, fold.predictions.shape
    ('BinaryRelevance', (30, 8))
    """

    training: MultilabelDataset
    resampled: MultilabelDataset
    model: Any
    predictions: sparse.csr_array
    scores: Array | None
    evaluation: Evaluation
    seconds: dict[str, float]


def run_fold(
    training: MultilabelDataset,
    tested: MultilabelDataset,
    classifier: Any,
    resamplers: Sequence[Any] = (),
    *,
    random_state: int | None = None,
    groups: Any = GROUPS,
    undefined: Any = "mulan",
    ties: str = "mulan",
) -> Fold:
    """Learn from one part of the data and judge on another.

    Cross-validation and experiments run their folds here, so that they cannot differ.

    Parameters
    ----------
    training, tested : MultilabelDataset
        The two parts. Resamplers see the first alone, and so does what turns texts into numbers;
        see `scumble.learn.TextColumns`.
    classifier : estimator
        Not changed; a copy is fitted, see `scumble.learn.fit_dataset`.
    resamplers : sequence of resamplers
        Applied in order; their seeds are set.
    random_state : int, optional
        Seed for what the classifier leaves open.
    groups, undefined, ties : object
        See `evaluate`. Groups are those of the training part before resampling.

    Returns
    -------
    Fold
        The fitted model, its predictions and what they are worth.

    Examples
    --------
    >>> import scumble
    >>> from scumble.evaluate import run_fold
    >>> data = scumble.make_multilabel(200, 6, mean_ir=5, scumble=0.1, random_state=0)
    >>> fold = run_fold(data[:150], data[150:], scumble.learn.MLkNN())
    >>> fold.predictions.shape, 0 <= fold.evaluation["minority.macro_f1"] <= 1
    ((50, 6), True)
    """
    seconds = dict.fromkeys(STEPS, 0.0)
    with timed(seconds, "fit"):
        texts = TextColumns.of(training)
        training = texts.apply(training)
    with timed(seconds, "resample"):
        resampled = run_chain(training, resamplers)
    with timed(seconds, "fit"):
        model = fit_dataset(classifier, resampled, random_state=random_state)
    with timed(seconds, "predict"):
        predictions, scores = predict_with_scores(model, texts.apply(tested).X, tested.n_labels)
    rules = {"undefined": undefined, "ties": ties, "groups": groups}
    evaluation = evaluate(tested, predictions, scores, training=training.Y, **rules)
    return Fold(training, resampled, model, predictions, scores, evaluation, seconds)


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the wall time of a block to what a step took."""
    started = time.perf_counter()
    yield
    seconds[step] += time.perf_counter() - started
