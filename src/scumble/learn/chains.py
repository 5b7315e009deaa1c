"""Classifier chains: every label sees the labels before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble._core.parallel import run_in_threads
from scumble._core.parameters import AnyValue, Bool, Int, Optional, Real, default
from scumble.learn.base import parameters
from scumble.learn.c45 import Target
from scumble.learn.c45.forest import Forest, run_kernel_on_rows
from scumble.learn.c45.predict import predict_chain_rows
from scumble.learn.single_label_models import ProblemTransformationClassifier
from scumble.learn.targets import LabelTargets, LazyTargets, spawn_seeds, undersample_target


@parameters(kw_only=True)
class ClassifierChain(ProblemTransformationClassifier, name="cc", display_group="Chains"):
    """One classifier for each label, which also sees the labels before it in the chain.

    In training these are the true ones, in prediction the predicted ones.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns each label; `C45Classifier` by default. Any scikit-learn classifier will do.
    order : sequence of int, default=None
        The labels in the order of the chain; their own order by default.

    Attributes
    ----------
    order_ : ndarray of int64, shape (n_labels,)
        The chain.
    models_ : Forest or ForeignModels
        One fitted model per label, in the order of the chain.

    See Also
    --------
    EnsembleOfClassifierChains : Many chains in random orders vote.

    Notes
    -----
    A label is predicted unless its absence is more probable [1]_; the confidence is the
    probability of its presence. Labels come after the features, as nominal columns.

    References
    ----------
    .. [1] Read, J., Pfahringer, B., Holmes, G., & Frank, E. (2011). Classifier chains for
       multi-label classification. *Machine Learning*, 85(3).

    Examples
    --------
    The second label is there where the first is not.

    >>> from scumble.learn import ClassifierChain
    >>> X = [[1], [2], [3], [4], [5], [6]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    >>> ClassifierChain(order=[1, 0]).fit(X, Y).predict([[1], [6]])
    array([[1, 0],
           [0, 1]])
    """

    order: Sequence[int] | None = default(None, AnyValue("None or each label number once"))

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        self.order_: Array = self._check_order(Y.shape[1])
        self._fit_models(X, chain_targets(Y, [ChainSample(self.order_)], weights), extra=Y)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        return predict_chains(self, [self.order_], X)

    def _check_order(self, n_labels: int) -> Array:
        if self.order is None:
            return np.arange(n_labels)
        try:
            order = np.asarray(self.order)
        except ValueError:  # parts of different lengths
            order = np.empty(0)
        is_numbers = order.shape == (n_labels,) and order.dtype.kind in "iuf"
        if not is_numbers or sorted(order.tolist()) != list(range(n_labels)):
            must = f"name each of the {n_labels} labels once, by its number"
            text = parameter_error("order", type(self).__name__, must, self.order)
            instead = "Chains in random orders are 'ecc', EnsembleOfClassifierChains."
            raise ParameterError(f"{text} {instead}")
        return order.astype(np.int64)


@parameters(kw_only=True)
class EnsembleOfClassifierChains(
    ProblemTransformationClassifier, name="ecc", display_group="Chains"
):
    """Chains in random orders on random samples of the rows; their mean decides.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns each label; `C45Classifier` by default. Any scikit-learn classifier will do.
    n_estimators : int, default=10
        Number of chains.
    use_confidences : bool, default=True
        Whether to average the chains' confidences rather than their 0/1 decisions.
    bootstrap : bool, default=True
        Whether the rows of a chain are drawn with replacement.
    sample : float, default=None
        How many rows to draw for each chain, as a share of the rows there are; all with
        replacement and 0.67 without by default. At most 1 without replacement.

    Attributes
    ----------
    orders_ : ndarray of int64, shape (n_estimators, n_labels)
        The chains.
    models_ : Forest or ForeignModels
        One fitted model per chain and label, chain after chain.

    See Also
    --------
    ClassifierChain : One of the chains.

    Notes
    -----
    Confidences are means over the chains [1]_; a label is predicted from 0.5 on. MULAN draws the
    same positions for all chains from rows shuffled anew and shuffles the labels with a bias;
    here all draws are uniform. A row with a weight counts as much each time it is drawn.

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

    n_estimators: int = default(10, Int(1))
    use_confidences: bool = default(True, Bool())
    bootstrap: bool = default(True, Bool())
    sample: float | None = default(None, Optional(Real(0, closed="right")))
    random_state: Any = None

    def _check_parameter_combinations(self) -> None:
        if self.sample is not None and not self.bootstrap:
            share = Real(0, 1, closed="right")
            share.check(self.sample, name="sample", caller=type(self).__name__)

    def _draws(
        self, n_rows: int, n_labels: int, generator: np.random.Generator
    ) -> list[ChainSample]:
        """Draw the rows and the order of each chain."""
        share = self.sample or (1.0 if self.bootstrap else 0.67)
        size = max(1, int(share * n_rows + 0.5))
        draws = []
        for _ in range(self.n_estimators):
            if self.bootstrap:
                rows = generator.integers(n_rows, size=size)
            else:
                rows = generator.permutation(n_rows)[:size]
            repeats = np.bincount(rows, minlength=n_rows)
            draws.append(ChainSample(generator.permutation(n_labels), repeats))
        return draws

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        generator = self._generator()
        draws = self._draws(Y.shape[0], Y.shape[1], generator)
        self.orders_: Array = np.array([draw.order for draw in draws], np.int64)
        targets = chain_targets(Y, draws, weights)
        self._fit_models(X, targets, extra=Y, generator=generator)

    def _predict_scores(self, X: Any) -> Array:
        _, sums = predict_chains(self, list(self.orders_), X, hard=not self.use_confidences)
        return sums / len(self.orders_)


@dataclass(frozen=True, eq=False)
class ChainSample:
    """The labels of a chain in order, and how many times each row counts; once where None."""

    order: Array
    repeats: Array | None = None


def chain_targets(
    Y: sparse.csr_array,
    draws: Sequence[ChainSample],
    weights: Array | None = None,
    generator: Any = None,
) -> LazyTargets:
    """Give the targets of all chains in their order; each may use labels before it.

    With a generator each has as many rows of one value as of the other.
    """
    labels, begins = LabelTargets(Y), np.cumsum([0, *(len(draw.order) for draw in draws)])
    seeds = None if generator is None else spawn_seeds(generator, begins[-1])

    def make(at: int) -> Target:
        chain = int(np.searchsorted(begins, at, side="right")) - 1
        draw, place = draws[chain], at - int(begins[chain])
        codes, before = labels.codes(int(draw.order[place])), draw.order[:place]
        target = Target(codes, repeats=draw.repeats, weights=weights, extra=before)
        return target if seeds is None else undersample_target(target, seeds[at])

    return LazyTargets(int(begins[-1]), make)


def predict_chains(
    fitted: ProblemTransformationClassifier, orders: Sequence[Array], X: Any, *, hard: bool = False
) -> tuple[Array, Array]:
    """Ask all chains, each label knowing what was predicted for those before it."""
    models, begins = fitted.models_, np.cumsum([0, *map(len, orders)])
    labels = np.zeros((X.shape[0], fitted.n_labels_), bool)
    sums = np.zeros(labels.shape)
    if isinstance(models, Forest):
        chains = begins, np.concatenate([np.asarray(order, np.int64) for order in orders])
        run_kernel_on_rows(
            predict_chain_rows, models, X, chains, hard, labels, sums, n_jobs=fitted.n_jobs
        )
        return labels, sums

    def follow(chain: int) -> tuple[Array, Array]:
        known, confidences = np.zeros_like(labels), np.zeros_like(sums)
        for place, label in enumerate(orders[chain]):
            both = models.predict_proba_of(int(begins[chain]) + place, X, sparse.csr_array(known))
            known[:, label] = both[:, 1] >= both[:, 0]
            confidences[:, label] = known[:, label] if hard else both[:, 1]
        return known, confidences

    answers = run_in_threads(follow, range(len(orders)), n_jobs=fitted.n_jobs)
    for _, confidences in answers:
        sums += confidences
    return answers[-1][0], sums
