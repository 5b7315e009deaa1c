"""COCOA: models of each label alone, and of each label coupled with some others."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Int
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.thresholds.selection import label_thresholds
from scumble.learn.transformation.single_label_models import ProblemTransformationClassifier
from scumble.learn.transformation.targets import (
    LabelTargets,
    LazyTargets,
    spawn_seeds,
    undersample_target,
)
from scumble.learn.trees.c45 import Target


class COCOA(ProblemTransformationClassifier, name="cocoa", display_group="Pairs of labels"):
    """Undersampled classifiers for each label, and for each label coupled with some others.

    For every label, one classifier separates the rows that have it from those that have not.
    Further classifiers have three classes: rows that have the label, rows that have another label
    but not this one, and rows that have neither. So the classifiers also use the other labels.
    All of them are fitted to equally many rows of each class, drawn at random, so that the many
    rows without a rare label do not dominate.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; by default `C45Classifier`. Any scikit-learn classifier is accepted.
    n_couples : int, default=10
        Number of other labels that each label is coupled with; all of them if there are fewer.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the couples, the samples and the base learners.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    couples_ : ndarray of int64, shape (n_labels, n_couples)
        The labels that each label is coupled with.
    models_ : Forest or SklearnModels
        For each label, the model of the label alone, then those with its couples.
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted at scores of at least its threshold.
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
    ECCRU : Undersampled classifier chains.

    Notes
    -----
    The score of a label is the mean, over its 1 + `n_couples` models, of the probability that the
    row has the label [1]_. (The paper adds up instead of averaging, which changes the thresholds
    only.) The other labels are drawn at random. The rows of each model are drawn without
    replacement, as many of each class as the smallest class has. The threshold of a label has the
    largest F1 on the training rows; MULAN chooses it among 0.05, 0.1, ..., here any number is
    possible.

    The rule for thresholds does not guard against overfitting, as in the paper: for labels with
    few positives the choice is random (rule ``"plain"`` of `label_thresholds`). A label for which
    all training rows have the same score, because nothing was learnt, is not predicted unless all
    rows have it; the paper would predict it for every row.

    Sample weights are used to fit the models, not to draw rows or to choose thresholds.

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

    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True, weights_equal_repetitions=False)
    _parameter_constraints = {
        **ProblemTransformationClassifier._parameter_constraints,
        "n_couples": Int(minimum=0),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_couples: int = 10,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_couples = n_couples
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `couples_`, `models_` and `thresholds_`.

        The thresholds have the largest F1 on the training rows.
        """
        generator = self._generator()
        self.couples_: Array = _draw_couples(Y.shape[1], int(self.n_couples), generator)
        n_targets = len(self.couples_) + self.couples_.size
        seeds = spawn_seeds(generator, n_targets)
        label_targets = LabelTargets(Y, weights=sample_weight)

        def make_target(index: int) -> Target:
            """Return the undersampled target of the model with this index."""
            target = _coupled_target(label_targets, self.couples_, index)
            return undersample_target(target, seeds[index])

        targets = LazyTargets(n_targets, make_target)
        self.models_ = self._fit_targets(X, targets, generator=generator)
        scores = self._predict_scores(X)
        self.thresholds_: Array = label_thresholds(scores, Y, rule="plain", n_jobs=self.n_jobs)

    def _predict_scores(self, X: Any) -> Array:
        """Return the mean probability of each label over its models."""
        n_models_per_label = 1 + self.couples_.shape[1]
        scores = np.empty((X.shape[0], self.n_labels_))
        for block, probabilities in self._predict_positive_proba_blocks(self.models_, X):
            by_label = probabilities.reshape(-1, self.n_labels_, n_models_per_label)
            scores[block] = by_label.mean(axis=2)
        return scores


def _draw_couples(n_labels: int, n_couples: int, generator: np.random.Generator) -> Array:
    """Draw the labels that each label is coupled with, as int64 of shape (n_labels, n_couples).

    If there are fewer other labels than ``n_couples``, all of them are couples.
    """
    n_drawn = min(n_couples, n_labels - 1)
    samples = [generator.permutation(n_labels - 1)[:n_drawn] for _ in range(n_labels)]
    couples = np.array(samples, np.int64)
    # The numbers drawn count the other labels: from the label itself on, they are one too low.
    return couples + (couples >= np.arange(n_labels)[:, None])


def _coupled_target(label_targets: LabelTargets, couples: Array, model_index: int) -> Target:
    """Return the target of one model, with all rows.

    Each label has a model of its own, then one for each label it is coupled with. The class is 1
    for rows with the label, 2 for rows with the other label only, 0 for all others.
    """
    label, number = divmod(model_index, 1 + couples.shape[1])
    target = label_targets[label]
    if number == 0:  # the model of the label alone
        return target
    has_couple = label_targets.label_column(int(couples[label, number - 1]))
    return replace(target, y=target.y + 2 * has_couple * (1 - target.y), n_classes=3)
