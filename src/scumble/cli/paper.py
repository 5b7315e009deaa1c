"""``paper audit|claims|run|plan|ledger``: recompute the paper, number by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble.cli import console
from scumble.cli.command import CommandGroup
from scumble.cli.experiment import CellFilter, RunOptions, run_plan
from scumble.cli.files import FileRole, write_file
from scumble.cli.options import JsonOption

if TYPE_CHECKING:
    from scumble.paper import Finding

StoresOption = Annotated[
    list[Path] | None,
    typer.Option("--store", "-s", help="Store: a file with results of 'paper run'; repeatable."),
    FileRole.READS,
]
PhaseArgument = Annotated[str, typer.Argument(help="imbalance, homer, remedial or seeds.")]


def audit(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Also show numbers that agree.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Recompute what follows from the published tables alone; needs no data."""
    from scumble.paper import audit, check_displaced_rows, tally

    findings = audit()
    repairs = list(check_displaced_rows())
    if json:
        _print_findings([*findings, *repairs], as_json=True)
        return
    totals = Counter(finding.verdict for finding in findings)
    _show_counts("part", list(totals), {**tally(findings), "together": totals})
    if not everything:
        findings = [finding for finding in findings if finding.verdict != "follows"]
    _print_findings([*findings, *repairs], as_json=False)


def claims(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(help="Only these data sets; by default all that are available."),
    ] = None,
    *,
    store: StoresOption = None,
    json: JsonOption = False,
) -> None:
    """Check the statements of the paper's text on the data sets of this machine."""
    from scumble.paper import claims

    with console.progress():
        findings = claims(datasets or None, _read_cells(store))
    _print_findings(findings, as_json=json)


def run(
    phase: PhaseArgument,
    *,
    options: RunOptions,
    cell_filter: CellFilter,
    json: JsonOption = False,
) -> None:
    """Run one of the paper's experiments; it can be stopped and continued at any time."""
    from scumble import paper

    run_plan(paper.phase(phase), options, cell_filter, as_json=json)


def plan(phase: PhaseArgument) -> None:
    """Print one of the paper's experiments as a plan, which can be edited and run."""
    from scumble.paper import phase_text

    typer.echo(phase_text(phase), nl=False)


def ledger(
    *,
    store: StoresOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Output: all 855 numbers, as .csv."),
        FileRole.WRITES,
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare every published number with ours: reproduced, same direction, or not; and why."""
    from scumble.paper import ledger
    from scumble.paper.ledger import causes, compare_experiments, count_verdicts_by_table, to_csv
    from scumble.paper.verdicts import CAUSES, VERDICTS, FoldMeans

    cells = _read_cells(store)
    with console.progress():
        entries = ledger(cells)
    mulan_entries = [entry for entry in entries if entry.table == 1]
    mulan_entries += compare_experiments(FoldMeans(cells), rule="mulan")
    if output is not None:
        write_file(output, to_csv(entries))
    if json:
        console.print_json([entry.to_dict() for entry in entries])
        return
    totals = Counter(entry.verdict for entry in entries)
    counts_by_row: dict[str, Mapping[str, int]] = {}
    for number, counts in count_verdicts_by_table(entries).items():
        counts_by_row[f"Table {number}"] = counts
    counts_by_row["together"] = totals
    counts_by_row["by MULAN's rule"] = Counter(entry.verdict for entry in mulan_entries)
    _show_counts("table", VERDICTS, counts_by_row)
    counts_by_cause = causes(entries)
    if counts_by_cause:
        console.show([[]])
        causes_in_full = {
            f"{cause}: {CAUSES[cause]}": counts for cause, counts in counts_by_cause.items()
        }
        _show_counts("cause", VERDICTS[:3], causes_in_full)
    if totals[VERDICTS[-1]] == len(entries):
        console.print_message(
            "note",
            "nothing could be computed. Let SCUMBLE_DATA name the folder with the data sets, and "
            "give the results of 'scumble paper run' with --store.",
        )


def _read_cells(stores: list[Path] | None) -> list[dict[str, Any]]:
    """Return the cells of all stores."""
    from scumble.experiment import Store

    cells: list[dict[str, Any]] = []
    for path in stores or []:
        with Store(path, create=False) as store:
            cells += store.cells()
    return cells


def _show_counts(
    row_title: str, verdicts: Sequence[str], counts_by_row: Mapping[str, Mapping[str, int]]
) -> None:
    """Print a table of the counts of each verdict."""
    rows = []
    for name, counts in counts_by_row.items():
        rows.append((name, *(str(counts.get(verdict, 0)) for verdict in verdicts)))
    console.show_table(console.Table(head=(row_title, *verdicts), rows=rows))


def _print_findings(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print findings as JSON, or as a table per part with notes below the rows."""
    from scumble.report.terminal import Segment, table_lines

    if as_json:
        console.print_json([finding.to_dict() for finding in findings])
        return
    for part in dict.fromkeys(finding.part for finding in findings):
        findings_of_part = [finding for finding in findings if finding.part == part]
        rows = [
            (finding.item, finding.published, finding.scumble_value, finding.verdict)
            for finding in findings_of_part
        ]
        head, *lines = table_lines(
            (part, "published", "ours", "verdict"), rows, width=console.width()
        )
        console.show([[], head])
        for finding, line in zip(findings_of_part, lines, strict=True):
            console.show([line])
            if finding.note:
                console.show([[Segment(f"    {finding.note}", "dim")]])


paper = CommandGroup(
    help="The paper on SCUMBLE and REMEDIAL, recomputed.",
    commands={"audit": audit, "claims": claims, "run": run, "plan": plan, "ledger": ledger},
)
