"""ECCRU: undersampled classifier chains, with more models for rarer labels."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Choice, Int, Real
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.thresholds.selection import label_thresholds
from scumble.learn.transformation.chains import ChainSample, chain_targets, predict_chains
from scumble.learn.transformation.single_label_models import ProblemTransformationClassifier


class ECCRU(ProblemTransformationClassifier, name="eccru", display_group="Chains"):
    r"""Classifier chains in which every model is fitted to as many rows with its label as without.

    A model of a rare label that is fitted to all rows predicts it hardly ever. Here each model is
    fitted to all rows of a sample that have the label, and equally many of those that have not,
    drawn at random. A chain leaves out most rows; other chains draw others. The variants 2 and 3
    fit more models of rarer labels, as these use the fewest rows, and their later chains hold
    only the labels that still need models.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner of each label; by default `C45Classifier`. Any scikit-learn classifier is
        accepted.
    variant : {1, 2, 3}, default=1
        1 (ECCRU): all labels are in all chains. 2 (ECCRU2): rarer labels are in more chains,
        frequent ones in as few as one. 3 (ECCRU3): frequent ones are in at least `theta_min`
        times `n_estimators` chains.
    n_estimators : int, default=10
        Number of chains; for the variants 2 and 3, the number of models of a label of average
        rarity.
    theta_min : float, default=0.5
        Variant 3: the minimum number of models of a label, as a multiple of `n_estimators`.
    theta_max : float, default=10.0
        Variants 2 and 3: the maximum number of models of a label, as a multiple of
        `n_estimators`.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the samples, the orders and the base learners.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    orders_ : list of ndarray of int64
        The labels of each chain, in its order.
    models_ : Forest or SklearnModels
        One fitted model per chain and label in it, chain after chain.
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
    EnsembleOfClassifierChains : The same without undersampling.
    COCOA : Undersampled models of pairs of labels.

    Notes
    -----
    Each chain has a bootstrap sample of the rows; each model is fitted to all rows of this sample
    with the rarer value of the label, and to equally many others that are drawn [1]_. Scores are
    means over the chains that hold the label; its threshold has the largest F1 on the training
    rows.

    With c chains, :math:`m_j` rows with the rarer value of label j and :math:`\bar m` their mean
    over the labels that have both values, label j gets :math:`\lfloor c \bar m / m_j \rfloor`
    models in the variants 2 and 3, at least 1 or :math:`\lfloor c\,\theta_{min} \rfloor`, at most
    :math:`\lfloor c\,\theta_{max} \rfloor`.

    A model is fitted to the true values of the labels before it, as in all classifier chains
    here; in MULAN's program it is fitted to those that the chain predicts for the training rows.
    MULAN chooses thresholds among 0.05, 0.1, ..., here any number is possible, and it makes no
    more chains once a single label still needs models.

    The rule for thresholds does not guard against overfitting, as in the paper: for labels with
    few positives the choice is random (rule ``"plain"`` of `label_thresholds`). A label for which
    all training rows have the same score, because nothing was learnt, is not predicted unless all
    rows have it; the paper would predict it for every row.

    Sample weights are used to fit the models, not to draw rows or to choose thresholds.

    References
    ----------
    .. [1] Liu, B., & Tsoumakas, G. (2018). Making classifier chains resilient to class imbalance.
       *ACML 2018*, PMLR 95.

    Examples
    --------
    The second label is rare: eleven chains hold it, and one the first.

    >>> from scumble.learn import ECCRU
    >>> X = [[number] for number in range(20)]
    >>> Y = [[number < 10, number > 18] for number in range(20)]
    >>> model = ECCRU(variant=2, n_estimators=2, random_state=0).fit(X, Y)
    >>> [sum(label in order for order in model.orders_) for label in (0, 1)]
    [1, 11]
    """

    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True, weights_equal_repetitions=False)
    _parameter_constraints = {
        **ProblemTransformationClassifier._parameter_constraints,
        "variant": Choice(1, 2, 3),
        "n_estimators": Int(minimum=1),
        "theta_min": Real(minimum=0, closed="right"),
        "theta_max": Real(minimum=0, closed="right"),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        variant: int = 1,
        n_estimators: int = 10,
        theta_min: float = 0.5,
        theta_max: float = 10.0,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.variant = variant
        self.n_estimators = n_estimators
        self.theta_min = theta_min
        self.theta_max = theta_max
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _models_per_label(self, Y: sparse.csr_array) -> Array:
        """Return the number of chains that hold each label, shape (n_labels,).

        For the formula see Notes of the class.
        """
        n_rows, n_labels = Y.shape
        n_chains = int(self.n_estimators)
        n_models = np.full(n_labels, n_chains)
        if self.variant == 1:
            return n_models
        n_present = np.bincount(Y.indices, minlength=n_labels)
        n_rarer = np.minimum(n_present, n_rows - n_present)  # rows with the rarer value of a label
        labels = np.flatnonzero(n_rarer)  # labels that have both values
        minimum = 1 if self.variant == 2 else max(1, int(n_chains * self.theta_min))
        maximum = max(1, int(n_chains * self.theta_max))
        quotients = n_chains * n_rarer.sum() // (len(labels) * n_rarer[labels])
        n_models[labels] = np.minimum(np.maximum(quotients, minimum), maximum)
        return n_models

    def _draw_samples(
        self, Y: sparse.csr_array, generator: np.random.Generator
    ) -> list[ChainSample]:
        """Draw the rows and the labels, in random order, of each chain.

        A chain holds the labels that still need models after the chains before it.
        """
        n_rows = Y.shape[0]
        n_models = self._models_per_label(Y)
        samples = []
        for chain in range(n_models.max()):
            repeats = np.bincount(generator.integers(n_rows, size=n_rows), minlength=n_rows)
            labels = np.flatnonzero(n_models > chain)
            samples.append(ChainSample(generator.permutation(labels), repeats))
        return samples

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `orders_`, `models_` and `thresholds_`.

        The thresholds have the largest F1 on the training rows.
        """
        generator = self._generator()
        samples = self._draw_samples(Y, generator)
        self.orders_: list[Array] = [sample.order for sample in samples]
        targets = chain_targets(Y, samples, sample_weight, generator)
        self.models_ = self._fit_targets(X, targets, X_extra=Y, generator=generator)
        scores = self._predict_scores(X)
        self.thresholds_: Array = label_thresholds(scores, Y, rule="plain", n_jobs=self.n_jobs)

    def _predict_scores(self, X: Any) -> Array:
        """Return the mean probability of each label over the chains that hold it."""
        _, sums = predict_chains(self, self.orders_, X)
        return sums / np.bincount(np.concatenate(self.orders_), minlength=self.n_labels_)
