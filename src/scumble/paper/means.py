"""Our own numbers beside the paper's: means over folds, and how far chance carries them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from scumble.paper import published
from scumble.paper.published import Pair

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
AVERAGES = ("f1", "hits.f1", "micro_f1", "macro_f1")
#: Rules for undefined values that a metric may have been computed with; MULAN's of today is first.
POLICIES = {
    "Precision": ("precision", "ignore.precision"),
    "MacroFM": ("macro_f1", "ignore.macro_f1", "hits.macro_f1"),
}


class Means:
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


def _place(cell: Mapping[str, Any]) -> tuple[str, str, str, Any]:
    """Tell what must be whole to count: one seed of a combination."""
    return cell["dataset"], cell["resampler"], cell["classifier"], cell.get("seed")


def standard_error(values: Iterable[float]) -> float:
    """Return the standard error of our mean less one over ten other folds; 0 for a single value."""
    known = list(values)
    if len(known) < 2:
        return 0.0
    return stdev(known) * math.sqrt(1 / N_PRINTED_FOLDS + 1 / len(known))


def imbalance_name(pair: Pair) -> str:
    """Name the measure of Table 2; labels never seen count as mldr counts them."""
    return "max_ir" if pair.measure == "max_ir" else "mean_ir_zero"


def imbalance_means(
    means: Means, pair: Pair, percent: int = 25
) -> tuple[float | None, float | None]:
    """Return our MaxIR or MeanIR before and after resampling."""
    place = (pair.dataset, f"{pair.method} {percent} %", "none")
    before, after = (
        means.get(*place, f"{when}.{imbalance_name(pair)}") for when in ("before", "after")
    )
    return before, after


def result_means(
    means: Means, pair: Pair, name: str = "", classifier: str = ""
) -> tuple[float | None, float | None]:
    """Return our values before and after REMEDIAL."""
    name, classifier = name or METRIC_NAMES[pair.measure], classifier or pair.method
    before = means.get(pair.dataset, "none", classifier, name)
    return before, means.get(pair.dataset, "REMEDIAL", classifier, name)


def measured(
    pairs: Iterable[Pair], means_of: Callable[[Pair], tuple[float | None, float | None]]
) -> list[Pair]:
    """Put our values into the place of the printed ones; pairs that were not run are left out."""
    found = ((pair, *means_of(pair)) for pair in pairs)
    return [
        replace(pair, before=before, after=after)
        for pair, before, after in found
        if before is not None and after is not None
    ]


def best_policy(means: Means, metric: str) -> str:
    """Find the rule for undefined values that fits the values before REMEDIAL best."""
    candidates = POLICIES.get(metric, (METRIC_NAMES[metric],))
    pairs = [pair for pair in published.results() if pair.measure == metric]
    ours = {
        name: [(pair.before, result_means(means, pair, name)[0]) for pair in pairs]
        for name in candidates
    }
    return _nearest(ours) or candidates[0]


def best_average(means: Means, averages: Iterable[str] = AVERAGES) -> str:
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
