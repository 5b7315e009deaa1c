"""Statements of the paper's text, checked on the data sets; what its numbers tell of MULAN."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from statistics import fmean
from typing import Any

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
    UNDEFINED_VALUE_RULES,
    Finding,
    FoldMeans,
    is_near,
    replace_with_our_values,
)
from scumble.resample import REMEDIAL

ABSENT = "not computable here"
NO = "does not hold"
#: Rounding may lift a label's score that does not change by this much.
SLACK = 1e-12
#: The paper's figures shorten the names of genbase's labels.
FILE_NAMES = {"P154": "PDOC00154", "P271": "PDOC00271", "P750": "PDOC00750"}

#: Data sets of which single labels or several passes are discussed; others are let go at once.
LOOKED_INTO = ("genbase", "yeast", "emotions")

#: What is known of the behaviour of MULAN over the years.
STRICT = (
    "from 31 December 2010 to 17 July 2012 MULAN, asked not to be strict, left out labels and rows "
    "without a hit and rows without a prediction; since then they count as 0"
)
LOST_VOTES = "MULAN loses votes since 10 July 2013 (1.5.0)"

#: Whether a statement holds, and what decides.
Outcome = tuple[bool, str]
#: Classifier and score of every pair, by the name of a version.
Candidates = Mapping[str, Sequence[tuple[str, str]]]
Check = Callable[[MultilabelDataset], Outcome]


def claims(
    datasets: Iterable[str] | None = None, cells: Iterable[dict[str, Any]] = ()
) -> list[Finding]:
    """Check what the paper says about data sets and about REMEDIAL.

    Data sets come from ``SCUMBLE_DATA`` or the cache; nothing is downloaded.

    Parameters
    ----------
    datasets : iterable of str, optional
        Names of the data sets to look at; by default the paper's eleven and emotions.
    cells : iterable of dict
        Results of the paper's experiments, from `Store.cells`, for what is said about them.

    Returns
    -------
    list of Finding
        Verdicts ``"holds"``, ``"holds in k of n"``, ``"same direction"``, ``"does not hold"`` and
        ``"not computable here"``; of versions of MULAN, which one fits.

    Examples
    --------
    Without data sets and results nothing can be said:

    >>> from scumble.paper import claims
    >>> {finding.verdict for finding in claims(datasets=[])}
    {'not computable here'}
    """
    means = FoldMeans(cells)
    every = [*published.characteristics(), "emotions"]
    wanted = every if datasets is None else list(datasets)
    kept: dict[str, MultilabelDataset | None] = dict.fromkeys(every)
    outcomes: dict[str, dict[str, Outcome]] = {}
    notes = []
    with progress_bar("Checking data sets", len(wanted)) as advance:
        for name in wanted:
            data = sources.load(name)
            if data is not None:
                kept[name] = data if name in LOOKED_INTO else None
                outcomes[name] = _outcome(data)
                if text := sources.substitute_note(name, data):
                    notes.append(f"{name} is {text}")
            advance(1)
    of_data = (_about_labels(kept), _about_remedial(outcomes, notes), _about_passes(kept))
    return [
        *chain(*of_data, _about_resampling(means), _about_wins(means), check_mulan_versions(means))
    ]


def _about_resampling(means: FoldMeans) -> Iterator[Finding]:
    """Average the relative changes of MeanIR and MaxIR over data sets and both resamplers."""
    for what, where, measure, names, percent in published.CLAIMED_CHANGES:
        item = f"{what} {abs(percent)} % where {where}"
        pairs = [p for p in published.imbalance() if p.measure == measure and p.dataset in names]
        found = replace_with_our_values(pairs, means.imbalance_means)
        if len(found) < len(pairs):
            yield Finding("Resampling", item, f"{percent:+d} %", "-", ABSENT, NOT_RUN)
            continue
        ours = mean_change(found, names)
        same = (ours > 0) == (percent > 0)
        verdict = "holds" if abs(ours - percent) <= 5 else "same direction" if same else NO
        yield Finding("Resampling", item, f"{percent:+d} %", f"{ours:+.1f} %", verdict)


def _about_wins(means: FoldMeans) -> Iterator[Finding]:
    """Count improvements by REMEDIAL in our own results, and by MULAN's rules beside them."""

    def measure(
        pairs: Iterable[BeforeAfterPair], rules: Mapping[str, str]
    ) -> list[BeforeAfterPair]:
        return replace_with_our_values(
            pairs, lambda pair: means.result_means(pair, rules[pair.measure])
        )

    rules = resolve_metric_names(means, "fits")
    for who, what, said, classifier, metrics, improved in published.CLAIMED_COUNTS:
        item, pairs = f"{who} is {what}", result_pairs(classifier, *metrics)
        ours = measure(pairs, rules)
        if not ours:
            yield Finding("Counts", item, said, "-", ABSENT, NOT_RUN)
            continue
        counted, (n_said, _, of) = count_improved(ours, improved), said.split()
        share, claimed = counted / len(ours), int(n_said) / int(of)
        same = (share > 0.5) == (claimed > 0.5)
        verdict = "holds" if abs(share - claimed) <= 0.1 else "same direction" if same else NO
        by_mulan = count_improved(measure(pairs, METRIC_NAMES), improved)
        note = f"{by_mulan} by MULAN's rule for undefined values" if by_mulan != counted else ""
        yield Finding("Counts", item, said, f"{counted} of {len(ours)}", verdict, note)


def _about_labels(loaded: dict[str, MultilabelDataset | None]) -> Iterator[Finding]:
    wanted: tuple[tuple[str, str, Check], ...] = (
        ("genbase", "every sample with P750 has P271", lambda d: _always(d, "P750", "P271")),
        ("genbase", "P750 is a minority label", lambda d: _is_rare(d, "P750")),
        ("genbase", "P271 is a minority label", lambda d: _is_rare(d, "P271")),
        ("genbase", "every sample with P154 has P271", lambda d: _always(d, "P154", "P271")),
        ("yeast", "Class9 always meets a majority label", lambda d: _always(d, "Class9")),
        ("yeast", "Class14 always meets a majority label", lambda d: _always(d, "Class14")),
    )
    for name, item, check in wanted:
        yield _on_one("Labels", loaded[name], name, item, check)


def _about_remedial(outcomes: dict[str, dict[str, Outcome]], notes: list[str]) -> Iterator[Finding]:
    ours = {name: outcomes[name] for name in published.characteristics() if name in outcomes}
    absent = [name for name in published.characteristics() if name not in ours]
    without = [f"without {', '.join(absent)}"] if absent else []
    note = "; ".join([*without, *notes])
    wanted = (
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
    for item, key in wanted:
        found = {name: checked[key] for name, checked in ours.items()}
        yield _on_many(item, found, note)


def _about_passes(loaded: dict[str, MultilabelDataset | None]) -> Iterator[Finding]:
    def falls(data: MultilabelDataset) -> Outcome:
        after = [REMEDIAL(passes=passes).resample(data) for passes in (1, 2)]
        values = [characterize(each.Y).scumble for each in (data, *after)]
        return values[0] > values[1] > values[2], ", ".join(f"{value:.4f}" for value in values)

    item = "SCUMBLE falls with every pass of REMEDIAL"
    yield _on_one("REMEDIAL", loaded["emotions"], "emotions", item, falls)


def _outcome(data: MultilabelDataset) -> dict[str, Outcome]:
    """Apply REMEDIAL once and compare."""

    def falls(before: float, after: float, form: str = ".3f") -> Outcome:
        return after < before, f"{before:{form}} -> {after:{form}}"

    after = REMEDIAL().resample(data)
    old, new = characterize(data.Y), characterize(after.Y)
    before_labels, after_labels = scumble_by_label(data.Y), scumble_by_label(after.Y)
    rising = int(np.sum(after_labels > before_labels + SLACK))
    rare = is_minority(data.Y)
    treated = old.scumble_by_instance > old.scumble + SLACK
    both = (data.Y @ rare > 0) & (data.Y @ ~rare > 0)
    mixed = int((treated & both).sum())
    means = [float(np.nanmean(before_labels[side])) for side in (rare, ~rare)]
    averages = [float(np.nanmean(values)) for values in (before_labels, after_labels)]
    lower, cardinality = falls(old.cardinality, new.cardinality)
    same_counts = bool((old.labels["count"] == new.labels["count"]).all())
    same_mean = abs(old.mean_ir - new.mean_ir) < 1e-9 * old.mean_ir
    return {
        "fewer_labelsets": falls(old.n_labelsets, new.n_labelsets, "d"),
        "lower_scumble": falls(old.scumble, new.scumble),
        "lower_by_label_on_average": falls(averages[0], averages[1]),
        "lower_by_label": (rising == 0, f"{rising} of {len(rare)} labels rise"),
        "grows": (new.n_instances > old.n_instances, f"{old.n_instances} -> {new.n_instances}"),
        "lower_cardinality": (lower and new.density < old.density, cardinality),
        "same_counts": (same_counts and same_mean, "equal"),
        "two_sided": (mixed == int(treated.sum()), f"{mixed} of {int(treated.sum())}"),
        "majority_lower": (means[1] < means[0], f"{means[0]:.3f} against {means[1]:.3f}"),
    }


def _always(data: MultilabelDataset, label: str, other: str | None = None) -> Outcome:
    """Tell whether all rows with a label have another one, or one of the majority labels."""
    partner = data.Y @ ~is_minority(data.Y) > 0 if other is None else _column(data, other)
    meets = partner[_column(data, label)]
    return bool(meets.all()), f"{int(meets.sum())} of {len(meets)}"


def _is_rare(data: MultilabelDataset, label: str) -> Outcome:
    at = _index(data, label)
    summary = characterize(data.Y)
    ratio = float(summary.labels["irlbl"][at])
    return ratio > summary.mean_ir, f"IRLbl {ratio:.1f}, MeanIR {summary.mean_ir:.1f}"


def _column(data: MultilabelDataset, label: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    column = data.Y[:, [_index(data, label)]].toarray().ravel()
    return np.asarray(column, dtype=bool)


def _index(data: MultilabelDataset, label: str) -> int:
    return data.labels.index(FILE_NAMES.get(label, label))


def _on_one(
    part: str, data: MultilabelDataset | None, name: str, item: str, check: Check
) -> Finding:
    title = f"{name}: {item}"
    if data is None:
        return Finding(part, title, "stated", "-", ABSENT, f"{name} is not on this machine")
    holds, ours = check(data)
    return Finding(part, title, "stated", ours, "holds" if holds else NO)


def _on_many(item: str, outcomes: dict[str, Outcome], note: str) -> Finding:
    """Sum up a statement over data sets; those where it fails are named."""
    if not outcomes:
        return Finding("REMEDIAL", item, "stated", "-", ABSENT, "no data set is on this machine")
    failing = [f"{name} {ours}" for name, (holds, ours) in outcomes.items() if not holds]
    n_holding = len(outcomes) - len(failing)
    held = f"{n_holding} of {len(outcomes)}"
    verdict = "holds" if not failing else f"holds in {held}" if n_holding else NO
    told = "; ".join(filter(None, (*failing, note)))
    return Finding("REMEDIAL", item, "stated", held, verdict, told)


# Which behaviour of MULAN, whose classifiers the paper runs, its printed numbers fit --------------


def check_mulan_versions(means: FoldMeans) -> Iterator[Finding]:
    """Say which version of a rule or a classifier reproduces most of the printed numbers."""
    # A number is reached within two standard errors. Values of displaced rows are put back; data
    # sets for which others stand in are left out.
    rules = resolve_metric_names(means, "fits")
    for metric, names in UNDEFINED_VALUE_RULES.items():
        pairs = _pairs(None, metric)
        candidates = {name: [(pair.method, name) for pair in pairs] for name in names}
        yield _finding(f"{metric}: undefined values", fit(means, pairs, candidates), STRICT)
    for classifier, others in CLASSIFIER_VARIANTS.items():
        pairs = _pairs(classifier, *METRIC_NAMES)
        candidates = {
            name: [(name, rules[pair.measure]) for pair in pairs] for name in (classifier, *others)
        }
        note = LOST_VOTES if classifier == "CLR" else ""
        found = fit(means, pairs, candidates, differing=True)
        yield _finding(f"{classifier}, where versions differ", found, note)


def fit(
    means: FoldMeans,
    pairs: Sequence[BeforeAfterPair],
    candidates: Candidates,
    *,
    differing: bool = False,
) -> dict[str, list[bool]]:
    """Find the printed numbers that each candidate reaches; of all, or where candidates differ."""
    reached: dict[str, list[bool]] = {name: [] for name in candidates}
    for at, pair in enumerate(pairs):
        for arm, printed in (("none", pair.before), ("REMEDIAL", pair.after)):
            place = (pair.dataset, arm)
            folds = {name: means.folds(*place, *scores[at]) for name, scores in candidates.items()}
            # On the same folds, or other folds would pass for another version.
            shared = set.intersection(*map(set, folds.values()))
            values = {name: [found[fold] for fold in shared] for name, found in folds.items()}
            if not shared or (differing and len(set(map(tuple, values.values()))) == 1):
                continue
            for name, some in values.items():
                near = is_near(printed, fmean(some), verdicts.standard_error(some), pair.decimals)
                reached[name].append(near)
    return reached


def _pairs(classifier: str | None, *metrics: str) -> list[BeforeAfterPair]:
    """Select results, displaced rows put back, of data sets that are the paper's own."""
    chosen = result_pairs(classifier, *metrics)
    return [
        restore_displaced_value(pair) for pair in chosen if pair.dataset not in sources.SUBSTITUTES
    ]


def _finding(item: str, reached: Mapping[str, Sequence[bool]], note: str) -> Finding:
    """Name the candidates that reach most numbers, and those that cannot be told from them."""
    most = max(reached.values(), key=sum)
    if not most:
        return Finding("Versions", item, "-", "-", ABSENT, NOT_RUN)
    fitting = [name for name, near in reached.items() if win_tie_loss(near, most).p_value >= ALPHA]
    told = ", ".join(f"{name} {sum(near)}" for name, near in reached.items())
    verdict = f"fits {' or '.join(fitting)}"
    return Finding("Versions", item, f"{len(most)} numbers", told, verdict, note)
