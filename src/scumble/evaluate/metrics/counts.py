"""Counts of true and predicted labels, rankings by scores, and the policy for undefined values.

An *entry* is an element of the label matrix: a pair of a row and a label. It is *true* if the row
has the label, and *predicted* if the label is predicted for the row. A *unit* is what counts are
added up over: the entries of an instance, of a label, or all entries. Where rankings are concerned,
the labels that an instance has are its *relevant* labels. A *pair* is then a relevant and an
irrelevant label of an instance; it is *wrong* if the irrelevant one is ranked first.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterTypeError, parameter_error
from scumble._core.parallel import SERIAL_BELOW, run_in_threads
from scumble._core.parameters import check_choice
from scumble._core.table_repr import TableReprMixin
from scumble._validation.labels import align_label_lists, check_labels, check_same_names
from scumble.evaluate.metrics import kernels
from scumble.learn.predictions import check_same_shape
from scumble.measures.threaded_kernels import count_labels, split_into_blocks

#: Ways to rank labels with equal scores, see `evaluate`; kernels receive the index in this tuple.
TIES = ("mulan", "average", "worst")
#: Maximum number of row blocks of a large score matrix, which threads work on. It must not depend
#: on the number of threads, because sums over blocks are rounded.
MAX_BLOCKS = 64
#: Number of labels that are ranked together: with fewer, each row of scores, whose values lie side
#: by side in memory, would be loaded more often.
LABELS_PER_BLOCK = 8
#: Number of entries of a sparse score matrix that are made dense at a time: 8 MB of doubles per
#: thread.
MAX_DENSE_ENTRIES = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Counts(TableReprMixin):
    """Counts of true and predicted labels per unit: an instance, a label, or the whole matrix.

    Attributes
    ----------
    true_positives : ndarray of int64, shape (n_units,)
        Number of entries of the label matrix that are true and predicted.
    predicted, true : ndarray of int64, shape (n_units,)
        Numbers of predicted and of true entries.
    size : int or ndarray of int64
        Number of entries of a unit: one number for all units, or one for each.

    Examples
    --------
    >>> from scumble.evaluate import confusion
    >>> counts = confusion([[1, 1], [0, 1]], [[1, 0], [0, 1]]).by_label
    >>> counts.true, counts.predicted, counts.size
    (array([1, 2]), array([1, 1]), 2)
    """

    true_positives: Array
    predicted: Array
    true: Array
    size: int | Array

    def take(self, units: Array) -> Counts:
        """Return the counts of some units.

        Parameters
        ----------
        units : ndarray
            Mask or indices of the units.

        Returns
        -------
        Counts
            The counts of these units.
        """
        size = self.size if isinstance(self.size, int) else self.size[units]
        return Counts(
            true_positives=self.true_positives[units],
            predicted=self.predicted[units],
            true=self.true[units],
            size=size,
        )

    @property
    def union(self) -> Array:
        """Number of entries of each unit that are true, predicted, or both."""
        return self.predicted + self.true - self.true_positives

    @property
    def false_positives(self) -> Array:
        """Number of entries of each unit that are predicted and not true."""
        return self.predicted - self.true_positives

    @property
    def false_negatives(self) -> Array:
        """Number of entries of each unit that are true and not predicted."""
        return self.true - self.true_positives

    @property
    def true_negatives(self) -> Array:
        """Number of entries of each unit that are neither true nor predicted."""
        return self.size - self.union


@dataclass(frozen=True, eq=False, repr=False)
class LabelConfusion(TableReprMixin):
    """Counts of true and predicted labels, per label: all that a label-based metric needs."""

    by_label: Counts

    @property
    def overall(self) -> Counts:
        """Counts over all entries of these labels: arrays with a single value."""
        counts = self.by_label
        return Counts(
            true_positives=counts.true_positives.sum(keepdims=True),
            predicted=counts.predicted.sum(keepdims=True),
            true=counts.true.sum(keepdims=True),
            size=int(np.broadcast_to(counts.size, counts.true_positives.shape).sum()),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(LabelConfusion):
    """Counts of true and predicted labels, per label and per instance.

    Attributes
    ----------
    by_label, by_instance : Counts
        The counts of each label, and of each instance. ``overall`` holds those of all entries.
    Y, predictions : csr_array of bool
        The true and the predicted labels.

    Examples
    --------
    >>> from scumble.evaluate import confusion
    >>> counts = confusion([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    >>> counts.by_label.true_positives, counts.by_instance.true_positives
    (array([1, 1]), array([1, 1]))
    """

    by_instance: Counts
    Y: sparse.csr_array
    predictions: sparse.csr_array


def confusion(Y: Any, predictions: Any, *, caller: str = "confusion") -> Confusion:
    """Count true and predicted labels per instance and per label.

    Parameters
    ----------
    Y : data set, or array, sparse matrix, DataFrame or list of label lists
        The true labels, of shape (n_samples, n_labels).
    predictions : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The predicted labels, 0/1 or True/False.
    caller : str
        Name of the function in error messages.

    Returns
    -------
    Confusion
        The counts. The cost grows with the number of true and predicted entries.

    Examples
    --------
    >>> from scumble.evaluate import confusion
    >>> counts = confusion([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]]).by_label
    >>> counts.true_positives, counts.false_positives, counts.false_negatives
    (array([1, 1, 0]), array([0, 0, 1]), array([0, 1, 0]))
    """
    Y, predictions = check_labels_and_predictions(Y, predictions, caller=caller)
    n_rows, n_labels = Y.shape
    blocks = split_into_blocks(Y if Y.nnz > predictions.nnz else predictions)
    true_positives_by_row = np.zeros(n_rows, np.int64)
    true_positives_by_block = np.zeros((len(blocks), n_labels), np.int64)
    index_arrays = csr_index_arrays(Y, predictions)

    def count_block(block_index: int) -> None:
        """Write the numbers of true positives of the rows of a block, and of its labels."""
        start, stop = blocks[block_index]
        kernels.count_hits(
            *index_arrays, start, stop, true_positives_by_row, true_positives_by_block[block_index]
        )

    run_in_threads(count_block, range(len(blocks)))
    by_instance = Counts(
        true_positives=true_positives_by_row,
        predicted=np.diff(predictions.indptr).astype(np.int64),
        true=np.diff(Y.indptr).astype(np.int64),
        size=n_labels,
    )
    by_label = Counts(
        true_positives=true_positives_by_block.sum(axis=0),
        predicted=count_labels(predictions),
        true=count_labels(Y),
        size=n_rows,
    )
    return Confusion(by_label=by_label, by_instance=by_instance, Y=Y, predictions=predictions)


def check_labels_and_predictions(
    Y: Any, predictions: Any, *, caller: str
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the true and the predicted labels as boolean CSR matrices.

    Raises an error if they are no labels, have no entries, or differ in shape or label names.
    """
    Y, predictions = align_label_lists(Y, predictions)
    check_same_names(Y, predictions, noun="predictions", caller=caller)
    Y = check_truth(Y, caller=caller)
    predictions = check_labels(predictions, caller=f"{caller}, predictions")
    check_same_shape(predictions.shape, Y.shape, noun="predictions", caller=caller)
    return Y, predictions


def check_truth(Y: Any, *, caller: str) -> sparse.csr_array:
    """Return the true labels as a boolean CSR matrix; raise a DataError if it has no entries."""
    Y = check_labels(Y, caller=f"{caller}, Y")
    if 0 in Y.shape:
        raise DataError(
            f"{caller}: there is nothing to evaluate, Y has {Y.shape[0]} rows and {Y.shape[1]} "
            "labels. Expected at least one of each."
        )
    return Y


class CSRIndexArrays(NamedTuple):
    """Index arrays of two CSR matrices, in the order of the arguments of kernels."""

    first_indptr: Array
    first_indices: Array
    second_indptr: Array
    second_indices: Array


def csr_index_arrays(first: sparse.csr_array, second: sparse.csr_array) -> CSRIndexArrays:
    """Return ``indptr`` and ``indices`` of two matrices in a common dtype, as kernels need them."""
    dtype = np.result_type(first.indptr, first.indices, second.indptr, second.indices)
    return CSRIndexArrays(
        first_indptr=first.indptr.astype(dtype, copy=False),
        first_indices=first.indices.astype(dtype, copy=False),
        second_indptr=second.indptr.astype(dtype, copy=False),
        second_indices=second.indices.astype(dtype, copy=False),
    )


# Undefined values -----------------------------------------------------------------------------


class UndefinedPolicy:
    """A policy for values that are 0/0.

    Parameters
    ----------
    policy : {"mulan", "ignore"} or number
        ``"mulan"`` replaces an undefined value by the one that MULAN takes, ``"ignore"`` leaves it
        out of means, a number replaces it.
    caller : str
        Name of the function in error messages.
    """

    def __init__(self, policy: Any = "mulan", *, caller: str = "evaluate") -> None:
        is_number = isinstance(policy, numbers.Real) and not isinstance(policy, bool)
        is_name = isinstance(policy, str) and policy in ("mulan", "ignore")
        if not is_number and not is_name:
            raise parameter_error("undefined", caller, "be 'mulan', 'ignore' or a number", policy)
        self.policy = policy

    def fill(self, values: Array, mulan_value: Array | float | None = math.nan) -> Array:
        """Return the values with NaN replaced as the policy says.

        Under ``"mulan"``, ``mulan_value`` replaces them: a number, or an array with a number for
        each value. With None or NaN they stay NaN. Under ``"ignore"`` nothing is replaced; under a
        number, this number replaces them.
        """
        if self.policy == "ignore":
            return values
        if self.policy != "mulan":
            return np.where(np.isnan(values), self.policy, values)
        if mulan_value is None:
            return values
        return np.where(np.isnan(values), mulan_value, values)

    def mean(self, values: Array, mulan_value: Array | float | None = math.nan) -> float:
        """Return the mean of the values, with NaN replaced or left out as the policy says.

        ``mulan_value`` has an effect under ``"mulan"`` only: a number (or an array with a number
        for each value) replaces undefined values, None leaves them out, and NaN, the default, makes
        the mean NaN if a single value is undefined. The mean is also NaN if no value remains.
        """
        filled = self.fill(values, mulan_value)
        if self.policy == "ignore" or (self.policy == "mulan" and mulan_value is None):
            filled = filled[~np.isnan(filled)]
        return float(filled.mean()) if filled.size else math.nan


def ratio(numerator: Array, denominator: Array) -> Array:
    """Return the elementwise quotient of two arrays; NaN where the denominator is 0."""
    out = np.full(np.shape(denominator), math.nan)
    return np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)


# Rankings of the labels of each instance, and of the instances of each label ------------------


class InstanceRankings(NamedTuple):
    """Statistics of the ranking of the labels of each instance; arrays of shape (n_samples,).

    All are 0 for an instance without labels. Rank 1 is the highest score.
    """

    n_relevant: Array  # number of relevant labels: those that the instance has
    n_pairs: Array  # number of pairs of a relevant and an irrelevant label
    wrong_pairs: Array  # number of pairs with the irrelevant label ranked first, ties as in `TIES`
    wrong_pairs_ties_half: Array  # the same, but a pair with equal scores counts as half
    worst_rank: Array  # rank of the relevant label that is ranked last
    average_precision: Array  # mean over relevant labels of the precision of the ranking up to them
    #: 1 if the label ranked first is irrelevant, else 0; the share of irrelevant labels among
    #: several that are first with ties "average".
    top_label_error: Array


class LabelRankings(NamedTuple):
    """Statistics of the ranking of the instances by each label; arrays of shape (n_labels,).

    NaN where a value is undefined. An instance is relevant if it has the label.
    """

    auc: Array  # area under the ROC curve
    average_precision: Array  # mean of the precision at each relevant instance
    #: Mean, over the recall levels 0, 1/9, ..., 1, of the best precision at this recall or more.
    interpolated_precision: Array
    auc_pr: Array  # area under the precision-recall curve


class LabelSubsetRankings(NamedTuple):
    """The rankings by some of the labels: all that a label-based metric reads of `Rankings`."""

    by_label: LabelRankings


class ProbabilityLosses(NamedTuple):
    """Sums over all entries of the label matrix."""

    log_loss: float  # negative logarithm of the probability of the true value
    squared_error: float  # squared difference of probability and true value


class DenseRows(NamedTuple):
    """Dense scores of the rows start..stop."""

    start: int
    stop: int
    scores: Array


class Rankings:
    """Rankings of labels and of instances by scores; each is computed when it is first used.

    A sparse score matrix stays sparse, although a ranking needs all scores of a row or a column.
    Metrics of instances (``by_instance``), `micro_auc`, the probability metrics and `top_labels`
    make blocks of rows dense, metrics of labels (``by_label``) blocks of eight columns, and each
    thread holds one block. Only the attribute `scores` makes all of it dense; no metric of scumble
    reads it.

    Parameters
    ----------
    Y : csr_array of bool
        The true labels, of shape (n_samples, n_labels).
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The scores; larger means that the label is more likely.
    ties : {"mulan", "average", "worst"}
        How equal scores are ranked, see `evaluate`.
    caller : str
        Name of the function in error messages.
    """

    def __init__(
        self, Y: sparse.csr_array, scores: Any, *, ties: str = "mulan", caller: str = "evaluate"
    ) -> None:
        self.Y = Y
        self._scores = check_scores(scores, Y.shape, caller=caller)
        self.ties = check_ties(ties, caller=caller)

    @property
    def n_entries(self) -> int:
        """Number of scores, including the zeros of a sparse matrix."""
        n_rows, n_labels = self.Y.shape
        return int(n_rows) * int(n_labels)

    @cached_property
    def scores(self) -> Array:
        """All scores as a dense array of float64."""
        return self._dense_rows(0, self.Y.shape[0])

    @cached_property
    def by_instance(self) -> InstanceRankings:
        """Statistics of the ranking of the labels of each instance."""
        Y = self.Y
        results = np.zeros((Y.shape[0], 5))
        ties = TIES.index(self.ties)

        def rank_block(start: int, stop: int) -> None:
            """Write the results of rows start..stop."""
            for first, last, scores in self._dense_row_blocks(start, stop):
                kernels.rank_rows(
                    Y.indptr[first : last + 1],
                    Y.indices,
                    scores,
                    ties,
                    results[first:last],
                    0,
                    last - first,
                )

        self._run_over_rows(rank_block)
        n_relevant = np.diff(Y.indptr).astype(np.int64)
        wrong_pairs, twice_tied_wrong_pairs, worst_rank, precision, top_error = results.T
        return InstanceRankings(
            n_relevant=n_relevant,
            n_pairs=n_relevant * (Y.shape[1] - n_relevant),
            wrong_pairs=wrong_pairs,
            wrong_pairs_ties_half=twice_tied_wrong_pairs / 2,
            worst_rank=worst_rank,
            average_precision=precision,
            top_label_error=top_error,
        )

    @cached_property
    def by_label(self) -> LabelRankings:
        """Statistics of the ranking of the instances by each label."""
        n_labels = self.Y.shape[1]
        Y_columns = self.Y.tocsc()
        Y_columns.sort_indices()
        is_sparse = sparse.issparse(self._scores)
        score_columns = self._scores.tocsc() if is_sparse else self._scores
        is_grouped = self.ties != "mulan"
        results = np.empty((n_labels, 4))

        def rank_labels_from(start: int) -> None:
            """Write the results of `LABELS_PER_BLOCK` labels from ``start`` on."""
            stop = min(start + LABELS_PER_BLOCK, n_labels)
            if is_sparse:
                block = np.ascontiguousarray(score_columns[:, start:stop].toarray())
                indptr = Y_columns.indptr[start : stop + 1]
                first = 0
                last = stop - start
                block_results = results[start:stop]
            else:
                block = score_columns
                indptr = Y_columns.indptr
                first = start
                last = stop
                block_results = results
            kernels.rank_labels(
                indptr, Y_columns.indices, block, first, last, is_grouped, block_results
            )

        n_jobs = 1 if self.n_entries < SERIAL_BELOW else None
        run_in_threads(rank_labels_from, range(0, n_labels, LABELS_PER_BLOCK), n_jobs=n_jobs)
        auc, average_precision, interpolated_precision, auc_pr = results.T
        return LabelRankings(
            auc=auc,
            average_precision=average_precision,
            interpolated_precision=interpolated_precision,
            auc_pr=auc_pr,
        )

    @cached_property
    def micro_auc(self) -> float:
        """Area under the ROC curve of all entries; NaN if all or none of them are true."""
        n_positive = self.Y.nnz
        n_negative = self.n_entries - n_positive
        if n_positive == 0 or n_negative == 0:
            return math.nan
        # A positive is a true entry. `n_below` has the number of positives with a score below each
        # distinct score, and their total number at the end.
        distinct, n_tied = np.unique(self._positive_scores(), return_counts=True)
        n_below = np.concatenate([[0], np.cumsum(n_tied)])

        def count_block(start: int, stop: int) -> int:
            """Return twice the number of positives above each entry of a block, ties as half."""
            return sum(
                kernels.count_positives_above(scores, distinct, n_below, 0, last - first)
                for first, last, scores in self._dense_row_blocks(start, stop)
            )

        twice_above = sum(self._run_over_rows(count_block))
        # The kernel compares positives with positives, too: each of these pairs counts half.
        return (twice_above - n_positive**2) / (2 * n_positive * n_negative)

    @cached_property
    def are_probabilities(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        return bool(self._scores.min() >= 0 and self._scores.max() <= 1)

    def check_probabilities(self, *, caller: str) -> None:
        """Raise a DataError for scores outside [0, 1]."""
        if not self.are_probabilities:
            raise DataError(
                f"{caller}: scores must be probabilities, in [0, 1]. Found "
                f"{self._scores.min():g} to {self._scores.max():g}: use predict_proba "
                "rather than decision_function."
            )

    @cached_property
    def probability_losses(self) -> ProbabilityLosses:
        """The log loss and the squared error of the scores as probabilities, summed up."""

        def sum_block(start: int, stop: int) -> Array:
            """Return both sums over rows start..stop."""
            totals = np.zeros(2)
            for first, last, scores in self._dense_row_blocks(start, stop):
                kernels.add_probability_losses(
                    self.Y.indptr[first : last + 1], self.Y.indices, scores, totals, 0, last - first
                )
            return totals

        log_total, square_total = np.sum(self._run_over_rows(sum_block), axis=0)
        return ProbabilityLosses(log_loss=float(log_total), squared_error=float(square_total))

    def top_labels(self, k: int) -> sparse.csr_array:
        """Return the ``k`` labels with the largest scores of each instance as a label matrix.

        Of equal scores the label with the larger index comes first, as in MULAN.
        """
        n_rows, n_labels = self.Y.shape
        indices = np.empty((n_rows, k), np.int64)
        for first, last, scores in self._dense_row_blocks(0, n_rows):
            indices[first:last] = np.argsort(scores, axis=1, kind="stable")[:, n_labels - k :]
        indices.sort(axis=1)
        indptr = np.arange(0, n_rows * k + 1, k)
        present = np.ones(n_rows * k, bool)
        return sparse.csr_array((present, indices.ravel(), indptr), shape=self.Y.shape)

    def _positive_scores(self) -> Array:
        """Return the scores of the true entries as an array, row by row."""
        Y = self.Y
        row_of_entry = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        if not sparse.issparse(self._scores):
            return self._scores[row_of_entry, Y.indices]
        blocks = [
            scores[
                row_of_entry[Y.indptr[first] : Y.indptr[last]] - first,
                Y.indices[Y.indptr[first] : Y.indptr[last]],
            ]
            for first, last, scores in self._dense_row_blocks(0, Y.shape[0])
        ]
        return np.concatenate(blocks)

    def _dense_rows(self, start: int, stop: int) -> Array:
        """Return the scores of rows start..stop as a dense array; a view if they are dense."""
        block = self._scores[start:stop]
        if sparse.issparse(block):
            return np.ascontiguousarray(block.toarray())
        return block

    def _dense_row_blocks(self, start: int, stop: int) -> Iterator[DenseRows]:
        """Yield the dense scores of the rows start..stop in blocks of rows.

        Dense scores are a single block; a block of sparse ones has up to `MAX_DENSE_ENTRIES`.
        """
        step = max(stop - start, 1)
        if sparse.issparse(self._scores):
            step = max(1, MAX_DENSE_ENTRIES // self.Y.shape[1])
        for first in range(start, stop, step):
            last = min(first + step, stop)
            yield DenseRows(start=first, stop=last, scores=self._dense_rows(first, last))

    def _run_over_rows(self, function: Callable[[int, int], Any]) -> list[Any]:
        """Call ``function(start, stop)`` for blocks of rows in threads, and return all results."""
        # The blocks depend on the number of rows alone: the number of threads changes no bit.
        n_rows = self.Y.shape[0]
        n_blocks = 1 if self.n_entries < SERIAL_BELOW else min(MAX_BLOCKS, n_rows)
        bounds = [n_rows * block // n_blocks for block in range(n_blocks + 1)]
        return run_in_threads(lambda block: function(*block), list(itertools.pairwise(bounds)))


def check_rankings(Y: Any, scores: Any, *, ties: str = "mulan", caller: str) -> Rankings:
    """Return the rankings for a user's labels and scores.

    Raises an error for missing scores, NaN, and labels and scores of different shapes or names.
    """
    if scores is None:
        raise DataError(
            f"{caller} evaluates scores, and there are none: give the classifier's scores "
            "(predict_proba), not only its predictions."
        )
    check_same_names(Y, scores, noun="scores", caller=caller)
    return Rankings(check_truth(Y, caller=caller), scores, ties=ties, caller=caller)


def check_ties(ties: Any, *, caller: str) -> str:
    """Return ``ties`` if it is one of `TIES`; raise an error otherwise."""
    return check_choice(ties, TIES, name="ties", caller=caller)


def check_scores(scores: Any, shape: tuple[int, int], *, caller: str) -> Any:
    """Return scores as a float64 array, or as a float64 CSR matrix if they are sparse.

    Raises an error for NaN, for values that are no numbers, and for another shape than ``shape``.
    """
    if sparse.issparse(scores):
        # A copy, because merging duplicate entries would change the caller's matrix.
        scores = sparse.csr_array(scores, dtype=np.float64, copy=True)
        scores.sum_duplicates()
        check_same_shape(scores.shape, tuple(shape), noun="scores", caller=caller)
        is_nan = np.isnan(scores.data)
        if is_nan.any():
            first = int(np.flatnonzero(is_nan)[0])
            row = int(np.searchsorted(scores.indptr, first, side="right")) - 1
            column = int(scores.indices[first])
            raise _missing_score_error(row, column, n_missing=int(is_nan.sum()), caller=caller)
        return scores
    try:
        scores = np.ascontiguousarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterTypeError(
            f"{caller}: scores must be a table of numbers ({error}). A list of arrays, as some "
            "scikit-learn classifiers give, holds one per label: take the column of class 1 of "
            "each."
        ) from None
    check_same_shape(scores.shape, tuple(shape), noun="scores", caller=caller)
    is_nan = np.isnan(scores)
    if is_nan.any():
        row, column = np.argwhere(is_nan)[0]
        raise _missing_score_error(row, column, n_missing=int(is_nan.sum()), caller=caller)
    return scores


def _missing_score_error(row: int, column: int, *, n_missing: int, caller: str) -> DataError:
    """Return the error for scores that are NaN; ``row`` and ``column`` are those of the first."""
    return DataError(
        f"{caller}: the score in row {row}, column {column} is NaN, which has no rank. "
        f"{n_missing:,} scores are; give each label a number."
    )
