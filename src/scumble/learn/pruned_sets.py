"""Pruned sets: label powerset without rare labelsets, alone or as an ensemble."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Choice, Int, Real, default, parameter_constraints
from scumble.learn.base import parameters
from scumble.learn.label_powerset import LabelPowerset, LabelsetProblem, build_shared_table
from scumble.learn.single_label_models import ProblemTransformationClassifier
from scumble.learn.weights import take_weights

#: What the parameters of pruning may be.
PRUNING = parameter_constraints(p=Int(0), strategy=Choice("A", "B"), b=Int(0))

#: Rejected labelsets compared with the kept ones at a time.
_SETS_AT_ONCE = 4096


def prune_labelsets(
    Y: sparse.csr_array, weights: Array | None = None, *, p: int, strategy: str, b: int
) -> LabelsetProblem:
    """Keep frequent labelsets; rows of the others stand in for frequent subsets of theirs."""
    whole = LabelsetProblem.of(Y, weights)
    counts = whole.sizes()
    n_kept = int(np.count_nonzero(counts > p))
    if n_kept in (0, whole.sets.shape[0]):
        return whole
    # The most frequent come first, so the kept classes are those with the lowest codes.
    subsets = _stand_ins(whole.sets, n_kept, counts, strategy, b)
    of_rows = subsets[whole.codes]
    rows, codes = np.repeat(whole.rows, np.diff(of_rows.indptr)), of_rows.indices.astype(np.int32)
    return LabelsetProblem(whole.sets[:n_kept], rows, codes, take_weights(weights, rows))


def _stand_ins(
    sets: sparse.csr_array, n_kept: int, counts: Array, strategy: str, b: int
) -> sparse.csr_array:
    """List for each labelset what its rows count for: itself, or kept subsets of it."""
    # Only labelsets that occur are looked at, never all subsets there could be.
    kept, rejected = sets[:n_kept].astype(np.int32), sets[n_kept:].astype(np.int32)
    kept_sizes = np.diff(kept.indptr)
    rank = np.empty(n_kept, np.int64)
    rank[_preference(sets[:n_kept], counts[:n_kept])] = np.arange(n_kept)
    transposed = kept.T.tocsr()
    chosen = [np.arange(n_kept)]
    n_chosen = [np.ones(n_kept, np.int64)]
    for start in range(0, rejected.shape[0], _SETS_AT_ONCE):
        common = (rejected[start : start + _SETS_AT_ONCE] @ transposed).tocsr()
        of_set = np.repeat(np.arange(common.shape[0]), np.diff(common.indptr))
        is_subset = common.data == kept_sizes[common.indices]
        of_set, codes = of_set[is_subset], common.indices[is_subset]
        order = np.lexsort((rank[codes], of_set))
        of_set, codes = of_set[order], codes[order]
        place = np.arange(len(codes)) - np.searchsorted(of_set, of_set)
        taken = place < b if strategy == "A" else kept_sizes[codes] > b
        chosen.append(codes[taken])
        n_chosen.append(np.bincount(of_set[taken], minlength=common.shape[0]))
    indices = np.concatenate(chosen)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(n_chosen))])
    cells = (np.ones(len(indices), bool), indices, indptr)
    return sparse.csr_array(cells, shape=(len(indptr) - 1, n_kept))


def _preference(sets: sparse.csr_array, counts: Array) -> Array:
    """Order labelsets: more labels, then more frequent, then as a binary counter meets them."""
    bits = sets.toarray()
    sizes = np.diff(sets.indptr)
    # The first label is the counter's highest bit; lexsort takes the last key as the first.
    return np.lexsort((*bits.T[::-1], -counts, -sizes))


class PrunedSets(LabelPowerset, name="ps", display_group="Labelsets"):
    """Label powerset on frequent labelsets; rows of rare ones are taken apart into frequent ones.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns the labelsets; `C45Classifier` by default. Any scikit-learn classifier will
        do.
    p : int, default=3
        A labelset is frequent if more than `p` rows have it.
    strategy : {"A", "B"}, default="A"
        What a row with a rare labelset counts for: the first `b` frequent subsets of it, largest
        and most frequent first, or all frequent subsets with more than `b` labels.
    b : int, default=2
        See `strategy`.

    Attributes
    ----------
    labelsets_ : csr_array of bool, shape (n_labelsets, n_labels)
        The labelsets that are classes, the most frequent first.
    models_ : Forest or ForeignModels
        The fitted model.

    See Also
    --------
    EnsembleOfPrunedSets : Many of them on random samples.

    Notes
    -----
    The most probable labelset is predicted; the confidence of a label is the sum of the
    probabilities of all labelsets that contain it [1]_. Rows with weights count as much as they
    weigh where labelsets are counted. Subsets are looked up among the labelsets
    that occur, so that large labelsets cost no more than small ones. Where no labelset is
    frequent enough, all are kept.

    References
    ----------
    .. [1] Read, J., Pfahringer, B., & Holmes, G. (2008). Multi-label classification using
       ensembles of pruned sets. *ICDM 2008*.

    Examples
    --------
    The labelset of the last row is rare; the row counts for the first label alone.

    >>> from scumble.learn import PrunedSets
    >>> X = [[1], [2], [3], [4], [5], [6], [7]]
    >>> Y = [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 1]]
    >>> PrunedSets(p=2).fit(X, Y).labelsets_.toarray().astype(int)
    array([[1, 0, 0],
           [0, 1, 0]])
    """

    _parameter_constraints = parameter_constraints(**PRUNING)

    def __init__(
        self,
        estimator: Any = None,
        *,
        p: int = 3,
        strategy: str = "A",
        b: int = 2,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimator, categorical_features=categorical_features, n_jobs=n_jobs)
        self.p = p
        self.strategy = strategy
        self.b = b

    def _problem(self, Y: sparse.csr_array, weights: Array | None) -> LabelsetProblem:
        return prune_labelsets(Y, weights, p=self.p, strategy=self.strategy, b=self.b)

    def _label_scores(self, labels: Array, probabilities: Array) -> Array:
        return probabilities @ self.labelsets_


@parameters(kw_only=True)
class EnsembleOfPrunedSets(ProblemTransformationClassifier, name="eps", display_group="Labelsets"):
    """Pruned sets on random samples of the rows; they vote for each label.

    Parameters
    ----------
    estimator : classifier, default=None
        What learns the labelsets; `C45Classifier` by default. Any scikit-learn classifier will
        do.
    n_estimators : int, default=10
        Number of members.
    sample : float, default=0.66
        Share of the rows each member sees, drawn without replacement.
    p : int, default=2
        A labelset is frequent if more than `p` rows of the sample have it.
    strategy : {"A", "B"}, default="A"
        See `PrunedSets`.
    b : int, default=3
        See `PrunedSets`.
    threshold : float, default=0.5
        Share of the votes from which a label is predicted.

    Attributes
    ----------
    labelsets_ : list of csr_array
        The labelsets that are classes of each member.
    models_ : Forest or ForeignModels
        One fitted model per member.

    See Also
    --------
    PrunedSets : One of the members.

    Notes
    -----
    The confidence of a label is the share of members whose predicted labelset contains it, as in
    MULAN; the members' probabilities are not used [1]_.

    References
    ----------
    .. [1] Read, J., Pfahringer, B., & Holmes, G. (2008). Multi-label classification using
       ensembles of pruned sets. *ICDM 2008*.

    Examples
    --------
    >>> from scumble.learn import EnsembleOfPrunedSets
    >>> X = [[1], [2], [3], [4], [5], [6], [7], [8]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [1, 0], [1, 1], [1, 1], [1, 1], [1, 1]]
    >>> EnsembleOfPrunedSets(p=1, random_state=1).fit(X, Y).predict([[1], [8]])
    array([[1, 0],
           [1, 1]])
    """

    n_estimators: int = default(10, Int(1))
    sample: float = default(0.66, Real(0, 1, closed="right"))
    p: int = default(2, PRUNING["p"])
    strategy: str = default("A", PRUNING["strategy"])
    b: int = default(3, PRUNING["b"])
    threshold: float = default(0.5, Real(0, 1, closed="right"))
    random_state: Any = None

    def _draws(self, n_rows: int, generator: np.random.Generator) -> list[Array]:
        """Draw the rows of each member."""
        size = max(1, int(self.sample * n_rows + 0.5))
        return [generator.permutation(n_rows)[:size] for _ in range(self.n_estimators)]

    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        generator = self._generator()
        problems = []
        for rows in self._draws(Y.shape[0], generator):
            drawn = np.sort(rows)
            share = take_weights(weights, drawn)
            problem = prune_labelsets(Y[drawn], share, p=self.p, strategy=self.strategy, b=self.b)
            problems.append(replace(problem, rows=drawn[problem.rows]))
        self.labelsets_: list[sparse.csr_array] = [problem.sets for problem in problems]
        table, targets = build_shared_table(X, problems)
        self._fit_models(table, targets, generator=generator)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        votes = np.zeros((X.shape[0], self.n_labels_))
        for rows, member, probabilities in self._predict_proba_by_model(X):
            votes[rows] += self.labelsets_[member][probabilities.argmax(axis=1)].toarray()
        votes /= len(self.labelsets_)
        return votes >= self.threshold, votes
