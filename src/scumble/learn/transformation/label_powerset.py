"""Label powerset: a single classifier whose classes are the labelsets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.transformation.single_label_models import ProblemTransformationClassifier
from scumble.learn.trees.c45 import Target
from scumble.learn.weights import select_weights
from scumble.measures.labelsets import Labelsets, labelset_of_rows


@dataclass(frozen=True, eq=False)
class LabelsetProblem:
    """A multiclass problem whose classes are labelsets, with its training examples.

    Usually every row is one training example. A row that counts for several labelsets, as in pruned
    sets, is several examples.
    """

    labelsets: sparse.csr_array  # bool, shape (n_classes, n_labels): the labelset of each class
    row_indices: Array  # by example: the row of X
    codes: Array  # int32, by example: the class code
    weights: Array | None = None  # by example; None if all are 1

    @classmethod
    def from_labels(cls, Y: sparse.csr_array, weights: Array | None = None) -> LabelsetProblem:
        """Return the problem in which every labelset of Y is a class, the most frequent first.

        Labelsets are counted by the weights of their rows.
        """
        labelset_of_row, labelsets = labelset_of_rows(Y)
        if weights is not None:
            labelsets = Labelsets(labelsets.first_row, np.bincount(labelset_of_row, weights))
        code_of_labelset = np.empty(len(labelsets), np.int32)
        code_of_labelset[labelsets.order] = np.arange(len(labelsets))
        return cls(
            labelsets=Y[labelsets.first_row[labelsets.order]],
            row_indices=np.arange(Y.shape[0]),
            codes=code_of_labelset[labelset_of_row],
            weights=weights,
        )

    def make_target(self, row_indices: Array | None = None) -> Target:
        """Return the target of a model of this problem.

        ``row_indices`` are the row indices of the examples in the model's X; by default example i
        is row i. `LabelsetProblem.row_indices` is not used.
        """
        n_classes = self.labelsets.shape[0]
        return Target(self.codes, n_classes=n_classes, rows=row_indices, weights=self.weights)

    def class_weights(self) -> Array:
        """Return the total weight of the examples of each class; their number without weights."""
        return np.bincount(self.codes, self.weights, self.labelsets.shape[0])


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

    # All labels that are not in the predicted labelset have the same score.
    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True, scores_rank_rows=False)

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

    def _to_multiclass(self, Y: sparse.csr_array, sample_weight: Array | None) -> LabelsetProblem:
        """Return the multiclass problem in which every labelset of Y is a class."""
        return LabelsetProblem.from_labels(Y, sample_weight)

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `labelsets_`, and `models_` with a single model."""
        problem = self._to_multiclass(Y, sample_weight)
        self.labelsets_: sparse.csr_array = problem.labelsets
        shared = repeat_rows_for_problems(X, [problem])
        self.models_ = self._fit_targets(shared.X, shared.targets)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the most probable labelset of each row, and the scores of all labels."""
        labels = np.zeros((X.shape[0], self.n_labels_), bool)
        scores = np.zeros(labels.shape)
        for block, probabilities in self._predict_proba_blocks(X):
            labels[block] = self.labelsets_[probabilities.argmax(axis=1)].toarray()
            scores[block] = self._label_scores(labels[block], probabilities)
        return labels, scores

    def _label_scores(self, labels: Array, probabilities: Array) -> Array:
        """Return the scores of all labels, shape (n_rows, n_labels).

        ``labels`` are those of the most probable labelset of each row; ``probabilities`` are those
        of all labelsets, of shape (n_rows, n_labelsets).
        """
        return most_probable_labelset_scores(labels, probabilities)

    def _predict_class_scores(self, X: Any) -> Array:
        """Return for each row and label the total probability of the labelsets with the label."""
        scores = np.zeros((X.shape[0], self.n_labels_))
        for block, probabilities in self._predict_proba_blocks(X):
            scores[block] = probabilities @ self.labelsets_
        return scores


def most_probable_labelset_scores(labels: Array, probabilities: Array) -> Array:
    """Return scores of labels: the largest probability P of a labelset, or 1 - P.

    The score is P for the labels of the most probable labelset (``labels``, bool, of shape (n_rows,
    n_labels)), and 1 - P for all others. ``probabilities`` has a column per labelset.
    """
    largest = probabilities.max(axis=1, keepdims=True)
    return np.where(labels, largest, 1 - largest)


class SharedTrainingData(NamedTuple):
    """One X for the models of several problems, and the target of each model on it."""

    X: Any
    targets: list[Target]  # by problem


def repeat_rows_for_problems(X: Any, problems: list[LabelsetProblem]) -> SharedTrainingData:
    """Return X with copies of rows after its own, and the target of each problem on it.

    A target may use each row of X once, but a row may be several examples of a problem. The second
    and later ones use copies of the row, which the problems share.
    """
    n_rows = X.shape[0]
    uses = [np.bincount(problem.row_indices, minlength=n_rows) for problem in problems]
    n_copies = np.maximum(np.max(uses, axis=0) - 1, 0)  # by row, besides the row itself
    copied_rows = np.repeat(np.arange(n_rows), n_copies)
    first_copy = n_rows + np.cumsum(n_copies) - n_copies
    n_rows_with_copies = n_rows + len(copied_rows)
    targets = []
    for problem in problems:
        n_earlier = _count_earlier_occurrences(problem.row_indices)
        copies = first_copy[problem.row_indices] + n_earlier - 1
        row_indices = np.where(n_earlier == 0, problem.row_indices, copies)
        targets.append(_sorted_target(problem, row_indices, n_rows=n_rows_with_copies))
    if len(copied_rows):
        X = X[np.concatenate([np.arange(n_rows), copied_rows])]
    return SharedTrainingData(X, targets)


def _sorted_target(problem: LabelsetProblem, row_indices: Array, *, n_rows: int) -> Target:
    """Return the target of a problem, with its examples in ascending order of their rows.

    ``row_indices`` are the rows of the examples, all different, in an X of ``n_rows`` rows.
    """
    order = np.argsort(row_indices)
    sorted_problem = replace(
        problem,
        codes=problem.codes[order],
        weights=select_weights(problem.weights, order),
    )
    uses_all_rows = len(row_indices) == n_rows
    # For all rows, None is faster than their indices.
    return sorted_problem.make_target(None if uses_all_rows else row_indices[order])


def _count_earlier_occurrences(row_indices: Array) -> Array:
    """Return for each entry of an array how often the same number occurs before it."""
    order = np.argsort(row_indices, kind="stable")
    _, starts, counts = np.unique(row_indices[order], return_index=True, return_counts=True)
    n_earlier = np.empty(len(row_indices), np.int64)
    n_earlier[order] = np.arange(len(row_indices)) - np.repeat(starts, counts)
    return n_earlier
