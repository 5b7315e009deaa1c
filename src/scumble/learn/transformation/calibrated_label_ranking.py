"""Calibrated label ranking: all pairs of labels vote, and a virtual label is the threshold."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import run_in_threads, thread_count
from scumble._core.parameters import Bool
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.transformation.single_label_models import ProblemTransformationClassifier
from scumble.learn.transformation.targets import LabelTargets, LazyTargets
from scumble.learn.trees.c45 import Target
from scumble.learn.trees.c45.forest import Forest, run_kernel_on_rows
from scumble.learn.trees.c45.growing import TargetBatch
from scumble.learn.trees.c45.predict import count_pair_votes, find_exclusive_rows

#: Models per thread whose predictions, dense arrays, are held in memory at once.
_MODELS_PER_THREAD = 16


class CalibratedLabelRanking(
    ProblemTransformationClassifier, name="clr", display_group="Pairs of labels"
):
    """A classifier for each pair of labels and one for each label, which vote.

    The classifier of a pair is fitted to the rows that have exactly one of the two labels, and
    votes for one of them. The classifier of a label votes for it or for a virtual label, which
    separates the present labels from the absent ones in the ranking.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner of each pair and label; by default `C45Classifier`. Any scikit-learn
        classifier is accepted.
    mulan_compat : bool, default=False
        Whether to drop the votes that MULAN (since 1.5.0) drops: those of all pairs after the
        first pair of labels that occur on the same rows.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    pairs_ : ndarray of int32, shape (n_pairs, 2)
        The pairs that have a model; pairs of labels that occur on the same rows have none.
    models_ : Forest or SklearnModels
        The models of the pairs, then those of the labels.
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
    BinaryRelevance : The classifiers of the labels alone.

    Notes
    -----
    A label is predicted if it has at least as many votes as the virtual label [1]_. Its score is
    the number of its votes, including that of its own classifier, over the number of labels; so
    one half is not the threshold. If the two labels of a pair are equally probable, the first
    gets the vote, as in MULAN.

    References
    ----------
    .. [1] Fuernkranz, J., Huellermeier, E., Loza Mencia, E., & Brinker, K. (2008). Multilabel
       classification via calibrated label ranking. *Machine Learning*, 73(2).

    Examples
    --------
    >>> from scumble.learn import CalibratedLabelRanking
    >>> X = [[1], [2], [3], [4], [5], [6]]
    >>> Y = [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 1]]
    >>> CalibratedLabelRanking().fit(X, Y).predict_both([[1], [6]])
    (array([[1, 0],
           [0, 1]]), array([[1., 0.],
           [0., 1.]]))
    """

    classifier_tags = ClassifierTags(scores_can_be_0_or_1=True, certain_of_constant_labels=False)
    _parameter_constraints = {
        **ProblemTransformationClassifier._parameter_constraints,
        "mulan_compat": Bool(),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        mulan_compat: bool = False,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.mulan_compat = mulan_compat
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Set `pairs_`, and `models_`: those of the pairs, then those of the labels."""
        self.pairs_: Array = _separable_label_pairs(
            Y, stop_at_first_inseparable=bool(self.mulan_compat)
        )
        self.models_ = self._fit_targets(X, _PairwiseTargets(Y, self.pairs_, sample_weight))

    def _predict_labels_and_scores(self, X: Any) -> tuple[Array, Array]:
        """Return the labels with at least as many votes as the virtual label, and scores.

        The score of a label is its number of votes over the number of labels.
        """
        votes = self._count_votes(X)
        label_votes = votes[:, :-1]
        virtual_votes = votes[:, -1:]
        return label_votes >= virtual_votes, label_votes / self.n_labels_

    def _count_votes(self, X: Any) -> Array:
        """Return the number of votes for each label, shape (n_rows, n_labels + 1).

        The last column is that of the virtual label.
        """
        labels = np.arange(self.n_labels_)
        virtual_label = np.full_like(labels, self.n_labels_)
        pairs = np.vstack([self.pairs_, np.column_stack([labels, virtual_label])]).astype(np.int64)
        votes = np.zeros((X.shape[0], self.n_labels_ + 1), np.int32)
        if isinstance(self.models_, Forest):
            run_kernel_on_rows(count_pair_votes, self.models_, X, pairs, votes, n_jobs=self.n_jobs)
        else:
            _count_votes_of_sklearn_models(self.models_, pairs, X, votes, n_jobs=self.n_jobs)
        return votes


class _PairwiseTargets(LazyTargets):
    """The targets of all pairs of labels, then of all labels.

    They are computed on access, because there may be millions. Those of pairs, the first
    ``n_in_batches`` targets, can also be computed many at a time by `make_batch`. The target of a
    pair holds the rows that have exactly one of the two labels: class 0 for the first, 1 for the
    second label.
    """

    def __init__(self, Y: sparse.csr_array, pairs: Array, weights: Array | None = None) -> None:
        self._label_targets = LabelTargets(Y, weights=weights)
        self._weights = weights
        self._pairs = np.ascontiguousarray(pairs, np.int32)
        self.n_in_batches = len(pairs)
        self._indptr = self._label_targets.Y_by_label.indptr.astype(np.int64)
        self._rows = self._label_targets.Y_by_label.indices.astype(np.uint32)
        super().__init__(self.n_in_batches + len(self._label_targets), self._make_target)

    def _make_target(self, index: int) -> Target:
        """Return the target with this index, which is that of a pair or of a label."""
        if index >= self.n_in_batches:
            return self._label_targets[index - self.n_in_batches]
        batch = self.make_batch(range(index, index + 1))
        weights = batch.weights if len(batch.weights) else None
        return Target(batch.y, rows=batch.rows, weights=weights)

    def make_batch(self, pair_indices: range) -> TargetBatch:
        """Return the targets of some pairs, one after the other in flat arrays."""
        pairs = self._pairs[pair_indices.start : pair_indices.stop]
        max_rows = int(np.diff(self._indptr)[pairs].sum())
        starts = np.zeros(len(pairs) + 1, np.int64)
        rows, y = np.empty(max_rows, np.uint32), np.empty(max_rows, np.uint8)
        n_rows = find_exclusive_rows(self._indptr, self._rows, pairs, starts, rows, y)
        rows, y = rows[:n_rows], y[:n_rows]
        if self._weights is None:
            return TargetBatch(starts, rows, y)
        return TargetBatch(starts, rows, y, weights=self._weights[rows])


def _separable_label_pairs(Y: sparse.csr_array, *, stop_at_first_inseparable: bool) -> Array:
    """Return the pairs of labels that some row tells apart, as int32 of shape (n_pairs, 2).

    Such a row has exactly one of the two labels; a pair without one has no training rows. With
    ``stop_at_first_inseparable``, return only the pairs before the first one without such a row.
    """
    Y_by_label = Y.tocsc()
    rows_by_label = np.split(Y_by_label.indices, Y_by_label.indptr[1:-1])
    # Labels that occur on the same rows get the same group number.
    group_of_rows: dict[bytes, int] = {}
    groups = np.array(
        [group_of_rows.setdefault(rows.tobytes(), len(group_of_rows)) for rows in rows_by_label]
    )
    first, second = np.triu_indices(Y.shape[1], 1)
    is_separable = groups[first] != groups[second]
    if stop_at_first_inseparable and not is_separable.all():
        is_separable[int(is_separable.argmin()) :] = False
    return np.column_stack([first[is_separable], second[is_separable]]).astype(np.int32)


def _count_votes_of_sklearn_models(
    models: Any, pairs: Array, X: Any, votes: Array, *, n_jobs: int | None
) -> None:
    """Add the votes of scikit-learn models for the rows of X to ``votes``.

    Model i votes for one of the two labels ``pairs[i]``; ``votes`` has a column per label.
    """

    def is_vote_for_second(model_index: int) -> Array:
        """Return whether a model votes for the second label of its pair, for each row."""
        probabilities = models.predict_proba_of(model_index, X)
        return probabilities[:, 0] > probabilities[:, 1]

    block_size = _MODELS_PER_THREAD * thread_count(n_jobs)
    for start in range(0, len(pairs), block_size):
        block = range(start, min(start + block_size, len(pairs)))
        results = run_in_threads(is_vote_for_second, block, n_jobs=n_jobs)
        for (first, second), is_second in zip(
            pairs[block.start : block.stop], results, strict=True
        ):
            votes[:, first] += ~is_second
            votes[:, second] += is_second
