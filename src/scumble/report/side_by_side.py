"""What several resamplers do to the same data: which changes are good, which bad, in words."""

from __future__ import annotations

import math
from typing import Any

from scumble._core.text import significant
from scumble.measures.summary import plain

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


def side_by_side(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Judge every change against the data as it is, by what `compare_methods` gives."""
    # `part` of a change is that of the value before, None where that is 0; NaN is None.
    first, *others = rows
    before = {key: plain(first[key]) for key, _, _ in MEASURES}
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
    changes = {key: _change(before[key], plain(row[key]), less) for key, _, less in judged}
    return {**{key: row.get(key) for key in told}, "changes": changes}


def _change(before: float | None, after: float | None, less: bool | None) -> dict[str, Any]:
    if before is None or after is None:
        return {"value": after, "part": None, "verdict": SAME if before == after else CHANGED}
    verdict = WORSE if less is not None else CHANGED
    if math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12):
        verdict = SAME
    elif less is not None and (after < before) == less:
        verdict = BETTER
    return {
        "value": after,
        "part": (after - before) / before if before else None,
        "verdict": verdict,
    }


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
    return f"{title} most ({significant(before)} to {significant(change['value'])})"
