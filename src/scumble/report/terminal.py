"""Reports for the terminal, as lines of styled segments.

Text is laid out here once; the front door decides about colour. Names come from files, so
control characters in them are made visible and can never reach the terminal.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scumble._core.text import (
    align,
    escape_controls,
    format_number,
    format_significant,
    pluralize,
    wrap,
)
from scumble.report.treatment import measure_change_rows, step_notes, step_titles


class Segment(NamedTuple):
    """A piece of text and how it should look."""

    text: str
    style: str = ""  # "", "title", "head", "rare" or "dim"


Line = list[Segment]


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    styles: Sequence[str] = (),
    width: int | None = None,
) -> list[Line]:
    """Lay out a table: the first column flush left, all others flush right."""
    lines = align(head, [[escape_controls(cell) for cell in row] for row in rows], width)
    looks = [("head", "head"), *((style, "") for style in styles or [""] * (len(lines) - 1))]
    return [
        [Segment(first, style), Segment("".join(f"  {cell}" for cell in others), rest)]
        for (first, *others), (style, rest) in zip(lines, looks, strict=True)
    ]


def cells(row: Mapping[str, Any], specs: Mapping[str, str]) -> list[str]:
    """Write some values of a row, each by its format; an empty one means significant digits."""
    return [
        format_number(row[key], spec) if spec else format_significant(row[key])
        for key, spec in specs.items()
    ]


def wrap_lines(texts: Iterable[str], width: int | None, style: str = "") -> list[Line]:
    """Break sentences into lines."""
    return [[Segment(part, style)] for text in texts for part in wrap(escape_controls(text), width)]


def render_report(report: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Lay out a concurrence report.

    Parameters
    ----------
    report : dict
        From `scumble.report.concurrence_report`.
    width : int, optional
        Cells a line may take.

    Returns
    -------
    list of list of Segment
        The lines.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import concurrence_report, render_report
    >>> films = [["war"], ["war", "love"], ["war", "noir"], ["war", "love"]]
    >>> data = scumble.MultilabelDataset([[0.0]] * 4, films, name="films")
    >>> for line in render_report(concurrence_report(data))[:2]:
    ...     print("".join(part.text for part in line))
    Concurrence report: films
    Mean SCUMBLE 0.07859548 with CV 1.085412
    """
    summary = report["summary"]
    mean, spread = (format_significant(summary[key], 7) for key in ("scumble", "scumble_cv"))
    lines: list[Line] = [
        [Segment(f"Concurrence report: {escape_controls(summary['name']) or 'data set'}", "title")],
        [Segment(f"Mean SCUMBLE {mean} with CV {spread}")],
        [],
        *wrap_lines(report["verdict"], width),
        [],
        [Segment("SCUMBLE by label (rarer than average: marked *)", "title")],
        *render_labels(report["labels"], frequency=False, width=width),
    ]
    for label in report["difficult"]:
        lines += _difficult_lines(label, width)
    for treatment in report.get("treatments", ()):
        lines += [
            [],
            [Segment(f"Before and after {escape_controls(treatment['method'])}", "title")],
        ]
        lines += render_treatment(treatment, width=width)
    return lines


def _difficult_lines(label: dict[str, Any], width: int | None) -> list[Line]:
    met = "it meets" if label["partners"] else "it meets no majority label"
    lines: list[Line] = [
        [],
        [Segment("Difficult label "), Segment(escape_controls(label["name"]), "rare")],
        [Segment(f"  {describe_difficult_label(label)}; {met}")],
    ]
    if not label["partners"]:
        return lines
    rows = [
        (
            f"    {partner['name']}",
            *joint_count_cells(partner, label),
            format_significant(partner["scumble"]),
        )
        for partner in label["partners"]
    ]
    lines += table(("    majority label", "together", "share", "SCUMBLE"), rows, width=width)
    hidden = label["n_partners"] - len(label["partners"])
    if hidden:
        lines.append([Segment(f"    and {hidden} more", "dim")])
    return lines


def describe_difficult_label(label: dict[str, Any]) -> str:
    """Write how often a difficult label occurs, how rare it is and in how unequal company."""
    irlbl, scumble = cells(label, {"irlbl": ",.1f", "scumble": ""})
    return f"{pluralize(label['count'], 'instance')}, IRLbl {irlbl}, SCUMBLE {scumble}"


def joint_count_cells(partner: dict[str, Any], label: dict[str, Any]) -> tuple[str, str]:
    """Write how often a label meets a partner, and in which part of its instances."""
    times = partner["joint_count"]
    return format_number(times), f"{100 * times / label['count']:.0f} %"


def render_treatment(report: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Lay out the traits of a data set before and after a treatment.

    Parameters
    ----------
    report : dict
        From `scumble.resample.apply_remedial` or `scumble.resample.apply_chain`.
    width : int, optional
        Cells a line may take.

    Returns
    -------
    list of list of Segment
        The lines.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import render_treatment
    >>> from scumble.resample import apply_remedial
    >>> films = [["war"], ["war", "love"], ["war", "noir"], ["war", "love"]]
    >>> _, report = apply_remedial(scumble.MultilabelDataset([[0.0]] * 4, films))
    >>> for line in render_treatment(report)[:2]:
    ...     print("".join(part.text for part in line))
                                before     after
    instances                        4         5
    """
    titles = step_titles(report)
    notes = zip(titles, step_notes(report), strict=True)
    several = len(report["steps"]) > 1
    said = [f"{title}: {note}" if several else note for title, note in notes]
    lines = table(("", "before", *titles), measure_change_rows(report), width=width)
    return [*lines, [], *wrap_lines(said, width)]


def render_comparison(rows: list[dict[str, Any]], *, width: int | None = None) -> list[Line]:
    """Lay out what several methods do to a data set.

    Parameters
    ----------
    rows : list of dict
        From `scumble.resample.compare_methods`.
    width : int, optional
        Cells a line may take.

    Returns
    -------
    list of list of Segment
        The lines.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import render_comparison
    >>> from scumble.resample import compare_methods
    >>> films = [["war"], ["war", "love"], ["war", "noir"], ["war", "love"]]
    >>> rows = compare_methods(scumble.MultilabelDataset([[0.0]] * 4, films), ["remedial"])
    >>> [line[0].text.strip() for line in render_comparison(rows)]
    ['method', 'none', 'remedial']
    """
    done = [(row["method"], *cells(row, COMPARED)) for row in rows if row["error"] is None]
    head = ("method", "instances", "added", "removed", "MeanIR", "MaxIR", "CVIR", "SCUMBLE", "s")
    failed = [f"{row['method']} failed: {row['error']}" for row in rows if row["error"] is not None]
    return [*table(head, done, width=width), *wrap_lines(failed, width, "dim")]


#: What tables show of a resampler, a label and a labelset, with formats.
COMPARED = dict.fromkeys(("n_instances", "n_added", "n_removed"), ",d")
COMPARED |= {"mean_ir": ",.2f", "max_ir": ",.2f", "cvir": ".4f", "scumble": ".4f", "seconds": ".2f"}
LABEL_FORMATS = {
    "count": ",d",
    "frequency": ".4f",
    "irlbl": ",.2f",
    "scumble": "",
    "scumble_cv": "",
}
LABELSET_FORMATS = {"count": ",d", "imbalance": ",.2f", "scumble": ""}

SUMMARY_ROWS = (
    ("Instances", "n_instances", ",d"),
    ("Instances: without labels", "n_unlabelled", ",d"),
    ("Features", "n_features", ",d"),
    ("Labels", "n_labels", ",d"),
    ("Labels: never seen", "n_unseen", ",d"),
    ("Labels: rarer than average", "n_minority", ",d"),
    ("Labelsets", "n_labelsets", ",d"),
    ("Labelsets: that occur once", "n_single_labelsets", ",d"),
    ("Labelsets: most frequent", "max_labelset_count", ",d"),
    ("Cardinality", "cardinality", ".4f"),
    ("Density", "density", ".4f"),
    ("Diversity", "diversity", ".4f"),
    ("P(min)", "p_min", ".4f"),
    ("MeanIR", "mean_ir", ",.4f"),
    ("MaxIR", "max_ir", ",.4f"),
    ("CVIR", "cvir", ".4f"),
    ("SCUMBLE", "scumble", ".6f"),
    ("SCUMBLE.CV", "scumble_cv", ".4f"),
    ("TCS", "tcs", ".4f"),
)


def measure_rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    """List all measures of a report."""
    values, kinds = report["summary"], report["features"].items()
    rows = [(title, format_number(values[key], spec)) for title, key, spec in SUMMARY_ROWS]
    return rows + [(f"Features: {kind}", format_number(count)) for kind, count in kinds]


def render_summary(numbers: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Lay out the measures of a data set; a part of something stands indented below it."""
    rows = [
        (re.sub(".*: ", "  ", title), format_number(numbers[key], spec))
        for title, key, spec in SUMMARY_ROWS
    ]
    title: Line = [Segment(escape_controls(numbers["name"]) or "data set", "title")]
    return [title, *table(("", ""), rows, width=width)[1:]]


def render_labels(
    rows: list[dict[str, Any]], *, frequency: bool = True, width: int | None = None
) -> list[Line]:
    """Lay out the labels with their measures."""
    shown = {key: spec for key, spec in LABEL_FORMATS.items() if frequency or key != "frequency"}
    head = ("label", "count", *(["frequency"] if frequency else []), "IRLbl", "SCUMBLE", "CV")
    lines = [
        (row["name"] + (" *" if row["is_minority"] else ""), *cells(row, shown)) for row in rows
    ]
    styles = ["rare" if row["is_minority"] else "" for row in rows]
    return table(head, lines, styles=styles, width=width)


def render_thresholds(report: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Lay out the thresholds of labels."""
    title = report["metric"].upper()
    never = {"inf": "never", "-inf": "always"}
    rows = [
        (
            str(row["label"]),
            format_number(row["positives"]),
            never.get(row["threshold"]) or format_significant(row["threshold"]),
            *cells(row, {"predicted": ",d", "expected": ".4f"}),
        )
        for row in report["labels"]
    ]
    head = ("label", "positives", "threshold", "predicted", f"expected {title}")
    lines = table(head, rows, width=width)
    words = (
        f"Mean {title} to expect {format_number(report['mean_expected'], '.4f')}; "
        f"{report['n_silent']:,} of {len(report['labels']):,} labels are never predicted."
    )
    return [*lines, [], *wrap_lines([words], width)]


def render_labelsets(
    rows: list[dict[str, Any]], n_all: int, *, width: int | None = None
) -> list[Line]:
    """Lay out the labelsets."""
    shown = [
        (", ".join(row["labels"]) or "(no label)", *cells(row, LABELSET_FORMATS)) for row in rows
    ]
    lines = table(("labelset", "count", "imbalance", "SCUMBLE"), shown, width=width)
    if n_all > len(rows):
        lines.append([Segment(f"and {n_all - len(rows):,} more (--top 0 shows all)", "dim")])
    return lines
