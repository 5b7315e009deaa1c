"""The concurrence report as one self-contained HTML file."""

from __future__ import annotations

from typing import Any

from scumble.report.concurrence import more_labelsets, size_in_words
from scumble.report.pages import render_page
from scumble.report.terminal import measure_rows
from scumble.report.treatment import TRAITS, all_treatments


def render_html(report: dict[str, Any], treatment: dict[str, Any] | None = None) -> str:
    """Render a concurrence report; every name is escaped.

    Parameters
    ----------
    report : dict
        From `scumble.report.concurrence_report`.
    treatment : dict, optional
        One more treatment to show before and after, from `scumble.resample.apply_remedial` or
        `scumble.resample.apply_chain`.

    Returns
    -------
    str
        A page that needs nothing but itself: light and dark, sortable, with a chord diagram that
        can be pointed at. It may run no script but its own and load nothing.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import concurrence_report, render_html
    >>> page = render_html(concurrence_report(scumble.load("debtags")))
    >>> "https://" in page
    False
    """
    treatments = all_treatments(report, treatment)
    content = {
        "report": report,
        "treatments": treatments,
        "chords": [report["chord"], *(each["chord"] for each in treatments)],
        "traits": TRAITS,
        "measures": measure_rows(report),
        "size": size_in_words(report["summary"]),
        "more_labelsets": more_labelsets(report),
    }
    return render_page(
        "concurrence.html.j2",
        content,
        scripts=("chord.js", "report.js"),
        styles=("report.css", "chord.css"),
    )
