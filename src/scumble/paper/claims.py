"""Statements of the paper's text, checked on the data sets themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scumble._core.progress import track
from scumble.data import MultilabelDataset
from scumble.measures import characterize, is_minority, scumble_by_label
from scumble.paper import published, sources
from scumble.paper.findings import Finding
from scumble.paper.ledger import NOT_RUN
from scumble.paper.means import METRIC_NAMES, Means, best_policy, imbalance_means, result_means
from scumble.paper.published import Pair
from scumble.paper.versions import versions
from scumble.resample import REMEDIAL

ABSENT = "not computable here"
NO = "does not hold"
#: Rounding may lift a label's score that does not change by this much.
SLACK = 1e-12
#: The paper's figures shorten the names of genbase's labels.
FILE_NAMES = {"P154": "PDOC00154", "P271": "PDOC00271", "P750": "PDOC00750"}

#: Data sets of which single labels or several passes are discussed; others are let go at once.
LOOKED_INTO = ("genbase", "yeast", "emotions")

Check = Callable[[MultilabelDataset], tuple[bool, str]]


@dataclass
class Collection:
    """What is kept of the data sets while they pass by."""

    data: dict[str, MultilabelDataset | None]
    outcomes: dict[str, dict[str, tuple[bool, str]]]
    notes: list[str]


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
    means = Means(cells)
    every = [*published.characteristics(), "emotions"]
    wanted = every if datasets is None else list(datasets)
    found = Collection(dict.fromkeys(every), {}, [])
    with track("Checking data sets", len(wanted)) as advance:
        for name in wanted:
            data = sources.load(name)
            if data is not None:
                found.data[name] = data if name in LOOKED_INTO else None
                found.outcomes[name] = _outcome(data)
                if text := sources.substitution(name, data):
                    found.notes.append(f"{name} is {text}")
            advance(1)
    return [
        *_about_labels(found.data),
        *_about_remedial(found),
        *_about_passes(found.data),
        *_about_resampling(means),
        *_about_wins(means),
        *versions(means),
    ]


def _about_resampling(means: Means) -> Iterator[Finding]:
    """Average the relative changes of MeanIR and MaxIR over data sets and both resamplers."""
    high, low = published.PHASE_1[:3], published.PHASE_1[3:]
    wanted = (
        ("MeanIR falls by 6 % where SCUMBLE > 0.3", "mean_ir", high, -6),
        ("MaxIR grows by 6 % where SCUMBLE > 0.3", "max_ir", high, 6),
        ("MeanIR falls by 52 % where SCUMBLE < 0.11", "mean_ir", low, -52),
        ("MaxIR falls by 54 % where SCUMBLE < 0.11", "max_ir", low, -54),
    )
    for item, measure, names, percent in wanted:
        changes = []
        for pair in published.imbalance():
            if pair.measure == measure and pair.dataset in names:
                before, after = imbalance_means(means, pair)
                if before is not None and after is not None:
                    changes.append(100 * (after - before) / before)
        if len(changes) < 2 * len(names):
            yield Finding("Resampling", item, f"{percent:+d} %", "-", ABSENT, NOT_RUN)
            continue
        ours = float(np.mean(changes))
        same = (ours > 0) == (percent > 0)
        verdict = "holds" if abs(ours - percent) <= 5 else "same direction" if same else NO
        yield Finding("Resampling", item, f"{percent:+d} %", f"{ours:+.1f} %", verdict)


def _about_wins(means: Means) -> Iterator[Finding]:
    """Count improvements by REMEDIAL in our own results, and by MULAN's rules beside them."""
    wanted = (
        ("Precision is not improved", "9 of 64", None, ("Precision",), False),
        ("HOMER is improved, HL and Precision", "19 of 22", "HOMER", ("HL", "Precision"), True),
        ("HOMER is improved, MacroFM and RL", "5 of 22", "HOMER", ("MacroFM", "RL"), True),
    )
    rules = {metric: best_policy(means, metric) for metric in published.METRICS}
    for item, said, classifier, metrics, improved in wanted:
        chosen = [
            pair
            for pair in published.results()
            if classifier in (None, pair.method) and pair.measure in metrics
        ]
        counted, n_pairs = _count_wins(means, chosen, rules, improved)
        if not n_pairs:
            yield Finding("Counts", item, said, "-", ABSENT, NOT_RUN)
            continue
        share, claimed = counted / n_pairs, int(said.split()[0]) / int(said.split()[2])
        verdict = "holds" if abs(share - claimed) <= 0.1 else NO
        if verdict == NO and (share > 0.5) == (claimed > 0.5):
            verdict = "same direction"
        by_mulan, _ = _count_wins(means, chosen, METRIC_NAMES, improved)
        note = f"{by_mulan} by MULAN's rule for undefined values" if by_mulan != counted else ""
        yield Finding("Counts", item, said, f"{counted} of {n_pairs}", verdict, note)


def _count_wins(
    means: Means, pairs: Iterable[Pair], rules: Mapping[str, str], improved: bool
) -> tuple[int, int]:
    """Count the pairs that REMEDIAL improves (or does not), and those that were run."""
    ours = [
        replace(pair, before=before, after=after)
        for pair in pairs
        for before, after in [result_means(means, pair, rules[pair.measure])]
        if before is not None and after is not None
    ]
    return sum((pair.better == "after") == improved for pair in ours), len(ours)


def _about_labels(loaded: dict[str, MultilabelDataset | None]) -> Iterator[Finding]:
    wanted: tuple[tuple[str, str, Check], ...] = (
        ("genbase", "every sample with P750 has P271", lambda d: _always_with(d, "P750", "P271")),
        ("genbase", "P750 is a minority label", lambda d: _is_rare(d, "P750")),
        ("genbase", "P271 is a minority label", lambda d: _is_rare(d, "P271")),
        ("genbase", "every sample with P154 has P271", lambda d: _always_with(d, "P154", "P271")),
        ("yeast", "Class9 always meets a majority label", lambda d: _meets_majority(d, "Class9")),
        ("yeast", "Class14 always meets a majority label", lambda d: _meets_majority(d, "Class14")),
    )
    for name, item, check in wanted:
        yield _on_one("Labels", loaded[name], name, item, check)


def _about_remedial(collection: Collection) -> Iterator[Finding]:
    outcomes = collection.outcomes
    ours = {name: outcomes[name] for name in published.characteristics() if name in outcomes}
    absent = [name for name in published.characteristics() if name not in ours]
    without = [f"without {', '.join(absent)}"] if absent else []
    note = "; ".join([*without, *collection.notes])
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
        yield _on_many("REMEDIAL", item, found, note)


def _about_passes(loaded: dict[str, MultilabelDataset | None]) -> Iterator[Finding]:
    def falls(data: MultilabelDataset) -> tuple[bool, str]:
        after = [REMEDIAL(passes=passes).resample(data) for passes in (1, 2)]
        values = [characterize(each.Y).scumble for each in (data, *after)]
        return values[0] > values[1] > values[2], ", ".join(f"{value:.4f}" for value in values)

    item = "SCUMBLE falls with every pass of REMEDIAL"
    yield _on_one("REMEDIAL", loaded["emotions"], "emotions", item, falls)


def _outcome(data: MultilabelDataset) -> dict[str, tuple[bool, str]]:
    """Apply REMEDIAL once and compare."""
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
    return {
        "fewer_labelsets": (
            new.n_labelsets < old.n_labelsets,
            f"{old.n_labelsets} -> {new.n_labelsets}",
        ),
        "lower_scumble": (new.scumble < old.scumble, f"{old.scumble:.3f} -> {new.scumble:.3f}"),
        "lower_by_label_on_average": (
            averages[1] < averages[0],
            f"{averages[0]:.3f} -> {averages[1]:.3f}",
        ),
        "lower_by_label": (rising == 0, f"{rising} of {len(rare)} labels rise"),
        "grows": (new.n_instances > old.n_instances, f"{old.n_instances} -> {new.n_instances}"),
        "lower_cardinality": (
            new.cardinality < old.cardinality and new.density < old.density,
            f"{old.cardinality:.3f} -> {new.cardinality:.3f}",
        ),
        "same_counts": (
            bool((old.labels["count"] == new.labels["count"]).all())
            and abs(old.mean_ir - new.mean_ir) < 1e-9 * old.mean_ir,
            "equal",
        ),
        "two_sided": (mixed == int(treated.sum()), f"{mixed} of {int(treated.sum())}"),
        "majority_lower": (means[1] < means[0], f"{means[0]:.3f} against {means[1]:.3f}"),
    }


def _always_with(data: MultilabelDataset, label: str, other: str) -> tuple[bool, str]:
    has, partner = _column(data, label), _column(data, other)
    return bool((partner[has]).all()), f"{int(partner[has].sum())} of {int(has.sum())}"


def _meets_majority(data: MultilabelDataset, label: str) -> tuple[bool, str]:
    has = _column(data, label)
    meets = (data.Y @ ~is_minority(data.Y) > 0)[has]
    return bool(meets.all()), f"{int(meets.sum())} of {int(has.sum())}"


def _is_rare(data: MultilabelDataset, label: str) -> tuple[bool, str]:
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
    return Finding(part, title, "stated", ours, "holds" if holds else "does not hold")


def _on_many(part: str, item: str, outcomes: dict[str, tuple[bool, str]], note: str) -> Finding:
    """Sum up a statement over data sets; those where it fails are named."""
    if not outcomes:
        return Finding(part, item, "stated", "-", ABSENT, "no data set is on this machine")
    failing = {name: ours for name, (holds, ours) in outcomes.items() if not holds}
    n_holding = len(outcomes) - len(failing)
    verdict = f"holds in {n_holding} of {len(outcomes)}" if n_holding else "does not hold"
    exceptions = "; ".join(f"{name} {text}" for name, text in failing.items())
    return Finding(
        part,
        item,
        "stated",
        f"{n_holding} of {len(outcomes)}",
        verdict if failing else "holds",
        "; ".join(filter(None, (exceptions, note))),
    )
