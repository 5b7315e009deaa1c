"""The record of a metric in the catalogue, and decorators that register metrics.

A *formula* computes a metric from `Confusion` (the counts of true and predicted labels) or from
`Rankings` (the rankings by scores), which `evaluate` computes once for all metrics. The metrics of
scumble are plain functions of labels and predictions, or labels and scores, under
`register_metric`. The metrics of other authors can be as short as a formula under
`bipartition_metric`, `ranking_metric` or `probability_metric`.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from scumble._core.arrays import Array
from scumble._core.registry import register
from scumble.evaluate.metrics.counts import (
    Confusion,
    Rankings,
    UndefinedPolicy,
    check_rankings,
    confusion,
)

#: What a metric evaluates: predicted labels, rankings by scores, or probabilities.
Needs = Literal["predictions", "scores", "probabilities"]
#: Heading in the catalogue by what a metric evaluates.
DISPLAY_GROUPS = {
    "predictions": "Of predicted labels",
    "scores": "Of rankings",
    "probabilities": "Of probabilities",
}
Function = TypeVar("Function", bound=Callable[..., float])
#: A function of a dense boolean ``Y`` that returns the value of a metric for perfect predictions.
PerfectValue = Callable[[Array], float]


@dataclass(frozen=True, slots=True)
class Metric:
    """Entry of a metric in the catalogue.

    Parameters
    ----------
    name : str
        Name of the function, and its key in the result of `evaluate`.
    needs : {"predictions", "scores", "probabilities"}
        What it evaluates: predicted labels, a ranking of the labels, or probabilities.
    greater_is_better : bool
        Whether larger values are better.
    lower, upper : float
        Bounds of its values; NaN is allowed too.
    function : callable
        The function of ``Y`` and predictions or scores.
    formula : callable
        The function that `evaluate` calls with counts or rankings, which all metrics share.
    label_based : bool
        Whether the formula reads ``by_label`` and ``overall`` only, so that the metric can also be
        computed for a group of labels.
    perfect_value : callable, optional
        A function of a dense ``Y`` that returns the value of perfect predictions. None stands for
        the better of the two bounds. The common tests use it.

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
    perfect_value: PerfectValue | None = None


def register_metric(
    formula: Callable[..., float],
    *,
    needs: Needs,
    greater_is_better: bool = True,
    lower: float = 0.0,
    upper: float = 1.0,
    label_based: bool = False,
    perfect_value: PerfectValue | None = None,
) -> Callable[[Function], Function]:
    """Return a decorator that registers a function as a metric and returns it unchanged.

    ``formula`` is what `evaluate` calls instead of the function; the other parameters are fields of
    `Metric`.
    """

    def add_to_catalogue(function: Function) -> Function:
        """Register the function under its name."""
        metric = Metric(
            name=function.__name__,
            needs=needs,
            greater_is_better=greater_is_better,
            lower=lower,
            upper=upper,
            function=function,
            formula=formula,
            label_based=label_based,
            perfect_value=perfect_value,
        )
        register("metric", metric.name, metric, display_group=DISPLAY_GROUPS[needs])
        return function

    return add_to_catalogue


# From a user's arguments to a formula --------------------------------------------------------


def apply_to_predictions(
    formula: Callable[[Confusion, UndefinedPolicy], float],
    Y: Any,
    predictions: Any,
    *,
    undefined: Any,
    caller: str,
) -> float:
    """Check labels and predictions of a user, and return the value of a formula on their counts.

    ``undefined`` is the policy for 0/0, see `evaluate`; ``caller`` is named in error messages.
    """
    policy = UndefinedPolicy(undefined, caller=caller)
    return formula(confusion(Y, predictions, caller=caller), policy)


def apply_to_scores(
    formula: Callable[[Rankings, UndefinedPolicy], float],
    Y: Any,
    scores: Any,
    *,
    undefined: Any,
    ties: str,
    caller: str,
) -> float:
    """Check labels and scores of a user, and return the value of a formula on the rankings.

    ``undefined`` and ``ties`` are those of `evaluate`; ``caller`` is named in error messages.
    """
    policy = UndefinedPolicy(undefined, caller=caller)
    return formula(check_rankings(Y, scores, ties=ties, caller=caller), policy)


def apply_to_probabilities(
    formula: Callable[[Rankings], float], Y: Any, scores: Any, *, caller: str
) -> float:
    """Check labels and probabilities of a user, and return the value of a formula.

    Raises a DataError for scores outside [0, 1]; ``caller`` is named in error messages.
    """
    rankings = check_rankings(Y, scores, caller=caller)
    rankings.check_probabilities(caller=caller)
    return formula(rankings)


# Metrics that are a formula ------------------------------------------------------------------


#: Attributes of a formula that its metric has, too: all of functools.WRAPPER_ASSIGNMENTS but the
#: annotations of its arguments.
_WRAPPED_ATTRIBUTES = ("__module__", "__name__", "__qualname__", "__doc__")


class FormulaMetric:
    """A metric that is a formula, with the formula's name and docstring.

    A call checks the arguments and applies the formula. Keyword-only parameters of the formula are
    parameters of the metric; `evaluate` leaves them at their defaults.

    Parameters
    ----------
    formula : callable
        The formula.

    Attributes
    ----------
    formula : callable
        The formula.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., float]

    def __init__(self, formula: Callable[..., float]) -> None:
        self.formula = formula
        # As functools.wraps does for functions: the name, module and docstring of the formula. The
        # arguments differ, so inspect.signature must not follow `__wrapped__` to the formula.
        functools.update_wrapper(self, formula, assigned=_WRAPPED_ATTRIBUTES, updated=())
        del self.__wrapped__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.__name__}>"

    def __reduce__(self) -> str:
        """Return the name by which the metric is pickled, as functions are."""
        return self.__qualname__

    def __call__(self, *arguments: Any, **options: Any) -> float:
        """Return the value; subclasses define the arguments."""
        raise NotImplementedError

    def apply(self, *arguments: Any) -> float:
        """Return the value of the formula for counts or rankings, with its default parameters.

        `evaluate` calls it. As a method it can be pickled, unlike the formula, whose name is that
        of this object.
        """
        return self.formula(*arguments)

    def _bind(self, parameters: dict[str, Any]) -> Callable[..., float]:
        """Return the formula with its keyword-only parameters set."""
        return lambda *arguments: self.formula(*arguments, **parameters)


class BipartitionMetric(FormulaMetric):
    """A metric of predicted labels that is a formula on their counts."""

    def __call__(
        self, Y: Any, predictions: Any, *, undefined: Any = "mulan", **parameters: Any
    ) -> float:
        """Return the value for true and predicted labels."""
        return apply_to_predictions(
            self._bind(parameters), Y, predictions, undefined=undefined, caller=self.__name__
        )


class RankingMetric(FormulaMetric):
    """A metric of scores that is a formula on their rankings."""

    def __call__(
        self,
        Y: Any,
        scores: Any,
        *,
        undefined: Any = "mulan",
        ties: str = "mulan",
        **parameters: Any,
    ) -> float:
        """Return the value for true labels and scores."""
        return apply_to_scores(
            self._bind(parameters), Y, scores, undefined=undefined, ties=ties, caller=self.__name__
        )


class ProbabilityMetric(FormulaMetric):
    """A metric of probabilities that is a formula."""

    def __call__(self, Y: Any, scores: Any, **parameters: Any) -> float:
        """Return the value for true labels and probabilities."""
        return apply_to_probabilities(self._bind(parameters), Y, scores, caller=self.__name__)


def bipartition_metric(
    *,
    greater_is_better: bool = True,
    lower: float = 0.0,
    upper: float = 1.0,
    label_based: bool = False,
    perfect_value: PerfectValue | None = None,
) -> Callable[[Callable[..., float]], BipartitionMetric]:
    """Return a decorator that registers a formula on counts as a metric of predicted labels.

    Parameters
    ----------
    greater_is_better : bool, default=True
        Whether larger values are better.
    lower, upper : float
        Bounds of its values, 0 and 1 by default.
    label_based : bool, default=False
        Whether the formula reads ``by_label`` and ``overall`` only, so that the metric can also be
        computed for a group of labels.
    perfect_value : callable, optional
        A function of a dense ``Y`` that returns the value of perfect predictions, unless this is
        the better bound. The common tests use it.

    Returns
    -------
    callable
        A decorator of a formula, which is a function of `Confusion` and of the policy for undefined
        values, and may have keyword-only parameters. It returns a metric object: a callable with
        the arguments ``(Y, predictions, *, undefined="mulan")`` and those of the formula.

    See Also
    --------
    ranking_metric : For formulas on rankings.
    probability_metric : For formulas on probabilities.

    Examples
    --------
    >>> from scumble import catalogue
    >>> from scumble.evaluate import bipartition_metric, evaluate
    >>> @bipartition_metric(label_based=True)
    ... def prevalence(counts, undefined):
    ...     '''Share of the entries of the label matrix that are predicted.'''
    ...     predicted = counts.by_label.predicted
    ...     return float(predicted.sum() / counts.by_label.size / len(predicted))
    >>> prevalence([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    >>> evaluate([[1, 0], [1, 1]], [[1, 0], [1, 0]])["prevalence"]
    0.5
    >>> catalogue.unregister("metric", "prevalence")
    """

    def register_formula(formula: Callable[..., float]) -> BipartitionMetric:
        """Register the formula under its name, and return the metric object."""
        metric = BipartitionMetric(formula)
        add_to_catalogue = register_metric(
            metric.apply,
            needs="predictions",
            greater_is_better=greater_is_better,
            lower=lower,
            upper=upper,
            label_based=label_based,
            perfect_value=perfect_value,
        )
        return add_to_catalogue(metric)

    return register_formula


def ranking_metric(
    *,
    greater_is_better: bool = True,
    lower: float = 0.0,
    upper: float = 1.0,
    label_based: bool = False,
    perfect_value: PerfectValue | None = None,
) -> Callable[[Callable[..., float]], RankingMetric]:
    """Return a decorator that registers a formula on rankings as a metric of scores.

    Parameters
    ----------
    greater_is_better : bool, default=True
        Whether larger values are better.
    lower, upper : float
        Bounds of its values, 0 and 1 by default.
    label_based : bool, default=False
        Whether the formula reads ``by_label`` only, so that the metric can also be computed for a
        group of labels.
    perfect_value : callable, optional
        A function of a dense ``Y`` that returns the value of perfect predictions, unless this is
        the better bound. The common tests use it.

    Returns
    -------
    callable
        A decorator of a formula, which is a function of rankings and of the policy for undefined
        values, and may have keyword-only parameters. It returns a metric object: a callable with
        the arguments ``(Y, scores, *, undefined="mulan", ties="mulan")`` and those of the formula.

    See Also
    --------
    bipartition_metric : For formulas on counts of predicted labels.

    Notes
    -----
    Rankings have ``by_instance``, ``by_label``, ``micro_auc``, ``top_labels(k)``, and ``Y`` and
    ``scores``. Reading ``scores`` makes a sparse score matrix dense; the others do not.

    Examples
    --------
    >>> from scumble import catalogue
    >>> from scumble.evaluate import ranking_metric
    >>> @ranking_metric()
    ... def best_is_right(rankings, undefined):
    ...     '''Share of rows whose label with the highest score is true.'''
    ...     hits = rankings.Y.multiply(rankings.top_labels(1))
    ...     return float(hits.sum() / rankings.Y.shape[0])
    >>> best_is_right([[1, 0], [1, 0]], [[0.9, 0.2], [0.3, 0.4]])
    0.5
    >>> catalogue.unregister("metric", "best_is_right")
    """

    def register_formula(formula: Callable[..., float]) -> RankingMetric:
        """Register the formula under its name, and return the metric object."""
        metric = RankingMetric(formula)
        add_to_catalogue = register_metric(
            metric.apply,
            needs="scores",
            greater_is_better=greater_is_better,
            lower=lower,
            upper=upper,
            label_based=label_based,
            perfect_value=perfect_value,
        )
        return add_to_catalogue(metric)

    return register_formula


def probability_metric(
    *, lower: float = 0.0, upper: float = 1.0, perfect_value: PerfectValue | None = None
) -> Callable[[Callable[..., float]], ProbabilityMetric]:
    """Return a decorator that registers a formula on probabilities; smaller values are better.

    Parameters
    ----------
    lower, upper : float
        Bounds of its values, 0 and 1 by default.
    perfect_value : callable, optional
        A function of a dense ``Y`` that returns the value of perfect predictions, unless this is
        the lower bound. The common tests use it.

    Returns
    -------
    callable
        A decorator of a formula, which is a function of rankings and may have keyword-only
        parameters. It returns a metric object: a callable with the arguments ``(Y, scores)`` and
        those of the formula, which refuses scores outside [0, 1].

    See Also
    --------
    ranking_metric : For formulas on rankings.

    Examples
    --------
    >>> from scumble import catalogue
    >>> from scumble.evaluate import probability_metric
    >>> @probability_metric()
    ... def absolute_error(rankings):
    ...     '''Mean distance between the probabilities and the true labels.'''
    ...     return float(abs(rankings.scores - rankings.Y.toarray()).mean())
    >>> absolute_error([[1, 0]], [[0.5, 0.5]])
    0.5
    >>> catalogue.unregister("metric", "absolute_error")
    """

    def register_formula(formula: Callable[..., float]) -> ProbabilityMetric:
        """Register the formula under its name, and return the metric object."""
        metric = ProbabilityMetric(formula)
        add_to_catalogue = register_metric(
            metric.apply,
            needs="probabilities",
            greater_is_better=False,
            lower=lower,
            upper=upper,
            perfect_value=perfect_value,
        )
        return add_to_catalogue(metric)

    return register_formula
