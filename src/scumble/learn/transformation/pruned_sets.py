"""Pruned sets: label powerset without rare labelsets, alone or as an ensemble."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import Choice, Int, Real
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.transformation.label_powerset import (
    LabelPowerset,
    LabelsetProblem,
    repeat_rows_for_problems,
)
from scumble.learn.transformation.single_label_models import ProblemTransformationClassifier
from scumble.learn.weights import select_weights

#: Constraints of the parameters that both classes have.
_PRUNING_CONSTRAINTS = {"p": Int(minimum=0), "strategy": Choice("A", "B"), "b": Int(minimum=0)}

#: Number of rare labelsets that are compared with the frequent ones at once; it bounds memory.
_LABELSETS_PER_BLOCK = 4096


def prune_labelsets(
    Y: sparse.csr_array, weights: Array | None = None, *, p: int, strategy: str, b: int
) -> LabelsetProblem:
    """Return a multiclass problem whose classes are the frequent labelsets of Y.

    A labelset is frequent if its rows weigh more than ``p``. A row with a rare labelset becomes an
    example of each of some frequent subsets of it, and is left out if there are none. If no
    labelset is frequent, all are classes. The parameters are those of `PrunedSets`.
    """
    problem = LabelsetProblem.from_labels(Y, weights)
    class_weights = problem.class_weights()
    n_frequent = int(np.count_nonzero(class_weights > p))
    if n_frequent in (0, problem.labelsets.shape[0]):
        return problem
    # Classes are in descending order of their weights: frequent labelsets have the lowest codes.
    substitutes = _substitute_labelsets(
        problem.labelsets, class_weights, n_frequent=n_frequent, strategy=strategy, b=b
    )
    substitutes_of_rows = substitutes[problem.codes]
    row_indices = np.repeat(problem.row_indices, np.diff(substitutes_of_rows.indptr))
    return LabelsetProblem(
        labelsets=problem.labelsets[:n_frequent],
        row_indices=row_indices,
        codes=substitutes_of_rows.indices.astype(np.int32),
        weights=select_weights(weights, row_indices),
    )


def _substitute_labelsets(
    labelsets: sparse.csr_array, class_weights: Array, *, n_frequent: int, strategy: str, b: int
) -> sparse.csr_array:
    """Return the frequent labelsets that the rows of each labelset count for.

    The result is a bool matrix of shape (n_labelsets, n_frequent); the first ``n_frequent``
    labelsets are frequent, and count for themselves. ``class_weights`` are the total weights of the
    rows of each labelset.
    """
    # Rare labelsets are compared with frequent ones; their subsets are never enumerated.
    frequent_sets = labelsets[:n_frequent].astype(np.int32)
    rare_sets = labelsets[n_frequent:].astype(np.int32)
    set_sizes = np.diff(frequent_sets.indptr)  # numbers of labels of the frequent labelsets
    rank = np.empty(n_frequent, np.int64)
    order = _preference_order(labelsets[:n_frequent], class_weights[:n_frequent])
    rank[order] = np.arange(n_frequent)
    frequent_sets_by_label = frequent_sets.T.tocsr()
    substitutes = [np.arange(n_frequent)]
    n_substitutes = [np.ones(n_frequent, np.int64)]
    for start in range(0, rare_sets.shape[0], _LABELSETS_PER_BLOCK):
        block = rare_sets[start : start + _LABELSETS_PER_BLOCK]
        n_common_labels = (block @ frequent_sets_by_label).tocsr()
        n_rare = n_common_labels.shape[0]
        # Pairs of a rare labelset and a frequent one with which it shares labels.
        rare = np.repeat(np.arange(n_rare), np.diff(n_common_labels.indptr))
        frequent = n_common_labels.indices
        is_subset = n_common_labels.data == set_sizes[frequent]
        rare, frequent = rare[is_subset], frequent[is_subset]
        order = np.lexsort((rank[frequent], rare))
        rare, frequent = rare[order], frequent[order]
        if strategy == "A":
            position = np.arange(len(frequent)) - np.searchsorted(rare, rare)
            is_used = position < b
        else:
            is_used = set_sizes[frequent] > b
        substitutes.append(frequent[is_used])
        n_substitutes.append(np.bincount(rare[is_used], minlength=n_rare))
    indices = np.concatenate(substitutes)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(n_substitutes))])
    csr_parts = (np.ones(len(indices), bool), indices, indptr)
    return sparse.csr_array(csr_parts, shape=(len(indptr) - 1, n_frequent))


def _preference_order(labelsets: sparse.csr_array, class_weights: Array) -> Array:
    """Return the indices of labelsets in the order in which rare labelsets are replaced by them.

    Labelsets with more labels come first, then more frequent ones, then those with earlier labels.
    """
    # MULAN enumerates subsets by a binary counter, whose highest bit is the first label. lexsort
    # sorts by the last key first.
    columns = labelsets.toarray().T
    n_labels = np.diff(labelsets.indptr)
    return np.lexsort((*columns[::-1], -class_weights, -n_labels))


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

    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True)
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

    def _to_multiclass(self, Y: sparse.csr_array, sample_weight: Array | None) -> LabelsetProblem:
        """Return the multiclass problem whose classes are the frequent labelsets.

        Rows with rare labelsets count for frequent subsets, or are left out; see `prune_labelsets`.
        """
        return prune_labelsets(Y, sample_weight, p=self.p, strategy=self.strategy, b=self.b)

    def _label_scores(self, labels: Array, probabilities: Array) -> Array:
        """Return for each row and label the total probability of the labelsets with the label."""
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

    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True, weights_equal_repetitions=False)
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
        """Draw the row indices of each member, without replacement."""
        sample_size = max(1, int(self.sample * n_rows + 0.5))
        return [generator.permutation(n_rows)[:sample_size] for _ in range(self.n_estimators)]

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `labelsets_` and `models_`, with one entry per member."""
        generator = self._generator()
        problems = []
        for drawn_rows in self._draw_samples(Y.shape[0], generator):
            sample = np.sort(drawn_rows)
            problem = prune_labelsets(
                Y[sample],
                select_weights(sample_weight, sample),
                p=self.p,
                strategy=self.strategy,
                b=self.b,
            )
            problems.append(replace(problem, row_indices=sample[problem.row_indices]))
        self.labelsets_: list[sparse.csr_array] = [problem.labelsets for problem in problems]
        shared = repeat_rows_for_problems(X, problems)
        self.models_ = self._fit_targets(shared.X, shared.targets, generator=generator)

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the labels with enough votes, and for each label its share of the votes."""
        scores = np.zeros((X.shape[0], self.n_labels_))
        for block, member, probabilities in self._predict_proba_by_model(X):
            scores[block] += self.labelsets_[member][probabilities.argmax(axis=1)].toarray()
        scores /= len(self.labelsets_)
        return scores >= self.threshold, scores
