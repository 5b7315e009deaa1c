"""One fold: resample the training part, fit, predict, evaluate. Pooled metrics of several folds.

*Pooled* metrics are computed from counts of each label that were added up over the folds, instead
of being averaged over them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.table_repr import RecordList, TableReprMixin
from scumble.data import MultilabelDataset
from scumble.evaluate.metrics.bipartition import RATES
from scumble.evaluate.metrics.counts import Counts
from scumble.evaluate.metrics.evaluation import (
    Evaluation,
    evaluate,
    group_metrics,
    label_based_metrics,
)
from scumble.evaluate.metrics.label_groups import GROUPS, MIN_TRAINING_POSITIVES
from scumble.learn import TextColumns, fit_dataset
from scumble.learn.predictions import predict_with_scores
from scumble.resample import run_chain

#: Steps of a fold whose time is measured.
STEPS = ("resample", "fit", "predict")


@dataclass(frozen=True, eq=False)
class FittedFold:
    """The fitted model of one fold, its predictions and their evaluation.

    Attributes
    ----------
    training, resampled : MultilabelDataset
        The training part before and after resampling, with texts replaced by numbers.
    model : estimator
        The fitted classifier.
    predictions : csr_array of bool
        The predicted labels of the test part.
    scores : ndarray of shape (n_samples, n_labels) or None
        The scores of the test part, if the classifier has any.
    evaluation : Evaluation
        The metrics, of all labels and of each group.
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
    test: MultilabelDataset,
    classifier: Any,
    resamplers: Sequence[Any] = (),
    *,
    random_state: int | None = None,
    groups: Any = GROUPS,
    undefined: Any = "mulan",
    ties: str = "mulan",
    metrics: Iterable[str] | None = None,
) -> FittedFold:
    """Fit a classifier on one part of the data and evaluate it on another.

    Cross-validation and experiments both run their folds by this function.

    Parameters
    ----------
    training, test : MultilabelDataset
        The training set and the test set. Resamplers, and the encoding of texts as numbers (see
        `scumble.learn.TextColumns`), use the training set alone.
    classifier : estimator
        The classifier; a copy is fitted, see `scumble.learn.fit_dataset`.
    resamplers : sequence of resamplers
        Applied in order; their seeds must be set.
    random_state : int, optional
        Seed of the classifier where its ``random_state`` is None.
    groups : sequence of str, or mapping of str to labels
        Label groups with separate metrics, defined by the training set before resampling; see
        `label_groups`. None for none.
    undefined : {"mulan", "ignore"} or number
        How 0/0 counts, such as the precision of a label that is never predicted; see `evaluate`.
    ties : {"mulan", "average", "worst"}
        How equal scores are ranked, see `evaluate`.
    metrics : iterable of str, optional
        Names of the metrics to compute, see `evaluate`; all by default.

    Returns
    -------
    FittedFold
        The fitted model, its predictions and their evaluation.

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
    with add_elapsed_seconds(seconds, "fit"):
        texts = TextColumns.of(training)
        training = texts.transform(training)
    with add_elapsed_seconds(seconds, "resample"):
        resampled = run_chain(training, resamplers)
    with add_elapsed_seconds(seconds, "fit"):
        model = fit_dataset(classifier, resampled, random_state=random_state)
    with add_elapsed_seconds(seconds, "predict"):
        predictions, scores = predict_with_scores(model, texts.transform(test).X, test.n_labels)
    evaluation = evaluate(
        test,
        predictions,
        scores,
        undefined=undefined,
        ties=ties,
        groups=groups,
        training=training.Y,
        metrics=metrics,
    )
    return FittedFold(
        training=training,
        resampled=resampled,
        model=model,
        predictions=predictions,
        scores=scores,
        evaluation=evaluation,
        seconds=seconds,
    )


@contextmanager
def add_elapsed_seconds(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the wall time of the ``with`` block, in seconds, to ``seconds[step]``."""
    started = time.perf_counter()
    yield
    seconds[step] += time.perf_counter() - started


# Counts of every label, added up over folds before metrics are computed ------------------------


@dataclass(frozen=True, eq=False, repr=False)
class LabelCounts(TableReprMixin):
    """Counts of each label on one fold, which can be added up over folds.

    Attributes
    ----------
    training_positives : ndarray of int64
        Number of training rows, before resampling, that have the label.
    true_positives, predicted, true : ndarray of int64
        Number of test rows that have the label and for which it is predicted, for which it is
        predicted, and that have it.
    n_test : int
        Number of test rows.
    groups : mapping of str to ndarray of bool
        For each group a mask of its labels on this fold.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> result = scumble.evaluate.cross_validate(data, "br", splitter="1x3", random_state=0)
    >>> counts = result.label_counts[0]
    >>> counts.n_test, len(counts.true_positives)
    (30, 8)
    """

    training_positives: Array
    true_positives: Array
    predicted: Array
    true: Array
    n_test: int
    groups: Mapping[str, Array]

    @classmethod
    def of(cls, evaluation: Evaluation) -> LabelCounts:
        """Return the counts of the evaluation of a fold.

        Parameters
        ----------
        evaluation : Evaluation
            An evaluation with ``training`` and predictions.

        Returns
        -------
        LabelCounts
            The counts.
        """
        by_label = evaluation.by_label
        true_positives = by_label["true_positives"]
        predicted = true_positives + by_label["false_positives"]
        true = true_positives + by_label["false_negatives"]
        n_instances = predicted + true - true_positives + by_label["true_negatives"]
        return cls(
            training_positives=by_label["training_positives"],
            true_positives=true_positives,
            predicted=predicted,
            true=true,
            n_test=int(n_instances[0]),
            groups=evaluation.groups,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as lists of numbers, for JSON.

        Returns
        -------
        dict
            The argument of `from_dict`.
        """
        counts = {key: getattr(self, field).tolist() for key, field in COUNT_FIELDS.items()}
        groups = {name: np.flatnonzero(mask).tolist() for name, mask in self.groups.items()}
        groups.pop("all", None)  # every label: `from_dict` adds it
        return {**counts, "n_test": self.n_test, "groups": groups}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> LabelCounts:
        """Return the counts that `to_dict` has written.

        Parameters
        ----------
        plain : mapping
            The result of `to_dict`.

        Returns
        -------
        LabelCounts
            The counts.
        """
        counts = {field: np.array(plain[key], np.int64) for key, field in COUNT_FIELDS.items()}
        label_indices = np.arange(len(counts["true"]))
        indices_by_group = {"all": label_indices, **plain["groups"]}
        groups = {
            name: np.isin(label_indices, indices) for name, indices in indices_by_group.items()
        }
        return cls(**counts, n_test=plain["n_test"], groups=groups)


#: Fields of `LabelCounts` with one number per label, by their keys in its dict.
COUNT_FIELDS = {
    "training": "training_positives",
    "hits": "true_positives",
    "predicted": "predicted",
    "true": "true",
}


def pooled_metrics(
    folds: Iterable[LabelCounts], *, metrics: Iterable[str] | None = None
) -> dict[str, float]:
    """Compute metrics from counts added up over folds.

    The mean over folds of macro F1 does not punish false positives of labels that are absent from
    a fold's test part, and a label with two test instances in five folds has no value on three of
    them. Adding up first avoids both.

    Parameters
    ----------
    folds : iterable of LabelCounts
        One per fold, all repetitions together.
    metrics : iterable of str, optional
        Names of the metrics to compute, such as ``"minority.macro_f1"``; all by default. Metrics
        that are not computed from counts of labels are left out.

    Returns
    -------
    dict of str to float
        Metrics of predicted labels: ``macro_f1``, ``micro_f1``, ..., ``never_predicted``, and the
        same of each group, such as ``minority.macro_f1``. NaN where no label counts.

    Notes
    -----
    The counts of a label are added up over the folds whose training part has the label at least
    twice and, for a group, assigns it to the group. The label counts if it occurs in one of their
    test parts. Metrics without a group follow this rule with all labels.

    Examples
    --------
    On the first fold the label is predicted correctly; on the second it is absent and predicted
    twice.

    >>> import numpy as np
    >>> from scumble.evaluate.model_selection.folds import LabelCounts, pooled_metrics
    >>> def fold(true_positives, predicted, true):
    ...     counts = (np.array([n]) for n in (5, true_positives, predicted, true))
    ...     return LabelCounts(*counts, n_test=10, groups={})
    >>> pooled_metrics([fold(2, 2, 2), fold(0, 2, 0)])["macro_precision"]
    0.5
    """
    folds = list(folds)
    requested = None if metrics is None else frozenset(metrics)
    values: dict[str, float] = {}
    for group in (None, *folds[0].groups):
        selected = label_based_metrics("predictions", requested, group=group)
        if selected:
            counts = _pooled_counts(folds, group=group)
            values |= group_metrics(counts, selected, group=group)
    return values


def label_table(folds: Iterable[LabelCounts], names: Sequence[str]) -> RecordList[dict[str, Any]]:
    """Return a row per label with its counts and metrics over all folds.

    ``training_positives`` is a mean over folds, the other counts are sums; the metrics are computed
    from these sums. For each group but "all", a column counts the folds on which the label belongs
    to it.
    """
    folds = list(folds)
    counts = _sum_counts(folds, np.ones((len(folds), len(names)), bool))
    columns: dict[str, Any] = {
        "name": list(names),
        "training_positives": np.mean([fold.training_positives for fold in folds], axis=0).tolist(),
        "test_positives": counts.true.tolist(),
        "true_positives": counts.true_positives.tolist(),
        "false_positives": counts.false_positives.tolist(),
        "false_negatives": counts.false_negatives.tolist(),
    }
    for name in ("precision", "recall", "f1"):
        columns[name] = RATES[name](counts).values.tolist()
    for group in folds[0].groups:
        if group != "all":
            columns[group] = np.sum([fold.groups[group] for fold in folds], axis=0).tolist()
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return RecordList(rows, "labels", tuple(columns))


def _pooled_counts(folds: Sequence[LabelCounts], *, group: str | None) -> Counts:
    """Return the counts of labels, added up over folds by the rule of `pooled_metrics`.

    A label counts on a fold if enough training rows have it and if it belongs to the group there
    (None: any label). Labels without a test row on these folds are left out.
    """
    is_counted = np.stack([fold.training_positives >= MIN_TRAINING_POSITIVES for fold in folds])
    if group is not None:
        is_counted &= np.stack([fold.groups[group] for fold in folds])
    counts = _sum_counts(folds, is_counted)
    return counts.take(counts.true > 0)


def _sum_counts(folds: Sequence[LabelCounts], is_counted: Array) -> Counts:
    """Return the counts of each label, added up over the folds on which it is counted.

    ``is_counted`` is a mask of shape (n_folds, n_labels).
    """

    def add_up(values: list[Any]) -> Array:
        """Return the sums over folds of values with one row per fold."""
        return (is_counted * np.array(values)).sum(axis=0)

    return Counts(
        true_positives=add_up([fold.true_positives for fold in folds]),
        predicted=add_up([fold.predicted for fold in folds]),
        true=add_up([fold.true for fold in folds]),
        size=add_up([[fold.n_test] for fold in folds]),
    )
