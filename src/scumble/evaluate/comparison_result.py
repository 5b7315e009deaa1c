"""The results of a comparison: values of every method, differences from the baseline, verdicts.

The *baseline* is the first method; all others are compared with it. The *verdict* on a method is
that it is better, worse, or that the folds show no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError
from scumble._core.table_repr import RecordList, TableReprMixin, TableView
from scumble.evaluate.metrics.counts import UndefinedPolicy
from scumble.evaluate.metrics.label_groups import metric_sign, metric_title
from scumble.evaluate.model_selection.folds import LabelCounts, label_table
from scumble.evaluate.statistics import FoldDifference, corrected_t_test
from scumble.measures.summary import to_json_value

#: Number of bootstrap samples of folds or test rows: enough that about 12 values lie beyond each
#: end of a 95 % interval.
N_DRAWS = 500
# Verdicts.
BETTER = "better"
WORSE = "worse"
INCONCLUSIVE = "no difference that these folds can show"


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
        values = {}
        for metric in metrics:
            if any(metric not in fold.values for fold in folds):
                raise DataError(
                    f"compare: {name} has no value of {metric}. Expected a classifier with scores "
                    "if the metric evaluates scores, and a store whose folds were evaluated after "
                    "the metric was registered."
                )
            values[metric] = np.array([fold.values[metric] for fold in folds])
        return cls(
            name=name,
            values=values,
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
        """Name of the method with the best mean of the first metric.

        It is the first method, the baseline, if all means are NaN.
        """
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


def _bootstrap_interval(
    baseline: MethodResult, result: MethodResult, *, metric: str, confidence: float
) -> FoldDifference:
    """Return the difference of a method from the baseline on a test set, with its interval.

    The interval and the two-sided p-value come from the differences on bootstrap samples of the
    test rows (percentile method); samples with NaN are left out. If all are, the interval is
    infinite and the p-value NaN.
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
