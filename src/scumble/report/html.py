"""The concurrence report as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from scumble._core.text import safe
from scumble.report.numbers import format_number, significant
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
    script = asset("chord.js") + asset("report.js")
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    return template("concurrence.html.j2").render(
        report=report,
        treatments=treatments,
        chords=[report["chord"], *(each["chord"] for each in treatments)],
        traits=TRAITS,
        measures=measure_rows(report),
        script=script,
        script_hash=base64.b64encode(digest).decode(),
        style=asset("report.css") + asset("chord.css"),
    )


def asset(name: str) -> str:
    """Return the text of a script or style sheet that comes with the reports."""
    return (files("scumble.report") / "assets" / name).read_text(encoding="utf-8")


@cache
def template(name: str) -> Any:
    """Load a template of a page; what comes from files is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("scumble.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(number=format_number, significant=significant, visible=safe)
    return environment.get_template(name)
