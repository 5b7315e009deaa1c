"""All metrics at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from scumble._core.errors import DataError
from scumble._core.parallel import limit_threads
from scumble._core.registry import registered
from scumble._core.validation import check_choice
from scumble.evaluate import bipartition, ranking
from scumble.evaluate.counts import check_same_names, check_truth, confusion
from scumble.evaluate.metric import Metric
from scumble.evaluate.rankings import TIES, Rankings
from scumble.evaluate.undefined import Undefined

Array = np.ndarray[Any, Any]


class Evaluation(Mapping[str, float]):
    """Every metric by name.

    Parameters
    ----------
    values : mapping of str to float
        The metrics.
    by_label : mapping of str to ndarray
        Values of every label.

    Attributes
    ----------
    by_label : mapping of str to ndarray
        One value per label: counts (``true_positives``, ...), ``precision``, ``recall``, ``f1``,
        ``accuracy``, ``specificity``, ``balanced_accuracy``, ``g_mean`` and, with scores,
        ``auc``, ``average_precision``, ``interpolated_precision``, ``auc_pr``.
    """

    def __init__(self, values: Mapping[str, float], by_label: Mapping[str, Array]) -> None:
        self._values = dict(values)
        self.by_label: Mapping[str, Array] = MappingProxyType(dict(by_label))

    def __getitem__(self, name: str) -> float:
        if name not in self._values and name in registered("metric"):
            needs = registered("metric")[name].needs
            given = "predictions" if needs == "predictions" else "scores"
            raise KeyError(f"{name} judges {needs}: give evaluate the {given}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        width = max(map(len, self._values))
        lines = (f"{name:{width}}  {value:.6f}" for name, value in self._values.items())
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._values, dict(self.by_label))


def evaluate(
    Y: Any,
    predictions: Any = None,
    scores: Any = None,
    *,
    undefined: Any = "mulan",
    ties: str = "mulan",
    label_parents: Sequence[int] | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Judge predictions by every metric there is.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The labels that are there. The hierarchy of a data set's labels is taken from it.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels), optional
        The labels that were predicted, 0/1 or True/False. Without them there are only metrics
        of scores.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels), optional
        How sure the classifier is of each label; larger is surer. Without them there are only
        metrics of predictions.
    undefined : {"mulan", "ignore"} or number
        What to take where a metric has nothing to divide by, such as the precision of an instance
        without predictions. ``"mulan"`` takes what MULAN takes, which every metric's page tells;
        ``"ignore"`` leaves such instances or labels out of the mean; a number stands for them.
    ties : {"mulan", "average", "worst"}
        How labels with equal scores are ranked. ``"mulan"``: the label with the higher number
        first. ``"average"``: they share the mean of their ranks, and a tied pair is half wrong.
        ``"worst"``: they share the last of their ranks, and a tied pair is wrong, as in
        scikit-learn.
    label_parents : sequence of int, optional
        For hierarchical labels the number of each label's parent, -1 at the top; adds
        ``hierarchical_loss``.
    n_jobs : int, optional
        Number of threads; never changes a result.

    Returns
    -------
    Evaluation
        A mapping from names to values, and ``by_label`` with the values of every label.

    See Also
    --------
    scumble.evaluate.cross_validate : Train, predict and evaluate on folds.

    Notes
    -----
    Metrics of predictions cost as much as there are labels and predicted labels, never rows times
    labels. Metrics of scores read the scores three times and sort none but those of labels that
    are there.

    Scores outside [0, 1] are no probabilities; then ``log_loss`` and ``mean_squared_error`` are
    NaN.

    Examples
    --------
    >>> from scumble.evaluate import evaluate
    >>> Y = [[1, 1, 0], [0, 1, 0]]
    >>> found = evaluate(Y, [[1, 0, 1], [0, 1, 0]], [[0.9, 0.2, 0.6], [0.1, 0.8, 0.3]])
    >>> found["precision"], found["one_error"], found["ranking_loss"]
    (0.75, 0.0, 0.25)
    >>> found.by_label["recall"]
    array([1. , 0.5, 0. ])
    """
    if predictions is None and scores is None:
        raise DataError("evaluate: there is nothing to judge. Give predictions, scores, or both.")
    policy = Undefined(undefined)
    check_choice(ties, tuple(TIES), name="ties", caller="evaluate")
    for given, what in ((predictions, "predictions"), (scores, "scores")):
        check_same_names(Y, given, what=what, caller="evaluate")
    parents = getattr(Y, "label_parents", None) if label_parents is None else label_parents
    truth = check_truth(Y, caller="evaluate")
    values: dict[str, float] = {}
    by_label: dict[str, Array] = {}
    with limit_threads(n_jobs):
        if predictions is not None:
            counts = confusion(truth, predictions, caller="evaluate")
            values |= {m.name: m.formula(counts, policy) for m in _needing("predictions")}
            if parents is not None:
                values["hierarchical_loss"] = bipartition.hierarchical_loss(
                    truth, counts.predictions, parents
                )
            by_label |= bipartition.label_table(counts, policy)
        if scores is not None:
            rankings = Rankings(truth, scores, ties=ties)
            values |= {m.name: m.formula(rankings, policy) for m in _needing("scores")}
            values |= {
                m.name: m.formula(rankings) if rankings.are_probabilities else math.nan
                for m in _needing("probabilities")
            }
            by_label |= ranking.label_curves(rankings, policy)
    return Evaluation(values, by_label)


def _needing(what: str) -> list[Metric]:
    return [metric for metric in registered("metric").values() if metric.needs == what]
