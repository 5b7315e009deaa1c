"""Reports as text for the terminal: lists of lines, which are lists of styled segments.

Functions whose name begins with ``render_`` take a result as a dict, or a list of dicts, of plain
values and return lines. ``width`` is the maximum number of characters of a line; None means no
limit. The caller prints the lines and decides which colour a style has. Names come from files, so
control characters in them are made visible and never reach the terminal.
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
    """A piece of text with one style."""

    text: str
    style: str = ""  # "" (plain), "title", "head" (of a table), "rare" (label) or "dim"


Line = list[Segment]


def table_lines(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    styles: Sequence[str] = (),
    width: int | None = None,
) -> list[Line]:
    """Return the lines of a table: one for the column titles, then one for each row.

    ``head`` holds the column titles, ``rows`` the texts of the cells, and ``styles`` the style of
    the first cell of each row, by default plain. The first column is aligned left, all others
    right.
    """
    escaped_rows = [[escape_controls(cell) for cell in row] for row in rows]
    aligned_head, *aligned_rows = align(head, escaped_rows, width)
    if not styles:
        styles = [""] * len(aligned_rows)
    lines = [_table_line(aligned_head, "head", "head")]
    for row, style in zip(aligned_rows, styles, strict=True):
        lines.append(_table_line(row, style, ""))
    return lines


def _table_line(row: Sequence[str], first_style: str, style: str) -> Line:
    """Return a row of aligned cells as a line; the first cell has a style of its own."""
    first, *remaining = row
    return [
        Segment(first, first_style),
        Segment("".join(f"  {cell}" for cell in remaining), style),
    ]


def format_cells(row: Mapping[str, Any], formats: Mapping[str, str]) -> list[str]:
    """Return the values of a row under the keys of ``formats`` as texts.

    ``formats`` maps each key to a format specification of Python such as ``",d"``; "" means four
    significant digits. None becomes a dash.
    """
    return [
        format_number(row[key], spec) if spec else format_significant(row[key])
        for key, spec in formats.items()
    ]


def wrap_lines(texts: Iterable[str], width: int | None, style: str = "") -> list[Line]:
    """Return texts as lines of one style; each text begins a new line and is wrapped at spaces."""
    lines: list[Line] = []
    for text in texts:
        lines += [[Segment(part, style)] for part in wrap(escape_controls(text), width)]
    return lines


def render_report(report: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Return a concurrence report as lines of text.

    Parameters
    ----------
    report : dict
        From `scumble.report.concurrence_report`.
    width : int, optional
        Maximum width of a line, in characters.

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
    mean = format_significant(summary["scumble"], 7)
    variation = format_significant(summary["scumble_cv"], 7)
    lines: list[Line] = [
        [Segment(f"Concurrence report: {escape_controls(summary['name']) or 'data set'}", "title")],
        [Segment(f"Mean SCUMBLE {mean} with CV {variation}")],
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
    """Return the lines about a difficult label, with a table of its co-occurring majority labels.

    ``label`` is a dict as in the list ``difficult`` of `concurrence_report`.
    """
    if label["partners"]:
        introduction = "it co-occurs with"
    else:
        introduction = "it co-occurs with no majority label"
    lines: list[Line] = [
        [],
        [Segment("Difficult label "), Segment(escape_controls(label["name"]), "rare")],
        [Segment(f"  {describe_difficult_label(label)}; {introduction}")],
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
    lines += table_lines(("    majority label", "together", "share", "SCUMBLE"), rows, width=width)
    n_hidden = label["n_partners"] - len(label["partners"])
    if n_hidden:
        lines.append([Segment(f"    and {n_hidden} more", "dim")])
    return lines


def describe_difficult_label(label: dict[str, Any]) -> str:
    """Return count, IRLbl and SCUMBLELbl of a difficult label as one text."""
    irlbl, scumble = format_cells(label, {"irlbl": ",.1f", "scumble": ""})
    return f"{pluralize(label['count'], 'instance')}, IRLbl {irlbl}, SCUMBLE {scumble}"


def joint_count_cells(partner: dict[str, Any], label: dict[str, Any]) -> tuple[str, str]:
    """Return the joint count of ``partner`` and ``label``, and its share of the label's count.

    Both are texts; the share is in percent.
    """
    joint_count = partner["joint_count"]
    return format_number(joint_count), f"{100 * joint_count / label['count']:.0f} %"


def render_treatment(report: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Return the measures of a data set before and after resampling as lines of text.

    Parameters
    ----------
    report : dict
        From `scumble.resample.apply_remedial` or `scumble.resample.apply_chain`.
    width : int, optional
        Maximum width of a line, in characters.

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
    notes = step_notes(report)
    if len(report["steps"]) > 1:
        notes = [f"{title}: {note}" for title, note in zip(titles, notes, strict=True)]
    lines = table_lines(("", "before", *titles), measure_change_rows(report), width=width)
    return [*lines, [], *wrap_lines(notes, width)]


def render_comparison(rows: list[dict[str, Any]], *, width: int | None = None) -> list[Line]:
    """Return a table of the measures of a data set after each of several resamplers, as lines.

    The errors of resamplers that failed follow the table.

    Parameters
    ----------
    rows : list of dict
        From `scumble.resample.compare_methods`: one for the original data ("none"), then one for
        each resampler.
    width : int, optional
        Maximum width of a line, in characters.

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
    head = ("method", "instances", "added", "removed", "MeanIR", "MaxIR", "CVIR", "SCUMBLE", "s")
    lines = [
        (row["method"], *format_cells(row, COMPARISON_FORMATS))
        for row in rows
        if row["error"] is None
    ]
    errors = [f"{row['method']} failed: {row['error']}" for row in rows if row["error"] is not None]
    return [*table_lines(head, lines, width=width), *wrap_lines(errors, width, "dim")]


# Columns of tables: the key of the value, and its format as in `format_cells`.
#: Columns of the table of resamplers.
COMPARISON_FORMATS = {
    "n_instances": ",d",
    "n_added": ",d",
    "n_removed": ",d",
    "mean_ir": ",.2f",
    "max_ir": ",.2f",
    "cvir": ".4f",
    "scumble": ".4f",
    "seconds": ".2f",
}
#: Columns of the table of labels.
LABEL_FORMATS = {
    "count": ",d",
    "frequency": ".4f",
    "irlbl": ",.2f",
    "scumble": "",
    "scumble_cv": "",
}
#: Columns of the table of labelsets.
LABELSET_FORMATS = {"count": ",d", "imbalance": ",.2f", "scumble": ""}

#: Rows of the table of all measures: title, key, format. "Labels: never seen" is a part of
#: "Labels"; the terminal shows it indented and without the text up to the colon.
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


#: Format of the measures of a summary that are not in `SUMMARY_ROWS`; their title is their name.
OTHER_MEASURE_FORMAT = ".4f"


def summary_rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return titles and values of all measures of a summary, those of other authors last."""
    rows = [(title, format_number(summary[key], spec)) for title, key, spec in SUMMARY_ROWS]
    keys_in_rows = {"name", *(key for _, key, _ in SUMMARY_ROWS)}
    for key, value in summary.items():
        if key not in keys_in_rows:
            rows.append((key, format_number(value, OTHER_MEASURE_FORMAT)))
    return rows


def measure_rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the rows of a table of all measures, as pairs of a title and a formatted value.

    ``report`` is that of `concurrence_report`. The last rows are the numbers of features by kind.
    """
    rows = summary_rows(report["summary"])
    for kind, count in report["features"].items():
        rows.append((f"Features: {kind}", format_number(count)))
    return rows


def render_summary(summary: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Return the measures of a data set as lines; parts of a count are indented below it.

    ``summary`` is the result of `Summary.to_dict`.
    """
    rows = [(re.sub(".*: ", "  ", title), value) for title, value in summary_rows(summary)]
    title: Line = [Segment(escape_controls(summary["name"]) or "data set", "title")]
    return [title, *table_lines(("", ""), rows, width=width)[1:]]


def render_labels(
    rows: list[dict[str, Any]], *, frequency: bool = True, width: int | None = None
) -> list[Line]:
    """Return the measures of labels as a table; minority labels are marked by a star.

    ``rows`` are those of `scumble.report.concurrence.label_rows`; ``frequency`` says whether there
    is a column for the share of instances with the label.
    """
    formats = dict(LABEL_FORMATS)
    head = ["label", "count", "frequency", "IRLbl", "SCUMBLE", "CV"]
    if not frequency:
        del formats["frequency"]
        head.remove("frequency")
    lines = []
    styles = []
    for row in rows:
        mark = " *" if row["is_minority"] else ""
        lines.append((row["name"] + mark, *format_cells(row, formats)))
        styles.append("rare" if row["is_minority"] else "")
    return table_lines(head, lines, styles=styles, width=width)


def render_thresholds(report: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Return the decision thresholds of labels as a table, followed by a sentence on all labels.

    ``report`` is the result of `ThresholdTable.to_dict`.
    """
    metric = report["metric"].upper()
    text_of_infinity = {"inf": "never", "-inf": "always"}
    rows = [
        (
            str(row["label"]),
            format_number(row["positives"]),
            text_of_infinity.get(row["threshold"]) or format_significant(row["threshold"]),
            *format_cells(row, {"predicted": ",d", "expected": ".4f"}),
        )
        for row in report["labels"]
    ]
    head = ("label", "positives", "threshold", "predicted", f"expected {metric}")
    lines = table_lines(head, rows, width=width)
    sentence = (
        f"Mean {metric} to expect {format_number(report['mean_expected'], '.4f')}; "
        f"{report['n_silent']:,} of {len(report['labels']):,} labels are never predicted."
    )
    return [*lines, [], *wrap_lines([sentence], width)]


def render_labelsets(
    rows: list[dict[str, Any]], n_all: int, *, width: int | None = None
) -> list[Line]:
    """Return labelsets as a table; ``n_all`` is the number of all labelsets, also those not listed.

    ``rows`` are those of `scumble.report.concurrence.frequent_labelsets`.
    """
    formatted_rows = [
        (", ".join(row["labels"]) or "(no label)", *format_cells(row, LABELSET_FORMATS))
        for row in rows
    ]
    lines = table_lines(("labelset", "count", "imbalance", "SCUMBLE"), formatted_rows, width=width)
    if n_all > len(rows):
        lines.append([Segment(f"and {n_all - len(rows):,} more (--top 0 shows all)", "dim")])
    return lines
