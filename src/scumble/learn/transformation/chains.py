"""Classifier chains: the model of each label also uses the labels before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble._core.parallel import run_in_threads
from scumble._core.parameters import AnyValue, Bool, Int, Optional, Real
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.transformation.single_label_models import ProblemTransformationClassifier
from scumble.learn.transformation.targets import (
    LabelTargets,
    LazyTargets,
    spawn_seeds,
    undersample_target,
)
from scumble.learn.trees.c45 import Target
from scumble.learn.trees.c45.forest import Forest, run_kernel_on_rows
from scumble.learn.trees.c45.predict import predict_chain_rows


class ClassifierChain(ProblemTransformationClassifier, name="cc", display_group="Chains"):
    """One classifier for each label, which also uses the labels before it in the chain.

    In training these are the true labels, in prediction the predicted ones.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner of each label; by default `C45Classifier`. Any scikit-learn classifier is
        accepted.
    order : sequence of int, default=None
        The labels in the order of the chain; by default in the order of the columns.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    order_ : ndarray of int64, shape (n_labels,)
        The labels in the order of the chain.
    models_ : Forest or SklearnModels
        One fitted model per label, in the order of the chain.
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
    EnsembleOfClassifierChains : Many chains in random orders, which vote.

    Notes
    -----
    A label is predicted unless its absence is more probable [1]_; the score is the probability of
    its presence. The labels are nominal columns after the features.

    References
    ----------
    .. [1] Read, J., Pfahringer, B., Holmes, G., & Frank, E. (2011). Classifier chains for
       multi-label classification. *Machine Learning*, 85(3).

    Examples
    --------
    A row has the second label if it has not the first.

    >>> from scumble.learn import ClassifierChain
    >>> X = [[1], [2], [3], [4], [5], [6]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    >>> ClassifierChain(order=[1, 0]).fit(X, Y).predict([[1], [6]])
    array([[1, 0],
           [0, 1]])
    """

    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True, base_learners_are_equivalent=False)
    _parameter_constraints = {
        **ProblemTransformationClassifier._parameter_constraints,
        "order": AnyValue("None or each label number once"),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Sequence[int] | None = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `order_` and `models_`."""
        self.order_: Array = self._check_order(Y.shape[1])
        targets = chain_targets(Y, [ChainSample(self.order_)], sample_weight)
        self.models_ = self._fit_targets(X, targets, X_extra=Y)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the labels that the chain predicts, and the probabilities of all labels."""
        return predict_chains(self, [self.order_], X)

    def _check_order(self, n_labels: int) -> Array:
        """Return the labels in the order of the chain, int64; all labels in turn by default.

        Raise an error unless the parameter `order` holds the index of each label once.
        """
        if self.order is None:
            return np.arange(n_labels)
        try:
            order = np.asarray(self.order)
        except ValueError:  # nested lists of different lengths
            order = np.empty(0)
        is_vector = order.shape == (n_labels,) and order.dtype.kind in "iuf"
        if not is_vector or sorted(order.tolist()) != list(range(n_labels)):
            requirement = f"name each of the {n_labels} labels once, by its number"
            text = parameter_error("order", type(self).__name__, requirement, self.order)
            hint = "Chains in random orders are 'ecc', EnsembleOfClassifierChains."
            raise ParameterError(f"{text} {hint}")
        return order.astype(np.int64)


class EnsembleOfClassifierChains(
    ProblemTransformationClassifier, name="ecc", display_group="Chains"
):
    """Chains in random orders on random samples of the rows; their scores are averaged.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner of each label; by default `C45Classifier`. Any scikit-learn classifier is
        accepted.
    n_estimators : int, default=10
        Number of chains.
    use_confidences : bool, default=True
        Whether to average the probabilities of the chains rather than their predictions.
    bootstrap : bool, default=True
        Whether the rows of a chain are drawn with replacement.
    sample : float, default=None
        Number of rows drawn for each chain, as a share of the training rows; by default 1 with
        replacement and 0.67 without. At most 1 without replacement.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the samples, the orders and the base learners.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    orders_ : ndarray of int64, shape (n_estimators, n_labels)
        The labels in the order of each chain.
    models_ : Forest or SklearnModels
        One fitted model per chain and label, chain after chain.
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
    ClassifierChain : A single chain.

    Notes
    -----
    Scores are means over the chains [1]_; a label is predicted from 0.5 on. MULAN draws the same
    positions for all chains from rows that it shuffles again, and shuffles the labels with a
    bias; here all draws are uniform. A row counts with its sample weight each time it is drawn.

    References
    ----------
    .. [1] Read, J., Pfahringer, B., Holmes, G., & Frank, E. (2011). Classifier chains for
       multi-label classification. *Machine Learning*, 85(3).

    Examples
    --------
    >>> from scumble.learn import EnsembleOfClassifierChains
    >>> X = [[1], [2], [3], [4], [5], [6]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    >>> EnsembleOfClassifierChains(random_state=1).fit(X, Y).predict([[1], [6]])
    array([[1, 0],
           [0, 1]])
    """

    classifier_tags = ClassifierTags(
        scores_can_be_0_or_1=True,
        weights_equal_repetitions=False,
        base_learners_are_equivalent=False,
    )
    _parameter_constraints = {
        **ProblemTransformationClassifier._parameter_constraints,
        "n_estimators": Int(minimum=1),
        "use_confidences": Bool(),
        "bootstrap": Bool(),
        "sample": Optional(Real(minimum=0, closed="right")),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 10,
        use_confidences: bool = True,
        bootstrap: bool = True,
        sample: float | None = None,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.use_confidences = use_confidences
        self.bootstrap = bootstrap
        self.sample = sample
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameter_combinations(self) -> None:
        """Raise an error if `sample` is above 1 and rows are drawn without replacement."""
        if self.sample is not None and not self.bootstrap:
            share = Real(minimum=0, maximum=1, closed="right")
            share.check(self.sample, name="sample", caller=type(self).__name__)

    def _draw_samples(
        self, n_rows: int, n_labels: int, generator: np.random.Generator
    ) -> list[ChainSample]:
        """Draw the rows and the order of the labels of each chain."""
        default_share = 1.0 if self.bootstrap else 0.67
        sample_size = max(1, int((self.sample or default_share) * n_rows + 0.5))
        samples = []
        for _ in range(self.n_estimators):
            if self.bootstrap:
                rows = generator.integers(n_rows, size=sample_size)
            else:
                rows = generator.permutation(n_rows)[:sample_size]
            repeats = np.bincount(rows, minlength=n_rows)
            samples.append(ChainSample(generator.permutation(n_labels), repeats))
        return samples

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `orders_` and `models_`."""
        generator = self._generator()
        samples = self._draw_samples(Y.shape[0], Y.shape[1], generator)
        self.orders_: Array = np.array([sample.order for sample in samples], np.int64)
        targets = chain_targets(Y, samples, sample_weight)
        self.models_ = self._fit_targets(X, targets, X_extra=Y, generator=generator)

    def _predict_scores(self, X: Any) -> Array:
        """Return the means over the chains of the probabilities, or of the predicted labels."""
        _, sums = predict_chains(
            self, list(self.orders_), X, use_predictions=not self.use_confidences
        )
        return sums / len(self.orders_)


@dataclass(frozen=True, eq=False)
class ChainSample:
    """The labels of a chain in their order, and the rows that its models are fitted to."""

    order: Array  # int64: indices of labels
    repeats: Array | None = None  # by row: how often it was drawn; None if every row counts once


def chain_targets(
    Y: sparse.csr_array,
    samples: Sequence[ChainSample],
    weights: Array | None = None,
    generator: Any = None,
) -> LazyTargets:
    """Return the targets of all chains, chain after chain, with one target per label of a chain.

    The extra columns of a target are the labels before it in its chain; the label matrix Y holds
    the extra columns of all targets. With a generator, each target is undersampled to as many rows
    with the label as without.
    """
    label_targets = LabelTargets(Y)
    starts = np.cumsum([0, *(len(sample.order) for sample in samples)])
    n_targets = int(starts[-1])
    seeds = None if generator is None else spawn_seeds(generator, n_targets)

    def make_target(index: int) -> Target:
        """Return the target with this index among those of all chains."""
        chain = int(np.searchsorted(starts, index, side="right")) - 1
        sample = samples[chain]
        position = index - int(starts[chain])
        target = Target(
            label_targets.label_column(int(sample.order[position])),
            repeats=sample.repeats,
            weights=weights,
            extra=sample.order[:position],
        )
        if seeds is None:
            return target
        return undersample_target(target, seeds[index])

    return LazyTargets(n_targets, make_target)


def predict_chains(
    classifier: ProblemTransformationClassifier,
    orders: Sequence[Array],
    X: Any,
    *,
    use_predictions: bool = False,
) -> tuple[Array, Array]:
    """Return the labels that the last chain predicts, and the sums of the scores of all chains.

    Both have shape (n_rows, n_labels). ``orders`` holds the labels of each chain, whose models
    follow each other in ``classifier.models_``. A model gets the labels that the chain predicted
    before it as extra columns. Scores are probabilities, or with ``use_predictions`` predicted
    labels, 0 and 1; a label that is not in a chain adds nothing.
    """
    models = classifier.models_
    starts = np.cumsum([0, *map(len, orders)])
    labels = np.zeros((X.shape[0], classifier.n_labels_), bool)
    sums = np.zeros(labels.shape)
    if isinstance(models, Forest):
        chains = starts, np.concatenate([np.asarray(order, np.int64) for order in orders])
        run_kernel_on_rows(
            predict_chain_rows,
            models,
            X,
            chains,
            use_predictions,
            labels,
            sums,
            n_jobs=classifier.n_jobs,
        )
        return labels, sums

    def predict_chain(chain: int) -> tuple[Array, Array]:
        """Return the labels and the scores that the chain with this index predicts."""
        predicted, scores = np.zeros_like(labels), np.zeros_like(sums)
        for model_index, label in enumerate(orders[chain], start=int(starts[chain])):
            probabilities = models.predict_proba_of(model_index, X, sparse.csr_array(predicted))
            absent, present = probabilities[:, 0], probabilities[:, 1]
            predicted[:, label] = present >= absent
            scores[:, label] = predicted[:, label] if use_predictions else present
        return predicted, scores

    predictions = run_in_threads(predict_chain, range(len(orders)), n_jobs=classifier.n_jobs)
    for _, scores in predictions:
        sums += scores
    last_labels, _ = predictions[-1]
    return last_labels, sums
