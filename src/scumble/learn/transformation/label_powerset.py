"""Label powerset: a single classifier whose classes are the labelsets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.learn.transformation.single_label_models import ProblemTransformationClassifier
from scumble.learn.trees.c45 import Target
from scumble.learn.weights import take_weights
from scumble.measures.labelsets import Labelsets, labelset_of_rows


@dataclass(frozen=True, eq=False)
class LabelsetProblem:
    """A single-label problem whose classes are labelsets."""

    sets: sparse.csr_array  # shape (n_classes, n_labels): the labelset of each class
    rows: Array  # training rows; a row that counts for several labelsets occurs several times
    codes: Array  # the class of each of these rows
    weights: Array | None = None  # the weight of each of these rows; None if all are 1

    @classmethod
    def of(cls, Y: sparse.csr_array, weights: Array | None = None) -> LabelsetProblem:
        """Return the problem in which every labelset is a class, the most frequent first."""
        labelset_of_row, labelsets = labelset_of_rows(Y)
        if weights is not None:
            labelsets = Labelsets(labelsets.first_row, np.bincount(labelset_of_row, weights))
        code_of_labelset = np.empty(len(labelsets), np.int32)
        code_of_labelset[labelsets.order] = np.arange(len(labelsets))
        return cls(
            sets=Y[labelsets.first_row[labelsets.order]],
            rows=np.arange(Y.shape[0]),
            codes=code_of_labelset[labelset_of_row],
            weights=weights,
        )

    def target(self, rows: Array | None = None) -> Target:
        """Return the target that holds the classes of these rows of a table; all by default."""
        n_classes = self.sets.shape[0]
        return Target(self.codes, n_classes=n_classes, rows=rows, weights=self.weights)

    def sizes(self) -> Array:
        """Return the total weight of the rows of each class."""
        return np.bincount(self.codes, self.weights, self.sets.shape[0])


class LabelPowerset(ProblemTransformationClassifier, name="lp", display_group="Labelsets"):
    """A single classifier whose classes are the labelsets that occur in training.

    It uses the dependencies between labels, but predicts only labelsets that it was trained on.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; by default `C45Classifier`. Any scikit-learn classifier is accepted.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    labelsets_ : csr_array of bool, shape (n_labelsets, n_labels)
        The labelsets that are classes, the most frequent first.
    models_ : Forest or SklearnModels
        The fitted model.
    classes_ : list of ndarray, or ndarray
        The two values of each label; the classes if ``y`` held one class per row.
    n_labels_ : int
        Number of labels, or of classes.
    label_names_ : tuple of str or None
        Names of the labels; None if they have none.
    n_features_in_ : int
        Number of columns of X in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X; only if they have names.

    See Also
    --------
    PrunedSets : Leaves out rare labelsets.

    Notes
    -----
    The most probable labelset is predicted; of equally probable ones, the most frequent in
    training (MULAN draws one). With P its probability, its labels have the score P and all others
    1 - P, as in MULAN.

    Examples
    --------
    >>> from scumble.learn import LabelPowerset
    >>> X = [[1], [2], [3], [4], [5], [6]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [1, 1], [1, 1], [1, 1]]
    >>> LabelPowerset().fit(X, Y).predict([[1], [6]])
    array([[1, 0],
           [1, 1]])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _make_problem(self, Y: sparse.csr_array, sample_weight: Array | None) -> LabelsetProblem:
        """Choose the labelsets that are classes, and the class of each row."""
        return LabelsetProblem.of(Y, sample_weight)

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Fit one model to the labelsets."""
        problem = self._make_problem(Y, sample_weight)
        self.labelsets_: sparse.csr_array = problem.sets
        shared = build_shared_table(X, [problem])
        self.models_ = self._fit_targets(shared.X, shared.targets)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the most probable labelset of each row, and the scores of all labels."""
        labels = np.zeros((X.shape[0], self.n_labels_), bool)
        scores = np.zeros(labels.shape)
        for rows, probabilities in self._predict_proba_blocks(X):
            labels[rows] = self.labelsets_[probabilities.argmax(axis=1)].toarray()
            scores[rows] = self._label_scores(labels[rows], probabilities)
        return labels, scores

    def _label_scores(self, labels: Array, probabilities: Array) -> Array:
        """Return the scores of all labels, given the probabilities of the labelsets."""
        return most_probable_labelset_scores(labels, probabilities)

    def _predict_class_scores(self, X: Any) -> Array:
        """Return the total probability of the labelsets with each label."""
        scores = np.zeros((X.shape[0], self.n_labels_))
        for rows, probabilities in self._predict_proba_blocks(X):
            scores[rows] = probabilities @ self.labelsets_
        return scores


def most_probable_labelset_scores(labels: Array, probabilities: Array) -> Array:
    """Return the largest probability P for the predicted labels, and 1 - P for all others."""
    largest = probabilities.max(axis=1, keepdims=True)
    return np.where(labels, largest, 1 - largest)


class SharedTable(NamedTuple):
    """One table for several problems, and their targets on it."""

    X: Any
    targets: list[Target]


def build_shared_table(X: Any, problems: list[LabelsetProblem]) -> SharedTable:
    """Repeat rows of X so that every problem can use a row as often as it needs.

    A target may use each row of a table once, but a problem may have a row with several classes.
    """
    n_rows = X.shape[0]
    uses = [np.bincount(problem.rows, minlength=n_rows) for problem in problems]
    n_copies = np.maximum(np.max(uses, axis=0) - 1, 0)  # besides the row itself
    copied_rows = np.repeat(np.arange(n_rows), n_copies)
    first_copy = n_rows + np.cumsum(n_copies) - n_copies
    n_table_rows = n_rows + len(copied_rows)
    targets = []
    for problem in problems:
        earlier = _count_earlier_uses(problem.rows)
        copies = first_copy[problem.rows] + earlier - 1
        table_rows = np.where(earlier == 0, problem.rows, copies)
        targets.append(_sorted_target(problem, table_rows, n_table_rows))
    if len(copied_rows):
        X = X[np.concatenate([np.arange(n_rows), copied_rows])]
    return SharedTable(X, targets)


def _sorted_target(problem: LabelsetProblem, table_rows: Array, n_table_rows: int) -> Target:
    """Return the target of a problem, with the rows of the table in ascending order."""
    order = np.argsort(table_rows)
    codes = problem.codes[order]
    weights = take_weights(problem.weights, order)
    uses_all_rows = len(table_rows) == n_table_rows
    rows = None if uses_all_rows else table_rows[order]  # None is faster than a list of all rows
    return replace(problem, codes=codes, weights=weights).target(rows)


def _count_earlier_uses(rows: Array) -> Array:
    """Return, for each entry, how often the same row occurs before it."""
    order = np.argsort(rows, kind="stable")
    _, starts, sizes = np.unique(rows[order], return_index=True, return_counts=True)
    counts = np.empty(len(rows), np.int64)
    counts[order] = np.arange(len(rows)) - np.repeat(starts, sizes)
    return counts
