"""Cross-validation: fit, predict and evaluate on folds, with resampling of training parts only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import clone

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError, ParameterTypeError
from scumble._core.parallel import limit_threads, thread_count
from scumble._core.parameters import as_generator
from scumble._core.processes import PeakMemory
from scumble._core.progress import progress_bar
from scumble._core.table_repr import TableReprMixin, TableView
from scumble._validation.provenance import warn_if_resampled
from scumble.data import MultilabelDataset
from scumble.evaluate.metrics.counts import UndefinedPolicy
from scumble.evaluate.metrics.evaluation import (
    KEY_METRICS,
    Evaluation,
    key_metrics_text,
    metrics_table,
)
from scumble.evaluate.metrics.label_groups import GROUPS, POOLED_PREFIX, check_groups, group_masks
from scumble.evaluate.model_selection.folds import (
    STEPS,
    FittedFold,
    LabelCounts,
    label_table,
    pooled_metrics,
    run_fold,
)
from scumble.evaluate.model_selection.splitters import BaseSplitter, RepeatedKFold, make_splitter
from scumble.evaluate.model_selection.train_test import append_test_set
from scumble.learn import make_classifier
from scumble.learn.inner_classifier import set_random_states, unset_random_states
from scumble.measures.summary import characterize, to_json_value
from scumble.resample import make_chain

Result = TypeVar("Result")
#: Indices of the training rows, and of the test rows.
Split = tuple[Array, Array]
#: Measures of a training part before and after resampling.
MEASURES = ("n_instances", "mean_ir", "max_ir", "cvir", "scumble")


class MetricSummary(NamedTuple):
    """The values of one metric on all folds.

    Attributes
    ----------
    mean : float
        Mean over folds; NaN if a value is NaN, as in MULAN. Metrics of a group of labels leave out
        the folds on which the group has no label to evaluate.
    sd : float
        Sample standard deviation (with the number of folds less one).
    values : ndarray
        One value per fold.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> result = scumble.evaluate.cross_validate(data, "br", splitter="1x3", random_state=0)
    >>> result["f1"].values.shape, bool(result["f1"].mean == result["f1"].values.mean())
    ((3,), True)
    """

    mean: float
    sd: float
    values: Array


@dataclass(frozen=True, eq=False, repr=False)
class FoldResult(TableReprMixin):
    """The result of one fold.

    Attributes
    ----------
    fold : int
        Index of the fold, over all repetitions.
    evaluation : Evaluation
        All metrics, and the values of every label.
    seconds : dict of str to float
        Wall time of ``resample``, ``fit`` and ``predict``.
    peak_memory : int
        Largest memory of the process during the fold, in bytes.
    n_train, n_test : int
        Training rows, after resampling, and test rows.
    before, after : dict of str to float, or None
        Measures of the training part before and after resampling; None without a resampler.
    predictions : csr_array of bool, or None
        The predicted labels of the test rows; None unless ``keep_predictions`` is set.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> result = scumble.evaluate.cross_validate(data, "br", splitter="1x3", random_state=0)
    >>> fold = result.folds[0]
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
    """A mapping from the names of metrics to their means, standard deviations and values on folds.

    Attributes
    ----------
    folds : tuple of FoldResult
        One per fold, in the order of the splitter.
    random_state : int
        The seed; the same seed gives the same result.
    name : str
        Name of the data set.
    labels : tuple of str
        Names of its labels.

    Examples
    --------
    >>> import scumble
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> result = scumble.evaluate.cross_validate(data, "br", splitter="1x3", random_state=0)
    >>> len(result.folds), "macro_f1" in result, result.random_state
    (3, True, 0)
    """

    folds: tuple[FoldResult, ...]
    random_state: int
    name: str = ""
    labels: tuple[str, ...] = ()

    def __getitem__(self, metric: str) -> MetricSummary:
        """Return mean, standard deviation and values of a metric.

        A pooled metric has one value for all folds. For metrics of a group of labels, folds with an
        undefined value are left out of mean and deviation.
        """
        if metric.startswith(POOLED_PREFIX):
            value = self.pooled[metric.removeprefix(POOLED_PREFIX)]
            return MetricSummary(mean=value, sd=math.nan, values=np.array([value]))
        values = np.array([fold.evaluation[metric] for fold in self.folds])
        averaged = values
        is_group_metric = "." in metric
        if is_group_metric:
            averaged = values[~np.isnan(values)]
        mean = float(averaged.mean()) if len(averaged) else math.nan
        sd = float(averaged.std(ddof=1)) if len(averaged) > 1 else math.nan
        return MetricSummary(mean=mean, sd=sd, values=values)

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
        """Pooled metrics by name: metrics of predicted labels from counts added up over all folds.

        ``pooled["macro_f1"]``, ``pooled["minority.macro_f1"]``, ...; see `pooled_metrics` in
        `scumble.evaluate.model_selection.folds` for the rule. ``self["pooled.macro_f1"]`` is the
        same value.
        """
        return pooled_metrics(self.label_counts)

    def label_table(self) -> list[dict[str, Any]]:
        """Return the counts and metrics of every label over all folds.

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
        """Counts of true and predicted rows of every label, one entry per fold."""
        return [LabelCounts.of(fold.evaluation) for fold in self.folds]

    @property
    def seconds(self) -> dict[str, float]:
        """Wall time of each step of a fold, in seconds, mean over the folds."""
        return {step: float(np.mean([fold.seconds[step] for fold in self.folds])) for step in STEPS}

    @property
    def peak_memory(self) -> int:
        """Largest memory of a process on any fold, in bytes."""
        return max(fold.peak_memory for fold in self.folds)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; NaN becomes None.

        Returns
        -------
        dict
            ``metrics`` (mean, sd, folds), ``pooled``, ``seconds``, ``peak_memory``,
            ``random_state`` and ``folds`` (sizes, seconds, measures before and after).
        """
        metrics = {
            name: {
                "mean": to_json_value(summary.mean),
                "sd": to_json_value(summary.sd),
                "folds": to_json_value([*summary.values]),
            }
            for name, summary in self.items()
        }
        folds = [
            {
                "fold": fold.fold,
                "n_train": fold.n_train,
                "n_test": fold.n_test,
                "seconds": to_json_value(fold.seconds),
                "peak_memory": fold.peak_memory,
                "before": to_json_value(fold.before),
                "after": to_json_value(fold.after),
            }
            for fold in self.folds
        ]
        return {
            "name": self.name,
            "random_state": self.random_state,
            "metrics": metrics,
            "pooled": to_json_value(self.pooled),
            "seconds": self.seconds,
            "peak_memory": self.peak_memory,
            "folds": folds,
        }

    def _repr_title(self) -> str:
        """Return the first line of the repr: data, number of folds and key metrics."""
        means = {name: self[name].mean for name in KEY_METRICS if name in self}
        n_folds = len(self.folds)
        folds = f"{n_folds} folds" if n_folds > 1 else "a test part"
        return f"CrossValidation of {self.name!r}: {folds}{key_metrics_text(means)}"

    def _repr_table(self) -> TableView:
        """Return the table of the repr: mean and standard deviation of each metric.

        Further columns have the mean of the metric for each group of labels.
        """
        means_and_sds = {name: (summary.mean, summary.sd) for name, summary in self.items()}
        groups = self.folds[0].evaluation.groups
        return metrics_table(means_and_sds, header=("mean", "sd"), groups=groups)


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
    keep_predictions: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Evaluate a classifier on folds, with or without resampling of the training parts.

    The data set is split here: a resampler sees training rows only, and no copy of a test row can
    reach a classifier.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    classifier : estimator or str
        One of `scumble.learn`, its name (``"ecc"``), or any scikit-learn classifier that supports
        multilabel targets.
    resampler : resampler, str or sequence of resamplers, optional
        One of `scumble.resample`, names (``"remedial+mlsmote"``), or anything with
        ``fit_resample(X, Y)`` that takes labels.
    splitter : splitter, str, int, path or iterable of (train, test), optional
        Default 2x5 folds. ``"2x5"`` and 10 (folds) are assigned at random; a path names a file for
        `FixedFolds`.
    test : MultilabelDataset, optional
        Fit on ``data`` and evaluate on this data set, instead of folds: there is one fold then.
    undefined : {"mulan", "ignore"} or number
        How 0/0 counts, such as the precision of a label that is never predicted; see `evaluate`.
    ties : {"mulan", "average", "worst"}
        How equal scores are ranked, see `evaluate`.
    groups : sequence of str, or mapping of str to labels, optional
        Groups of labels with metrics of their own, computed from each training part before
        resampling; see `label_groups`. By default all that have a rule; None for none.
    keep_predictions : bool, default=False
        Whether the result of each fold includes the predicted labels of its test rows.
    random_state : None, int, Generator or RandomState
        Seeds the splitter, the resampler and the classifier of every fold, if they have a
        ``random_state`` that is None; each step of a chain of resamplers gets a separate seed. The
        same seed gives the same result, for any number of jobs.
    n_jobs : int, optional
        Number of processes that share the folds. None runs one fold after another, each with all
        threads that the classifier can use.

    Returns
    -------
    CrossValidation
        A mapping from metrics to `MetricSummary`; see also its ``pooled``, ``label_table()`` and
        ``folds``.

    See Also
    --------
    evaluate : The metrics.
    scumble.evaluate.scorer : The same metrics in scikit-learn's cross-validation.

    Notes
    -----
    Nominal columns: if the classifier has ``categorical_features`` and it is None, it is set from
    the data. Instance weights are passed to classifiers that take ``sample_weight``.

    A metric of a group, such as ``minority.macro_f1``, is a mean over labels that occur in the test
    part and at least twice in the training part; its mean over folds leaves out folds without such
    labels. Pooled metrics add up counts over the folds first.

    Examples
    --------
    >>> import scumble
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> data = scumble.make_multilabel(200, 6, mean_ir=5, scumble=0.1, random_state=0)
    >>> result = scumble.evaluate.cross_validate(
    ...     data, KNeighborsClassifier(), "remedial", splitter="2x5", random_state=0
    ... )
    >>> len(result["macro_f1"].values), 0 < result["macro_f1"].mean < 1
    (10, True)
    >>> 0 <= result["minority.macro_f1"].mean < 1, 0 < result["pooled.macro_f1"].mean < 1
    (True, True)
    >>> result.folds[0].before["scumble"] > result.folds[0].after["scumble"]
    True

    With a test part there is one fold.

    >>> train, test = scumble.evaluate.train_test_split(data, random_state=0)
    >>> result = scumble.evaluate.cross_validate(train, "br", test=test, random_state=0)
    >>> len(result.folds), result.folds[0].n_train, result.folds[0].n_test
    (1, 150, 50)
    """
    check_dataset(data, caller="cross_validate")
    UndefinedPolicy(undefined, caller="cross_validate")
    groups = check_groups(groups, caller="cross_validate")
    # Refuses labels that the data does not have before any fold is run.
    group_masks(groups, data.n_labels, data.Y, data.labels)
    seed = resolve_seed(random_state, caller="cross_validate")
    if test is not None and splitter is not None:
        raise ParameterError("cross_validate takes a 'test' part or a 'splitter'. Got both.")
    warn_if_resampled(data if test is None else test, caller="cross_validate")
    data, splits = split_data(
        data, splitter=splitter, test=test, seed=seed, caller="cross_validate"
    )
    runner = FoldRunner(
        data=data,
        classifier=classifier,
        resampler=resampler,
        seed=seed,
        options={"undefined": undefined, "ties": ties, "groups": groups},
        keep_predictions=keep_predictions,
    )
    folds: list[FoldResult] = []
    with progress_bar(f"Cross-validating on {data.name or 'the data'}", len(splits)) as advance:
        tasks = list(enumerate(splits))
        for fold in run_in_processes(runner.run_split, tasks, n_jobs=n_jobs):
            folds.append(fold)
            advance(1)
    return CrossValidation(
        folds=tuple(folds), random_state=seed, name=data.name, labels=data.labels
    )


def check_dataset(data: Any, *, caller: str) -> None:
    """Raise a ParameterTypeError for anything but a MultilabelDataset."""
    if not isinstance(data, MultilabelDataset):
        raise ParameterTypeError(
            f"{caller} takes a MultilabelDataset, so that it can split and resample by "
            f"itself. Got {type(data).__name__} instead: make one of X and Y with "
            "MultilabelDataset(X, Y), or use scikit-learn's cross_validate with "
            "scumble.evaluate.scorer and a pipeline."
        )


def resolve_seed(random_state: Any, *, caller: str) -> int:
    """Return an integer seed for any ``random_state``, so that it can be reported and reused.

    An integer is returned as it is; a negative one raises a ParameterError. A generator is advanced
    by one draw; None gives a random seed.
    """
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ParameterError(f"random_state must not be negative. Got {random_state} instead.")
        return int(random_state)
    return int(as_generator(random_state, caller=caller).integers(2**31))


def split_data(
    data: MultilabelDataset, *, splitter: Any, test: Any, seed: int, caller: str
) -> tuple[MultilabelDataset, list[Split]]:
    """Return the data, with the rows of ``test`` appended if it is not None, and its splits.

    A test part gives one split. Otherwise ``splitter`` is anything that `cross_validate` accepts;
    its seed is set if its ``random_state`` is None. Raises errors for invalid splitters and splits.
    """
    if test is not None:
        combined, split = append_test_set(data, test, caller=caller)
        return combined, [split]
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
    splits = list(splitter.split(data.X, data.Y) if hasattr(splitter, "split") else splitter)
    if not splits:
        raise DataError(f"{caller}: the splitter gives no splits. Expected at least one.")
    checked = [_check_split(split, index, len(data)) for index, split in enumerate(splits)]
    return data, checked


def _check_split(split: Any, index: int, n_rows: int) -> Split:
    """Return a split as two arrays of row indices.

    Raises a DataError, which names the split by its index, for anything but a pair of such arrays,
    for rows that do not exist, empty parts, and rows in both parts.
    """
    try:
        train, test = map(np.asarray, split)
    except (TypeError, ValueError):
        raise DataError(
            f"cross_validate: split {index} must be a pair of row numbers, training rows and test "
            f"rows. Got {split!r} instead."
        ) from None
    for row_indices, name in ((train, "training"), (test, "test")):
        is_integer = row_indices.dtype.kind in "iu"
        is_valid = row_indices.ndim == 1 and is_integer and row_indices.size > 0
        if not is_valid or row_indices.min() < 0 or row_indices.max() >= n_rows:
            raise DataError(
                f"cross_validate: the {name} part of split {index} must be row numbers from 0 to "
                f"{n_rows - 1}, at least one. Got {row_indices!r} instead."
            )
    shared = np.intersect1d(train, test)
    if shared.size:
        raise DataError(
            f"cross_validate: split {index} has row {shared[0]} in both its training and its test "
            f"part ({shared.size} rows in all). What is tested must not be trained on."
        )
    return train, test


def resolve_resamplers(resampler: Any) -> list[Any]:
    """Return the resamplers for the argument ``resampler`` of `cross_validate`, in order.

    The list is empty for None. Raises a ParameterTypeError for anything that is no resampler.
    """
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
    """Return an unfitted classifier for the argument ``classifier`` of `cross_validate`.

    A name becomes the classifier of the catalogue, an estimator is cloned, and anything else raises
    a ParameterTypeError.
    """
    if isinstance(classifier, str):
        return make_classifier(classifier)
    if isinstance(classifier, type) or not hasattr(classifier, "fit"):
        raise ParameterTypeError(
            "The 'classifier' parameter of cross_validate must be an estimator or its name. "
            f"Got {classifier!r} instead."
        )
    return clone(classifier)


def run_in_processes(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], *, n_jobs: int | None
) -> Iterator[Result]:
    """Call a function for each task in ``n_jobs`` processes and yield the results in order.

    A task is the tuple of the arguments of a call. In other processes the function is also called
    with ``n_threads``: the processes share the threads of this one equally. A single job runs in
    this process.
    """
    # The processes are those of joblib, not of `ProcessPool`, which starts new ones for each call:
    # joblib's processes stay alive for the next cross-validation (0.1 instead of 2 seconds for
    # starting two), map arrays above 1 MB instead of copying them, and joblib.parallel_config can
    # replace them, for example by the workers of a cluster, as in scikit-learn.
    from joblib import Parallel, delayed, effective_n_jobs

    thread_count(n_jobs)  # refuses values that are not a number of jobs
    n_workers = min(effective_n_jobs(n_jobs), len(tasks))
    if n_workers == 1:
        for task in tasks:
            yield function(*task)
        return
    n_threads = max(1, thread_count() // n_workers)
    parallel = Parallel(n_jobs=n_workers, return_as="generator")
    yield from parallel(delayed(function)(*task, n_threads=n_threads) for task in tasks)


@dataclass(eq=False)
class FoldRunner:
    """Runs a classifier and resamplers on splits of the data.

    The arguments ``classifier`` and ``resampler`` are those of `cross_validate`; the checked
    results are the attributes ``model`` and ``resamplers``.
    """

    data: MultilabelDataset
    classifier: Any
    resampler: Any
    seed: int  # the seeds of each fold are derived from this one and the index of the fold
    options: dict[str, Any]  # keyword arguments of `run_fold`
    keep_predictions: bool  # whether results include the predicted labels

    def __post_init__(self) -> None:
        """Check classifier and resampler, and set ``resamplers`` and ``model``."""
        self.resamplers = resolve_resamplers(self.resampler)
        self.model = resolve_classifier(self.classifier)

    def run_split(self, index: int, split: Split, *, n_threads: int | None = None) -> FoldResult:
        """Resample, fit and evaluate on a split; return the result with the number ``index``.

        The peak memory is measured, and with resamplers the measures of the training part before
        and after them. ``n_threads`` is the maximum number of threads; None stands for all.
        """
        train_indices, test_indices = split
        with limit_threads(n_threads), PeakMemory() as memory:
            fold = run_seeded_fold(
                self.data[train_indices],
                self.data[test_indices],
                classifier=self.model,
                resamplers=self.resamplers,
                seed=self.seed,
                fold=index,
                n_threads=n_threads,
                **self.options,
            )
            before = _training_measures(fold.training) if self.resamplers else None
            after = _training_measures(fold.resampled) if self.resamplers else None
        return FoldResult(
            fold=index,
            evaluation=fold.evaluation,
            seconds=fold.seconds,
            peak_memory=memory.peak,
            n_train=len(fold.resampled),
            n_test=len(test_indices),
            before=before,
            after=after,
            predictions=fold.predictions if self.keep_predictions else None,
        )


def run_seeded_fold(
    training: MultilabelDataset,
    test: MultilabelDataset,
    *,
    classifier: Any,
    resamplers: Sequence[Any],
    seed: int,
    fold: int,
    n_threads: int | None = None,
    **options: Any,
) -> FittedFold:
    """Run one fold with random states that are derived from a seed and the index of the fold.

    They replace the random states of resamplers and classifier that are None. ``n_threads`` is the
    maximum number of threads, None stands for all; ``options`` are keyword arguments of `run_fold`.
    """
    seed_sequence = np.random.SeedSequence([seed, fold])
    seeds = map(int, seed_sequence.generate_state(len(resamplers) + 2))
    # The second seed is the classifier's: another order would change stored results.
    first_resampler_seed, classifier_seed, *further_seeds = seeds
    seeded_resamplers = _clone_with_seeds(resamplers, [first_resampler_seed, *further_seeds])
    with limit_threads(n_threads):
        return run_fold(
            training,
            test,
            classifier,
            seeded_resamplers,
            random_state=classifier_seed,
            **options,
        )


def _clone_with_seeds(resamplers: Sequence[Any], seeds: Iterable[int]) -> list[Any]:
    """Return unfitted copies of the resamplers, with seeds in place of unset random states.

    A resampler with a ``random_state`` that is None, its own or an inner one, gets the next seed;
    seeds that are not needed are dropped.
    """
    copies = [clone(resampler) for resampler in resamplers]
    unseeded = [
        copy for copy in copies if hasattr(copy, "get_params") and unset_random_states(copy)
    ]
    for resampler, seed in zip(unseeded, seeds, strict=False):
        set_random_states(resampler, seed)
    return copies


def _training_measures(part: MultilabelDataset) -> dict[str, float]:
    """Return the measures `MEASURES` of the labels of a training part, by name."""
    summary = characterize(part.Y)
    return {name: getattr(summary, name) for name in MEASURES}
