"""How often labels were predicted, rightly and wrongly: one pass that all metrics share."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, refused
from scumble._core.parallel import run
from scumble._core.shown import Shown
from scumble._core.validation import check_labels, check_same_names, match_lists
from scumble.evaluate import kernels
from scumble.learn.predictions import refuse_other_shape
from scumble.measures.passes import blocks_of, count


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Shown):
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
    def either(self) -> Array:
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
        return self.size - self.either


@dataclass(frozen=True, eq=False, repr=False)
class LabelConfusion(Shown):
    """Labels and predictions, counted by label."""

    by_label: Counts  # one number per label

    @property
    def in_all(self) -> Counts:
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
    Y, predictions = check_pair(Y, predictions, caller=caller)
    n_rows, n_labels = Y.shape
    blocks = blocks_of(Y if Y.nnz > predictions.nnz else predictions)
    by_row = np.zeros(n_rows, np.int64)
    partial = np.zeros((len(blocks), n_labels), np.int64)

    matrices = arrays_of(Y, predictions)

    def work(at: int) -> None:
        kernels.count_hits(*matrices, *blocks[at], by_row, partial[at])

    run(work, range(len(blocks)))
    n_predicted, n_true = (np.diff(part.indptr).astype(np.int64) for part in (predictions, Y))
    instances = Counts(by_row, n_predicted, n_true, n_labels)
    labels = Counts(partial.sum(axis=0), count(predictions), count(Y), n_rows)
    return Confusion(labels, instances, Y, predictions)


def check_pair(
    Y: Any, predictions: Any, *, caller: str
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Bring truth and predictions into canonical form, of one shape."""
    Y, predictions = match_lists(Y, predictions)
    check_same_names(Y, predictions, what="predictions", caller=caller)
    Y = check_truth(Y, caller=caller)
    found = check_labels(predictions, caller=f"{caller}, predictions")
    refuse_other_shape(found.shape, Y.shape, what="predictions", caller=caller)
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


def arrays_of(
    Y: sparse.csr_array, other: sparse.csr_array | sparse.csc_array
) -> tuple[Array, Array, Array, Array]:
    """Return the pointers and indices of two matrices, all of one type, as kernels read them."""
    arrays = (Y.indptr, Y.indices, other.indptr, other.indices)
    kind = np.result_type(*arrays)
    a, b, c, d = (part.astype(kind, copy=False) for part in arrays)
    return a, b, c, d


# Where there is nothing to divide by ------------------------------------------------------------


class Undefined:
    """A policy for values that are 0/0."""

    def __init__(self, policy: Any = "mulan", *, caller: str = "evaluate") -> None:
        is_number = isinstance(policy, numbers.Real) and not isinstance(policy, bool)
        if not is_number and not (isinstance(policy, str) and policy in ("mulan", "ignore")):
            raise refused("undefined", caller, "be 'mulan', 'ignore' or a number", policy)
        self.policy = policy

    def fill(self, values: Array, mulan: Any = math.nan) -> Array:
        """Put what the policy says in the place of NaN."""
        if self.policy == "ignore":
            return values
        return np.where(np.isnan(values), mulan if self.policy == "mulan" else self.policy, values)

    def mean(self, values: Array, mulan: Any = math.nan, *, skipped: bool = False) -> float:
        """Average values under the policy."""
        filled = self.fill(values, mulan)
        if self.policy == "ignore" or (skipped and self.policy == "mulan"):
            filled = filled[~np.isnan(filled)]
        return float(filled.mean()) if filled.size else math.nan


def ratio(numerator: Array, denominator: Array) -> Array:
    """Divide; NaN where the denominator is 0."""
    out = np.full(np.shape(denominator), math.nan)
    return np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)
