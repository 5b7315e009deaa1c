"""Results in, one plain summary, then text, HTML, PDF or JSON out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scumble._core.lazy import lazy_names

if TYPE_CHECKING:
    from scumble.report.concurrence import concurrence_report
    from scumble.report.evaluation import render_advice, render_advice_page, render_methods
    from scumble.report.pages import render_html, render_pdf
    from scumble.report.terminal import render_comparison, render_report, render_treatment

__all__ = [
    "concurrence_report",
    "render_advice",
    "render_advice_page",
    "render_comparison",
    "render_html",
    "render_methods",
    "render_pdf",
    "render_report",
    "render_treatment",
]

# Names load on first use: text on a terminal needs neither templates nor plots.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "scumble.report.concurrence": ("concurrence_report",),
        "scumble.report.evaluation": ("render_advice", "render_advice_page", "render_methods"),
        "scumble.report.pages": ("render_html", "render_pdf"),
        "scumble.report.terminal": ("render_comparison", "render_report", "render_treatment"),
    },
)
