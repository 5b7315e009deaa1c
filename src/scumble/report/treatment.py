"""What a treatment did, in titles and sentences: the words of a before/after table."""

from __future__ import annotations

from typing import Any

from scumble._core.text import counted

#: The rows of a before/after table: attribute of `Summary`, title, how to print it.
TRAITS = (
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


def step_titles(report: dict[str, Any]) -> list[str]:
    """Name the columns of a before/after table."""
    if "methods" in report:
        return [f"after {_title(step)}" for step in report["methods"]]
    n_steps = len(report["steps"])
    return ["after"] if n_steps == 1 else [f"pass {at}" for at in range(1, n_steps + 1)]


def step_notes(report: dict[str, Any]) -> list[str]:
    """Say in words what each step did."""
    if "methods" in report:
        before = [report["before"], *report["steps"]]
        return [
            f"{counted(step['n_added'], 'instance')} added, {step['n_removed']:,} removed."
            + _on_one_sided(step, after["n_unlabelled"] - earlier["n_unlabelled"])
            for step, earlier, after in zip(
                report["methods"], before, report["steps"], strict=False
            )
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
    met = f" {counted(n_one_sided, 'instance')} had only rare or only frequent labels"
    if n_unlabelled <= 0:
        return f"{met} and stayed whole."
    return (
        f"{met}: of each pair of rows made from one of them, one has no label at all "
        f"({counted(n_unlabelled, 'row')} in all). Such a row tells a classifier that none of "
        "the labels applies: on enron it lowered the recall of binary relevance from 0.50 to 0.28, "
        "where one_sided=keep, which leaves these instances whole, gave 0.49."
    )


def all_treatments(
    report: dict[str, Any], treatment: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """List the treatments a report shows, ready to be laid out."""
    found = [*report.get("treatments", ()), *([] if treatment is None else [treatment])]
    return [
        {
            "method": _method_of(each),
            "before": each["before"],
            "steps": each["steps"],
            "titles": step_titles(each),
            "notes": step_notes(each),
            "chord": each.get("chord"),
        }
        for each in found
    ]


def _method_of(report: dict[str, Any]) -> str:
    titles = " + ".join(_title(step) for step in report.get("methods", ()))
    return titles or report.get("method") or "REMEDIAL"


def _title(step: dict[str, Any]) -> str:
    return str(step.get("title") or step["method"])
