"""Stacked binary relevance: what is said of all labels helps to judge each of them."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads
from scumble._core.parameters import Bool, Int, default
from scumble.learn.base import SingleLabelClassifierConstraint, parameters
from scumble.learn.binary_relevance import BinaryRelevance
from scumble.learn.c45 import Target
from scumble.learn.features import append_columns
from scumble.learn.inner_classifier import InnerClassifier, TrainingData
from scumble.learn.single_label_models import ProblemTransformationClassifier, SklearnModels
from scumble.learn.targets import LabelTargets, LazyTargets, select_target_rows, spawn_seeds
from scumble.learn.weights import find_estimator_without_sample_weight


@parameters(kw_only=True)
class StackedBinaryRelevance(
    ProblemTransformationClassifier, name="stacking", display_group="Single labels"
):
    """Binary relevance twice: the second time with the first one's answers as features.

    The first classifiers judge every label on its own. The second ones also see how sure the
    first ones are of all labels, and so can learn that *sea* speaks for *beach*.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns each label first; `C45Classifier` by default. Any scikit-learn classifier will
        do.
    final_estimator : classifier, default=None
        What learns each label from these answers; `C45Classifier` by default.
    n_folds : int, default=10
        The answers for training rows come from classifiers that have not seen them: so many
        times a part of the rows is set aside. 0 asks the classifiers that learnt from all rows,
        which is fast and too sure of itself.
    passthrough : bool, default=True
        Whether the second classifiers see the features too.
    random_state : None, int or Generator, default=None
        Seed of the folds.

    Attributes
    ----------
    first_ : InnerClassifier
        The fitted first `BinaryRelevance`.
    second_ : InnerClassifier
        The fitted second one, on features (if wanted) and then the confidences of all labels.

    See Also
    --------
    ClassifierChain : Every label sees only those before it.

    Notes
    -----
    Known as 2BR, meta-BR or BR+ [1]_ [2]_. Folds are drawn for each label on its own, with equal
    shares of its rows in each, as in MULAN; where there are fewer rows than folds, each row is a
    fold. MULAN can also leave out labels that are hardly correlated; we do not. A label is
    predicted unless its absence is more probable, as in `BinaryRelevance`. A label that all
    training rows have, or none, is not learnt but repeated. Weights reach the classifiers of all
    folds and both levels; folds are dealt without them.

    References
    ----------
    .. [1] Godbole, S., & Sarawagi, S. (2004). Discriminative methods for multi-labeled
       classification. *PAKDD 2004*.
    .. [2] Tsoumakas, G., Dimou, A., Spyromitros, E., Mezaris, V., Kompatsiaris, I., & Vlahavas,
       I. (2009). Correlation-based pruning of stacked binary relevance models for multi-label
       learning. *MLD 2009*.

    Examples
    --------
    >>> from scumble.learn import StackedBinaryRelevance
    >>> X = [[1], [2], [3], [4], [5], [6], [7], [8]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]]
    >>> StackedBinaryRelevance(n_folds=4, random_state=0).fit(X, Y).predict([[1], [8]])
    array([[1, 0],
           [0, 1]])
    """

    final_estimator: Any = default(None, SingleLabelClassifierConstraint())
    n_folds: int = default(10, Int(0))
    passthrough: bool = default(True, Bool())
    random_state: Any = None

    def _find_estimator_without_sample_weight(self) -> str | None:
        return (
            super()._find_estimator_without_sample_weight()
            or find_estimator_without_sample_weight(self.final_estimator)
        )

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        generator = self._generator()
        n_values = self._codes.n_values
        training = TrainingData(X, Y, n_values, weights, generator, self.n_jobs)
        self.first_: InnerClassifier = training.fit(BinaryRelevance(self.estimator))
        confidences = self._unseen(training)
        table = append_columns(X, confidences) if self.passthrough else confidences
        own = n_values if self.passthrough else n_values[:0]
        kinds = np.append(own, np.zeros(self.n_labels_, np.int64))
        training = replace(training, X=table, n_values=kinds)
        self.second_: InnerClassifier = training.fit(BinaryRelevance(self.final_estimator))

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        confidences = self.first_.predict_labels_and_scores(X)[1]
        return self.second_.predict_labels_and_scores(
            append_columns(X, confidences) if self.passthrough else confidences
        )

    def _unseen(self, training: TrainingData) -> Array:
        """Tell what classifiers say of training rows they have not seen."""
        X, Y, weights, generator = training.X, training.Y, training.weights, training.generator
        n_folds = min(int(self.n_folds), Y.shape[0])
        if n_folds < 2:
            return self.first_.predict_labels_and_scores(X)[1]
        seeds, labels = spawn_seeds(generator, Y.shape[1]), LabelTargets(Y, weights=weights)
        dealt = [_deal(labels.codes(at), n_folds, seed) for at, seed in enumerate(seeds)]
        folds = np.column_stack(dealt)

        def target(at: int) -> Target:
            label, fold = divmod(at, n_folds)
            return select_target_rows(labels[label], np.flatnonzero(folds[:, label] != fold))

        targets = LazyTargets(folds.shape[1] * n_folds, target)
        models = self._fit_targets(X, targets, generator=generator)
        if isinstance(models, SklearnModels):
            return _ask_held_out(models, folds, X, self.n_jobs)
        confidences = np.empty(Y.shape)
        for rows, answers in self._predict_positive_proba_blocks(models, X):
            chosen = np.arange(Y.shape[1]) * n_folds + folds[rows]
            confidences[rows] = np.take_along_axis(answers, chosen, axis=1)
        return confidences


def _ask_held_out(models: SklearnModels, folds: Array, X: Any, n_jobs: int | None) -> Array:
    """Ask each model about the rows that were set aside for it, and no others."""
    n_labels = folds.shape[1]
    n_folds = len(models) // n_labels

    def ask(label: int) -> Array:
        column = np.empty(X.shape[0])
        for fold in range(n_folds):
            rows = np.flatnonzero(folds[:, label] == fold)
            column[rows] = models.predict_proba_of(label * n_folds + fold, X[rows])[:, 1]
        return column

    return np.column_stack(run_in_threads(ask, range(n_labels), n_jobs=n_jobs))


def _deal(codes: Array, n_folds: int, seed: int) -> Array:
    """Deal the rows without a label, then those with it, out to folds."""
    order = np.random.default_rng(seed).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    folds = np.empty(len(codes), np.int32)
    folds[order] = np.arange(len(codes)) % n_folds
    return folds
