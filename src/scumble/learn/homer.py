"""HOMER: a hierarchy of multilabel classifiers, from groups of labels down to single ones."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import AnyValue, Bool, Choice, Int, default
from scumble.learn.base import BaseMultilabelClassifier, MultilabelClassifierConstraint, parameters
from scumble.learn.binary_relevance import BinaryRelevance, labels_and_scores_from_probabilities
from scumble.learn.c45 import Target
from scumble.learn.hierarchy import (
    CLUSTERING_METHODS,
    HierarchyNode,
    check_hierarchy,
    list_nodes,
    make_hierarchy,
)
from scumble.learn.inner_classifier import InnerClassifier, LabelsAndScores, TrainingData
from scumble.learn.label_powerset import (
    LabelPowerset,
    LabelsetProblem,
    most_probable_labelset_scores,
)
from scumble.learn.single_label_models import Models, SingleLabelFitter
from scumble.learn.targets import LabelTargets
from scumble.learn.weights import take_weights


@parameters()
class HOMER(BaseMultilabelClassifier, name="homer", display_group="Labelsets"):
    """A tree of groups of labels, with a small multilabel classifier at each node.

    A node's classifier tells which of its children a row may belong to, where a group counts as
    present if any of its labels is. It has learnt from the rows of its group only, so that every
    classifier sees few labels, and fairly balanced ones.

    Parameters
    ----------
    classifier : multilabel classifier, default=None
        What decides at each node; `BinaryRelevance` by default.
    n_clusters : int, default=3
        Number of children of a node. With 1 there are no groups: the classifier sees all labels.
    method : {"balanced", "kmeans", "random", "mulan"}, default="balanced"
        How labels are grouped: by k-means with clusters of equal size, by plain k-means, at
        random in equal parts, or as MULAN's balanced k-means does, see Notes.
    hierarchy : nested sequences of int, default=None
        The tree itself, each label once by its number, for instance ``[[0, 3], [1, [2, 4]]]``;
        then nothing is clustered.
    mulan_compat : bool, default=False
        Whether confidences are those of MULAN, see Notes. Predictions are the same.
    random_state : None, int or Generator, default=None
        Seed of the clustering.

    Attributes
    ----------
    hierarchy_ : nested tuples of int
        The tree of labels.

    See Also
    --------
    BinaryRelevance : What decides at the nodes.

    Notes
    -----
    A row goes down to a child if the node's classifier predicts it [1]_; a label is predicted if
    a row comes down to it. The confidence of a label is the product of the confidences on the
    way, by the chain rule. MULAN gives a predicted label the confidence of its last step, a label
    rejected at its own leaf 0, and all labels below a rejected group the confidence of that
    group: so a label may rank above another that came closer (``mulan_compat=True``). Weights of
    rows reach the classifiers at the nodes; labels are grouped without them.

    MULAN's clustering records labels in other clusters than those that hold them; with
    ``"balanced"`` they are where they are. ``HOMER(method="mulan", mulan_compat=True,
    random_state=10)`` is MULAN's HOMER, tree and all: it draws from Java's generator with that
    seed at every node, and takes labels in the order of the hash of their names. Names come with
    `fit_dataset`, folds and experiments, or with a frame of labels; without names the order is
    that of the columns. (Labels that have a hierarchy of their own, as enron's, are hashed
    otherwise by MULAN: pass the tree as `hierarchy` there.)

    References
    ----------
    .. [1] Tsoumakas, G., Katakis, I., & Vlahavas, I. (2008). Effective and efficient multilabel
       classification in domains with large number of labels. *MMD 2008*.

    Examples
    --------
    >>> from scumble.learn import HOMER
    >>> X = [[1], [2], [3], [4], [5], [6], [7], [8]]
    >>> Y = [[1, 1, 0, 0]] * 4 + [[0, 0, 1, 1]] * 4
    >>> homer = HOMER(n_clusters=2, random_state=0).fit(X, Y)
    >>> homer.hierarchy_
    ((2, 3), (0, 1))
    >>> homer.predict([[1], [8]])
    array([[1, 1, 0, 0],
           [0, 0, 1, 1]])
    >>> HOMER(n_clusters=2, method="mulan", random_state=10).fit(X, Y).hierarchy_
    ((2, 3), (0, 1))
    """

    classifier: Any = default(None, MultilabelClassifierConstraint())
    _: KW_ONLY
    n_clusters: int = default(3, Int(1))
    method: str = default("balanced", Choice(*CLUSTERING_METHODS))
    hierarchy: Sequence[Any] | None = default(None, AnyValue("None or nested lists of labels"))
    mulan_compat: bool = default(False, Bool())
    random_state: Any = None

    def _inner_estimator(self) -> Any:
        return self.classifier

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        generator = self._generator()
        self.hierarchy_: Any = self._make_hierarchy(Y, generator)
        self._nodes = list_nodes(self.hierarchy_)
        inner = BinaryRelevance() if self.classifier is None else self.classifier
        kind = _Shared if type(inner) in (BinaryRelevance, LabelPowerset) else _Single
        problems = _node_problems(Y, self._nodes, weights)
        self._node_models: _Shared | _Single = kind(inner, problems)
        self._node_models.fit(X, self._codes.n_values, generator, self.n_jobs)

    def _know_labels(self, names: Sequence[str]) -> None:
        """Hear the names of the labels that the next call of `fit` gives as a matrix."""
        self._names_told: tuple[str, ...] | None = tuple(names)

    def _make_hierarchy(self, Y: sparse.csr_array, generator: np.random.Generator) -> Any:
        names = getattr(self, "_names_told", None) or self.label_names_
        self._names_told = None
        if self.hierarchy is not None:
            return check_hierarchy(self.hierarchy, Y.shape[1], caller=type(self).__name__)
        how = (self.method, self.n_clusters, names, self.random_state)
        return make_hierarchy(Y, *how, generator)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        answers = self._node_models.ask(X, self.n_jobs)
        return descend(self._nodes, answers, self.n_labels_, compat=bool(self.mulan_compat))


def descend(
    nodes: list[HierarchyNode], answers: list[LabelsAndScores], n_labels: int, *, compat: bool
) -> LabelsAndScores:
    """Follow all rows from the root down."""
    n_rows = len(answers[0][0])
    labels = np.zeros((n_rows, n_labels), bool)
    confidences = np.zeros((n_rows, n_labels))
    reached = {0: (np.ones(n_rows, bool), np.ones(n_rows))}  # which rows, and how surely
    for number, (node, (present, sure)) in enumerate(zip(nodes, answers, strict=True)):
        here, weight = reached.pop(number)
        for child, (below, inner) in enumerate(zip(node.below, node.inner, strict=True)):
            going = here & present[:, child]
            if inner >= 0:
                reached[inner] = going, weight * sure[:, child]
                if compat:
                    turned_away = here & ~going
                    confidences[np.ix_(turned_away, below)] = sure[turned_away, child][:, None]
                continue
            labels[:, below[0]] = going
            if compat:
                confidences[going, below[0]] = sure[going, child]
            else:
                confidences[:, below[0]] = weight * sure[:, child]
    return labels, confidences


class _NodeProblem(NamedTuple):
    """The rows and targets of one node: a column per child."""

    rows: Array | None
    Y: sparse.csr_array
    weights: Array | None


def _node_problems(Y: Any, nodes: list[HierarchyNode], weights: Array | None) -> list[_NodeProblem]:
    """Find each node's rows (all for the root) and which child each of them belongs to."""
    by_label, n_rows, problems = Y.tocsc(), Y.shape[0], []
    rows_of = np.split(by_label.indices.astype(np.int64), by_label.indptr[1:-1])
    for number, node in enumerate(nodes):
        width = len(node.below)
        of_children = enumerate(node.below)
        cells = [rows_of[label] * width + child for child, part in of_children for label in part]
        cell_rows, children = np.divmod(np.unique(np.concatenate(cells)), width)
        rows = np.unique(cell_rows) if number else None
        chosen = np.arange(n_rows) if rows is None else rows
        starts = np.searchsorted(cell_rows, np.append(chosen, n_rows))
        cells_of = (np.ones(len(children), bool), children, starts)
        by_child = sparse.csr_array(cells_of, shape=(len(chosen), width))
        problems.append(_NodeProblem(rows, by_child, take_weights(weights, chosen)))
    return problems


class _Shared:
    """Binary relevance or label powerset at all nodes: their models are fitted together."""

    def __init__(self, inner: Any, problems: list[_NodeProblem]) -> None:
        self._estimator = inner.estimator
        self._class_weight = getattr(inner, "class_weight", None)
        self._powerset = isinstance(inner, LabelPowerset)
        self._widths = [problem.Y.shape[1] for problem in problems]
        plans = [self._plan(problem) for problem in problems]
        self._targets: list[Target] = [target for targets, _ in plans for target in targets]
        ends = np.cumsum([sum(t.n_classes for t in targets) for targets, _ in plans]).tolist()
        self._spans: list[tuple[int, int]] = list(pairwise([0, *ends]))
        self._sets = [sets for _, sets in plans]
        self._models: Models

    def _plan(self, problem: _NodeProblem) -> tuple[list[Target], Any]:
        if problem.Y.shape[0] == 0:  # a group no training row has is never reached
            return [], None
        if not self._powerset:
            return list(LabelTargets(problem.Y, problem.rows, problem.weights)), None
        whole = LabelsetProblem.of(problem.Y, problem.weights)
        return [whole.target(problem.rows)], whole.sets

    def fit(self, X: Any, n_values: Array, generator: Any, n_jobs: int | None) -> None:
        how = {"class_weight": self._class_weight, "generator": generator, "n_jobs": n_jobs}
        self._models = SingleLabelFitter(self._estimator, X, n_values, **how).fit(self._targets)
        self._targets = []  # the training labels are not needed any more

    def ask(self, X: Any, n_jobs: int | None) -> list[LabelsAndScores]:
        whole = self._models.ask(X, n_jobs=n_jobs)
        answers: list[LabelsAndScores] = []
        for (start, stop), width, sets in zip(self._spans, self._widths, self._sets, strict=True):
            part = whole[:, start:stop]
            if start == stop:
                nothing = np.zeros((len(whole), width))
                answers.append((nothing.astype(bool), nothing))
            elif sets is None:
                answers.append(labels_and_scores_from_probabilities(part))
            else:
                labels = sets[part.argmax(axis=1)].toarray()
                answers.append((labels, most_probable_labelset_scores(labels, part)))
        return answers


class _Single:
    """Any multilabel classifier, cloned for each node."""

    def __init__(self, inner: Any, problems: list[_NodeProblem]) -> None:
        self._inner = inner
        self._problems = problems
        self._fitted: list[InnerClassifier] = []

    def fit(self, X: Any, n_values: Array, generator: Any, n_jobs: int | None) -> None:
        for problem in self._problems:
            part = X if problem.rows is None else X[problem.rows]
            training = TrainingData(part, problem.Y, n_values, problem.weights, generator, n_jobs)
            self._fitted.append(training.fit(self._inner))
        self._problems = []

    def ask(self, X: Any, n_jobs: int | None) -> list[LabelsAndScores]:
        return [inside.predict_labels_and_scores(X) for inside in self._fitted]
