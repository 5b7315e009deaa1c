"""Results in, one plain summary, then text, HTML, PDF or JSON out."""

import typing

from scumble._core import exports

if typing.TYPE_CHECKING:
    from scumble.report.concurrence import concurrence_report as concurrence_report
    from scumble.report.evaluation import (
        render_advice as render_advice,
        render_advice_page as render_advice_page,
        render_methods as render_methods,
    )
    from scumble.report.pages import render_html as render_html, render_pdf as render_pdf
    from scumble.report.terminal import (
        render_comparison as render_comparison,
        render_report as render_report,
        render_treatment as render_treatment,
    )

# Names load on first use: text on a terminal needs neither templates nor plots.
exports.publish(
    globals(),
    {
        "scumble.report.concurrence": ("concurrence_report",),
        "scumble.report.evaluation": ("render_advice", "render_advice_page", "render_methods"),
        "scumble.report.pages": ("render_html", "render_pdf"),
        "scumble.report.terminal": ("render_comparison", "render_report", "render_treatment"),
    },
)
