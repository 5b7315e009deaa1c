"""The advice in plain sentences."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble.advise.estimates import METRICS, Estimate

if TYPE_CHECKING:
    from scumble.advise.advice import Advice, Judged

#: Labels, columns and pairs that are named at the most.
N_NAMED = 8
#: With fewer rows of rare labels than these, numbers about them are mostly chance.
FEW_ROWS = 100
#: A change of macro F1 that is worth a word.
NOTABLE = 0.005


#: Where the names come from that suggested lines use.
HOMES = {
    "scumble.learn": {
        "BinaryRelevance",
        "RareLabelClassifier",
        "ThresholdedClassifier",
        "fit_dataset",
    },
    "scumble.resample": {"make_chain", "run_chain"},
    "sklearn.linear_model": {"LogisticRegression"},
    "sklearn.pipeline": {"make_pipeline"},
    "sklearn.preprocessing": {"MaxAbsScaler"},
}


def sentences(advice: Advice) -> dict[str, list[str]]:
    """Return the parts of the advice: heading -> sentences."""
    return {
        "What is wrong": _wrong(advice),
        "What helps here": _helps(advice),
        "What does not": _does_not(advice),
        "How sure this is": _sure(advice),
        "What to do": _do(advice),
    }


def spoken(advice: Advice) -> str:
    """Return all sentences under their headings."""
    parts = [[heading, *told, ""] for heading, told in sentences(advice).items() if told]
    return "\n".join(line for part in parts for line in part).rstrip()


def plain_advice(advice: Advice) -> dict[str, Any]:
    """Return the whole advice as plain values."""
    chosen, untreated = advice[advice.chosen], _untreated(advice)
    found = advice.diagnosis
    names = advice.data.labels
    not_yet = advice.not_learnable_yet
    labels = [
        {
            "name": names[at],
            "rows": int(found.counts[at]),
            "irlbl": _plain(found.irlbl[at]),
            "scumble": _plain(found.scumble[at]),
            "is_rare": bool(found.is_rare[at]),
            "company": None if (met := found.company[at]) is None else names[met[0]],
            "company_share": None if met is None else met[1],
            "f1": float(chosen.label_f1[at]),
            "f1_untreated": None if untreated is None else float(untreated.label_f1[at]),
            "learnable": bool(not not_yet[at] and found.counts[at] > 0),
        }
        for at in range(len(names))
    ]
    features = advice.data.feature_names
    return {
        "data": advice.data.name,
        "n_instances": len(advice.data),
        "n_labels": len(names),
        "random_state": advice.random_state,
        "chosen": advice.chosen,
        "nothing_to_learn": advice.nothing_to_learn,
        "interrupted": advice.interrupted,
        "rows_needed": advice.rows_needed,
        "methods": [_plain_method(one, one is chosen) for one in advice.judged],
        "left_out": [{"name": name, "why": why} for name, why in advice.left_out],
        "labels": labels,
        "same_labels": [[names[a], names[b], share] for a, b, share in found.same],
        "identifiers": [features[at] for at in found.identifiers],
        "leaks": [[features[column], names[label], r] for column, label, r in found.leaks],
        "sentences": sentences(advice),
        "python": python_lines(advice),
        "shell": chosen.candidate.shell,
    }


def python_lines(advice: Advice) -> list[str]:
    """Return the lines that train what is advised."""
    text = advice[advice.chosen].candidate.python
    words = set(re.findall(r"\w+", text))
    lines = ["import scumble"]
    for room, known in HOMES.items():
        used = sorted(words & known)
        if used:
            lines.append(f"from {room} import {', '.join(used)}")
    return [*lines, 'data = scumble.read("DATA")', f"model = {text}"]


def _wrong(advice: Advice) -> list[str]:
    found, names = advice.diagnosis, advice.data.labels
    rare = np.flatnonzero(found.is_rare)
    lines = [
        f"{len(advice.data):,} rows, {len(names):,} labels; {_count(rare.size, 'label')} "
        f"{'is' if rare.size == 1 else 'are'} rarer than the average."
    ]
    untreated = _untreated(advice)
    if untreated is not None and rare.size:
        never = int((untreated.label_f1[rare] == 0).sum())
        told = f"{never} of these {rare.size} {'is' if never == 1 else 'are'} never found"
        if rare.size == 1 or not never:
            them = "it is" if rare.size == 1 else "all of these are"
            told = f"{them} {'never found' if never else 'found at least once'}"
        lines.append(f"Untreated (binary relevance with trees), {told}.")
    worst = sorted(rare, key=lambda at: (-np.nan_to_num(found.scumble[at]), found.counts[at]))
    if worst:
        named = "; ".join(_at_risk(advice, int(at)) for at in worst[:N_NAMED])
        lines.append(f"At risk, most unequal company first: {named}.")
    lines += _not_yet(advice)
    for a, b, share in found.same[:N_NAMED]:
        lines.append(
            f"{names[a]} and {names[b]} are nearly the same label ({share:.0%} of their rows)."
        )
    features = advice.data.feature_names
    if found.identifiers:
        listed = ", ".join(features[at] for at in found.identifiers[:N_NAMED])
        lines.append(f"Columns that name rows and should be left out: {listed}.")
    for column, label, strength in found.leaks[:N_NAMED]:
        lines.append(
            f"The column {features[column]} tells the label {names[label]} almost by itself "
            f"(correlation {strength:.2f}): is it known before the label is?"
        )
    return lines


def _at_risk(advice: Advice, label: int) -> str:
    found, names = advice.diagnosis, advice.data.labels
    text = f"{names[label]} ({found.counts[label]:,} rows, SCUMBLE {found.scumble[label]:.2f}"
    company = found.company[label]
    if company is not None:
        text += f", {company[1]:.0%} of them with {names[company[0]]}"
    return text + ")"


def _not_yet(advice: Advice) -> list[str]:
    found, names = advice.diagnosis, advice.data.labels
    absent = np.flatnonzero(found.counts == 0)
    lines = []
    if absent.size:
        lines.append(
            f"{_count(absent.size, 'label')} never occur{'s' if absent.size == 1 else ''}."
        )
    waiting = np.flatnonzero(advice.not_learnable_yet)
    if not waiting.size or advice.nothing_to_learn:
        return lines
    order = waiting[np.argsort(-found.counts[waiting], kind="stable")]
    listed = ", ".join(
        f"{names[at]} ({_count(int(found.counts[at]), 'row')})" for at in order[:N_NAMED]
    )
    more = f" and {waiting.size - N_NAMED} more" if waiting.size > N_NAMED else ""
    lines.append(f"Cannot be learnt yet: {listed}{more}.")
    if advice.rows_needed is not None:
        short = order[found.counts[order] < advice.rows_needed]
        if short.size:
            lines.append(
                f"Of the labels of this data, most are learnt from about {advice.rows_needed:,} "
                f"rows on: {short.size} of these {'has' if short.size == 1 else 'have'} fewer."
            )
    return lines


def _helps(advice: Advice) -> list[str]:
    if advice.nothing_to_learn:
        return [
            "Nothing here can be learnt: no label's rows are told from others better than by "
            "chance. Look at the features, and at whether rows and labels belong together."
        ]
    chosen, untreated = advice[advice.chosen], _untreated(advice)
    lines = [
        f"{chosen.candidate.name}: on new rows expect macro F1 {_told(chosen, 'macro_f1')}, "
        f"that of rare labels {_told(chosen, 'minority_f1')}, micro F1 {_told(chosen, 'micro_f1')}."
    ]
    if untreated is not None and untreated is not chosen:
        before = untreated.expected
        lines.append(
            f"Untreated: {before['macro_f1'].value:.3f}, {before['minority_f1'].value:.3f} and "
            f"{before['micro_f1'].value:.3f}; the change of macro F1 is {_change(chosen.gain)}."
        )
        up = int((chosen.label_f1 > untreated.label_f1 + NOTABLE).sum())
        down = int((chosen.label_f1 < untreated.label_f1 - NOTABLE).sum())
        lines.append(f"{_count(up, 'label')} {'gains' if up == 1 else 'gain'}, {down} lose.")
    others = [one for one in advice.judged if one not in (chosen, untreated)]
    good = [one for one in others if one.gain.value > NOTABLE]
    if good:
        listed = ", ".join(f"{one.candidate.name} {one.gain.value:+.3f}" for one in good)
        lines.append(f"Other methods that help, less or not clearly more: {listed}.")
    return lines


def _does_not(advice: Advice) -> list[str]:
    if advice.nothing_to_learn:
        return []
    others = [one for one in advice.judged if one.candidate.family != "untreated"]
    bad = [one for one in others if one.gain.value <= NOTABLE]
    lines = [
        f"{one.candidate.name}: macro F1 {one.expected['macro_f1'].value:.3f}, a change of "
        f"{_change(one.gain)}."
        for one in bad
    ]
    if any(one.candidate.resampler == "remedial" and one.gain.value < 0 for one in bad):
        lines.append(
            "The paper advises REMEDIAL where rare and frequent labels meet; for classifiers that "
            "learn each label by itself it gives every split row a twin without the label, and "
            "measured here it harms."
        )
    return lines


def _sure(advice: Advice) -> list[str]:
    chosen = advice[advice.chosen]
    n_rows = int(advice.diagnosis.counts[advice.diagnosis.is_rare].sum())
    lines = [
        "Every number was measured on rows the models had not seen; in about nine of ten cases "
        f"new rows, a quarter as many as these ({max(1, len(advice.data) // 4):,}), give values "
        "within the brackets."
    ]
    if 0 < n_rows < FEW_ROWS:
        lines.append(f"What is said of rare labels hangs on {_count(n_rows, 'row')} that have one.")
    rivals = [
        one
        for one in advice.judged
        if one is not chosen
        and one.expected["macro_f1"].value > chosen.expected["macro_f1"].value + NOTABLE
    ]
    lines += [
        f"{one.candidate.name} measured "
        f"{one.expected['macro_f1'].value - chosen.expected['macro_f1'].value:+.3f} macro F1, "
        "too little to leave the default, which proved itself on many data sets."
        for one in rivals
    ]
    lines += [f"Not judged: {name} ({why.rstrip('.')})." for name, why in advice.left_out]
    if advice.interrupted:
        lines.append("It was stopped before all methods were judged.")
    lines.append("More rows of the rare labels, or other features, would change this most.")
    return lines


def _do(advice: Advice) -> list[str]:
    if advice.nothing_to_learn:
        return []
    chosen = advice[advice.chosen].candidate
    lines = [] if chosen.shell is None else [chosen.shell]
    return lines + python_lines(advice)


def _untreated(advice: Advice) -> Judged | None:
    found = [one for one in advice.judged if one.candidate.family == "untreated"]
    return found[0] if found else None


def _told(one: Judged, metric: str) -> str:
    value, low, high = one.expected[metric]
    if math.isnan(value):
        return "unknown"
    return f"{value:.3f} ({max(low, 0):.3f} to {min(high, 1):.3f})"


def _change(gain: Estimate) -> str:
    if math.isnan(gain.value):
        return "unknown"
    return f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _plain(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def _plain_method(one: Judged, chosen: bool) -> dict[str, Any]:
    def plain(found: Estimate) -> dict[str, float | None]:
        return {name: _plain(value) for name, value in found._asdict().items()}

    return {
        "name": one.candidate.name,
        "family": one.candidate.family,
        "chosen": chosen,
        "expected": {metric: plain(one.expected[metric]) for metric in METRICS},
        "gain": plain(one.gain),
        "seconds": one.seconds,
        "shell": one.candidate.shell,
        "python": one.candidate.python,
    }
