"""RAkEL: label powersets on small random groups of labels."""

import itertools
import math
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Bool, Int, Optional
from scumble.learn.transformation.label_powerset import (
    LabelsetProblem,
    most_probable_labelset_scores,
)
from scumble.learn.transformation.single_label_models import ProblemTransformationClassifier
from scumble.learn.transformation.targets import LazyTargets
from scumble.learn.weights import repeat_weights_by_row


class RAkEL(ProblemTransformationClassifier, name="rakel", display_group="Labelsets"):
    """Label powersets on random groups of a few labels each, which vote if they overlap.

    A label powerset of all labels predicts only the labelsets that it was trained on, most of
    which occur once. Groups of three labels have at most eight labelsets, with many rows each,
    and still use the dependencies between labels.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner of each group; by default `C45Classifier`. Any scikit-learn classifier is
        accepted.
    size : int, default=3
        Number of labels in a group; with fewer labels, all of them make one group.
    overlapping : bool, default=True
        Whether a label may be in several groups (RAkELo) or is in exactly one (RAkELd).
    n_labelsets : int, default=None
        Number of overlapping groups; by default twice the number of labels, or the number of
        possible groups if that is less. It has no effect on disjoint groups.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the groups and of the base learners.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    labelsets_ : list of ndarray of int64
        The labels of each group, ascending.
    models_ : Forest or SklearnModels
        One fitted model per group.
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
    LabelPowerset : One group of all labels.

    Notes
    -----
    Overlapping groups are drawn without repetition [1]_. The score of a label is the share of its
    groups whose most probable labelset contains it, and it is predicted from one half on, as in
    the paper and in MULAN. A label may by chance be in no group (about one of 400 by default):
    its score is then its share of the training rows, where MULAN returns 0.

    Disjoint groups have one vote for each label, which cannot rank rows: their scores are those
    of `LabelPowerset`, the probability P of the most probable labelset of the group for its
    labels and 1 - P for the others. The last group has the remaining labels; if this is a single
    label, it joins the group before, as in MULAN. Labelsets and shares are counted by sample
    weight.

    References
    ----------
    .. [1] Tsoumakas, G., Katakis, I., & Vlahavas, I. (2011). Random k-labelsets for multilabel
       classification. *IEEE Transactions on Knowledge and Data Engineering*, 23(7).

    Examples
    --------
    >>> from scumble.learn import RAkEL
    >>> X = [[1], [2], [3], [4], [5], [6], [7], [8]]
    >>> Y = [[1, 1, 0, 0]] * 4 + [[0, 0, 1, 1]] * 4
    >>> model = RAkEL(size=2, random_state=0).fit(X, Y)
    >>> [labels.tolist() for labels in model.labelsets_]
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    >>> model.predict([[1], [8]])
    array([[1, 1, 0, 0],
           [0, 0, 1, 1]])
    """

    _parameter_constraints = {
        **ProblemTransformationClassifier._parameter_constraints,
        "size": Int(minimum=1),
        "overlapping": Bool(),
        "n_labelsets": Optional(Int(minimum=1)),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        size: int = 3,
        overlapping: bool = True,
        n_labelsets: int | None = None,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.size = size
        self.overlapping = overlapping
        self.n_labelsets = n_labelsets
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _draw_labelsets(self, n_labels: int, generator: np.random.Generator) -> list[Array]:
        """Draw the label indices of each group, ascending within a group."""
        group_size = min(int(self.size), n_labels)
        if not self.overlapping:
            return draw_disjoint_labelsets(n_labels, group_size, generator)
        n_groups = 2 * n_labels if self.n_labelsets is None else int(self.n_labelsets)
        return draw_overlapping_labelsets(n_labels, group_size, n_groups, generator)

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `labelsets_` and `models_`, with one entry per group of labels."""
        generator = self._generator()
        groups = self._draw_labelsets(Y.shape[1], generator)
        self.labelsets_: list[Array] = groups
        Y_by_label = Y.tocsc()

        def to_multiclass(group: int) -> LabelsetProblem:
            """Return the problem whose classes are the labelsets of the group with this index."""
            return LabelsetProblem.from_labels(Y_by_label[:, groups[group]].tocsr(), sample_weight)

        # By group: the labelsets that are classes, bool of shape (n_classes, n_labels_of_group).
        self._group_labelsets = [
            to_multiclass(group).labelsets.toarray() for group in range(len(groups))
        ]
        n_rows = Y.shape[0] if sample_weight is None else sample_weight.sum()
        counts = np.bincount(Y.indices, repeat_weights_by_row(Y, sample_weight), Y.shape[1])
        self._label_priors = counts / n_rows  # by label: its share of the training rows
        targets = LazyTargets(len(groups), lambda group: to_multiclass(group).make_target())
        self.models_ = self._fit_targets(X, targets, generator=generator)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the labels and scores of all rows.

        If the groups overlap, the score of a label is the share of its groups that vote for it.
        """
        labels = np.zeros((X.shape[0], self.n_labels_), bool)
        scores = np.zeros(labels.shape)
        for block, group, probabilities in self._predict_proba_by_model(X):
            group_labels = self._group_labelsets[group][probabilities.argmax(axis=1)]
            if self.overlapping:
                scores[block, self.labelsets_[group]] += group_labels
            else:
                group_scores = most_probable_labelset_scores(group_labels, probabilities)
                scores[block, self.labelsets_[group]] = group_scores
                labels[block, self.labelsets_[group]] = group_labels
        if not self.overlapping:
            return labels, scores
        n_groups_of_label = np.bincount(np.concatenate(self.labelsets_), minlength=self.n_labels_)
        scores /= np.maximum(n_groups_of_label, 1)
        is_in_no_group = n_groups_of_label == 0
        scores[:, is_in_no_group] = self._label_priors[is_in_no_group]
        return scores >= 0.5, scores


def draw_overlapping_labelsets(
    n_labels: int, group_size: int, n_groups: int, generator: np.random.Generator
) -> list[Array]:
    """Draw different groups of label indices; all possible groups if there are not as many."""
    n_possible = math.comb(n_labels, group_size)
    if 2 * n_groups >= n_possible:
        # Drawing groups until enough are different would take long.
        groups = np.array(list(itertools.combinations(range(n_labels), group_size)), np.int64)
        sample = np.sort(generator.permutation(n_possible)[:n_groups])
        return list(groups[sample])
    distinct: dict[tuple[int, ...], None] = {}  # a set that keeps the order
    while len(distinct) < n_groups:
        labels = generator.choice(n_labels, group_size, replace=False)
        distinct[tuple(sorted(labels.tolist()))] = None
    return [np.array(labels, np.int64) for labels in distinct]


def draw_disjoint_labelsets(
    n_labels: int, group_size: int, generator: np.random.Generator
) -> list[Array]:
    """Divide all label indices at random into groups; the last group has the remaining labels.

    If this is a single label, it joins the group before.
    """
    order = generator.permutation(n_labels)
    starts = list(range(group_size, n_labels, group_size))
    if starts and group_size > 1 and n_labels - starts[-1] == 1:
        starts.pop()
    return [np.sort(group) for group in np.split(order, starts)]
