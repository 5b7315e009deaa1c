"""HOMER: a hierarchy of multilabel classifiers, from groups of labels down to single labels."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import AnyValue, Bool, Choice, Int
from scumble.learn.base import BaseMultilabelClassifier, MultilabelClassifierConstraint
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.inner_classifier import InnerClassifier, LabelsAndScores, TrainingData
from scumble.learn.transformation.binary_relevance import (
    BinaryRelevance,
    labels_and_scores_from_probabilities,
)
from scumble.learn.transformation.label_clustering import (
    CLUSTERING_METHODS,
    HierarchyNode,
    check_hierarchy,
    list_nodes,
    make_hierarchy,
)
from scumble.learn.transformation.label_powerset import (
    LabelPowerset,
    LabelsetProblem,
    most_probable_labelset_scores,
)
from scumble.learn.transformation.single_label_models import Models, SingleLabelFitter
from scumble.learn.transformation.targets import LabelTargets
from scumble.learn.trees.c45 import Target
from scumble.learn.weights import select_weights


class HOMER(BaseMultilabelClassifier, name="homer", display_group="Labelsets"):
    """A tree of groups of labels, with a small multilabel classifier at each node.

    The classifier of a node predicts to which of its children a row belongs; a row belongs to a
    group if it has any of its labels. It is fitted to the rows of its group only, so that every
    classifier has few, fairly balanced labels.

    Parameters
    ----------
    classifier : multilabel classifier, default=None
        The classifier at each node; by default `BinaryRelevance`.
    n_clusters : int, default=3
        Number of children of a node. With 1 there are no groups: one classifier learns all labels.
    method : {"balanced", "kmeans", "random", "mulan"}, default="balanced"
        How labels are grouped: by k-means with clusters of equal size, by k-means, at random into
        equal parts, or by the balanced k-means of MULAN, see Notes.
    hierarchy : nested sequences of int, default=None
        The tree, with the number of each label once, for example ``[[0, 3], [1, [2, 4]]]``; then
        labels are not clustered.
    mulan_compat : bool, default=False
        Whether scores are those of MULAN, see Notes. Predictions are the same.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the clustering and the classifiers.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    hierarchy_ : nested tuples of int
        The tree of labels.
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
    BinaryRelevance : The default classifier at the nodes.

    Notes
    -----
    A row descends to a child if the classifier of the node predicts it [1]_; a label is predicted
    if the row reaches it. The score of a label is the product of the scores on the path to it, by
    the chain rule. In MULAN, a predicted label has the score of its last step, a label that is
    rejected at its own leaf has 0, and all labels in a rejected group have the score of this
    group: so a label may rank above another one that came closer (``mulan_compat=True``). Sample
    weights are used by the classifiers at the nodes; labels are grouped without them.

    MULAN's clustering records some labels in other clusters than those that hold them;
    ``"balanced"`` does not. ``HOMER(method="mulan", mulan_compat=True, random_state=10)`` is the
    HOMER of MULAN with the same tree: it uses the random number generator of Java with this seed
    at every node, and takes labels in the order of the hashes of their names. Names are passed by
    `fit_dataset`, folds and experiments, or with a data frame of labels; without names the order
    is that of the columns. (MULAN hashes labels in another way if they have a hierarchy of their
    own, as in enron: pass the tree as `hierarchy` then.)

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

    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True)
    _parameter_constraints = {
        **BaseMultilabelClassifier._parameter_constraints,
        "classifier": MultilabelClassifierConstraint(),
        "n_clusters": Int(minimum=1),
        "method": Choice(*CLUSTERING_METHODS),
        "hierarchy": AnyValue("None or nested lists of labels"),
        "mulan_compat": Bool(),
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        n_clusters: int = 3,
        method: str = "balanced",
        hierarchy: Sequence[Any] | None = None,
        mulan_compat: bool = False,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.classifier = classifier
        self.n_clusters = n_clusters
        self.method = method
        self.hierarchy = hierarchy
        self.mulan_compat = mulan_compat
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _inner_estimator(self) -> Any:
        """Return the unfitted classifier of the nodes; None for `BinaryRelevance`."""
        return self.classifier

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `hierarchy_`, and fit the classifiers of its nodes."""
        generator = self._generator()
        self.hierarchy_: Any = self._make_hierarchy(Y, generator)
        self._nodes = list_nodes(self.hierarchy_)
        classifier = BinaryRelevance() if self.classifier is None else self.classifier
        problems = _node_problems(Y, self._nodes, sample_weight)
        if type(classifier) in (BinaryRelevance, LabelPowerset):
            self._node_models: _JointNodeModels | _SeparateNodeModels = _JointNodeModels(
                classifier, problems
            )
        else:
            self._node_models = _SeparateNodeModels(classifier, problems)
        self._node_models.fit(
            X, n_categories=self._codes.n_values, generator=generator, n_jobs=self.n_jobs
        )

    def _set_label_names(self, names: Sequence[str]) -> None:
        """Store the names of the labels for the next call of `fit`, whose ``y`` has no names."""
        self._label_names_for_fit: tuple[str, ...] | None = tuple(names)

    def _make_hierarchy(self, Y: sparse.csr_array, generator: np.random.Generator) -> Any:
        """Return the parameter `hierarchy` as nested tuples, or cluster the labels if it is None.

        Uses, and forgets, the names of labels that `_set_label_names` has stored.
        """
        names = getattr(self, "_label_names_for_fit", None) or self.label_names_
        self._label_names_for_fit = None
        if self.hierarchy is not None:
            return check_hierarchy(self.hierarchy, Y.shape[1], caller=type(self).__name__)
        return make_hierarchy(
            Y,
            method=self.method,
            n_clusters=self.n_clusters,
            names=names,
            seed=self.random_state,
            generator=generator,
        )

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the labels that each row reaches in the hierarchy, and the scores of all labels.

        A row reaches a label if all nodes on the way from the root predict the next one.
        """
        predictions = self._node_models.predict(X, n_jobs=self.n_jobs)
        return combine_node_predictions(
            self._nodes, predictions, self.n_labels_, mulan_scores=bool(self.mulan_compat)
        )


def combine_node_predictions(
    nodes: list[HierarchyNode],
    predictions: list[LabelsAndScores],
    n_labels: int,
    *,
    mulan_scores: bool,
) -> LabelsAndScores:
    """Return the labels and scores of all rows, given what each node predicts for its children.

    A row descends from the root to every predicted child; a label is predicted for the rows that
    reach it. ``predictions[i]`` has a column per child of ``nodes[i]``, and all rows. For
    ``mulan_scores`` see Notes of `HOMER`.
    """
    n_rows = len(predictions[0][0])
    labels = np.zeros((n_rows, n_labels), bool)
    scores = np.zeros((n_rows, n_labels))
    # By node: whether each row reaches it, and the product of the scores on the path to it.
    reached = {0: (np.ones(n_rows, bool), np.ones(n_rows))}
    for index, (node, (is_predicted, child_scores)) in enumerate(
        zip(nodes, predictions, strict=True)
    ):
        reaches_node, path_scores = reached.pop(index)
        for child, (child_labels, child_node) in enumerate(
            zip(node.labels_by_child, node.node_by_child, strict=True)
        ):
            descends = reaches_node & is_predicted[:, child]
            if child_node >= 0:
                reached[child_node] = descends, path_scores * child_scores[:, child]
                if mulan_scores:
                    rejected = reaches_node & ~descends
                    scores[np.ix_(rejected, child_labels)] = child_scores[rejected, child][:, None]
                continue
            [label] = child_labels
            labels[:, label] = descends
            if mulan_scores:
                scores[descends, label] = child_scores[descends, child]
            else:
                scores[:, label] = path_scores * child_scores[:, child]
    return labels, scores


class _NodeProblem(NamedTuple):
    """The multilabel problem of a node: its training rows, with its children as labels."""

    row_indices: Array | None  # rows of X that have a label of the group; None for all (the root)
    Y: sparse.csr_array  # bool, shape (n_rows_of_node, n_children): has any label of the child
    weights: Array | None  # by row of Y; None if all are 1


def _node_problems(
    Y: sparse.csr_array, nodes: list[HierarchyNode], weights: Array | None
) -> list[_NodeProblem]:
    """Return the multilabel problem of each node; ``weights`` are those of the rows of Y."""
    Y_by_label = Y.tocsc()
    n_rows = Y.shape[0]
    rows_by_label = np.split(Y_by_label.indices.astype(np.int64), Y_by_label.indptr[1:-1])
    problems = []
    for index, node in enumerate(nodes):
        n_children = len(node.labels_by_child)
        # A pair of a row and a child as one number, row * n_children + child. A row may have
        # several labels of a child, and thus the same pair several times.
        pairs: list[Array] = []
        for child, labels in enumerate(node.labels_by_child):
            pairs.extend(rows_by_label[label] * n_children + child for label in labels)
        pair_rows, pair_children = np.divmod(np.unique(np.concatenate(pairs)), n_children)
        is_root = index == 0
        node_rows = np.arange(n_rows) if is_root else np.unique(pair_rows)
        indptr = np.searchsorted(pair_rows, np.append(node_rows, n_rows))
        csr_parts = (np.ones(len(pair_children), bool), pair_children, indptr)
        problem = _NodeProblem(
            row_indices=None if is_root else node_rows,
            Y=sparse.csr_array(csr_parts, shape=(len(node_rows), n_children)),
            weights=select_weights(weights, node_rows),
        )
        problems.append(problem)
    return problems


class _JointNodeModels:
    """Binary relevance or label powerset at all nodes, whose models are fitted together.

    Stored with a model: the names of class and attributes are part of the file format.
    """

    def __init__(self, classifier: Any, problems: list[_NodeProblem]) -> None:
        self._estimator = classifier.estimator
        self._class_weight = getattr(classifier, "class_weight", None)
        self._is_powerset = isinstance(classifier, LabelPowerset)
        self._n_children = [problem.Y.shape[1] for problem in problems]  # by node
        self._targets: list[Target] = []
        #: By node: its labelsets that are classes; None for binary relevance.
        self._labelsets: list[Any] = []
        ends = [0]  # by node: the end of its columns among the class probabilities
        for problem in problems:
            targets, labelsets = self._make_targets(problem)
            self._targets.extend(targets)
            self._labelsets.append(labelsets)
            ends.append(ends[-1] + sum(target.n_classes for target in targets))
        #: By node: start and stop of its columns among the class probabilities of all models.
        self._column_ranges: list[tuple[int, int]] = list(pairwise(ends))
        self._models: Models

    def _make_targets(self, problem: _NodeProblem) -> tuple[list[Target], Any]:
        """Return the targets of the models of a node, and its labelsets that are classes.

        The labelsets are None for binary relevance. A node without training rows has no targets.
        """
        if problem.Y.shape[0] == 0:  # no training row has any label of the group
            return [], None
        if not self._is_powerset:
            return list(LabelTargets(problem.Y, problem.row_indices, problem.weights)), None
        labelset_problem = LabelsetProblem.from_labels(problem.Y, problem.weights)
        return [labelset_problem.make_target(problem.row_indices)], labelset_problem.labelsets

    def fit(self, X: Any, *, n_categories: Array, generator: Any, n_jobs: int | None) -> None:
        """Fit the models of all nodes; the arguments are those of `SingleLabelFitter`."""
        fitter = SingleLabelFitter(
            estimator=self._estimator,
            X=X,
            n_categories=n_categories,
            generator=generator,
            class_weight=self._class_weight,
            n_jobs=n_jobs,
        )
        self._models = fitter.fit(self._targets)
        self._targets = []  # frees the training labels

    def predict(self, X: Any, *, n_jobs: int | None) -> list[LabelsAndScores]:
        """Return the predicted children of each node and their scores, for all rows."""
        all_probabilities = self._models.predict_proba(X, n_jobs=n_jobs)
        n_rows = len(all_probabilities)
        predictions: list[LabelsAndScores] = []
        for (start, stop), n_children, labelsets in zip(
            self._column_ranges, self._n_children, self._labelsets, strict=True
        ):
            probabilities = all_probabilities[:, start:stop]
            if start == stop:  # a node without training rows
                zeros = np.zeros((n_rows, n_children))
                predictions.append((zeros.astype(bool), zeros))
            elif labelsets is None:
                predictions.append(labels_and_scores_from_probabilities(probabilities))
            else:
                labels = labelsets[probabilities.argmax(axis=1)].toarray()
                scores = most_probable_labelset_scores(labels, probabilities)
                predictions.append((labels, scores))
        return predictions


class _SeparateNodeModels:
    """Copies of any multilabel classifier, one per node, which are fitted one by one.

    Stored with a model: the names of class and attributes are part of the file format.
    """

    def __init__(self, classifier: Any, problems: list[_NodeProblem]) -> None:
        self._classifier = classifier
        self._problems = problems
        self._fitted: list[InnerClassifier] = []  # by node

    def fit(self, X: Any, *, n_categories: Array, generator: Any, n_jobs: int | None) -> None:
        """Fit a copy of the classifier at each node; the arguments are those of `TrainingData`."""
        for problem in self._problems:
            training = TrainingData(
                X=X if problem.row_indices is None else X[problem.row_indices],
                Y=problem.Y,
                n_categories=n_categories,
                weights=problem.weights,
                generator=generator,
                n_jobs=n_jobs,
            )
            self._fitted.append(training.fit(self._classifier))
        self._problems = []  # frees the training labels

    def predict(self, X: Any, *, n_jobs: int | None) -> list[LabelsAndScores]:
        """Return the predicted children of each node and their scores, for all rows.

        ``n_jobs`` is not used: the classifiers have their own parameter.
        """
        return [classifier.predict_labels_and_scores(X) for classifier in self._fitted]
