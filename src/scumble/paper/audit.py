"""Audit of the paper: what follows from its tables alone, and from corrected rows. No data is read.

*The paper* is that of `scumble.paper.published`. A *pair* holds two printed values, before and
after a treatment, which is a resampler (Table 2) or REMEDIAL (Tables 5 to 9). A *finding* compares
a printed number or statement with the recomputed one. In a few tables some rows of values are
*displaced*: they are printed in the rows of other data sets.

The ledger compares with the printed values, never silently with corrected ones. But some statements
of the text that do not follow from the table follow once displaced rows are corrected; this module
shows which.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from statistics import correlation, fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from scumble.evaluate.statistics import PearsonResult, pearson, wilcoxon
from scumble.evaluate.statistics.score_table import FloatArray
from scumble.paper import published
from scumble.paper.published import BeforeAfterPair, Correlation, WinCount
from scumble.paper.verdicts import Finding

#: Number of random continuations of the printed decimals that are tried, to find out whether
#: rounding explains a p-value; enough to hit most p-values that it can explain.
N_CONTINUATIONS = 20_000
#: Significance level of the paper.
ALPHA = 0.05
#: Largest difference of p-values that are equal as printed: half a unit of the sixth decimal, and
#: 2 % more for rounding.
P_VALUE_TOLERANCE = 0.51e-6
#: Shares that differ by less than this from 2/3 are "two thirds": one of 25 to 30 results.
SHARE_TOLERANCE = 0.05
#: Largest difference of the numbers of better and worse results that is "almost a tie": about a
#: tenth of the results.
MAX_DIFFERENCE_OF_TIE = 6
#: Section of the findings on displaced rows.
DISPLACED_ROWS = "Displaced rows"


def audit() -> list[Finding]:
    """Recompute all numbers and statements that follow from the published tables.

    Returns
    -------
    list of Finding
        Findings on correlations, changes of the F-measure, p-values, stars, bold marks, counts and
        statements.

    Examples
    --------
    >>> from scumble.paper import audit
    >>> changes = [finding for finding in audit() if finding.part == "Table 4"]
    >>> {finding.verdict for finding in changes}
    {'follows'}
    """
    return [
        *check_correlations(),
        *check_f_measure_changes(),
        *check_p_values(),
        *check_stars(),
        *check_bold_marks(),
        *check_win_counts(),
        *check_statements(),
    ]


def check_correlations() -> Iterator[Finding]:
    """Yield findings on Table 3: correlations of SCUMBLE with the changes of Table 2."""
    for row in published.correlations():
        result = correlate(row)
        item = f"{row.resampler} {row.measure}"
        yield _compare_numbers(
            "Table 3", f"{item} r", row.coefficient, result.coefficient, decimals=4
        )
        yield _compare_numbers("Table 3", f"{item} p", row.p_value, result.p_value, decimals=4)


def check_f_measure_changes() -> Iterator[Finding]:
    """Yield findings on the changes of the F-measure, in percent, in Table 4."""
    for row in published.f_measures():
        percent = 100 * (row.after - row.before) / row.before
        item = f"{row.dataset} {row.resampler}"
        yield _compare_numbers("Table 4", item, row.percent, percent, decimals=4)


def check_p_values() -> Iterator[Finding]:
    """Yield findings on the p-values of Wilcoxon's test in Table 10.

    They are recomputed by the normal approximation with continuity correction.
    """
    for row in published.significances():
        pairs = result_pairs(row.classifier, row.metric)
        item = f"{row.classifier} {row.metric}"
        recomputed = wilcoxon_p_value(pairs)
        finding = _compare_numbers("Table 10", item, row.p_value, recomputed, decimals=6)
        if finding.verdict != "follows":
            if _is_hidden_by_rounding(pairs, row.p_value):
                note = "four decimals made ties"
                finding = replace(finding, verdict="follows before rounding", note=note)
            else:
                finding = replace(finding, note=_sample_size_note(row.p_value, len(pairs)))
        yield finding


def check_stars() -> Iterator[Finding]:
    """Yield findings on the stars of Table 10, which mark significant p-values."""
    texts = {True: "significant", False: "not significant"}
    for row in published.significances():
        recomputed = wilcoxon_p_value(result_pairs(row.classifier, row.metric))
        yield _compare_texts(
            "Stars",
            f"{row.classifier} {row.metric}",
            printed=texts[row.starred],
            recomputed=texts[recomputed < ALPHA],
            reason=f"p = {recomputed:.4f} by the printed values",
        )


def check_bold_marks() -> Iterator[Finding]:
    """Yield findings on bold type in Tables 5 to 9: whether the better value of a pair is bold."""
    for pair in published.results():
        yield _compare_texts(
            "Bold marks",
            f"{pair.measure} {pair.dataset} {pair.method}",
            printed=pair.bold,
            recomputed=pair.better,
            reason=f"before {pair.before}, after {pair.after}",
        )


def check_win_counts() -> Iterator[Finding]:
    """Yield findings on the paper's counts of better and worse results in Tables 5 to 9."""
    fields = {"classifier": "method", "dataset": "dataset", "metric": "measure"}
    for row in published.win_counts():
        pairs = [
            pair
            for pair in published.results()
            if getattr(pair, fields[row.grouped_by]) == row.name
        ]
        better = sum(pair.better == "after" for pair in pairs)
        worse = sum(pair.better == "before" for pair in pairs)
        ties = len(pairs) - better - worse
        recomputed = f"{better}/{worse}"
        if ties:
            recomputed = f"{recomputed} and {ties} equal"
        verdict, note = _count_verdict(row, better=better, worse=worse, ties=ties)
        yield Finding(
            part="Counts",
            item=f"by {row.grouped_by}: {row.name}",
            published=f"{row.better}/{row.worse}",
            scumble_value=recomputed,
            verdict=verdict,
            note=note,
        )


def _count_verdict(row: WinCount, *, better: int, worse: int, ties: int) -> tuple[str, str]:
    """Return verdict and note for a count of the paper, given the recomputed counts.

    The paper may have counted ties as better or as worse.
    """
    n_printed = better + worse + ties
    n_counted = row.better + row.worse
    if n_printed != n_counted:
        return "does not follow", f"{n_counted} counted, {n_printed} printed"
    if not (better <= row.better <= better + ties):
        return "does not follow", ""
    if not ties:
        return "follows", ""
    ties_as_better = row.better - better
    side = "either side"
    if ties_as_better == 0:
        side = "worse"
    elif ties_as_better == ties:
        side = "better"
    return "follows", f"equal pairs counted as {side}"


def check_statements() -> Iterator[Finding]:
    """Yield findings on the statements of the text that follow from the tables or do not."""
    for change in published.CLAIMED_CHANGES:
        pairs = [pair for pair in published.imbalance() if pair.measure == change.measure]
        percent = mean_change(pairs, change.datasets)
        yield _finding(
            "Statements",
            f"{change.statement}, {change.condition}",
            printed=f"{change.percent:+d} %",
            recomputed=f"{percent:+.1f} %",
            agrees=round(percent) == change.percent,
            reason="LP-RUS rows of yeast, medical and genbase look exchanged",
        )
    for claim in published.CLAIMED_COUNTS:
        results = result_pairs(claim.classifier, *claim.metrics)
        yield _compare_texts(
            "Statements",
            f"{claim.subject} {claim.statement}",
            printed=claim.claimed,
            recomputed=f"{count_improved(results, claim.improved)} of {len(results)}",
        )
    for sentence in _check_sentences():
        yield _finding(
            "Statements",
            sentence.text,
            printed="stated",
            recomputed=sentence.evidence,
            agrees=sentence.holds,
        )


@cache
def imbalance_pairs(resampler: str, measure: str) -> tuple[BeforeAfterPair, ...]:
    """Return the pairs of Table 2 for a resampler and a measure, one per data set."""
    return tuple(
        pair
        for pair in published.imbalance()
        if pair.method == resampler and pair.measure == measure
    )


@cache
def result_pairs(classifier: str | None, *metrics: str) -> tuple[BeforeAfterPair, ...]:
    """Return the pairs of Tables 5 to 9 for some metrics and one classifier; None means all."""
    return tuple(
        pair
        for pair in published.results()
        if pair.measure in metrics and classifier in (None, pair.method)
    )


def count_improved(pairs: Sequence[BeforeAfterPair], improved: bool = True) -> int:
    """Return the number of pairs that are better after treatment.

    If ``improved`` is false, return the number of all other pairs, including ties.
    """
    return sum((pair.better == "after") == improved for pair in pairs)


def wilcoxon_p_value(pairs: Sequence[BeforeAfterPair]) -> float:
    """Return the p-value of Wilcoxon's signed-rank test of the values before and after.

    It is the normal approximation, as in the paper.
    """
    before, after = before_and_after(pairs)
    return wilcoxon(before, after, method="normal").p_value


def before_and_after(pairs: Sequence[BeforeAfterPair]) -> tuple[list[float], list[float]]:
    """Return the list of values before treatment, and the list of those after it."""
    return [pair.before for pair in pairs], [pair.after for pair in pairs]


def correlate(row: Correlation) -> PearsonResult:
    """Return a correlation of Table 3 with its p-value, recomputed from Tables 1 and 2."""
    scumble, changes = scumble_and_change(imbalance_pairs(row.resampler, row.measure))
    return pearson(scumble, changes)


def scumble_and_change(pairs: Sequence[BeforeAfterPair]) -> tuple[list[float], list[float]]:
    """Return for each pair the printed SCUMBLE of its data set, and its relative change."""
    measures = published.characteristics()
    scumble = [measures[pair.dataset]["scumble"] for pair in pairs]
    changes = [pair.change for pair in pairs]
    return scumble, changes


def mean_change(pairs: Sequence[BeforeAfterPair], datasets: Sequence[str]) -> float:
    """Return the mean relative change of the pairs of some data sets, in percent."""
    return 100 * fmean(pair.change for pair in pairs if pair.dataset in datasets)


class _Sentence(NamedTuple):
    """A statement of the paper's text that is not about a single number."""

    text: str  # the statement in short
    holds: bool  # whether it follows from the tables
    evidence: str  # the numbers that decide


def _check_sentences() -> Iterator[_Sentence]:
    """Yield the statements of the text that are not about single numbers, checked on the tables."""
    results = [correlate(row) for row in published.correlations()]
    yield _Sentence(
        text="all correlations above 0.8 and significant",
        holds=all(result.coefficient > 0.8 and result.p_value < ALPHA for result in results),
        evidence=", ".join(f"{result.coefficient:.2f}" for result in results),
    )
    for name in ("enron", "corel5k", "cal500"):
        pairs = [pair for pair in published.results() if pair.dataset == name]
        share = count_improved(pairs) / len(pairs)
        yield _Sentence(
            text=f"two thirds of the best values after REMEDIAL: {name}",
            holds=abs(share - 2 / 3) < SHARE_TOLERANCE,
            evidence=f"{share:.0%}",
        )
    changes = [
        row.percent for row in published.f_measures() if row.dataset in ("medical", "genbase")
    ]
    yield _Sentence(
        text="medical and genbase lose less than 1 % of F-measure",
        holds=min(changes) > -1,
        evidence=f"{min(changes)} %",
    )
    counts = []
    for metric in ("HL", "MacroFM", "OE", "RL"):
        better = [pair.better for pair in result_pairs(None, metric)]
        counts.append((better.count("after"), better.count("before")))
    yield _Sentence(
        text="almost a tie of better and worse: HL, MacroFM, OE, RL",
        holds=all(abs(after - before) <= MAX_DIFFERENCE_OF_TIE for after, before in counts),
        evidence=", ".join(f"{after}/{before}" for after, before in counts),
    )
    imbalance = published.imbalance()
    n_lower = sum(pair.after < pair.before for pair in imbalance)
    yield _Sentence(
        text="in most cases MaxIR and MeanIR are lower after resampling",
        holds=2 * n_lower > len(imbalance),
        evidence=f"{n_lower} of {len(imbalance)}",
    )


def _finding(
    part: str, item: str, *, printed: str, recomputed: str, agrees: bool, reason: str = ""
) -> Finding:
    """Return a finding with the verdict "follows" or "does not follow".

    ``reason`` explains a disagreement; if printed and recomputed value agree, it is not used.
    """
    return Finding(
        part=part,
        item=item,
        published=printed,
        scumble_value=recomputed,
        verdict="follows" if agrees else "does not follow",
        note="" if agrees else reason,
    )


def _compare_texts(
    part: str, item: str, *, printed: str, recomputed: str, reason: str = ""
) -> Finding:
    """Return the finding on a printed text, which agrees if it equals the recomputed one."""
    return _finding(
        part,
        item,
        printed=printed,
        recomputed=recomputed,
        agrees=printed == recomputed,
        reason=reason,
    )


def _compare_numbers(
    part: str, item: str, printed: float, recomputed: float, *, decimals: int
) -> Finding:
    """Return the finding on a number, which agrees if it is equal at the printed decimals."""
    # The tolerance allows either rounding of a value on the edge between two.
    return _finding(
        part,
        item,
        printed=f"{printed:.{decimals}f}",
        recomputed=f"{recomputed:.{decimals}f}",
        agrees=abs(recomputed - printed) <= 0.5000001 * 10.0**-decimals,
    )


def _is_hidden_by_rounding(pairs: Sequence[BeforeAfterPair], printed: float) -> bool:
    """Return whether values that round to the printed ones can have the p-value ``printed``.

    `N_CONTINUATIONS` random sets of such values are tried for each number of further digits.
    """
    # The printed decimals are continued by one random digit, which keeps some ties, and by five,
    # which keeps none.
    generator = np.random.default_rng(0)
    before, after = (np.array(values) for values in before_and_after(pairs))
    for n_digits in (1, 5):
        scale = 10 ** (pairs[0].decimals + n_digits)
        half_unit = 10**n_digits // 2  # of the last printed decimal
        shape = (2, N_CONTINUATIONS, len(pairs))
        digits_before, digits_after = generator.integers(
            -half_unit, half_unit, size=shape, endpoint=True
        )
        differences = np.round((after - before) * scale).astype(np.int64)
        differences = differences + digits_after - digits_before
        if (np.abs(_normal_p_values(differences) - printed) <= P_VALUE_TOLERANCE).any():
            return True
    return False


def _normal_p_values(differences: npt.NDArray[np.int64]) -> FloatArray:
    """Return the p-value of Wilcoxon's test for every row of a matrix of differences.

    It is the normal approximation; differences of zero are not ranked.
    """
    is_zero = differences == 0
    ranks = stats.rankdata(np.abs(differences), axis=1) - is_zero.sum(axis=1, keepdims=True)
    ranks = np.where(is_zero, 0.0, ranks)
    positive_rank_sums = np.where(differences > 0, ranks, 0.0).sum(axis=1)
    return _two_sided_p_values(
        positive_rank_sums, rank_sum=ranks.sum(axis=1), square_sum=(ranks**2).sum(axis=1)
    )


def _two_sided_p_values(
    positive_rank_sums: FloatArray, *, rank_sum: Any, square_sum: Any
) -> FloatArray:
    """Return two-sided p-values of sums of positive ranks, by the normal approximation.

    ``rank_sum`` and ``square_sum`` are the sums of all ranks and of their squares.
    """
    distance = np.abs(positive_rank_sums - rank_sum / 2)
    standard_error = np.sqrt(square_sum) / 2
    return 2 * stats.norm.sf(np.maximum(distance - 0.5, 0) / standard_error)


def _sample_size_note(printed: float, n_pairs: int) -> str:
    """Return a note on whether ``n_pairs`` pairs without ties can have the printed p-value.

    The note is "" if they can. If not, it names the largest smaller number of pairs that can.
    """

    def is_possible(n: int) -> bool:
        """Return whether some ranking of ``n`` pairs has the printed p-value."""
        rank_sum = n * (n + 1) // 2  # if all pairs differ
        p_values = _two_sided_p_values(
            np.arange(rank_sum + 1.0), rank_sum=rank_sum, square_sum=rank_sum * (2 * n + 1) / 3
        )
        return bool((np.abs(p_values - printed) <= P_VALUE_TOLERANCE).any())

    if is_possible(n_pairs):
        return ""
    sizes = [n for n in range(n_pairs - 1, 3, -1) if is_possible(n)]
    if not sizes:
        return f"no ranking of {n_pairs} different pairs gives it"
    return f"possible with {sizes[0]} pairs, not with the {n_pairs} printed"


# Displaced rows, and what follows from the tables once they are corrected ---------------------


@dataclass(frozen=True)
class Rotation:
    """Consecutive rows whose values after treatment are printed one row too high or too low.

    The value that belongs into the last of these rows is printed in the first one, or vice versa.
    """

    classifier: str
    rows: tuple[str, ...]  # names of the data sets, in the order of the table
    shift: int  # the values printed in row i belong to row i + shift, which is 1 or -1
    misfit: float  # mean absolute logarithm of after / before, as printed
    corrected_misfit: float  # the same with the values in the right rows


@cache
def find_undersampling_row_order() -> dict[str, str]:
    """Return the order of the rows of LP-RUS in Table 2 that fits the printed correlations best.

    The result maps the name of each data set to that of the data set in whose row its value after
    resampling is printed.
    """
    # All 720 orders are tried on MaxIR and MeanIR together.
    names = published.PHASE_1_DATASETS
    orders = [dict(zip(names, permuted, strict=True)) for permuted in itertools.permutations(names)]
    printed_coefficients = _printed_coefficients()

    def misfit(order: dict[str, str]) -> float:
        """Return the sum of absolute differences from the printed correlations."""
        total = 0.0
        for measure, printed in printed_coefficients.items():
            scumble, changes = scumble_and_change(_reorder_undersampling(measure, order))
            total += abs(correlation(scumble, changes) - printed)
        return total

    return min(orders, key=misfit)


@cache
def find_row_rotation(classifier: str) -> Rotation | None:
    """Return the rows of a classifier in Tables 5 to 9 whose values after REMEDIAL are shifted.

    Return None if shifting does not at least halve the misfit.
    """
    # REMEDIAL changes a value by a few percent, and neighbouring rows differ by factors: displaced
    # rows are visible in all five metrics at once.
    names = [pair.dataset for pair in result_pairs(classifier, "HL")]
    misfit = _misfit(classifier, {})
    candidates = []
    for start, stop in itertools.combinations(range(len(names) + 1), 2):
        rows = tuple(names[start:stop])
        if len(rows) <= 2:
            continue
        candidates += [
            Rotation(
                classifier=classifier,
                rows=rows,
                shift=shift,
                misfit=misfit,
                corrected_misfit=_misfit(classifier, _source_rows(rows, shift)),
            )
            for shift in (-1, 1)
        ]
    best = min(candidates, key=attrgetter("corrected_misfit"))
    return best if best.corrected_misfit < misfit / 2 else None


def restore_displaced_value(pair: BeforeAfterPair) -> BeforeAfterPair:
    """Return a pair with the value after treatment that belongs to its data set.

    A pair whose row is not displaced is returned unchanged.
    """
    source_rows: dict[str, str] = {}
    if pair.table == 2:
        pairs = imbalance_pairs(pair.method, pair.measure)
        if pair.method == "LP-RUS":
            source_rows = find_undersampling_row_order()
    else:
        pairs = result_pairs(pair.method, pair.measure)
        rotation = find_row_rotation(pair.method)
        if rotation is not None:
            source_rows = _source_rows(rotation.rows, rotation.shift)
    source = source_rows.get(pair.dataset, pair.dataset)
    return pair._replace(after=next(row.after for row in pairs if row.dataset == source))


def check_displaced_rows() -> Iterator[Finding]:
    """Yield what follows from the tables once displaced rows are corrected.

    Yields
    ------
    Finding
        The published number and the one that follows from the corrected table.

    Examples
    --------
    >>> from scumble.paper import check_displaced_rows
    >>> other = [row for row in check_displaced_rows() if row.verdict == "other conclusion"]
    >>> [finding.item.split(",")[0] for finding in other]
    ['ECC MacroFM', 'ECC OE']
    """
    yield from _check_undersampling_claims()
    for classifier in published.CLASSIFIERS:
        rotation = find_row_rotation(classifier)
        if rotation is not None:
            yield from _check_rotation(rotation)


def _check_undersampling_claims() -> Iterator[Finding]:
    """Yield findings on the correlations and claims about LP-RUS with its rows corrected."""
    order = find_undersampling_row_order()
    moved = ", ".join(f"{name} in the row of {row}" for name, row in order.items() if name != row)
    for measure, printed in _printed_coefficients().items():
        scumble, changes = scumble_and_change(_reorder_undersampling(measure, order))
        coefficient = pearson(scumble, changes).coefficient
        yield Finding(
            part=DISPLACED_ROWS,
            item=f"LP-RUS {measure} r, {moved}",
            published=f"{printed:.4f}",
            scumble_value=f"{coefficient:.4f}",
            verdict=_closeness(printed, coefficient, tolerance=0.01),
        )
    for claim in published.CLAIMED_CHANGES:
        if "yeast" not in claim.datasets:  # no displaced row is among the data sets of the claim
            continue
        pairs = [
            *imbalance_pairs("LP-ROS", claim.measure),
            *_reorder_undersampling(claim.measure, order),
        ]
        percent = mean_change(pairs, claim.datasets)
        yield Finding(
            part=DISPLACED_ROWS,
            item=f"{claim.measure} falls by, {claim.condition}, same repair",
            published=f"{claim.percent} %",
            scumble_value=f"{percent:.1f} %",
            verdict=_closeness(claim.percent, percent, tolerance=1.0),
        )


def _check_rotation(rotation: Rotation) -> Iterator[Finding]:
    """Yield findings on whether each metric is significant once shifted rows are corrected."""
    source_rows = _source_rows(rotation.rows, rotation.shift)
    for metric in published.METRICS:
        printed = result_pairs(rotation.classifier, metric)
        corrected = _replace_after(printed, source_rows)
        printed_p_value = wilcoxon_p_value(printed)
        corrected_p_value = wilcoxon_p_value(corrected)
        is_same = (printed_p_value < ALPHA) == (corrected_p_value < ALPHA)
        yield Finding(
            part=DISPLACED_ROWS,
            item=(
                f"{rotation.classifier} {metric}, {rotation.rows[0]} to {rotation.rows[-1]} one "
                "row up"
            ),
            published=f"p = {printed_p_value:.4f}, {count_improved(printed)} better",
            scumble_value=f"p = {corrected_p_value:.4f}, {count_improved(corrected)} better",
            verdict="same conclusion" if is_same else "other conclusion",
        )


def _printed_coefficients() -> dict[str, float]:
    """Return the correlations of LP-RUS that Table 3 prints, by measure."""
    rows = published.correlations()
    return {row.measure: row.coefficient for row in rows if row.resampler == "LP-RUS"}


def _reorder_undersampling(measure: str, order: dict[str, str]) -> list[BeforeAfterPair]:
    """Return the pairs of LP-RUS in Table 2 with the values after resampling in another order.

    ``order`` is as in `find_undersampling_row_order`.
    """
    return _replace_after(imbalance_pairs("LP-RUS", measure), order)


def _replace_after(
    pairs: Sequence[BeforeAfterPair], source_rows: dict[str, str]
) -> list[BeforeAfterPair]:
    """Return the pairs with values after treatment that are printed in other rows.

    ``source_rows`` maps the name of a data set to that of the data set in whose row its value is
    printed. Data sets that are not in it keep their value.
    """
    after = {pair.dataset: pair.after for pair in pairs}
    return [
        pair._replace(after=after[source_rows.get(pair.dataset, pair.dataset)]) for pair in pairs
    ]


def _source_rows(rows: Sequence[str], shift: int) -> dict[str, str]:
    """Return for every data set of shifted rows the one in whose row its value is printed.

    ``rows`` are consecutive data sets of a printed table; the value printed for row i belongs to
    row i + ``shift``, counted in a circle.
    """
    return {name: rows[(index - shift) % len(rows)] for index, name in enumerate(rows)}


def _misfit(classifier: str, source_rows: dict[str, str]) -> float:
    """Return the mean absolute logarithm of after / before over all pairs of a classifier.

    ``source_rows`` is as in `_replace_after`. Values in wrong rows make the misfit large.
    """
    pairs: list[BeforeAfterPair] = []
    for metric in published.METRICS:
        pairs += _replace_after(result_pairs(classifier, metric), source_rows)
    return fmean(abs(math.log(pair.after / pair.before)) for pair in pairs)


def _closeness(printed: float, recomputed: float, *, tolerance: float) -> str:
    """Return "close" if two numbers differ by at most ``tolerance``, else "not close"."""
    if abs(printed - recomputed) <= tolerance:
        return "close"
    return "not close"
