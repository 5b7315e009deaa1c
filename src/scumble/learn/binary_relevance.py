"""Binary relevance: every label on its own."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble._core.parameters import default
from scumble.learn.base import parameters
from scumble.learn.single_label_models import (
    ProblemTransformationClassifier,
    class_weight_parameter,
    uses_c45,
)
from scumble.learn.targets import LabelTargets
from scumble.learn.weights import ClassWeight, supports_sample_weight


@parameters(kw_only=True)
class BinaryRelevance(ProblemTransformationClassifier, name="br", display_group="Single labels"):
    """One binary classifier for each label, which knows nothing of the other labels.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns each label; `C45Classifier` by default. Any scikit-learn classifier will do.
    class_weight : None, {"balanced", "sqrt"} or mapping, default=None
        How much rows without and with a label count, label by label: ``"balanced"`` makes both
        kinds weigh the same, ``"sqrt"`` goes half of the way, ``{0: a, 1: b}`` tells it for all
        labels. It takes the place of the estimator's own `class_weight`; an estimator without
        one gets weights of the rows.

    Attributes
    ----------
    models_ : Forest or ForeignModels
        One fitted model per label.

    See Also
    --------
    ClassifierChain : Every label sees those before it.
    CalibratedLabelRanking : Also compares all pairs of labels.

    Notes
    -----
    A label is predicted unless its absence is more probable: at one half it is present, as in
    MULAN. A label without positives in training is never predicted, one without negatives always.

    With n rows, :math:`n_1` of which have the label, a row that has it weighs
    :math:`n / (2 n_1)` in ``"balanced"``, one that has not :math:`n / (2 (n - n_1))`; ``"sqrt"``
    takes the square roots of these, scaled to a sum of n. Rare labels are then predicted more
    often, for the price of more false alarms: measure it on your data.

    Examples
    --------
    >>> from scumble.learn import BinaryRelevance
    >>> X = [[1], [2], [3], [4], [5], [6]]
    >>> Y = [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 1]]
    >>> BinaryRelevance().fit(X, Y).predict([[1], [6]])
    array([[1, 0],
           [0, 1]])
    """

    class_weight: Any = default(None, ClassWeight())

    def _check_parameter_combinations(self) -> None:
        name, rule, inner = type(self).__name__, self.class_weight, self.estimator
        if isinstance(rule, Mapping) and not set(rule) <= {0, 1}:
            must = "tell the weights of 0 (without a label) and 1 (with it)"
            raise parameter_error("class_weight", name, must, rule)
        can = (
            uses_c45(inner)
            or class_weight_parameter(inner) is not None
            or supports_sample_weight(inner)
        )
        if rule is not None and not can:
            raise ParameterError(
                f"{name}: class_weight={rule!r} was given, but {type(inner).__name__} has no "
                "parameter class_weight, and its fit no sample_weight. Give another estimator, or "
                "no class_weight."
            )

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        targets = LabelTargets(Y, weights=weights)
        self._fit_models(X, targets, class_weight=self.class_weight)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        return labels_and_scores_from_probabilities(self.models_.ask(X, n_jobs=self.n_jobs))


def labels_and_scores_from_probabilities(answers: Array) -> tuple[Array, Array]:
    """Decide from the probabilities of absence and presence of each label."""
    absent, present = answers[:, 0::2], answers[:, 1::2]
    return present >= absent, np.ascontiguousarray(present)
