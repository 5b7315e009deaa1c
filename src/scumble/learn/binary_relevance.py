"""Binary relevance: every label on its own."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, refused
from scumble._core.parameters import default
from scumble.learn.base import parameters
from scumble.learn.single_label_models import TransformingClassifier, class_weight_name, is_tree
from scumble.learn.targets import LabelTargets
from scumble.learn.weights import ClassWeight, takes_weights


@parameters(kw_only=True)
class BinaryRelevance(TransformingClassifier, name="br", family="Single labels"):
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

    def _check_together(self) -> None:
        name, rule, inner = type(self).__name__, self.class_weight, self.estimator
        if isinstance(rule, Mapping) and not set(rule) <= {0, 1}:
            must = "tell the weights of 0 (without a label) and 1 (with it)"
            raise refused("class_weight", name, must, rule)
        can = is_tree(inner) or class_weight_name(inner) is not None or takes_weights(inner)
        if rule is not None and not can:
            raise ParameterError(
                f"{name}: class_weight={rule!r} was given, but {type(inner).__name__} has no "
                "parameter class_weight, and its fit no sample_weight. Give another estimator, or "
                "no class_weight."
            )

    def _fit_labels(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        targets = LabelTargets(Y, weights=weights)
        self._learn(X, targets, class_weight=self.class_weight)

    def _judge(self, X: Any) -> tuple[Array, Array]:
        return judge_labels(self.models_.ask(X, n_jobs=self.n_jobs))


def judge_labels(answers: Array) -> tuple[Array, Array]:
    """Decide from the probabilities of absence and presence of each label."""
    absent, present = answers[:, 0::2], answers[:, 1::2]
    return present >= absent, np.ascontiguousarray(present)
