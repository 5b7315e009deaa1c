"""Statements of the paper's text, checked on the data sets, and the version of MULAN it used.

A *finding* is a statement with a verdict. *Our* numbers are means over folds of results that were
computed with scumble (`FoldMeans`). A *version* is a variant of a classifier, or of a rule for
undefined values, as in some release of MULAN, the program with which the paper's experiments were
run. A *score* is the name of a metric in our results.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from scumble._core.progress import progress_bar
from scumble.data import MultilabelDataset
from scumble.evaluate.statistics import win_tie_loss
from scumble.measures import characterize, is_minority, scumble_by_label
from scumble.paper import published, sources, verdicts
from scumble.paper.audit import count_improved, mean_change, restore_displaced_value, result_pairs
from scumble.paper.ledger import ALPHA, CLASSIFIER_VARIANTS, NOT_RUN, resolve_metric_names
from scumble.paper.published import BeforeAfterPair
from scumble.paper.verdicts import (
    METRIC_NAMES,
    NOT_COMPUTABLE,
    UNDEFINED_VALUE_RULES,
    Finding,
    FoldMeans,
    is_near,
    replace_with_our_values,
)
from scumble.resample import REMEDIAL

DOES_NOT_HOLD = "does not hold"
#: Scores that differ by at most this are equal: rounding errors of sums in another order.
SCORE_TOLERANCE = 1e-12
#: Names of labels in the file of genbase, by the shortened names in the paper's figures.
GENBASE_LABEL_NAMES = {"P154": "PDOC00154", "P271": "PDOC00271", "P750": "PDOC00750"}

#: Data sets that statements about single labels or passes need; all others are removed from memory
#: once the other statements have been checked on them.
DATASETS_TO_KEEP = ("genbase", "yeast", "emotions")

# Notes on changes of MULAN over the years.
STRICT_NOTE = (
    "from 31 December 2010 to 17 July 2012 MULAN, asked not to be strict, left out labels and rows "
    "without a hit and rows without a prediction; since then they count as 0"
)
LOST_VOTES_NOTE = "MULAN loses votes since 10 July 2013 (1.5.0)"


class Outcome(NamedTuple):
    """Whether a statement holds for a data set, and the numbers that decide."""

    holds: bool
    evidence: str


#: From the name of a version to the classifier and the score in our results for every pair.
Candidates = Mapping[str, Sequence[tuple[str, str]]]
#: A function that checks a statement on a data set.
Check = Callable[[MultilabelDataset], Outcome]


def claims(
    datasets: Iterable[str] | None = None, cells: Iterable[dict[str, Any]] = ()
) -> list[Finding]:
    """Check what the paper says about data sets and about REMEDIAL.

    Data sets come from ``SCUMBLE_DATA`` or the cache; nothing is downloaded.

    Parameters
    ----------
    datasets : iterable of str, optional
        Names of the data sets to check; by default the paper's eleven and emotions.
    cells : iterable of dict
        Results of the paper's experiments, from `Store.cells`, for the statements about them.

    Returns
    -------
    list of Finding
        Verdicts ``"holds"``, ``"holds in k of n"``, ``"same direction"``, ``"does not hold"`` and
        ``"not computable here"``; for versions of MULAN the one that fits.

    Examples
    --------
    Without data sets and results nothing can be computed:

    >>> from scumble.paper import claims
    >>> {finding.verdict for finding in claims(datasets=[])}
    {'not computable here'}
    """
    means = FoldMeans(cells)
    all_names = [*published.characteristics(), "emotions"]
    requested = all_names if datasets is None else list(datasets)
    loaded: dict[str, MultilabelDataset | None] = dict.fromkeys(all_names)
    outcomes: dict[str, dict[str, Outcome]] = {}
    notes = []
    with progress_bar("Checking data sets", len(requested)) as advance:
        for name in requested:
            data = sources.load(name)
            if data is not None:
                loaded[name] = data if name in DATASETS_TO_KEEP else None
                outcomes[name] = _check_remedial(data)
                note = sources.substitute_note(name, data)
                if note:
                    notes.append(f"{name} is {note}")
            advance(1)
    return [
        *_about_labels(loaded),
        *_about_remedial(outcomes, notes),
        *_about_passes(loaded),
        *_about_resampling(means),
        *_about_wins(means),
        *check_mulan_versions(means),
    ]


def _about_resampling(means: FoldMeans) -> Iterator[Finding]:
    """Yield findings on the claimed mean changes of MeanIR and MaxIR by LP-ROS and LP-RUS."""
    for claim in published.CLAIMED_CHANGES:
        item = f"{claim.statement} {abs(claim.percent)} % where {claim.condition}"
        printed = f"{claim.percent:+d} %"
        pairs = [
            pair
            for pair in published.imbalance()
            if pair.measure == claim.measure and pair.dataset in claim.datasets
        ]
        our_pairs = replace_with_our_values(pairs, means.imbalance_means)
        if len(our_pairs) < len(pairs):
            yield _absent("Resampling", item, printed=printed, note=NOT_RUN)
            continue
        percent = mean_change(our_pairs, claim.datasets)
        yield Finding(
            part="Resampling",
            item=item,
            published=printed,
            scumble_value=f"{percent:+.1f} %",
            verdict=_verdict(
                holds=abs(percent - claim.percent) <= 5,
                same_direction=(percent > 0) == (claim.percent > 0),
            ),
        )


def _about_wins(means: FoldMeans) -> Iterator[Finding]:
    """Yield findings on the claimed numbers of results that REMEDIAL improves or does not."""
    score_of_metric = resolve_metric_names(means, "fits")
    for claim in published.CLAIMED_COUNTS:
        item = f"{claim.subject} is {claim.statement}"
        pairs = result_pairs(claim.classifier, *claim.metrics)
        our_pairs = _replace_results(means, pairs, score_of_metric)
        if not our_pairs:
            yield _absent("Counts", item, printed=claim.claimed, note=NOT_RUN)
            continue
        n_improved = count_improved(our_pairs, claim.improved)
        n_claimed, n_pairs_claimed = map(int, claim.claimed.split(" of "))
        share = n_improved / len(our_pairs)
        claimed_share = n_claimed / n_pairs_claimed
        n_by_mulan = count_improved(_replace_results(means, pairs, METRIC_NAMES), claim.improved)
        note = ""
        if n_by_mulan != n_improved:
            note = f"{n_by_mulan} by MULAN's rule for undefined values"
        yield Finding(
            part="Counts",
            item=item,
            published=claim.claimed,
            scumble_value=f"{n_improved} of {len(our_pairs)}",
            verdict=_verdict(
                holds=abs(share - claimed_share) <= 0.1,
                same_direction=(share > 0.5) == (claimed_share > 0.5),
            ),
            note=note,
        )


def _replace_results(
    means: FoldMeans, pairs: Iterable[BeforeAfterPair], score_of_metric: Mapping[str, str]
) -> list[BeforeAfterPair]:
    """Return pairs of Tables 5 to 9 with our values; pairs that were not run are left out.

    ``score_of_metric`` maps metrics of the paper to scores.
    """
    return replace_with_our_values(
        pairs, lambda pair: means.result_means(pair, score_of_metric[pair.measure])
    )


def _about_labels(loaded: dict[str, MultilabelDataset | None]) -> Iterator[Finding]:
    """Yield findings on statements about single labels; ``loaded`` holds data sets by name."""
    genbase_statements: tuple[tuple[str, Check], ...] = (
        ("every sample with P750 has P271", lambda data: _check_implies(data, "P750", "P271")),
        ("P750 is a minority label", lambda data: _check_is_rare(data, "P750")),
        ("P271 is a minority label", lambda data: _check_is_rare(data, "P271")),
        ("every sample with P154 has P271", lambda data: _check_implies(data, "P154", "P271")),
    )
    yeast_statements: tuple[tuple[str, Check], ...] = (
        ("Class9 always meets a majority label", lambda data: _check_implies(data, "Class9")),
        ("Class14 always meets a majority label", lambda data: _check_implies(data, "Class14")),
    )
    for name, statements in (("genbase", genbase_statements), ("yeast", yeast_statements)):
        for item, check in statements:
            yield _check_dataset("Labels", loaded[name], name=name, item=item, check=check)


def _about_remedial(outcomes: dict[str, dict[str, Outcome]], notes: list[str]) -> Iterator[Finding]:
    """Yield findings on statements about the effect of REMEDIAL on all data sets.

    ``outcomes`` are those of `_check_remedial` by name of the data set; ``notes`` name substitute
    data sets.
    """
    names = [name for name in published.characteristics() if name in outcomes]
    absent = [name for name in published.characteristics() if name not in outcomes]
    if absent:
        notes = [f"without {', '.join(absent)}", *notes]
    statements = (
        ("there are fewer labelsets", "fewer_labelsets"),
        ("SCUMBLE is lower", "lower_scumble"),
        ("SCUMBLELbl is lower, on average over labels", "lower_by_label_on_average"),
        ("SCUMBLELbl is lower or equal for every label", "lower_by_label"),
        ("the number of instances grows", "grows"),
        ("cardinality and density decrease", "lower_cardinality"),
        ("label counts and MeanIR do not change", "same_counts"),
        ("samples above the mean hold minority and majority labels", "two_sided"),
        ("SCUMBLELbl is lower for majority labels", "majority_lower"),
    )
    for item, key in statements:
        of_datasets = {name: outcomes[name][key] for name in names}
        yield _summarize_datasets(item, of_datasets, note="; ".join(notes))


def _about_passes(loaded: dict[str, MultilabelDataset | None]) -> Iterator[Finding]:
    """Yield the finding on SCUMBLE of emotions after one and two passes of REMEDIAL."""

    def check_passes(data: MultilabelDataset) -> Outcome:
        """Check whether each of two passes lowers SCUMBLE."""
        resampled = [REMEDIAL(passes=passes).resample(data) for passes in (1, 2)]
        values = [characterize(version.Y).scumble for version in (data, *resampled)]
        evidence = ", ".join(f"{value:.4f}" for value in values)
        return Outcome(values[0] > values[1] > values[2], evidence)

    yield _check_dataset(
        "REMEDIAL",
        loaded["emotions"],
        name="emotions",
        item="SCUMBLE falls with every pass of REMEDIAL",
        check=check_passes,
    )


def _check_remedial(data: MultilabelDataset) -> dict[str, Outcome]:
    """Return the outcomes of all statements about REMEDIAL for a data set, by a short name."""

    def check_falls(before: float, after: float, number_format: str = ".3f") -> Outcome:
        """Check whether a value is lower after REMEDIAL than before."""
        return Outcome(after < before, f"{before:{number_format}} -> {after:{number_format}}")

    resampled = REMEDIAL().resample(data)
    before = characterize(data.Y)
    after = characterize(resampled.Y)
    label_scores = scumble_by_label(data.Y)
    label_scores_after = scumble_by_label(resampled.Y)
    n_rising = int(np.sum(label_scores_after > label_scores + SCORE_TOLERANCE))
    is_rare = is_minority(data.Y)
    is_split = before.scumble_by_instance > before.scumble + SCORE_TOLERANCE
    n_split = int(is_split.sum())
    has_rare_and_frequent = (data.Y @ is_rare > 0) & (data.Y @ ~is_rare > 0)
    n_two_sided = int((is_split & has_rare_and_frequent).sum())
    rare_mean = float(np.nanmean(label_scores[is_rare]))
    frequent_mean = float(np.nanmean(label_scores[~is_rare]))
    cardinality = check_falls(before.cardinality, after.cardinality)
    has_same_counts = bool((before.labels["count"] == after.labels["count"]).all())
    has_same_mean_ir = abs(before.mean_ir - after.mean_ir) < 1e-9 * before.mean_ir
    return {
        "fewer_labelsets": check_falls(before.n_labelsets, after.n_labelsets, "d"),
        "lower_scumble": check_falls(before.scumble, after.scumble),
        "lower_by_label_on_average": check_falls(
            float(np.nanmean(label_scores)), float(np.nanmean(label_scores_after))
        ),
        "lower_by_label": Outcome(n_rising == 0, f"{n_rising} of {len(is_rare)} labels rise"),
        "grows": Outcome(
            after.n_instances > before.n_instances, f"{before.n_instances} -> {after.n_instances}"
        ),
        "lower_cardinality": Outcome(
            cardinality.holds and after.density < before.density, cardinality.evidence
        ),
        "same_counts": Outcome(has_same_counts and has_same_mean_ir, "equal"),
        "two_sided": Outcome(n_two_sided == n_split, f"{n_two_sided} of {n_split}"),
        "majority_lower": Outcome(
            frequent_mean < rare_mean, f"{rare_mean:.3f} against {frequent_mean:.3f}"
        ),
    }


def _check_implies(data: MultilabelDataset, label: str, other: str | None = None) -> Outcome:
    """Check whether all rows with ``label`` also have the label ``other``.

    If ``other`` is None, check whether they all have a majority label.
    """
    if other is None:
        has_other = data.Y @ ~is_minority(data.Y) > 0
    else:
        has_other = _label_column(data, other)
    has_both = has_other[_label_column(data, label)]
    return Outcome(bool(has_both.all()), f"{int(has_both.sum())} of {len(has_both)}")


def _check_is_rare(data: MultilabelDataset, label: str) -> Outcome:
    """Check whether a label is a minority label: IRLbl > MeanIR."""
    summary = characterize(data.Y)
    ratio = float(summary.labels["irlbl"][_label_index(data, label)])
    return Outcome(ratio > summary.mean_ir, f"IRLbl {ratio:.1f}, MeanIR {summary.mean_ir:.1f}")


def _label_column(data: MultilabelDataset, label: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a boolean array: whether each row has a label, given by its name in the paper."""
    column = data.Y[:, [_label_index(data, label)]].toarray().ravel()
    return np.asarray(column, dtype=bool)


def _label_index(data: MultilabelDataset, label: str) -> int:
    """Return the index of a label, given by its name in the paper's figures."""
    return data.labels.index(GENBASE_LABEL_NAMES.get(label, label))


def _check_dataset(
    part: str, data: MultilabelDataset | None, *, name: str, item: str, check: Check
) -> Finding:
    """Return the finding on a statement about one data set, which is None if it is not here.

    ``part`` is the section of the finding, ``name`` the data set and ``item`` the statement.
    """
    title = f"{name}: {item}"
    if data is None:
        return _absent(part, title, printed="stated", note=f"{name} is not on this machine")
    outcome = check(data)
    return Finding(
        part=part,
        item=title,
        published="stated",
        scumble_value=outcome.evidence,
        verdict="holds" if outcome.holds else DOES_NOT_HOLD,
    )


def _summarize_datasets(item: str, outcomes: dict[str, Outcome], *, note: str) -> Finding:
    """Return the finding on a statement about several data sets.

    ``outcomes`` are those by name of the data set. Data sets for which the statement does not hold
    are named before ``note``.
    """
    if not outcomes:
        return _absent("REMEDIAL", item, printed="stated", note="no data set is on this machine")
    failing = [
        f"{name} {outcome.evidence}" for name, outcome in outcomes.items() if not outcome.holds
    ]
    n_holding = len(outcomes) - len(failing)
    share = f"{n_holding} of {len(outcomes)}"
    if not failing:
        verdict = "holds"
    elif n_holding:
        verdict = f"holds in {share}"
    else:
        verdict = DOES_NOT_HOLD
    return Finding(
        part="REMEDIAL",
        item=item,
        published="stated",
        scumble_value=share,
        verdict=verdict,
        note="; ".join(filter(None, (*failing, note))),
    )


def _absent(part: str, item: str, *, printed: str, note: str) -> Finding:
    """Return the finding on a statement that cannot be checked here; ``note`` is the reason."""
    return Finding(
        part=part,
        item=item,
        published=printed,
        scumble_value="-",
        verdict=NOT_COMPUTABLE,
        note=note,
    )


def _verdict(*, holds: bool, same_direction: bool) -> str:
    """Return the verdict "holds", "same direction" or "does not hold"."""
    if holds:
        return "holds"
    return "same direction" if same_direction else DOES_NOT_HOLD


# The version of MULAN that the printed numbers fit -------------------------------------------


def check_mulan_versions(means: FoldMeans) -> Iterator[Finding]:
    """Yield findings on the versions of MULAN that fit the printed numbers of Tables 5 to 9 best.

    There is one for each metric with several rules for undefined values, and one for each
    classifier with several variants. Displaced rows are corrected; substitute data sets are left
    out.
    """
    score_of_metric = resolve_metric_names(means, "fits")
    for metric, rules in UNDEFINED_VALUE_RULES.items():
        pairs = _corrected_pairs(None, metric)
        candidates = {rule: [(pair.method, rule) for pair in pairs] for rule in rules}
        item = f"{metric}: undefined values"
        yield _version_finding(
            item, find_matched_numbers(means, pairs, candidates), note=STRICT_NOTE
        )
    for classifier, variants in CLASSIFIER_VARIANTS.items():
        pairs = _corrected_pairs(classifier, *METRIC_NAMES)
        candidates = {
            variant: [(variant, score_of_metric[pair.measure]) for pair in pairs]
            for variant in (classifier, *variants)
        }
        matches = find_matched_numbers(means, pairs, candidates, only_differing=True)
        note = LOST_VOTES_NOTE if classifier == "CLR" else ""
        yield _version_finding(f"{classifier}, where versions differ", matches, note=note)


def find_matched_numbers(
    means: FoldMeans,
    pairs: Sequence[BeforeAfterPair],
    candidates: Candidates,
    *,
    only_differing: bool = False,
) -> dict[str, list[bool]]:
    """Return for each candidate a list: whether it reproduces each printed number.

    A number is reproduced if our mean is near it, see `is_near`. The lists have an item for both
    numbers of each pair, unless the candidates have no common folds; with ``only_differing``,
    numbers for which all candidates have equal values are left out as well.
    """
    matches: dict[str, list[bool]] = {name: [] for name in candidates}
    for index, pair in enumerate(pairs):
        for resampler, printed in (("none", pair.before), ("REMEDIAL", pair.after)):
            values_by_fold = {}
            for name, classifiers_and_scores in candidates.items():
                classifier, score = classifiers_and_scores[index]
                values_by_fold[name] = means.values_by_fold(
                    pair.dataset, resampler, classifier, score
                )
            # All candidates are compared on the same folds: other folds give other values, which
            # would look like another version.
            shared_folds = set.intersection(*map(set, values_by_fold.values()))
            if not shared_folds:
                continue
            values = {
                name: [by_fold[fold] for fold in shared_folds]
                for name, by_fold in values_by_fold.items()
            }
            are_equal = len(set(map(tuple, values.values()))) == 1
            if only_differing and are_equal:
                continue
            for name, fold_values in values.items():
                error = verdicts.standard_error(fold_values)
                matches[name].append(is_near(printed, fmean(fold_values), error, pair.decimals))
    return matches


def _corrected_pairs(classifier: str | None, *metrics: str) -> list[BeforeAfterPair]:
    """Return the pairs of Tables 5 to 9 for some metrics, with displaced rows corrected.

    They are those of one classifier, or of all if it is None, without substitute data sets.
    """
    pairs = result_pairs(classifier, *metrics)
    return [
        restore_displaced_value(pair) for pair in pairs if pair.dataset not in sources.SUBSTITUTES
    ]


def _version_finding(item: str, matches: Mapping[str, Sequence[bool]], *, note: str) -> Finding:
    """Return the finding that names the versions that fit best.

    ``matches`` holds for each version whether it reproduces each printed number. The version that
    reproduces most is named, and those that are not significantly worse.
    """
    best = max(matches.values(), key=sum)
    if not best:
        return _absent("Versions", item, printed="-", note=NOT_RUN)
    fitting = [
        name for name, is_match in matches.items() if win_tie_loss(is_match, best).p_value >= ALPHA
    ]
    return Finding(
        part="Versions",
        item=item,
        published=f"{len(best)} numbers",
        scumble_value=", ".join(f"{name} {sum(is_match)}" for name, is_match in matches.items()),
        verdict=f"fits {' or '.join(fitting)}",
        note=note,
    )
