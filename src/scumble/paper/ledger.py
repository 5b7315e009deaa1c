"""The ledger: every number that the paper prints, our number, and a verdict.

Each of them is an *entry* of the ledger, a `ReproductionResult`.
*Our number* is computed from the results of the paper's experiments that were run with scumble, as
a mean over folds (`FoldMeans`). A *score* is the name of a metric in these results, such as
"macro_f1" or "ignore.macro_f1", whose prefix names a rule for undefined values. ``rule`` selects
this rule: "fits" takes for each metric the rule that fits the printed numbers best, "mulan" the
rule of MULAN since 1.4.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Literal, NamedTuple

from scumble._core.parameters import check_choice
from scumble._core.progress import progress_bar
from scumble.evaluate.statistics import pearson
from scumble.paper import published, sources, verdicts
from scumble.paper.audit import (
    imbalance_pairs,
    restore_displaced_value,
    result_pairs,
    scumble_and_change,
    wilcoxon_p_value,
)
from scumble.paper.published import BeforeAfterPair
from scumble.paper.verdicts import (
    CAUSES,
    F_MEASURE_AVERAGES,
    NOT_COMPUTABLE,
    NOT_REPRODUCED,
    REPRODUCED,
    SAME_DIRECTION,
    VERDICTS,
    FoldMeans,
    PrintedNumber,
    ReproductionResult,
)

Rule = Literal["fits", "mulan"]
#: Significance level of the paper.
ALPHA = 0.05
#: Correlations that differ by at most this count as reproduced: folds alone change them as much.
CORRELATION_TOLERANCE = 0.05
#: Largest difference of equal values of Table 1: half a unit of the third decimal, the last one
#: that is printed, and 2 % more for rounding.
CHARACTERISTIC_TOLERANCE = 0.00051
#: Reason why a number is missing.
NOT_RUN = "not run, or not every fold is done"
#: Descriptions of the rules for undefined values, by the prefix of a score.
RULE_TEXTS = {
    "ignore": "undefined values left out",
    "hits": "0/0 where nothing is predicted right, and left out",
}
#: Percentages of resampling that the experiments cover; the paper does not state its own.
PERCENTS = (10, 20, 25)
# Remarks on numbers that are not reproduced.
CAL500_REASON = (
    "every labelset of cal500 is unique, so the published pseudo-code changes nothing; about 35 % "
    "more rows cloned from only 4 to 8 of them come near the printed change; no rule was found "
    "that gives it"
)
EXCHANGED_ROWS_REASON = "the printed rows of yeast, medical and genbase look exchanged"
#: Misprints of Table 1, by data set and measure.
MISPRINTS = {("corel16k", "max_ir"): "3170 / 27 = 117.407: a misprint"}
#: Reasons of differences from Table 1, by data set and measure.
KNOWN_REASONS = {
    **MISPRINTS,
    ("tmc2007", "max_ir"): "the printed value is that of another variant of the data set",
}
#: Classifiers as in other versions of MULAN, by the labels of the plan
#: ``compare_experiments/paper_variants.toml``.
CLASSIFIER_VARIANTS = {
    "CLR": ("CLR that loses votes",),
    "HOMER": ("HOMER by the book", "HOMER with MULAN's confidences"),
    "IBLR": ("IBLR stopped early", "IBLR stopped later"),
}


def ledger(cells: Iterable[dict[str, Any]], *, rule: Rule = "fits") -> list[ReproductionResult]:
    """Compare every number of the paper's ten tables with ours.

    A number that depends on folds is reproduced if it lies within two standard errors of the
    printed one.

    Parameters
    ----------
    cells : iterable of dict
        Results of the plans of `scumble.paper.phase`, from `Store.cells`. Results of classifiers as
        in other versions of MULAN help to find causes.
    rule : {"fits", "mulan"}
        Rule for undefined values: the one that fits the printed numbers best, or that of MULAN
        since 1.4.

    Returns
    -------
    list of ReproductionResult
        The 855 results. Characteristics are measured on the data sets of this machine.

    Examples
    --------
    >>> from scumble.paper import ledger
    >>> entries = ledger([])
    >>> len(entries)
    855
    >>> {entry.verdict for entry in entries if entry.table > 1}
    {'not computable here'}
    """
    means = FoldMeans(cells)
    return [*compare_characteristics(), *compare_experiments(means, rule=rule)]


def compare_experiments(means: FoldMeans, *, rule: Rule = "fits") -> list[ReproductionResult]:
    """Return the ledger entries for Tables 2 to 10, which need no data set."""
    check_choice(rule, ("fits", "mulan"), name="rule", caller="ledger")
    return [
        *compare_imbalance(means),
        *compare_correlations(means),
        *compare_f_measures(means, rule),
        *compare_results(means, rule),
        *compare_significances(means, rule),
    ]


def count_verdicts_by_table(entries: Iterable[ReproductionResult]) -> dict[int, dict[str, int]]:
    """Return the number of ledger entries by number of the table and verdict."""
    by_table = verdicts.count_verdicts(entries, "table")
    return {
        table: {verdict: counts[verdict] for verdict in VERDICTS}
        for table, counts in by_table.items()
    }


def causes(entries: Iterable[ReproductionResult]) -> dict[str, dict[str, int]]:
    """Return the number of ledger entries by cause and verdict, the most frequent cause first.

    Entries without a cause are left out, and so is the verdict "not computable here".
    """
    by_cause = verdicts.count_verdicts((entry for entry in entries if entry.cause), "cause")
    order = sorted(by_cause, key=lambda cause: (-by_cause[cause].total(), [*CAUSES].index(cause)))
    return {
        cause: {verdict: by_cause[cause][verdict] for verdict in VERDICTS[:3]} for cause in order
    }


def to_csv(entries: Iterable[ReproductionResult]) -> str:
    """Return a ledger as CSV text: a line with the names of columns, then one for each entry."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        (
            "table",
            "item",
            "published",
            "compared",
            "ours",
            "difference",
            "error",
            "verdict",
            "cause",
            "reason",
        )
    )
    for entry in entries:
        writer.writerow(
            (
                entry.table,
                entry.item,
                entry.published,
                _format_number(entry.compared),
                _format_number(entry.scumble_value),
                _format_number(entry.difference),
                _format_number(entry.error),
                entry.verdict,
                entry.cause,
                entry.reason,
            )
        )
    return stream.getvalue()


def _format_number(value: float | None) -> str:
    """Return a number with six significant digits; "" for None."""
    return "" if value is None else f"{value:.6g}"


# Table 1 -----------------------------------------------------------------------------------------


def compare_characteristics() -> Iterator[ReproductionResult]:
    """Yield the ledger entries for Table 1, measured on the data sets that are on this machine.

    Data sets that are missing, and mediamill, get entries without our values.
    """
    from scumble.measures import characterize

    # Attributes of `Summary` by the names in the table; the others have the same name.
    attributes = {
        "attributes": "n_features",
        "instances": "n_instances",
        "labels": "n_labels",
        "labelsets": "n_labelsets",
    }
    characteristics = published.characteristics()
    with progress_bar("Measuring data sets", len(characteristics)) as advance:
        for dataset, printed_values in characteristics.items():
            data = sources.load(dataset)
            note = "" if data is None else sources.substitute_note(dataset, data)
            summary = None
            if data is not None and dataset != "mediamill":
                summary = characterize(data)
            for key, printed in printed_values.items():
                our_value = None
                if summary is not None:
                    our_value = float(getattr(summary, attributes.get(key, key)))
                yield _compare_exactly(
                    dataset, key=key, printed=printed, our_value=our_value, note=note
                )
            advance(1)


def _compare_exactly(
    dataset: str, *, key: str, printed: float, our_value: float | None, note: str
) -> ReproductionResult:
    """Return the ledger entry for a number of Table 1, which must be equal at the printed decimals.

    ``key`` is the name of the measure, and ``note`` names a substitute data set, if one is used.
    ``our_value`` is None if the data set is not available.
    """
    verdict = NOT_REPRODUCED
    cause = "unknown"
    reason = KNOWN_REASONS.get((dataset, key), note)
    if our_value is None:
        verdict = NOT_COMPUTABLE
        cause = ""
        reason = reason or "data not available"
    elif abs(our_value - printed) <= CHARACTERISTIC_TOLERANCE:
        verdict = REPRODUCED
        cause = ""
        reason = ""
    elif (dataset, key) in MISPRINTS:
        cause = "misprint"
    elif note:
        cause = "substitute data"
    return ReproductionResult(
        table=1,
        item=f"{dataset} {key}",
        published=printed,
        scumble_value=our_value,
        verdict=verdict,
        reason=reason,
        cause=cause,
    )


# Tables 2 and 3 ----------------------------------------------------------------------------------


def compare_imbalance(means: FoldMeans) -> Iterator[ReproductionResult]:
    """Yield the ledger entries for Table 2: MaxIR and MeanIR before and after LP-ROS and LP-RUS."""
    for pair in published.imbalance():
        printed = _printed_numbers(pair, f"{pair.dataset} {pair.method} {pair.measure}")
        our_means = means.imbalance_means(pair)
        if our_means.before is None or our_means.after is None:
            yield printed.before.as_not_computable(NOT_RUN)
            yield printed.after.as_not_computable(NOT_RUN)
            continue
        resampler = f"{pair.method} 25 %"
        measure = verdicts.imbalance_measure(pair)
        error_before = means.standard_error(pair.dataset, resampler, "none", f"before.{measure}")
        yield printed.before.compare(our_means.before, error_before)
        after_by_percent = {}
        for percent in PERCENTS:
            after = means.imbalance_means(pair, percent).after
            if after is not None:
                after_by_percent[percent] = after
        reasons = [_imbalance_reason(pair, printed.after.corrected_value, after_by_percent)]
        if printed.after.corrected_value != printed.after.value:
            reasons.insert(0, EXCHANGED_ROWS_REASON)
        error = means.standard_error(pair.dataset, resampler, "none", f"after.{measure}")
        fits_other_percent = any(
            printed.after.is_near(after, error) for after in after_by_percent.values()
        )
        yield printed.after.compare(
            our_means.after,
            error,
            before=our_means.before,
            reason="; ".join(filter(None, reasons)),
            causes=[("undefined rule", fits_other_percent)],
        )


class _PrintedPair(NamedTuple):
    """The two printed numbers of a pair, before and after treatment."""

    before: PrintedNumber
    after: PrintedNumber


def _printed_numbers(pair: BeforeAfterPair, item: str) -> _PrintedPair:
    """Return both numbers of a pair; ``item`` is its name in the ledger.

    The corrected value after treatment differs from the printed one if the row is displaced.
    """
    before = PrintedNumber(
        table=pair.table,
        item=f"{item} before",
        value=pair.before,
        corrected_value=pair.before,
        decimals=pair.decimals,
    )
    after = PrintedNumber(
        table=pair.table,
        item=f"{item} after",
        value=pair.after,
        corrected_value=restore_displaced_value(pair).after,
        decimals=pair.decimals,
        before=pair.before,
    )
    return _PrintedPair(before, after)


def _imbalance_reason(
    pair: BeforeAfterPair, corrected_value: float, after_by_percent: dict[int, float]
) -> str:
    """Return a remark on why our value after resampling may differ from the printed one.

    ``corrected_value`` is the printed value that belongs to the data set; ``after_by_percent``
    holds our value for each percentage of resampling. The remark names a percentage that fits
    better than 25; it is "" if there is none.
    """
    if pair.dataset == "cal500" and pair.method == "LP-ROS":
        return CAL500_REASON
    distances = {
        percent: abs(after - corrected_value) for percent, after in after_by_percent.items()
    }
    best = min(distances, key=distances.__getitem__, default=25)
    if distances and distances[best] < distances.get(25, 0.0):
        return f"{best} % fits better"
    return ""


def compare_correlations(means: FoldMeans) -> Iterator[ReproductionResult]:
    """Yield the ledger entries for Table 3: correlations of SCUMBLE with our relative changes.

    The verdict is the same for a correlation and its p-value: not reproduced if sign or
    significance differ, reproduced if ours is near, else the same direction.
    """
    for row in published.correlations():
        item = f"{row.resampler} {row.measure}"
        pairs = imbalance_pairs(row.resampler, row.measure)
        our_pairs = verdicts.replace_with_our_values(pairs, means.imbalance_means)
        our_coefficient: float | None = None
        our_p_value: float | None = None
        verdict = NOT_COMPUTABLE
        reason = NOT_RUN
        cause = ""
        if len(our_pairs) == len(pairs):
            scumble, changes = scumble_and_change(
                [pair for pair in our_pairs if pair.before and pair.after]
            )
            our_correlation = pearson(scumble, changes)
            our_coefficient = our_correlation.coefficient
            our_p_value = our_correlation.p_value
            reason = ""
            # The sign of a weak correlation carries no information: significance must agree too.
            has_same_sign = (our_coefficient > 0) == (row.coefficient > 0)
            has_same_significance = (our_p_value < ALPHA) == (row.p_value < ALPHA)
            if not (has_same_sign and has_same_significance):
                verdict = NOT_REPRODUCED
            elif abs(our_coefficient - row.coefficient) <= CORRELATION_TOLERANCE:
                verdict = REPRODUCED
            else:
                verdict = SAME_DIRECTION
            cause = "" if verdict == REPRODUCED else "other numbers"
        for symbol, printed, our_value in (
            ("r", row.coefficient, our_coefficient),
            ("p", row.p_value, our_p_value),
        ):
            yield ReproductionResult(
                table=3,
                item=f"{item} {symbol}",
                published=printed,
                scumble_value=our_value,
                verdict=verdict,
                reason=reason,
                cause=cause,
            )


# Table 4 -----------------------------------------------------------------------------------------


def compare_f_measures(means: FoldMeans, rule: Rule = "fits") -> Iterator[ReproductionResult]:
    """Yield the ledger entries for Table 4: HOMER's F-measure before and after resampling.

    The paper does not say how the F-measure is averaged: it is compared with the average that fits
    best.
    """
    averages = [name for name in F_MEASURE_AVERAGES if rule == "fits" or "." not in name]
    average = verdicts.best_average(means, averages)
    reason = NOT_RUN
    if average:
        reason = f"average: {average}"
        rule_text = RULE_TEXTS.get(average.partition(".")[0], "")
        if rule_text:
            reason = f"{reason} ({rule_text})"
    # The value before resampling is printed for each resampler, but compared once.
    datasets_with_base: set[str] = set()
    for row in published.f_measures():
        resampler = f"{row.resampler} 25 %"
        if row.dataset not in datasets_with_base:
            datasets_with_base.add(row.dataset)
            printed = PrintedNumber(
                table=4,
                item=f"{row.dataset} base",
                value=row.before,
                corrected_value=row.before,
                decimals=4,
            )
            yield _compare_f_measure(means, printed, row.dataset, "none", average, reason=reason)
        before = means.mean(row.dataset, "none", "HOMER", average)
        printed = PrintedNumber(
            table=4,
            item=f"{row.dataset} {row.resampler}",
            value=row.after,
            corrected_value=row.after,
            decimals=4,
            before=row.before,
        )
        yield _compare_f_measure(
            means, printed, row.dataset, resampler, average, reason=reason, before=before
        )
        printed = PrintedNumber(
            table=4,
            item=f"{row.dataset} {row.resampler} change",
            value=row.percent,
            corrected_value=row.percent,
            decimals=2,
            before=0.0,
        )
        after = means.mean(row.dataset, resampler, "HOMER", average)
        if not before or after is None:
            yield printed.as_not_computable(reason)
            continue
        error = 100 * means.standard_error_of_change(row.dataset, resampler, "HOMER", average)
        yield printed.compare(
            100 * (after - before) / before,
            error,
            before=0.0,
            reason=reason,
            causes=[("other numbers", True)],
        )


def _compare_f_measure(
    means: FoldMeans,
    printed: PrintedNumber,
    dataset: str,
    resampler: str,
    average: str,
    *,
    reason: str,
    before: float | None = None,
) -> ReproductionResult:
    """Return the ledger entry for one printed F-measure of HOMER.

    It is compared with our mean of the score ``average``. ``reason`` is a remark for the entry, and
    ``before`` our value before resampling, if the number is one after it. If another of
    `F_MEASURE_AVERAGES` gives the printed value, this is the cause of a difference.
    """
    our_value = means.mean(dataset, resampler, "HOMER", average)
    if our_value is None:
        return printed.as_not_computable(reason)
    fits_other_average = any(
        _fits(means, printed, dataset, resampler, "HOMER", other) for other in F_MEASURE_AVERAGES
    )
    return printed.compare(
        our_value,
        means.standard_error(dataset, resampler, "HOMER", average),
        before=before,
        reason=reason,
        causes=[("undefined rule", fits_other_average)],
    )


def _fits(
    means: FoldMeans,
    printed: PrintedNumber,
    dataset: str,
    resampler: str,
    classifier: str,
    score: str,
) -> bool:
    """Return whether our mean of a score is near the printed number; False if it was not run."""
    our_value = means.mean(dataset, resampler, classifier, score)
    error = means.standard_error(dataset, resampler, classifier, score)
    return our_value is not None and printed.is_near(our_value, error)


# Tables 5 to 10 ----------------------------------------------------------------------------------


def compare_results(means: FoldMeans, rule: Rule = "fits") -> Iterator[ReproductionResult]:
    """Yield the ledger entries for Tables 5 to 9: five metrics before and after REMEDIAL."""
    score_of_metric = resolve_metric_names(means, rule)
    for pair in published.results():
        score = score_of_metric[pair.measure]
        printed = _printed_numbers(pair, f"{pair.measure} {pair.dataset} {pair.method}")
        before = means.result_means(pair, score).before
        yield _compare_result(means, pair, printed.before, resampler="none", score=score)
        yield _compare_result(
            means, pair, printed.after, resampler="REMEDIAL", score=score, before=before
        )


def resolve_metric_names(means: FoldMeans, rule: Rule) -> dict[str, str]:
    """Return for each metric of the paper the score that it is compared with, by a rule."""
    if rule == "mulan":
        return verdicts.METRIC_NAMES
    return {
        metric: verdicts.best_undefined_value_rule(means, metric) for metric in published.METRICS
    }


def _compare_result(
    means: FoldMeans,
    pair: BeforeAfterPair,
    printed: PrintedNumber,
    *,
    resampler: str,
    score: str,
    before: float | None = None,
) -> ReproductionResult:
    """Return the ledger entry for one number of a pair of Tables 5 to 9.

    ``resampler`` is "none" for the number before treatment and "REMEDIAL" for that after it, where
    ``before`` is our mean before treatment.
    """
    dataset = pair.dataset
    classifier = pair.method
    our_value = means.mean(dataset, resampler, classifier, score)
    if our_value is None or (resampler != "none" and before is None):
        if dataset == "mediamill":
            return printed.as_not_computable("data not available: 2,000 of 43,907 instances are")
        return printed.as_not_computable(NOT_RUN)
    other_rules = verdicts.UNDEFINED_VALUE_RULES.get(pair.measure, ())
    other_versions = CLASSIFIER_VARIANTS.get(classifier, ())
    fits_other_rule = any(
        _fits(means, printed, dataset, resampler, classifier, other) for other in other_rules
    )
    fits_other_version = any(
        _fits(means, printed, dataset, resampler, other, score) for other in other_versions
    )
    return printed.compare(
        our_value,
        means.standard_error(dataset, resampler, classifier, score),
        before=before,
        reason=_result_reason(pair, printed, score),
        is_substitute=dataset in sources.SUBSTITUTES,
        causes=[("undefined rule", fits_other_rule), ("version of MULAN", fits_other_version)],
    )


def _result_reason(pair: BeforeAfterPair, printed: PrintedNumber, score: str) -> str:
    """Return remarks on a number: rule for undefined values, substitute data, displaced row."""
    remarks = [RULE_TEXTS.get(score.partition(".")[0], "")]
    if pair.dataset in sources.SUBSTITUTES:
        substitute, difference = sources.SUBSTITUTES[pair.dataset]
        remarks.append(f"{substitute}: {difference}")
    if printed.corrected_value != printed.value:
        remarks.append("the printed column looks shifted by a row")
    return "; ".join(filter(None, remarks))


def compare_significances(means: FoldMeans, rule: Rule = "fits") -> Iterator[ReproductionResult]:
    """Yield the ledger entries for Table 10: Wilcoxon's test over the data sets that were run."""
    score_of_metric = resolve_metric_names(means, rule)
    for row in published.significances():
        item = f"{row.classifier} {row.metric}"
        pairs = result_pairs(row.classifier, row.metric)
        our_pairs = verdicts.replace_with_our_values(
            pairs, partial(means.result_means, score=score_of_metric[row.metric])
        )
        if len(our_pairs) < 5:
            yield ReproductionResult(
                table=10,
                item=item,
                published=row.p_value,
                scumble_value=None,
                verdict=NOT_COMPUTABLE,
                reason=f"needs five data sets; {len(our_pairs)} were run",
            )
            continue
        our_p_value = wilcoxon_p_value(our_pairs)
        agrees = (our_p_value < ALPHA) == (row.p_value < ALPHA)
        is_displaced = any(restore_displaced_value(pair) != pair for pair in pairs)
        yield ReproductionResult(
            table=10,
            item=item,
            published=row.p_value,
            scumble_value=our_p_value,
            verdict=SAME_DIRECTION if agrees else NOT_REPRODUCED,
            reason=f"over {len(our_pairs)} of {len(pairs)} data sets",
            cause="repaired row" if is_displaced and not agrees else "other numbers",
        )
