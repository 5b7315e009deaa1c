"""Pages that need nothing but themselves: text, script and style in one file; the report as one."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from scumble._core.text import format_number, safe, significant
from scumble.report.concurrence import more_labelsets, size_in_words
from scumble.report.terminal import measure_rows
from scumble.report.treatment import TRAITS, all_treatments

PACKAGE = __name__.rpartition(".")[0]


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


def render_page(
    template: str, content: dict[str, Any], *, scripts: Sequence[str], styles: Sequence[str]
) -> str:
    """Fill a template; the page may run no script but these, and load nothing."""
    script = "".join(map(asset, scripts))
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    known = {"script": script, "script_hash": base64.b64encode(digest).decode()}
    return str(_template(template).render(**content, **known, style="".join(map(asset, styles))))


def asset(name: str) -> str:
    """Return the text of a script or style sheet that comes with the reports."""
    return (files(PACKAGE) / "assets" / name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Any:
    """Load a template; what comes from files is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(PACKAGE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(number=format_number, significant=significant, visible=safe)
    return environment.get_template(name)
