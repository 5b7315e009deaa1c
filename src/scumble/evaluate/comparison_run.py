"""The checked arguments of a comparison, and functions that run its methods on its folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble._core.parameters import Real
from scumble._validation.provenance import warn_if_resampled
from scumble.data import MultilabelDataset
from scumble.data.feature import first_duplicate
from scumble.evaluate.comparison_result import N_DRAWS, Comparison, MethodFoldResult, MethodResult
from scumble.evaluate.metrics.label_groups import GROUPS, POOLED_PREFIX, find_metric
from scumble.evaluate.model_selection.cross_validation import (
    check_dataset,
    resolve_classifier,
    resolve_resamplers,
    resolve_seed,
    run_seeded_fold,
    split_data,
)
from scumble.evaluate.model_selection.folds import FittedFold, LabelCounts, pooled_metrics
from scumble.evaluate.model_selection.splitters import make_splitter


class Method(NamedTuple):
    """A classifier with the resampler before it, if any."""

    classifier_name: str
    classifier: Any  # not fitted
    resampler_name: str | None  # None for no resampling
    resamplers: list[Any]

    @property
    def name(self) -> str:
        """Name of the classifier, with "after" and that of the resampler if there is one."""
        if self.resampler_name is None:
            return self.classifier_name
        return f"{self.classifier_name} after {self.resampler_name}"


class FoldParts(NamedTuple):
    """The data of one fold."""

    fold: int
    training: MultilabelDataset
    test: MultilabelDataset


class ComparisonRun:
    """The checked arguments of `compare`, with functions that run its methods on its folds.

    Attributes
    ----------
    methods : dict of str to Method
        The methods by name; the first is the baseline.
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
    computes_all_metrics : bool
        Whether folds are evaluated by all metrics, or only by ``metrics``.
    """

    def __init__(
        self,
        data: MultilabelDataset,
        *,
        classifiers: Any,
        resamplers: Any,
        folds: Any,
        metrics: Sequence[str],
        test: MultilabelDataset | None,
        confidence: float,
        random_state: Any,
        computes_all_metrics: bool = False,
    ) -> None:
        check_dataset(data, caller="compare")
        _check_metrics(metrics)
        Real(0, 1, closed="neither").check(confidence, name="confidence", caller="compare")
        self.metrics = tuple(metrics)
        self.confidence = confidence
        self.computes_all_metrics = computes_all_metrics
        self.methods = pair_methods(classifiers, resamplers)
        self.random_state = resolve_seed(random_state, caller="compare")
        if test is None and isinstance(folds, str | int):
            folds = make_splitter(folds, "iterative")
        warn_if_resampled(data if test is None else test, caller="compare")
        self.data, self.splits = split_data(
            data, splitter=folds, test=test, seed=self.random_state, caller="compare"
        )
        self.has_test_set = test is not None
        # The parts of the fold that was run last: methods run on one fold after another.
        self._last_parts: FoldParts | None = None

    def run_fold(
        self, fold: int, method_name: str, *, n_threads: int | None = None
    ) -> MethodFoldResult:
        """Return the result of a method on the fold of this index.

        It equals that of `cross_validate` on this fold. ``n_threads`` is the maximum number of
        threads; None stands for all.
        """
        method = self.methods[method_name]
        parts = self._cut_fold(fold)
        fitted = run_seeded_fold(
            parts.training,
            parts.test,
            classifier=method.classifier,
            resamplers=method.resamplers,
            seed=self.random_state,
            fold=fold,
            n_threads=n_threads,
            groups=dict.fromkeys(GROUPS),
            metrics=None if self.computes_all_metrics else self.metrics,
        )
        counts = LabelCounts.of(fitted.evaluation)
        draws = None
        if self.has_test_set:
            draws = self._bootstrap_metrics(fitted, parts.test.Y, counts)
        return MethodFoldResult(
            values=dict(fitted.evaluation),
            counts=counts,
            seconds=sum(fitted.seconds.values()),
            draws=draws,
        )

    def summarize(self, results: Mapping[str, Sequence[MethodFoldResult]]) -> Comparison:
        """Return the comparison from the results of all methods, by name, with one per fold."""
        combined = [
            MethodResult.from_folds(name, results[name], self.metrics) for name in self.methods
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

    def _cut_fold(self, fold: int) -> FoldParts:
        """Return the training and the test set of a fold; those of the last fold are cached."""
        if self._last_parts is None or self._last_parts.fold != fold:
            train_indices, test_indices = self.splits[fold]
            self._last_parts = FoldParts(
                fold=fold, training=self.data[train_indices], test=self.data[test_indices]
            )
        return self._last_parts

    def _bootstrap_metrics(
        self, fitted: FittedFold, Y_true: sparse.csr_array, counts: LabelCounts
    ) -> dict[str, Array]:
        """Return the metrics of predicted labels on `N_DRAWS` bootstrap samples of the test rows.

        The dict has an array with a value per sample for each metric of the comparison that is
        computed from the counts of labels; other metrics are left out.
        """
        true_positive_matrix = sparse.csr_array(
            Y_true.multiply(fitted.predictions), dtype=np.float64
        )
        predicted_matrix = sparse.csr_array(fitted.predictions, dtype=np.float64)
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
            metrics_by_sample.append(pooled_metrics([sample_counts], metrics=self.metrics))
        available = [metric for metric in self.metrics if metric in metrics_by_sample[0]]
        return {
            metric: np.array([values[metric] for values in metrics_by_sample])
            for metric in available
        }


def pair_methods(classifiers: Any, resamplers: Any) -> dict[str, Method]:
    """Return all pairs of a classifier and a resampler by name, those of the first resampler first.

    Both arguments are sequences, or mappings from names; see `compare`. Raises a ParameterError if
    two pairs have the same name.
    """
    named_classifiers = _name_estimators(classifiers, parameter="classifiers")
    named_resamplers = _name_estimators(resamplers, parameter="resamplers")
    methods: dict[str, Method] = {}
    for resampler_name, resampler in named_resamplers.items():
        for classifier_name, classifier in named_classifiers.items():
            method = Method(
                classifier_name=classifier_name,
                classifier=resolve_classifier(classifier),
                resampler_name=None if resampler is None else resampler_name,
                resamplers=resolve_resamplers(resampler),
            )
            if method.name in methods:
                raise ParameterError(
                    f"compare: {method.name!r} occurs twice among the pairs of classifiers and "
                    "resamplers. Give mappings from names to estimators, so that the names differ."
                )
            methods[method.name] = method
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
