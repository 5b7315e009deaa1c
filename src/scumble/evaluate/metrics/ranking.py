"""Metrics of scores: how they rank the labels of an instance and the instances of a label.

Each metric is an average of a unit formula, such as `one_errors`, or a formula on `Rankings`. A
unit is an instance or a label; see `averaging`. The relevant labels of an instance are those that
it has.
"""

import math
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.parameters import Int
from scumble.evaluate.metrics.averaging import Macro, Samples, UnitValues
from scumble.evaluate.metrics.base import apply_to_probabilities, apply_to_scores, register_metric
from scumble.evaluate.metrics.counts import (
    InstanceRankings,
    LabelRankings,
    LabelSubsetRankings,
    Rankings,
    UndefinedPolicy,
    check_rankings,
    ratio,
)

# Formulas: one value per instance ------------------------------------------------------------


def one_errors(rankings: InstanceRankings) -> UnitValues:
    """Return for each instance 1 if the label ranked first is irrelevant, else 0.

    It is undefined for instances without labels; MULAN takes 1.
    """
    return UnitValues(_nan_without_labels(rankings, rankings.top_label_error), 1.0)


def ranking_losses(rankings: InstanceRankings) -> UnitValues:
    """Return for each instance the share of pairs of labels that are ranked wrong.

    It is undefined for instances without such pairs; MULAN takes 0.
    """
    return UnitValues(ratio(rankings.wrong_pairs, rankings.n_pairs), 0.0)


def coverages(rankings: InstanceRankings) -> UnitValues:
    """Return for each instance the worst rank of a relevant label less one.

    It is undefined for instances without labels; MULAN takes 0.
    """
    return UnitValues(_nan_without_labels(rankings, rankings.worst_rank - 1), 0.0)


def instance_average_precisions(rankings: InstanceRankings) -> UnitValues:
    """Return for each instance the average precision of the ranking of its labels.

    It is undefined for instances without labels; MULAN leaves them out.
    """
    return UnitValues(_nan_without_labels(rankings, rankings.average_precision), None)


def instance_aucs(rankings: InstanceRankings) -> UnitValues:
    """Return for each instance the area under the ROC curve of its labels.

    It is undefined for instances with no label or all labels; mldr takes one half.
    """
    return UnitValues(1 - ratio(rankings.wrong_pairs_ties_half, rankings.n_pairs), 0.5)


def _nan_without_labels(rankings: InstanceRankings, values: Array) -> Array:
    """Return values of instances, with NaN in place of those of instances without labels."""
    return np.where(rankings.n_relevant > 0, values, math.nan)


# Formulas: one value per label ---------------------------------------------------------------


def aucs(rankings: LabelRankings) -> UnitValues:
    """Return for each label the area under the ROC curve; MULAN has no value for undefined ones."""
    return UnitValues(rankings.auc, math.nan)


def aucs_pr(rankings: LabelRankings) -> UnitValues:
    """Return for each label the area under the precision-recall curve; undefined ones stay NaN."""
    return UnitValues(rankings.auc_pr, math.nan)


def average_precisions(rankings: LabelRankings) -> UnitValues:
    """Return for each label the average precision; MULAN leaves out labels without instances."""
    return UnitValues(rankings.average_precision, None)


def interpolated_precisions(rankings: LabelRankings) -> UnitValues:
    """Return for each label the interpolated precision.

    It is the mean, over the recall levels 0, 1/9, ..., 1, of the best precision at this recall or
    more. It is undefined for labels without instances; MULAN leaves them out.
    """
    return UnitValues(rankings.interpolated_precision, None)


def _geometric_mean(values: Array, undefined: UndefinedPolicy) -> float:
    """Return the geometric mean of values under the policy, computed by logarithms.

    A single 0 makes it 0.
    """
    with np.errstate(divide="ignore"):
        logarithms = np.log(undefined.fill(values))
    return math.exp(undefined.mean(logarithms))


# Metrics per instance ------------------------------------------------------------------------
# `evaluate` calls the formulas of all metrics of rankings with the rankings and the policy for
# undefined values, which some of them do not need.


def _is_error(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Return the share of instances with a pair that is ranked wrong."""
    return float((rankings.by_instance.wrong_pairs > 0).mean())


def _error_set_size(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Return the mean number of pairs that are ranked wrong."""
    return float(rankings.by_instance.wrong_pairs.mean())


@register_metric(Samples(one_errors), needs="scores", greater_is_better=False)
def one_error(Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan") -> float:
    """Share of instances whose label ranked first is wrong.

    An instance without labels is undefined; MULAN counts it as an error.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; smaller is better.

    Examples
    --------
    >>> from scumble.evaluate import one_error
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    0.5
    """
    return apply_to_scores(
        Samples(one_errors), Y, scores, undefined=undefined, ties=ties, caller="one_error"
    )


@register_metric(Samples(ranking_losses), needs="scores", greater_is_better=False)
def ranking_loss(Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan") -> float:
    """Share of pairs of labels that are ranked wrong, averaged over instances.

    A pair is a label that the instance has and one that it does not have; it is ranked wrong if the
    latter comes first. An instance with no label or all labels has no pairs and is undefined; MULAN
    takes 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; smaller is better.

    Examples
    --------
    Both pairs of the second instance are ranked wrong, none of the first.

    >>> from scumble.evaluate import ranking_loss
    >>> ranking_loss([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    0.5
    """
    return apply_to_scores(
        Samples(ranking_losses), Y, scores, undefined=undefined, ties=ties, caller="ranking_loss"
    )


def _perfect_coverage(Y: Array) -> float:
    """Return the coverage of perfect scores: all labels of an instance are ranked first."""
    return float(np.maximum(Y.sum(axis=1) - 1, 0).mean())


@register_metric(
    Samples(coverages),
    needs="scores",
    greater_is_better=False,
    upper=math.inf,
    perfect_value=_perfect_coverage,
)
def coverage(Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan") -> float:
    """Worst rank of a true label less one, averaged over instances.

    This is the number of steps down the ranking that cover all labels of the instance. An instance
    without labels is undefined; MULAN takes 0.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, inf); smaller is better.

    Examples
    --------
    >>> from scumble.evaluate import coverage
    >>> coverage([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    1.0
    """
    return apply_to_scores(
        Samples(coverages), Y, scores, undefined=undefined, ties=ties, caller="coverage"
    )


@register_metric(Samples(instance_average_precisions), needs="scores")
def average_precision(
    Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan"
) -> float:
    """Label ranking average precision: precision at each true label, averaged over instances.

    The precision at a label is the share of true labels among those ranked as high or higher. An
    instance without labels is undefined; MULAN leaves it out, mldr takes 1.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import average_precision
    >>> round(average_precision([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]]), 3)
    0.792
    """
    return apply_to_scores(
        Samples(instance_average_precisions),
        Y,
        scores,
        undefined=undefined,
        ties=ties,
        caller="average_precision",
    )


@register_metric(_is_error, needs="scores", greater_is_better=False)
def is_error(Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan") -> float:
    """Share of instances with a wrong label ranked before a true one.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; smaller is better.

    Examples
    --------
    >>> from scumble.evaluate import is_error
    >>> is_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    0.5
    """
    return apply_to_scores(_is_error, Y, scores, undefined=undefined, ties=ties, caller="is_error")


@register_metric(_error_set_size, needs="scores", greater_is_better=False, upper=math.inf)
def error_set_size(Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan") -> float:
    """Mean number of pairs of labels with the wrong one ranked before the true one.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, inf); smaller is better.

    Examples
    --------
    >>> from scumble.evaluate import error_set_size
    >>> error_set_size([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    1.0
    """
    return apply_to_scores(
        _error_set_size, Y, scores, undefined=undefined, ties=ties, caller="error_set_size"
    )


@register_metric(Samples(instance_aucs), needs="scores")
def example_auc(Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan") -> float:
    """Area under the ROC curve of the labels of each instance, averaged over instances.

    Equal scores count half, whatever ``ties``. An instance with no label or all labels is
    undefined; mldr takes one half, and so does ``"mulan"``, because MULAN has no such metric.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import example_auc
    >>> example_auc([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    0.5
    """
    return apply_to_scores(
        Samples(instance_aucs), Y, scores, undefined=undefined, ties=ties, caller="example_auc"
    )


# Metrics per label, and over all entries of the label matrix ---------------------------------


def _micro_auc(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Return the area under the ROC curve of all entries of the label matrix."""
    return undefined.mean(np.array([rankings.micro_auc]))


def _geometric_mean_average_precision(
    rankings: LabelSubsetRankings | Rankings, undefined: UndefinedPolicy
) -> float:
    """Return the geometric mean over labels of the average precision."""
    return _geometric_mean(rankings.by_label.average_precision, undefined)


def _geometric_mean_average_interpolated_precision(
    rankings: LabelSubsetRankings | Rankings, undefined: UndefinedPolicy
) -> float:
    """Return the geometric mean over labels of the interpolated precision."""
    return _geometric_mean(rankings.by_label.interpolated_precision, undefined)


@register_metric(Macro(aucs), needs="scores", label_based=True)
def macro_auc(Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan") -> float:
    """Area under the ROC curve of each label, averaged over labels.

    Equal scores count half, whatever ``ties``. A label that no instance or every instance has is
    undefined; MULAN's mean is then NaN.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import macro_auc
    >>> macro_auc([[1, 0], [0, 1], [1, 1]], [[0.9, 0.2], [0.8, 0.7], [0.7, 0.1]])
    0.5
    """
    return apply_to_scores(
        Macro(aucs), Y, scores, undefined=undefined, ties=ties, caller="macro_auc"
    )


@register_metric(_micro_auc, needs="scores")
def micro_auc(Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan") -> float:
    """Area under the ROC curve of all entries of the label matrix together.

    Equal scores count half, whatever ``ties``. Undefined if all or none of the entries are true.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import micro_auc
    >>> micro_auc([[1, 0], [0, 1], [1, 1]], [[0.9, 0.2], [0.8, 0.7], [0.7, 0.1]])
    0.5
    """
    return apply_to_scores(
        _micro_auc, Y, scores, undefined=undefined, ties=ties, caller="micro_auc"
    )


@register_metric(Macro(aucs_pr), needs="scores", label_based=True)
def macro_auc_pr(Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan") -> float:
    """Area under the precision-recall curve of each label, averaged over labels.

    The curve is a step function: precision at each distinct score times the gain in recall. A label
    without instances is undefined; MULAN's mean is then NaN.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import macro_auc_pr
    >>> round(macro_auc_pr([[1, 0], [0, 1], [1, 1]], [[0.9, 0.2], [0.8, 0.7], [0.7, 0.1]]), 3)
    0.833
    """
    return apply_to_scores(
        Macro(aucs_pr), Y, scores, undefined=undefined, ties=ties, caller="macro_auc_pr"
    )


@register_metric(Macro(average_precisions), needs="scores", label_based=True)
def mean_average_precision(
    Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan"
) -> float:
    """Average precision of each label, averaged over labels.

    Average precision is the mean of the precision at each instance with the label. MULAN ranks
    instances with equal scores in the order of the rows; with other ``ties`` they are retrieved
    together. A label without instances is undefined; MULAN leaves it out.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import mean_average_precision
    >>> Y, scores = [[1, 0], [0, 1], [1, 1]], [[0.9, 0.2], [0.8, 0.7], [0.7, 0.1]]
    >>> round(mean_average_precision(Y, scores), 3)
    0.833
    """
    return apply_to_scores(
        Macro(average_precisions),
        Y,
        scores,
        undefined=undefined,
        ties=ties,
        caller="mean_average_precision",
    )


@register_metric(_geometric_mean_average_precision, needs="scores", label_based=True)
def geometric_mean_average_precision(
    Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan"
) -> float:
    """Average precision of each label, geometric mean over labels.

    A few labels with bad rankings lower it. A label without instances is undefined; MULAN's mean is
    then NaN.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import geometric_mean_average_precision
    >>> Y, scores = [[1, 0], [0, 1], [0, 0], [0, 0]], [[0.9, 0.5], [0.8, 0.1], [0, 0.4], [0, 0.3]]
    >>> geometric_mean_average_precision(Y, scores)
    0.5
    """
    return apply_to_scores(
        _geometric_mean_average_precision,
        Y,
        scores,
        undefined=undefined,
        ties=ties,
        caller="geometric_mean_average_precision",
    )


@register_metric(Macro(interpolated_precisions), needs="scores", label_based=True)
def mean_average_interpolated_precision(
    Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan"
) -> float:
    """Interpolated precision of each label, averaged over labels.

    Interpolated precision is the mean, over the recall levels 0, 1/9, ..., 1, of the best precision
    at this recall or more. Ties and undefined labels count as in `mean_average_precision`.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import mean_average_interpolated_precision
    >>> Y, scores = [[1, 0], [0, 1], [1, 1]], [[0.9, 0.2], [0.8, 0.7], [0.7, 0.1]]
    >>> round(mean_average_interpolated_precision(Y, scores), 3)
    0.833
    """
    return apply_to_scores(
        Macro(interpolated_precisions),
        Y,
        scores,
        undefined=undefined,
        ties=ties,
        caller="mean_average_interpolated_precision",
    )


@register_metric(_geometric_mean_average_interpolated_precision, needs="scores", label_based=True)
def geometric_mean_average_interpolated_precision(
    Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan"
) -> float:
    """Interpolated precision of each label, geometric mean over labels.

    Ties and undefined labels count as in `geometric_mean_average_precision`.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    undefined : {"mulan", "ignore"} or number, default="mulan"
        How undefined values count, see `evaluate`.
    ties : {"mulan", "average", "worst"}, default="mulan"
        How equal scores are ranked, see `evaluate`.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    >>> from scumble.evaluate import geometric_mean_average_interpolated_precision
    >>> Y, scores = [[1, 0], [0, 1], [0, 0], [0, 0]], [[0.9, 0.5], [0.8, 0.1], [0, 0.4], [0, 0.3]]
    >>> geometric_mean_average_interpolated_precision(Y, scores)
    0.5
    """
    return apply_to_scores(
        _geometric_mean_average_interpolated_precision,
        Y,
        scores,
        undefined=undefined,
        ties=ties,
        caller="geometric_mean_average_interpolated_precision",
    )


# Metrics of probabilities --------------------------------------------------------------------


def _log_loss(rankings: Rankings) -> float:
    """Return the log loss, summed over labels and averaged over instances."""
    return rankings.probability_losses.log_loss / rankings.Y.shape[0]


def _mean_squared_error(rankings: Rankings) -> float:
    """Return the squared error, averaged over all entries of the label matrix."""
    return rankings.probability_losses.squared_error / rankings.n_entries


@register_metric(_log_loss, needs="probabilities", greater_is_better=False, upper=math.inf)
def log_loss(Y: Any, scores: Any) -> float:
    """Negative log of the probability of the true value, summed over labels, per instance.

    Probabilities are clipped to [1e-8, 1 - 1e-8], as in MULAN.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The probability of each label.

    Returns
    -------
    float
        The value, in [0, inf); smaller is better.

    Examples
    --------
    >>> from scumble.evaluate import log_loss
    >>> round(log_loss([[1, 0]], [[0.5, 0.5]]), 3)
    1.386
    """
    return apply_to_probabilities(_log_loss, Y, scores, caller="log_loss")


@register_metric(_mean_squared_error, needs="probabilities", greater_is_better=False)
def mean_squared_error(Y: Any, scores: Any) -> float:
    """Squared distance between probabilities and true labels, averaged over the label matrix.

    Also known as Brier score.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The probability of each label.

    Returns
    -------
    float
        The value, in [0, 1]; smaller is better.

    Examples
    --------
    >>> from scumble.evaluate import mean_squared_error
    >>> mean_squared_error([[1, 0]], [[0.5, 0.5]])
    0.25
    """
    return apply_to_probabilities(_mean_squared_error, Y, scores, caller="mean_squared_error")


# Metrics with parameters, which `evaluate` does not compute ----------------------------------


def _precision_at_k(rankings: Rankings, undefined: UndefinedPolicy, *, k: int) -> float:
    """Return the mean over instances of the share of true labels among the ``k`` ranked first."""
    n_true_positives = rankings.Y.multiply(rankings.top_labels(k)).sum()
    return float(n_true_positives / (k * rankings.Y.shape[0]))


def precision_at_k(Y: Any, scores: Any, *, k: int = 5) -> float:
    """Share of true labels among the ``k`` labels with the largest scores, averaged over instances.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely. Of equal scores the label with the
        larger index comes first, as in MULAN.
    k : int, default=5
        Number of labels, at most that of the columns.

    Returns
    -------
    float
        The value, in [0, 1]; larger is better.

    Examples
    --------
    Of the two best labels one is true in the first instance, and both in the second.

    >>> from scumble.evaluate import precision_at_k
    >>> precision_at_k([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.1, 0.7, 0.8]], k=2)
    0.75
    """
    Int(1).check(k, name="k", caller="precision_at_k")
    rankings = check_rankings(Y, scores, caller="precision_at_k")
    n_labels = rankings.Y.shape[1]
    if k > n_labels:
        raise ParameterError(
            f"The 'k' parameter of precision_at_k must be at most {n_labels}, the number of "
            f"labels. Got {k} instead."
        )
    return _precision_at_k(rankings, UndefinedPolicy(), k=k)
