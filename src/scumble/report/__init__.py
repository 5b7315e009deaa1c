"""Results in, one plain summary, then text, HTML, PDF or JSON out."""

from scumble.report.concurrence import concurrence_report
from scumble.report.html import render_html
from scumble.report.pdf import render_pdf
from scumble.report.terminal import render_comparison, render_report, render_treatment
from scumble.report.treatment import apply_chain, apply_remedial, try_treatment

__all__ = [
    "apply_chain",
    "apply_remedial",
    "concurrence_report",
    "render_comparison",
    "render_html",
    "render_pdf",
    "render_report",
    "render_treatment",
    "try_treatment",
]
