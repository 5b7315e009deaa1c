"""How a metric presents itself, and how a formula becomes a public function."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from scumble._core.errors import DataError
from scumble._core.registry import register
from scumble._core.validation import check_same_names
from scumble.evaluate.counts import Confusion, Rankings, UndefinedPolicy, check_truth, confusion

Needs = Literal["predictions", "scores", "probabilities"]
Function = TypeVar("Function", bound=Callable[..., float])


@dataclass(frozen=True, slots=True)
class Metric:
    """What the catalogue knows of a metric.

    Parameters
    ----------
    name : str
        Name of the function, and its key in what `evaluate` returns.
    needs : {"predictions", "scores", "probabilities"}
        What it judges: predicted labels, an order of the labels, or probabilities.
    greater_is_better : bool
        Whether larger values are better.
    lower, upper : float
        Bounds of its values; NaN is allowed besides.
    function : callable
        The function of ``Y`` and predictions or scores.
    formula : callable
        The same from counts or rankings that are already there.
    of_labels : bool
        Whether it reads nothing but what is known of each label, so that it can be told of a
        group of labels, too.

    Examples
    --------
    >>> from scumble import catalogue
    >>> metric = catalogue.get("metric", "hamming_loss")
    >>> metric.needs, metric.greater_is_better, metric.function([[1, 0]], [[1, 1]])
    ('predictions', False, 0.5)
    """

    name: str
    needs: Needs
    greater_is_better: bool
    lower: float
    upper: float
    function: Callable[..., float]
    formula: Callable[..., float]
    label_based: bool = False


class BipartitionMetric(Protocol):
    """A metric of predicted labels."""

    __name__: str

    def __call__(self, Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
        """Judge predictions."""


class RankingMetric(Protocol):
    """A metric of the order that scores give."""

    __name__: str

    def __call__(
        self, Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan"
    ) -> float:
        """Judge scores."""


class ProbabilityMetric(Protocol):
    """A metric of probabilities."""

    __name__: str

    def __call__(self, Y: Any, scores: Any) -> float:
        """Judge probabilities."""


_TRUTH = """Parameters
----------
Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
    The labels that are there.
"""
_PREDICTIONS = """predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
    The labels that were predicted, 0/1 or True/False.
"""
_SCORES = """scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
    How sure the classifier is of each label; larger is surer.
"""
_UNDEFINED = """undefined : {"mulan", "ignore"} or number
    What stands for 0/0, see `evaluate`.
"""
_TIES = """ties : {"mulan", "average", "worst"}
    How equal scores are ranked, see `evaluate`.
"""
#: By what a metric needs: its family in the catalogue, and what stands of its parameters.
_KINDS = {
    "predictions": ("Of predicted labels", _TRUTH + _PREDICTIONS + _UNDEFINED),
    "scores": ("Of rankings", _TRUTH + _SCORES + _UNDEFINED + _TIES),
    "probabilities": ("Of probabilities", _TRUTH + _SCORES),
}
_RETURNS = """
Returns
-------
float
    The value, between {lower:g} and {upper:g}; {better} is better.
"""


def bipartition_metric(
    *,
    greater_is_better: bool = True,
    lower: float = 0.0,
    upper: float = 1.0,
    label_based: bool = False,
) -> Callable[[Callable[[Confusion, UndefinedPolicy], float]], BipartitionMetric]:
    """Make a metric of predicted labels from a formula on their counts.

    Parameters
    ----------
    greater_is_better : bool, default=True
        Whether larger values are better.
    lower, upper : float
        Bounds of its values, 0 and 1 by default.
    of_labels : bool, default=False
        Whether the formula reads ``by_label`` alone, so that the metric can also be told of a
        group of labels.

    Returns
    -------
    callable
        A decorator of a formula: a function of `Confusion` and of the policy for 0/0. What it makes
        takes labels and predictions, has the whole docstring, and is in the catalogue.

    Examples
    --------
    >>> from scumble import catalogue
    >>> from scumble.evaluate import bipartition_metric, evaluate
    >>> @bipartition_metric(label_based=True)
    ... def prevalence(counts, undefined):
    ...     '''Share of all cells that were predicted.'''
    ...     predicted = counts.by_label.predicted
    ...     return float(predicted.sum() / counts.by_label.size / len(predicted))
    >>> evaluate([[1, 0], [1, 1]], [[1, 0], [1, 0]])["prevalence"]
    0.5
    >>> catalogue.unregister("metric", "prevalence")
    """
    facts = (greater_is_better, lower, upper)

    def make(formula: Callable[[Confusion, UndefinedPolicy], float]) -> BipartitionMetric:
        def function(Y: Any, predictions: Any, *, undefined: Any = "mulan") -> float:
            policy = UndefinedPolicy(undefined, caller=name)
            return formula(confusion(Y, predictions, caller=name), policy)

        name = formula.__name__
        return _enter(function, Metric(name, "predictions", *facts, function, formula, label_based))

    return make


def ranking_metric(
    *,
    greater_is_better: bool = True,
    lower: float = 0.0,
    upper: float = 1.0,
    label_based: bool = False,
) -> Callable[[Callable[[Rankings, UndefinedPolicy], float]], RankingMetric]:
    """Make a metric of the order of labels from a formula on their rankings.

    Parameters
    ----------
    greater_is_better : bool, default=True
        Whether larger values are better.
    lower, upper : float
        Bounds of its values, 0 and 1 by default.
    of_labels : bool, default=False
        Whether the formula looks at each label alone, so that the metric can also be told of a
        group of labels.

    Returns
    -------
    callable
        A decorator of a formula: a function of rankings and of the policy for 0/0. What it makes
        takes labels and scores, has the whole docstring, and is in the catalogue.

    Examples
    --------
    >>> from scumble import catalogue
    >>> from scumble.evaluate import ranking_metric
    >>> @ranking_metric()
    ... def best_is_right(rankings, undefined):
    ...     '''Share of rows whose label of highest score is there.'''
    ...     best = rankings.scores.argmax(axis=1)
    ...     return float(rankings.Y.toarray()[range(len(best)), best].mean())
    >>> best_is_right([[1, 0], [1, 0]], [[0.9, 0.2], [0.3, 0.4]])
    0.5
    >>> catalogue.unregister("metric", "best_is_right")
    """
    facts = (greater_is_better, lower, upper)

    def make(formula: Callable[[Rankings, UndefinedPolicy], float]) -> RankingMetric:
        def function(
            Y: Any, scores: Any, *, undefined: Any = "mulan", ties: str = "mulan"
        ) -> float:
            policy = UndefinedPolicy(undefined, caller=name)
            return formula(_rankings(Y, scores, name, ties), policy)

        name = formula.__name__
        return _enter(function, Metric(name, "scores", *facts, function, formula, label_based))

    return make


def probability_metric(
    *, lower: float = 0.0, upper: float = 1.0
) -> Callable[[Callable[[Rankings], float]], ProbabilityMetric]:
    """Make a metric of probabilities from a formula; smaller values are better.

    Parameters
    ----------
    lower, upper : float
        Bounds of its values, 0 and 1 by default.

    Returns
    -------
    callable
        A decorator of a formula, a function of rankings. What it makes takes labels and scores,
        refuses scores that are no probabilities, and is in the catalogue.

    Examples
    --------
    >>> from scumble import catalogue
    >>> from scumble.evaluate import probability_metric
    >>> @probability_metric()
    ... def absolute_error(rankings):
    ...     '''Distance between probabilities and the truth, averaged over all cells.'''
    ...     return float(abs(rankings.scores - rankings.Y.toarray()).mean())
    >>> absolute_error([[1, 0]], [[0.5, 0.5]])
    0.5
    >>> catalogue.unregister("metric", "absolute_error")
    """
    facts = (False, lower, upper)

    def make(formula: Callable[[Rankings], float]) -> ProbabilityMetric:
        def function(Y: Any, scores: Any) -> float:
            rankings = _rankings(Y, scores, name, "mulan")
            if not rankings.are_probabilities:
                raise DataError(
                    f"{name}: scores must be probabilities, in [0, 1]. Found "
                    f"{rankings.scores.min():g} to {rankings.scores.max():g}: use predict_proba "
                    "rather than decision_function."
                )
            return formula(rankings)

        name = formula.__name__
        return _enter(function, Metric(name, "probabilities", *facts, function, formula))

    return make


def _rankings(Y: Any, scores: Any, caller: str, ties: str) -> Rankings:
    if scores is None:
        raise DataError(
            f"{caller} judges scores, and there are none: give the classifier's confidences "
            "(predict_proba), not only its predictions."
        )
    check_same_names(Y, scores, what="scores", caller=caller)
    return Rankings(check_truth(Y, caller=caller), scores, ties=ties, caller=caller)


def _enter(function: Function, entry: Metric) -> Function:
    """Give the function its name and whole docstring, and the catalogue its record."""
    for attribute in ("__name__", "__qualname__", "__module__"):
        setattr(function, attribute, getattr(entry.formula, attribute))
    family, parameters = _KINDS[entry.needs]
    told, mark, example = inspect.cleandoc(entry.formula.__doc__ or "").partition("Examples\n")
    better = "larger" if entry.greater_is_better else "smaller"
    returns = _RETURNS.format(lower=entry.lower, upper=entry.upper, better=better)
    function.__doc__ = f"{told.rstrip()}\n\n{parameters}{returns}\n{mark}{example}\n"
    register("metric", entry.name, entry, display_group=family)
    return function
