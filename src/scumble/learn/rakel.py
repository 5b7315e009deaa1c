"""RAkEL: label powerset on small random groups of labels."""

import itertools
import math
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Bool, Int, Optional, default
from scumble.learn.base import parameters
from scumble.learn.label_powerset import LabelsetProblem, most_probable_labelset_scores
from scumble.learn.single_label_models import ProblemTransformationClassifier
from scumble.learn.targets import LazyTargets
from scumble.learn.weights import cell_weights


@parameters(kw_only=True)
class RAkEL(ProblemTransformationClassifier, name="rakel", display_group="Labelsets"):
    """Label powerset on random groups of a few labels each, which vote where they overlap.

    A label powerset of all labels knows only the combinations it has seen, most of them once.
    Groups of three labels have eight combinations at the most, with many rows each, and still
    tell which labels go together.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns each group; `C45Classifier` by default. Any scikit-learn classifier will do.
    size : int, default=3
        Number of labels of a group; all labels make one group where there are no more.
    overlapping : bool, default=True
        Whether a label may be in several groups (RAkELo) or is in one alone (RAkELd).
    n_labelsets : int, default=None
        Number of groups that overlap; twice the number of labels by default, or all there are
        where those are fewer. Disjoint groups are as many as are needed.

    Attributes
    ----------
    labelsets_ : list of ndarray of int64
        The labels of each group, ascending.
    models_ : Forest or ForeignModels
        One fitted model per group.

    See Also
    --------
    LabelPowerset : One group of all labels.

    Notes
    -----
    Overlapping groups are drawn without repeating any [1]_. The confidence of a label is the
    share of its groups whose most probable combination holds it, and it is predicted from one
    half on, as in the paper and in MULAN. Chance may leave a label out of all groups (about one
    of 400 by default): its confidence is its share of the training rows, where MULAN says 0.

    Disjoint groups have one vote for each label, which ranks nothing: there the confidence is
    that of `LabelPowerset`, with P the probability of the group's most probable combination P for
    its labels and 1 - P for the others. The last group takes what is left; where this would be a
    single label it joins the group before, as in MULAN. Combinations and shares of rows with
    weights are counted by weight.

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

    size: int = default(3, Int(1))
    overlapping: bool = default(True, Bool())
    n_labelsets: int | None = default(None, Optional(Int(1)))
    random_state: Any = None

    def _draw_labelsets(self, n_labels: int, generator: np.random.Generator) -> list[Array]:
        size = min(int(self.size), n_labels)
        if self.overlapping:
            wanted = 2 * n_labels if self.n_labelsets is None else int(self.n_labelsets)
            return draw_overlapping_labelsets(n_labels, size, wanted, generator)
        return draw_disjoint_labelsets(n_labels, size, generator)

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        generator = self._generator()
        self.labelsets_: list[Array] = self._draw_labelsets(Y.shape[1], generator)
        groups, by_label = self.labelsets_, Y.tocsc()

        def problem(at: int) -> LabelsetProblem:
            return LabelsetProblem.of(by_label[:, groups[at]].tocsr(), weights)

        self._combinations = [problem(at).sets.toarray() for at in range(len(groups))]
        n_rows = Y.shape[0] if weights is None else weights.sum()
        self._shares = np.bincount(Y.indices, cell_weights(Y, weights), Y.shape[1]) / n_rows
        targets = LazyTargets(len(groups), lambda at: problem(at).target())
        self._fit_models(X, targets, generator=generator)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        labels = np.zeros((X.shape[0], self.n_labels_), bool)
        confidences = np.zeros(labels.shape)
        n_votes = np.bincount(np.concatenate(self.labelsets_), minlength=self.n_labels_)
        for rows, group, probabilities in self._predict_proba_by_model(X):
            chosen = self._combinations[group][probabilities.argmax(axis=1)]
            found = (
                chosen if self.overlapping else most_probable_labelset_scores(chosen, probabilities)
            )
            confidences[rows, self.labelsets_[group]] += found
            labels[rows, self.labelsets_[group]] = chosen
        if not self.overlapping:
            return labels, confidences
        confidences /= np.maximum(n_votes, 1)
        confidences[:, n_votes == 0] = self._shares[n_votes == 0]
        return confidences >= 0.5, confidences


def draw_overlapping_labelsets(
    n_labels: int, size: int, wanted: int, generator: np.random.Generator
) -> list[Array]:
    """Draw groups of labels, each at most once."""
    n_groups = math.comb(n_labels, size)
    if 2 * wanted >= n_groups:  # drawing until all are there would take long
        groups = np.array(list(itertools.combinations(range(n_labels), size)), np.int64)
        drawn = np.sort(generator.permutation(n_groups)[:wanted])
        return list(groups[drawn])
    found: dict[tuple[int, ...], None] = {}
    while len(found) < wanted:
        found[tuple(sorted(generator.choice(n_labels, size, replace=False).tolist()))] = None
    return [np.array(labels, np.int64) for labels in found]


def draw_disjoint_labelsets(
    n_labels: int, size: int, generator: np.random.Generator
) -> list[Array]:
    """Deal all labels out to groups."""
    order = generator.permutation(n_labels)
    starts = list(range(size, n_labels, size))
    if starts and size > 1 and n_labels - starts[-1] == 1:
        starts.pop()
    return [np.sort(part) for part in np.split(order, starts)]
