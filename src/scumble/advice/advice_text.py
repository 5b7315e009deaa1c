"""The advice in plain sentences."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.text import pluralize
from scumble.advice.estimates import METRICS, MetricEstimate
from scumble.advice.evidence import (
    INTERVAL_COVERAGE,
    RESAMPLED_PREFIX,
    measured,
    remedial_harm_sentence,
)
from scumble.measures.summary import to_json_value

if TYPE_CHECKING:
    from scumble.advice.advice import Advice, CandidateResult

#: Labels, columns and pairs that are named at the most.
N_NAMED = 8
#: With fewer rows of rare labels than these, numbers about them are mostly chance.
FEW_ROWS = 100
#: A change of F1 that is worth a word.
NOTABLE = 0.005

#: How what is expected is told, by metric.
OPENINGS = {
    "macro_f1": "a macro F1 of",
    "minority_f1": "for rare labels",
    "micro_f1": "a micro F1 of",
}
#: Where the names come from that suggested lines use.
HOMES = (
    "scumble.learn",
    "scumble.resample",
    "sklearn.linear_model",
    "sklearn.pipeline",
    "sklearn.preprocessing",
)


def sentences(advice: Advice) -> dict[str, list[str]]:
    """Return the parts of the advice: heading -> sentences."""
    hopeless = advice.nothing_to_learn
    return {
        "What is wrong": list(_wrong(advice)),
        "What helps here": [_on_hopeless(advice)] if hopeless else list(_helps(advice)),
        "What does not": [] if hopeless else list(_does_not(advice)),
        "How sure this is": list(_sure(advice)),
    }


def format_advice(advice: Advice) -> str:
    """Return all sentences under their headings, and the lines that follow from them."""
    told = sentences(advice)
    if risks := "; ".join(_risk(advice, at) for at in _at_risk(advice)):
        # Reports show these as a table.
        told["What is wrong"].append(f"Most at risk, by the company they keep: {risks}.")
    parts = [[heading, *lines, ""] for heading, lines in told.items() if lines]
    if not advice.nothing_to_learn:
        parts.append(["What to do", shell_line(advice), "or, in Python:", *python_lines(advice)])
    return "\n".join(line for part in parts for line in part).rstrip()


def advice_to_dict(advice: Advice) -> dict[str, Any]:
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
        "methods": [_plain_method(one, one is chosen) for one in advice.results],
        "left_out": [{"name": name, "why": why} for name, why in advice.left_out],
        "labels": _plain_labels(advice, chosen, untreated),
        "at_risk": [names[at] for at in _at_risk(advice)],
        "same_labels": [[names[a], names[b], share] for a, b, share in found.near_duplicates],
        "identifiers": [features[at] for at in found.identifiers],
        "leaks": [[features[column], names[label], r] for column, label, r in found.leaks],
        "sentences": sentences(advice),
        "python": python_lines(advice),
        "shell": shell_line(advice),
    }


def best_resampler_in_advice(told: dict[str, Any]) -> tuple[str, str] | None:
    """Name the resampler that was measured best on this data, and say by how much."""
    # Takes what `Advice.to_dict` gives; None where no resampler was judged.
    resamplers = [one for one in told["methods"] if one["family"] == "resampling"]
    judged = [one for one in resamplers if one["gain"]["value"] is not None]
    if not judged:
        return None
    best = max(judged, key=lambda one: one["gain"]["value"])
    gain = MetricEstimate(**best["gain"])
    method = best["name"].removeprefix(RESAMPLED_PREFIX)
    reason = (
        f"Of {pluralize(len(judged), 'resampler')} tried on this data, {method} served trees best: "
        f"macro F1 changed by {_change(gain)}."
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
    used = {room: ", ".join(sorted(words & {*import_module(room).__all__})) for room in HOMES}
    imports = [f"from {room} import {names}" for room, names in used.items() if names]
    return ["import scumble", *imports, 'data = scumble.read("DATA")', f"model = {text}"]


def fill_shell(line: str, source: str, model: str, more: Sequence[str] = ()) -> str:
    """Put the user's files and options into a suggested command."""
    known = {"DATA": source, "MODEL": model}
    words = [shlex.quote(known.get(word, word)) for word in line.split(" ")]
    return " ".join([*words, *map(shlex.quote, more)])


def fill_python(line: str, call: str) -> str:
    """Put the user's way of reading the data into a suggested line."""
    return line.replace('scumble.read("DATA")', call)


def _wrong(advice: Advice) -> Iterator[str]:
    found = advice.diagnosis
    rare = np.flatnonzero(found.is_rare)
    yield (
        f"{pluralize(len(advice.data), 'row')} with {pluralize(advice.data.n_labels, 'label')}; "
        f"{pluralize(rare.size, 'label')} {'is' if rare.size == 1 else 'are'} rarer than average."
    )
    yield from _never_found(advice, rare)
    yield from _not_yet(advice)
    yield from _same(advice)
    if found.identifiers:
        listed = _listed([advice.data.feature_names[at] for at in found.identifiers])
        one = len(found.identifiers) == 1
        s, verb, them = ("", "names", "it") if one else ("s", "name", "them")
        yield f"The column{s} {listed} {verb} rows instead of describing them: leave {them} out."
    yield from _leaks(advice)


def _same(advice: Advice) -> Iterator[str]:
    """Name labels that are nearly the same, all that hang together at once."""
    groups: list[tuple[set[int], float]] = []
    for a, b, share in advice.diagnosis.near_duplicates:
        touched = [group for group in groups if group[0] & {a, b}]
        groups = [group for group in groups if group not in touched]
        members = {a, b}.union(*(known for known, _ in touched))
        groups.append((members, min([share, *(least for _, least in touched)])))
    names = advice.data.labels
    told = [f"{' = '.join(names[at] for at in sorted(group))} ({s:.0%})" for group, s in groups]
    if told:
        listed = _listed(told)
        yield f"Nearly the same label under several names, with the rows they share: {listed}."


def _leaks(advice: Advice) -> Iterator[str]:
    features, names = advice.data.feature_names, advice.data.labels
    found = advice.diagnosis.leaks
    told = [f"{features[column]} tells {names[label]}" for column, label, _ in found]
    if len(told) == 1:
        yield (
            f"The column {told[0]} almost by itself (correlation {found[0][2]:.2f}): make sure "
            "that it is known before the label is."
        )
    elif told:
        yield (
            "Some columns tell a label almost by themselves; make sure that they are known before "
            f"the labels are: {_listed(told)}."
        )


def _at_risk(advice: Advice) -> list[int]:
    """Rare labels, the most unequal company first."""
    found = advice.diagnosis
    rare = np.flatnonzero(found.is_rare)
    order = sorted(rare, key=lambda at: (-np.nan_to_num(found.scumble[at]), found.counts[at]))
    return [int(at) for at in order[:N_NAMED]]


def _never_found(advice: Advice, rare: Any) -> Iterator[str]:
    untreated = _untreated(advice)
    if untreated is None or not rare.size:
        return
    never = int((untreated.label_f1[rare] == 0).sum())
    if not never:
        them = {1: "it", 2: "both"}.get(rare.size, f"all {rare.size}")
        yield f"Untreated trees find {them}, at least now and then."
    elif never == rare.size:
        missed = {1: "it", 2: "either of them"}.get(never, "any of them")
        yield f"Untreated trees never find {missed}."
    else:
        yield f"Untreated trees never find {never} of these {rare.size}."


def _risk(advice: Advice, label: int) -> str:
    found, names = advice.diagnosis, advice.data.labels
    met = found.top_cooccurrence[label]
    company = "" if met is None else f", with {names[met[0]]} in {met[1]:.0%} of its rows"
    return (
        f"{names[label]} ({pluralize(int(found.counts[label]), 'row')}, {found.irlbl[label]:,.0f} "
        f"times rarer than the most frequent label, SCUMBLE {found.scumble[label]:.2f}{company})"
    )


def _not_yet(advice: Advice) -> Iterator[str]:
    found, names = advice.diagnosis, advice.data.labels
    absent = [names[at] for at in np.flatnonzero(found.counts == 0)]
    if absent:
        never = f"never {'occurs' if len(absent) == 1 else 'occur'} in this data"
        yield f"{pluralize(len(absent), 'label')} {never}: {_listed(absent)}."
    always = [names[at] for at in np.flatnonzero(found.counts == len(advice.data))]
    if always:
        are, them = ("is", "it") if len(always) == 1 else ("are", "them")
        yield (
            f"{pluralize(len(always), 'label')} {are} on every row, so that there is nothing to "
            f"learn of {them}: {_listed(always)}."
        )
    waiting = np.flatnonzero(advice.not_learnable_yet)
    if waiting.size and not advice.nothing_to_learn:
        order = waiting[np.argsort(-found.counts[waiting], kind="stable")]
        told = [f"{names[at]} ({pluralize(int(found.counts[at]), 'row')})" for at in order]
        yield f"Not learnt yet, never found or no better than by chance: {_listed(told)}."
        yield from _more_needed(advice, order)


def _more_needed(advice: Advice, waiting: Any) -> Iterator[str]:
    """Tell how many more rows labels need that are not learnt yet."""
    needed, counts = advice.rows_needed, advice.diagnosis.counts
    if needed is None:
        return
    short = needed - counts[waiting]
    short = short[short > 0]
    curve = f"In this data most labels are learnt from about {pluralize(needed, 'row')} on"
    if not short.size:
        lack = "it lacks" if waiting.size == 1 else "these lack"
        yield f"{curve}: more rows alone may not be what {lack}."
        return
    least, most = int(short.min()), int(short.max())
    more = f"{least}" if least == most else f"{least} to {most}"
    who = "it" if waiting.size == 1 else "these"
    who = who if short.size == waiting.size else f"{short.size} of these"
    yield f"{curve}: {who} {'needs' if short.size == 1 else 'need'} about {more} more."


def _on_hopeless(advice: Advice) -> str:
    nothing = "Nothing can be learnt from this data as it is:"
    if not advice.diagnosis.has_both_classes(len(advice.data)).any():
        return f"{nothing} every label is on all rows or on none."
    return (
        f"{nothing} no label's rows can be told from the others better than by chance. Check that "
        "rows and labels belong together, and whether other features would tell more."
    )


def _helps(advice: Advice) -> Iterator[str]:
    chosen, untreated = advice[advice.chosen], _untreated(advice)
    yield f"Take {chosen.candidate.name}: {chosen.candidate.description}."
    expected = [f"{OPENINGS[metric]} {_within(found)}" for metric, found in _known(chosen)]
    yield f"On new rows expect {_listed(expected, last=' and ')}."
    if untreated is not None and untreated is not chosen:
        before = [f"{found.value:.3f}" for _, found in _known(untreated)]
        change = f"changes by {_change(chosen.gain)}" if chosen.gain.value else "stays"
        yield f"Untreated trees would give {_listed(before, last=' and ')}; macro F1 {change}."
        up = int((chosen.label_f1 > untreated.label_f1 + NOTABLE).sum())
        down = int((chosen.label_f1 < untreated.label_f1 - NOTABLE).sum())
        gain = f"{pluralize(up, 'label')} {'gains' if up == 1 else 'gain'}"
        lose = f"{down} {'loses' if down == 1 else 'lose'}"
        yield f"{gain if up else 'No label gains'}, {lose if down else 'none loses'}."
    good = [one for one in _others(advice) if one.gain.low > 0 and one.gain.value > NOTABLE]
    if good:
        yield f"Also better than untreated trees: {', '.join(map(_with_gain, good))}."


def _does_not(advice: Advice) -> Iterator[str]:
    others = _others(advice)
    harm = [one for one in others if one.gain.high < 0]
    for one in harm:
        yield f"{one.candidate.name} harms: macro F1 changes by {_change(one.gain)}."
    for one in harm:
        if one.candidate.resampler == "remedial":
            yield remedial_harm_sentence(one.gain.value)
    idle = [
        _with_gain(one)
        for one in others
        if one.gain.low <= 0 <= one.gain.high or 0 < one.gain.value <= NOTABLE
    ]
    if idle:
        yield f"No difference that could be told from chance: {_listed(idle)}."


def _sure(advice: Advice) -> Iterator[str]:
    rare = advice.data.Y[:, np.flatnonzero(advice.diagnosis.is_rare)]
    n_rows = int((rare.sum(axis=1) > 0).sum())
    yield from _measured_how(advice)
    if 0 < n_rows < FEW_ROWS and not advice.nothing_to_learn:
        yield f"What is said of rare labels hangs on {pluralize(n_rows, 'row')} that have one."
    best = advice.expected["macro_f1"].value
    reached = {one.candidate.name: one.expected["macro_f1"].value for one in advice.results}
    rivals = [f"{name} ({f1 - best:+.3f})" for name, f1 in reached.items() if f1 > best + NOTABLE]
    if rivals and not advice.nothing_to_learn:
        yield (
            "Measured higher, but not clearly enough to leave what proved itself on many data "
            f"sets: {', '.join(rivals)}."
        )
    if advice.left_out:
        listed = "; ".join(f"{name} ({why.rstrip('.')})" for name, why in advice.left_out)
        yield f"Not judged: {listed}."
    if advice.interrupted:
        yield "It was stopped before all methods were judged."
    if not advice.nothing_to_learn:
        of_rare = " of the rare labels" if n_rows else ""
        yield f"More rows{of_rare}, or other features, would change this most."


def _measured_how(advice: Advice) -> Iterator[str]:
    """Tell on which rows numbers were measured, as far as any are shown."""
    n_rows = len(advice.data)
    if not advice.diagnosis.has_both_classes(n_rows).any():
        return
    if advice.nothing_to_learn:
        yield (
            "Every method was asked for rows that it had not seen. A pattern too weak for "
            f"{pluralize(n_rows, 'row')} looks like chance."
        )
    else:
        yield (
            "Every number was measured on rows that the models had not seen. New rows, a quarter "
            f"as many as these ({max(1, n_rows // 4):,}), should give values within the brackets "
            f"in nine of ten cases; on {len(measured())} public data sets, on some of which their "
            f"width was also set, they did in {INTERVAL_COVERAGE:.0%}."
        )


def _untreated(advice: Advice) -> CandidateResult | None:
    return next((one for one in advice.results if one.candidate.family == "untreated"), None)


def _others(advice: Advice) -> list[CandidateResult]:
    told = (advice[advice.chosen], _untreated(advice))
    return [one for one in advice.results if one not in told]


def _known(one: CandidateResult) -> list[tuple[str, MetricEstimate]]:
    """Return what is expected of a method, metrics that have no value left out."""
    return [(m, one.expected[m]) for m in METRICS if not math.isnan(one.expected[m].value)]


def _with_gain(one: CandidateResult) -> str:
    return f"{one.candidate.name} ({one.gain.value:+.3f})"


def _within(found: MetricEstimate) -> str:
    return f"{found.value:.3f} ({max(found.low, 0):.3f} to {min(found.high, 1):.3f})"


def _change(gain: MetricEstimate) -> str:
    if math.isnan(gain.value):
        return "an unknown amount"
    chance = ", which may be chance" if gain.low <= 0 <= gain.high else ""
    return f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}){chance}"


def _listed(words: Sequence[str], *, last: str = ", ") -> str:
    """Put words in a row; of many the first and how many more."""
    if len(words) > N_NAMED:
        return f"{', '.join(words[:N_NAMED])} and {len(words) - N_NAMED:,} more"
    return last.join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _plain_labels(
    advice: Advice, chosen: CandidateResult, untreated: CandidateResult | None
) -> list[dict[str, Any]]:
    found, names = advice.diagnosis, advice.data.labels
    waiting = advice.not_learnable_yet | (found.counts == 0)
    return [
        {
            "name": name,
            "rows": int(found.counts[at]),
            "irlbl": to_json_value(found.irlbl[at]),
            "scumble": to_json_value(found.scumble[at]),
            "is_rare": bool(found.is_rare[at]),
            "company": None if (met := found.top_cooccurrence[at]) is None else names[met[0]],
            "company_share": None if met is None else met[1],
            "f1": float(chosen.label_f1[at]),
            "f1_untreated": None if untreated is None else float(untreated.label_f1[at]),
            "learnable": bool(not waiting[at]),
        }
        for at, name in enumerate(names)
    ]


def _plain_method(one: CandidateResult, chosen: bool) -> dict[str, Any]:
    return {
        "name": one.candidate.name,
        "what": one.candidate.description,
        "family": one.candidate.family,
        "chosen": chosen,
        "expected": to_json_value({metric: one.expected[metric]._asdict() for metric in METRICS}),
        "gain": to_json_value(one.gain._asdict()),
        "seconds": one.seconds,
        "shell": one.candidate.shell,
        "python": one.candidate.python,
    }
