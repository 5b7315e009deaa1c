"""ECCRU: classifier chains on undersampled rows, and more chains for rarer labels."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Choice, Int, Real, default
from scumble.learn.base import parameters
from scumble.learn.chains import ChainSample, chain_targets, predict_chains
from scumble.learn.single_label_models import ProblemTransformationClassifier
from scumble.learn.thresholds import label_thresholds


@parameters(kw_only=True)
class ECCRU(ProblemTransformationClassifier, name="eccru", display_group="Chains"):
    r"""Classifier chains whose every model learns from as many rows with the label as without.

    A model of a rare label that sees all rows learns to say no. Here each sees all rows that have
    the label and equally many of those that do not, drawn at random, so that a chain leaves out
    most rows; other chains draw others. The variants 2 and 3 give rarer labels more models, as
    theirs are small and leave out the most, and put only those labels into a chain that still
    need one.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns each label; `C45Classifier` by default. Any scikit-learn classifier will do.
    variant : {1, 2, 3}, default=1
        1 (ECCRU): all labels are in all chains. 2 (ECCRU2): rarer labels are in more chains,
        frequent ones in as few as one. 3 (ECCRU3): frequent ones in at least `theta_min` times
        `n_estimators`.
    n_estimators : int, default=10
        Number of chains; for the variants 2 and 3 the number of models of a label of average
        rarity.
    theta_min : float, default=0.5
        Variant 3: the fewest models of a label, in times of `n_estimators`.
    theta_max : float, default=10.0
        Variants 2 and 3: the most models of a label, in times of `n_estimators`.

    Attributes
    ----------
    orders_ : list of ndarray of int64
        The labels of each chain, in its order.
    models_ : Forest or ForeignModels
        One fitted model per chain and label in it, chain after chain.
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted from this confidence on.

    See Also
    --------
    EnsembleOfClassifierChains : The same without undersampling.
    COCOA : Undersampled trees for pairs of labels.

    Notes
    -----
    Each chain has a bootstrap sample of the rows; from it each model takes all rows of the
    label's rarer value and draws equally many of the other [1]_. Confidences are means over the
    chains that hold the label; its threshold is the one with the largest F on the training rows.

    With c chains, :math:`m_j` rows of label j's rarer value and :math:`\bar m` their mean over
    the labels that have both values, label j gets :math:`\lfloor c \bar m / m_j \rfloor` models
    in the variants 2 and 3, at least 1 or :math:`\lfloor c\,\theta_{min} \rfloor`, at most
    :math:`\lfloor c\,\theta_{max} \rfloor`.

    A model sees the true values of the labels before it when it learns, as in all classifier
    chains here; MULAN's program gives it those that the chain predicts for its training rows. It
    looks for thresholds among 0.05, 0.1, ..., ours may be anywhere, and it stops making chains
    when only one label still needs models.

    The rule for thresholds has no guard, as in the paper: where positives are few it follows
    chance (rule ``"plain"`` of `label_thresholds`). A label whose training rows all get the same
    confidence, because nothing was learnt about it, is not predicted unless all rows have it; the
    paper would predict it for every row.

    Rows are drawn, and thresholds chosen, whatever the rows weigh; weights count in what is learnt
    from the rows that were drawn.

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

    variant: int = default(1, Choice(1, 2, 3))
    n_estimators: int = default(10, Int(1))
    theta_min: float = default(0.5, Real(0, closed="right"))
    theta_max: float = default(10.0, Real(0, closed="right"))
    random_state: Any = None

    def _models_per_label(self, Y: sparse.csr_array) -> Array:
        """Tell in how many chains each label is."""
        n_rows, n_labels = Y.shape
        c = int(self.n_estimators)
        wanted = np.full(n_labels, c)
        if self.variant == 1:
            return wanted
        n_present = np.bincount(Y.indices, minlength=n_labels)
        n_rarer = np.minimum(n_present, n_rows - n_present)
        both = np.flatnonzero(n_rarer)
        fewest = 1 if self.variant == 2 else max(1, int(c * self.theta_min))
        most = max(1, int(c * self.theta_max))
        models = c * n_rarer.sum() // (len(both) * n_rarer[both])
        wanted[both] = np.minimum(np.maximum(models, fewest), most)
        return wanted

    def _draws(self, Y: sparse.csr_array, generator: np.random.Generator) -> list[ChainSample]:
        """Draw rows and order of each chain, until every label is in as many as it needs."""
        n_rows = Y.shape[0]
        wanted = self._models_per_label(Y)
        draws = []
        for chain in range(wanted.max()):
            repeats = np.bincount(generator.integers(n_rows, size=n_rows), minlength=n_rows)
            draws.append(
                ChainSample(generator.permutation(np.flatnonzero(wanted > chain)), repeats)
            )
        return draws

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        generator = self._generator()
        draws = self._draws(Y, generator)
        self.orders_: list[Array] = [draw.order for draw in draws]
        targets = chain_targets(Y, draws, weights, generator)
        self._fit_models(X, targets, extra=Y, generator=generator)
        sure = self._predict_scores(X)
        self.thresholds_: Array = label_thresholds(sure, Y, rule="plain", n_jobs=self.n_jobs)

    def _predict_scores(self, X: Any) -> Array:
        _, sums = predict_chains(self, self.orders_, X)
        return sums / np.bincount(np.concatenate(self.orders_), minlength=self.n_labels_)
