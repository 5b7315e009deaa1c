"""Results in, one plain summary, then text, HTML, PDF or JSON out."""

import typing

from scumble._core import lazy_imports

if typing.TYPE_CHECKING:
    from scumble.report.concurrence import concurrence_report
    from scumble.report.evaluation import (
        render_advice,
        render_advice_page,
        render_method_comparison,
    )
    from scumble.report.pages import render_html, render_pdf
    from scumble.report.terminal import (
        render_comparison,
        render_report,
        render_treatment,
    )

# Names load on first use: text on a terminal needs neither templates nor plots.
__all__ = [
    "concurrence_report",
    "render_advice",
    "render_advice_page",
    "render_comparison",
    "render_html",
    "render_method_comparison",
    "render_pdf",
    "render_report",
    "render_treatment",
]

if not typing.TYPE_CHECKING:
    __getattr__, __dir__ = lazy_imports.attach(
        __name__,
        __all__,
        {
            "scumble.report.concurrence": ("concurrence_report",),
            "scumble.report.evaluation": (
                "render_advice",
                "render_advice_page",
                "render_method_comparison",
            ),
            "scumble.report.pages": ("render_html", "render_pdf"),
            "scumble.report.terminal": ("render_comparison", "render_report", "render_treatment"),
        },
    )
