"""Metrics of predicted labels: means over instances, over labels (macro), and micro averages.

Each metric is an average of a unit formula, such as `f1s`. A unit is an instance, a label, or the
whole label matrix; see `averaging`. The entries of the matrix are counted in `Counts`.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads
from scumble._core.parameters import Real
from scumble._validation.label_hierarchy import check_parents
from scumble.evaluate.metrics import kernels
from scumble.evaluate.metrics.averaging import Macro, Micro, Samples, UnitValues, make_average
from scumble.evaluate.metrics.base import apply_to_predictions, register_metric
from scumble.evaluate.metrics.counts import (
    Confusion,
    Counts,
    LabelConfusion,
    UndefinedPolicy,
    check_labels_and_predictions,
    csr_index_arrays,
    ratio,
)
from scumble.measures.threaded_kernels import split_into_blocks

# Formulas: one value per unit ----------------------------------------------------------------


def precisions(counts: Counts) -> UnitValues:
    """Return the precision of each unit: true positives over predicted entries."""
    return UnitValues(ratio(counts.true_positives, counts.predicted), _one_where_zero(counts.union))


def recalls(counts: Counts) -> UnitValues:
    """Return the recall of each unit: true positives over true entries."""
    return UnitValues(ratio(counts.true_positives, counts.true), _one_where_zero(counts.union))


def f1s(counts: Counts) -> UnitValues:
    """Return the harmonic mean of precision and recall of each unit."""
    return UnitValues(ratio(2 * counts.true_positives, counts.predicted + counts.true), 1.0)


def fbetas(counts: Counts, *, beta: float) -> UnitValues:
    """Return the F-beta of each unit: the harmonic mean with weight ``beta**2`` on recall."""
    numerator = (1 + beta**2) * counts.true_positives
    return UnitValues(ratio(numerator, counts.predicted + beta**2 * counts.true), 1.0)


def accuracies(counts: Counts) -> UnitValues:
    """Return the Jaccard index of each unit: true positives over true or predicted entries."""
    return UnitValues(ratio(counts.true_positives, counts.union), 1.0)


def specificities(counts: Counts) -> UnitValues:
    """Return the specificity of each unit: true negatives over entries that are not true."""
    negatives = counts.size - counts.true
    return UnitValues(
        ratio(counts.true_negatives, negatives),
        _one_where_zero(counts.size - counts.true_positives),
    )


#: Formulas by the name of the metric, as in `Evaluation.by_label`.
RATES: dict[str, Callable[[Counts], UnitValues]] = {
    "precision": precisions,
    "recall": recalls,
    "f1": f1s,
    "accuracy": accuracies,
    "specificity": specificities,
}


def balanced_accuracies(counts: Counts, undefined: UndefinedPolicy) -> Array:
    """Return the mean of recall and specificity of each unit."""
    return (recalls(counts).fill(undefined) + specificities(counts).fill(undefined)) / 2


def g_means(counts: Counts, undefined: UndefinedPolicy) -> Array:
    """Return the geometric mean of recall and specificity of each unit."""
    return np.sqrt(recalls(counts).fill(undefined) * specificities(counts).fill(undefined))


def _one_where_zero(counts: Array) -> Array:
    """Return 1 where a count is 0, else 0: what MULAN takes for 0/0.

    The counts are those of the entries of a unit that are or could be wrong: MULAN takes 1 if there
    are none.
    """
    return np.where(counts == 0, 1.0, 0.0)


# Metrics per instance ------------------------------------------------------------------------
# `evaluate` calls the formulas of all metrics with counts and the policy for undefined values,
# which some of them do not need.


def _hamming_loss(confusion: LabelConfusion, undefined: UndefinedPolicy) -> float:
    """Return the share of the entries of the label matrix that are predicted wrong."""
    counts = confusion.overall
    return float((counts.union - counts.true_positives)[0] / counts.size)


def _subset_accuracy(confusion: Confusion, undefined: UndefinedPolicy) -> float:
    """Return the share of instances whose labels are all predicted correctly."""
    counts = confusion.by_instance
    return float((counts.union == counts.true_positives).mean())


@register_metric(_hamming_loss, needs="predictions", greater_is_better=False)
def hamming_loss(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Share of the entries of the label matrix that are predicted wrong.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; smaller is better.

    Examples
    --------
    Two of six entries differ.

    >>> from scumble.evaluate import hamming_loss
    >>> round(hamming_loss([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.333
    """
    return apply_to_predictions(
        _hamming_loss, Y, predictions, undefined=undefined, caller="hamming_loss"
    )


@register_metric(_subset_accuracy, needs="predictions")
def subset_accuracy(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Share of instances whose labels are all predicted correctly.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import subset_accuracy
    >>> subset_accuracy([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.5
    """
    return apply_to_predictions(
        _subset_accuracy, Y, predictions, undefined=undefined, caller="subset_accuracy"
    )


@register_metric(Samples(precisions), needs="predictions")
def precision(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Share of predicted labels that are true, averaged over instances.

    An instance without predicted labels is undefined; MULAN takes 1 if it has no labels either,
    else 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import precision
    >>> precision([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.75
    """
    return apply_to_predictions(
        Samples(precisions), Y, predictions, undefined=undefined, caller="precision"
    )


@register_metric(Samples(recalls), needs="predictions")
def recall(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Share of true labels that are predicted, averaged over instances.

    An instance without labels is undefined; MULAN takes 1 if none is predicted, else 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import recall
    >>> recall([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.75
    """
    return apply_to_predictions(
        Samples(recalls), Y, predictions, undefined=undefined, caller="recall"
    )


@register_metric(Samples(f1s), needs="predictions")
def f1(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Harmonic mean of precision and recall of each instance, averaged over instances.

    An instance with neither true nor predicted labels is undefined; MULAN takes 1.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import f1
    >>> f1([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.75
    """
    return apply_to_predictions(Samples(f1s), Y, predictions, undefined=undefined, caller="f1")


@register_metric(Samples(accuracies), needs="predictions")
def accuracy(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Jaccard index of true and predicted labels, averaged over instances.

    The Jaccard index is the number of labels that are true and predicted over the number that are
    true or predicted. An instance with neither is undefined; MULAN takes 1.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import accuracy
    >>> round(accuracy([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return apply_to_predictions(
        Samples(accuracies), Y, predictions, undefined=undefined, caller="accuracy"
    )


@register_metric(Samples(specificities), needs="predictions")
def specificity(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Share of absent labels that are not predicted, averaged over instances.

    An instance with all labels is undefined; MULAN takes 1 if all are predicted, else 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import specificity
    >>> specificity([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.5
    """
    return apply_to_predictions(
        Samples(specificities), Y, predictions, undefined=undefined, caller="specificity"
    )


# Metrics per label ---------------------------------------------------------------------------


def _macro_balanced_accuracy(confusion: LabelConfusion, undefined: UndefinedPolicy) -> float:
    """Return the mean over labels of the balanced accuracy."""
    return undefined.mean(balanced_accuracies(confusion.by_label, undefined))


def _macro_g_mean(confusion: LabelConfusion, undefined: UndefinedPolicy) -> float:
    """Return the mean over labels of the geometric mean of recall and specificity."""
    return undefined.mean(g_means(confusion.by_label, undefined))


def _never_predicted(confusion: LabelConfusion, undefined: UndefinedPolicy) -> float:
    """Return the share of never predicted labels among those that occur; NaN if none occurs."""
    counts = confusion.by_label
    is_never_predicted = counts.predicted[counts.true > 0] == 0
    return float(is_never_predicted.mean()) if is_never_predicted.size else math.nan


@register_metric(Macro(precisions), needs="predictions", label_based=True)
def macro_precision(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Precision of each label, averaged over labels.

    A label that is never predicted is undefined; MULAN takes 1 if it never occurs, else 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import macro_precision
    >>> round(macro_precision([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return apply_to_predictions(
        Macro(precisions), Y, predictions, undefined=undefined, caller="macro_precision"
    )


@register_metric(Macro(recalls), needs="predictions", label_based=True)
def macro_recall(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Recall of each label, averaged over labels.

    A label that never occurs is undefined; MULAN takes 1 if it is never predicted, else 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import macro_recall
    >>> macro_recall([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.5
    """
    return apply_to_predictions(
        Macro(recalls), Y, predictions, undefined=undefined, caller="macro_recall"
    )


@register_metric(Macro(f1s), needs="predictions", label_based=True)
def macro_f1(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Harmonic mean of precision and recall of each label, averaged over labels.

    A label that neither occurs nor is predicted is undefined; MULAN takes 1, scikit-learn 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import macro_f1
    >>> round(macro_f1([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.556
    >>> macro_f1([[1, 0]], [[1, 0]]), macro_f1([[1, 0]], [[1, 0]], undefined=0)
    (1.0, 0.5)
    """
    return apply_to_predictions(Macro(f1s), Y, predictions, undefined=undefined, caller="macro_f1")


@register_metric(Macro(specificities), needs="predictions", label_based=True)
def macro_specificity(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Specificity of each label, averaged over labels.

    A label that all instances have is undefined; MULAN takes 1 if all are predicted, else 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import macro_specificity
    >>> macro_specificity([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    0.5
    """
    return apply_to_predictions(
        Macro(specificities), Y, predictions, undefined=undefined, caller="macro_specificity"
    )


@register_metric(_macro_balanced_accuracy, needs="predictions", label_based=True)
def macro_balanced_accuracy(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Mean of recall and specificity of each label, averaged over labels.

    A label is undefined where its recall or its specificity is.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import macro_balanced_accuracy
    >>> macro_balanced_accuracy([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.75
    """
    return apply_to_predictions(
        _macro_balanced_accuracy,
        Y,
        predictions,
        undefined=undefined,
        caller="macro_balanced_accuracy",
    )


@register_metric(_macro_g_mean, needs="predictions", label_based=True)
def macro_g_mean(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Geometric mean of recall and specificity of each label, averaged over labels.

    A label that is never predicted scores 0, however rare it is. A label is undefined where its
    recall or its specificity is.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import macro_g_mean
    >>> macro_g_mean([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.5
    """
    return apply_to_predictions(
        _macro_g_mean, Y, predictions, undefined=undefined, caller="macro_g_mean"
    )


# Metrics over all entries of the label matrix ------------------------------------------------


@register_metric(Micro(precisions), needs="predictions", label_based=True)
def micro_precision(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Precision over all entries of the label matrix.

    Undefined if nothing is predicted; MULAN takes 1 if no label occurs either, else 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import micro_precision
    >>> round(micro_precision([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return apply_to_predictions(
        Micro(precisions), Y, predictions, undefined=undefined, caller="micro_precision"
    )


@register_metric(Micro(recalls), needs="predictions", label_based=True)
def micro_recall(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Recall over all entries of the label matrix.

    Undefined if no label occurs; MULAN takes 1 if nothing is predicted either, else 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import micro_recall
    >>> round(micro_recall([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return apply_to_predictions(
        Micro(recalls), Y, predictions, undefined=undefined, caller="micro_recall"
    )


@register_metric(Micro(f1s), needs="predictions", label_based=True)
def micro_f1(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Harmonic mean of precision and recall over all entries of the label matrix.

    Undefined if no label occurs and none is predicted; MULAN takes 1.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import micro_f1
    >>> round(micro_f1([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return apply_to_predictions(Micro(f1s), Y, predictions, undefined=undefined, caller="micro_f1")


@register_metric(Micro(specificities), needs="predictions", label_based=True)
def micro_specificity(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Specificity over all entries of the label matrix.

    Undefined if every instance has every label; MULAN takes 1 if all are predicted, else 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import micro_specificity
    >>> round(micro_specificity([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]), 3)
    0.667
    """
    return apply_to_predictions(
        Micro(specificities), Y, predictions, undefined=undefined, caller="micro_specificity"
    )


@register_metric(_never_predicted, needs="predictions", greater_is_better=False, label_based=True)
def never_predicted(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
    """Share of the labels that occur and are never predicted.

    Classifiers of imbalanced data often never predict the rare labels. Labels that do not occur in
    ``Y`` are left out; if none occurs, the value is NaN, whatever ``undefined``.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; smaller is better.

    Examples
    --------
    Labels 0 and 1 occur; label 1 is never predicted.

    >>> from scumble.evaluate import never_predicted
    >>> never_predicted([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 0, 0]])
    0.5
    """
    return apply_to_predictions(
        _never_predicted, Y, predictions, undefined=undefined, caller="never_predicted"
    )


# Metrics with parameters, which `evaluate` does not compute ----------------------------------


def fbeta(
    Y: Any, predictions: Any, *, beta: float, average: str = "samples", undefined: Any = "mulan"
) -> float:
    r"""Harmonic mean of precision and recall with a weight on recall.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    beta : float
        Recall counts ``beta`` times as much as precision; larger than 0.
    average : {"samples", "macro", "micro", "weighted"}, default="samples"
        Mean over instances, mean over labels, value for the whole label matrix, or mean over labels
        weighted by the number of instances with the label.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`; MULAN takes 1.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    See Also
    --------
    f1 : The same with ``beta=1``, averaged over instances.

    Notes
    -----
    With the numbers of true positives :math:`t`, false positives :math:`p` and false negatives
    :math:`n` of a unit,

    .. math:: F_\beta = \frac{(1 + \beta^2) t}{(1 + \beta^2) t + \beta^2 n + p}

    A unit with neither true nor predicted labels is undefined.

    Examples
    --------
    The first instance has precision and recall 1/2, the second has precision 1 and recall 1/2.

    >>> from scumble.evaluate import fbeta
    >>> Y, predictions = [[1, 1, 0], [0, 1, 1]], [[1, 0, 1], [0, 1, 0]]
    >>> round(fbeta(Y, predictions, beta=2), 3)
    0.528
    >>> round(fbeta(Y, predictions, beta=2, average="macro"), 3)
    0.519
    """
    Real(0, closed="neither").check(beta, name="beta", caller="fbeta")
    formula = make_average(average, partial(fbetas, beta=beta), caller="fbeta")
    return apply_to_predictions(formula, Y, predictions, undefined=undefined, caller="fbeta")


def hierarchical_loss(Y: Any, predictions: Any, label_parents: Any) -> float:
    """Wrong labels without a wrong ancestor, averaged over instances.

    In a hierarchy of labels an error at the top causes errors below; only the topmost error counts.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    label_parents : sequence of int
        Index of each label's parent, -1 at the top; see `MultilabelDataset`.

    Returns
    -------
    float
        The mean number of such errors; smaller is better.

    Examples
    --------
    Label 1 is a child of label 0. In the first instance both are missed, which counts once; in the
    second only label 1 is.

    >>> from scumble.evaluate import hierarchical_loss
    >>> hierarchical_loss([[1, 1], [1, 1]], [[0, 0], [1, 0]], [-1, 0])
    1.0
    """
    Y, predictions = check_labels_and_predictions(Y, predictions, caller="hierarchical_loss")
    checked = check_parents(label_parents, Y.shape[1], caller="hierarchical_loss")
    parents = np.array(checked, np.int64)
    index_arrays = csr_index_arrays(Y, predictions)

    def count_block(block: tuple[int, int]) -> int:
        """Return the number of topmost errors of a range of rows."""
        start, stop = block
        return kernels.count_topmost_errors(*index_arrays, parents, start, stop)

    n_errors = run_in_threads(count_block, split_into_blocks(Y))
    return float(sum(n_errors) / Y.shape[0])


def label_metrics(confusion: Confusion, undefined: UndefinedPolicy) -> dict[str, Array]:
    """Return counts and metrics of each label: a dict from names to arrays, one value per label."""
    counts = confusion.by_label
    return {
        "true_positives": counts.true_positives,
        "false_positives": counts.false_positives,
        "false_negatives": counts.false_negatives,
        "true_negatives": counts.true_negatives,
        **{name: formula(counts).fill(undefined) for name, formula in RATES.items()},
        "balanced_accuracy": balanced_accuracies(counts, undefined),
        "g_mean": g_means(counts, undefined),
    }
