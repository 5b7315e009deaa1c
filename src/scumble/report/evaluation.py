"""The result of a cross-validation, laid out for the terminal."""

from __future__ import annotations

from typing import Any

from scumble._core.text import format_number, safe, shown_path
from scumble.report.terminal import Line, Segment, table

MIB = 2**20
#: What is told of a group of labels.
OF_GROUPS = ("macro_precision", "macro_recall", "macro_f1", "micro_f1", "never_predicted")


def render_evaluation(result: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Lay out the metrics of a cross-validation with what it cost."""
    resampled = "" if result["resample"] is None else f" after {safe(result['resample'])}"
    tested = result.get("test")
    where = f"{len(result['folds'])} folds" if tested is None else f"tested on {_read(tested)}"
    base = safe((result.get("base") or "").rpartition(".")[2])
    learner = f"{safe(result['classifier'])}{f' of {base}' if base else ''}{resampled}"
    title = f"{safe(result['data']) or 'data'}: {learner}, {where}"
    groups = result.get("groups", ())
    rows = [
        (name, *_numbers(spread["mean"], spread["sd"]))
        for name, spread in result["metrics"].items()
        if not groups or "." not in name
    ]
    # One test part has one value, and no spread.
    heads, n_numbers = (("mean", "sd", "pooled"), 3) if tested is None else (("value",), 1)
    lines: list[Line] = [[Segment(title, "title")]]
    lines += table(("metric", *heads[:2]), [row[: 1 + n_numbers] for row in rows], width=width)
    for group in groups:
        own = [row[: 1 + n_numbers] for row in _group(result, group)]
        lines += table((f"{group} labels", *heads), own)
    lines += [[Segment(text, "dim")] for text in (*_treatment(result), _cost(result))]
    return lines


def render_judgement(
    result: dict[str, Any], *, top: int = 20, chosen: bool = False, width: int | None = None
) -> list[Line]:
    """Lay out what predictions are worth: metrics, then labels, the rarest first."""
    title = (
        f"{_read(result['predictions'])} against {_read(result['truth'])}: "
        f"{result['n_instances']:,} instances, {result['n_labels']:,} labels"
    )
    if result["cut"] is not None:
        title += f", predicted from a score of {result['cut']:g} on"
    rows = [(name, *_numbers(value)) for name, value in result["metrics"].items()]
    rare = {f"minority.{name}" for name in OF_GROUPS}
    if not chosen:  # all metrics of all groups are too many to read
        rows = [row for row in rows if "." not in row[0] or row[0] in rare]
    ranked = sorted(result["labels"], key=lambda label: label["positives"])
    shown = ranked[:top] if top else ranked
    columns = [name for name in _COLUMNS if shown and name in shown[0]]
    cells = [(safe(one["name"]), *(_cell(name, one[name]) for name in columns)) for one in shown]
    lines: list[Line] = [[Segment(title, "title")]]
    lines += table(("metric", "value"), rows, width=width)
    lines += table(("label", *(name.replace("_", " ") for name in columns)), cells, width=width)
    if len(shown) < len(ranked):
        more = f"the {len(shown)} rarest of {len(ranked):,} labels; --top 0 shows all"
        lines.append([Segment(more, "dim")])
    return lines


#: What is told of a label, where it is known.
_COLUMNS = (
    "positives", "training_positives", "true_positives", "false_positives", "precision", "recall",
    "f1", "auc",
)  # fmt: skip


def _cell(name: str, value: float | None) -> str:
    return format_number(value, ",.0f" if name.endswith("positives") else ",.4f")


def _group(result: dict[str, Any], group: str) -> list[tuple[str, ...]]:
    """Tell of a group of labels the mean over folds, and what counts added up over folds say."""
    found = {name: result["metrics"][f"{group}.{name}"] for name in OF_GROUPS}
    return [
        (name, *_numbers(spread["mean"], spread["sd"], result["pooled"][f"{group}.{name}"]))
        for name, spread in found.items()
    ]


def _numbers(*values: float | None) -> list[str]:
    return [format_number(value, ",.4f") for value in values]


def _treatment(result: dict[str, Any]) -> list[str]:
    """Tell what resampling did to the training parts, on average."""
    folds = [fold for fold in result["folds"] if fold["before"] is not None]
    if not folds:
        return []

    def mean(when: str, measure: str) -> float:
        values = [fold[when][measure] for fold in folds]
        return sum(v for v in values if v is not None) / max(1, len(values) - values.count(None))

    rows, ratios, scores = (
        [mean(when, measure) for when in ("before", "after")]
        for measure in ("n_instances", "mean_ir", "scumble")
    )
    return [
        f"training parts: {rows[0]:,.0f} to {rows[1]:,.0f} instances, MeanIR {ratios[0]:,.2f} to "
        f"{ratios[1]:,.2f}, SCUMBLE {scores[0]:.4f} to {scores[1]:.4f}"
    ]


def _cost(result: dict[str, Any]) -> str:
    seconds = result["seconds"]
    before = "" if result["resample"] is None else f"{seconds['resample']:.2f} s to resample, "
    what = "a fold" if result.get("test") is None else "it"
    return (
        f"{what} took {before}{seconds['fit']:.2f} s to fit and {seconds['predict']:.2f} s to "
        f"predict; at most {result['peak_memory'] / MIB:,.0f} MiB; seed {result['random_state']}"
    )


def _read(path: str) -> str:
    """Name a file that was read."""
    return safe(shown_path(path, "standard input"))
