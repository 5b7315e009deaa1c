"""Metrics of the order that scores give to labels and instances, and of probabilities."""

import math

import numpy as np

from scumble._core.arrays import Array
from scumble.evaluate.counts import Rankings, UndefinedPolicy, ratio
from scumble.evaluate.metric import probability_metric, ranking_metric


def _where(values: Array, defined: Array) -> Array:
    """Put NaN where there is nothing to judge."""
    return np.where(defined, values, math.nan)


def _geometric(values: Array, undefined: UndefinedPolicy) -> float:
    """Average in log space; one 0 makes the mean 0."""
    with np.errstate(divide="ignore"):
        logs = np.log(undefined.fill(values))
    return math.exp(undefined.mean(logs))


@ranking_metric(greater_is_better=False)
def one_error(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Share of instances whose best label is wrong.

    An instance without labels is undefined; MULAN counts it as an error.

    Examples
    --------
    >>> from scumble.evaluate import one_error
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    0.5
    """
    found = rankings.by_instance
    return undefined.mean(_where(found.top_label_error, found.n_relevant > 0), 1.0)


@ranking_metric(greater_is_better=False)
def ranking_loss(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Share of pairs of a right and a wrong label with the wrong one first, over instances.

    An instance with no label or all labels has no pairs and is undefined; MULAN takes 0.

    Examples
    --------
    Of the second instance's two pairs both are wrong, of the first's none is.

    >>> from scumble.evaluate import ranking_loss
    >>> ranking_loss([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    0.5
    """
    found = rankings.by_instance
    return undefined.mean(ratio(found.wrong_pairs, found.n_pairs), 0.0)


@ranking_metric(greater_is_better=False, upper=math.inf)
def coverage(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """How far down the ranking the labels of an instance reach, averaged over instances.

    The worst rank of a right label, less one. An instance without labels is undefined; MULAN
    takes 0.

    Examples
    --------
    >>> from scumble.evaluate import coverage
    >>> coverage([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    1.0
    """
    found = rankings.by_instance
    return undefined.mean(_where(found.worst_rank - 1, found.n_relevant > 0), 0.0)


@ranking_metric()
def average_precision(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """For each right label the share of right ones among those ranked as high, over instances.

    An instance without labels is undefined; MULAN leaves it out (mldr takes 1).

    Examples
    --------
    >>> from scumble.evaluate import average_precision
    >>> round(average_precision([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]]), 3)
    0.792
    """
    found = rankings.by_instance
    return undefined.mean(_where(found.average_precision, found.n_relevant > 0), skipna=True)


@ranking_metric(greater_is_better=False)
def is_error(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Share of instances with a wrong label ranked before a right one.

    Examples
    --------
    >>> from scumble.evaluate import is_error
    >>> is_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    0.5
    """
    return float((rankings.by_instance.wrong_pairs > 0).mean())


@ranking_metric(greater_is_better=False, upper=math.inf)
def error_set_size(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Pairs of a right and a wrong label with the wrong one first, per instance.

    Examples
    --------
    >>> from scumble.evaluate import error_set_size
    >>> error_set_size([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    1.0
    """
    return float(rankings.by_instance.wrong_pairs.mean())


@ranking_metric()
def example_auc(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Area under the ROC curve of each instance's labels, averaged over instances.

    Equal scores count half, whatever `ties`. An instance with no label or all labels is
    undefined; mldr takes one half, and so does ``"mulan"``, which has no such metric.

    Examples
    --------
    >>> from scumble.evaluate import example_auc
    >>> example_auc([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]])
    0.5
    """
    found = rankings.by_instance
    return undefined.mean(1 - ratio(found.tied_wrong_pairs, found.n_pairs), 0.5)


@ranking_metric(label_based=True)
def macro_auc(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Area under the ROC curve of each label, averaged over labels.

    Equal scores count half, whatever `ties`. A label that no instance or all instances have is
    undefined; MULAN's mean is then NaN.

    Examples
    --------
    >>> from scumble.evaluate import macro_auc
    >>> macro_auc([[1, 0], [0, 1], [1, 1]], [[0.9, 0.2], [0.8, 0.7], [0.7, 0.1]])
    0.5
    """
    return undefined.mean(rankings.by_label.auc)


@ranking_metric()
def micro_auc(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Area under the ROC curve of all cells together.

    Equal scores count half, whatever `ties`.

    Examples
    --------
    >>> from scumble.evaluate import micro_auc
    >>> micro_auc([[1, 0], [0, 1], [1, 1]], [[0.9, 0.2], [0.8, 0.7], [0.7, 0.1]])
    0.5
    """
    return undefined.mean(np.array([rankings.micro_auc]))


@ranking_metric(label_based=True)
def macro_auc_pr(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Area under the precision-recall curve of each label, averaged over labels.

    The curve is a step function: precision at each distinct score times the recall gained there.
    A label without instances is undefined; MULAN's mean is then NaN.

    Examples
    --------
    >>> from scumble.evaluate import macro_auc_pr
    >>> round(macro_auc_pr([[1, 0], [0, 1], [1, 1]], [[0.9, 0.2], [0.8, 0.7], [0.7, 0.1]]), 3)
    0.833
    """
    return undefined.mean(rankings.by_label.auc_pr)


@ranking_metric(label_based=True)
def mean_average_precision(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Precision at each instance that has a label, averaged per label and then over labels.

    MULAN ranks instances with equal scores in the order of the rows; with other `ties` they are
    retrieved together. A label without instances is undefined; MULAN leaves it out.

    Examples
    --------
    >>> from scumble.evaluate import mean_average_precision
    >>> Y, scores = [[1, 0], [0, 1], [1, 1]], [[0.9, 0.2], [0.8, 0.7], [0.7, 0.1]]
    >>> round(mean_average_precision(Y, scores), 3)
    0.833
    """
    return undefined.mean(rankings.by_label.average_precision, skipna=True)


@ranking_metric(label_based=True)
def geometric_mean_average_precision(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Geometric mean over the labels of their average precision.

    A few labels with bad rankings pull it down. A label without instances is undefined; MULAN's
    mean is then NaN.

    Examples
    --------
    >>> from scumble.evaluate import geometric_mean_average_precision
    >>> Y, scores = [[1, 0], [0, 1], [0, 0], [0, 0]], [[0.9, 0.5], [0.8, 0.1], [0, 0.4], [0, 0.3]]
    >>> geometric_mean_average_precision(Y, scores)
    0.5
    """
    return _geometric(rankings.by_label.average_precision, undefined)


@ranking_metric(label_based=True)
def mean_average_interpolated_precision(rankings: Rankings, undefined: UndefinedPolicy) -> float:
    """Best precision at a recall of 0, 1/9, ..., 1 or more, averaged per label and over labels.

    Ties and undefined labels as in `mean_average_precision`.

    Examples
    --------
    >>> from scumble.evaluate import mean_average_interpolated_precision
    >>> Y, scores = [[1, 0], [0, 1], [1, 1]], [[0.9, 0.2], [0.8, 0.7], [0.7, 0.1]]
    >>> round(mean_average_interpolated_precision(Y, scores), 3)
    0.833
    """
    return undefined.mean(rankings.by_label.interpolated_precision, skipna=True)


@ranking_metric(label_based=True)
def geometric_mean_average_interpolated_precision(
    rankings: Rankings, undefined: UndefinedPolicy
) -> float:
    """Geometric mean over the labels of their average interpolated precision.

    Ties and undefined labels as in `geometric_mean_average_precision`.

    Examples
    --------
    >>> from scumble.evaluate import geometric_mean_average_interpolated_precision
    >>> Y, scores = [[1, 0], [0, 1], [0, 0], [0, 0]], [[0.9, 0.5], [0.8, 0.1], [0, 0.4], [0, 0.3]]
    >>> geometric_mean_average_interpolated_precision(Y, scores)
    0.5
    """
    return _geometric(rankings.by_label.interpolated_precision, undefined)


@probability_metric(upper=math.inf)
def log_loss(rankings: Rankings) -> float:
    """Negative log of the probability given to the truth, summed over labels, per instance.

    Probabilities are kept 1e-8 away from 0 and 1, as MULAN does.

    Examples
    --------
    >>> from scumble.evaluate import log_loss
    >>> round(log_loss([[1, 0]], [[0.5, 0.5]]), 3)
    1.386
    """
    return rankings.log_loss_and_squared_error[0] / rankings.Y.shape[0]


@probability_metric()
def mean_squared_error(rankings: Rankings) -> float:
    """Squared distance between the probabilities and the truth, averaged over all cells.

    Also known as Brier score.

    Examples
    --------
    >>> from scumble.evaluate import mean_squared_error
    >>> mean_squared_error([[1, 0]], [[0.5, 0.5]])
    0.25
    """
    return rankings.log_loss_and_squared_error[1] / rankings.scores.size
