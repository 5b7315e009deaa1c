"""Decision thresholds: one for each label, chosen from scores, guarded where positives are few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError
from scumble._core.parallel import run_in_threads, thread_count
from scumble._core.parameters import Choice, ParameterConstraint, Real
from scumble._core.table_repr import TableReprMixin
from scumble._validation.labels import check_labels, check_same_names
from scumble.learn.predictions import check_same_shape

RULES = ("shrunken", "capped", "plain", "rate", "fixed")
#: The beta of the F-measure of each metric: how many times recall weighs as much as precision.
METRIC_BETAS = {"f1": 1.0, "f2": 2.0, "f0.5": 0.5}
#: Prediction rates at which the mean recall of the labels is computed. The prediction rate of a
#: label is its number of predicted rows over its number of rows that have it. The range ends at 4,
#: because only rule "plain" predicts more than four times as many rows as have the label.
PREDICTION_RATES = np.linspace(0.0, 4.0, 81)
#: Digits to which the mean recall is rounded: sums in another order of labels differ beyond them.
RECALL_DIGITS = 9

#: Allowed values of the parameters of a rule.
RULE_CONSTRAINTS: dict[str, ParameterConstraint] = {
    "rule": Choice(*RULES),
    "metric": Choice(*METRIC_BETAS),
    "strength": Real(0),
    "threshold": Real(),
}


@dataclass(frozen=True)
class ThresholdRule:
    """The rule by which thresholds are selected, with its parameters; see `label_thresholds`."""

    rule: str = "shrunken"
    metric: str = "f1"
    strength: float = 20.0
    threshold: float = 0.5

    def max_predicted(self, n_positives: int) -> float:
        """Return how many rows the rule may predict to have a label with so many positives.

        Infinity if there is no limit.
        """
        if self.rule == "plain":
            return np.inf
        return max(4 * n_positives, n_positives + 4)

    def fixed_thresholds(self, n_positives: Array) -> Array:
        """Return the thresholds of rule ``"fixed"``, given the number of positives per label.

        The threshold is infinity for labels without positives.
        """
        return np.where(n_positives > 0, float(self.threshold), np.inf)

    def check(self, *, caller: str) -> ThresholdRule:
        """Return the rule itself; raise an error that names ``caller`` for invalid parameters."""
        for name, constraint in RULE_CONSTRAINTS.items():
            constraint.check(getattr(self, name), name=name, caller=caller)
        return self


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCurve(TableReprMixin):
    """The results of all candidate thresholds of one label, on the rows they are chosen from.

    Attributes
    ----------
    thresholds : ndarray of float64
        The candidates, from high to low. A label is predicted at scores of at least the threshold.
    n_predicted, hits : ndarray of int64
        Number of rows predicted at each threshold, and number of true positives among them.
    n_positives : int
        Rows that have the label.
    observed : ndarray of float64
        The metric on these rows.
    expected : ndarray of float64
        The metric that the rule expects on new rows. It differs from ``observed`` only for rule
        ``"shrunken"``.
    selected : int
        Index of the threshold that the rule selects; -1 if it selects none of them.

    Examples
    --------
    >>> from scumble.learn import threshold_curves
    >>> curve = threshold_curves([[0.9], [0.8], [0.1]], [[1], [1], [0]])[0]
    >>> curve.thresholds.round(2)[curve.selected], curve.observed.round(2)
    (np.float64(0.45), array([0.67, 1.  , 0.8 ]))
    """

    thresholds: Array
    n_predicted: Array
    hits: Array
    n_positives: int
    observed: Array
    expected: Array
    selected: int


def label_thresholds(
    scores: Any,
    Y: Any,
    *,
    rule: str = "shrunken",
    metric: str = "f1",
    strength: float = 20.0,
    threshold: float = 0.5,
    n_jobs: int | None = None,
) -> Array:
    r"""Choose a decision threshold for each label.

    With one threshold for all labels, such as 0.5, rare labels are never predicted, because their
    scores hardly ever reach it. For a label with many positives, the threshold that is best on the
    given scores is a good choice; with few positives it follows chance. The default rule therefore
    combines a label's own scores, weighted by its number of positives, with the mean of all labels.

    Parameters
    ----------
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Scores of rows that the model was **not fitted to**. Cells that a sparse matrix does not
        store are 0 and never predicted. If scores and ``Y`` are both frames, their columns must
        have the same names in the same order.
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The true labels of these rows.
    rule : {"shrunken", "capped", "plain", "rate", "fixed"}
        ``"shrunken"``: see Notes. ``"capped"``: the threshold of the best metric among those that
        predict at most four times as many rows as have the label. ``"plain"``: the threshold of
        the best metric, as COCOA and ECCRU choose it; it overfits where positives are few.
        ``"rate"``: predict as many rows as have the label. ``"fixed"``: ``threshold`` for all
        labels that have positives.
    metric : {"f1", "f2", "f0.5"}
        The metric to maximize; F2 favours recall, F0.5 precision.
    strength : float
        The number of positives that the mean of all labels counts as, in rule ``"shrunken"``.
    threshold : float
        The threshold of rule ``"fixed"``.
    n_jobs : int, optional
        Number of threads. Results do not depend on it.

    Returns
    -------
    ndarray of float64, shape (n_labels,)
        A label is predicted at scores of at least its threshold. Infinity for a label without
        positives (never predicted), minus infinity if all rows are to be predicted.

    See Also
    --------
    ThresholdedClassifier : Chooses thresholds from its own out-of-sample scores.
    threshold_curves : The results of all candidate thresholds.

    Notes
    -----
    Let P be the positives of a label. A threshold between two different scores predicts n rows, of
    which t have the label. Let R(r) be the mean recall of all labels with at least two positives
    when r P of their rows are predicted, and k the strength. The rule selects the threshold that
    maximizes

    .. math:: F = \frac{2\, t'}{n + P}, \quad t' = P\,\frac{t + k\,R(n/P)}{P + k}

    among those with :math:`n \le \max(4P, P + 4)`, and the first one of equals; the threshold is
    the mean of the two scores. Rule ``"plain"`` has no such limit. By every rule but ``"fixed"`` a
    label whose scores are all equal is predicted only if all rows have it. R is computed at 81
    rates from 0 to 4 and interpolated linearly between them; rows of equal score count as if in
    random order.

    Examples
    --------
    >>> from scumble.learn import label_thresholds
    >>> scores = [[0.9, 0.30], [0.8, 0.10], [0.4, 0.20], [0.3, 0.05], [0.1, 0.00]]
    >>> Y = [[1, 1], [1, 0], [1, 0], [0, 0], [0, 0]]
    >>> label_thresholds(scores, Y, rule="capped")
    array([0.35, 0.25])
    """
    caller = "label_thresholds"
    threshold_rule = ThresholdRule(rule, metric, strength, threshold).check(caller=caller)
    scored_labels = ScoredLabels.from_user(scores, Y, caller=caller)
    return scored_labels.select_thresholds(threshold_rule, n_jobs=n_jobs).thresholds


def threshold_curves(
    scores: Any,
    Y: Any,
    *,
    labels: Sequence[int] | None = None,
    rule: str = "shrunken",
    metric: str = "f1",
    strength: float = 20.0,
    threshold: float = 0.5,
    n_jobs: int | None = None,
) -> list[ThresholdCurve]:
    """Return the results of all candidate thresholds of each label.

    Parameters
    ----------
    scores, Y, rule, metric, strength, threshold, n_jobs : object
        See `label_thresholds`.
    labels : sequence of int, optional
        Indices of the labels to return; all by default. The others still take part in the mean
        recall.

    Returns
    -------
    list of ThresholdCurve
        One per label.

    Examples
    --------
    >>> from scumble.learn import threshold_curves
    >>> curve = threshold_curves([[0.9], [0.8], [0.4], [0.1]], [[1], [0], [1], [0]])[0]
    >>> curve.n_predicted, curve.hits, curve.selected
    (array([1, 2, 3, 4]), array([1, 1, 2, 2]), 2)
    """
    caller = "threshold_curves"
    threshold_rule = ThresholdRule(rule, metric, strength, threshold).check(caller=caller)
    scored_labels = ScoredLabels.from_user(scores, Y, caller=caller)
    candidates, shared_recall = scored_labels.all_candidate_thresholds(threshold_rule, n_jobs)
    label_indices = range(scored_labels.n_labels) if labels is None else labels
    return [
        _make_curve(candidates[int(label)], threshold_rule, shared_recall)
        for label in label_indices
    ]


@dataclass(frozen=True, eq=False)
class CandidateThresholds:
    """The candidate thresholds of one label, from high to low, and their results.

    A candidate threshold lies between two different scores of the training rows; the last one may
    be minus infinity, below all scores. The arrays have one entry per candidate.
    """

    thresholds: Array
    n_predicted: Array  # number of rows with a score of at least the threshold
    true_positives: Array  # number of these rows that have the label
    n_positives: int  # number of all rows that have the label
    #: A rule may select one of the first ``n_allowed`` candidates. One more may follow, which is
    #: used for the mean recall only.
    n_allowed: int


@dataclass(frozen=True, eq=False)
class SelectedThresholds:
    """The threshold that is selected for each label, and its results, in arrays by label."""

    thresholds: Array  # infinity if the label is never predicted
    n_positives: Array  # number of rows that have the label
    n_predicted: Array  # number of rows with a score of at least the threshold
    true_positives: Array  # number of these rows that have the label
    expected: Array  # metric that the rule expects on new rows; NaN for a label without positives

    @classmethod
    def without_predictions(cls, n_positives: Array) -> SelectedThresholds:
        """Return thresholds of infinity, by which no label is ever predicted."""
        n_labels = len(n_positives)
        return cls(
            thresholds=np.full(n_labels, np.inf),
            n_positives=n_positives,
            n_predicted=np.zeros(n_labels, np.int64),
            true_positives=np.zeros(n_labels, np.int64),
            expected=np.where(n_positives > 0, 0.0, np.nan),
        )

    def select(
        self, label: int, candidates: CandidateThresholds, index: int, expected: float
    ) -> None:
        """Set the threshold and the results of a label to those of one of its candidates.

        ``label`` and ``index`` are the indices of the label and of the candidate.
        """
        self.thresholds[label] = candidates.thresholds[index]
        self.n_predicted[label] = candidates.n_predicted[index]
        self.true_positives[label] = candidates.true_positives[index]
        self.expected[label] = expected

    def with_fixed_threshold(self, rule: ThresholdRule) -> SelectedThresholds:
        """Return a copy with the thresholds of rule ``"fixed"``.

        The results of this object must be those of the fixed threshold. The expected metric is
        computed from them; labels without positives count as never predicted.
        """
        beta_squared = METRIC_BETAS[rule.metric] ** 2
        has_positives = self.n_positives > 0
        n_predicted = np.where(has_positives, self.n_predicted, 0)
        denominator = n_predicted + beta_squared * self.n_positives
        denominator = np.where(has_positives, denominator, 1.0)
        metric = (1 + beta_squared) * self.true_positives / denominator
        return replace(
            self,
            thresholds=rule.fixed_thresholds(self.n_positives),
            n_predicted=n_predicted,
            expected=np.where(has_positives, metric, np.nan),
        )


@dataclass(frozen=True, eq=False)
class ScoredLabels:
    """Scores and true labels of the same rows, stored by column to process labels one by one."""

    scores: Any  # ndarray in Fortran order or csc_array, shape (n_samples, n_labels)
    Y: sparse.csc_array  # bool, of the same shape

    @classmethod
    def from_user(cls, scores: Any, Y: Any, *, caller: str) -> ScoredLabels:
        """Validate scores and labels that a user passes to the public function ``caller``."""
        check_same_names(Y, scores, noun="scores", caller=caller)
        Y_validated = check_labels(Y, caller=f"{caller}, Y")
        scores_validated = _validate_scores(scores, caller=caller)
        check_same_shape(scores_validated.shape, Y_validated.shape, noun="scores", caller=caller)
        return cls(scores_validated, Y_validated.tocsc())

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(self.Y.shape[1])

    def select_thresholds(
        self, rule: ThresholdRule, *, n_jobs: int | None = None
    ) -> SelectedThresholds:
        """Return the threshold of each label by a rule, with its results."""
        if rule.rule == "fixed":
            return self._apply_fixed_threshold(rule)
        candidates, shared_recall = self.all_candidate_thresholds(rule, n_jobs)
        return _select_best(candidates, shared_recall, rule)

    def select_with_curves(
        self, rule: ThresholdRule, n_jobs: int | None
    ) -> tuple[Array, list[ThresholdCurve]]:
        """Return the selected threshold and the results of all candidates of each label.

        The rule must not be ``"fixed"``.
        """
        candidates, shared_recall = self.all_candidate_thresholds(rule, n_jobs)
        curves = [
            _make_curve(label_candidates, rule, shared_recall) for label_candidates in candidates
        ]
        return _select_best(candidates, shared_recall, rule).thresholds, curves

    def all_candidate_thresholds(
        self, rule: ThresholdRule, n_jobs: int | None
    ) -> tuple[list[CandidateThresholds], Array | None]:
        """Return the candidates of each label, and the result of `mean_recall` for all labels.

        The mean recall is None unless the rule is ``"shrunken"``.
        """
        n_blocks = max(1, min(self.n_labels, 8 * thread_count(n_jobs)))
        label_blocks = np.array_split(np.arange(self.n_labels), n_blocks)

        def process(labels: Array) -> list[CandidateThresholds]:
            """Return the candidates of some labels."""
            return [self.candidate_thresholds(label, rule) for label in labels]

        candidates: list[CandidateThresholds] = []
        for block_candidates in run_in_threads(process, label_blocks, n_jobs=n_jobs):
            candidates.extend(block_candidates)
        shared_recall = mean_recall(candidates) if rule.rule == "shrunken" else None
        return candidates, shared_recall

    def _apply_fixed_threshold(self, rule: ThresholdRule) -> SelectedThresholds:
        """Return the threshold of rule ``"fixed"`` for each label, with its results."""
        predicted = predict_labels(self.scores, np.full(self.n_labels, float(rule.threshold)))
        selected = SelectedThresholds.without_predictions(self.Y.sum(axis=0))
        selected.n_predicted[:] = predicted.sum(axis=0)
        selected.true_positives[:] = predicted.multiply(self.Y).sum(axis=0).astype(np.int64)
        return selected.with_fixed_threshold(rule)

    def candidate_thresholds(self, label: int, rule: ThresholdRule) -> CandidateThresholds:
        """Return the candidate thresholds of the label with this index; none without positives.

        The rule limits how many rows may be predicted.
        """
        rows_with_label = self.Y.indices[self.Y.indptr[label] : self.Y.indptr[label + 1]]
        n_rows = self.Y.shape[0]
        n_positives = len(rows_with_label)
        if n_positives == 0:
            empty = np.zeros(0, np.int64)
            return CandidateThresholds(
                thresholds=np.zeros(0),
                n_predicted=empty,
                true_positives=empty,
                n_positives=0,
                n_allowed=0,
            )
        stored = self._stored_scores(label, rows_with_label)
        scores, lowest = stored.scores, stored.default
        max_predicted = rule.max_predicted(n_positives)
        is_positive = np.zeros(len(scores), bool)
        is_positive[stored.positive_indices] = True
        if max_predicted + 1 < len(scores):
            # Only the highest scores matter, and those equal to the last of them.
            index = len(scores) - int(max_predicted) - 1
            minimum = np.partition(scores, index)[index]
            lowest = float(scores[scores < minimum].max(initial=lowest))
            top = np.flatnonzero(scores >= minimum)
            scores, is_positive = scores[top], is_positive[top]
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        n_positives_before = np.cumsum(is_positive[order])  # up to and including each score
        # Between equal scores there is no threshold: candidates follow the last one of each value.
        last = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], len(ordered) > 0))
        above = ordered[last]
        below = np.append(ordered[last[:-1] + 1], lowest)[: len(last)]
        thresholds = thresholds_between(above, below)
        n_predicted = last + 1
        true_positives = n_positives_before[last]
        n_allowed = int(np.searchsorted(n_predicted, max_predicted, side="right"))
        if len(last) and n_predicted[-1] == n_rows:
            thresholds[-1] = -np.inf  # every row is predicted, whatever its score
        elif n_allowed == len(last):
            # The rows that a sparse matrix does not store have the lowest score.
            n_predicted = np.append(n_predicted, n_rows)
            true_positives = np.append(true_positives, n_positives)
            thresholds = np.append(thresholds, -np.inf)
        return CandidateThresholds(
            thresholds=thresholds,
            n_predicted=n_predicted,
            true_positives=true_positives.astype(np.int64),
            n_positives=n_positives,
            n_allowed=n_allowed,
        )

    def _stored_scores(self, label: int, rows_with_label: Array) -> _StoredScores:
        """Return the scores of the label with this index, which these rows have."""
        if not sparse.issparse(self.scores):
            return _StoredScores(
                self.scores[:, label], positive_indices=rows_with_label, default=-np.inf
            )
        column = slice(self.scores.indptr[label], self.scores.indptr[label + 1])
        is_above_zero = self.scores.data[column] > 0
        stored_rows = self.scores.indices[column][is_above_zero]
        scores = self.scores.data[column][is_above_zero]
        index = np.searchsorted(stored_rows, rows_with_label)
        is_stored = np.append(stored_rows, -1)[index] == rows_with_label
        return _StoredScores(scores, positive_indices=index[is_stored], default=0.0)


@dataclass(frozen=True, eq=False)
class _StoredScores:
    """The scores of one label: those of all rows, or those above 0 in a sparse matrix."""

    scores: Array  # in the order of the rows
    positive_indices: Array  # indices into ``scores``, of rows that have the label
    default: float  # score of the other rows; minus infinity if the scores are those of all rows


def thresholds_between(above: Array, below: Array) -> Array:
    """Return a threshold for each pair of a higher and a lower score: their mean.

    If rounding leaves no number in between, it is the higher score.
    """
    with np.errstate(invalid="ignore"):
        midpoints = below + (above - below) / 2
    return np.where(np.isfinite(midpoints) & (midpoints > below), midpoints, above)


def _best_index(candidates: CandidateThresholds, rule: ThresholdRule, expected: Array) -> int:
    """Return the index of the candidate that a rule selects, -1 to never predict the label.

    ``expected`` is the expected metric at each candidate.
    """
    scores_are_equal = candidates.n_allowed == 0 or candidates.thresholds[0] == -np.inf
    if scores_are_equal:
        all_rows_have_label = (
            len(candidates.thresholds) and candidates.n_predicted[0] == candidates.true_positives[0]
        )
        return 0 if all_rows_have_label else -1
    if rule.rule == "rate":
        n_predicted = candidates.n_predicted[: candidates.n_allowed]
        return int(np.abs(n_predicted - candidates.n_positives).argmin())
    return int(expected[: candidates.n_allowed].argmax())


def expected_metric(
    candidates: CandidateThresholds, rule: ThresholdRule, shared_recall: Array | None
) -> Array:
    """Return the metric that a rule expects on new rows, at each candidate of a label.

    In rule ``"shrunken"`` the recall of the label is combined with ``shared_recall``, the result of
    `mean_recall`. If this is None, return the metric on the rows the candidates come from.
    """
    n_positives, n_predicted = candidates.n_positives, candidates.n_predicted
    true_positives = candidates.true_positives.astype(np.float64)
    if shared_recall is not None and n_positives:
        mean_at_rate = np.interp(n_predicted / n_positives, PREDICTION_RATES, shared_recall)
        shrunken_recall = (true_positives + rule.strength * mean_at_rate) / (
            n_positives + rule.strength
        )
        true_positives = n_positives * shrunken_recall
    beta_squared = METRIC_BETAS[rule.metric] ** 2
    return (1 + beta_squared) * true_positives / (n_predicted + beta_squared * n_positives)


def _make_curve(
    candidates: CandidateThresholds, rule: ThresholdRule, shared_recall: Array | None
) -> ThresholdCurve:
    """Return the results of the candidates of a label that a rule may select.

    The index ``selected`` of the curve is -1 if the rule is "fixed" or selects none of them.
    """
    observed = expected_metric(candidates, rule, None)
    expected = expected_metric(candidates, rule, shared_recall)
    selected = -1 if rule.rule == "fixed" else _best_index(candidates, rule, expected)
    n_allowed = candidates.n_allowed
    if selected >= n_allowed:  # all rows have the label, and a sparse matrix stores no score
        selected = -1
    return ThresholdCurve(
        thresholds=candidates.thresholds[:n_allowed],
        n_predicted=candidates.n_predicted[:n_allowed],
        hits=candidates.true_positives[:n_allowed],
        n_positives=candidates.n_positives,
        observed=observed[:n_allowed],
        expected=expected[:n_allowed],
        selected=selected,
    )


def _select_best(
    candidates: Sequence[CandidateThresholds], shared_recall: Array | None, rule: ThresholdRule
) -> SelectedThresholds:
    """Return the best candidate of each label, with its results."""
    n_positives = [label_candidates.n_positives for label_candidates in candidates]
    selected = SelectedThresholds.without_predictions(np.array(n_positives, np.int64))
    for label, label_candidates in enumerate(candidates):
        expected = expected_metric(label_candidates, rule, shared_recall)
        index = _best_index(label_candidates, rule, expected)
        if index >= 0:
            selected.select(label, label_candidates, index, expected[index])
    return selected


def mean_recall(candidates: Sequence[CandidateThresholds]) -> Array:
    """Return the mean recall of the labels at each of `PREDICTION_RATES`.

    Labels with less than two positives do not count; without any other label, return the recall of
    perfect scores. Rows of equal score count as if in random order.
    """
    total = np.zeros(len(PREDICTION_RATES))
    n_labels = 0
    for label_candidates in candidates:
        n_positives = label_candidates.n_positives
        if n_positives >= 2:
            n_predicted = np.append(0, label_candidates.n_predicted)
            true_positives = np.append(0, label_candidates.true_positives)
            n_predicted_at_rates = PREDICTION_RATES * n_positives
            total += np.interp(n_predicted_at_rates, n_predicted, true_positives) / n_positives
            n_labels += 1
    if n_labels == 0:
        return np.minimum(PREDICTION_RATES, 1.0)
    return np.round(total / n_labels, RECALL_DIGITS)


def predict_labels(scores: Any, thresholds: Array) -> sparse.csr_array:
    """Return a label indicator matrix: the scores that are at least the threshold of their label.

    ``thresholds`` has shape (n_labels,). In sparse scores only values above 0 are predicted, except
    for labels with threshold minus infinity, which are predicted for all rows.
    """
    if not sparse.issparse(scores):
        return sparse.csr_array(np.asarray(scores) >= thresholds)
    stored = sparse.coo_array(scores)
    n_rows = stored.shape[0]
    is_predicted = (stored.data > 0) & (stored.data >= thresholds[stored.col])
    rows, labels = stored.row[is_predicted], stored.col[is_predicted]
    labels_of_all_rows = np.flatnonzero(thresholds == -np.inf)
    if len(labels_of_all_rows):
        is_other = ~np.isin(labels, labels_of_all_rows)
        rows = np.append(rows[is_other], np.tile(np.arange(n_rows), len(labels_of_all_rows)))
        labels = np.append(labels[is_other], np.repeat(labels_of_all_rows, n_rows))
    return sparse.csr_array((np.ones(len(rows), bool), (rows, labels)), shape=stored.shape)


def _validate_scores(scores: Any, *, caller: str) -> Any:
    """Return scores as a float64 csc_array, or as a float64 ndarray in Fortran order.

    Raise an error unless they are a matrix of numbers without NaN.
    """
    if sparse.issparse(scores):
        matrix = sparse.csc_array(scores).astype(np.float64)
        matrix.sum_duplicates()
        stored_scores = matrix.data
    else:
        matrix = np.asarray(scores.to_numpy() if hasattr(scores, "to_numpy") else scores)
        try:
            matrix = np.asfortranarray(matrix, np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"{caller}: scores must hold numbers ({error}).") from None
        stored_scores = matrix
    if matrix.ndim != 2:
        raise DataError(
            f"{caller}: scores must be a table, one row per instance and one column per label. "
            f"Got an array of shape {matrix.shape} instead."
        )
    if np.isnan(stored_scores).any():
        missing = sparse.coo_array(matrix != matrix)  # NaN is the only value unequal to itself
        raise DataError(
            f"{caller}: the score of row {missing.row[0]} for label {missing.col[0]} is NaN. "
            "Expected a number for every cell: a threshold among scores that are not numbers would "
            "mean nothing. See why the model gives none (missing values in X, or a label it could "
            "not learn), or leave the label out."
        )
    return matrix
