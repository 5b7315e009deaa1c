"""What treatments did, in words: before and after one of them, and several side by side."""

import math
from itertools import pairwise
from typing import Any

from scumble._core.text import format_number, format_significant, pluralize

#: The rows of a before/after table: attribute of `Summary`, title, how to print it.
BEFORE_AFTER_MEASURES = (
    ("n_instances", "instances", ",d"),
    ("n_labelsets", "labelsets", ",d"),
    ("n_single_labelsets", "single labelsets", ",d"),
    ("max_labelset_count", "most frequent labelset", ",d"),
    ("n_unlabelled", "instances without labels", ",d"),
    ("cardinality", "cardinality", ".4f"),
    ("density", "density", ".4f"),
    ("mean_ir", "MeanIR", ".4f"),
    ("max_ir", "MaxIR", ".4f"),
    ("scumble", "SCUMBLE", ".6f"),
    ("scumble_cv", "SCUMBLE.CV", ".4f"),
    ("tcs", "TCS", ".4f"),
)
#: What is shown of each method: key, title, and whether less of it is better; None: neither.
MEASURES = (
    ("scumble", "SCUMBLE", True),
    ("mean_ir", "MeanIR", True),
    ("max_ir", "MaxIR", True),
    ("cvir", "CVIR", True),
    ("n_instances", "Rows", None),
    ("n_unlabelled", "Rows without labels", True),
)
BETTER, WORSE, SAME, CHANGED = "better", "worse", "same", "changed"
#: What these measures cannot tell.
CAVEAT = "whether that helps a classifier, only cross-validation tells"


def measure_change_rows(treatment: dict[str, Any]) -> list[tuple[str, ...]]:
    """Write the traits of a data set before a treatment, and after each step."""
    steps = (treatment["before"], *treatment["steps"])
    return [
        (title, *(format_number(step[key], spec) for step in steps))
        for key, title, spec in BEFORE_AFTER_MEASURES
    ]


def step_titles(report: dict[str, Any]) -> list[str]:
    """Name the columns of a before/after table."""
    if "methods" in report:
        return [f"after {_title(step)}" for step in report["methods"]]
    n_steps = len(report["steps"])
    return ["after"] if n_steps == 1 else [f"pass {at}" for at in range(1, n_steps + 1)]


def step_notes(report: dict[str, Any]) -> list[str]:
    """Say in words what each step did."""
    if "methods" in report:
        unlabelled = [each["n_unlabelled"] for each in (report["before"], *report["steps"])]
        return [
            f"{pluralize(step['n_added'], 'instance')} added, {step['n_removed']:,} removed."
            + _on_one_sided(step, after - before)
            for step, (before, after) in zip(report["methods"], pairwise(unlabelled), strict=False)
        ]
    notes = [
        f"{met['n_above_mean']:,} instances above the mean, {met['n_one_sided']:,} of them with "
        f"only frequent or only rare labels; {met['n_added']:,} clones added."
        for met in report["passes"]
    ]
    if len(notes) == len(report["steps"]):
        return notes
    # Data outside of memory is measured after the last pass only.
    return [" ".join(f"Pass {at}: {note}" for at, note in enumerate(notes, start=1))]


def _on_one_sided(step: dict[str, Any], n_unlabelled: int) -> str:
    """Say that copies without labels were made, and why it matters (see the guide, one_sided)."""
    n_one_sided = step.get("n_one_sided") or 0
    if n_one_sided == 0:
        return ""
    met = f" {pluralize(n_one_sided, 'instance')} had only rare or only frequent labels"
    if n_unlabelled <= 0:
        return f"{met} and stayed whole."
    return (
        f"{met}: of each pair of rows made from one of them, one has no label at all "
        f"({pluralize(n_unlabelled, 'row')} in all). Such a row tells a classifier that none of "
        "the labels applies: on enron it lowered the recall of binary relevance from 0.50 to 0.28, "
        "where one_sided=keep, which leaves these instances whole, gave 0.49."
    )


def prepare_treatments(
    report: dict[str, Any], treatment: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """List the treatments a report shows, ready to be laid out."""
    found = [*report.get("treatments", ()), *([] if treatment is None else [treatment])]
    return [_laid_out(each) for each in found]


def _laid_out(each: dict[str, Any]) -> dict[str, Any]:
    titles = step_titles(each)
    notes = [f"{title}: {note}" for title, note in zip(titles, step_notes(each), strict=True)]
    told = {
        "method": _method_of(each),
        "titles": titles,
        "rows": measure_change_rows(each),
        "notes": notes,
    }
    return {"chord": None, **each, **told}


def _method_of(report: dict[str, Any]) -> str:
    titles = " + ".join(_title(step) for step in report.get("methods", ()))
    return titles or report.get("method") or "REMEDIAL"


def _title(step: dict[str, Any]) -> str:
    return str(step.get("title") or step["method"])


def resampler_comparison(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Judge every change against the data as it is, by what `compare_methods` gives."""
    from scumble.measures.summary import to_json_value

    # `part` of a change is that of the value before, None where that is 0; NaN is None.
    first, *others = map(to_json_value, rows)
    before = {key: first[key] for key, _, _ in MEASURES}
    methods = [_judge(row, before) for row in others]
    return {
        "measures": [
            {"key": key, "title": title, "less_is_better": less} for key, title, less in MEASURES
        ],
        "before": before,
        "methods": methods,
        "verdict": _verdict(methods, before),
    }


def _judge(row: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    told = ("method", "error", "n_added", "n_removed", "seconds")
    judged = MEASURES if row["error"] is None else ()
    changes = {key: _change(before[key], row[key], less) for key, _, less in judged}
    return {**{key: row.get(key) for key in told}, "changes": changes}


def _change(before: float | None, after: float | None, less: bool | None) -> dict[str, Any]:
    if before is None or after is None:
        return {"value": after, "part": None, "verdict": SAME if before == after else CHANGED}
    verdict = CHANGED if less is None else BETTER if (after < before) == less else WORSE
    if math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12):
        verdict = SAME
    part = (after - before) / before if before else None
    return {"value": after, "part": part, "verdict": verdict}


def _verdict(methods: list[dict[str, Any]], before: dict[str, Any]) -> str:
    """Name the methods that lower concurrence and imbalance most, in one sentence."""
    best = {
        title: (one["method"], _most(title, before[key], one["changes"][key]))
        for key, title in (("scumble", "SCUMBLE"), ("mean_ir", "MeanIR"))
        if (one := _lowest(methods, key)) is not None
    }
    if not best:
        return f"No method lowers SCUMBLE or MeanIR here; {CAVEAT.replace('that', 'one of them')}."
    if len(best) == 1:
        [(title, (method, told))] = best.items()
        other = "MeanIR" if title == "SCUMBLE" else "SCUMBLE"
        return f"{method} lowers {told}, and no method lowers {other}; {CAVEAT}."
    (first, scumble), (second, mean_ir) = best.values()
    rest = mean_ir if second == first else f"{second} lowers {mean_ir}"
    return f"{first} lowers {scumble}, and {rest}; {CAVEAT}."


def _lowest(methods: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    better = [one for one in methods if one["changes"].get(key, {}).get("verdict") == BETTER]
    return min(better, key=lambda one: one["changes"][key]["value"], default=None)


def _most(title: str, before: float, change: dict[str, Any]) -> str:
    return f"{title} most ({format_significant(before)} to {format_significant(change['value'])})"
