"""All metrics at once; some of them as scikit-learn asks for scores."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError
from scumble._core.parallel import limit_threads
from scumble._core.registry import registered_objects
from scumble._core.table_repr import TableReprMixin, TableView, format_cell
from scumble._core.validation import (
    align_label_lists,
    check_labels,
    check_same_names,
    get_label_names,
)
from scumble.evaluate import counts
from scumble.evaluate.bipartition_metrics import hierarchical_loss, label_metrics
from scumble.evaluate.counts import Counts, LabelConfusion, Rankings, UndefinedPolicy, confusion
from scumble.evaluate.groups import MIN_TRAINING_POSITIVES, check_groups, find_metric, group_masks
from scumble.evaluate.metric import Metric
from scumble.learn.predictions import predict_with_scores
from scumble.measures.threaded_kernels import count_labels

#: What a line about an evaluation tells, where it is known.
KEY_METRICS = ("macro_f1", "micro_f1", "hamming_loss", "ranking_loss")


class Evaluation(TableReprMixin, Mapping[str, float]):
    """Every metric by name.

    Parameters
    ----------
    values : mapping of str to float
        The metrics.
    by_label : mapping of str to ndarray
        Values of every label.
    groups : mapping of str to ndarray of bool
        Groups of labels.

    Attributes
    ----------
    by_label : mapping of str to ndarray
        One value per label: counts (``true_positives``, ...), ``precision``, ``recall``, ``f1``,
        ``accuracy``, ``specificity``, ``balanced_accuracy``, ``g_mean`` and, with scores,
        ``auc``, ``average_precision``, ``interpolated_precision``, ``auc_pr``; with the labels of
        the training part ``training_positives``.
    groups : mapping of str to ndarray of bool
        Which labels belong to which group.

    Examples
    --------
    >>> from scumble.evaluate import evaluate
    >>> found = evaluate([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    >>> found["micro_recall"], found.by_label["recall"]
    (0.6666666666666666, array([1., 0.]))
    """

    def __init__(
        self,
        values: Mapping[str, float],
        by_label: Mapping[str, Array],
        groups: Mapping[str, Array] | None = None,
    ) -> None:
        self._values = dict(values)
        self.by_label: Mapping[str, Array] = MappingProxyType(dict(by_label))
        self.groups: Mapping[str, Array] = MappingProxyType(dict(groups or {}))

    def __getitem__(self, name: str) -> float:
        if name not in self._values:
            raise KeyError(self._why_not(name))
        return self._values[name]

    def _why_not(self, name: str) -> str:
        """Say why a metric is not here."""
        group, _, last = name.rpartition(".")
        metric = registered_objects("metric").get(last)
        if metric is None or (group and not metric.label_based):
            return name
        if group and group not in self.groups:
            return f"{name}: there is no group {group!r} here"
        given = "predictions" if metric.needs == "predictions" else "scores"
        return f"{name} judges {metric.needs}: give evaluate the {given}"

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _repr_title(self) -> str:
        return f"Evaluation: {len(self)} values{key_metrics_text(self._values)}"

    def _repr_table(self) -> TableView:
        told = {name: (value,) for name, value in self._values.items()}
        return metrics_table(told, ("value",), self.groups)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._values, dict(self.by_label), dict(self.groups))


def key_metrics_text(values: Mapping[str, float]) -> str:
    """Tell the key metrics in a line, where they are known."""
    return "".join(f", {n} {format_cell(values[n])}" for n in KEY_METRICS if n in values)


def metrics_table(
    told: Mapping[str, tuple[float, ...]], head: tuple[str, ...], groups: Iterable[str]
) -> TableView:
    """List what is told of every metric, and beside it the first of that for each group."""
    rows = [
        (name, *values, *(told.get(f"{group}.{name}", (None,))[0] for group in groups))
        for name, values in told.items()
        if "." not in name
    ]
    return TableView(("metric", *head, *groups), rows, len(rows))


def evaluate(
    Y: Any,
    predictions: Any = None,
    scores: Any = None,
    *,
    undefined: Any = "mulan",
    ties: str = "mulan",
    label_parents: Sequence[int] | None = None,
    groups: Any = None,
    training: Any = None,
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
    groups : sequence of str, or mapping of str to labels, optional
        Groups of labels, see `label_groups`: adds ``minority.macro_f1`` and every other metric
        that judges labels, of each group.
    training : data set, array, sparse matrix or DataFrame, optional
        The labels of the training part, before resampling. They tell which labels are rare,
        difficult or few, and how often each could be learnt from.
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

    The means of a group are taken over its labels that occur in ``Y`` and, where ``training`` is
    known, at least twice in it: the others say nothing about a classifier. So no F is undefined
    there; a precision that is, of a label that was never predicted, counts 0, whatever
    ``undefined``, and an area under a curve that is undefined is left out. Micro averages are
    taken over the cells of those labels. A group without such labels is NaN. The group ``all``
    has every label: ``all.macro_f1`` is ``macro_f1`` under this rule.

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

    Groups of labels are judged apart:

    >>> found = evaluate(Y, [[1, 0, 1], [0, 1, 0]], groups={"mine": [1, 2]})
    >>> found["mine.macro_recall"], found["never_predicted"]
    (0.5, 0.0)
    """
    if predictions is None and scores is None:
        raise DataError("evaluate: there is nothing to judge. Give predictions, scores, or both.")
    policy = UndefinedPolicy(undefined)
    counts.check_ties(ties, caller="evaluate")
    if predictions is not None:
        Y, predictions = align_label_lists(Y, predictions)
    for given, what in ((predictions, "predictions"), (scores, "scores")):
        check_same_names(Y, given, what=what, caller="evaluate")
    parents = getattr(Y, "label_parents", None) if label_parents is None else label_parents
    truth = counts.check_truth(Y, caller="evaluate")
    wanted = check_groups(groups, caller="evaluate")
    trained = None if training is None else _check_training(training, truth.shape[1])
    masks = group_masks(wanted, truth.shape[1], trained, get_label_names(Y))
    counted = count_labels(truth) > 0
    values: dict[str, float] = {}
    by_label: dict[str, Array] = {}
    with limit_threads(n_jobs):
        if predictions is not None:
            found = confusion(truth, predictions, caller="evaluate")
            values |= {m.name: m.formula(found, policy) for m in _needing("predictions")}
            if parents is not None:
                values["hierarchical_loss"] = hierarchical_loss(truth, found.predictions, parents)
            by_label |= label_metrics(found, policy)
        if scores is not None:
            rankings = Rankings(truth, scores, ties=ties)
            values |= {m.name: m.formula(rankings, policy) for m in _needing("scores")}
            values |= {
                m.name: m.formula(rankings) if rankings.are_probabilities else math.nan
                for m in _needing("probabilities")
            }
            curves = rankings.by_label._asdict()
            by_label |= {name: policy.fill(part) for name, part in curves.items()}
        if trained is not None:
            by_label["training_positives"] = count_labels(trained)
            counted &= by_label["training_positives"] >= MIN_TRAINING_POSITIVES
        for name, mask in masks.items():
            chosen = mask & counted
            rated = {} if predictions is None else group_metrics(found.by_label.take(chosen))
            rated |= {} if scores is None else _rate_order(rankings, chosen)
            values |= {f"{name}.{metric}": value for metric, value in rated.items()}
    return Evaluation(values, by_label, masks)


def group_metrics(labels: Counts) -> dict[str, float]:
    """Compute the metrics of predictions for some labels; NaN where there are none."""
    some = LabelConfusion(labels)
    policy = UndefinedPolicy(
        "mulan"
    )  # of a label that occurs, it takes 0 for an undefined precision
    metrics = [metric for metric in _needing("predictions") if metric.label_based]
    return {m.name: m.formula(some, policy) if len(labels.hits) else math.nan for m in metrics}


def _rate_order(rankings: Rankings, chosen: Array) -> dict[str, float]:
    """Compute the metrics of scores for some labels."""
    # As much of `Rankings` as metrics of labels read.
    labels = rankings.by_label
    some = SimpleNamespace(by_label=type(labels)(*(part[chosen] for part in labels)))
    policy = UndefinedPolicy("ignore")
    return {m.name: m.formula(some, policy) for m in _needing("scores") if m.label_based}


def _check_training(training: Any, n_labels: int) -> sparse.csr_array:
    found = check_labels(training, caller="evaluate, training")
    if found.shape[1] != n_labels:
        raise DataError(
            f"evaluate: the training part must have the labels of Y, {n_labels}. Got "
            f"{found.shape[1]} instead."
        )
    return found


def _needing(what: str) -> list[Metric]:
    return [metric for metric in registered_objects("metric").values() if metric.needs == what]


# For scikit-learn -------------------------------------------------------------------------------


class Scorer:
    """Judges a fitted classifier; larger is always better, so that losses come out negative.

    Parameters
    ----------
    metrics : tuple of Metric
        What to compute.
    single : bool
        Whether a number is wanted rather than a mapping.
    options : dict
        Given to `evaluate`.

    Examples
    --------
    >>> import scumble
    >>> from scumble.evaluate import scorer
    >>> from scumble.learn import BinaryRelevance
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> model = BinaryRelevance().fit(data.X, data.Y)
    >>> scorer("hamming_loss")(model, data.X, data.Y) <= 0
    True
    """

    def __init__(self, metrics: tuple[Metric, ...], single: bool, options: dict[str, Any]) -> None:
        self._metrics = metrics
        self._single = single
        self._options = options

    def __call__(self, estimator: Any, X: Any, y: Any, **_: Any) -> Any:
        """Predict the labels of ``X`` and compare them with ``y``."""
        if getattr(y, "ndim", 2) == 1:
            y = np.asarray(y).reshape(-1, 1)
        Y = check_labels(y, caller=repr(self))
        predictions, scores = predict_with_scores(estimator, X, Y.shape[1])
        if scores is None and any(metric.needs != "predictions" for metric in self._metrics):
            raise DataError(
                f"{self!r} judges scores, but {type(estimator).__name__} has neither predict_proba "
                "nor decision_function."
            )
        found = evaluate(Y, predictions, scores, **self._options)
        values = {m.name: found[m.name] * (1 if m.greater_is_better else -1) for m in self._metrics}
        return next(iter(values.values())) if self._single else values

    def __repr__(self) -> str:
        names = ", ".join(repr(metric.name) for metric in self._metrics)
        return f"scorer({names if self._single else f'[{names}]'})"

    def __reduce__(self) -> tuple[Any, ...]:
        names = [metric.name for metric in self._metrics]
        return partial(scorer, **self._options), (names[0] if self._single else names,)


def scorer(name: str | Sequence[str], **options: Any) -> Scorer:
    """Make a scorer for scikit-learn from the name of a metric.

    Parameters
    ----------
    name : str or sequence of str
        A metric, such as ``"macro_f1"``; several make a scorer that returns all of them from one
        prediction.
    **options : object
        ``undefined`` and ``ties``, see `evaluate`.

    Returns
    -------
    callable
        ``scorer(estimator, X, Y)``. Larger is always better: the value of a loss is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from scumble.evaluate import scorer
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> Y = np.column_stack([X < 6, X >= 6]).astype(int)
    >>> cross_val_score(KNeighborsClassifier(1), X, Y, cv=2, scoring=scorer("hamming_loss"))
    array([-1., -1.])
    >>> found = scorer(["macro_f1", "one_error"])(KNeighborsClassifier(1).fit(X, Y), X, Y)
    >>> found["macro_f1"], found["one_error"] == 0
    (1.0, True)
    """
    single = isinstance(name, str)
    names = [name] if isinstance(name, str) else list(name)
    if not names:
        raise ParameterError("scorer: name at least one metric.")
    unknown = set(options) - {"undefined", "ties", "n_jobs"}
    if unknown:
        raise ParameterError(
            f"scorer has no option {', '.join(sorted(unknown))!r}. Expected undefined or ties."
        )
    return Scorer(tuple(find_metric(one) for one in names), single, options)
