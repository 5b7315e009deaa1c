"""Binary relevance: one independent classifier per label."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble.learn.transformation.single_label_models import (
    ProblemTransformationClassifier,
    class_weight_parameter,
    uses_c45,
)
from scumble.learn.transformation.targets import LabelTargets
from scumble.learn.weights import ClassWeight, supports_sample_weight


class BinaryRelevance(ProblemTransformationClassifier, name="br", display_group="Single labels"):
    """One binary classifier for each label, independent of the other labels.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner of each label; by default `C45Classifier`. Any scikit-learn classifier is
        accepted.
    class_weight : None, {"balanced", "sqrt"} or mapping, default=None
        Weights of the rows without and with a label, chosen per label: ``"balanced"`` gives both
        groups the same total weight, ``"sqrt"`` is a compromise between this and no weights, and
        ``{0: a, 1: b}`` sets the weights for all labels. It replaces the ``class_weight`` of the
        base learner; a base learner without one is fitted with sample weights.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    models_ : Forest or SklearnModels
        One fitted model per label.
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
    ClassifierChain : Each model also uses the labels before it in a chain.
    CalibratedLabelRanking : Also compares all pairs of labels.

    Notes
    -----
    A label is predicted unless its absence is more probable: with a probability of exactly one
    half it is predicted, as in MULAN. A label without positives in training is never predicted,
    one without negatives always.

    With n rows, :math:`n_1` of which have the label, ``"balanced"`` gives a row that has it the
    weight :math:`n / (2 n_1)`, and a row that has not :math:`n / (2 (n - n_1))`; ``"sqrt"`` takes
    the square roots of these, scaled to a sum of n. Rare labels are then predicted more often, at
    the cost of more false positives: measure the effect on your data.

    Examples
    --------
    >>> from scumble.learn import BinaryRelevance
    >>> X = [[1], [2], [3], [4], [5], [6]]
    >>> Y = [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 1]]
    >>> BinaryRelevance().fit(X, Y).predict([[1], [6]])
    array([[1, 0],
           [0, 1]])
    """

    _parameter_constraints = {
        **ProblemTransformationClassifier._parameter_constraints,
        "class_weight": ClassWeight(),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        class_weight: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameter_combinations(self) -> None:
        """Raise an error if `class_weight` names other classes than 0 and 1.

        Also raise one if the base learner can use neither class weights nor sample weights.
        """
        caller = type(self).__name__
        class_weight, estimator = self.class_weight, self.estimator
        if isinstance(class_weight, Mapping) and not set(class_weight) <= {0, 1}:
            requirement = "contain the weights of 0 (without a label) and 1 (with it)"
            raise parameter_error("class_weight", caller, requirement, class_weight)
        is_supported = (
            uses_c45(estimator)
            or class_weight_parameter(estimator) is not None
            or supports_sample_weight(estimator)
        )
        if class_weight is not None and not is_supported:
            raise ParameterError(
                f"{caller}: class_weight={class_weight!r} was given, but "
                f"{type(estimator).__name__} has no parameter class_weight, and its fit no "
                "sample_weight. Give another estimator, or no class_weight."
            )

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `models_`: a copy of the base learner per label."""
        targets = LabelTargets(Y, weights=sample_weight)
        self.models_ = self._fit_targets(X, targets, class_weight=self.class_weight)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the labels with a probability of at least one half, and the probabilities."""
        probabilities = self.models_.predict_proba(X, n_jobs=self.n_jobs)
        return labels_and_scores_from_probabilities(probabilities)


def labels_and_scores_from_probabilities(probabilities: Array) -> tuple[Array, Array]:
    """Return predicted labels and scores, both of shape (n_rows, n_labels).

    ``probabilities`` has shape (n_rows, 2 * n_labels): for each label the probability that a row
    has not the label, then the probability that it has it, which is the score.
    """
    absent, present = probabilities[:, 0::2], probabilities[:, 1::2]
    return present >= absent, np.ascontiguousarray(present)
