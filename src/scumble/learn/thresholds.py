"""From scores to labels: a threshold for each label, guarded where positives are few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError
from scumble._core.parallel import run_in_threads, thread_count
from scumble._core.parameters import Choice, Real, parameter_constraints
from scumble._core.table_repr import TableReprMixin
from scumble._core.validation import check_labels, check_same_names
from scumble.learn.predictions import check_same_shape

RULES = ("shrunken", "capped", "plain", "rate", "fixed")
#: The weight of recall against precision in each metric.
METRIC_BETAS = {"f1": 1.0, "f2": 2.0, "f0.5": 0.5}
#: The shared recall is kept at these numbers of predictions per positive.
PREDICTION_RATES = np.linspace(0.0, 4.0, 81)
#: Digits of the shared recall: the order in which labels are added shall not tell.
RECALL_DIGITS = 9


#: What the parameters of a rule may be.
RULE_CONSTRAINTS = parameter_constraints(
    rule=Choice(*RULES), metric=Choice(*METRIC_BETAS), strength=Real(0), threshold=Real()
)


@dataclass(frozen=True)
class ThresholdRule:
    """How thresholds are chosen."""

    rule: str = "shrunken"
    metric: str = "f1"
    strength: float = 20.0
    threshold: float = 0.5

    def most(self, n_positives: int) -> float:
        """Tell how many rows a cut may predict."""
        return np.inf if self.rule == "plain" else max(4 * n_positives, n_positives + 4)

    def fixed_thresholds(self, n_positives: Array) -> Array:
        """Tell the thresholds of rule ``"fixed"``."""
        return np.where(n_positives > 0, float(self.threshold), np.inf)

    def check(self, *, caller: str) -> ThresholdRule:
        """Refuse parameters outside their domains."""
        for name, domain in RULE_CONSTRAINTS.items():
            domain.check(getattr(self, name), name=name, caller=caller)
        return self


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCurve(TableReprMixin):
    """What the possible thresholds of one label give on the rows they are chosen from.

    Attributes
    ----------
    thresholds : ndarray of float64
        A row is predicted whose score is at least this; from high to low.
    n_predicted, hits : ndarray of int64
        Rows predicted at each threshold, and those of them that have the label.
    n_positives : int
        Rows that have the label.
    observed : ndarray of float64
        The metric of the rows themselves.
    expected : ndarray of float64
        What the rule expects of new rows; the same for every rule but ``"shrunken"``.
    chosen : int
        Place of the threshold that was taken; -1 where none of these was.

    Examples
    --------
    >>> from scumble.learn import threshold_curves
    >>> curve = threshold_curves([[0.9], [0.8], [0.1]], [[1], [1], [0]])[0]
    >>> curve.thresholds.round(2)[curve.chosen], curve.observed.round(2)
    (np.float64(0.45), array([0.67, 1.  , 0.8 ]))
    """

    thresholds: Array
    n_predicted: Array
    hits: Array
    n_positives: int
    observed: Array
    expected: Array
    chosen: int


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
    r"""Choose for each label from which score on it is predicted.

    One threshold for all labels, such as one half, is why rare labels are never predicted: their
    scores hardly ever get there. The best threshold on the scores at hand is a good one for
    labels with many positives; with few it follows chance. The default rule trusts a label's own
    scores as far as it has positives, and the mean of all labels for the rest.

    Parameters
    ----------
    scores : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        How sure a model is of each label, of rows **it has not learnt from**. Cells that a sparse
        matrix does not hold are 0 and never predicted. Where both are frames, the columns must
        have the names of those of ``Y``, in the same order.
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The labels these rows have.
    rule : {"shrunken", "capped", "plain", "rate", "fixed"}
        ``"shrunken"``: see Notes. ``"capped"``: the best metric among cuts that predict at most
        four times as many rows as have the label. ``"plain"``: the best metric among all cuts, as
        COCOA and ECCRU do; it overfits where positives are few. ``"rate"``: predict as many rows
        as have the label. ``"fixed"``: the given ``threshold`` for all labels
        that have positives.
    metric : {"f1", "f2", "f0.5"}
        What to make large; F2 prefers recall, F0.5 precision.
    strength : float
        How many positives the mean of all labels is worth, in rule ``"shrunken"``.
    threshold : float
        The threshold of rule ``"fixed"``.
    n_jobs : int, optional
        Number of threads; it changes the time and nothing else.

    Returns
    -------
    ndarray of float64, shape (n_labels,)
        A label is predicted where its score is at least this. Infinite for a label without
        positives (never predicted), minus infinite where all rows are to be predicted.

    See Also
    --------
    ThresholdedClassifier : Chooses them inside a classifier, from scores it makes itself.
    threshold_curves : What every possible threshold gives.

    Notes
    -----
    Let P be the positives of a label, and let a cut between two different scores predict n rows,
    t of them rightly. With R(r) the mean recall of all labels with two positives or more when
    r P of their rows are predicted, and k the strength, the cut is taken that makes

    .. math:: F = \frac{2\, t'}{n + P}, \quad t' = P\,\frac{t + k\,R(n/P)}{P + k}

    largest among those with :math:`n \le \max(4P, P + 4)`, the first of equals; the threshold is
    in the middle between the two scores. Rule ``"plain"`` has no such limit. By every rule but
    ``"fixed"`` a label whose scores are all equal is predicted only if all rows have it. R is kept
    at 81 rates from 0 to 4 and read linearly between them; rows of equal score count as if in
    random order.

    Examples
    --------
    >>> from scumble.learn import label_thresholds
    >>> scores = [[0.9, 0.30], [0.8, 0.10], [0.4, 0.20], [0.3, 0.05], [0.1, 0.00]]
    >>> Y = [[1, 1], [1, 0], [1, 0], [0, 0], [0, 0]]
    >>> label_thresholds(scores, Y, rule="capped")
    array([0.35, 0.25])
    """
    wanted = ThresholdRule(rule, metric, strength, threshold).check(caller="label_thresholds")
    columns = ScoreColumns.of(scores, Y, caller="label_thresholds")
    return columns.choose(wanted, n_jobs=n_jobs).thresholds


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
    """Tell what every possible threshold gives, and which one is taken.

    Parameters
    ----------
    scores, Y, rule, metric, strength, threshold, n_jobs : object
        See `label_thresholds`.
    labels : sequence of int, optional
        Which labels; all by default. The others still take part in the mean of all.

    Returns
    -------
    list of ThresholdCurve
        One per label.

    Examples
    --------
    >>> from scumble.learn import threshold_curves
    >>> curve = threshold_curves([[0.9], [0.8], [0.4], [0.1]], [[1], [0], [1], [0]])[0]
    >>> curve.n_predicted, curve.hits, curve.chosen
    (array([1, 2, 3, 4]), array([1, 1, 2, 2]), 2)
    """
    wanted = ThresholdRule(rule, metric, strength, threshold).check(caller="threshold_curves")
    columns = ScoreColumns.of(scores, Y, caller="threshold_curves")
    cuts, shared = columns.all_candidate_thresholds(wanted, n_jobs)
    chosen = range(columns.n_labels) if labels is None else labels
    return [_curve(cuts[int(label)], wanted, shared) for label in chosen]


@dataclass(frozen=True, eq=False)
class CandidateThresholds:
    """The cuts of one label between different scores, from high to low."""

    thresholds: Array  # in the middle between two scores
    n_predicted: Array  # rows above each cut
    hits: Array  # those of them that have the label
    n_positives: int  # rows that have the label
    n_allowed: int  # how many cuts a rule may take; the one after them is for the recall alone


@dataclass(frozen=True, eq=False)
class SelectedThresholds:
    """The cut that is taken for each label."""

    thresholds: Array
    n_positives: Array
    n_predicted: Array
    hits: Array  # rows that have the label and are predicted
    expected: Array  # metric the rule expects of new rows; NaN for a label without positives

    @classmethod
    def without_predictions(cls, n_positives: Array) -> SelectedThresholds:
        """Begin with labels that are never predicted."""
        never, nothing = np.full(len(n_positives), np.inf), np.zeros(len(n_positives), np.int64)
        expected = np.where(n_positives > 0, 0.0, np.nan)
        return cls(never, n_positives, nothing, nothing.copy(), expected)

    def select(
        self, label: int, candidate_thresholds: CandidateThresholds, place: int, expected: float
    ) -> None:
        """Take a cut for a label."""
        self.thresholds[label] = candidate_thresholds.thresholds[place]
        self.n_predicted[label] = candidate_thresholds.n_predicted[place]
        self.hits[label] = candidate_thresholds.hits[place]
        self.expected[label] = expected

    def at_threshold(self, rule: ThresholdRule) -> SelectedThresholds:
        """Set the threshold of all labels that have positives, and what was observed there."""
        squared, known = METRIC_BETAS[rule.metric] ** 2, self.n_positives > 0
        n_predicted = np.where(known, self.n_predicted, 0)
        out_of = n_predicted + squared * self.n_positives
        value = (1 + squared) * self.hits / np.where(known, out_of, 1.0)
        expected, thresholds = (
            np.where(known, value, np.nan),
            rule.fixed_thresholds(self.n_positives),
        )
        return replace(self, thresholds=thresholds, n_predicted=n_predicted, expected=expected)


@dataclass(frozen=True, eq=False)
class ScoreColumns:
    """Scores and labels, read label by label."""

    scores: Any  # Fortran-ordered or csc_array
    labels: sparse.csc_array

    @classmethod
    def of(cls, scores: Any, Y: Any, *, caller: str) -> ScoreColumns:
        """Check what a user gives."""
        check_same_names(Y, scores, what="scores", caller=caller)
        labels = check_labels(Y, caller=f"{caller}, Y")
        table = _read_scores(scores, caller=caller)
        check_same_shape(table.shape, labels.shape, what="scores", caller=caller)
        return cls(table, labels.tocsc())

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(self.labels.shape[1])

    def choose(self, rule: ThresholdRule, *, n_jobs: int | None = None) -> SelectedThresholds:
        """Choose a cut for each label, and tell what it gives."""
        if rule.rule == "fixed":
            return self._fixed(rule)
        return _take(*self.all_candidate_thresholds(rule, n_jobs), rule)

    def choose_with_curves(
        self, rule: ThresholdRule, n_jobs: int | None
    ) -> tuple[Array, list[Any]]:
        """Choose a threshold for each label, and tell what all others would have given."""
        cuts, shared = self.all_candidate_thresholds(rule, n_jobs)
        return _take(cuts, shared, rule).thresholds, [_curve(cut, rule, shared) for cut in cuts]

    def all_candidate_thresholds(
        self, rule: ThresholdRule, n_jobs: int | None
    ) -> tuple[list[CandidateThresholds], Array | None]:
        """Find the cuts of all labels, and the recall they share where the rule asks for it."""
        n_blocks = max(1, min(self.n_labels, 8 * thread_count(n_jobs)))
        blocks = np.array_split(np.arange(self.n_labels), n_blocks)
        parts = run_in_threads(
            lambda block: [self.candidate_thresholds(at, rule) for at in block],
            blocks,
            n_jobs=n_jobs,
        )
        cuts = [cut for part in parts for cut in part]
        return cuts, mean_recall(cuts) if rule.rule == "shrunken" else None

    def _fixed(self, rule: ThresholdRule) -> SelectedThresholds:
        """Count what one threshold for all labels gives."""
        predicted = predict_labels(self.scores, np.full(self.n_labels, float(rule.threshold)))
        hits = predicted.multiply(self.labels).sum(axis=0).astype(np.int64)
        chosen = SelectedThresholds.without_predictions(self.labels.sum(axis=0))
        chosen.n_predicted[:], chosen.hits[:] = predicted.sum(axis=0), hits
        return chosen.at_threshold(rule)

    def candidate_thresholds(self, label: int, rule: ThresholdRule) -> CandidateThresholds:
        """Find the cuts of one label."""
        rows = self.labels.indices[slice(*self.labels.indptr[label : label + 2])]
        if not len(rows):
            nothing = np.zeros(0, np.int64)
            return CandidateThresholds(np.zeros(0), nothing, nothing, 0, 0)
        scores, positive, lowest = self._column(label, rows)
        n_rows, n_positives = self.labels.shape[0], len(rows)
        most = rule.most(n_positives)
        has = np.zeros(len(scores), bool)
        has[positive] = True
        if most + 1 < len(scores):  # only the highest matter, and those equal to the last of them
            place = len(scores) - int(most) - 1
            least = np.partition(scores, place)[place]
            top = np.flatnonzero(scores >= least)
            lowest = float(scores[scores < least].max(initial=lowest))
            scores, has = scores[top], has[top]
        order = np.argsort(-scores, kind="stable")
        ordered, right = scores[order], np.cumsum(has[order])
        ends = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], len(ordered) > 0))
        above, below = ordered[ends], np.append(ordered[ends[:-1] + 1], lowest)[: len(ends)]
        n_predicted, hits, middle = ends + 1, right[ends], _middle(above, below)
        n_allowed = int(np.searchsorted(n_predicted, most, side="right"))
        if len(ends) and n_predicted[-1] == n_rows:  # nothing is below: every row is predicted
            middle[-1] = -np.inf
        elif n_allowed == len(ends):  # the rows that a sparse matrix does not hold
            n_predicted, hits = np.append(n_predicted, n_rows), np.append(hits, n_positives)
            middle = np.append(middle, -np.inf)
        return CandidateThresholds(
            middle, n_predicted, hits.astype(np.int64), n_positives, n_allowed
        )

    def _column(self, label: int, rows: Array) -> tuple[Array, Array, float]:
        """Give the scores of a label, where the given rows are, and the score of all other rows."""
        if not sparse.issparse(self.scores):
            return self.scores[:, label], rows, -np.inf
        own = slice(*self.scores.indptr[label : label + 2])
        kept = self.scores.data[own] > 0
        known, values = self.scores.indices[own][kept], self.scores.data[own][kept]
        place = np.searchsorted(known, rows)
        return values, place[np.append(known, -1)[place] == rows], 0.0


def _middle(above: Array, below: Array) -> Array:
    """Return the number in the middle of two scores; the higher one where there is none."""
    with np.errstate(invalid="ignore"):
        middle = below + (above - below) / 2
    return np.where(np.isfinite(middle) & (middle > below), middle, above)


def _best(candidate_thresholds: CandidateThresholds, rule: ThresholdRule, expected: Array) -> int:
    """Return the place of the cut to take, -1 where the label is not to be predicted."""
    if (
        candidate_thresholds.n_allowed == 0 or candidate_thresholds.thresholds[0] == -np.inf
    ):  # nothing, or equal scores
        return (
            0
            if len(candidate_thresholds.thresholds)
            and candidate_thresholds.n_predicted[0] == candidate_thresholds.hits[0]
            else -1
        )
    if rule.rule == "rate":
        return int(
            np.abs(
                candidate_thresholds.n_predicted[: candidate_thresholds.n_allowed]
                - candidate_thresholds.n_positives
            ).argmin()
        )
    return int(expected[: candidate_thresholds.n_allowed].argmax())


def _expected_metric(
    candidate_thresholds: CandidateThresholds, rule: ThresholdRule, shared: Array | None
) -> Array:
    """Return the value of the metric that a rule expects of each cut."""
    hits = candidate_thresholds.hits.astype(np.float64)
    if shared is not None and candidate_thresholds.n_positives:
        usual = np.interp(
            candidate_thresholds.n_predicted / candidate_thresholds.n_positives,
            PREDICTION_RATES,
            shared,
        )
        share = (hits + rule.strength * usual) / (candidate_thresholds.n_positives + rule.strength)
        hits = candidate_thresholds.n_positives * share
    squared = METRIC_BETAS[rule.metric] ** 2
    return (
        (1 + squared)
        * hits
        / (candidate_thresholds.n_predicted + squared * candidate_thresholds.n_positives)
    )


def _curve(
    candidate_thresholds: CandidateThresholds, rule: ThresholdRule, shared: Array | None
) -> ThresholdCurve:
    observed, expected = (
        _expected_metric(candidate_thresholds, rule, None),
        _expected_metric(candidate_thresholds, rule, shared),
    )
    chosen = -1 if rule.rule == "fixed" else _best(candidate_thresholds, rule, expected)
    if chosen >= candidate_thresholds.n_allowed:  # a label that all rows have, and no score
        chosen = -1
    parts = (
        candidate_thresholds.thresholds,
        candidate_thresholds.n_predicted,
        candidate_thresholds.hits,
        observed,
        expected,
    )
    thresholds, n_predicted, hits, observed, expected = (
        p[: candidate_thresholds.n_allowed] for p in parts
    )
    known = (thresholds, n_predicted, hits, candidate_thresholds.n_positives)
    return ThresholdCurve(*known, observed, expected, chosen)


def _take(
    candidate_thresholds: Sequence[CandidateThresholds], shared: Array | None, rule: ThresholdRule
) -> SelectedThresholds:
    """Take the best cut of each label."""
    chosen = SelectedThresholds.without_predictions(
        np.array([cut.n_positives for cut in candidate_thresholds], np.int64)
    )
    for at, cut in enumerate(candidate_thresholds):
        expected = _expected_metric(cut, rule, shared)
        place = _best(cut, rule, expected)
        if place >= 0:
            chosen.select(at, cut, place, expected[place])
    return chosen


def mean_recall(candidate_thresholds: Sequence[CandidateThresholds]) -> Array:
    """Average the recall of the labels at each of `PREDICTION_RATES`; equal scores as if in random order."""
    total, n_labels = np.zeros(len(PREDICTION_RATES)), 0
    for cut in candidate_thresholds:
        if cut.n_positives >= 2:
            reached = np.append(0, cut.n_predicted)
            hits = np.append(0, cut.hits)
            total += np.interp(PREDICTION_RATES * cut.n_positives, reached, hits) / cut.n_positives
            n_labels += 1
    return (
        np.round(total / n_labels, RECALL_DIGITS) if n_labels else np.minimum(PREDICTION_RATES, 1.0)
    )


def predict_labels(scores: Any, thresholds: Array) -> sparse.csr_array:
    """Tell which rows get which labels."""
    if not sparse.issparse(scores):
        return sparse.csr_array(np.asarray(scores) >= thresholds)
    cells = sparse.coo_array(scores)
    taken = (cells.data > 0) & (cells.data >= thresholds[cells.col])
    rows, labels = cells.row[taken], cells.col[taken]
    always = np.flatnonzero(thresholds == -np.inf)
    if len(always):
        kept = ~np.isin(labels, always)
        rows = np.append(rows[kept], np.tile(np.arange(cells.shape[0]), len(always)))
        labels = np.append(labels[kept], np.repeat(always, cells.shape[0]))
    return sparse.csr_array((np.ones(len(rows), bool), (rows, labels)), shape=cells.shape)


def _read_scores(scores: Any, *, caller: str) -> Any:
    if sparse.issparse(scores):
        table = sparse.csc_array(scores).astype(np.float64)
        table.sum_duplicates()
        cells = table.data
    else:
        table = np.asarray(scores.to_numpy() if hasattr(scores, "to_numpy") else scores)
        try:
            table = np.asfortranarray(table, np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"{caller}: scores must hold numbers ({error}).") from None
        cells = table
    if table.ndim != 2:
        raise DataError(
            f"{caller}: scores must be a table, one row per instance and one column per label. "
            f"Got an array of shape {table.shape} instead."
        )
    if np.isnan(cells).any():
        bad = sparse.coo_array(table != table)  # NaN alone is not itself
        raise DataError(
            f"{caller}: the score of row {bad.row[0]} for label {bad.col[0]} is NaN. Expected a "
            "number for every cell: a threshold among scores that are no numbers would mean "
            "nothing. See why the model gives none (missing values in X, or a label it could not "
            "learn), or leave the label out."
        )
    return table
