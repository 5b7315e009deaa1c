"""Stacked binary relevance: the scores of all labels are features of a second model per label."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads
from scumble._core.parameters import Bool, Int
from scumble.learn.base import SingleLabelClassifierConstraint
from scumble.learn.features import append_columns
from scumble.learn.inner_classifier import InnerClassifier, TrainingData
from scumble.learn.transformation.binary_relevance import BinaryRelevance
from scumble.learn.transformation.single_label_models import (
    ProblemTransformationClassifier,
    SklearnModels,
)
from scumble.learn.transformation.targets import (
    LabelTargets,
    LazyTargets,
    select_target_rows,
    spawn_seeds,
)
from scumble.learn.trees.c45 import Target
from scumble.learn.weights import find_estimator_without_sample_weight


class StackedBinaryRelevance(
    ProblemTransformationClassifier, name="stacking", display_group="Single labels"
):
    """Binary relevance on two levels: the scores of the first are features of the second.

    The classifiers of the first level predict every label independently. Those of the second
    level also use the scores of all labels, and so can learn that *sea* makes *beach* more
    probable.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner of the first level; by default `C45Classifier`. Any scikit-learn
        classifier is accepted.
    final_estimator : classifier, default=None
        The base learner of the second level; by default `C45Classifier`.
    n_folds : int, default=10
        Number of folds for the out-of-sample scores that the second level is fitted to. With 0,
        it is fitted to the scores of models of all rows, which is fast, but these scores are too
        close to the training labels.
    passthrough : bool, default=True
        Whether the second level uses the features too.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the folds and the base learners.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    first_ : InnerClassifier
        The fitted `BinaryRelevance` of the first level.
    second_ : InnerClassifier
        The fitted one of the second level, on the features (with `passthrough`) and then the
        scores of all labels.
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
    ClassifierChain : Each model uses only the labels before it.

    Notes
    -----
    This is known as 2BR, meta-BR or BR+ [1]_ [2]_. Folds are drawn for each label, with equal
    shares of its rows in each, as in MULAN; if there are fewer rows than folds, each row is a
    fold. MULAN can also leave out labels that are hardly correlated; this class does not. A label
    is predicted unless its absence is more probable, as in `BinaryRelevance`. A label that all
    training rows have, or none, is predicted always or never. Sample weights are used by the
    models of all folds and both levels, but not to draw the folds.

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

    _parameter_constraints = {
        **ProblemTransformationClassifier._parameter_constraints,
        "final_estimator": SingleLabelClassifierConstraint(),
        "n_folds": Int(minimum=0),
        "passthrough": Bool(),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        final_estimator: Any = None,
        n_folds: int = 10,
        passthrough: bool = True,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.final_estimator = final_estimator
        self.n_folds = n_folds
        self.passthrough = passthrough
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _find_estimator_without_sample_weight(self) -> str | None:
        """Return the class name of a base learner that cannot use weights; None if both can."""
        return (
            super()._find_estimator_without_sample_weight()
            or find_estimator_without_sample_weight(self.final_estimator)
        )

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `first_` and `second_`; the second level is fitted to out-of-sample scores."""
        n_categories = self._codes.n_values
        training = TrainingData(
            X=X,
            Y=Y,
            n_categories=n_categories,
            weights=sample_weight,
            generator=self._generator(),
            n_jobs=self.n_jobs,
        )
        self.first_: InnerClassifier = training.fit(BinaryRelevance(self.estimator))
        scores = self._out_of_sample_scores(training)
        n_categories_of_features = n_categories if self.passthrough else n_categories[:0]
        n_categories_of_scores = np.zeros(self.n_labels_, np.int64)  # scores are numeric
        second_training = replace(
            training,
            X=self._second_level_features(X, scores),
            n_categories=np.append(n_categories_of_features, n_categories_of_scores),
        )
        self.second_: InnerClassifier = second_training.fit(BinaryRelevance(self.final_estimator))

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return labels and scores of the second level."""
        _, scores = self.first_.predict_labels_and_scores(X)
        return self.second_.predict_labels_and_scores(self._second_level_features(X, scores))

    def _second_level_features(self, X: Any, scores: Array) -> Any:
        """Return X of the second level: the scores of the first, after the features if used."""
        return append_columns(X, scores) if self.passthrough else scores

    def _out_of_sample_scores(self, training: TrainingData) -> Array:
        """Return the score of each training row and label by a model not fitted to this row.

        The shape is (n_samples, n_labels). With less than two folds, the scores are those of
        `first_`, which was fitted to all rows.
        """
        X, Y = training.X, training.Y
        n_rows, n_labels = Y.shape
        n_folds = min(int(self.n_folds), n_rows)
        if n_folds < 2:
            _, scores = self.first_.predict_labels_and_scores(X)
            return scores
        seeds = spawn_seeds(training.generator, n_labels)
        label_targets = LabelTargets(Y, weights=training.weights)
        folds = np.column_stack(
            [
                _assign_folds(label_targets.label_column(label), n_folds, seeds[label])
                for label in range(n_labels)
            ]
        )

        def make_target(index: int) -> Target:
            """Return the target of label ``index // n_folds`` without fold ``index % n_folds``."""
            label, fold = divmod(index, n_folds)
            training_rows = np.flatnonzero(folds[:, label] != fold)
            return select_target_rows(label_targets[label], training_rows)

        targets = LazyTargets(n_labels * n_folds, make_target)
        models = self._fit_targets(X, targets, generator=training.generator)
        if isinstance(models, SklearnModels):
            return _score_held_out_rows(models, folds, X, n_jobs=self.n_jobs)
        scores = np.empty(Y.shape)
        for block, probabilities in self._predict_positive_proba_blocks(models, X):
            # By row and label: the index of the model that was not fitted to the row.
            model_indices = np.arange(n_labels) * n_folds + folds[block]
            scores[block] = np.take_along_axis(probabilities, model_indices, axis=1)
        return scores


def _score_held_out_rows(
    models: SklearnModels, folds: Array, X: Any, *, n_jobs: int | None
) -> Array:
    """Return the score of each row and label by the model that was not fitted to the row.

    ``folds`` has shape (n_samples, n_labels); the model of label l without the rows of fold f has
    index l * n_folds + f.
    """
    n_rows, n_labels = folds.shape
    n_folds = len(models) // n_labels

    def score_label(label: int) -> Array:
        """Return the scores of all rows for the label with this index."""
        scores = np.empty(n_rows)
        for fold in range(n_folds):
            test_rows = np.flatnonzero(folds[:, label] == fold)
            probabilities = models.predict_proba_of(label * n_folds + fold, X[test_rows])
            scores[test_rows] = probabilities[:, 1]
        return scores

    return np.column_stack(run_in_threads(score_label, range(n_labels), n_jobs=n_jobs))


def _assign_folds(y: Array, n_folds: int, seed: int) -> Array:
    """Return the fold of each row, drawn at random and stratified by the class codes y.

    Folds are numbered from 0; their sizes, and their counts of a class, differ by at most one.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), np.int32)
    folds[order] = np.arange(len(y)) % n_folds
    return folds
