"""Statements of the paper's text, checked on the data sets themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from scumble._core.progress import track
from scumble.data import MultilabelDataset
from scumble.measures import characterize, is_minority, scumble_by_label
from scumble.paper import published, sources
from scumble.paper.audit import count_improved, result_pairs
from scumble.paper.ledger import NOT_RUN, rules_for
from scumble.paper.means import METRIC_NAMES, Means, imbalance_means, measured, result_means
from scumble.paper.published import Pair
from scumble.paper.verdicts import Finding
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
    for what, where, measure, names, percent in published.PERCENTAGES:
        item = f"{what} {abs(percent)} % where {where}"
        pairs = [p for p in published.imbalance() if p.measure == measure and p.dataset in names]
        found = measured(pairs, partial(imbalance_means, means))
        if len(found) < len(pairs):
            yield Finding("Resampling", item, f"{percent:+d} %", "-", ABSENT, NOT_RUN)
            continue
        ours = float(np.mean([100 * (pair.after - pair.before) / pair.before for pair in found]))
        same = (ours > 0) == (percent > 0)
        verdict = "holds" if abs(ours - percent) <= 5 else "same direction" if same else NO
        yield Finding("Resampling", item, f"{percent:+d} %", f"{ours:+.1f} %", verdict)


def _about_wins(means: Means) -> Iterator[Finding]:
    """Count improvements by REMEDIAL in our own results, and by MULAN's rules beside them."""

    def measure(pairs: Iterable[Pair], rules: Mapping[str, str]) -> list[Pair]:
        return measured(pairs, lambda pair: result_means(means, pair, rules[pair.measure]))

    rules = rules_for(means, "fits")
    for who, what, said, classifier, metrics, improved in published.CASES:
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
    return Finding(part, title, "stated", ours, "holds" if holds else NO)


def _on_many(part: str, item: str, outcomes: dict[str, tuple[bool, str]], note: str) -> Finding:
    """Sum up a statement over data sets; those where it fails are named."""
    if not outcomes:
        return Finding(part, item, "stated", "-", ABSENT, "no data set is on this machine")
    failing = [f"{name} {ours}" for name, (holds, ours) in outcomes.items() if not holds]
    n_holding = len(outcomes) - len(failing)
    held = f"{n_holding} of {len(outcomes)}"
    verdict = "holds" if not failing else f"holds in {held}" if n_holding else NO
    return Finding(part, item, "stated", held, verdict, "; ".join(filter(None, (*failing, note))))
