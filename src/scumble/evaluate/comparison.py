"""Comparison of several methods on the same folds with a baseline.

A *method* is a classifier, with the resamplers that are applied to the training rows before it, if
any. The *baseline* is the first method; all others are compared with it. The *verdict* on a method
is that it is better, worse, or that the folds show no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble._core.parameters import Real
from scumble._core.progress import progress_bar
from scumble._core.table_repr import RecordList, TableReprMixin, TableView
from scumble.data import MultilabelDataset
from scumble.data.feature import first_duplicate
from scumble.evaluate.metrics.counts import UndefinedPolicy
from scumble.evaluate.metrics.label_groups import (
    GROUPS,
    POOLED_PREFIX,
    find_metric,
    metric_sign,
    metric_title,
)
from scumble.evaluate.model_selection import cross_validation
from scumble.evaluate.model_selection.cross_validation import FoldResult, FoldRunner, cross_validate
from scumble.evaluate.model_selection.folds import LabelCounts, label_table, pooled_metrics
from scumble.evaluate.model_selection.splitters import make_splitter
from scumble.evaluate.statistics import FoldDifference, corrected_t_test
from scumble.measures.summary import to_json_value

#: Default metrics of a comparison; the first determines verdicts and the best method.
DEFAULT_METRICS = ("all.macro_f1", "minority.macro_f1", "micro_f1")
#: Default folds of a comparison, assigned by iterative stratification.
DEFAULT_FOLDS = "2x5"
#: Number of bootstrap samples of folds or test rows: enough that about 12 values lie beyond each
#: end of a 95 % interval.
N_DRAWS = 500
# Verdicts.
BETTER = "better"
WORSE = "worse"
INCONCLUSIVE = "no difference that these folds can show"


class Method(NamedTuple):
    """A classifier with the resampler before it, if any."""

    name: str
    classifier: Any  # as `cross_validate` takes it
    resampler: Any  # as `cross_validate` takes it; None for no resampling


class MethodFoldResult(NamedTuple):
    """The result of one method on one fold."""

    values: Mapping[str, float]  # all metrics by name
    counts: LabelCounts  # counts of each label on the fold
    seconds: float  # wall time
    # With a test set: each metric on `N_DRAWS` bootstrap samples of its rows; None with folds.
    draws: Mapping[str, Array] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class MethodResult(TableReprMixin):
    """The results of one method on all folds.

    Attributes
    ----------
    name : str
        The classifier, and the resampling before it.
    values : mapping of str to ndarray of shape (n_folds,)
        Each metric on each fold.
    counts : tuple of LabelCounts
        Counts of true and predicted rows of every label, fold by fold.
    seconds : float
        Mean time of a fold.
    draws : mapping of str to ndarray, or None
        With a test set instead of folds: each metric on bootstrap samples of its rows, the same
        samples for all methods.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> comparison = scumble.evaluate.compare(data, ["br", "ridge"], folds="1x3", random_state=0)
    >>> [(result.name, result.values["all.macro_f1"].shape) for result in comparison.results]
    [('br', (3,)), ('ridge', (3,))]
    """

    name: str
    values: Mapping[str, Array]
    counts: tuple[LabelCounts, ...]
    seconds: float
    draws: Mapping[str, Array] | None = None

    @classmethod
    def from_folds(
        cls, name: str, folds: Sequence[MethodFoldResult], metrics: Iterable[str]
    ) -> MethodResult:
        """Return the results of a method on all folds from those on each fold.

        Parameters
        ----------
        name : str
            Name of the method.
        folds : sequence of MethodFoldResult
            One per fold, in order.
        metrics : iterable of str
            The metrics to keep.

        Returns
        -------
        MethodResult
            The combined results.
        """
        return cls(
            name=name,
            values={
                metric: np.array([fold.values[metric] for fold in folds]) for metric in metrics
            },
            counts=tuple(fold.counts for fold in folds),
            seconds=float(np.mean([fold.seconds for fold in folds])),
            draws=folds[0].draws,
        )

    def mean(self, metric: str) -> float:
        """Return the mean of a metric over the folds on which it is defined; NaN if on none."""
        return UndefinedPolicy("ignore").mean(self.values[metric])


@dataclass(frozen=True)
class Difference(TableReprMixin):
    """The difference of a method from the baseline in one metric.

    Attributes
    ----------
    method, metric : str
        The method and the metric.
    mean, baseline : float
        Means over the folds of the method and of the baseline.
    difference, low, high : float
        Mean difference, and the ends of its confidence interval. The intervals of all methods are
        simultaneous (Bonferroni): with the probability ``confidence`` of the comparison, all of
        them contain the true differences.
    p_value : float
        P-value of the paired test, not corrected for several methods.
    verdict : str
        ``"better"``, ``"worse"``, or ``"no difference that these folds can show"``.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> comparison = scumble.evaluate.compare(data, ["br", "ridge"], folds="1x3", random_state=0)
    >>> difference = comparison.table[0]
    >>> difference.method, difference.low < difference.difference < difference.high
    ('ridge', True)
    """

    method: str
    metric: str
    mean: float
    baseline: float
    difference: float
    low: float
    high: float
    p_value: float
    verdict: str

    def sentence(self) -> str:
        """Return the verdict as a sentence with the means and the confidence interval."""
        metric = metric_title(self.metric)
        means = f"{metric} {self.mean:.3f} instead of {self.baseline:.3f}"
        if math.isnan(self.difference):
            return f"{self.method}: cannot be evaluated, {metric} has no value."
        if not math.isfinite(self.low):
            return f"{self.method}: {means}; a single fold does not show how much of it is chance."
        interval = f"a change between {self.low:+.3f} and {self.high:+.3f}"
        return f"{self.method}: {self.verdict} ({means}; {interval})."


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(TableReprMixin):
    """Results of methods on the same folds, each compared with the first.

    Attributes
    ----------
    data : str
        Name of the data set.
    labels : tuple of str
        Its labels.
    results : tuple of MethodResult
        The methods; the first is the baseline.
    metrics : tuple of str
        The metrics; the first decides verdicts and the best.
    test_over_train : float
        Number of test rows over number of training rows, mean over the folds.
    random_state : int
        The seed; the same seed gives the same comparison.
    confidence : float
        Simultaneous confidence level: the probability that the intervals of a metric contain the
        true differences of all methods.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> comparison = scumble.evaluate.compare(data, ["br", "ridge"], folds="1x3", random_state=0)
    >>> [result.name for result in comparison.results], comparison.metrics[0]
    (['br', 'ridge'], 'all.macro_f1')
    """

    data: str
    labels: tuple[str, ...]
    results: tuple[MethodResult, ...]
    metrics: tuple[str, ...]
    test_over_train: float
    random_state: int
    confidence: float = 0.95

    @property
    def baseline(self) -> str:
        """Name of the method that all others are compared with."""
        return self.results[0].name

    @cached_property
    def table(self) -> RecordList[Difference]:
        """The differences of all methods from the baseline, by method and metric."""
        differences = []
        for result in self.results[1:]:
            differences += [self._difference(result, metric) for metric in self.metrics]
        return RecordList(differences, f"differences from {self.baseline}")

    def verdicts(self) -> list[str]:
        """Return a sentence per method on the first metric.

        Returns
        -------
        list of str
            One sentence for every method but the baseline.
        """
        decisive = [row for row in self.table if row.metric == self.metrics[0]]
        return [difference.sentence() for difference in decisive]

    @cached_property
    def best(self) -> str:
        """Name of the method with the best mean of the first metric."""
        metric = self.metrics[0]
        means = [result.mean(metric) * metric_sign(metric) for result in self.results]
        best = int(np.nanargmax(means)) if np.isfinite(means).any() else 0
        return self.results[best].name

    @cached_property
    def optimism(self) -> float:
        """How much the mean of the best method is too good because it is the best of several.

        The unit is that of the first metric; at least 0. In each of `N_DRAWS` bootstrap samples,
        folds are drawn with replacement, and the method that is best on them is evaluated on the
        folds that were not drawn. The optimism is the best mean over all folds less the mean of
        these values. NaN with fewer than two methods or three folds.
        """
        # One row per method, one column per fold on which all methods have a value.
        values = np.stack([result.values[self.metrics[0]] for result in self.results])
        values = values[:, ~np.isnan(values).any(axis=0)] * metric_sign(self.metrics[0])
        n_methods, n_folds = values.shape
        if n_methods < 2 or n_folds < 3:
            return math.nan
        generator = np.random.default_rng(self.random_state)
        fold_samples = generator.integers(n_folds, size=(N_DRAWS, n_folds))
        n_times_drawn = np.stack(
            [np.bincount(sample, minlength=n_folds) for sample in fold_samples]
        )
        is_left_out = (n_times_drawn == 0).astype(float)
        has_left_out = is_left_out.sum(axis=1) > 0
        n_times_drawn, is_left_out = n_times_drawn[has_left_out], is_left_out[has_left_out]
        best_methods = (values @ n_times_drawn.T).argmax(axis=0)  # one per sample
        means_left_out = (values @ is_left_out.T) / is_left_out.sum(axis=1)
        means_of_best = means_left_out[best_methods, np.arange(len(best_methods))]
        return max(0.0, float(values.mean(axis=1).max() - means_of_best.mean()))

    def gains(self, method: str) -> RecordList[dict[str, Any]]:
        """Return the gain in F1 of each label by a method over the baseline.

        Parameters
        ----------
        method : str
            Name of a method.

        Returns
        -------
        list of dict
            One per label that occurs in a test part: ``name``, ``training_positives``, ``before``
            and ``after`` (its F1 from counts added up over the folds, 0 where it is undefined), and
            ``gain``; the largest gain first.
        """
        baseline = label_table(self.results[0].counts, self.labels)
        compared = label_table(self._result(method).counts, self.labels)
        rows: list[dict[str, Any]] = []
        for old, new in zip(baseline, compared, strict=True):
            if old["test_positives"]:
                before, after = np.nan_to_num([old["f1"], new["f1"]]).tolist()
                rows.append(
                    {
                        "name": old["name"],
                        "training_positives": old["training_positives"],
                        "before": before,
                        "after": after,
                        "gain": after - before,
                    }
                )
        rows.sort(key=lambda row: (-row["gain"], row["name"]))
        return RecordList(rows, f"labels, {method} beside {self.baseline}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; NaN and infinity become None.

        Returns
        -------
        dict
            ``methods`` with means and seconds, ``differences``, ``verdicts``, ``best``,
            ``optimism`` and ``gains`` of the best method.
        """
        methods = [
            {
                "name": result.name,
                "seconds": result.seconds,
                "means": {metric: to_json_value(result.mean(metric)) for metric in self.metrics},
                "folds": {
                    metric: to_json_value(result.values[metric].tolist()) for metric in self.metrics
                },
            }
            for result in self.results
        ]
        return {
            "data": self.data,
            "random_state": self.random_state,
            "baseline": self.baseline,
            "metrics": list(self.metrics),
            "methods": methods,
            "differences": [to_json_value(vars(difference)) for difference in self.table],
            "verdicts": self.verdicts(),
            "best": self.best,
            "optimism": to_json_value(self.optimism),
            "gains": self.gains(self.best),
        }

    def _repr_title(self) -> str:
        """Return the first line of the repr: numbers of methods and folds, data and baseline."""
        n_folds = len(self.results[0].counts)
        folds = f"{n_folds} folds" if n_folds > 1 else "a test part"
        n_methods = len(self.results)
        return (
            f"Comparison: {n_methods} methods on {folds} of {self.data!r}, against {self.baseline}"
        )

    def _repr_table(self) -> TableView:
        """Return the table of the repr: means and seconds per method; the verdicts are notes."""
        rows = [
            (result.name, *(result.mean(metric) for metric in self.metrics), result.seconds)
            for result in self.results
        ]
        header = ("method", *self.metrics, "seconds")
        return TableView(header, rows, len(rows), self.verdicts())

    def _result(self, name: str) -> MethodResult:
        """Return the results of the method of this name; raise an error for an unknown name."""
        results = {result.name: result for result in self.results}
        if name in results:
            return results[name]
        raise ParameterError(
            f"There is no method {name!r} in this comparison. There are: {', '.join(results)}."
        )

    def _difference(self, result: MethodResult, metric: str) -> Difference:
        """Return the difference of a method from the baseline in a metric, with the verdict."""
        interval = self._interval(result, metric)
        sign = metric_sign(metric)
        low, high = sorted((interval.low * sign, interval.high * sign))
        if low > 0:
            verdict = BETTER
        elif high < 0:
            verdict = WORSE
        else:
            verdict = INCONCLUSIVE
        return Difference(
            method=result.name,
            metric=metric,
            mean=result.mean(metric),
            baseline=self.results[0].mean(metric),
            difference=interval.difference,
            low=interval.low,
            high=interval.high,
            p_value=interval.p_value,
            verdict=verdict,
        )

    def _interval(self, result: MethodResult, metric: str) -> FoldDifference:
        """Return the mean difference of a method from the baseline, with interval and p-value.

        They come from the corrected t-test over folds or, with a test set, from bootstrap samples
        of its rows. All fields are NaN if no fold has a value of both methods.
        """
        baseline = self.results[0]
        baseline_values = baseline.values[metric]
        values = result.values[metric]
        is_defined = ~(np.isnan(baseline_values) | np.isnan(values))
        if not is_defined.any():
            return FoldDifference(
                difference=math.nan, low=math.nan, high=math.nan, p_value=math.nan, n_folds=0
            )
        # Bonferroni correction: each interval is wider, so that all contain the true difference
        # with the probability `confidence`.
        confidence = 1 - (1 - self.confidence) / max(1, len(self.results) - 1)
        if result.draws is not None and metric in result.draws:
            return _bootstrap_interval(baseline, result, metric=metric, confidence=confidence)
        return corrected_t_test(
            baseline_values[is_defined],
            values[is_defined],
            test_over_train=self.test_over_train,
            confidence=confidence,
        )


def compare(
    data: MultilabelDataset,
    classifiers: Sequence[Any] | Mapping[str, Any] = ("br", "rare"),
    resamplers: Sequence[Any] | Mapping[str, Any] = ("none",),
    *,
    folds: Any = DEFAULT_FOLDS,
    metrics: Sequence[str] = DEFAULT_METRICS,
    test: MultilabelDataset | None = None,
    confidence: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare all combinations of classifiers and resamplers on the same folds.

    The first combination is the baseline. Every other one is compared with it, fold by fold, and
    gets a verdict: better, worse, or no difference that these folds can show.

    Parameters
    ----------
    data : MultilabelDataset
        The data. It is split here, so that resamplers see training rows only.
    classifiers : sequence of estimators or str, or mapping
        As in `cross_validate`; a mapping names them.
    resamplers : sequence of resamplers, str or None, or mapping
        As in `cross_validate`; None or ``"none"`` leaves the training parts unchanged.
    folds : str, int, splitter, path or iterable of (train, test), default="2x5"
        How to split. A text or a number stands for iterative stratification, which assigns rows of
        rare labels to all folds.
    metrics : sequence of str
        The metrics; the first decides verdicts and the best. See `metric_names`.
    test : MultilabelDataset, optional
        Fit on ``data`` and evaluate on this data set instead of folds. The intervals then come from
        bootstrap samples of its rows.
    confidence : float, default=0.95
        Simultaneous confidence level: the probability that the intervals of all methods contain
        the true differences.
    random_state : None, int, Generator or RandomState
        The same seed gives the same comparison.
    n_jobs : int, optional
        Processes that share the folds.

    Returns
    -------
    Comparison
        See its ``verdicts()``, ``table``, ``best`` and ``gains(method)``.

    Notes
    -----
    Differences are taken on the same fold. Their intervals allow for the overlap of training parts
    (`scumble.evaluate.statistics.corrected_t_test`) and for the number of methods (Bonferroni). The
    mean of the best of several methods is too optimistic: ``optimism`` estimates by how much.

    Examples
    --------
    >>> import scumble
    >>> from scumble.evaluate import compare
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> comparison = compare(data, ["br", "rare"], folds="1x3", random_state=0)
    >>> comparison.best
    'rare'
    """
    run = ComparisonRun(
        data,
        classifiers=classifiers,
        resamplers=resamplers,
        folds=folds,
        metrics=metrics,
        test=test,
        confidence=confidence,
        random_state=random_state,
    )
    results = []
    for number, method in enumerate(run.methods, start=1):
        with progress_bar(f"Method {number} of {len(run.methods)}, {method.name}", None):
            results.append(run.cross_validate(method, n_jobs=n_jobs))
    return run.summarize(results)


class ComparisonRun:
    """The checked arguments of `compare`, with functions that run its methods on its folds.

    Attributes
    ----------
    methods : list of Method
        The methods; the first is the baseline.
    data : MultilabelDataset
        All rows; those of a test set, if there is one, come last.
    splits : list of (train, test)
        Indices of the training rows and of the test rows of each fold.
    metrics : tuple of str
        The metrics.
    confidence : float
        Simultaneous confidence level of the intervals of all methods.
    random_state : int
        The seed.
    has_test_set : bool
        Whether there is a test set instead of folds. Then metrics are also computed on bootstrap
        samples of its rows.
    """

    def __init__(
        self,
        data: MultilabelDataset,
        classifiers: Any,
        resamplers: Any,
        folds: Any,
        metrics: Sequence[str],
        test: MultilabelDataset | None,
        confidence: float,
        random_state: Any,
    ) -> None:
        cross_validation.check_dataset(data, caller="compare")
        _check_metrics(metrics)
        Real(0, 1, closed="neither").check(confidence, name="confidence", caller="compare")
        self.metrics = tuple(metrics)
        self.confidence = confidence
        self.methods = pair_methods(classifiers, resamplers)
        self.random_state = cross_validation.resolve_seed(random_state, caller="compare")
        if test is None and isinstance(folds, str | int):
            folds = make_splitter(folds, "iterative")
        self.data, self.splits = cross_validation.split_data(
            data, splitter=folds, test=test, seed=self.random_state, caller="compare"
        )
        self.has_test_set = test is not None

    def cross_validate(
        self, method: Method, *, n_jobs: int | None = None
    ) -> list[MethodFoldResult]:
        """Return the results of a method on all folds, in order."""
        cross_validated = cross_validate(
            self.data,
            method.classifier,
            method.resampler,
            splitter=self.splits,
            keep_predictions=self.has_test_set,
            random_state=self.random_state,
            n_jobs=n_jobs,
        )
        return [self._summarize_fold(fold) for fold in cross_validated.folds]

    def cross_validate_fold(self, method_index: int, fold: int) -> MethodFoldResult:
        """Return the result of one method on one fold, both given by their indices.

        It equals that of `cross_validate` on this fold.
        """
        runner = FoldRunner(
            data=self.data,
            classifier=self.methods[method_index].classifier,
            resampler=self.methods[method_index].resampler,
            seed=self.random_state,
            options={"groups": dict.fromkeys(GROUPS)},
            keep_predictions=self.has_test_set,
        )
        return self._summarize_fold(runner.run_split(fold, self.splits[fold]))

    def summarize(self, results: Sequence[Sequence[MethodFoldResult]]) -> Comparison:
        """Return the comparison from the results of all methods.

        ``results`` has one sequence per method, in the order of ``methods``, with one result per
        fold.
        """
        combined = [
            MethodResult.from_folds(method.name, folds, self.metrics)
            for method, folds in zip(self.methods, results, strict=True)
        ]
        ratios = [len(test) / len(train) for train, test in self.splits]
        return Comparison(
            data=self.data.name,
            labels=self.data.labels,
            results=tuple(combined),
            metrics=self.metrics,
            test_over_train=float(np.mean(ratios)),
            random_state=self.random_state,
            confidence=self.confidence,
        )

    def _summarize_fold(self, fold: FoldResult) -> MethodFoldResult:
        """Return what a comparison needs of the result of a fold.

        With a test set, this includes metrics on bootstrap samples of its rows.
        """
        counts = LabelCounts.of(fold.evaluation)
        return MethodFoldResult(
            values=dict(fold.evaluation),
            counts=counts,
            seconds=sum(fold.seconds.values()),
            draws=self._bootstrap_metrics(fold, counts) if self.has_test_set else None,
        )

    def _bootstrap_metrics(self, fold: FoldResult, counts: LabelCounts) -> dict[str, Array]:
        """Return the metrics of predicted labels on `N_DRAWS` bootstrap samples of the test rows.

        The dict has an array with a value per sample for each metric of the comparison that is
        computed from the counts of labels; other metrics are left out.
        """
        _, test_indices = self.splits[fold.fold]
        Y_true = self.data.Y[test_indices]
        true_positive_matrix = sparse.csr_array(Y_true.multiply(fold.predictions), dtype=np.float64)
        predicted_matrix = sparse.csr_array(fold.predictions, dtype=np.float64)
        true_matrix = sparse.csr_array(Y_true, dtype=np.float64)
        n_rows = Y_true.shape[0]
        generator = np.random.default_rng(self.random_state)
        metrics_by_sample = []
        for _ in range(N_DRAWS):
            row_indices = generator.integers(n_rows, size=n_rows)
            n_times_drawn = np.bincount(row_indices, minlength=n_rows).astype(np.float64)
            sample_counts = replace(
                counts,
                true_positives=(n_times_drawn @ true_positive_matrix).astype(np.int64),
                predicted=(n_times_drawn @ predicted_matrix).astype(np.int64),
                true=(n_times_drawn @ true_matrix).astype(np.int64),
            )
            metrics_by_sample.append(pooled_metrics([sample_counts]))
        available = [metric for metric in self.metrics if metric in metrics_by_sample[0]]
        return {
            metric: np.array([values[metric] for values in metrics_by_sample])
            for metric in available
        }


def pair_methods(classifiers: Any, resamplers: Any) -> list[Method]:
    """Return all pairs of a classifier and a resampler, those of the first resampler first.

    Both arguments are sequences, or mappings from names; see `compare`. The name of a method is
    that of the classifier, with "after" and that of the resampler if there is one.
    """
    named_classifiers = _name_estimators(classifiers, parameter="classifiers")
    named_resamplers = _name_estimators(resamplers, parameter="resamplers")
    methods = []
    for resampler_name, resampler in named_resamplers.items():
        for classifier_name, classifier in named_classifiers.items():
            name = classifier_name
            if resampler is not None:
                name = f"{classifier_name} after {resampler_name}"
            methods.append(Method(name, classifier, resampler))
    return methods


def _name_estimators(estimators: Any, *, parameter: str) -> dict[str, Any]:
    """Return classifiers or resamplers by name: the key in a mapping, else the string or the repr.

    The string "none" becomes None. ``parameter`` names the argument in error messages, for empty
    collections and for equal names.
    """
    is_collection = isinstance(estimators, Sequence | Mapping) and not isinstance(estimators, str)
    if not is_collection or not estimators:
        requirement = "be a list with at least one entry, or a mapping from names to estimators"
        raise parameter_error(parameter, "compare", requirement, estimators)
    if isinstance(estimators, Mapping):
        named = [(str(name), entry) for name, entry in estimators.items()]
    else:
        named = [(entry if isinstance(entry, str) else repr(entry), entry) for entry in estimators]
    duplicate = first_duplicate([name for name, _ in named])
    if duplicate is not None:
        raise ParameterError(
            f"compare: {duplicate!r} occurs twice among the {parameter}. Give a mapping from names "
            "to estimators, so that their names differ."
        )
    return {name: None if entry == "none" else entry for name, entry in named}


def _check_metrics(metrics: Sequence[str]) -> None:
    """Raise a ParameterError for no metrics, unknown ones, and those without a value per fold.

    The latter are pooled metrics, which are computed from counts added up over the folds.
    """
    if not metrics:
        raise ParameterError("compare needs at least one metric. Got none.")
    for metric in metrics:
        find_metric(metric, groups=GROUPS)
        if metric.startswith(POOLED_PREFIX):
            raise ParameterError(
                f"compare evaluates every fold, and {metric!r} is one value of all folds. Expected "
                f"for example {metric.removeprefix(POOLED_PREFIX)!r}."
            )


def _bootstrap_interval(
    baseline: MethodResult, result: MethodResult, *, metric: str, confidence: float
) -> FoldDifference:
    """Return the difference of a method from the baseline on a test set, with its interval.

    The interval and the two-sided p-value come from the differences on bootstrap samples of the
    test rows (percentile method); samples with NaN are left out. If all are, the interval is
    infinite.
    """
    differences = (result.draws or {})[metric] - (baseline.draws or {})[metric]
    differences = differences[~np.isnan(differences)]
    difference = float(result.values[metric][0] - baseline.values[metric][0])
    if not len(differences):
        return FoldDifference(
            difference=difference, low=-math.inf, high=math.inf, p_value=math.nan, n_folds=1
        )
    low, high = np.quantile(differences, [(1 - confidence) / 2, (1 + confidence) / 2])
    # Adding 1 keeps the p-value above 0: so few samples cannot show that something is impossible.
    n_in_smaller_tail = min((differences <= 0).sum(), (differences >= 0).sum())
    tail = (n_in_smaller_tail + 1) / (len(differences) + 1)
    p_value = min(1.0, 2 * float(tail))
    return FoldDifference(
        difference=difference, low=float(low), high=float(high), p_value=p_value, n_folds=1
    )
