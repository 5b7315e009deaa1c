"""Rows of the paper's tables that look displaced, and what changes when they are put back.

A repair is never used in silence: the ledger compares with the printed values. But a reader who
wants to know why a statement of the text does not follow from the table above it finds here that
it follows once three rows are exchanged.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from statistics import correlation, fmean

from scumble.evaluate.statistics import pearson
from scumble.paper import published
from scumble.paper.audit import (
    count_improved,
    imbalance_pairs,
    mean_change,
    p_value,
    result_pairs,
    scumble_and_change,
)
from scumble.paper.published import Pair
from scumble.paper.verdicts import Finding

PART = "Displaced rows"


@dataclass(frozen=True)
class Rotation:
    """A run of rows whose values after treatment stand one row too high or too low."""

    # The values of row i of the run belong to row i + `shift`. `misfit` and `repaired` are the mean
    # size of the logarithm of after / before, as printed and put back.

    classifier: str
    rows: tuple[str, ...]
    shift: int
    misfit: float
    repaired: float


@cache
def order_of_undersampled() -> dict[str, str]:
    """Find the order of LP-RUS' results that fits the published correlations best."""
    # All 720 orders are tried on MaxIR and MeanIR together.
    orders = itertools.permutations(published.PHASE_1)
    candidates = (dict(zip(published.PHASE_1, order, strict=True)) for order in orders)
    targets = _printed_coefficients()

    def misfit(order: dict[str, str]) -> float:
        return sum(
            abs(correlation(*scumble_and_change(_reordered(measure, order))) - printed)
            for measure, printed in targets.items()
        )

    return min(candidates, key=misfit)


@cache
def rotated_column(classifier: str) -> Rotation | None:
    """Look for a run of rows that is shifted by one in a classifier's columns after REMEDIAL."""
    # REMEDIAL changes a value by a few percent where neighbouring rows differ by factors, so that a
    # displaced run stands out in all five metrics at once.
    names = [pair.dataset for pair in result_pairs(classifier, "HL")]
    misfit = _misfit(classifier, {})
    candidates = (
        Rotation(classifier, rows, shift, misfit, _misfit(classifier, _sources(rows, shift)))
        for start, stop in itertools.combinations(range(len(names) + 1), 2)
        if stop - start > 2
        for rows in [tuple(names[start:stop])]
        for shift in (-1, 1)
    )
    best = min(candidates, key=attrgetter("repaired"))
    return best if best.repaired < misfit / 2 else None


def put_back(pair: Pair) -> Pair:
    """Give a pair the value after treatment that belongs to it, where its row looks displaced."""
    if pair.table == 2:
        pairs = imbalance_pairs(pair.method, pair.measure)
        sources = order_of_undersampled() if pair.method == "LP-RUS" else {}
    else:
        pairs, rotation = result_pairs(pair.method, pair.measure), rotated_column(pair.method)
        sources = {} if rotation is None else _sources(rotation.rows, rotation.shift)
    wanted = sources.get(pair.dataset, pair.dataset)
    return replace(pair, after=next(one.after for one in pairs if one.dataset == wanted))


def displaced() -> Iterator[Finding]:
    """Put displaced rows back and recompute what the paper concludes from them.

    Yields
    ------
    Finding
        The published number and what follows from the repaired table.

    Examples
    --------
    >>> from scumble.paper import displaced
    >>> [found.item.split(",")[0] for found in displaced() if found.verdict == "other conclusion"]
    ['ECC MacroFM', 'ECC OE']
    """
    yield from _undersampling()
    for classifier in published.CLASSIFIERS:
        found = rotated_column(classifier)
        if found is not None:
            yield from _rotation(found)


def _undersampling() -> Iterator[Finding]:
    order = order_of_undersampled()
    moved = ", ".join(f"{name} in the row of {row}" for name, row in order.items() if name != row)
    for measure, printed in _printed_coefficients().items():
        found = pearson(*scumble_and_change(_reordered(measure, order))).coefficient
        verdict = _closeness(printed, found, 0.01)
        item = f"LP-RUS {measure} r, {moved}"
        yield Finding(PART, item, f"{printed:.4f}", f"{found:.4f}", verdict)
    for _, where, measure, datasets, percent in published.PERCENTAGES[2:]:
        pairs = [*imbalance_pairs("LP-ROS", measure), *_reordered(measure, order)]
        found = mean_change(pairs, datasets)
        item = f"{measure} falls by, {where}, same repair"
        verdict = _closeness(percent, found, 1.0)
        yield Finding(PART, item, f"{percent} %", f"{found:.1f} %", verdict)


def _rotation(found: Rotation) -> Iterator[Finding]:
    sources = _sources(found.rows, found.shift)
    for metric in published.METRICS:
        printed = result_pairs(found.classifier, metric)
        both = (printed, _take_after(printed, sources))
        first, second = (f"p = {p_value(p):.4f}, {count_improved(p)} better" for p in both)
        significant = {p_value(pairs) < 0.05 for pairs in both}
        verdict = "same conclusion" if len(significant) == 1 else "other conclusion"
        item = f"{found.classifier} {metric}, {found.rows[0]} to {found.rows[-1]} one row up"
        yield Finding(PART, item, first, second, verdict)


def _printed_coefficients() -> dict[str, float]:
    rows = published.correlations()
    return {row.measure: row.coefficient for row in rows if row.resampler == "LP-RUS"}


def _reordered(measure: str, order: dict[str, str]) -> list[Pair]:
    return _take_after(imbalance_pairs("LP-RUS", measure), order)


def _take_after(pairs: Sequence[Pair], sources: dict[str, str]) -> list[Pair]:
    """Give every data set the value after treatment that stands in another's row."""
    after = {pair.dataset: pair.after for pair in pairs}
    return [replace(p, after=after[sources.get(p.dataset, p.dataset)]) for p in pairs]


def _sources(rows: Sequence[str], shift: int) -> dict[str, str]:
    """Tell for every data set of a shifted run in whose row its value stands."""
    return {name: rows[(at - shift) % len(rows)] for at, name in enumerate(rows)}


def _misfit(classifier: str, sources: dict[str, str]) -> float:
    tables = (result_pairs(classifier, metric) for metric in published.METRICS)
    pairs = (pair for table in tables for pair in _take_after(table, sources))
    return fmean(abs(math.log(pair.after / pair.before)) for pair in pairs)


def _closeness(printed: float, found: float, tolerance: float) -> str:
    return "close" if abs(printed - found) <= tolerance else "not close"
