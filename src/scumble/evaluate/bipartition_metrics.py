"""Metrics of predicted labels: per instance, per label (macro), and over all cells (micro).

Written as formulas on `Counts`; the decorator makes functions of ``(Y, predictions)`` of them.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.hierarchy import check_parents
from scumble._core.parallel import run_in_threads
from scumble.evaluate import kernels
from scumble.evaluate.counts import (
    Confusion,
    Counts,
    UndefinedPolicy,
    check_labels_and_predictions,
    csr_index_arrays,
    ratio,
)
from scumble.evaluate.metric import bipartition_metric
from scumble.measures.threaded_kernels import split_into_blocks

#: Values and what MULAN takes where they are undefined.
Rated = tuple[Array, Array | float]


def precisions(counts: Counts) -> Rated:
    """Rate every unit by the share of predicted labels that are there."""
    return ratio(counts.hits, counts.predicted), _one_if_nothing(counts.union)


def recalls(counts: Counts) -> Rated:
    """Rate every unit by the share of its labels that were predicted."""
    return ratio(counts.hits, counts.true), _one_if_nothing(counts.union)


def f1s(counts: Counts) -> Rated:
    """Rate every unit by the harmonic mean of precision and recall."""
    return ratio(2 * counts.hits, counts.predicted + counts.true), 1.0


def accuracies(counts: Counts) -> Rated:
    """Rate every unit by hits over labels that are there or predicted."""
    return ratio(counts.hits, counts.union), 1.0


def specificities(counts: Counts) -> Rated:
    """Rate every unit by the share of absent labels that were not predicted."""
    absent = counts.size - counts.true
    return ratio(counts.true_negatives, absent), _one_if_nothing(counts.size - counts.hits)


#: What every unit is rated by, by the name of the metric.
RATES: dict[str, Callable[[Counts], Rated]] = {
    "precision": precisions,
    "recall": recalls,
    "f1": f1s,
    "accuracy": accuracies,
    "specificity": specificities,
}


def balanced_accuracies(counts: Counts, undefined: UndefinedPolicy) -> Array:
    """Rate every unit by the mean of recall and specificity."""
    recall, specificity = _both_sides(counts, undefined)
    return (recall + specificity) / 2


def g_means(counts: Counts, undefined: UndefinedPolicy) -> Array:
    """Rate every unit by the geometric mean of recall and specificity."""
    recall, specificity = _both_sides(counts, undefined)
    return np.sqrt(recall * specificity)


def _both_sides(counts: Counts, undefined: UndefinedPolicy) -> tuple[Array, Array]:
    return undefined.fill(*recalls(counts)), undefined.fill(*specificities(counts))


def _one_if_nothing(size: Array) -> Array:
    """MULAN: nothing there and nothing said is perfect, else 0/0 is a failure."""
    return np.where(size == 0, 1.0, 0.0)


@bipartition_metric(greater_is_better=False)
def hamming_loss(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Share of all cells that are wrong.

    Examples
    --------
    Two of six cells differ.

    >>> from scumble.evaluate import hamming_loss
    >>> round(hamming_loss([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.333
    """
    counts = confusion.overall
    return float((counts.union - counts.hits)[0] / counts.size)


@bipartition_metric()
def subset_accuracy(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Share of instances whose labels are all right.

    Examples
    --------
    >>> from scumble.evaluate import subset_accuracy
    >>> subset_accuracy([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.5
    """
    counts = confusion.by_instance
    return float((counts.union == counts.hits).mean())


@bipartition_metric()
def precision(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Share of the predicted labels that are there, averaged over instances.

    An instance without predicted labels is undefined; MULAN takes 1 if it has no labels either,
    else 0.

    Examples
    --------
    >>> from scumble.evaluate import precision
    >>> precision([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.75
    """
    return undefined.mean(*precisions(confusion.by_instance))


@bipartition_metric()
def recall(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Share of an instance's labels that were predicted, averaged over instances.

    An instance without labels is undefined; MULAN takes 1 if none was predicted, else 0.

    Examples
    --------
    >>> from scumble.evaluate import recall
    >>> recall([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.75
    """
    return undefined.mean(*recalls(confusion.by_instance))


@bipartition_metric()
def f1(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Harmonic mean of precision and recall of an instance, averaged over instances.

    Neither labels nor predictions is undefined; MULAN takes 1.

    Examples
    --------
    >>> from scumble.evaluate import f1
    >>> f1([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.75
    """
    return undefined.mean(*f1s(confusion.by_instance))


@bipartition_metric()
def accuracy(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Labels that are there and predicted over labels that are either, averaged over instances.

    Also known as Jaccard index. Neither labels nor predictions is undefined; MULAN takes 1.

    Examples
    --------
    >>> from scumble.evaluate import accuracy
    >>> round(accuracy([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return undefined.mean(*accuracies(confusion.by_instance))


@bipartition_metric()
def specificity(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Share of the labels an instance has not that were not predicted, averaged over instances.

    An instance that has all labels is undefined; MULAN takes 1 if all were predicted, else 0.

    Examples
    --------
    >>> from scumble.evaluate import specificity
    >>> specificity([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.5
    """
    return undefined.mean(*specificities(confusion.by_instance))


@bipartition_metric(label_based=True)
def macro_precision(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Precision of each label, averaged over labels.

    A label that was never predicted is undefined; MULAN takes 1 if it never occurs, else 0.

    Examples
    --------
    >>> from scumble.evaluate import macro_precision
    >>> round(macro_precision([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return undefined.mean(*precisions(confusion.by_label))


@bipartition_metric(label_based=True)
def macro_recall(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Recall of each label, averaged over labels.

    A label that never occurs is undefined; MULAN takes 1 if it was never predicted, else 0.

    Examples
    --------
    >>> from scumble.evaluate import macro_recall
    >>> macro_recall([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.5
    """
    return undefined.mean(*recalls(confusion.by_label))


@bipartition_metric(label_based=True)
def macro_f1(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Harmonic mean of precision and recall of each label, averaged over labels.

    A label that neither occurs nor was predicted is undefined; MULAN takes 1, scikit-learn 0.

    Examples
    --------
    >>> from scumble.evaluate import macro_f1
    >>> round(macro_f1([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.556
    >>> macro_f1([[1, 0]], [[1, 0]]), macro_f1([[1, 0]], [[1, 0]], undefined=0)
    (1.0, 0.5)
    """
    return undefined.mean(*f1s(confusion.by_label))


@bipartition_metric(label_based=True)
def macro_specificity(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Specificity of each label, averaged over labels.

    A label that all instances have is undefined; MULAN takes 1 if all were predicted, else 0.

    Examples
    --------
    >>> from scumble.evaluate import macro_specificity
    >>> macro_specificity([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.5
    """
    return undefined.mean(*specificities(confusion.by_label))


@bipartition_metric(label_based=True)
def macro_balanced_accuracy(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Mean of recall and specificity of each label, averaged over labels.

    Undefined where one of the two is.

    Examples
    --------
    >>> from scumble.evaluate import macro_balanced_accuracy
    >>> macro_balanced_accuracy([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.75
    """
    return undefined.mean(balanced_accuracies(confusion.by_label, undefined))


@bipartition_metric(label_based=True)
def macro_g_mean(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Geometric mean of recall and specificity of each label, averaged over labels.

    A label that is never predicted scores 0, however rare it is. Undefined where one of the two
    is.

    Examples
    --------
    >>> from scumble.evaluate import macro_g_mean
    >>> macro_g_mean([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.5
    """
    return undefined.mean(g_means(confusion.by_label, undefined))


@bipartition_metric(label_based=True)
def micro_precision(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Precision over all cells.

    Examples
    --------
    >>> from scumble.evaluate import micro_precision
    >>> round(micro_precision([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return undefined.mean(*precisions(confusion.overall))


@bipartition_metric(label_based=True)
def micro_recall(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Recall over all cells.

    Examples
    --------
    >>> from scumble.evaluate import micro_recall
    >>> round(micro_recall([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return undefined.mean(*recalls(confusion.overall))


@bipartition_metric(label_based=True)
def micro_f1(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Harmonic mean of precision and recall over all cells.

    Examples
    --------
    >>> from scumble.evaluate import micro_f1
    >>> round(micro_f1([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return undefined.mean(*f1s(confusion.overall))


@bipartition_metric(label_based=True)
def micro_specificity(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Specificity over all cells.

    Examples
    --------
    >>> from scumble.evaluate import micro_specificity
    >>> round(micro_specificity([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return undefined.mean(*specificities(confusion.overall))


@bipartition_metric(greater_is_better=False, label_based=True)
def never_predicted(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Share of the labels that occur and are never predicted.

    What users of imbalanced data meet first: labels that a classifier never gives to anybody.
    Labels that do not occur among the instances that are judged are left out; where none occurs,
    it is NaN, whatever `undefined`.

    Examples
    --------
    Labels 0 and 1 occur; label 1 is never predicted.

    >>> from scumble.evaluate import never_predicted
    >>> never_predicted([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 0, 0]])
    0.5
    """
    counts = confusion.by_label
    missed = counts.predicted[counts.true > 0] == 0
    return float(missed.mean()) if missed.size else math.nan


def hierarchical_loss(Y: Any, predictions: Any, label_parents: Any) -> float:
    """Wrong labels that have no wrong label above them, per instance.

    In a hierarchy of labels a fault at the top brings faults below; only the first counts.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The labels that are there.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The labels that were predicted, 0/1 or True/False.
    label_parents : sequence of int
        Number of each label's parent, -1 at the top; see `MultilabelDataset`.

    Returns
    -------
    float
        The mean number of such faults; smaller is better.

    Examples
    --------
    Label 1 lies below label 0. Both are missed, which counts once; then only label 1 is.

    >>> from scumble.evaluate import hierarchical_loss
    >>> hierarchical_loss([[1, 1], [1, 1]], [[0, 0], [1, 0]], [-1, 0])
    1.0
    """
    Y, predictions = check_labels_and_predictions(Y, predictions, caller="hierarchical_loss")
    checked = check_parents(label_parents, Y.shape[1], caller="hierarchical_loss")
    parents = np.array(checked, np.int64)
    matrices = csr_index_arrays(Y, predictions)
    faults = run_in_threads(
        lambda block: kernels.count_topmost_errors(*matrices, parents, *block), split_into_blocks(Y)
    )
    return float(sum(faults) / Y.shape[0])


def label_metrics(found: Confusion, undefined: UndefinedPolicy) -> dict[str, Array]:
    """Rate every label by its predictions."""
    counts = found.by_label
    return {
        "true_positives": counts.hits,
        "false_positives": counts.false_positives,
        "false_negatives": counts.false_negatives,
        "true_negatives": counts.true_negatives,
        **{name: undefined.fill(*rate(counts)) for name, rate in RATES.items()},
        "balanced_accuracy": balanced_accuracies(counts, undefined),
        "g_mean": g_means(counts, undefined),
    }
