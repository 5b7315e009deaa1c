"""Pruned sets: label powerset without rare labelsets, alone or as an ensemble."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Choice, Int, Real
from scumble.learn.transformation.label_powerset import (
    LabelPowerset,
    LabelsetProblem,
    build_shared_table,
)
from scumble.learn.transformation.single_label_models import ProblemTransformationClassifier
from scumble.learn.weights import take_weights

#: Constraints of the parameters that both classes have.
_PRUNING_CONSTRAINTS = {"p": Int(minimum=0), "strategy": Choice("A", "B"), "b": Int(minimum=0)}

#: Rejected labelsets that are compared with the kept ones at once. It bounds memory.
_LABELSETS_PER_BLOCK = 4096


def prune_labelsets(
    Y: sparse.csr_array, weights: Array | None = None, *, p: int, strategy: str, b: int
) -> LabelsetProblem:
    """Keep the frequent labelsets; rows of the others count for frequent subsets of theirs.

    The parameters are those of `PrunedSets`.
    """
    problem = LabelsetProblem.of(Y, weights)
    sizes = problem.sizes()
    n_kept = int(np.count_nonzero(sizes > p))
    if n_kept in (0, problem.sets.shape[0]):
        return problem
    # The classes are in the order of their sizes, so that the kept ones have the lowest codes.
    substitutes = _substitute_labelsets(problem.sets, sizes, n_kept=n_kept, strategy=strategy, b=b)
    substitutes_of_rows = substitutes[problem.codes]
    rows = np.repeat(problem.rows, np.diff(substitutes_of_rows.indptr))
    return LabelsetProblem(
        sets=problem.sets[:n_kept],
        rows=rows,
        codes=substitutes_of_rows.indices.astype(np.int32),
        weights=take_weights(weights, rows),
    )


def _substitute_labelsets(
    sets: sparse.csr_array, sizes: Array, *, n_kept: int, strategy: str, b: int
) -> sparse.csr_array:
    """Return, for each labelset, the kept labelsets that its rows count for, in a matrix.

    A kept labelset counts for itself. The columns of the matrix are the kept labelsets.
    """
    # Rejected labelsets are compared with kept ones; their subsets are never enumerated.
    kept_sets = sets[:n_kept].astype(np.int32)
    rejected_sets = sets[n_kept:].astype(np.int32)
    n_kept_labels = np.diff(kept_sets.indptr)
    rank = np.empty(n_kept, np.int64)
    rank[_preference_order(sets[:n_kept], sizes[:n_kept])] = np.arange(n_kept)
    kept_by_label = kept_sets.T.tocsr()
    indices = [np.arange(n_kept)]
    lengths = [np.ones(n_kept, np.int64)]
    for start in range(0, rejected_sets.shape[0], _LABELSETS_PER_BLOCK):
        block = rejected_sets[start : start + _LABELSETS_PER_BLOCK]
        n_common = (block @ kept_by_label).tocsr()
        labelset = np.repeat(np.arange(n_common.shape[0]), np.diff(n_common.indptr))
        is_subset = n_common.data == n_kept_labels[n_common.indices]
        labelset = labelset[is_subset]
        codes = n_common.indices[is_subset]
        order = np.lexsort((rank[codes], labelset))
        labelset, codes = labelset[order], codes[order]
        if strategy == "A":
            position = np.arange(len(codes)) - np.searchsorted(labelset, labelset)
            is_used = position < b
        else:
            is_used = n_kept_labels[codes] > b
        indices.append(codes[is_used])
        lengths.append(np.bincount(labelset[is_used], minlength=n_common.shape[0]))
    all_indices = np.concatenate(indices)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    cells = (np.ones(len(all_indices), bool), all_indices, indptr)
    return sparse.csr_array(cells, shape=(len(indptr) - 1, n_kept))


def _preference_order(sets: sparse.csr_array, sizes: Array) -> Array:
    """Order labelsets: those with more labels first, then more frequent ones, then by labels."""
    # MULAN enumerates subsets by a binary counter, whose highest bit is the first label. lexsort
    # sorts by the last key first.
    bits = sets.toarray()
    n_labels = np.diff(sets.indptr)
    return np.lexsort((*bits.T[::-1], -sizes, -n_labels))


class PrunedSets(LabelPowerset, name="ps", display_group="Labelsets"):
    """Label powerset on frequent labelsets; rare labelsets are replaced by frequent subsets.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; by default `C45Classifier`. Any scikit-learn classifier is accepted.
    p : int, default=3
        A labelset is frequent if more than `p` rows have it.
    strategy : {"A", "B"}, default="A"
        The labelsets that a row with a rare labelset counts for: ``"A"``, the first `b` frequent
        subsets, larger ones first, then more frequent ones; ``"B"``, all frequent subsets with
        more than `b` labels.
    b : int, default=2
        See `strategy`.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    labelsets_ : csr_array of bool, shape (n_labelsets, n_labels)
        The labelsets that are classes, the most frequent first.
    models_ : Forest or SklearnModels
        The fitted model.
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
    EnsembleOfPrunedSets : Many of them on random samples.

    Notes
    -----
    The most probable labelset is predicted; the score of a label is the sum of the probabilities
    of all labelsets that contain it [1]_. Labelsets are counted by sample weight. Subsets are
    looked up among the labelsets that occur, so that large labelsets take no longer than small
    ones. If no labelset is frequent, all are kept.

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

    _parameter_constraints = {**LabelPowerset._parameter_constraints, **_PRUNING_CONSTRAINTS}

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
        self.estimator = estimator
        self.p = p
        self.strategy = strategy
        self.b = b
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _make_problem(self, Y: sparse.csr_array, sample_weight: Array | None) -> LabelsetProblem:
        """Keep the frequent labelsets as classes."""
        return prune_labelsets(Y, sample_weight, p=self.p, strategy=self.strategy, b=self.b)

    def _label_scores(self, labels: Array, probabilities: Array) -> Array:
        """Return the total probability of the labelsets with each label."""
        return probabilities @ self.labelsets_


class EnsembleOfPrunedSets(ProblemTransformationClassifier, name="eps", display_group="Labelsets"):
    """Pruned sets on random samples of the rows, which vote for each label.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; by default `C45Classifier`. Any scikit-learn classifier is accepted.
    n_estimators : int, default=10
        Number of members.
    sample : float, default=0.66
        Share of the rows in each sample, drawn without replacement.
    p : int, default=2
        A labelset is frequent if more than `p` rows of the sample have it.
    strategy : {"A", "B"}, default="A"
        See `PrunedSets`.
    b : int, default=3
        See `PrunedSets`.
    threshold : float, default=0.5
        A label is predicted if its share of the votes is at least this.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the samples and of the base learners.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    labelsets_ : list of csr_array
        By member: the labelsets that are classes.
    models_ : Forest or SklearnModels
        One fitted model per member.
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
    PrunedSets : One of the members.

    Notes
    -----
    The score of a label is the share of members whose predicted labelset contains it, as in
    MULAN; the probabilities of the members are not used [1]_.

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

    _parameter_constraints = {
        **ProblemTransformationClassifier._parameter_constraints,
        **_PRUNING_CONSTRAINTS,
        "n_estimators": Int(minimum=1),
        "sample": Real(minimum=0, maximum=1, closed="right"),
        "threshold": Real(minimum=0, maximum=1, closed="right"),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 10,
        sample: float = 0.66,
        p: int = 2,
        strategy: str = "A",
        b: int = 3,
        threshold: float = 0.5,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sample = sample
        self.p = p
        self.strategy = strategy
        self.b = b
        self.threshold = threshold
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _draw_samples(self, n_rows: int, generator: np.random.Generator) -> list[Array]:
        """Draw the rows of each member."""
        size = max(1, int(self.sample * n_rows + 0.5))
        return [generator.permutation(n_rows)[:size] for _ in range(self.n_estimators)]

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Fit one model per sample."""
        generator = self._generator()
        problems = []
        for sample in self._draw_samples(Y.shape[0], generator):
            rows = np.sort(sample)
            weights = take_weights(sample_weight, rows)
            problem = prune_labelsets(Y[rows], weights, p=self.p, strategy=self.strategy, b=self.b)
            problems.append(replace(problem, rows=rows[problem.rows]))
        self.labelsets_: list[sparse.csr_array] = [problem.sets for problem in problems]
        shared = build_shared_table(X, problems)
        self.models_ = self._fit_targets(shared.X, shared.targets, generator=generator)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the labels with enough votes, and the shares of the votes."""
        votes = np.zeros((X.shape[0], self.n_labels_))
        for rows, member, probabilities in self._predict_proba_by_model(X):
            votes[rows] += self.labelsets_[member][probabilities.argmax(axis=1)].toarray()
        votes /= len(self.labelsets_)
        return votes >= self.threshold, votes
