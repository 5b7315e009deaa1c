"""The advice in plain sentences."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.numbers import counted
from scumble.advise.estimates import METRICS, Estimate
from scumble.advise.evidence import AFTER, HELD, measured, remedial_here
from scumble.measures.summary import plain

if TYPE_CHECKING:
    from scumble.advise.advice import Advice, Judged

#: Labels, columns and pairs that are named at the most.
N_NAMED = 8
#: With fewer rows of rare labels than these, numbers about them are mostly chance.
FEW_ROWS = 100
#: A change of F1 that is worth a word.
NOTABLE = 0.005

#: Where the names come from that suggested lines use.
HOMES = {
    "scumble.learn": {
        "BinaryRelevance",
        "RareLabelClassifier",
        "ThresholdedClassifier",
        "fit_dataset",
    },
    "scumble.resample": {"make_chain"},
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
    }


def spoken(advice: Advice) -> str:
    """Return all sentences under their headings, and the lines that follow from them."""
    told = sentences(advice)
    told["What is wrong"] += _named_risks(advice)  # which reports show as a table
    parts = [[heading, *lines, ""] for heading, lines in told.items() if lines]
    if not advice.nothing_to_learn:
        parts.append(["What to do", shell_line(advice), "or, in Python:", *python_lines(advice)])
    return "\n".join(line for part in parts for line in part).rstrip()


def plain_advice(advice: Advice) -> dict[str, Any]:
    """Return the whole advice as plain values."""
    chosen, untreated = advice[advice.chosen], _untreated(advice)
    found, names = advice.diagnosis, advice.data.labels
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
        "labels": _plain_labels(advice, chosen, untreated),
        "at_risk": [names[at] for at in _at_risk(advice)],
        "same_labels": [[names[a], names[b], share] for a, b, share in found.same],
        "identifiers": [features[at] for at in found.identifiers],
        "leaks": [[features[column], names[label], r] for column, label, r in found.leaks],
        "sentences": sentences(advice),
        "python": python_lines(advice),
        "shell": shell_line(advice),
    }


def resampler_here(told: dict[str, Any]) -> tuple[str, str] | None:
    """Name the resampler that was measured best on this data, and say by how much."""
    # Takes what `Advice.to_dict` gives; None where no resampler was judged.
    judged = [
        one
        for one in told["methods"]
        if one["family"] == "resampling" and one["gain"]["value"] is not None
    ]
    if not judged:
        return None
    best = max(judged, key=lambda one: one["gain"]["value"])
    gain = Estimate(**best["gain"])
    chance = ", which may be chance" if gain.low <= 0 <= gain.high else ""
    method = best["name"].removeprefix(AFTER)
    reason = (
        f"Of {counted(len(judged), 'resampler')} tried on this data, {method} served trees best: "
        f"macro F1 changed by {_change(gain)}{chance}."
    )
    if told["chosen"] != best["name"]:
        [chosen] = [one for one in told["methods"] if one["chosen"]]
        reason += (
            f" What is advised, {chosen['name']}, changed it by {chosen['gain']['value']:+.3f}."
        )
    return method, reason


def shell_line(advice: Advice) -> str:
    """Return the command that trains what is advised; DATA and MODEL stand for files."""
    return advice[advice.chosen].candidate.shell or "scumble advise DATA --train MODEL"


def python_lines(advice: Advice) -> list[str]:
    """Return the lines that train what is advised; "DATA" stands for a file."""
    text = advice[advice.chosen].candidate.python
    words = set(re.findall(r"\w+", text))
    lines = ["import scumble"]
    for room, known in HOMES.items():
        used = sorted(words & known)
        if used:
            lines.append(f"from {room} import {', '.join(used)}")
    return [*lines, 'data = scumble.read("DATA")', f"model = {text}"]


def fill_shell(line: str, source: str, model: str, more: Sequence[str] = ()) -> str:
    """Put the user's files and options into a suggested command."""
    known = {"DATA": source, "MODEL": model}
    words = [shlex.quote(known.get(word, word)) for word in line.split(" ")]
    return " ".join([*words, *map(shlex.quote, more)])


def fill_python(line: str, call: str) -> str:
    """Put the user's way of reading the data into a suggested line."""
    return line.replace('scumble.read("DATA")', call)


def _wrong(advice: Advice) -> list[str]:
    found, names = advice.diagnosis, advice.data.labels
    rare = np.flatnonzero(found.is_rare)
    are = "is" if rare.size == 1 else "are"
    lines = [
        f"{counted(len(advice.data), 'row')} with {counted(len(names), 'label')}; "
        f"{counted(rare.size, 'label')} {are} rarer than average."
    ]
    lines += _never_found(advice, rare)
    lines += _not_yet(advice)
    lines += _same(advice)
    features = advice.data.feature_names
    if found.identifiers:
        listed = _listed([features[at] for at in found.identifiers])
        one = len(found.identifiers) == 1
        lines.append(
            f"{'The column' if one else 'The columns'} {listed} {'names' if one else 'name'} rows "
            f"instead of describing them: leave {'it' if one else 'them'} out."
        )
    return lines + _leaks(advice)


def _same(advice: Advice) -> list[str]:
    """Name labels that are nearly the same, all that hang together at once."""
    groups: list[tuple[set[int], float]] = []
    for a, b, share in advice.diagnosis.same:
        touched = [group for group in groups if group[0] & {a, b}]
        groups = [group for group in groups if group not in touched]
        members = {a, b}.union(*(known for known, _ in touched))
        groups.append((members, min([share, *(least for _, least in touched)])))
    if not groups:
        return []
    names = advice.data.labels
    listed = _listed(
        [f"{' = '.join(names[at] for at in sorted(group))} ({s:.0%})" for group, s in groups]
    )
    return [f"Nearly the same label under several names, with the rows they share: {listed}."]


def _leaks(advice: Advice) -> list[str]:
    found = advice.diagnosis.leaks
    features, names = advice.data.feature_names, advice.data.labels
    if not found:
        return []
    if len(found) == 1:
        column, label, strength = found[0]
        return [
            f"The column {features[column]} tells {names[label]} almost by itself (correlation "
            f"{strength:.2f}): make sure that it is known before the label is."
        ]
    listed = _listed([f"{features[column]} tells {names[label]}" for column, label, _ in found])
    return [
        "Some columns tell a label almost by themselves; make sure that they are known before the "
        f"labels are: {listed}."
    ]


def _at_risk(advice: Advice) -> list[int]:
    """Rare labels, the most unequal company first."""
    found = advice.diagnosis
    rare = np.flatnonzero(found.is_rare)
    order = sorted(rare, key=lambda at: (-np.nan_to_num(found.scumble[at]), found.counts[at]))
    return [int(at) for at in order[:N_NAMED]]


def _never_found(advice: Advice, rare: Any) -> list[str]:
    untreated = _untreated(advice)
    if untreated is None or not rare.size:
        return []
    never = int((untreated.label_f1[rare] == 0).sum())
    them = "it" if rare.size == 1 else "both" if rare.size == 2 else f"all {rare.size}"
    if not never:
        return [f"Untreated trees find {them}, at least now and then."]
    if never == rare.size:
        missed = "it" if never == 1 else "either of them" if never == 2 else "any of them"
        return [f"Untreated trees never find {missed}."]
    return [f"Untreated trees never find {never} of these {rare.size}."]


def _named_risks(advice: Advice) -> list[str]:
    named = "; ".join(_risk(advice, at) for at in _at_risk(advice))
    return [f"Most at risk, by the company they keep: {named}."] if named else []


def _risk(advice: Advice, label: int) -> str:
    found, names = advice.diagnosis, advice.data.labels
    text = (
        f"{names[label]} ({counted(int(found.counts[label]), 'row')}, {found.irlbl[label]:,.0f} "
        f"times rarer than the most frequent label, SCUMBLE {found.scumble[label]:.2f}"
    )
    company = found.company[label]
    if company is not None:
        text += f", with {names[company[0]]} in {company[1]:.0%} of its rows"
    return text + ")"


def _not_yet(advice: Advice) -> list[str]:
    found, names = advice.diagnosis, advice.data.labels
    absent = np.flatnonzero(found.counts == 0)
    lines = []
    if absent.size:
        verb = "occurs" if absent.size == 1 else "occur"
        listed = _listed([names[at] for at in absent])
        lines.append(f"{counted(absent.size, 'label')} never {verb} in this data: {listed}.")
    always = np.flatnonzero(found.counts == len(advice.data))
    if always.size:
        verb = "is" if always.size == 1 else "are"
        listed = _listed([names[at] for at in always])
        lines.append(
            f"{counted(always.size, 'label')} {verb} on every row, so that there is nothing to "
            f"learn of {'it' if always.size == 1 else 'them'}: {listed}."
        )
    waiting = np.flatnonzero(advice.not_learnable_yet)
    if not waiting.size or advice.nothing_to_learn:
        return lines
    order = waiting[np.argsort(-found.counts[waiting], kind="stable")]
    listed = _listed([f"{names[at]} ({counted(int(found.counts[at]), 'row')})" for at in order])
    lines.append(f"Not learnt yet, never found or no better than by chance: {listed}.")
    return lines + _more_needed(advice, order)


def _more_needed(advice: Advice, waiting: Any) -> list[str]:
    """Tell how many more rows labels need that are not learnt yet."""
    needed, counts = advice.rows_needed, advice.diagnosis.counts
    if needed is None:
        return []
    short = needed - counts[waiting]
    short = short[short > 0]
    curve = f"In this data most labels are learnt from about {counted(needed, 'row')} on"
    if not short.size:
        lack = "it lacks" if waiting.size == 1 else "these lack"
        return [f"{curve}: more rows alone may not be what {lack}."]
    least, most = int(short.min()), int(short.max())
    more = f"{least}" if least == most else f"{least} to {most}"
    if short.size == waiting.size:
        who = "it needs" if short.size == 1 else "these need"
    else:
        who = f"{short.size} of these {'needs' if short.size == 1 else 'need'}"
    return [f"{curve}: {who} about {more} more."]


def _helps(advice: Advice) -> list[str]:
    if advice.nothing_to_learn and not advice.diagnosis.varies(len(advice.data)).any():
        return [
            "Nothing can be learnt from this data as it is: every label is on all rows or on none."
        ]
    if advice.nothing_to_learn:
        return [
            "Nothing can be learnt from this data as it is: no label's rows can be told from the "
            "others better than by chance. Check that rows and labels belong together, and whether "
            "other features would tell more."
        ]
    chosen, untreated = advice[advice.chosen], _untreated(advice)
    lines = [
        f"Take {chosen.candidate.name}: {chosen.candidate.what}.",
        f"On new rows expect {_expected(chosen)}.",
    ]
    if untreated is not None and untreated is not chosen:
        before = [
            f"{untreated.expected[metric].value:.3f}"
            for metric in METRICS
            if not math.isnan(untreated.expected[metric].value)
        ]
        chance = ", which may be chance" if chosen.gain.low <= 0 <= chosen.gain.high else ""
        change = f"changes by {_change(chosen.gain)}{chance}" if chosen.gain.value else "stays"
        lines.append(
            f"Untreated trees would give {_listed(before, last=' and ')}; macro F1 {change}."
        )
        up = int((chosen.label_f1 > untreated.label_f1 + NOTABLE).sum())
        down = int((chosen.label_f1 < untreated.label_f1 - NOTABLE).sum())
        gain = (
            f"{counted(up, 'label')} {'gains' if up == 1 else 'gain'}" if up else "No label gains"
        )
        lose = f"{down} {'loses' if down == 1 else 'lose'}" if down else "none loses"
        lines.append(f"{gain}, {lose}.")
    others = [one for one in advice.judged if one not in (chosen, untreated)]
    good = [one for one in others if one.gain.low > 0 and one.gain.value > NOTABLE]
    if good:
        listed = ", ".join(f"{one.candidate.name} ({one.gain.value:+.3f})" for one in good)
        lines.append(f"Also better than untreated trees: {listed}.")
    return lines


def _expected(one: Judged) -> str:
    words = {
        "macro_f1": "a macro F1 of",
        "minority_f1": "for rare labels",
        "micro_f1": "a micro F1 of",
    }
    told = [
        f"{words[metric]} {_within(one.expected[metric])}"
        for metric in METRICS
        if not math.isnan(one.expected[metric].value)
    ]
    return _listed(told, last=" and ")


def _does_not(advice: Advice) -> list[str]:
    if advice.nothing_to_learn:
        return []
    others = [
        one
        for one in advice.judged
        if one.candidate.family != "untreated" and one.candidate.name != advice.chosen
    ]
    harm = [one for one in others if one.gain.high < 0]
    lines = [
        f"{one.candidate.name} harms: macro F1 changes by {_change(one.gain)}." for one in harm
    ]
    lines += [
        remedial_here(one.gain.value) for one in harm if one.candidate.resampler == "remedial"
    ]
    idle = [
        f"{one.candidate.name} ({one.gain.value:+.3f})"
        for one in others
        if one.gain.low <= 0 <= one.gain.high or 0 < one.gain.value <= NOTABLE
    ]
    if idle:
        lines.append(f"No difference that could be told from chance: {_listed(idle)}.")
    return lines


def _sure(advice: Advice) -> list[str]:
    chosen = advice[advice.chosen]
    rare = advice.data.Y[:, np.flatnonzero(advice.diagnosis.is_rare)]
    n_rows = int((rare.sum(axis=1) > 0).sum())
    lines = _measured_how(advice)
    if 0 < n_rows < FEW_ROWS and not advice.nothing_to_learn:
        lines.append(
            f"What is said of rare labels hangs on {counted(n_rows, 'row')} that have one."
        )
    best = chosen.expected["macro_f1"].value
    rivals = [one for one in advice.judged if one.expected["macro_f1"].value > best + NOTABLE]
    if rivals and not advice.nothing_to_learn:
        listed = ", ".join(
            f"{one.candidate.name} ({one.expected['macro_f1'].value - best:+.3f})" for one in rivals
        )
        lines.append(
            f"Measured higher, but not clearly enough to leave what proved itself on many data "
            f"sets: {listed}."
        )
    if advice.left_out:
        listed = "; ".join(f"{name} ({why.rstrip('.')})" for name, why in advice.left_out)
        lines.append(f"Not judged: {listed}.")
    if advice.interrupted:
        lines.append("It was stopped before all methods were judged.")
    if not advice.nothing_to_learn:
        of_rare = " of the rare labels" if n_rows else ""
        lines.append(f"More rows{of_rare}, or other features, would change this most.")
    return lines


def _measured_how(advice: Advice) -> list[str]:
    """Tell on which rows numbers were measured, as far as any are shown."""
    n_rows = len(advice.data)
    if not advice.diagnosis.varies(n_rows).any():
        return []
    if advice.nothing_to_learn:
        return [
            "Every method was asked for rows that it had not seen. A pattern too weak for "
            f"{counted(n_rows, 'row')} looks like chance."
        ]
    return [
        "Every number was measured on rows that the models had not seen. New rows, a quarter as "
        f"many as these ({max(1, n_rows // 4):,}), should give values within the brackets in nine "
        f"of ten cases; on {len(measured())} public data sets, on some of which their width was "
        f"also set, they did in {HELD:.0%}."
    ]


def _untreated(advice: Advice) -> Judged | None:
    found = [one for one in advice.judged if one.candidate.family == "untreated"]
    return found[0] if found else None


def _within(found: Estimate) -> str:
    return f"{found.value:.3f} ({max(found.low, 0):.3f} to {min(found.high, 1):.3f})"


def _change(gain: Estimate) -> str:
    if math.isnan(gain.value):
        return "an unknown amount"
    return f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"


def _listed(words: Sequence[str], *, last: str = ", ") -> str:
    """Put words in a row; of many the first and how many more."""
    if len(words) > N_NAMED:
        return f"{', '.join(words[:N_NAMED])} and {len(words) - N_NAMED:,} more"
    return last.join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _plain_labels(advice: Advice, chosen: Judged, untreated: Judged | None) -> list[dict[str, Any]]:
    found, names = advice.diagnosis, advice.data.labels
    waiting = advice.not_learnable_yet | (found.counts == 0)
    return [
        {
            "name": name,
            "rows": int(found.counts[at]),
            "irlbl": plain(found.irlbl[at]),
            "scumble": plain(found.scumble[at]),
            "is_rare": bool(found.is_rare[at]),
            "company": None if (met := found.company[at]) is None else names[met[0]],
            "company_share": None if met is None else met[1],
            "f1": float(chosen.label_f1[at]),
            "f1_untreated": None if untreated is None else float(untreated.label_f1[at]),
            "learnable": bool(not waiting[at]),
        }
        for at, name in enumerate(names)
    ]


def _plain_method(one: Judged, chosen: bool) -> dict[str, Any]:
    def parts(found: Estimate) -> dict[str, float | None]:
        return {name: plain(value) for name, value in found._asdict().items()}

    return {
        "name": one.candidate.name,
        "what": one.candidate.what,
        "family": one.candidate.family,
        "chosen": chosen,
        "expected": {metric: parts(one.expected[metric]) for metric in METRICS},
        "gain": parts(one.gain),
        "seconds": one.seconds,
        "shell": one.candidate.shell,
        "python": one.candidate.python,
    }
