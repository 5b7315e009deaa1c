"""Label powerset: every labelset is a class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.learn.base import parameters
from scumble.learn.c45 import Target
from scumble.learn.single_label_models import ProblemTransformationClassifier
from scumble.learn.weights import take_weights
from scumble.measures.labelsets import Labelsets, labelset_of_rows


@dataclass(frozen=True, eq=False)
class LabelsetProblem:
    """Labelsets as classes."""

    sets: sparse.csr_array  # shape (n_classes, n_labels): the labelset each class stands for
    rows: Array  # training rows; one that counts for several labelsets comes several times
    codes: Array  # the class of each
    weights: Array | None = None  # how much each counts; None where all count 1

    @classmethod
    def of(cls, Y: sparse.csr_array, weights: Array | None = None) -> LabelsetProblem:
        """Make every labelset a class, the most frequent first."""
        numbers, found = labelset_of_rows(Y)
        if weights is not None:
            found = Labelsets(found.first_row, np.bincount(numbers, weights))
        rank = np.empty(len(found), np.int32)
        rank[found.order] = np.arange(len(found))
        sets = Y[found.first_row[found.order]]
        return cls(sets, np.arange(Y.shape[0]), rank[numbers], weights)

    def target(self, rows: Array | None = None) -> Target:
        """Learn the classes on all rows of a table, or on these."""
        n_classes = self.sets.shape[0]
        return Target(self.codes, n_classes=n_classes, rows=rows, weights=self.weights)

    def sizes(self) -> Array:
        """Tell how much the rows of each class count together."""
        return np.bincount(self.codes, self.weights, self.sets.shape[0])


@parameters(kw_only=True)
class LabelPowerset(ProblemTransformationClassifier, name="lp", display_group="Labelsets"):
    """A single classifier whose classes are the labelsets seen in training.

    It can only predict combinations it has seen, and knows how labels go together.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns the labelsets; `C45Classifier` by default. Any scikit-learn classifier will
        do.

    Attributes
    ----------
    labelsets_ : csr_array of bool, shape (n_labelsets, n_labels)
        The labelsets that are classes, the most frequent first.
    models_ : Forest or ForeignModels
        The fitted model.

    See Also
    --------
    PrunedSets : Leaves out rare labelsets.

    Notes
    -----
    The most probable labelset is predicted; of equals the most frequent one in training (MULAN
    draws one). With P its probability, its labels have the confidence P and all others 1 - P, as
    in MULAN.

    Examples
    --------
    >>> from scumble.learn import LabelPowerset
    >>> X = [[1], [2], [3], [4], [5], [6]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [1, 1], [1, 1], [1, 1]]
    >>> LabelPowerset().fit(X, Y).predict([[1], [6]])
    array([[1, 0],
           [1, 1]])
    """

    def _problem(self, Y: sparse.csr_array, weights: Array | None) -> LabelsetProblem:
        """Choose the classes."""
        return LabelsetProblem.of(Y, weights)

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        problem = self._problem(Y, weights)
        self.labelsets_: sparse.csr_array = problem.sets
        self._fit_models(*build_shared_table(X, [problem]))

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        labels = np.zeros((X.shape[0], self.n_labels_), bool)
        confidences = np.zeros(labels.shape)
        for rows, probabilities in self._predict_proba_blocks(X):
            labels[rows] = self.labelsets_[probabilities.argmax(axis=1)].toarray()
            confidences[rows] = self._label_scores(labels[rows], probabilities)
        return labels, confidences

    def _label_scores(self, labels: Array, probabilities: Array) -> Array:
        return most_probable_labelset_scores(labels, probabilities)

    def _predict_class_scores(self, X: Any) -> Array:
        scores = np.zeros((X.shape[0], self.n_labels_))
        for rows, probabilities in self._predict_proba_blocks(X):
            scores[rows] = probabilities @ self.labelsets_
        return scores


def most_probable_labelset_scores(labels: Array, probabilities: Array) -> Array:
    """Give the labels of the winner its probability, all others what is left."""
    largest = probabilities.max(axis=1, keepdims=True)
    return np.where(labels, largest, 1 - largest)


def build_shared_table(X: Any, problems: list[LabelsetProblem]) -> tuple[Any, list[Target]]:
    """Lay out problems on one table, in which a row appears as often as any of them needs it."""
    n = X.shape[0]
    turns = [_turns(problem.rows) for problem in problems]
    times = [np.bincount(problem.rows, minlength=n) for problem in problems]
    needed = np.maximum(np.max(times, axis=0) - 1, 0)
    copied = np.repeat(np.arange(n), needed)
    first_copy = n + np.cumsum(needed) - needed
    targets = [
        _target(np.where(turn == 0, p.rows, first_copy[p.rows] + turn - 1), p, n + len(copied))
        for p, turn in zip(problems, turns, strict=True)
    ]
    return (X if len(copied) == 0 else X[np.concatenate([np.arange(n), copied])]), targets


def _target(rows: Array, problem: LabelsetProblem, n_rows: int) -> Target:
    order = np.argsort(rows)
    weights = take_weights(problem.weights, order)
    listed = None if len(rows) == n_rows else rows[order]  # all are learnt faster when not listed
    return replace(problem, codes=problem.codes[order], weights=weights).target(listed)


def _turns(rows: Array) -> Array:
    """Count for each entry how many times its row came before."""
    order = np.argsort(rows, kind="stable")
    _, starts, sizes = np.unique(rows[order], return_index=True, return_counts=True)
    turns = np.empty(len(rows), np.int64)
    turns[order] = np.arange(len(rows)) - np.repeat(starts, sizes)
    return turns
