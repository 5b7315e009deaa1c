"""Evaluation of predictions by all metrics at once, and scorers for scikit-learn."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError
from scumble._core.parallel import limit_threads
from scumble._core.registry import registered_objects
from scumble._core.table_repr import TableReprMixin, TableView, format_cell
from scumble._validation.labels import (
    align_label_lists,
    check_labels,
    check_same_names,
    get_label_names,
)
from scumble.evaluate.metrics import counts
from scumble.evaluate.metrics.base import Metric
from scumble.evaluate.metrics.bipartition import hierarchical_loss, label_metrics
from scumble.evaluate.metrics.counts import (
    Counts,
    LabelConfusion,
    LabelRankings,
    LabelSubsetRankings,
    Rankings,
    UndefinedPolicy,
    confusion,
)
from scumble.evaluate.metrics.label_groups import (
    MIN_TRAINING_POSITIVES,
    POOLED_PREFIX,
    check_groups,
    find_metric,
    group_masks,
)
from scumble.learn.predictions import predict_with_scores
from scumble.measures.threaded_kernels import count_labels

#: Metrics in the one-line summary of an evaluation, where they are available.
KEY_METRICS = ("macro_f1", "micro_f1", "hamming_loss", "ranking_loss")

#: A metric of data with a hierarchy of labels, which is not registered.
HIERARCHICAL_LOSS = "hierarchical_loss"


class Evaluation(TableReprMixin, Mapping[str, float]):
    """A mapping from the names of metrics to their values.

    Parameters
    ----------
    values : mapping of str to float
        The value of each metric.
    by_label : mapping of str to ndarray
        Metrics per label: one value for every label.
    groups : mapping of str to ndarray of bool
        Masks of the groups of labels.
    has_scores : bool, default=False
        Whether scores were given, also if no requested metric evaluates them.

    Attributes
    ----------
    by_label : mapping of str to ndarray
        One value per label: counts (``true_positives``, ...), ``precision``, ``recall``, ``f1``,
        ``accuracy``, ``specificity``, ``balanced_accuracy``, ``g_mean`` and, with scores,
        ``auc``, ``average_precision``, ``interpolated_precision``, ``auc_pr``; with the labels of
        the training part ``training_positives``.
    groups : mapping of str to ndarray of bool
        For each group a mask of its labels.

    Examples
    --------
    >>> from scumble.evaluate import evaluate
    >>> result = evaluate([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    >>> result["micro_recall"], result.by_label["recall"]
    (0.6666666666666666, array([1., 0.]))
    """

    def __init__(
        self,
        values: Mapping[str, float],
        by_label: Mapping[str, Array],
        groups: Mapping[str, Array] | None = None,
        has_scores: bool = False,
    ) -> None:
        self._values = dict(values)
        self._has_scores = has_scores
        self.by_label: Mapping[str, Array] = MappingProxyType(dict(by_label))
        self.groups: Mapping[str, Array] = MappingProxyType(dict(groups or {}))

    def __getitem__(self, name: str) -> float:
        """Return the value of a metric; raise a KeyError that says what is missing for it."""
        if name not in self._values:
            raise KeyError(self._explain_missing(name))
        return self._values[name]

    def _explain_missing(self, name: str) -> str:
        """Return the message of the KeyError for a name without a value.

        It says what is missing: a group of labels, predictions, scores, or the metric among those
        that were requested. For a name that is no metric, it is the name.
        """
        group, _, metric_name = name.rpartition(".")
        metric = registered_objects("metric").get(metric_name)
        if metric is None or (group and not metric.label_based):
            return name
        if group and group not in self.groups:
            return f"{name}: there is no group {group!r} here"
        if metric.needs == "predictions":
            argument = "predictions"
            is_given = "true_positives" in self.by_label
        else:
            argument = "scores"
            is_given = self._has_scores
        if is_given:
            return f"{name} was not computed: add it to the 'metrics' of evaluate"
        return f"{name} evaluates {metric.needs}: give evaluate the {argument}"

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _repr_title(self) -> str:
        """Return the first line of the repr: number of values and key metrics."""
        return f"Evaluation: {len(self)} values{key_metrics_text(self._values)}"

    def _repr_table(self) -> TableView:
        """Return the table of the repr: each metric of all labels and of each group."""
        values_by_metric = {name: (value,) for name, value in self._values.items()}
        return metrics_table(values_by_metric, header=("value",), groups=self.groups)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return class and arguments for pickling, because views of dicts cannot be pickled."""
        return type(self), (self._values, dict(self.by_label), dict(self.groups))


def key_metrics_text(values: Mapping[str, float]) -> str:
    """Return the available key metrics as text such as ", macro_f1 0.5, hamming_loss 0.1"."""
    available = [name for name in KEY_METRICS if name in values]
    return "".join(f", {name} {format_cell(values[name])}" for name in available)


def metrics_table(
    values_by_metric: Mapping[str, tuple[float, ...]],
    *,
    header: tuple[str, ...],
    groups: Iterable[str],
) -> TableView:
    """Return a table with a row per metric: its values, then its first value for each group.

    The keys of ``values_by_metric`` are names of metrics, such as ``f1``, and of metrics of groups,
    such as ``minority.macro_f1``; ``header`` names the values. A cell is None where a metric has no
    value for a group.
    """
    groups = tuple(groups)
    rows = []
    for name, values in values_by_metric.items():
        is_group_metric = "." in name
        if not is_group_metric:
            group_values = [values_by_metric.get(f"{group}.{name}", (None,))[0] for group in groups]
            rows.append((name, *values, *group_values))
    return TableView(("metric", *header, *groups), rows, len(rows))


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
    metrics: Iterable[str] | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Compute all metrics of predictions and scores, or the named ones.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels. The hierarchy of labels is taken from a data set that has one.
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels), optional
        The predicted labels, 0/1 or True/False. Without them only metrics of scores are computed.
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels), optional
        The scores; larger means that the label is more likely. Without them only metrics of
        predictions are computed.
    undefined : {"mulan", "ignore"} or number
        How undefined values count: 0/0, such as the precision of an instance without predictions.
        ``"mulan"`` takes what MULAN takes, as the page of each metric states; ``"ignore"`` leaves
        such instances or labels out of the mean; a number replaces the value.
    ties : {"mulan", "average", "worst"}
        How labels with equal scores are ranked. ``"mulan"``: the label with the larger index
        first. ``"average"``: they share the mean of their ranks, and a tied pair is half wrong.
        ``"worst"``: they share the last of their ranks, and a tied pair is wrong, as in
        scikit-learn.
    label_parents : sequence of int, optional
        For hierarchical labels the index of each label's parent, -1 at the top; adds
        ``hierarchical_loss``.
    groups : sequence of str, or mapping of str to labels, optional
        Groups of labels, see `label_groups`: adds ``minority.macro_f1`` and every other
        label-based metric of each group.
    training : data set, array, sparse matrix or DataFrame, optional
        The labels of the training part, before resampling. They define which labels are rare,
        difficult or few, and add the number of training rows of each label.
    metrics : iterable of str, optional
        Names of the metrics to compute, such as ``"macro_f1"`` or ``"minority.macro_f1"``; all by
        default. The values do not depend on it. If none of them evaluates scores, ``by_label`` has
        no values from scores.
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
    The cost of metrics of predictions grows with the number of true and predicted entries of the
    label matrix, never with rows times labels. Metrics of scores read all scores three times and
    sort only those of true entries; a sparse score matrix is made dense in blocks.

    The mean of a group is taken over its labels that occur in ``Y`` and, if ``training`` is given,
    at least twice in it: the others carry no information about a classifier. So the F-measure of a
    group is always defined; an undefined precision, of a label that is never predicted, counts 0,
    whatever ``undefined``, and an undefined area under a curve is left out. Micro averages are
    taken over the entries of those labels. A group without such labels is NaN. The group ``all``
    has every label: ``all.macro_f1`` is ``macro_f1`` under this rule.

    Scores outside [0, 1] are not probabilities; then ``log_loss`` and ``mean_squared_error`` are
    NaN.

    Examples
    --------
    >>> from scumble.evaluate import evaluate
    >>> Y = [[1, 1, 0], [0, 1, 0]]
    >>> result = evaluate(Y, [[1, 0, 1], [0, 1, 0]], [[0.9, 0.2, 0.6], [0.1, 0.8, 0.3]])
    >>> result["precision"], result["one_error"], result["ranking_loss"]
    (0.75, 0.0, 0.25)
    >>> result.by_label["recall"]
    array([1. , 0.5, 0. ])

    Metrics of a group of labels:

    >>> result = evaluate(Y, [[1, 0, 1], [0, 1, 0]], groups={"mine": [1, 2]})
    >>> result["mine.macro_recall"], result["never_predicted"]
    (0.5, 0.0)
    """
    if predictions is None and scores is None:
        raise DataError(
            "evaluate: there is nothing to evaluate. Give predictions, scores, or both."
        )
    policy = UndefinedPolicy(undefined)
    counts.check_ties(ties, caller="evaluate")
    if predictions is not None:
        Y, predictions = align_label_lists(Y, predictions)
    for argument, name in ((predictions, "predictions"), (scores, "scores")):
        check_same_names(Y, argument, noun=name, caller="evaluate")
    if label_parents is None:
        label_parents = getattr(Y, "label_parents", None)
    Y_true = counts.check_truth(Y, caller="evaluate")
    n_labels = Y_true.shape[1]
    groups = check_groups(groups, caller="evaluate")
    if training is not None:
        training = _check_training(training, n_labels)
    masks = group_masks(groups, n_labels, training, get_label_names(Y))
    requested = None if metrics is None else _check_metric_names(metrics, groups)
    values: dict[str, float] = {}
    by_label: dict[str, Array] = {}
    confusion_counts = None
    rankings = None
    with limit_threads(n_jobs):
        if predictions is not None:
            confusion_counts = confusion(Y_true, predictions, caller="evaluate")
            for metric in _select_metrics("predictions", requested):
                values[metric.name] = metric.formula(confusion_counts, policy)
            if label_parents is not None and _is_requested(HIERARCHICAL_LOSS, requested):
                values[HIERARCHICAL_LOSS] = hierarchical_loss(
                    Y_true, confusion_counts.predictions, label_parents
                )
            by_label |= label_metrics(confusion_counts, policy)
        if scores is not None and _needs_scores(requested, groups):
            rankings = Rankings(Y_true, scores, ties=ties)
            for metric in _select_metrics("scores", requested):
                values[metric.name] = metric.formula(rankings, policy)
            for metric in _select_metrics("probabilities", requested):
                is_defined = rankings.are_probabilities
                values[metric.name] = metric.formula(rankings) if is_defined else math.nan
            for name, label_values in rankings.by_label._asdict().items():
                by_label[name] = policy.fill(label_values)
        is_counted = count_labels(Y_true) > 0
        if training is not None:
            by_label["training_positives"] = count_labels(training)
            is_counted &= by_label["training_positives"] >= MIN_TRAINING_POSITIVES
        for group, mask in masks.items():
            if confusion_counts is not None:
                label_counts = confusion_counts.by_label.take(mask & is_counted)
                selected = label_based_metrics("predictions", requested, group=group)
                values |= group_metrics(label_counts, selected, group=group)
            if rankings is not None:
                selected = label_based_metrics("scores", requested, group=group)
                values |= _group_ranking_metrics(rankings, mask & is_counted, selected, group=group)
    return Evaluation(values, by_label, masks, has_scores=scores is not None)


def group_metrics(
    label_counts: Counts, metrics: Sequence[Metric], *, group: str | None
) -> dict[str, float]:
    """Return label-based metrics of predictions, by name, from the counts of some labels.

    The names begin with the name of the group, if there is one. Each metric is NaN if there are no
    labels.
    """
    # For a label that occurs, MULAN's policy takes 0 for an undefined precision.
    policy = UndefinedPolicy("mulan")
    values = {}
    for metric in metrics:
        value = math.nan
        if len(label_counts.true_positives):
            value = metric.formula(LabelConfusion(label_counts), policy)
        values[_name_in_group(metric, group)] = value
    return values


def _group_ranking_metrics(
    rankings: Rankings, mask: Array, metrics: Sequence[Metric], *, group: str
) -> dict[str, float]:
    """Return label-based metrics of scores, by name, for the labels that ``mask`` selects.

    The names begin with the name of the group.
    """
    label_rankings = LabelRankings(*(values[mask] for values in rankings.by_label))
    policy = UndefinedPolicy("ignore")
    return {
        _name_in_group(metric, group): metric.formula(LabelSubsetRankings(label_rankings), policy)
        for metric in metrics
    }


def _name_in_group(metric: Metric, group: str | None) -> str:
    """Return the name of a metric of a group of labels, such as "minority.macro_f1"."""
    return metric.name if group is None else f"{group}.{metric.name}"


def _check_training(training: Any, n_labels: int) -> sparse.csr_array:
    """Return the labels of the training part as a CSR matrix.

    Raises a DataError if it does not have ``n_labels`` columns.
    """
    labels = check_labels(training, caller="evaluate, training")
    if labels.shape[1] != n_labels:
        raise DataError(
            f"evaluate: the training part must have the labels of Y, {n_labels}. Got "
            f"{labels.shape[1]} instead."
        )
    return labels


def _check_metric_names(names: Iterable[str], groups: Iterable[str]) -> frozenset[str]:
    """Return the names of metrics as a set; raise a ParameterError for an unknown or pooled one."""
    requested = frozenset(names)
    for name in requested - {HIERARCHICAL_LOSS}:
        find_metric(name, groups=groups)
        if name.startswith(POOLED_PREFIX):
            raise ParameterError(
                f"evaluate: {name!r} is computed from several folds. Expected for example "
                f"{name.removeprefix(POOLED_PREFIX)!r}."
            )
    return requested


def _is_requested(name: str, requested: Collection[str] | None) -> bool:
    """Return whether a metric is computed; None stands for all metrics."""
    return requested is None or name in requested


def _needs_scores(requested: Iterable[str] | None, groups: Iterable[str]) -> bool:
    """Return whether any of the requested metrics evaluates scores; None stands for all metrics."""
    if requested is None:
        return True
    names = [name for name in requested if name != HIERARCHICAL_LOSS]
    return any(find_metric(name, groups=groups).needs != "predictions" for name in names)


def _select_metrics(
    needs: str, requested: Collection[str] | None, *, group: str | None = None
) -> list[Metric]:
    """Return the requested ones of the registered metrics with this value of `Metric.needs`.

    ``requested`` has names, those of a group such as "minority.macro_f1"; None stands for all.
    """
    return [
        metric
        for metric in registered_objects("metric").values()
        if metric.needs == needs and _is_requested(_name_in_group(metric, group), requested)
    ]


def label_based_metrics(
    needs: str, requested: Collection[str] | None, *, group: str | None
) -> list[Metric]:
    """Return the requested label-based metrics of a group; see `_select_metrics`.

    ``group`` is None for metrics without a group.
    """
    metrics = _select_metrics(needs, requested, group=group)
    return [metric for metric in metrics if metric.label_based]


# Scorers for scikit-learn --------------------------------------------------------------------


class Scorer:
    """Scorer of a fitted classifier. Larger is always better: losses are negative.

    Parameters
    ----------
    metrics : tuple of Metric
        The metrics to compute.
    single : bool
        Whether to return the value of the first metric instead of a mapping.
    options : dict
        Options of `evaluate`.

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
        """Return the metrics of the classifier's predictions for ``X``; losses are negative.

        The result is a number for a scorer of a single metric, else a dict from names to numbers.
        """
        if getattr(y, "ndim", 2) == 1:
            y = np.asarray(y).reshape(-1, 1)
        Y = check_labels(y, caller=repr(self))
        predictions, scores = predict_with_scores(estimator, X, Y.shape[1])
        if scores is None and any(metric.needs != "predictions" for metric in self._metrics):
            raise DataError(
                f"{self!r} evaluates scores, but {type(estimator).__name__} has neither "
                "predict_proba nor decision_function."
            )
        evaluation = evaluate(Y, predictions, scores, **self._options)
        values = {}
        for metric in self._metrics:
            sign = 1 if metric.greater_is_better else -1
            values[metric.name] = sign * evaluation[metric.name]
        if self._single:
            return values[self._metrics[0].name]
        return values

    def __repr__(self) -> str:
        names = ", ".join(repr(metric.name) for metric in self._metrics)
        if self._single:
            return f"scorer({names})"
        return f"scorer([{names}])"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the call of `scorer` that makes this scorer, for pickling by names of metrics."""
        names = [metric.name for metric in self._metrics]
        return partial(scorer, **self._options), (names[0] if self._single else names,)


def scorer(name: str | Sequence[str], **options: Any) -> Scorer:
    """Return a scorer for scikit-learn by the name of a metric.

    Parameters
    ----------
    name : str or sequence of str
        A metric, such as ``"macro_f1"``. A sequence makes a scorer that returns several metrics
        of one prediction.
    **options : object
        ``undefined`` (how 0/0 counts), ``ties`` (how equal scores are ranked) and ``n_jobs``
        (number of threads), as in `evaluate`.

    Returns
    -------
    Scorer
        A callable with the arguments ``(estimator, X, y)``. Larger is always better: the value of
        a loss is negative.

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
    >>> values = scorer(["macro_f1", "one_error"])(KNeighborsClassifier(1).fit(X, Y), X, Y)
    >>> values["macro_f1"], values["one_error"] == 0
    (1.0, True)
    """
    single = isinstance(name, str)
    names = [name] if isinstance(name, str) else list(name)
    if not names:
        raise ParameterError("scorer: name at least one metric.")
    unknown = set(options) - {"undefined", "ties", "n_jobs"}
    if unknown:
        raise ParameterError(
            f"scorer has no option {', '.join(sorted(unknown))!r}. Expected undefined, ties "
            "or n_jobs."
        )
    return Scorer(tuple(find_metric(metric_name) for metric_name in names), single, options)
