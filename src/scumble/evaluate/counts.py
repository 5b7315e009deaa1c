"""What metrics read: how often labels were predicted, and how scores order labels and rows."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterTypeError, parameter_error
from scumble._core.parallel import SERIAL_BELOW, run_in_threads
from scumble._core.table_repr import TableReprMixin
from scumble._core.validation import align_label_lists, check_choice, check_labels, check_same_names
from scumble.evaluate import kernels
from scumble.learn.predictions import check_same_shape
from scumble.measures.threaded_kernels import count_labels, split_into_blocks

#: How equal scores are ranked; kernels know each by its place here.
TIES = ("mulan", "average", "worst")
MAX_BLOCKS = 64
#: Labels judged side by side; fewer would read every line of the scores several times.
LABELS_AT_ONCE = 8


@dataclass(frozen=True, eq=False, repr=False)
class Counts(TableReprMixin):
    """Hits and misses, one number per unit: per instance, per label, or one for everything.

    Attributes
    ----------
    hits : ndarray of int64
        Labels that are there and were predicted (true positives).
    predicted, true : ndarray of int64
        Labels that were predicted, and labels that are there.
    size : int or ndarray of int64
        Number of cells of a unit.

    Examples
    --------
    >>> from scumble.evaluate import confusion
    >>> counts = confusion([[1, 1], [0, 1]], [[1, 0], [0, 1]]).by_label
    >>> counts.true, counts.predicted, counts.size
    (array([1, 2]), array([1, 1]), 2)
    """

    hits: Array
    predicted: Array
    true: Array
    size: int | Array

    def take(self, units: Array) -> Counts:
        """Keep some units, by a mask or their numbers.

        Parameters
        ----------
        units : ndarray
            The units to keep.

        Returns
        -------
        Counts
            Those units alone.
        """
        size = self.size if isinstance(self.size, int) else self.size[units]
        return Counts(self.hits[units], self.predicted[units], self.true[units], size)

    @property
    def union(self) -> Array:
        """Labels that are there, were predicted, or both."""
        return self.predicted + self.true - self.hits

    @property
    def false_positives(self) -> Array:
        """Labels that were predicted and are not there."""
        return self.predicted - self.hits

    @property
    def false_negatives(self) -> Array:
        """Labels that are there and were not predicted."""
        return self.true - self.hits

    @property
    def true_negatives(self) -> Array:
        """Labels that are not there and were not predicted."""
        return self.size - self.union


@dataclass(frozen=True, eq=False, repr=False)
class LabelConfusion(TableReprMixin):
    """Labels and predictions, counted by label."""

    by_label: Counts  # one number per label

    @property
    def overall(self) -> Counts:
        """Count over all cells."""
        labels = self.by_label
        parts = (labels.hits, labels.predicted, labels.true)
        hits, predicted, true = (part.sum(keepdims=True) for part in parts)
        size = int(np.broadcast_to(labels.size, labels.hits.shape).sum())
        return Counts(hits, predicted, true, size)


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(LabelConfusion):
    """Labels and predictions, counted.

    Attributes
    ----------
    by_label, by_instance : Counts
        One number per label, and per instance.
    Y, predictions : csr_array of bool
        What was counted.

    Examples
    --------
    >>> from scumble.evaluate import confusion
    >>> counts = confusion([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    >>> counts.by_label.hits, counts.by_instance.hits
    (array([1, 1]), array([1, 1]))
    """

    by_instance: Counts
    Y: sparse.csr_array
    predictions: sparse.csr_array


def confusion(Y: Any, predictions: Any, *, caller: str = "confusion") -> Confusion:
    """Count hits and misses by instance and by label.

    Parameters
    ----------
    Y : data set, or array, sparse matrix, DataFrame or list of label lists
        The truth, of shape (n_samples, n_labels).
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        What was predicted, 0/1 or True/False.
    caller : str
        Name of the function that error messages speak of.

    Returns
    -------
    Confusion
        The counts. The cost grows with the number of labels that are there or were predicted.

    Examples
    --------
    >>> from scumble.evaluate import confusion
    >>> counts = confusion([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]).by_label
    >>> counts.hits, counts.false_positives, counts.false_negatives
    (array([1, 1, 0]), array([0, 0, 1]), array([0, 1, 0]))
    """
    Y, predictions = check_labels_and_predictions(Y, predictions, caller=caller)
    n_rows, n_labels = Y.shape
    blocks = split_into_blocks(Y if Y.nnz > predictions.nnz else predictions)
    by_row = np.zeros(n_rows, np.int64)
    partial = np.zeros((len(blocks), n_labels), np.int64)

    matrices = csr_index_arrays(Y, predictions)

    def work(at: int) -> None:
        kernels.count_hits(*matrices, *blocks[at], by_row, partial[at])

    run_in_threads(work, range(len(blocks)))
    n_predicted, n_true = (np.diff(part.indptr).astype(np.int64) for part in (predictions, Y))
    instances = Counts(by_row, n_predicted, n_true, n_labels)
    labels = Counts(partial.sum(axis=0), count_labels(predictions), count_labels(Y), n_rows)
    return Confusion(labels, instances, Y, predictions)


def check_labels_and_predictions(
    Y: Any, predictions: Any, *, caller: str
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Bring truth and predictions into canonical form, of one shape."""
    Y, predictions = align_label_lists(Y, predictions)
    check_same_names(Y, predictions, what="predictions", caller=caller)
    Y = check_truth(Y, caller=caller)
    found = check_labels(predictions, caller=f"{caller}, predictions")
    check_same_shape(found.shape, Y.shape, what="predictions", caller=caller)
    return Y, found


def check_truth(Y: Any, *, caller: str) -> sparse.csr_array:
    """Bring the truth into canonical form; nothing cannot be judged."""
    Y = check_labels(Y, caller=f"{caller}, Y")
    if 0 in Y.shape:
        raise DataError(
            f"{caller}: there is nothing to judge, Y has {Y.shape[0]} rows and {Y.shape[1]} "
            "labels. Expected at least one of each."
        )
    return Y


def csr_index_arrays(
    Y: sparse.csr_array, other: sparse.csr_array
) -> tuple[Array, Array, Array, Array]:
    """Return the pointers and indices of two matrices, all of one type, as kernels read them."""
    arrays = (Y.indptr, Y.indices, other.indptr, other.indices)
    kind = np.result_type(*arrays)
    a, b, c, d = (part.astype(kind, copy=False) for part in arrays)
    return a, b, c, d


# Where there is nothing to divide by ------------------------------------------------------------


class UndefinedPolicy:
    """A policy for values that are 0/0."""

    def __init__(self, policy: Any = "mulan", *, caller: str = "evaluate") -> None:
        is_number = isinstance(policy, numbers.Real) and not isinstance(policy, bool)
        if not is_number and not (isinstance(policy, str) and policy in ("mulan", "ignore")):
            raise parameter_error("undefined", caller, "be 'mulan', 'ignore' or a number", policy)
        self.policy = policy

    def fill(self, values: Array, mulan: Any = math.nan) -> Array:
        """Put what the policy says in the place of NaN."""
        if self.policy == "ignore":
            return values
        return np.where(np.isnan(values), mulan if self.policy == "mulan" else self.policy, values)

    def mean(self, values: Array, mulan: Any = math.nan, *, skipna: bool = False) -> float:
        """Average values under the policy."""
        filled = self.fill(values, mulan)
        if self.policy == "ignore" or (skipna and self.policy == "mulan"):
            filled = filled[~np.isnan(filled)]
        return float(filled.mean()) if filled.size else math.nan


def ratio(numerator: Array, denominator: Array) -> Array:
    """Divide; NaN where the denominator is 0."""
    out = np.full(np.shape(denominator), math.nan)
    return np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)


# How scores order the labels of an instance and the instances of a label --------------------------


class InstanceRankings(NamedTuple):
    """How the labels of each instance are ordered; 0 where no label is relevant."""

    n_relevant: Array  # number of labels the instance has
    n_pairs: Array  # pairs of a relevant and an irrelevant label
    wrong_pairs: Array  # those with the irrelevant label first, ties as chosen
    tied_wrong_pairs: Array  # those with the irrelevant label first, ties as halves
    worst_rank: Array  # rank of the last relevant label
    average_precision: Array  # average precision
    top_label_error: Array  # whether the best label is irrelevant


class LabelRankings(NamedTuple):
    """How the instances are ordered by the scores of each label; NaN where there is no answer."""

    auc: Array  # area under the ROC curve
    # Mean precision at the relevant instances, and at ten levels of recall.
    average_precision: Array
    interpolated_precision: Array
    auc_pr: Array  # area under the precision-recall curve


class Rankings:
    """Labels and scores, each kind of ranking computed when it is first asked for."""

    def __init__(
        self, Y: sparse.csr_array, scores: Any, *, ties: str = "mulan", caller: str = "evaluate"
    ) -> None:
        self.Y = Y
        self.scores = check_scores(scores, Y.shape, caller=caller)
        self.ties = check_ties(ties, caller=caller)

    @cached_property
    def by_instance(self) -> InstanceRankings:
        """Judge every instance."""
        Y = self.Y
        judged = np.zeros((Y.shape[0], 5))
        arrays = (Y.indptr, Y.indices, self.scores, TIES.index(self.ties), judged)
        self._over_rows(partial(kernels.rank_rows, *arrays))
        n_relevant = np.diff(Y.indptr).astype(np.int64)
        n_pairs = n_relevant * (Y.shape[1] - n_relevant)
        wrong, twice, worst, precision, top = judged.T
        return InstanceRankings(n_relevant, n_pairs, wrong, twice / 2, worst, precision, top)

    @cached_property
    def by_label(self) -> LabelRankings:
        """Judge every label."""
        n_labels = self.Y.shape[1]
        columns = self.Y.tocsc()
        columns.sort_indices()
        arrays = columns.indptr, columns.indices
        curves = np.empty((n_labels, 4))

        def work(start: int) -> None:
            stop = min(start + LABELS_AT_ONCE, n_labels)
            kernels.rank_labels(*arrays, self.scores, start, stop, self.ties != "mulan", curves)

        n_jobs = 1 if self.scores.size < SERIAL_BELOW else None
        run_in_threads(work, range(0, n_labels, LABELS_AT_ONCE), n_jobs=n_jobs)
        return LabelRankings(*curves.T)

    @cached_property
    def micro_auc(self) -> float:
        """Area under the ROC curve of all cells together; NaN where one kind is missing."""
        n_positive = self.Y.nnz
        n_negative = self.scores.size - n_positive
        if n_positive == 0 or n_negative == 0:
            return math.nan
        rows = np.repeat(np.arange(self.Y.shape[0]), np.diff(self.Y.indptr))
        distinct, times = np.unique(self.scores[rows, self.Y.indices], return_counts=True)
        below = np.concatenate([[0], np.cumsum(times)])
        arrays = (self.scores, distinct, below)
        twice = sum(self._over_rows(partial(kernels.count_positives_above, *arrays)))
        # Positives met positives too: of each two, one is better or they are tied.
        return (twice - n_positive**2) / (2 * n_positive * n_negative)

    @cached_property
    def are_probabilities(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        return bool(self.scores.min() >= 0 and self.scores.max() <= 1)

    @cached_property
    def log_loss_and_squared_error(self) -> tuple[float, float]:
        """Sums of log loss and squared error over all cells."""
        arrays = (self.Y.indptr, self.Y.indices, self.scores)
        parts = self._over_rows(partial(kernels.sum_probability_losses, *arrays))
        log_total, square_total = np.sum(parts, axis=0)
        return float(log_total), float(square_total)

    def _over_rows(self, work: Callable[[int, int], Any]) -> list[Any]:
        """Judge blocks of rows, cut by their number alone, so that threads change no bit."""
        n_rows = self.Y.shape[0]
        n_blocks = 1 if self.scores.size < SERIAL_BELOW else min(MAX_BLOCKS, n_rows)
        cuts = [n_rows * at // n_blocks for at in range(n_blocks + 1)]
        return run_in_threads(lambda block: work(*block), list(itertools.pairwise(cuts)))


def check_ties(ties: Any, *, caller: str) -> str:
    """Refuse what is no way to rank equal scores."""
    return check_choice(ties, TIES, name="ties", caller=caller)


def check_scores(scores: Any, shape: tuple[int, int], *, caller: str) -> Array:
    """Bring scores into a plain table, or say what is wrong with them."""
    if sparse.issparse(scores):
        scores = scores.toarray()
    try:
        table = np.ascontiguousarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterTypeError(
            f"{caller}: scores must be a table of numbers ({error}). A list of arrays, as some "
            "scikit-learn classifiers give, holds one per label: take the column of class 1 of "
            "each."
        ) from None
    check_same_shape(table.shape, tuple(shape), what="scores", caller=caller)
    missing = np.isnan(table)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise DataError(
            f"{caller}: the score in row {row}, column {column} is NaN, which has no rank. "
            f"{int(missing.sum()):,} scores are; give each label a number."
        )
    return table
