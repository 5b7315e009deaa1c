"""The advice as text, as code, and as values for JSON.

*Untreated* means trees per label (binary relevance) without resampling, with which the recommended
method is compared. Functions that yield sentences yield none if there is nothing to report.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.text import pluralize
from scumble.advice.estimates import METRICS, MetricEstimate
from scumble.advice.evidence import (
    INTERVAL_COVERAGE,
    RESAMPLED_PREFIX,
    dataset_evidence,
    remedial_harm_sentence,
)
from scumble.measures.summary import to_json_value

if TYPE_CHECKING:
    from scumble.advice.advice import Advice, CandidateResult

#: Maximum number of labels, columns or pairs that a sentence names.
N_NAMED = 8
#: With fewer rows that have a rare label, a sentence warns that the metrics of rare labels are
#: uncertain.
MIN_ROWS_WITH_RARE_LABEL = 100
#: Differences in F1 up to this are not reported as gains or losses: other folds change F1 as much.
NOTABLE_DIFFERENCE = 0.005

#: Phrases with the expected value of each metric, which is formatted by `_interval_text`.
METRIC_PHRASES = {
    "macro_f1": "a macro F1 of {}",
    "minority_f1": "{} for the rare labels",
    "micro_f1": "a micro F1 of {}",
}
#: Modules from which the suggested Python code imports names.
IMPORTED_MODULES = (
    "scumble.learn",
    "scumble.resample",
    "sklearn.linear_model",
    "sklearn.pipeline",
    "sklearn.preprocessing",
)


def sentences(advice: Advice) -> dict[str, list[str]]:
    """Return the sentences of the advice, by the heading under which they are shown."""
    if advice.nothing_to_learn:
        recommendation = [_nothing_to_learn_sentence(advice)]
        discouraged = []
    else:
        recommendation = list(_recommendation_sentences(advice))
        discouraged = list(_unhelpful_method_sentences(advice))
    return {
        "What is wrong": list(_problem_sentences(advice)),
        "What helps here": recommendation,
        "What does not": discouraged,
        "How sure this is": list(_certainty_sentences(advice)),
    }


def format_advice(advice: Advice) -> str:
    """Return the advice as one text: headings with their sentences, then the suggested code."""
    sections = sentences(advice)
    labels_at_risk = _labels_at_risk(advice)
    if labels_at_risk:
        # Reports show these labels in a table.
        risks = "; ".join(_risk_text(advice, label) for label in labels_at_risk)
        sections["What is wrong"].append(f"Rare labels with the highest concurrence: {risks}.")
    lines = []
    for heading, section in sections.items():
        if section:
            lines += [heading, *section, ""]
    if not advice.nothing_to_learn:
        lines += ["What to do", shell_line(advice), "or, in Python:", *python_lines(advice)]
    return "\n".join(lines).rstrip()


def advice_to_dict(advice: Advice) -> dict[str, Any]:
    """Return the advice as values that can be written as JSON; `Advice.to_dict` lists the keys."""
    diagnosis = advice.diagnosis
    labels = advice.data.labels
    columns = advice.data.feature_names
    return {
        "data": advice.data.name,
        "n_instances": len(advice.data),
        "n_labels": len(labels),
        "random_state": advice.random_state,
        "chosen": advice.selected,
        "nothing_to_learn": advice.nothing_to_learn,
        "interrupted": advice.interrupted,
        "rows_needed": advice.rows_needed,
        "methods": [_result_to_dict(result, advice.selected) for result in advice.results],
        "left_out": [{"name": name, "why": reason} for name, reason in advice.left_out],
        "labels": _labels_to_dicts(advice),
        "at_risk": [labels[label] for label in _labels_at_risk(advice)],
        "same_labels": [
            [labels[label], labels[other_label], share]
            for label, other_label, share in diagnosis.near_duplicates
        ],
        "identifiers": [columns[column] for column in diagnosis.identifiers],
        "leaks": [
            [columns[column], labels[label], correlation]
            for column, label, correlation in diagnosis.leaks
        ],
        "sentences": sentences(advice),
        "python": python_lines(advice),
        "shell": shell_line(advice),
    }


def best_resampler_in_advice(advice: dict[str, Any]) -> tuple[str, str] | None:
    """Return the name of the best resampler for trees on this data, and sentences with the reason.

    ``advice`` is the result of `Advice.to_dict`. Return None if no resampler was evaluated.
    """
    resamplers = [
        method
        for method in advice["methods"]
        if method["family"] == "resampling" and method["gain"]["value"] is not None
    ]
    if not resamplers:
        return None
    best = max(resamplers, key=lambda method: method["gain"]["value"])
    name = best["name"].removeprefix(RESAMPLED_PREFIX)
    change = _change_text(MetricEstimate(**best["gain"]))
    reason = (
        f"Of {pluralize(len(resamplers), 'resampler')} evaluated on this data, {name} is the best "
        f"for trees: macro F1 changed by {change}."
    )
    if advice["chosen"] != best["name"]:
        selected = next(method for method in advice["methods"] if method["chosen"])
        reason += (
            f" The recommended method, {selected['name']}, changed it by "
            f"{selected['gain']['value']:+.3f}."
        )
    return name, reason


def shell_line(advice: Advice) -> str:
    """Return the shell command that trains the recommended method.

    The words DATA and MODEL in it stand for the user's files.
    """
    return advice[advice.selected].candidate.shell or "scumble advise DATA --train MODEL"


def python_lines(advice: Advice) -> list[str]:
    """Return the lines of Python code that train the recommended method.

    "DATA" in them stands for the user's file.
    """
    expression = advice[advice.selected].candidate.python
    words = set(re.findall(r"\w+", expression))
    lines = ["import scumble"]
    for module in IMPORTED_MODULES:
        names = sorted(words.intersection(import_module(module).__all__))
        if names:
            lines.append(f"from {module} import {', '.join(names)}")
    return [*lines, 'data = scumble.read("DATA")', f"model = {expression}"]


def fill_shell(line: str, source: str, model: str, options: Sequence[str] = ()) -> str:
    """Return a command of `shell_line` with the user's files instead of DATA and MODEL.

    ``options`` are added at the end. Words are quoted as the shell requires.
    """
    files = {"DATA": source, "MODEL": model}
    words = [files.get(word, word) for word in line.split(" ")]
    return shlex.join([*words, *options])


def fill_python(line: str, call: str) -> str:
    """Return a line of `python_lines` with ``call`` instead of ``scumble.read("DATA")``."""
    return line.replace('scumble.read("DATA")', call)


def _problem_sentences(advice: Advice) -> Iterator[str]:
    """Yield the sentences below "What is wrong": problems of labels, rows and columns."""
    n_rare = int(advice.diagnosis.is_rare.sum())
    verb = "is" if n_rare == 1 else "are"
    yield (
        f"{pluralize(len(advice.data), 'row')} with {pluralize(advice.data.n_labels, 'label')}; "
        f"{pluralize(n_rare, 'label')} {verb} rarer than average."
    )
    yield from _never_predicted_sentence(advice)
    yield from _constant_label_sentences(advice)
    yield from _not_learnable_yet_sentences(advice)
    yield from _near_duplicate_sentence(advice)
    yield from _identifier_sentence(advice)
    yield from _leak_sentence(advice)


def _never_predicted_sentence(advice: Advice) -> Iterator[str]:
    """Yield a sentence about how many rare labels untreated trees never predict correctly."""
    untreated = _untreated_result(advice)
    rare = np.flatnonzero(advice.diagnosis.is_rare)
    if untreated is None or not rare.size:
        return
    n_rare = rare.size
    n_never = int((untreated.label_f1[rare] == 0).sum())
    if n_never == 0:
        objects = {1: "it", 2: "both"}.get(n_rare, f"all {n_rare}")
        yield f"Untreated trees predict {objects} correctly at least once."
    elif n_never == n_rare:
        objects = {1: "it", 2: "either of them"}.get(n_rare, "any of them")
        yield f"Untreated trees never predict {objects} correctly."
    else:
        yield f"Untreated trees never predict {n_never} of these {n_rare} correctly."


def _constant_label_sentences(advice: Advice) -> Iterator[str]:
    """Yield a sentence about the labels that no row has, and one about those that all rows have."""
    counts = advice.diagnosis.counts
    labels = advice.data.labels
    unseen = [labels[label] for label in np.flatnonzero(counts == 0)]
    if unseen:
        verb = "occurs" if len(unseen) == 1 else "occur"
        yield f"{pluralize(len(unseen), 'label')} never {verb} in this data: {_join(unseen)}."
    constant = [labels[label] for label in np.flatnonzero(counts == len(advice.data))]
    if constant:
        verb = "is" if len(constant) == 1 else "are"
        yield (
            f"{pluralize(len(constant), 'label')} {verb} present in every row, so there is nothing "
            f"to learn: {_join(constant)}."
        )


def _not_learnable_yet_sentences(advice: Advice) -> Iterator[str]:
    """Yield a sentence about labels that are not learnt, and one about the rows that they need."""
    not_learnt = np.flatnonzero(advice.not_learnable_yet)
    if not not_learnt.size or advice.nothing_to_learn:
        return
    counts = advice.diagnosis.counts
    by_count = not_learnt[np.argsort(-counts[not_learnt], kind="stable")]
    texts = [
        f"{advice.data.labels[label]} ({pluralize(int(counts[label]), 'row')})"
        for label in by_count
    ]
    yield (
        "Not learnt yet, because never predicted correctly or ranked no better than chance: "
        f"{_join(texts)}."
    )
    if advice.rows_needed is not None:
        yield _rows_needed_sentence(advice.rows_needed, counts[not_learnt])


def _rows_needed_sentence(n_needed: int, counts: Array) -> str:
    """Return a sentence about how many more rows some labels need.

    ``n_needed`` is the number of rows from which on labels of this data are learnt; ``counts`` are
    the numbers of rows that the labels have.
    """
    threshold = f"In this data most labels are learnt from about {pluralize(n_needed, 'row')} on"
    n_labels = counts.size
    subject = "this label" if n_labels == 1 else "these labels"
    n_missing = n_needed - counts[counts < n_needed]
    if not n_missing.size:
        return f"{threshold}: more rows alone may not help {subject}."
    if n_missing.size < n_labels:
        subject = f"{n_missing.size} of these labels"
    verb = "needs" if n_missing.size == 1 else "need"
    fewest = int(n_missing.min())
    largest = int(n_missing.max())
    rows_text = f"{fewest}" if fewest == largest else f"{fewest} to {largest}"
    return f"{threshold}: {subject} {verb} about {rows_text} more."


def _near_duplicate_sentence(advice: Advice) -> Iterator[str]:
    """Yield a sentence about labels that are nearly the same.

    Pairs with a common label form one group, for which the smallest share of common rows is given.
    """
    groups: list[tuple[set[int], float]] = []  # labels, and the smallest share of common rows
    for label, other_label, share in advice.diagnosis.near_duplicates:
        members = {label, other_label}
        smallest_share = share
        separate_groups = []
        for group, group_share in groups:
            if group & {label, other_label}:
                members |= group
                smallest_share = min(smallest_share, group_share)
            else:
                separate_groups.append((group, group_share))
        groups = [*separate_groups, (members, smallest_share)]
    texts = []
    for members, share in groups:
        names = " = ".join(advice.data.labels[label] for label in sorted(members))
        texts.append(f"{names} ({share:.0%})")
    if texts:
        yield f"Labels that are nearly the same, with the share of common rows: {_join(texts)}."


def _identifier_sentence(advice: Advice) -> Iterator[str]:
    """Yield a sentence about columns that identify rows."""
    names = [advice.data.feature_names[column] for column in advice.diagnosis.identifiers]
    if len(names) == 1:
        yield f"The column {names[0]} identifies rows instead of describing them: leave it out."
    elif names:
        yield (
            f"The columns {_join(names)} identify rows instead of describing them: leave them out."
        )


def _leak_sentence(advice: Advice) -> Iterator[str]:
    """Yield a sentence about columns that leak a label."""
    leaks = advice.diagnosis.leaks
    columns = advice.data.feature_names
    labels = advice.data.labels
    if len(leaks) == 1:
        [(column, label, correlation)] = leaks
        yield (
            f"The column {columns[column]} almost determines {labels[label]} (correlation "
            f"{correlation:.2f}): make sure that it is known before the label is."
        )
    elif leaks:
        texts = [f"{columns[column]} determines {labels[label]}" for column, label, _ in leaks]
        yield (
            "Some columns almost determine a label; make sure that they are known before the "
            f"labels are: {_join(texts)}."
        )


def _labels_at_risk(advice: Advice) -> list[int]:
    """Return the indices of the rare labels with the highest SCUMBLELbl, the highest first.

    Of labels with equal SCUMBLELbl, those with fewer rows come first.
    """
    diagnosis = advice.diagnosis
    order = sorted(
        np.flatnonzero(diagnosis.is_rare),
        key=lambda label: (-np.nan_to_num(diagnosis.scumble[label]), diagnosis.counts[label]),
    )
    return [int(label) for label in order[:N_NAMED]]


def _risk_text(advice: Advice, label: int) -> str:
    """Return the name of a label with its measures and the label that co-occurs most often."""
    diagnosis = advice.diagnosis
    labels = advice.data.labels
    details = [
        pluralize(int(diagnosis.counts[label]), "row"),
        f"{diagnosis.irlbl[label]:,.0f} times rarer than the most frequent label",
        f"SCUMBLE {diagnosis.scumble[label]:.2f}",
    ]
    top_cooccurrence = diagnosis.top_cooccurrence[label]
    if top_cooccurrence is not None:
        partner, share = top_cooccurrence
        details.append(f"with {labels[partner]} in {share:.0%} of its rows")
    return f"{labels[label]} ({', '.join(details)})"


def _nothing_to_learn_sentence(advice: Advice) -> str:
    """Return sentences about why no label can be learnt."""
    if not advice.diagnosis.has_both_classes(len(advice.data)).any():
        return (
            "Nothing can be learnt from this data as it is: every label is present in all rows or "
            "in none."
        )
    return (
        "Nothing can be learnt from this data as it is: no label is ranked better than chance. "
        "Check that rows and labels belong together, and whether other features would be more "
        "informative."
    )


def _recommendation_sentences(advice: Advice) -> Iterator[str]:
    """Yield the sentences below "What helps here": the recommended method and its results."""
    selected = advice[advice.selected]
    untreated = _untreated_result(advice)
    yield f"Use {selected.candidate.name}: {selected.candidate.description}."
    expected = [
        METRIC_PHRASES[metric].format(_interval_text(estimate))
        for metric, estimate in _defined_estimates(selected).items()
    ]
    yield f"On new rows expect {_join(expected, last=' and ')}."
    if untreated is not None and untreated is not selected:
        yield _difference_sentence(selected, untreated)
        yield _label_difference_sentence(selected, untreated)
    better = [
        _gain_text(result)
        for result in _other_results(advice)
        if result.gain.low > 0 and result.gain.value > NOTABLE_DIFFERENCE
    ]
    if better:
        yield f"Also better than untreated trees: {', '.join(better)}."


def _difference_sentence(selected: CandidateResult, untreated: CandidateResult) -> str:
    """Return a sentence with the metrics of untreated trees and the gain of the selected method."""
    estimates = _defined_estimates(untreated).values()
    values = _join([f"{estimate.value:.3f}" for estimate in estimates], last=" and ")
    if selected.gain.value:
        change = f"macro F1 changes by {_change_text(selected.gain)}"
    else:
        change = "macro F1 does not change"
    return f"Untreated trees would give {values}; {change}."


def _label_difference_sentence(selected: CandidateResult, untreated: CandidateResult) -> str:
    """Return a sentence with the numbers of labels whose F1 is higher or lower than untreated."""
    n_gain = int((selected.label_f1 > untreated.label_f1 + NOTABLE_DIFFERENCE).sum())
    n_lose = int((selected.label_f1 < untreated.label_f1 - NOTABLE_DIFFERENCE).sum())
    if n_gain:
        verb = "gains" if n_gain == 1 else "gain"
        gains = f"{pluralize(n_gain, 'label')} {verb}"
    else:
        gains = "No label gains"
    if n_lose:
        verb = "loses" if n_lose == 1 else "lose"
        losses = f"{n_lose} {verb}"
    else:
        losses = "none loses"
    return f"{gains}, {losses}."


def _unhelpful_method_sentences(advice: Advice) -> Iterator[str]:
    """Yield the sentences below "What does not": methods that harm or make no clear difference."""
    harmful = []
    no_different = []
    for result in _other_results(advice):
        gain = result.gain
        if gain.high < 0:
            harmful.append(result)
        elif gain.low <= 0 <= gain.high or 0 < gain.value <= NOTABLE_DIFFERENCE:
            no_different.append(_gain_text(result))
    for result in harmful:
        yield f"{result.candidate.name} harms: macro F1 changes by {_change_text(result.gain)}."
    for result in harmful:
        if result.candidate.resampler == "remedial":
            yield remedial_harm_sentence(result.gain.value)
    if no_different:
        yield f"No clear difference from untreated trees: {_join(no_different)}."


def _certainty_sentences(advice: Advice) -> Iterator[str]:
    """Yield the sentences below "How sure this is": how results were measured, what is missing."""
    is_rare = advice.diagnosis.is_rare
    n_rows_with_rare = int((advice.data.Y[:, np.flatnonzero(is_rare)].sum(axis=1) > 0).sum())
    yield from _measurement_sentence(advice)
    if 0 < n_rows_with_rare < MIN_ROWS_WITH_RARE_LABEL and not advice.nothing_to_learn:
        rows = pluralize(n_rows_with_rare, "row")
        yield f"The numbers for rare labels are based on only {rows} with such a label."
    yield from _higher_score_sentence(advice)
    if advice.left_out:
        texts = [f"{name} ({reason.rstrip('.')})" for name, reason in advice.left_out]
        yield f"Not evaluated: {'; '.join(texts)}."
    if advice.interrupted:
        yield "The evaluation was stopped before all methods were evaluated."
    if not advice.nothing_to_learn:
        rows = "More rows of the rare labels" if n_rows_with_rare else "More rows"
        yield f"{rows} or other features would change these results most."


def _higher_score_sentence(advice: Advice) -> Iterator[str]:
    """Yield a sentence about methods with a higher macro F1 than the recommended one."""
    if advice.nothing_to_learn:
        return
    selected_f1 = advice.expected["macro_f1"].value
    higher = []
    for result in advice.results:
        macro_f1 = result.expected["macro_f1"].value
        if macro_f1 > selected_f1 + NOTABLE_DIFFERENCE:
            higher.append(f"{result.candidate.name} ({macro_f1 - selected_f1:+.3f})")
    if higher:
        yield (
            "Scored higher, but not clearly enough to replace a method that is good on many data "
            f"sets: {', '.join(higher)}."
        )


def _measurement_sentence(advice: Advice) -> Iterator[str]:
    """Yield a sentence about how the metrics were estimated, unless all labels are constant."""
    n_rows = len(advice.data)
    if not advice.diagnosis.has_both_classes(n_rows).any():
        return
    if advice.nothing_to_learn:
        yield (
            "All methods were evaluated out of sample. A pattern that is too weak for "
            f"{pluralize(n_rows, 'row')} cannot be distinguished from chance."
        )
    else:
        yield (
            "All numbers were measured out of sample. On new rows, a quarter as many as these "
            f"({max(1, n_rows // 4):,}), the values should lie within the brackets in nine of ten "
            f"cases. On {len(dataset_evidence())} public data sets, some of which were also used "
            f"to set the width of the intervals, they did in {INTERVAL_COVERAGE:.0%} of the cases."
        )


def _untreated_result(advice: Advice) -> CandidateResult | None:
    """Return the result of the untreated classifier; None if it was not evaluated."""
    for result in advice.results:
        if result.candidate.family == "untreated":
            return result
    return None


def _other_results(advice: Advice) -> list[CandidateResult]:
    """Return the results of all but the recommended method and the untreated classifier."""
    selected = advice[advice.selected]
    untreated = _untreated_result(advice)
    return [
        result for result in advice.results if result is not selected and result is not untreated
    ]


def _defined_estimates(result: CandidateResult) -> dict[str, MetricEstimate]:
    """Return the estimates of a candidate by metric, without those that are NaN."""
    return {
        metric: result.expected[metric]
        for metric in METRICS
        if not math.isnan(result.expected[metric].value)
    }


def _gain_text(result: CandidateResult) -> str:
    """Return the name of a method with its gain, such as "rare (+0.050)"."""
    return f"{result.candidate.name} ({result.gain.value:+.3f})"


def _interval_text(estimate: MetricEstimate) -> str:
    """Return an estimate with its interval, cut to 0 to 1: "0.600 (0.550 to 0.650)"."""
    return f"{estimate.value:.3f} ({max(estimate.low, 0):.3f} to {min(estimate.high, 1):.3f})"


def _change_text(gain: MetricEstimate) -> str:
    """Return a gain with its interval as text, and a remark if the interval includes 0."""
    if math.isnan(gain.value):
        return "an unknown amount"
    text = f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
    if gain.low <= 0 <= gain.high:
        text += ", which may be chance"
    return text


def _join(texts: Sequence[str], *, last: str = ", ") -> str:
    """Return texts separated by commas, with the separator ``last`` before the last one.

    Of more than `N_NAMED` texts, return the first ones and the number of the others.
    """
    if len(texts) > N_NAMED:
        return f"{', '.join(texts[:N_NAMED])} and {len(texts) - N_NAMED:,} more"
    if len(texts) < 2:
        return "".join(texts)
    return ", ".join(texts[:-1]) + last + texts[-1]


def _labels_to_dicts(advice: Advice) -> list[dict[str, Any]]:
    """Return a dict for each label, with its measures and its F1, as values for JSON."""
    diagnosis = advice.diagnosis
    names = advice.data.labels
    label_f1 = advice[advice.selected].label_f1
    untreated = _untreated_result(advice)
    is_learnable = ~advice.not_learnable_yet & (diagnosis.counts > 0)
    label_dicts = []
    for label, name in enumerate(names):
        partner_name = None
        partner_share = None
        top_cooccurrence = diagnosis.top_cooccurrence[label]
        if top_cooccurrence is not None:
            partner, partner_share = top_cooccurrence
            partner_name = names[partner]
        label_dicts.append(
            {
                "name": name,
                "rows": int(diagnosis.counts[label]),
                "irlbl": to_json_value(diagnosis.irlbl[label]),
                "scumble": to_json_value(diagnosis.scumble[label]),
                "is_rare": bool(diagnosis.is_rare[label]),
                "company": partner_name,
                "company_share": partner_share,
                "f1": float(label_f1[label]),
                "f1_untreated": None if untreated is None else float(untreated.label_f1[label]),
                "learnable": bool(is_learnable[label]),
            }
        )
    return label_dicts


def _result_to_dict(result: CandidateResult, selected: str) -> dict[str, Any]:
    """Return a candidate and its estimates as values for JSON.

    ``selected`` is the name of the recommended candidate.
    """
    candidate = result.candidate
    expected = {metric: result.expected[metric]._asdict() for metric in METRICS}
    return {
        "name": candidate.name,
        "what": candidate.description,
        "family": candidate.family,
        "chosen": candidate.name == selected,
        "expected": to_json_value(expected),
        "gain": to_json_value(result.gain._asdict()),
        "seconds": result.seconds,
        "shell": candidate.shell,
        "python": candidate.python,
    }
