"""Our own numbers beside the paper's: means over folds, what is said of them, why they differ."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from statistics import fmean, stdev
from typing import Any

from scumble.paper import published
from scumble.paper.published import BeforeAfterPair

VERDICTS = ("reproduced", "same direction", "not reproduced", "not computable here")
#: A number within so many standard errors of the printed one counts as reproduced.
NEAR = 2.0
#: Beyond the first and within this many, a difference may still be that of the folds.
FAR = 3.0
#: Why a number is not reproduced; of several the first that holds.
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
    """A published number beside ours.

    Attributes
    ----------
    table : int
        Number of the table in the paper.
    item : str
        What the number is about.
    published : float
        As printed.
    ours : float or None
        None where it cannot be computed.
    verdict : str
        One of `VERDICTS`.
    reason : str
        What else is to be known: rules, substitutes, where a value stands.
    error : float or None
        Standard error of the difference of both means over folds; None where no chance is
        involved, or it is not known.
    cause : str
        Why it is not reproduced, one of `CAUSES`; also of a number that is reproduced once its row
        is put back.
    compared : float or None
        What ours is compared with, where that is not the number as printed: the one of a repaired
        row.

    Examples
    --------
    >>> from scumble.paper import CatalogueEntry
    >>> round(CatalogueEntry(2, "yeast LP-ROS max_ir after", 8.0, 8.2, "reproduced").difference, 6)
    0.2
    """

    table: int
    item: str
    published: float
    ours: float | None
    verdict: str
    reason: str = ""
    error: float | None = None
    cause: str = ""
    compared: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus published (of a repaired row: minus the number that belongs there)."""
        meant = self.published if self.compared is None else self.compared
        return None if self.ours is None else self.ours - meant

    def to_dict(self) -> dict[str, Any]:
        """Return its attributes and the difference as a dict."""
        return {**asdict(self), "difference": self.difference}


@dataclass(frozen=True)
class PrintedNumber:
    """A number of the paper that is about to be compared."""

    # `meant` differs from `value` where a row is put back; `before` is the printed value before
    # treatment, where there is one and the direction of the change counts.

    table: int
    item: str
    value: float
    corrected_value: float
    decimals: int
    before: float | None = None

    def as_not_computable(self, reason: str) -> ReproductionResult:
        """Say that a number cannot be computed."""
        return ReproductionResult(self.table, self.item, self.value, None, VERDICTS[3], reason)

    def is_near(self, ours: float, error: float) -> bool:
        """Tell whether one of our numbers is the one that is meant."""
        return is_near(self.corrected_value, ours, error, self.decimals)

    def compare(
        self,
        ours: float,
        error: float,
        *,
        before: float | None = None,
        reason: str = "",
        is_substitute: bool = False,
        causes: Iterable[tuple[str, bool]] = (),
    ) -> ReproductionResult:
        """Compare with a number that depends on folds, and name the first cause that holds.

        ``before`` is ours before treatment.
        """
        near, moved, cause = self.is_near(ours, error), self.corrected_value != self.value, ""
        if not near:
            noise = abs(ours - self.corrected_value) <= FAR * error
            known = chain((("substitute data", is_substitute), ("fold noise", noise)), causes)
            cause = next((cause for cause, holds in known if holds), "unknown")
        elif moved and not is_near(self.value, ours, error, self.decimals):
            cause = "repaired row"
        same = before is not None and self._same_direction(before, ours)
        verdict, meant = (
            VERDICTS[0 if near else 1 if same else 2],
            self.corrected_value if moved else None,
        )
        place = (self.table, self.item, self.value)
        return ReproductionResult(*place, ours, verdict, reason, error, cause, meant)

    def _same_direction(self, before: float, after: float) -> bool:
        if self.before is None:
            return False
        theirs, ours = self.corrected_value - self.before, after - before
        return (ours > 0) == (theirs > 0) and (ours == 0) == (theirs == 0)


def is_near(printed: float, ours: float, error: float, decimals: int) -> bool:
    """Tell whether two numbers differ by no more than chance and rounding explain."""
    return abs(ours - printed) <= NEAR * error + 0.5000001 * 10.0**-decimals


# What follows, or holds --------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """What the paper prints, what comes out, and whether they agree.

    Attributes
    ----------
    part : str
        Section of the audit, such as ``"Table 3"``.
    item : str
        The number or statement in question.
    published, ours : str
        Both as text, to the digits the paper prints.
    verdict : str
        Of the audit ``"follows"``, ``"follows before rounding"`` or ``"does not follow"``; those
        of the claims are described there.
    note : str
        Why, where it is known.

    Examples
    --------
    >>> from scumble.paper import Finding
    >>> Finding("Table 4", "yeast LP-ROS", "8.7000", "8.7000", "follows").to_dict()["verdict"]
    'follows'
    """

    part: str
    item: str
    published: str
    ours: str
    verdict: str
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return its attributes as a dict."""
        return asdict(self)


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


def count_verdicts(found: Iterable[Any], by: str) -> dict[Any, Counter[str]]:
    """Count the verdicts of findings or entries by one of their attributes."""
    counted: dict[Any, Counter[str]] = defaultdict(Counter)
    for one in found:
        counted[getattr(one, by)][one.verdict] += 1
    return counted


# Means over folds, and how far chance carries them -----------------------------------------------

#: A mean before and one after treatment; None where there is none.
Both = tuple[float | None, float | None]
#: Folds behind a printed number: 2x5, other ones than ours.
N_PRINTED_FOLDS = 10
#: The paper's metrics by our names.
METRIC_NAMES = {
    "HL": "hamming_loss",
    "Precision": "precision",
    "MacroFM": "macro_f1",
    "OE": "one_error",
    "RL": "ranking_loss",
}
#: What "F-measure" may be: means over rows, over those with a hit, pooled, over labels.
F_MEASURE_AVERAGES = ("f1", "hits.f1", "micro_f1", "macro_f1")
#: Rules for undefined values that a metric may have been computed with; MULAN's of today is first.
UNDEFINED_VALUE_RULES = {
    "Precision": ("precision", "ignore.precision"),
    "MacroFM": ("macro_f1", "ignore.macro_f1", "hits.macro_f1"),
}


class FoldMeans:
    """Means over folds of what a store holds, and their standard errors."""

    # A place is a data set, a resampler, a classifier and the name of a score.
    # A seed of which a fold is pending or failed does not count: half of its folds would pass for
    # all of them.

    def __init__(self, cells: Iterable[dict[str, Any]]) -> None:
        self._values: dict[tuple[str, ...], dict[Any, float]] = {}
        # Stores may overlap; a fold counts once, and is done if it is done in one of them.
        by_key: dict[Any, dict[str, Any]] = {}
        for at, cell in enumerate(cells):
            key = cell.get("key", at)
            if key not in by_key or cell["state"] == "done":
                by_key[key] = cell
        unfinished = {_place(cell) for cell in by_key.values() if cell["state"] != "done"}
        for key, cell in by_key.items():
            *place, seed = _place(cell)
            if (*place, seed) in unfinished:
                continue
            for name, value in cell["scores"].items():
                self._values.setdefault((*place, name), {})[seed, cell.get("fold", key)] = value

    def folds(self, *place: str) -> dict[Any, float]:
        """Return the value of every fold that has one."""
        found = self._values.get(place, {})
        return {fold: value for fold, value in found.items() if not math.isnan(value)}

    def get(self, *place: str) -> float | None:
        """Return a mean, or None where there is nothing."""
        known = self.folds(*place)
        return fmean(known.values()) if known else None

    def error(self, *place: str) -> float:
        """Return the standard error of the difference from a mean over ten other folds."""
        return standard_error(self.folds(*place).values())

    def error_of_change(self, dataset: str, resampler: str, classifier: str, name: str) -> float:
        """Return the same for the change by a treatment, fold by fold, relative to what was."""
        before = self.folds(dataset, "none", classifier, name)
        after = self.folds(dataset, resampler, classifier, name)
        shared = before.keys() & after.keys()
        base = fmean(before.values()) if before else 0.0
        return standard_error([after[fold] - before[fold] for fold in shared]) / base if base else 0

    def imbalance_means(self, pair: BeforeAfterPair, percent: int = 25) -> Both:
        """Return our MaxIR or MeanIR before and after resampling."""
        place, name = (pair.dataset, f"{pair.method} {percent} %", "none"), imbalance_name(pair)
        return self.get(*place, f"before.{name}"), self.get(*place, f"after.{name}")

    def result_means(self, pair: BeforeAfterPair, name: str) -> Both:
        """Return our values of a score before and after REMEDIAL."""
        before = self.get(pair.dataset, "none", pair.method, name)
        return before, self.get(pair.dataset, "REMEDIAL", pair.method, name)


def _place(cell: Mapping[str, Any]) -> tuple[str, str, str, Any]:
    """Tell what must be whole to count: one seed of a combination."""
    return cell["dataset"], cell["resampler"], cell["classifier"], cell.get("seed")


def standard_error(values: Iterable[float]) -> float:
    """Return the standard error of our mean less one over ten other folds; 0 for a single value."""
    known = list(values)
    if len(known) < 2:
        return 0.0
    return stdev(known) * math.sqrt(1 / N_PRINTED_FOLDS + 1 / len(known))


def imbalance_name(pair: BeforeAfterPair) -> str:
    """Name the measure of Table 2; labels never seen count as mldr counts them."""
    return "max_ir" if pair.measure == "max_ir" else "mean_ir_zero"


def replace_with_our_values(
    pairs: Iterable[BeforeAfterPair], means_of: Callable[[BeforeAfterPair], Both]
) -> list[BeforeAfterPair]:
    """Put our values into the place of the printed ones; pairs that were not run are left out."""
    found = ((pair, *means_of(pair)) for pair in pairs)
    return [
        pair._replace(before=before, after=after)
        for pair, before, after in found
        if before is not None and after is not None
    ]


def best_undefined_value_rule(means: FoldMeans, metric: str) -> str:
    """Find the rule for undefined values that fits the values before REMEDIAL best."""
    candidates = UNDEFINED_VALUE_RULES.get(metric, (METRIC_NAMES[metric],))
    pairs = [pair for pair in published.results() if pair.measure == metric]
    ours = {
        name: [(p.before, means.result_means(p, name)[0]) for p in pairs] for name in candidates
    }
    return _nearest(ours) or candidates[0]


def best_average(means: FoldMeans, averages: Iterable[str] = F_MEASURE_AVERAGES) -> str:
    """Find the F-measure that fits HOMER's untreated values best."""
    bases = {row.dataset: row.before for row in published.f_measures()}
    ours = {
        average: [(base, means.get(name, "none", "HOMER", average)) for name, base in bases.items()]
        for average in averages
    }
    return _nearest(ours)


def _nearest(ours: Mapping[str, list[tuple[float, float | None]]]) -> str:
    """Return the name whose values lie nearest to the printed ones; empty where there are none."""
    misfits = {
        name: fmean(found)
        for name, pairs in ours.items()
        if (found := [abs(value - printed) for printed, value in pairs if value is not None])
    }
    return min(misfits, key=misfits.__getitem__, default="")
