"""Several methods on the same folds: what is better, what is worse, and what cannot be told."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product, starmap
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
from scumble.evaluate import cross_validation
from scumble.evaluate.counts import UndefinedPolicy
from scumble.evaluate.cross_validation import FoldResult, FoldRunner, cross_validate
from scumble.evaluate.folds import LabelCounts, label_table, pooled_metrics
from scumble.evaluate.groups import GROUPS, POOLED_PREFIX, find_metric, metric_sign, metric_title
from scumble.evaluate.splitters import make_splitter
from scumble.evaluate.statistics import FoldDifference, corrected_t_test
from scumble.measures.summary import to_json_value

#: Name, classifier and resampler.
Method = tuple[str, Any, Any]

#: What is compared unless something else is asked for; the first one decides.
DEFAULT_METRICS = ("all.macro_f1", "minority.macro_f1", "micro_f1")
#: How the rows are dealt unless something else is asked for: rare labels on all sides.
DEFAULT_FOLDS = "2x5"
#: Means of the best of many methods flatter it; this many draws of the folds tell how much.
_DRAWS = 500
BETTER, WORSE, INCONCLUSIVE = "better", "worse", "no difference that these folds can show"


class MethodFoldResult(NamedTuple):
    """One method on one fold: every metric, what the labels say, seconds, and drawn rows."""

    values: Mapping[str, float]
    counts: LabelCounts
    seconds: float
    draws: Mapping[str, Array] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class MethodResult(TableReprMixin):
    """One method on all folds.

    Attributes
    ----------
    name : str
        The classifier, and the resampling before it.
    values : mapping of str to ndarray of shape (n_folds,)
        Each metric on each fold.
    counts : tuple of LabelCounts
        Hits and misses of every label, fold by fold.
    seconds : float
        Mean time of a fold.
    draws : mapping of str to ndarray, or None
        With a test part instead of folds: each metric on rows drawn from it with repetition, the
        same rows for all methods.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> found = scumble.evaluate.compare(data, ["br", "ridge"], folds="1x3", random_state=0)
    >>> [(trial.name, trial.values["all.macro_f1"].shape) for trial in found.results]
    [('br', (3,)), ('ridge', (3,))]
    """

    name: str
    values: Mapping[str, Array]
    counts: tuple[LabelCounts, ...]
    seconds: float
    draws: Mapping[str, Array] | None = None

    @classmethod
    def of(
        cls, name: str, folds: Sequence[MethodFoldResult], metrics: Iterable[str]
    ) -> MethodResult:
        """Put the folds of a method together."""
        values = {metric: np.array([fold.values[metric] for fold in folds]) for metric in metrics}
        seconds = float(np.mean([fold.seconds for fold in folds]))
        return cls(name, values, tuple(f.counts for f in folds), seconds, folds[0].draws)


@dataclass(frozen=True)
class Difference(TableReprMixin):
    """One method beside the baseline, by one metric.

    Attributes
    ----------
    method, metric : str
        The method and the metric.
    mean, baseline : float
        Means over the folds of both.
    difference, low, high : float
        Mean difference, and an interval for it that holds for all methods at once.
    p_value : float
        Of the paired test, before any correction for many methods.
    verdict : str
        ``"better"``, ``"worse"``, or ``"no difference that these folds can show"``.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> found = scumble.evaluate.compare(data, ["br", "ridge"], folds="1x3", random_state=0)
    >>> one = found.table[0]
    >>> one.method, one.low < one.difference < one.high
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
        """Say it in one plain sentence."""
        metric = metric_title(self.metric)
        what = f"{metric} {self.mean:.3f} instead of {self.baseline:.3f}"
        if math.isnan(self.difference):
            return f"{self.method}: cannot be judged, {metric} has no value."
        if not math.isfinite(self.low):
            return f"{self.method}: {what}; a single fold does not tell how much of it is chance."
        between = f"a change between {self.low:+.3f} and {self.high:+.3f}"
        return f"{self.method}: {self.verdict} ({what}; {between})."


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(TableReprMixin):
    """Methods on the same folds, each against the first.

    Attributes
    ----------
    data : str
        Name of the data set.
    labels : tuple of str
        Its labels.
    trials : tuple of Trial
        The methods; the first is the baseline.
    metrics : tuple of str
        What they are judged by; the first one decides.
    test_over_train : float
        Test rows over training rows of a fold.
    random_state : int
        Give it again to get the same.
    confidence : float
        Share of comparisons in which all intervals of a metric hold.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> found = scumble.evaluate.compare(data, ["br", "ridge"], folds="1x3", random_state=0)
    >>> [trial.name for trial in found.results], found.metrics[0]
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
        """Name of the method the others are held against."""
        return self.results[0].name

    @cached_property
    def table(self) -> RecordList[Difference]:
        """Every method but the baseline, by every metric."""
        rows = starmap(self._difference, product(self.results[1:], self.metrics))
        return RecordList(rows, f"differences from {self.baseline}")

    def verdicts(self) -> list[str]:
        """Say of every method in one sentence what the first metric tells."""
        return [one.sentence() for one in self.table if one.metric == self.metrics[0]]

    @cached_property
    def best(self) -> str:
        """Name of the method with the best mean of the first metric."""
        first, sign = self.metrics[0], metric_sign(self.metrics[0])
        means = [self._mean(trial, first) * sign for trial in self.results]
        best = int(np.nanargmax(means)) if np.isfinite(means).any() else 0
        return self.results[best].name

    @cached_property
    def optimism(self) -> float:
        """How much the best mean flatters, since it was picked as the best of many.

        Folds are drawn with repetition, the best method on them is judged on the folds that were
        not drawn; the optimism is how much less that is than the best mean of all.
        """
        values = np.stack([trial.values[self.metrics[0]] for trial in self.results])
        values = values[:, ~np.isnan(values).any(axis=0)] * metric_sign(self.metrics[0])
        n_folds = values.shape[1]
        if len(values) < 2 or n_folds < 3:
            return math.nan
        generator = np.random.default_rng(self.random_state)
        drawn = generator.integers(n_folds, size=(_DRAWS, n_folds))
        times = np.stack([np.bincount(one, minlength=n_folds) for one in drawn])
        left = (times == 0).astype(float)
        kept = left.sum(axis=1) > 0
        times, left = times[kept], left[kept]
        winners = (values @ times.T).argmax(axis=0)
        judged = ((values @ left.T) / left.sum(axis=1))[winners, np.arange(len(winners))]
        return max(0.0, float(values.mean(axis=1).max() - judged.mean()))

    def gains(self, method: str) -> RecordList[dict[str, Any]]:
        """Tell what each label gains by a method over the baseline.

        Parameters
        ----------
        method : str
            Name of a trial.

        Returns
        -------
        list of dict
            One per label: ``name``, ``training_positives``, ``before`` and ``after`` (its F1, by
            counts added up over the folds, 0 where it is undefined), and ``gain``; the largest
            gain first.
        """
        both = (self.results[0], self._trial(method))
        tables = [label_table(trial.counts, self.labels) for trial in both]
        told = ("name", "training_positives")
        rows = [
            {key: one[key] for key in told} | {"before": old, "after": new, "gain": new - old}
            for one, other in zip(*tables, strict=True)
            if one["test_positives"]
            for old, new in [np.nan_to_num([one["f1"], other["f1"]]).tolist()]
        ]
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
                "name": trial.name,
                "seconds": trial.seconds,
                "means": {
                    metric: to_json_value(self._mean(trial, metric)) for metric in self.metrics
                },
                "folds": {m: to_json_value(trial.values[m].tolist()) for m in self.metrics},
            }
            for trial in self.results
        ]
        return {
            "data": self.data,
            "random_state": self.random_state,
            "baseline": self.baseline,
            "metrics": list(self.metrics),
            "methods": methods,
            "differences": [to_json_value(vars(one)) for one in self.table],
            "verdicts": self.verdicts(),
            "best": self.best,
            "optimism": to_json_value(self.optimism),
            "gains": self.gains(self.best),
        }

    def _repr_title(self) -> str:
        n_folds = len(self.results[0].counts)
        folds = f"{n_folds} folds" if n_folds > 1 else "a test part"
        n = len(self.results)
        return f"Comparison: {n} methods on {folds} of {self.data!r}, against {self.baseline}"

    def _repr_table(self) -> TableView:
        rows = [
            (trial.name, *(self._mean(trial, metric) for metric in self.metrics), trial.seconds)
            for trial in self.results
        ]
        head = ("method", *self.metrics, "seconds")
        return TableView(head, rows, len(rows), self.verdicts())

    def _trial(self, name: str) -> MethodResult:
        known = {trial.name: trial for trial in self.results}
        if name in known:
            return known[name]
        raise ParameterError(
            f"There is no method {name!r} in this comparison. There are: {', '.join(known)}."
        )

    def _difference(self, trial: MethodResult, metric: str) -> Difference:
        found, sign = self._interval(trial, metric), metric_sign(metric)
        low, high = sorted((found.low * sign, found.high * sign))
        verdict = BETTER if low > 0 else WORSE if high < 0 else INCONCLUSIVE
        means = self._mean(trial, metric), self._mean(self.results[0], metric)
        numbers = (found.difference, found.low, found.high, found.p_value)
        return Difference(trial.name, metric, *means, *numbers, verdict)

    def _interval(self, trial: MethodResult, metric: str) -> FoldDifference:
        theirs, ours = self.results[0].values[metric], trial.values[metric]
        known = ~(np.isnan(theirs) | np.isnan(ours))
        if not known.any():
            return FoldDifference(math.nan, math.nan, math.nan, math.nan, 0)
        # As many intervals as methods, and all of them shall hold: each has its part of the risk.
        confidence = 1 - (1 - self.confidence) / max(1, len(self.results) - 1)
        if trial.draws is not None and metric in trial.draws:
            return _by_draws(self.results[0], trial, metric, confidence)
        rules = {"test_over_train": self.test_over_train, "confidence": confidence}
        return corrected_t_test(theirs[known], ours[known], **rules)

    def _mean(self, trial: MethodResult, metric: str) -> float:
        return UndefinedPolicy("ignore").mean(trial.values[metric])


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
    """Judge all combinations of classifiers and resamplers on the same folds.

    The first combination is the baseline: every other is held against it, fold by fold, and gets
    a verdict: better, worse, or no difference that these folds can show.

    Parameters
    ----------
    data : MultilabelDataset
        The data; split here, so that resamplers see training rows only.
    classifiers : sequence of estimators or str, or mapping
        As in `cross_validate`; a mapping names them.
    resamplers : sequence of resamplers, str or None, or mapping
        As in `cross_validate`; None or ``"none"`` leaves the training parts as they are.
    folds : str, int, splitter, path or iterable of (train, test), default="2x5"
        How to split. A text or a number is dealt by iterative stratification, which brings rare
        labels to all sides.
    metrics : sequence of str
        What to judge by; the first decides verdicts and the best. See `metric_names`.
    test : MultilabelDataset, optional
        Learn from ``data`` and judge on this instead of folds. Intervals then come from rows drawn
        from it with repetition.
    confidence : float, default=0.95
        Share of comparisons in which the intervals of all methods hold.
    random_state : None, int, Generator or RandomState
        One seed, one answer.
    n_jobs : int, optional
        Processes that share the folds.

    Returns
    -------
    Comparison
        See its ``verdicts()``, ``table``, ``best`` and ``gains(method)``.

    Notes
    -----
    Differences are those of the same fold, and their intervals allow for training parts that
    overlap (`scumble.evaluate.statistics.corrected_t_test`) and for the number of methods (each
    interval takes an equal part of the risk). The best of many methods looks better than it is:
    ``optimism`` tells by how much.

    Examples
    --------
    >>> import scumble
    >>> from scumble.evaluate import compare
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> found = compare(data, ["br", "rare"], folds="1x3", random_state=0)
    >>> found.best
    'rare'
    """
    rules = (metrics, test, confidence, random_state)
    match = ComparisonRun(data, classifiers, resamplers, folds, *rules)
    trials = []
    for at, (name, _, _) in enumerate(match.methods):
        with progress_bar(f"Method {at + 1} of {len(match.methods)}, {name}", None):
            trials.append(match.cross_validate(at, n_jobs=n_jobs))
    return match.summarize(trials)


class ComparisonRun:
    """Methods and the parts of the data they meet on, made of what `compare` was given."""

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
        _check_metrics(metrics, confidence)
        self.metrics, self.confidence = tuple(metrics), confidence
        # Name, classifier and resampler of each; the first is the baseline.
        self.methods = _methods(classifiers, resamplers)
        self.random_state = seed = cross_validation.resolve_seed(random_state, caller="compare")
        if test is None and isinstance(folds, str | int):
            folds = make_splitter(folds, "iterative")
        # All rows, those of a test part last; then training and test rows of every fold.
        found = cross_validation.split_data(data, folds, test, seed, caller="compare")
        self.data, self.splits = found
        # Whether chance is that of drawn test rows, since there is one test part instead of folds.
        self.draws = test is not None

    def cross_validate(self, at: int, *, n_jobs: int | None = None) -> list[MethodFoldResult]:
        """Judge a method on all folds."""
        rules: dict[str, Any] = {"splitter": self.splits, "keep": self.draws, "n_jobs": n_jobs}
        rules["random_state"] = self.random_state
        found = cross_validate(self.data, *self.methods[at][1:], **rules)
        return [self._keep(fold) for fold in found.folds]

    def cross_validate_fold(self, at: int, fold: int) -> MethodFoldResult:
        """Judge a method on one fold, the same as among all folds."""
        _, classifier, resampler = self.methods[at]
        rules = (self.random_state, {"groups": dict.fromkeys(GROUPS)}, self.draws)
        judge = FoldRunner(self.data, classifier, resampler, *rules)
        return self._keep(judge.run_split(fold, self.splits[fold]))

    def summarize(self, folds: Sequence[Sequence[MethodFoldResult]]) -> Comparison:
        """Put all methods together, one sequence of folds each."""
        judged = zip((name for name, _, _ in self.methods), folds, strict=True)
        trials = tuple(MethodResult.of(name, found, self.metrics) for name, found in judged)
        share = float(np.mean([len(tested) / len(train) for train, tested in self.splits]))
        rules = (self.metrics, share, self.random_state, self.confidence)
        return Comparison(self.data.name, self.data.labels, trials, *rules)

    def _keep(self, fold: FoldResult) -> MethodFoldResult:
        counts = LabelCounts.of(fold.evaluation)
        draws = self._draw_rows(fold, counts) if self.draws else None
        return MethodFoldResult(dict(fold.evaluation), counts, sum(fold.seconds.values()), draws)

    def _draw_rows(self, fold: FoldResult, counts: LabelCounts) -> dict[str, Array]:
        """Draw test rows with repetition, and compute what counts of labels can tell."""
        truth = self.data.Y[self.splits[fold.fold][1]]
        parts = (truth.multiply(fold.predictions), fold.predictions, truth)
        tables = [sparse.csr_array(part, dtype=np.float64) for part in parts]
        n_rows = truth.shape[0]
        generator = np.random.default_rng(self.random_state)
        drawn = []
        for _ in range(_DRAWS):
            rows = generator.integers(n_rows, size=n_rows)
            times = np.bincount(rows, minlength=n_rows).astype(np.float64)
            hits, predicted, true = ((times @ table).astype(np.int64) for table in tables)
            drawn.append(
                pooled_metrics([replace(counts, hits=hits, predicted=predicted, true=true)])
            )
        told = [metric for metric in self.metrics if metric in drawn[0]]
        return {metric: np.array([one[metric] for one in drawn]) for metric in told}


def _check_metrics(metrics: Sequence[str], confidence: float) -> None:
    if not metrics:
        raise ParameterError("compare needs at least one metric. Got none.")
    Real(0, 1, closed="neither").check(confidence, name="confidence", caller="compare")
    for metric in metrics:
        if find_metric(metric, groups=GROUPS) and metric.startswith(POOLED_PREFIX):
            raise ParameterError(
                f"compare judges fold by fold, and {metric!r} is one value of all folds. Expected "
                f"for example {metric.removeprefix(POOLED_PREFIX)!r}."
            )


def _by_draws(
    baseline: MethodResult, trial: MethodResult, metric: str, confidence: float
) -> FoldDifference:
    """Take the interval of a difference from its values on drawn rows."""
    drawn = (trial.draws or {})[metric] - (baseline.draws or {})[metric]
    drawn = drawn[~np.isnan(drawn)]
    difference = float(trial.values[metric][0] - baseline.values[metric][0])
    if not len(drawn):
        return FoldDifference(difference, -math.inf, math.inf, math.nan, 1)
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    # One more than was seen: so many draws cannot tell that something never happens.
    tail = (min((drawn <= 0).sum(), (drawn >= 0).sum()) + 1) / (len(drawn) + 1)
    return FoldDifference(difference, float(low), float(high), min(1.0, 2 * float(tail)), 1)


def _methods(classifiers: Any, resamplers: Any) -> list[Method]:
    """Name all combinations; those of the first resampler come first."""
    learners = _named(classifiers, "classifiers")
    treatments = _named(resamplers, "resamplers")
    return [
        (f"{learner} after {treatment}" if step is not None else learner, model, step)
        for treatment, step in treatments.items()
        for learner, model in learners.items()
    ]


def _named(given: Any, parameter: str) -> dict[str, Any]:
    """Name classifiers or resamplers as they were given, or as they print themselves."""
    if isinstance(given, str) or not isinstance(given, Sequence | Mapping) or not given:
        must = "be a list with at least one entry, or a mapping from names to estimators"
        raise parameter_error(parameter, "compare", must, given)
    if isinstance(given, Mapping):
        found = [(str(name), entry) for name, entry in given.items()]
    else:
        found = [(entry if isinstance(entry, str) else repr(entry), entry) for entry in given]
    if (twice := first_duplicate([name for name, _ in found])) is not None:
        raise ParameterError(
            f"compare: {twice!r} stands twice among the {parameter}. Give a mapping from names to "
            "estimators, so that they can be told apart."
        )
    return {name: None if entry == "none" else entry for name, entry in found}
