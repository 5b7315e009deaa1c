"""Effects of resampling: before and after one resampler or chain, and several side by side.

A *treatment* is the report on a resampler or a chain, a dict from `scumble.resample.apply_remedial`
or `scumble.resample.apply_chain`: ``before`` and ``steps`` hold the measures of the data before
resampling and after each step. The steps of a chain are its resamplers; their reports are listed
under ``methods``. The steps of REMEDIAL are its passes over the data, listed under ``passes``.
"""

import math
from itertools import pairwise
from typing import Any

from scumble._core.text import format_number, format_significant, pluralize

#: The rows of a before/after table: attribute of `Summary`, title, format.
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
#: The measures that resamplers are compared by: key, title, and whether less is better (None: it is
#: neither better nor worse).
MEASURES = (
    ("scumble", "SCUMBLE", True),
    ("mean_ir", "MeanIR", True),
    ("max_ir", "MaxIR", True),
    ("cvir", "CVIR", True),
    ("n_instances", "Rows", None),
    ("n_unlabelled", "Rows without labels", True),
)
# Verdicts on the change of a measure by resampling.
BETTER = "better"
WORSE = "worse"
SAME = "same"
CHANGED = "changed"
#: A reminder that measures of data do not show the effect on classifiers.
CAVEAT = "only cross-validation shows whether that helps a classifier"


def measure_change_rows(treatment: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the rows of a before/after table: title, value before, and value after each step."""
    steps = (treatment["before"], *treatment["steps"])
    return [
        (title, *(format_number(step[key], spec) for step in steps))
        for key, title, spec in BEFORE_AFTER_MEASURES
    ]


def step_titles(report: dict[str, Any]) -> list[str]:
    """Return the titles of the columns of a before/after table that follow "before"."""
    if "methods" in report:
        return [f"after {_resampler_title(method)}" for method in report["methods"]]
    n_steps = len(report["steps"])
    if n_steps == 1:
        return ["after"]
    return [f"pass {number}" for number in range(1, n_steps + 1)]


def step_notes(report: dict[str, Any]) -> list[str]:
    """Return a sentence about each step: rows added and removed, and one-sided rows.

    A row is one-sided if REMEDIAL splits it although it has only rare or only frequent labels.
    """
    if "methods" in report:
        n_unlabelled = [summary["n_unlabelled"] for summary in (report["before"], *report["steps"])]
        return [
            f"{pluralize(method['n_added'], 'instance')} added, {method['n_removed']:,} removed."
            + _one_sided_note(method, after - before)
            for method, (before, after) in zip(
                report["methods"], pairwise(n_unlabelled), strict=False
            )
        ]
    notes = [
        f"{remedial_pass['n_above_mean']:,} instances above the mean, "
        f"{remedial_pass['n_one_sided']:,} of them with only frequent or only rare labels; "
        f"{remedial_pass['n_added']:,} clones added."
        for remedial_pass in report["passes"]
    ]
    if len(notes) == len(report["steps"]):
        return notes
    # Out-of-core data is measured after the last pass only, so there is only one column.
    return [" ".join(f"Pass {number}: {note}" for number, note in enumerate(notes, start=1))]


def _one_sided_note(method: dict[str, Any], n_new_unlabelled: int) -> str:
    """Return a note about one-sided rows and the copies without labels that they caused.

    ``method`` is the report on one resampler; the note is "" if it split no one-sided row. The
    effect of such copies is described in the guide, page "Decoupling".
    """
    n_one_sided = method.get("n_one_sided") or 0
    if n_one_sided == 0:
        return ""
    start = f" {pluralize(n_one_sided, 'instance')} had only rare or only frequent labels"
    if n_new_unlabelled <= 0:
        return f"{start} and stayed whole."
    return (
        f"{start}: of each pair of rows made from one of them, one has no label at all "
        f"({pluralize(n_new_unlabelled, 'row')} in all). Such a row teaches a classifier that none "
        "of the labels applies: on enron it lowered the recall of binary relevance from 0.50 to "
        "0.28, where one_sided=keep, which leaves these instances whole, gave 0.49."
    )


def prepare_treatments(
    report: dict[str, Any], treatment: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """Return the treatments of a concurrence report, and ``treatment`` if it is not None.

    Each has the texts for a page: method, titles, rows and notes.
    """
    treatments = list(report.get("treatments", ()))
    if treatment is not None:
        treatments.append(treatment)
    return [_prepare_treatment(item) for item in treatments]


def _prepare_treatment(treatment: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a treatment with the texts for a page: method, titles, rows and notes."""
    titles = step_titles(treatment)
    notes = step_notes(treatment)
    return {
        "chord": None,
        **treatment,
        "method": _treatment_title(treatment),
        "titles": titles,
        "rows": measure_change_rows(treatment),
        "notes": [f"{title}: {note}" for title, note in zip(titles, notes, strict=True)],
    }


def _treatment_title(report: dict[str, Any]) -> str:
    """Return the title of the resampler or the chain of a treatment."""
    titles = " + ".join(_resampler_title(method) for method in report.get("methods", ()))
    return titles or report.get("method") or "REMEDIAL"


def _resampler_title(method: dict[str, Any]) -> str:
    """Return the title of a resampler, or its name if it has none; ``method`` is its report."""
    return str(method.get("title") or method["method"])


def resampler_comparison(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the changes of measures by several resamplers, and a sentence about the best ones.

    ``rows`` are those of `scumble.resample.compare_methods`; the first one is the original data.
    The result has ``measures`` (key, title, and whether less is better), ``before`` (values of the
    original data), ``methods`` and ``verdict`` (the sentence). Each method has ``changes`` by key
    of the measure: ``value`` (after resampling), ``part`` (change divided by the value before, None
    if that is 0) and ``verdict``. NaN is replaced by None.
    """
    from scumble.measures.summary import to_json_value

    original, *resampled = map(to_json_value, rows)
    before = {key: original[key] for key, _, _ in MEASURES}
    methods = [_compare_with_original(row, before) for row in resampled]
    return {
        "measures": [
            {"key": key, "title": title, "less_is_better": less_is_better}
            for key, title, less_is_better in MEASURES
        ],
        "before": before,
        "methods": methods,
        "verdict": _verdict_sentence(methods, before),
    }


def _compare_with_original(row: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of a resampler in ``methods`` of `resampler_comparison`.

    ``before`` holds the measures of the original data. A resampler that failed has no changes.
    """
    changes = {}
    if row["error"] is None:
        for key, _, less_is_better in MEASURES:
            changes[key] = _change(before[key], row[key], less_is_better)
    return {
        "method": row.get("method"),
        "error": row.get("error"),
        "n_added": row.get("n_added"),
        "n_removed": row.get("n_removed"),
        "seconds": row.get("seconds"),
        "changes": changes,
    }


def _change(
    before: float | None, after: float | None, less_is_better: bool | None
) -> dict[str, Any]:
    """Return value, relative change and verdict of a measure, as `resampler_comparison` does.

    A value that is None is undefined; then there is no relative change, and the verdict is
    "changed" unless both values are None.
    """
    if before is None or after is None:
        return {"value": after, "part": None, "verdict": SAME if before == after else CHANGED}
    if math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12):
        verdict = SAME
    elif less_is_better is None:
        verdict = CHANGED
    else:
        verdict = BETTER if (after < before) == less_is_better else WORSE
    relative_change = (after - before) / before if before else None
    return {"value": after, "part": relative_change, "verdict": verdict}


def _verdict_sentence(methods: list[dict[str, Any]], before: dict[str, Any]) -> str:
    """Return a sentence that names the methods that lower SCUMBLE and MeanIR most.

    ``methods`` are those of `resampler_comparison`, ``before`` the measures of the original data.
    """
    lowest_scumble = _resampler_with_lowest(methods, "scumble")
    lowest_mean_ir = _resampler_with_lowest(methods, "mean_ir")
    scumble_text = _decrease_text("SCUMBLE", before["scumble"], lowest_scumble, "scumble")
    mean_ir_text = _decrease_text("MeanIR", before["mean_ir"], lowest_mean_ir, "mean_ir")
    if lowest_scumble is None and lowest_mean_ir is None:
        return (
            "No method lowers SCUMBLE or MeanIR here; only cross-validation shows whether one of "
            "them helps a classifier."
        )
    if lowest_mean_ir is None:
        method = lowest_scumble["method"]  # type: ignore[index]  # not None as well
        return f"{method} lowers {scumble_text}, and no method lowers MeanIR; {CAVEAT}."
    if lowest_scumble is None:
        method = lowest_mean_ir["method"]
        return f"{method} lowers {mean_ir_text}, and no method lowers SCUMBLE; {CAVEAT}."
    if lowest_mean_ir["method"] != lowest_scumble["method"]:
        mean_ir_text = f"{lowest_mean_ir['method']} lowers {mean_ir_text}"
    return f"{lowest_scumble['method']} lowers {scumble_text}, and {mean_ir_text}; {CAVEAT}."


def _resampler_with_lowest(methods: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    """Return the resampler after which a measure is lowest.

    Return None if no resampler lowers the measure. ``methods`` are those of `resampler_comparison`.
    """
    better_methods = [
        method for method in methods if method["changes"].get(key, {}).get("verdict") == BETTER
    ]
    return min(better_methods, key=lambda method: method["changes"][key]["value"], default=None)


def _decrease_text(title: str, before: float, method: dict[str, Any] | None, key: str) -> str:
    """Return a text such as "SCUMBLE most (0.27 to 0.1)", or "" if ``method`` is None.

    ``method`` is the report of the resampler that decreases the measure most. ``title`` and ``key``
    are those of the measure; ``before`` is its value for the original data.
    """
    if method is None:
        return ""
    after = method["changes"][key]["value"]
    return f"{title} most ({format_significant(before)} to {format_significant(after)})"
