"""``experiment run|status|table|compare|ranks|export``: comparisons that survive."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from scumble._core.errors import ParameterError
from scumble.cli import console, inputs
from scumble.cli.files import READS, WRITES
from scumble.cli.inputs import make_argument, make_option, make_short_option, parse_names

if TYPE_CHECKING:
    from scumble.evaluate.statistics import FriedmanResult, NemenyiResult, ScoreTable
    from scumble.experiment import Plan, RunReport, RuntimeEstimate
    from scumble.experiment.result_tables import PairwiseComparison

Cells = list[dict[str, Any]]
experiment = inputs.make_command_group(
    "Data sets x resamplers x classifiers, computed once and kept."
)

STORE = make_argument(
    "STORE",
    "The file with the results; or a .csv or .parquet table: as exported, or with a row "
    "per data set and a column per method.",
    file_role=READS,
)
METRICS = make_short_option(
    "metric", "to show, several with ',' between. [default: those of the plan]"
)
METHODS = make_option(
    "Only this method, as tables call it; several with ',' between, in the order asked."
)
DEVIATIONS = make_option("Add standard deviations over folds and seeds.", False, "--deviations")
RANKS = make_option("Add a row of mean ranks.", False, "--ranks")
DEFAULT_METRICS = ("hamming_loss", "f1", "macro_f1", "one_error", "ranking_loss")


@dataclass(frozen=True)
class RunOptions:
    """How the cells of a plan are computed."""

    store: Path = make_short_option(
        "store", "the file with the results, made if it is absent.", ..., file_role=WRITES
    )
    jobs: int | None = inputs.JOBS
    cluster: str | None = make_option("Address of a Dask scheduler, instead of --jobs.")
    retry_failed: bool = make_option("Try failed cells again.", False, "--retry-failed")
    dry_run: bool = make_option("Only tell what would be done.", False, "--dry-run")


@dataclass(frozen=True)
class CellFilter:
    """Which part of a plan, or of its results, is meant."""

    dataset: list[str] | None = make_option("Only this data set, several with ',' between.")
    classifier: list[str] | None = make_short_option(
        "classifier", "only this one, several with ',' between."
    )

    def of_plan(self, plan: Plan) -> Plan:
        """Leave out of a plan what is not meant."""
        chosen = {f"{kind}s": parse_names(names) for kind, names in vars(self).items() if names}
        return plan.select(**chosen) if chosen else plan

    def of_store(self, path: Path, metrics: list[str] | None) -> tuple[Cells, list[str]]:
        """Read the cells that are meant, and which metrics to show."""
        from scumble.experiment.result_tables import read_cells, select_cells

        cells, planned = read_cells(path)
        chosen = {key: parse_names(names) for key, names in vars(self).items()}
        return select_cells(cells, **chosen), parse_names(metrics) or planned or [*DEFAULT_METRICS]


ALL_CELLS = CellFilter()


@experiment.command()
def run(
    plan: Path = make_argument("PLAN", "A plan, as a TOML file.", file_role=READS),
    *,
    how: RunOptions,
    only: CellFilter = ALL_CELLS,
) -> None:
    """Compute all cells of a plan that the store does not have yet."""
    from scumble.experiment import read_plan

    run_plan(read_plan(plan), how, only)


def run_plan(plan: Plan, how: RunOptions, only: CellFilter) -> None:
    """Check a plan, tell what it will cost, and run it under the user's eyes."""
    from scumble.experiment import run

    plan = only.of_plan(plan)
    if how.dry_run:
        guess = _guess(plan, how)
        if not console.print_json_if_requested(asdict(guess)):
            typer.echo(_announcement(plan.name, guess))
        return
    with console.redirect_to_stderr(console.is_json()), _RunMonitor(plan.name) as watch:
        more: dict[str, Any] = {"cluster": how.cluster, "retry_failed": how.retry_failed}
        report = run(plan, how.store, n_jobs=how.jobs or 1, on_event=watch.on_event, **more)
    if not console.print_json_if_requested(_plain(report)):
        _print_report(report)
    if report.n_failed or report.n_failed_before:
        raise typer.Exit(1)


def _plain(report: RunReport) -> dict[str, Any]:
    """Tell what a run has done, as JSON can."""
    keys = ("n_cells", "n_done", "n_failed", "n_known", "n_failed_before", "seconds")
    failures = [
        {"key": each.cell.key, "reason": each.reason, "error": each.error}
        for each in report.failures
    ]
    return {**{key: getattr(report, key) for key in keys}, "failures": failures}


def _guess(plan: Plan, how: RunOptions) -> RuntimeEstimate:
    """Estimate what a plan will cost; nothing is made by a look."""
    from scumble._core.parallel import thread_count
    from scumble.experiment import Store, estimate_runtime, plan_cells

    with Store(how.store, create=False) if how.store.exists() else nullcontext() as store:
        return estimate_runtime(plan_cells(plan, store), store, n_jobs=thread_count(how.jobs or 1))


@experiment.command()
def status(store: Path = STORE) -> None:
    """Tell how far a store is, and what failed."""
    from scumble.experiment import Store
    from scumble.experiment.result_tables import summarize_costs
    from scumble.report.terminal import Segment, cells

    with Store(store, create=False) as opened:
        counts, found = opened.counts(), opened.cells()
    failed = [cell for cell in found if cell["state"] == "failed"]
    keys = ("key", "dataset", "resampler", "classifier", "seed", "fold", "reason", "error")
    failures = [{key: cell[key] for key in keys} for cell in failed]
    known = summarize_costs(found)
    if console.print_json_if_requested({**counts, "costs": known, "failures": failures}):
        return
    head = ("cells", "done", "failed", "open", "seconds", "CPU seconds")
    specs = dict.fromkeys(head[1:4], ".0f") | {"seconds": ",.1f", "cpu_seconds": ",.1f"}
    rows = [(f"{row['dataset']} / {row['classifier']}", *cells(row, specs)) for row in known]
    title = ", ".join(f"{number} {state}" for state, number in counts.items())
    console.show_table(head, rows, title)
    for cell in failed:
        where = " / ".join(str(cell[key]) for key in ("dataset", "resampler", "classifier", "fold"))
        first = cell["error"].splitlines()[0] if cell["error"] else ""
        console.show([[Segment(f"{where}: ", "rare"), Segment(f"{cell['reason']}: {first}")]])


@experiment.command("table")
def print_table(
    store: Path = STORE,
    metric: list[str] | None = METRICS,
    only: CellFilter = ALL_CELLS,
    method: list[str] | None = METHODS,
    deviations: bool = DEVIATIONS,
    ranks: bool = RANKS,
) -> None:
    """Print means over folds, data sets down and methods across."""
    from scumble.experiment.result_tables import table_rows

    grids = _grids(*only.of_store(store, metric), method)
    more: dict[str, Any] = {"deviations": deviations, "ranks": ranks}
    console.show_tables(
        [one.to_dict() for one in grids],
        ((("data set", *one.columns), table_rows(one, **more), one.metric) for one in grids),
    )


@experiment.command("compare")
def compare_methods(
    store: Path = STORE,
    against: str = make_option("The method the others are compared with.", ...),
    metric: list[str] | None = METRICS,
    without: list[str] | None = make_option(
        "A data set that does not take part, several with ',' between."
    ),
    only: CellFilter = ALL_CELLS,
    rope: float = make_option("Differences up to this count as practically equal.", 0.01, min=0),
) -> None:
    """Compare all methods with one: means, wins, Wilcoxon's and the Bayesian signed-rank test.

    p is the exact Wilcoxon test over data sets, Holm the same adjusted for the number of methods;
    worse, equal and better are the probabilities that the Bayesian signed-rank test gives.
    """
    from scumble.experiment.result_tables import compare_methods
    from scumble.measures.summary import to_json_value

    grids = _grids(*only.of_store(store, metric))
    left_out = parse_names(without)
    found = [compare_methods(one, against, excluded_datasets=left_out, rope=rope) for one in grids]
    tests = ("p", "Holm", "worse", "equal", "better")
    head = ("method", "data sets", "mean", f"times {against}", "wins-ties-losses", *tests)
    console.show_tables(
        to_json_value([asdict(row) for rows in found for row in rows]),
        ((head, [_compared(row, against) for row in rows], rows[0].metric) for rows in found),
    )


def _grids(cells: Cells, metrics: list[str], methods: list[str] | None = None) -> list[ScoreTable]:
    """Make a table of each metric, of all methods or some."""
    from scumble.experiment.store import score_table_from_cells

    columns = parse_names(methods) or None
    return [score_table_from_cells(cells, name).select(methods=columns) for name in metrics]


def _compared(row: PairwiseComparison, against: str) -> list[str]:
    """Write what is known of a method, and of tests a dash where there is nothing to compare."""
    means = [*_numbers(".4f", row.mean), *_numbers(".3f", row.ratio)]
    chances = _numbers(".2f", row.worse, row.equal, row.better)
    tests = [*_numbers(".1e", row.p_value, row.holm), *chances]
    counts = f"{row.wins}-{row.ties}-{row.losses}"
    shown = tests if row.method != against else ["-"] * len(tests)
    return [row.method, str(row.n_datasets), *means, counts, *shown]


@experiment.command()
def ranks(
    store: Path = STORE,
    metric: list[str] | None = METRICS,
    output: Path | None = make_short_option(
        "output", "the critical-difference diagram, as .svg, .pdf or .png.", file_role=WRITES
    ),
    alpha: float = make_option("Level of the test, between 0 and 1.", 0.05),
    only: CellFilter = ALL_CELLS,
    method: list[str] | None = METHODS,
) -> None:
    """Rank the methods over data sets: Friedman's and Nemenyi's tests, and a diagram.

    Methods whose mean ranks differ by less than the critical difference cannot be told apart.
    """
    from scumble.evaluate.statistics import friedman, nemenyi
    from scumble.report.terminal import Segment

    cells, shown = only.of_store(store, metric)
    if output is not None and len(shown) > 1:
        raise ParameterError(
            f"A diagram shows one metric: choose one with --metric. Got {', '.join(shown)}."
        )
    tables = [one.complete() for one in _grids(cells, shown, method)]
    found = [(one, friedman(one), nemenyi(one, alpha=alpha)) for one in tables]
    if output is not None:
        from scumble.plots import save_plot
        from scumble.plots.statistics import plot_critical_difference

        save_plot(plot_critical_difference(found[0][2]), output)
    if console.print_json_if_requested([_plain_ranks(*each) for each in found]):
        return
    for one, over_all, pairs in found:
        console.show([[Segment(one.metric, "title")]])
        console.show([[Segment(line)] for line in (repr(over_all)[1:-1], *str(pairs).splitlines())])
    if output is not None:
        console.print_unless_quiet(f"{output} is written.")


def _plain_ranks(one: ScoreTable, over_all: FriedmanResult, pairs: NemenyiResult) -> dict[str, Any]:
    """Tell what the tests of ranks found, as JSON can."""
    from scumble.measures.summary import to_json_value

    keys = ("n_cases", "statistic", "p_value", "iman_davenport", "iman_davenport_p")
    names = pairs.methods
    return {
        "metric": one.metric,
        "datasets": list(one.rows),
        "mean_ranks": dict(zip(names, over_all.mean_ranks, strict=True)),
        **{key: to_json_value(getattr(over_all, key)) for key in keys},
        "alpha": pairs.alpha,
        "critical_difference": pairs.critical_difference,
        "groups": [[names[at] for at in group] for group in pairs.groups],
        "p_values": {
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, pairs.p_values.tolist(), strict=True)
        },
    }


@experiment.command("export")
def export_results(
    store: Path = STORE,
    out: Path = make_argument(
        "OUT", "A .csv, .parquet, .tex, .md or .html file.", file_role=WRITES
    ),
    metric: list[str] | None = METRICS,
    only: CellFilter = ALL_CELLS,
    method: list[str] | None = METHODS,
    deviations: bool = DEVIATIONS,
    ranks: bool = RANKS,
) -> None:
    """Write all cells (.csv, .parquet) or tables of means (.tex, .md, .html)."""
    from scumble.experiment.result_tables import export

    cells, shown = only.of_store(store, metric)
    columns = parse_names(method) or None
    export(cells, out, metrics=shown, methods=columns, deviations=deviations, ranks=ranks)
    console.report_written_file(str(out))


def _announcement(name: str, guess: RuntimeEstimate) -> str:
    is_known = guess.n_measured or guess.n_done == guess.n_cells
    rough = "" if is_known else " (a rough guess: nothing similar was measured yet)"
    return (
        f"{name}: {guess.n_cells} cells, {guess.n_done} done; "
        f"about {_duration(guess.seconds)} to go{rough}."
    )


def _print_report(report: RunReport) -> None:
    console.print_unless_quiet(
        f"{report.n_done} cells computed, {report.n_failed} failed, {report.n_known} were known, "
        f"in {_duration(report.seconds)}."
    )
    known = report.n_done + report.n_failed + report.n_known + report.n_failed_before
    if report.n_cells > known:
        console.print_unless_quiet(f"{report.n_cells - known} cells were left to other runners.")
    if report.n_failed_before:
        console.print_unless_quiet(
            f"{report.n_failed_before} cells had failed before and were not tried again: "
            "see 'scumble experiment status', or give --retry-failed."
        )
    for outcome in report.failures[:10]:
        cell = outcome.cell
        where = f"{cell.dataset.label} / {cell.resampler.label} / {cell.classifier.label}"
        first = outcome.error.splitlines()[0] if outcome.error else ""
        console.print_unless_quiet(f"  {where} / fold {cell.fold}: {outcome.reason}: {first}")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _numbers(spec: str, *values: float | None) -> list[str]:
    return ["-" if value is None or value != value else format(value, spec) for value in values]


class _RunMonitor(AbstractContextManager["_RunMonitor"]):
    """Announces what will be done, and keeps a live table of it on a terminal."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._running: dict[str, tuple[Any, float]] = {}
        self._computed = self._failed = 0
        self._live: Any = None

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def on_event(self, event: str, what: Any) -> None:
        """Hear what a run does: its estimate, a cell that begins, the outcome of one."""
        if event == "plan":
            console.print_unless_quiet(_announcement(self._name, what))
            self._guess, self._began = what, time.monotonic()
            self._start()
        elif event == "begin":
            self._running[what.key] = (what, time.monotonic())
        else:
            self._running.pop(what.cell.key, None)
            self._computed += 1
            self._failed += what.result is None

    def _start(self) -> None:
        if console.is_quiet() or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.live import Live

        self._live = Live(
            get_renderable=self._table, console=Console(stderr=True), refresh_per_second=2,
            transient=True,
        )  # fmt: skip
        self._live.start()

    def _table(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        now, guess = time.monotonic(), self._guess
        done = guess.n_done + self._computed
        left = guess.seconds
        if self._computed:
            left = (now - self._began) / self._computed * (guess.n_cells - done)
        columns = ("data set", "resampler", "classifier", "fold", "seconds")
        told = f"{done} of {guess.n_cells} cells, {self._failed} failed"
        shown = Table(*columns, title=f"{told}, about {_duration(left)} to go")
        for cell, began in list(self._running.values()):
            labels = (cell.dataset.label, cell.resampler.label, cell.classifier.label)
            shown.add_row(*map(Text, labels), str(cell.fold), f"{now - began:.0f}")
        return shown
