"""``paper audit|claims|run|ledger``: the paper recomputed, number by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from scumble.cli import console, inputs
from scumble.cli.experiment import ALL_CELLS, CellFilter, RunOptions, run_plan
from scumble.cli.files import READS, WRITES, write_file
from scumble.cli.inputs import make_argument, make_option, make_short_option

if TYPE_CHECKING:
    from scumble.paper import Finding

paper = inputs.make_command_group("The paper on SCUMBLE and REMEDIAL, recomputed.")

STORES = make_short_option(
    "store", "a file with results of 'paper run'; repeatable.", file_role=READS
)
PHASE = make_argument(None, "imbalance, homer, remedial or seeds.")


@paper.command()
def audit(everything: bool = make_option("Show what agrees, too.", False, "--all")) -> None:
    """Recompute what follows from the published tables alone; needs no data."""
    from scumble import paper as room

    findings = room.audit()
    repairs = list(room.check_displaced_rows())
    if not console.is_json():
        together = Counter(finding.verdict for finding in findings)
        _show_counts("part", [*together], {**room.tally(findings), "together": together})
    is_all = everything or console.is_json()
    shown = findings if is_all else [one for one in findings if one.verdict != "follows"]
    _print_findings([*shown, *repairs])


@paper.command()
def claims(
    datasets: list[str] | None = make_argument(
        None, "Only these data sets; by default all there are.", None
    ),
    store: list[Path] | None = STORES,
) -> None:
    """Check what the paper says in prose on the data sets of this machine."""
    from scumble.paper import claims as check_claims

    with console.progress():
        findings = check_claims(datasets or None, _cells_of(store))
    _print_findings(findings)


@paper.command()
def run(phase: str = PHASE, *, how: RunOptions, only: CellFilter = ALL_CELLS) -> None:
    """Run one of the paper's experiments; it can be stopped and continued at any time."""
    from scumble.paper import phase as plan_of

    run_plan(plan_of(phase), how, only)


@paper.command()
def plan(phase: str = PHASE) -> None:
    """Print one of the paper's experiments as a plan, to be changed and run."""
    from scumble.paper import phase_text

    typer.echo(phase_text(phase), nl=False)


@paper.command()
def ledger(
    store: list[Path] | None = STORES,
    output: Path | None = make_short_option(
        "output", "all 855 numbers, as .csv.", file_role=WRITES
    ),
) -> None:
    """Compare every published number with ours: reproduced, same direction, or not; and why."""
    from scumble.paper import ledger as make_ledger
    from scumble.paper.ledger import causes, compare_experiments, count_verdicts_by_table, to_csv
    from scumble.paper.verdicts import CAUSES, VERDICTS, FoldMeans

    cells = _cells_of(store)
    with console.progress():
        entries = make_ledger(cells)
    by_mulan = [entry for entry in entries if entry.table == 1]
    by_mulan += compare_experiments(FoldMeans(cells), rule="mulan")
    if output is not None:
        write_file(output, to_csv(entries))
    if console.print_json_if_requested([entry.to_dict() for entry in entries]):
        return
    together, mulan = (Counter(entry.verdict for entry in found) for found in (entries, by_mulan))
    tables = {
        f"Table {number}": counts for number, counts in count_verdicts_by_table(entries).items()
    }
    _show_counts("table", VERDICTS, {**tables, "together": together, "by MULAN's rule": mulan})
    if counted := causes(entries):
        console.show([[]])
        said = {f"{cause}: {CAUSES[cause]}": counts for cause, counts in counted.items()}
        _show_counts("cause", VERDICTS[:3], said)
    if together[VERDICTS[-1]] == len(entries):
        console.print_message(
            "note",
            "nothing could be computed. Let SCUMBLE_DATA name the folder with the data sets, and "
            "give the results of 'scumble paper run' with --store.",
        )


def _cells_of(stores: list[Path] | None) -> list[dict[str, Any]]:
    from scumble.experiment import Store

    cells: list[dict[str, Any]] = []
    for path in stores or []:
        with Store(path, create=False) as opened:
            cells += opened.cells()
    return cells


def _show_counts(
    kind: str, verdicts: Sequence[str], counted: Mapping[str, Mapping[str, int]]
) -> None:
    """Print how often each verdict was given, a line for each thing that was counted."""
    rows = [
        (name, *(str(counts.get(verdict, 0)) for verdict in verdicts))
        for name, counts in counted.items()
    ]
    console.show_table((kind, *verdicts), rows)


def _print_findings(findings: Sequence[Finding]) -> None:
    """Print findings, as JSON or part by part; a note goes under its line."""
    from scumble.report.terminal import Segment, table

    if console.print_json_if_requested([finding.to_dict() for finding in findings]):
        return
    for part in dict.fromkeys(finding.part for finding in findings):
        inside = [finding for finding in findings if finding.part == part]
        rows = [(one.item, one.published, one.scumble_value, one.verdict) for one in inside]
        head, *lines = table((part, "published", "ours", "verdict"), rows, width=console.width())
        console.show([[], head])
        for finding, line in zip(inside, lines, strict=True):
            note = [[Segment(f"    {finding.note}", "dim")]] if finding.note else []
            console.show([line, *note])
