"""``paper audit|claims|run|ledger``: the paper recomputed, number by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from scumble.cli.inputs import JsonOption

if TYPE_CHECKING:
    from scumble.experiment.paper import Finding

app = typer.Typer(
    help="The paper on SCUMBLE and REMEDIAL, recomputed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

AllOption = Annotated[bool, typer.Option("--all", help="Show what agrees, too.")]


@app.command()
def audit(everything: AllOption = False, json: JsonOption = False) -> None:
    """Recompute what follows from the published tables alone; needs no data."""
    from scumble.experiment.paper import audit as run_audit
    from scumble.experiment.paper import displaced

    findings = run_audit()
    repairs = list(displaced())
    if json:
        _print_json([*findings, *repairs])
        return
    _print_tally(findings)
    shown = findings if everything else [one for one in findings if one.verdict != "follows"]
    _print_findings([*shown, *repairs])


@app.command()
def claims(
    datasets: Annotated[
        list[str] | None, typer.Argument(help="Only these data sets; by default all there are.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check what the paper says in prose on the data sets of this machine."""
    from scumble._core.progress import show_progress
    from scumble.cli.console import ProgressBar
    from scumble.experiment.paper import claims as check_claims

    with show_progress(ProgressBar()):
        findings = check_claims(datasets or None)
    if json:
        _print_json(findings)
    else:
        _print_findings(findings)


def _print_json(findings: Sequence[Finding]) -> None:
    from scumble.cli.console import show_json

    show_json([finding.to_dict() for finding in findings])


def _print_tally(findings: Sequence[Finding]) -> None:
    from scumble.cli.console import show, width
    from scumble.experiment.paper import tally
    from scumble.report.terminal import table

    counted = tally(findings)
    verdicts = list(dict.fromkeys(finding.verdict for finding in findings))
    rows = [
        (part, *(str(found.get(verdict, 0)) for verdict in verdicts))
        for part, found in counted.items()
    ]
    totals = [sum(found.get(verdict, 0) for found in counted.values()) for verdict in verdicts]
    rows.append(("together", *map(str, totals)))
    show(table(("part", *verdicts), rows, width=width()))


def _print_findings(findings: Sequence[Finding]) -> None:
    """Print findings part by part; a note goes under its line."""
    from scumble.cli.console import show, width
    from scumble.report.terminal import Segment, table

    for part in dict.fromkeys(finding.part for finding in findings):
        inside = [finding for finding in findings if finding.part == part]
        rows = [(one.item, one.published, one.ours, one.verdict) for one in inside]
        head, *lines = table((part, "published", "ours", "verdict"), rows, width=width())
        show([[], head])
        for finding, line in zip(inside, lines, strict=True):
            show([line])
            if finding.note:
                show([[Segment(f"    {finding.note}", "dim")]])
