"""Train, predict and judge on folds; only training parts ever meet a resampler."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError, ParameterTypeError
from scumble._core.parallel import limit_threads, thread_count
from scumble._core.parameters import as_generator
from scumble._core.processes import PeakMemory
from scumble._core.progress import progress_bar
from scumble._core.provenance import warn_if_resampled
from scumble._core.table_repr import TableReprMixin, TableView
from scumble.data import MultilabelDataset
from scumble.evaluate.counts import UndefinedPolicy
from scumble.evaluate.evaluation import KEY_METRICS, Evaluation, key_metrics_text, metrics_table
from scumble.evaluate.folds import STEPS, LabelCounts, label_table, pooled_metrics, run_fold
from scumble.evaluate.groups import GROUPS, POOLED_PREFIX, check_groups, group_masks
from scumble.evaluate.splitters import BaseSplitter, RepeatedKFold, make_splitter
from scumble.evaluate.train_test import append_test_set
from scumble.learn import make_classifier
from scumble.learn.inner_classifier import set_random_states, unset_random_states
from scumble.measures.summary import characterize, to_json_value
from scumble.resample import make_chain

Split = tuple[Array, Array]
#: What is told of a training part before and after resampling.
MEASURES = ("n_instances", "mean_ir", "max_ir", "cvir", "scumble")


class MetricSummary(NamedTuple):
    """The values of one metric on all folds.

    Attributes
    ----------
    mean : float
        Their mean; NaN where one of them is, as in MULAN. For a group of labels the folds are
        left out on which it has no label to judge.
    sd : float
        Their sample standard deviation (divided by folds less one).
    values : ndarray
        One value per fold.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> found = scumble.evaluate.cross_validate(data, "br", splitter="1x3", random_state=0)
    >>> found["f1"].values.shape, bool(found["f1"].mean == found["f1"].values.mean())
    ((3,), True)
    """

    mean: float
    sd: float
    values: Array


@dataclass(frozen=True, eq=False, repr=False)
class FoldResult(TableReprMixin):
    """What happened on one fold.

    Attributes
    ----------
    fold : int
        Its number, over all repetitions.
    evaluation : Evaluation
        All metrics, and the values of every label.
    seconds : dict of str to float
        Wall time of ``resample``, ``fit`` and ``predict``.
    peak_memory : int
        The most bytes the process held while the fold ran.
    n_train, n_test : int
        Rows trained on, after resampling, and tested.
    before, after : dict of str to float, or None
        Measures of the training part before and after resampling; None without a resampler.
    predictions : csr_array of bool, or None
        What was predicted for the test rows; None unless it was asked for.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> found = scumble.evaluate.cross_validate(data, "br", splitter="1x3", random_state=0)
    >>> fold = found.folds[0]
    >>> fold.n_train, fold.n_test, sorted(fold.seconds)
    (60, 30, ['fit', 'predict', 'resample'])
    """

    fold: int
    evaluation: Evaluation
    seconds: dict[str, float]
    peak_memory: int
    n_train: int
    n_test: int
    before: dict[str, float] | None = None
    after: dict[str, float] | None = None
    predictions: Any = None


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(TableReprMixin, Mapping[str, MetricSummary]):
    """Every metric by name, with its mean, standard deviation and values on all folds.

    Attributes
    ----------
    folds : tuple of FoldResult
        One per fold, in the order of the splitter.
    random_state : int
        The seed everything was drawn from; give it again to get the same.
    name : str
        Name of the data set.
    labels : tuple of str
        Names of its labels.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> found = scumble.evaluate.cross_validate(data, "br", splitter="1x3", random_state=0)
    >>> len(found.folds), "macro_f1" in found, found.random_state
    (3, True, 0)
    """

    folds: tuple[FoldResult, ...]
    random_state: int
    name: str = ""
    labels: tuple[str, ...] = ()

    def __getitem__(self, metric: str) -> MetricSummary:
        if metric.startswith(POOLED_PREFIX):
            value = self.pooled[metric.removeprefix(POOLED_PREFIX)]
            return MetricSummary(value, math.nan, np.array([value]))
        values = np.array([fold.evaluation[metric] for fold in self.folds])
        known = values[~np.isnan(values)] if "." in metric else values
        mean = float(known.mean()) if len(known) else math.nan
        sd = float(known.std(ddof=1)) if len(known) > 1 else math.nan
        return MetricSummary(mean, sd, values)

    def __iter__(self) -> Iterator[str]:
        return iter(self.folds[0].evaluation)

    def __len__(self) -> int:
        return len(self.folds[0].evaluation)

    def by_label(self, metric: str) -> Array:
        """Return the values of every label on every fold.

        Parameters
        ----------
        metric : str
            A key of `Evaluation.by_label`, such as ``"f1"``.

        Returns
        -------
        ndarray of shape (n_folds, n_labels)
            The values.
        """
        return np.stack([fold.evaluation.by_label[metric] for fold in self.folds])

    @cached_property
    def pooled(self) -> dict[str, float]:
        """Metrics of predicted labels from counts added up over all folds.

        ``pooled["macro_f1"]``, ``pooled["minority.macro_f1"]``, ...; see
        `scumble.evaluate.folds.pooled_metrics` for the rule. ``self["pooled.macro_f1"]`` is the same.
        """
        return pooled_metrics(self.label_counts)

    def label_table(self) -> list[dict[str, Any]]:
        """Tell for every label what all folds together say of it.

        Returns
        -------
        list of dict
            One per label: ``name``; ``training_positives``, the mean over folds;
            ``test_positives``, ``true_positives``, ``false_positives``, ``false_negatives``,
            summed over folds; ``precision``, ``recall`` and ``f1`` of these sums, NaN for 0/0; and
            for each group the number of folds on which the label belongs to it.
        """
        return label_table(self.label_counts, self.labels)

    @property
    def label_counts(self) -> list[LabelCounts]:
        """Hits and misses of every label, one entry per fold."""
        return [LabelCounts.of(fold.evaluation) for fold in self.folds]

    @property
    def seconds(self) -> dict[str, float]:
        """Mean wall time of a fold's steps."""
        return {step: float(np.mean([f.seconds[step] for f in self.folds])) for step in STEPS}

    @property
    def peak_memory(self) -> int:
        """The most bytes a process held on any fold."""
        return max(fold.peak_memory for fold in self.folds)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; NaN becomes None.

        Returns
        -------
        dict
            ``metrics`` (mean, sd, folds), ``pooled``, ``seconds``, ``peak_memory``,
            ``random_state`` and ``folds`` (sizes, seconds, measures before and after).
        """
        spreads = {
            name: {
                "mean": to_json_value(one.mean),
                "sd": to_json_value(one.sd),
                "folds": to_json_value([*one.values]),
            }
            for name, one in self.items()
        }
        told = ("fold", "n_train", "n_test", "seconds", "peak_memory", "before", "after")
        return {
            "name": self.name,
            "random_state": self.random_state,
            "metrics": spreads,
            "pooled": to_json_value(self.pooled),
            "seconds": self.seconds,
            "peak_memory": self.peak_memory,
            "folds": [
                {name: to_json_value(getattr(fold, name)) for name in told} for fold in self.folds
            ],
        }

    def _repr_title(self) -> str:
        means = {name: self[name].mean for name in KEY_METRICS if name in self}
        n_folds = len(self.folds)
        judged = f"{n_folds} folds" if n_folds > 1 else "a test part"
        return f"CrossValidation of {self.name!r}: {judged}{key_metrics_text(means)}"

    def _repr_table(self) -> TableView:
        told = {name: (spread.mean, spread.sd) for name, spread in self.items()}
        return metrics_table(told, ("mean", "sd"), self.folds[0].evaluation.groups)


def cross_validate(
    data: MultilabelDataset,
    classifier: Any,
    resampler: Any = None,
    *,
    splitter: Any = None,
    test: MultilabelDataset | None = None,
    undefined: Any = "mulan",
    ties: str = "mulan",
    groups: Any = GROUPS,
    keep: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Judge a classifier on folds, with or without resampling of the training parts.

    The data goes in whole and is split here: a resampler sees training rows only, and no copy of
    a test row can reach a classifier.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    classifier : estimator or str
        One of `scumble.learn`, its name (``"ecc"``), or any scikit-learn classifier that learns
        several labels.
    resampler : resampler, str or sequence of resamplers, optional
        One of `scumble.resample`, names (``"remedial+mlsmote"``), or anything with
        ``fit_resample(X, Y)`` that takes labels.
    splitter : splitter, str, int, path or iterable of (train, test), optional
        Default 2x5 folds. ``"2x5"`` and 10 (folds) are dealt by chance; a path names a file for
        `FixedFolds`.
    test : MultilabelDataset, optional
        Learn from ``data`` and judge on this, instead of folds: there is one fold then.
    undefined, ties : object
        See `evaluate`.
    groups : sequence of str, or mapping of str to labels, optional
        Groups of labels that are judged apart, computed from each training part before resampling;
        see `label_groups`. By default all that have a rule; None for none.
    keep : bool, default=False
        Whether folds keep the predicted labels of their test rows.
    random_state : None, int, Generator or RandomState
        Seeds the splitter, the resampler and the classifier of every fold, where they have a
        ``random_state`` that is None; each step of a chain of resamplers gets a seed of its own.
        One seed, one answer, for any number of jobs.
    n_jobs : int, optional
        Number of processes that share the folds. None runs one fold after another, each with all
        threads the classifier can use.

    Returns
    -------
    CrossValidation
        A mapping from metrics to `MetricSummary`; see also its ``pooled``, ``label_table()`` and
        ``folds``.

    See Also
    --------
    evaluate : The metrics.
    scumble.evaluate.scorer : The same metrics in scikit-learn's own cross-validation.

    Notes
    -----
    Nominal columns: where the classifier has ``categorical_features`` and it is None, it is set
    from the data. Instance weights are passed to classifiers that take ``sample_weight``.

    A metric of a group, such as ``minority.macro_f1``, is a mean over labels that occur in the test
    part and at least twice in the training part; its mean over folds leaves out folds without such
    labels. Pooled metrics add up counts over the folds first.

    Examples
    --------
    >>> import scumble
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> data = scumble.make_multilabel(200, 6, mean_ir=5, scumble=0.1, random_state=0)
    >>> found = scumble.evaluate.cross_validate(
    ...     data, KNeighborsClassifier(), "remedial", splitter="2x5", random_state=0
    ... )
    >>> len(found["macro_f1"].values), 0 < found["macro_f1"].mean < 1
    (10, True)
    >>> 0 <= found["minority.macro_f1"].mean < 1, 0 < found["pooled.macro_f1"].mean < 1
    (True, True)
    >>> found.folds[0].before["scumble"] > found.folds[0].after["scumble"]
    True

    With a test part there is one fold.

    >>> train, test = scumble.evaluate.train_test_split(data, random_state=0)
    >>> found = scumble.evaluate.cross_validate(train, "br", test=test, random_state=0)
    >>> len(found.folds), found.folds[0].n_train, found.folds[0].n_test
    (1, 150, 50)
    """
    check_dataset(data, caller="cross_validate")
    UndefinedPolicy(undefined, caller="cross_validate")
    wanted = check_groups(groups, caller="cross_validate")
    group_masks(wanted, data.n_labels, data.Y, data.labels)  # labels the data has not
    seed = resolve_seed(random_state, caller="cross_validate")
    if test is not None and splitter is not None:
        raise ParameterError("cross_validate takes a 'test' part or a 'splitter'. Got both.")
    warn_if_resampled(data if test is None else test, caller="cross_validate")
    data, splits = split_data(data, splitter, test, seed, caller="cross_validate")
    options = {"undefined": undefined, "ties": ties, "groups": wanted}
    judge = FoldRunner(data, classifier, resampler, seed, options, keep)
    folds: list[FoldResult] = []
    with progress_bar(f"Cross-validating on {data.name or 'the data'}", len(splits)) as advance:
        for fold in _run_all(judge, splits, n_jobs):
            folds.append(fold)
            advance(1)
    return CrossValidation(tuple(folds), seed, data.name, data.labels)


def check_dataset(data: Any, *, caller: str) -> None:
    """Refuse what is no data set."""
    if not isinstance(data, MultilabelDataset):
        raise ParameterTypeError(
            f"{caller} takes a MultilabelDataset, so that it can split and resample by "
            f"itself. Got {type(data).__name__} instead: make one of X and Y with "
            "MultilabelDataset(X, Y), or use scikit-learn's cross_validate with "
            "scumble.evaluate.scorer and a pipeline."
        )


def resolve_seed(random_state: Any, *, caller: str) -> int:
    """Turn any random_state into one number that can be told and used again."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ParameterError(f"random_state must not be negative. Got {random_state} instead.")
        return int(random_state)
    return int(as_generator(random_state, caller=caller).integers(2**31))


def split_data(
    data: MultilabelDataset, splitter: Any, test: Any, seed: int, *, caller: str
) -> tuple[MultilabelDataset, list[Split]]:
    """Deal the rows as a user has asked for, or append a test part to them."""
    if test is not None:
        both, split = append_test_set(data, test, caller=caller)
        return both, [split]
    if splitter is None:
        splitter = RepeatedKFold()
    elif isinstance(splitter, str | int) or hasattr(splitter, "__fspath__"):
        splitter = make_splitter(splitter)
    if isinstance(splitter, BaseSplitter) and getattr(splitter, "random_state", 0) is None:
        splitter = clone(splitter).set_params(random_state=seed)
    if not hasattr(splitter, "split") and not isinstance(splitter, Iterable):
        raise ParameterTypeError(
            f"The 'splitter' parameter of {caller} must be a splitter, '2x5', a number of "
            f"folds, a fold file, or pairs of row numbers. Got {splitter!r} instead."
        )
    found = list(splitter.split(data.X, data.Y) if hasattr(splitter, "split") else splitter)
    if not found:
        raise DataError(f"{caller}: the splitter gives no splits. Expected at least one.")
    return data, [_check_split(at, split, len(data)) for at, split in enumerate(found)]


def _check_split(at: int, split: Any, n_rows: int) -> Split:
    """Refuse parts that overlap: a classifier must not be tested on what it has seen."""
    try:
        train, test = map(np.asarray, split)
    except (TypeError, ValueError):
        raise DataError(
            f"cross_validate: split {at} must be a pair of row numbers, training rows and test "
            f"rows. Got {split!r} instead."
        ) from None
    for part, name in ((train, "training"), (test, "test")):
        is_rows = part.ndim == 1 and part.dtype.kind in "iu" and part.size
        if not is_rows or part.min() < 0 or part.max() >= n_rows:
            raise DataError(
                f"cross_validate: the {name} part of split {at} must be row numbers from 0 to "
                f"{n_rows - 1}, at least one. Got {part!r} instead."
            )
    if (shared := np.intersect1d(train, test)).size:
        raise DataError(
            f"cross_validate: split {at} has row {shared[0]} in both its training and its test "
            f"part ({shared.size} rows in all). What is tested must not be trained on."
        )
    return train, test


def resolve_resamplers(resampler: Any) -> list[Any]:
    """Make resamplers of what a user has asked for."""
    if resampler is None:
        return []
    if isinstance(resampler, str):
        return list(make_chain(resampler))
    steps = list(resampler) if isinstance(resampler, Sequence) else [resampler]
    for step in steps:
        if not hasattr(step, "fit_resample"):
            raise ParameterTypeError(
                "The 'resampler' parameter of cross_validate must be a resampler, names such as "
                f"'remedial+mlsmote', or a list of resamplers. Got {step!r} instead."
            )
    return steps


def resolve_classifier(classifier: Any) -> Any:
    """Make a classifier of what a user has asked for."""
    if isinstance(classifier, str):
        return make_classifier(classifier)
    if isinstance(classifier, type) or not hasattr(classifier, "fit"):
        raise ParameterTypeError(
            "The 'classifier' parameter of cross_validate must be an estimator or its name. "
            f"Got {classifier!r} instead."
        )
    return clone(classifier)


def _run_all(judge: FoldRunner, splits: list[Split], n_jobs: int | None) -> Iterator[FoldResult]:
    """Run the folds here or in processes, in order; threads are shared among the processes."""
    from joblib import Parallel, delayed, effective_n_jobs

    thread_count(n_jobs)  # refuses what is no number of jobs
    n_workers = min(effective_n_jobs(n_jobs), len(splits))
    if n_workers == 1:
        yield from itertools.starmap(judge.run_split, enumerate(splits))
        return
    threads = max(1, thread_count() // n_workers)
    run = Parallel(n_jobs=n_workers, return_as="generator")
    yield from run(delayed(judge.run_split)(*task, threads) for task in enumerate(splits))


@dataclass(eq=False)
class FoldRunner:
    """The classifier and resamplers that a user asked for, to be judged on parts of the data."""

    data: MultilabelDataset
    classifier: Any
    resampler: Any
    seed: int  # of all folds
    options: dict[str, Any]  # of `run_fold`
    keep: bool  # whether folds keep what was predicted

    def __post_init__(self) -> None:
        self.chain, self.model = (
            resolve_resamplers(self.resampler),
            resolve_classifier(self.classifier),
        )

    def run_split(self, at: int, split: Split, threads: int | None = None) -> FoldResult:
        """Judge on fold number ``at``; its seeds come from this number and the seed of all."""
        drawn = np.random.SeedSequence([self.seed, at]).generate_state(len(self.chain) + 2)
        first, own, *further = map(int, drawn)
        steps = _seed_chain(self.chain, [first, *further])
        (train, test), rules = split, {"random_state": own, **self.options}
        with limit_threads(threads), PeakMemory() as memory:
            fold = run_fold(self.data[train], self.data[test], self.model, steps, **rules)
            parts = (fold.training, fold.resampled)
            before, after = (_measure(part) if self.chain else None for part in parts)
        told = (fold.evaluation, fold.seconds, memory.peak)
        kept = fold.predictions if self.keep else None
        return FoldResult(at, *told, len(fold.resampled), len(test), before, after, kept)


def _seed_chain(chain: Sequence[Any], seeds: Iterable[int]) -> list[Any]:
    """Clone the steps and give a seed of its own to each that was left without one, in order."""
    steps = [clone(step) for step in chain]
    waiting = (s for s in steps if hasattr(s, "get_params") and unset_random_states(s))
    for step, seed in zip(waiting, seeds, strict=False):
        set_random_states(step, seed)
    return steps


def _measure(part: MultilabelDataset) -> dict[str, float]:
    summary = characterize(part.Y)
    return {name: getattr(summary, name) for name in MEASURES}
