"""COCOA: every label is also learnt together with some others."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Int, default
from scumble.learn.base import parameters
from scumble.learn.c45 import Target
from scumble.learn.single_label_models import ProblemTransformationClassifier
from scumble.learn.targets import LabelTargets, LazyTargets, spawn_seeds, undersample_target
from scumble.learn.thresholds import label_thresholds


@parameters(kw_only=True)
class COCOA(ProblemTransformationClassifier, name="cocoa", display_group="Pairs of labels"):
    """Balanced classifiers for each label, and for each label beside some others.

    For every label one classifier tells rows that have it from rows that have not, and some more
    tell apart three kinds of rows: those that have the label, those that have another label
    instead, and those that have neither. So what is known of one label helps to find the other.
    All of them learn from equally many rows of each kind, drawn at random: a rare label is not
    drowned by the rows without it.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns; `C45Classifier` by default. Any scikit-learn classifier will do.
    n_couples : int, default=10
        How many other labels each label is learnt with; all, where there are fewer.

    Attributes
    ----------
    couples_ : ndarray of int64, shape (n_labels, n_couples)
        The labels each label was learnt with.
    models_ : Forest or ForeignModels
        For each label the model of the label alone, then those with its couples.
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted from this confidence on.

    See Also
    --------
    ECCRU : Undersampled classifier chains.

    Notes
    -----
    The confidence of a label is the mean, over its 1 + `n_couples` models, of the probability
    that the row has the label [1]_. (The paper adds instead of averaging, which changes the
    threshold and nothing else.) The other labels are drawn at random. Each model's rows are drawn
    without replacement, as many of each class as the smallest class that occurs has. A label is
    predicted from the threshold on that gives the largest F on the training rows; MULAN looks for
    it among 0.05, 0.1, ..., and ours may be anywhere.

    The rule for thresholds has no guard, as in the paper: where positives are few it follows
    chance (rule ``"plain"`` of `label_thresholds`). A label whose training rows all get the same
    confidence, because nothing was learnt about it, is not predicted unless all rows have it; the
    paper would predict it for every row.

    Rows are drawn, and thresholds chosen, whatever the rows weigh; weights count in what is learnt
    from the rows that were drawn.

    References
    ----------
    .. [1] Zhang, M.-L., Li, Y.-K., & Liu, X.-Y. (2015). Towards class-imbalance aware multi-label
       learning. *IJCAI 2015*.

    Examples
    --------
    >>> from scumble.learn import COCOA
    >>> X = [[number] for number in range(20)]
    >>> Y = [[number < 10, number > 15] for number in range(20)]
    >>> model = COCOA(random_state=0).fit(X, Y)
    >>> model.couples_
    array([[1],
           [0]])
    >>> model.predict([[3], [12], [18]]).astype(int)
    array([[1, 0],
           [0, 0],
           [0, 1]])
    """

    n_couples: int = default(10, Int(0))
    random_state: Any = None

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        generator = self._generator()
        self.couples_: Array = _draw_couples(Y.shape[1], int(self.n_couples), generator)
        seeds = spawn_seeds(generator, len(self.couples_) + self.couples_.size)
        make = partial(_couple, LabelTargets(Y, weights=weights), self.couples_, seeds)
        self._fit_models(X, LazyTargets(len(seeds), make), generator=generator)
        sure = self._predict_scores(X)
        self.thresholds_: Array = label_thresholds(sure, Y, rule="plain", n_jobs=self.n_jobs)

    def _predict_scores(self, X: Any) -> Array:
        confidences = np.empty((X.shape[0], self.n_labels_))
        for rows, answers in self._predict_positive_proba_blocks(self.models_, X):
            by_label = answers.reshape(-1, self.n_labels_, 1 + self.couples_.shape[1])
            confidences[rows] = by_label.mean(axis=2)
        return confidences


def _draw_couples(n_labels: int, n_couples: int, generator: np.random.Generator) -> Array:
    """Draw for each label some of the others."""
    size = min(n_couples, n_labels - 1)
    drawn = [generator.permutation(n_labels - 1)[:size] for _ in range(n_labels)]
    others = np.array(drawn, np.int64)
    return others + (others >= np.arange(n_labels)[:, None])


def _couple(labels: LabelTargets, couples: Array, seeds: Array, at: int) -> Target:
    """Make the target of one model, label after label; rows that have the label are class 1."""
    label, couple = divmod(at, 1 + couples.shape[1])
    target = labels[label]
    if couple > 0:
        other = labels.codes(int(couples[label, couple - 1]))
        target = replace(target, y=target.y + 2 * other * (1 - target.y), n_classes=3)
    return undersample_target(target, seeds[at])
