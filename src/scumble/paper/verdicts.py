"""Our numbers and the paper's: means over folds, verdicts, and causes of differences.

*Ours* are computed from the results of the paper's experiments that were run with scumble; a *cell*
is the result of one fold. A *treatment* is the resampling before the classifier.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from statistics import fmean, stdev
from typing import Any, NamedTuple

from scumble.paper import published
from scumble.paper.published import BeforeAfterPair

REPRODUCED = "reproduced"
SAME_DIRECTION = "same direction"
NOT_REPRODUCED = "not reproduced"
NOT_COMPUTABLE = "not computable here"
VERDICTS = (REPRODUCED, SAME_DIRECTION, NOT_REPRODUCED, NOT_COMPUTABLE)
#: A number within this many standard errors of the printed one counts as reproduced: about 95 % of
#: differences by chance.
MAX_ERRORS_REPRODUCED = 2.0
#: Within this many standard errors a difference may be due to the folds: 99.7 %.
MAX_ERRORS_NOISE = 3.0
#: Causes why a number is not reproduced; the first that holds counts.
CAUSES = {
    "misprint": "the printed value does not follow from the data, which are the same",
    "repaired row": "the printed value stands in a wrong row; put back, it is reproduced",
    "substitute data": "the data set is not quite the paper's",
    "fold noise": "between two and three standard errors away",
    "undefined rule": "another reading of what the paper leaves open gives the printed value",
    "version of MULAN": "another version of the classifier gives the printed value",
    "other numbers": "it is computed from numbers that differ",
    "unknown": "none of these",
}


@dataclass(frozen=True)
class ReproductionResult:
    """A published number and ours, with a verdict.

    Attributes
    ----------
    table : int
        Number of the table in the paper.
    item : str
        Name of the number: data set, method and metric.
    published : float
        The printed number.
    scumble_value : float or None
        Our number; None if it cannot be computed.
    verdict : str
        One of `VERDICTS`.
    reason : str
        Remarks: rules for undefined values, substitute data, displaced rows.
    error : float or None
        Standard error of the difference of both means over folds; None if it is not known, or if
        the number does not depend on chance.
    cause : str
        Why the number is not reproduced, one of `CAUSES`; also given for a number that is
        reproduced once its row is corrected.
    compared : float or None
        The number that ours is compared with if it is not the printed one: that of a corrected row.

    Examples
    --------
    >>> from scumble.paper import ReproductionResult
    >>> result = ReproductionResult(2, "yeast LP-ROS max_ir after", 8.0, 8.2, "reproduced")
    >>> round(result.difference, 6)
    0.2
    """

    table: int
    item: str
    published: float
    scumble_value: float | None
    verdict: str
    reason: str = ""
    error: float | None = None
    cause: str = ""
    compared: float | None = None

    @property
    def difference(self) -> float | None:
        """Our number minus the published one, or None if ours cannot be computed.

        If the printed row is displaced, the number of the corrected row is subtracted instead.
        """
        if self.scumble_value is None:
            return None
        expected = self.published if self.compared is None else self.compared
        return self.scumble_value - expected

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes and the difference as a dict; ``ours`` is our number."""
        return {
            "table": self.table,
            "item": self.item,
            "published": self.published,
            "ours": self.scumble_value,
            "verdict": self.verdict,
            "reason": self.reason,
            "error": self.error,
            "cause": self.cause,
            "compared": self.compared,
            "difference": self.difference,
        }


@dataclass(frozen=True)
class PrintedNumber:
    """A number of the paper, with what is needed to compare it with ours."""

    table: int
    item: str  # its name: data set, method and metric
    value: float
    corrected_value: float  # differs from `value` if the printed row is displaced
    decimals: int
    before: float | None = None  # the printed value before treatment, if the direction counts

    def as_not_computable(self, reason: str) -> ReproductionResult:
        """Return the ledger entry for a number that cannot be computed here, with the reason."""
        return ReproductionResult(
            table=self.table,
            item=self.item,
            published=self.value,
            scumble_value=None,
            verdict=NOT_COMPUTABLE,
            reason=reason,
        )

    def is_near(self, our_value: float, error: float) -> bool:
        """Return whether one of our numbers is near the corrected number; see `is_near`."""
        return is_near(self.corrected_value, our_value, error=error, decimals=self.decimals)

    def compare(
        self,
        our_value: float,
        error: float,
        *,
        before: float | None = None,
        reason: str = "",
        is_substitute: bool = False,
        causes: Iterable[tuple[str, bool]] = (),
    ) -> ReproductionResult:
        """Return the ledger entry that compares the printed number with ours, a mean over folds.

        It is reproduced if ours is near the corrected value. ``error`` is the standard error of the
        difference, ``before`` our number before treatment (None if there is none), ``reason`` a
        remark for the entry, and ``is_substitute`` whether the data set replaces that of the paper.
        The cause of a difference is the first one that holds: substitute data, fold noise, then
        those of ``causes``, which are pairs of a cause and whether it holds.
        """
        is_reproduced = self.is_near(our_value, error)
        is_corrected = self.corrected_value != self.value
        cause = ""
        if not is_reproduced:
            is_noise = abs(our_value - self.corrected_value) <= MAX_ERRORS_NOISE * error
            candidates = chain(
                (("substitute data", is_substitute), ("fold noise", is_noise)), causes
            )
            cause = next((candidate for candidate, holds in candidates if holds), "unknown")
        elif is_corrected and not is_near(
            self.value, our_value, error=error, decimals=self.decimals
        ):
            cause = "repaired row"
        if is_reproduced:
            verdict = REPRODUCED
        elif before is not None and self._has_same_direction(before, our_value):
            verdict = SAME_DIRECTION
        else:
            verdict = NOT_REPRODUCED
        return ReproductionResult(
            table=self.table,
            item=self.item,
            published=self.value,
            scumble_value=our_value,
            verdict=verdict,
            reason=reason,
            error=error,
            cause=cause,
            compared=self.corrected_value if is_corrected else None,
        )

    def _has_same_direction(self, before: float, after: float) -> bool:
        """Return whether our numbers and the printed ones change in the same direction.

        ``before`` and ``after`` are ours. Return False if there is no printed number before
        treatment.
        """
        if self.before is None:
            return False
        printed_change = self.corrected_value - self.before
        our_change = after - before
        both_grow_or_not = (our_change > 0) == (printed_change > 0)
        both_equal_or_not = (our_change == 0) == (printed_change == 0)
        return both_grow_or_not and both_equal_or_not


def is_near(printed: float, our_value: float, error: float, decimals: int) -> bool:
    """Return whether the choice of folds and rounding can explain how two numbers differ.

    ``printed`` is the number in the paper, with ``decimals`` decimals. The difference may be
    `MAX_ERRORS_REPRODUCED` standard errors (``error``) plus half a unit of the last decimal.
    """
    return abs(our_value - printed) <= MAX_ERRORS_REPRODUCED * error + 0.5000001 * 10.0**-decimals


# Findings of the audit and the claims --------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """A printed number or statement, the recomputed one, and whether they agree.

    Attributes
    ----------
    part : str
        Section of the audit, such as ``"Table 3"``.
    item : str
        The number or statement in question.
    published, scumble_value : str
        The printed and the recomputed number as text, with the digits that the paper prints.
    verdict : str
        ``"follows"``, ``"follows before rounding"`` or ``"does not follow"`` in the audit; see
        `claims` for those of the claims.
    note : str
        The reason, if it is known.

    Examples
    --------
    >>> from scumble.paper import Finding
    >>> Finding("Table 4", "yeast LP-ROS", "8.7000", "8.7000", "follows").to_dict()["verdict"]
    'follows'
    """

    part: str
    item: str
    published: str
    scumble_value: str
    verdict: str
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a dict; ``ours`` is the recomputed number."""
        return {
            "part": self.part,
            "item": self.item,
            "published": self.published,
            "ours": self.scumble_value,
            "verdict": self.verdict,
            "note": self.note,
        }


def tally(findings: Iterable[Finding]) -> dict[str, dict[str, int]]:
    """Count verdicts by part.

    Parameters
    ----------
    findings : iterable of Finding
        Findings of an audit, or of the claims.

    Returns
    -------
    dict
        From part to verdict to number, in order of appearance.

    Examples
    --------
    >>> from scumble.paper import audit, tally
    >>> tally(audit())["Stars"]
    {'follows': 28, 'does not follow': 2}
    """
    return {part: dict(counts) for part, counts in count_verdicts(findings, "part").items()}


def count_verdicts(results: Iterable[Any], by: str) -> dict[Any, Counter[str]]:
    """Return the number of each verdict among findings or ledger entries with equal attribute.

    ``by`` is the name of the attribute; its values are the keys of the result.
    """
    counts: dict[Any, Counter[str]] = defaultdict(Counter)
    for result in results:
        counts[getattr(result, by)][result.verdict] += 1
    return counts


# Means over folds and their standard errors --------------------------------------------------


class MeansBeforeAfter(NamedTuple):
    """Means over folds before and after treatment; None if it was not run."""

    before: float | None
    after: float | None


#: Number of folds that a printed number is the mean of (2x5); they are other folds than ours.
N_PRINTED_FOLDS = 10
#: From the paper's names of metrics to ours.
METRIC_NAMES = {
    "HL": "hamming_loss",
    "Precision": "precision",
    "MacroFM": "macro_f1",
    "OE": "one_error",
    "RL": "ranking_loss",
}
#: Possible meanings of "F-measure": means over rows, over rows with a true positive, over all
#: entries of the label matrix, or over labels.
F_MEASURE_AVERAGES = ("f1", "hits.f1", "micro_f1", "macro_f1")
#: Scores by the possible rules for undefined values; that of MULAN today comes first.
UNDEFINED_VALUE_RULES = {
    "Precision": ("precision", "ignore.precision"),
    "MacroFM": ("macro_f1", "ignore.macro_f1", "hits.macro_f1"),
}


class FoldMeans:
    """Means over folds of our results, and their standard errors.

    Methods take the names of a data set, a resampler ("none" for no treatment), a classifier and a
    score. All folds of a seed are left out if one of them is pending or failed: a part of the folds
    must not count as all of them.

    Parameters
    ----------
    cells : iterable of dict
        Results of single folds, from `Store.cells`.
    """

    def __init__(self, cells: Iterable[dict[str, Any]]) -> None:
        """Store the scores of all finished cells, unless another fold of their seed is not done."""
        # By data set, resampler, classifier and score: the value for each seed and fold.
        self._values: dict[tuple[str, ...], dict[Any, float]] = {}
        # Stores may overlap: a fold counts once, and is done if it is done in one of them.
        by_key: dict[Any, dict[str, Any]] = {}
        for number, cell in enumerate(cells):
            key = cell.get("key", number)
            if key not in by_key or cell["state"] == "done":
                by_key[key] = cell
        unfinished = {_seed_key(cell) for cell in by_key.values() if cell["state"] != "done"}
        for key, cell in by_key.items():
            dataset, resampler, classifier, seed = _seed_key(cell)
            if (dataset, resampler, classifier, seed) in unfinished:
                continue
            for name, value in cell["scores"].items():
                folds = self._values.setdefault((dataset, resampler, classifier, name), {})
                folds[seed, cell.get("fold", key)] = value

    def values_by_fold(
        self, dataset: str, resampler: str, classifier: str, score: str
    ) -> dict[Any, float]:
        """Return the value of a score for each seed and fold; folds with NaN are left out."""
        values = self._values.get((dataset, resampler, classifier, score), {})
        return {fold: value for fold, value in values.items() if not math.isnan(value)}

    def mean(self, dataset: str, resampler: str, classifier: str, score: str) -> float | None:
        """Return the mean of a score over folds, or None if there is no value."""
        values = self.values_by_fold(dataset, resampler, classifier, score)
        return fmean(values.values()) if values else None

    def standard_error(self, dataset: str, resampler: str, classifier: str, score: str) -> float:
        """Return the standard error of our mean less the printed one; see `standard_error`."""
        return standard_error(self.values_by_fold(dataset, resampler, classifier, score).values())

    def standard_error_of_change(
        self, dataset: str, resampler: str, classifier: str, score: str
    ) -> float:
        """Return the standard error of the relative change of a score by a treatment.

        It is based on the differences on the folds that were run with and without the treatment; it
        is 0 if the mean before treatment is 0 or missing.
        """
        before = self.values_by_fold(dataset, "none", classifier, score)
        after = self.values_by_fold(dataset, resampler, classifier, score)
        shared_folds = before.keys() & after.keys()
        mean_before = fmean(before.values()) if before else 0.0
        if not mean_before:
            return 0
        return standard_error([after[fold] - before[fold] for fold in shared_folds]) / mean_before

    def imbalance_means(self, pair: BeforeAfterPair, percent: int = 25) -> MeansBeforeAfter:
        """Return our MaxIR or MeanIR for a pair of Table 2, before and after resampling.

        ``percent`` is the percentage of rows that the resampler adds or removes.
        """
        resampler = f"{pair.method} {percent} %"
        measure = imbalance_measure(pair)
        return MeansBeforeAfter(
            before=self.mean(pair.dataset, resampler, "none", f"before.{measure}"),
            after=self.mean(pair.dataset, resampler, "none", f"after.{measure}"),
        )

    def result_means(self, pair: BeforeAfterPair, score: str) -> MeansBeforeAfter:
        """Return our means of a score for a pair of Tables 5 to 9, before and after REMEDIAL."""
        return MeansBeforeAfter(
            before=self.mean(pair.dataset, "none", pair.method, score),
            after=self.mean(pair.dataset, "REMEDIAL", pair.method, score),
        )


def _seed_key(cell: Mapping[str, Any]) -> tuple[str, str, str, Any]:
    """Return data set, resampler, classifier and seed of a cell.

    The folds with equal data set, resampler, classifier and seed count together or not at all.
    """
    return cell["dataset"], cell["resampler"], cell["classifier"], cell.get("seed")


def standard_error(values: Iterable[float]) -> float:
    """Return the standard error of the difference of our mean and the printed mean.

    ``values`` are ours on each fold. The printed mean is over `N_PRINTED_FOLDS` other folds, whose
    values are assumed to vary as much. With a single value it is 0.
    """
    values = list(values)
    if len(values) < 2:
        return 0.0
    return stdev(values) * math.sqrt(1 / N_PRINTED_FOLDS + 1 / len(values))


def imbalance_measure(pair: BeforeAfterPair) -> str:
    """Return the name that the measure of a pair of Table 2 has in our results.

    MeanIR counts unseen labels as 0, as mldr does.
    """
    return "max_ir" if pair.measure == "max_ir" else "mean_ir_zero"


def replace_with_our_values(
    pairs: Iterable[BeforeAfterPair], means_of: Callable[[BeforeAfterPair], MeansBeforeAfter]
) -> list[BeforeAfterPair]:
    """Return the pairs with our values instead of the printed ones.

    ``means_of`` returns our means for a pair. Pairs of which one was not computed are left out.
    """
    replaced = []
    for pair in pairs:
        means = means_of(pair)
        if means.before is not None and means.after is not None:
            replaced.append(pair._replace(before=means.before, after=means.after))
    return replaced


def best_undefined_value_rule(means: FoldMeans, metric: str) -> str:
    """Return the score that fits the printed values of a metric before REMEDIAL best.

    The candidates differ in their rules for undefined values; without results the first is
    returned. ``metric`` has the paper's name.
    """
    candidates = UNDEFINED_VALUE_RULES.get(metric, (METRIC_NAMES[metric],))
    pairs = [pair for pair in published.results() if pair.measure == metric]
    values = {
        score: [(pair.before, means.result_means(pair, score).before) for pair in pairs]
        for score in candidates
    }
    return _nearest_score(values) or candidates[0]


def best_average(means: FoldMeans, averages: Iterable[str] = F_MEASURE_AVERAGES) -> str:
    """Return the score that fits the printed F-measures of HOMER before resampling best.

    ``averages`` are the candidates. Without results, return "".
    """
    printed = {row.dataset: row.before for row in published.f_measures()}
    values = {}
    for average in averages:
        values[average] = [
            (value, means.mean(dataset, "none", "HOMER", average))
            for dataset, value in printed.items()
        ]
    return _nearest_score(values)


def _nearest_score(values: Mapping[str, list[tuple[float, float | None]]]) -> str:
    """Return the score whose values are on average nearest to the printed ones.

    ``values`` holds for each score pairs of a printed value and ours, which is None if it was not
    run. If all are None, return "".
    """
    misfits = {}
    for score, pairs in values.items():
        distances = [
            abs(our_value - printed) for printed, our_value in pairs if our_value is not None
        ]
        if distances:
            misfits[score] = fmean(distances)
    return min(misfits, key=misfits.__getitem__, default="")
