"""``experiment run|status|table|compare|ranks|export``: run plans and compare their results."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from scumble._core.errors import ParameterError
from scumble.cli import console
from scumble.cli.command import CommandGroup
from scumble.cli.files import FileRole
from scumble.cli.options import JobsOption, JsonOption
from scumble.cli.parse import parse_names

if TYPE_CHECKING:
    from scumble.evaluate.statistics import FriedmanResult, NemenyiResult, ScoreTable
    from scumble.experiment import Plan, RunReport, RuntimeEstimate
    from scumble.experiment.result_tables import PairwiseComparison

Cells = list[dict[str, Any]]

StoreArgument = Annotated[
    Path,
    typer.Argument(
        metavar="STORE",
        help="The file with the results; or a .csv or .parquet table: as exported, or with a row "
        "per data set and a column per method.",
    ),
    FileRole.READS,
]
StoreFileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="STORE", help="The file with the results, as 'scumble experiment run' wrote it."
    ),
    FileRole.READS,
]
MetricsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        help="Metric: to show, several separated by commas. [default: those of the plan]",
    ),
]
MethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        help="Only this method, as tables name it; several separated by commas, in this order.",
    ),
]
DeviationsOption = Annotated[
    bool, typer.Option("--deviations", help="Add standard deviations over folds and seeds.")
]
RanksOption = Annotated[bool, typer.Option("--ranks", help="Add a row of mean ranks.")]

#: Metrics that are shown if neither the user nor the plan names any.
DEFAULT_METRICS = ("hamming_loss", "f1", "macro_f1", "one_error", "ranking_loss")
#: Number of failed cells that the report of a run lists; `experiment status` lists all.
N_LISTED_FAILURES = 10
#: What `experiment status --json` prints of a failed cell.
FAILURE_KEYS = ("key", "dataset", "resampler", "classifier", "seed", "fold", "reason", "error")


@dataclass(frozen=True)
class RunOptions:
    """How the cells of a plan are computed."""

    store: Annotated[
        Path,
        typer.Option(
            "--store", "-s", help="Store: the file with the results, created if it is absent."
        ),
        FileRole.WRITES,
    ]
    jobs: JobsOption = None
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", help="Address of a Dask scheduler, instead of --jobs."),
    ] = None
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed cells again.")
    ] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be done.")] = (
        False
    )


@dataclass(frozen=True)
class CellFilter:
    """Selection of cells of a plan, or of its results, by data set and classifier."""

    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", help="Only this data set, several separated by commas."),
    ] = None
    classifier: Annotated[
        list[str] | None,
        typer.Option(
            "--classifier", "-c", help="Classifier: only this one, several separated by commas."
        ),
    ] = None

    def select_from_plan(self, plan: Plan) -> Plan:
        """Return the plan with the selected data sets and classifiers only."""
        selection = {}
        if self.dataset:
            selection["datasets"] = parse_names(self.dataset)
        if self.classifier:
            selection["classifiers"] = parse_names(self.classifier)
        return plan.select(**selection) if selection else plan

    def read_results(self, path: Path, metrics: list[str] | None) -> Results:
        """Return the selected cells of a store, and the metrics to show."""
        from scumble.experiment.result_tables import read_cells, select_cells

        cells, planned_metrics = read_cells(path)
        selected_cells = select_cells(
            cells, dataset=parse_names(self.dataset), classifier=parse_names(self.classifier)
        )
        names = parse_names(metrics) or planned_metrics or list(DEFAULT_METRICS)
        return Results(cells=selected_cells, metrics=names)


class Results(NamedTuple):
    """Cells of a store, and the metrics to show of them."""

    cells: Cells
    metrics: list[str]

    def score_tables(self, methods: list[str] | None = None) -> list[ScoreTable]:
        """Return the table of each metric, with all methods or the named ones."""
        from scumble.evaluate.statistics.score_table import score_table_from_cells

        columns = parse_names(methods) or None
        return [
            score_table_from_cells(self.cells, metric).select(methods=columns)
            for metric in self.metrics
        ]


def run(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN", help="A plan, as a TOML file."), FileRole.READS
    ],
    *,
    options: RunOptions,
    cell_filter: CellFilter,
    json: JsonOption = False,
) -> None:
    """Compute all cells of a plan that the store does not have yet."""
    from scumble.experiment import read_plan

    run_plan(read_plan(plan), options, cell_filter, as_json=json)


def run_plan(plan: Plan, options: RunOptions, cell_filter: CellFilter, *, as_json: bool) -> None:
    """Check a plan, print an estimate of its cost, and run it with a live table of its cells."""
    from scumble.experiment import run

    plan = cell_filter.select_from_plan(plan)
    if options.dry_run:
        estimate = _estimate(plan, options)
        if as_json:
            console.print_json(asdict(estimate))
        else:
            typer.echo(_announcement(plan.name, estimate))
        return
    with console.redirect_to_stderr(as_json), _RunMonitor(plan.name) as monitor:
        report = run(
            plan,
            options.store,
            n_jobs=options.jobs or 1,
            cluster=options.cluster,
            retry_failed=options.retry_failed,
            on_event=monitor.on_event,
        )
    if as_json:
        console.print_json(_report_to_dict(report))
    else:
        _print_report(report)
    if report.n_failed or report.n_failed_before:
        raise typer.Exit(1)


def _report_to_dict(report: RunReport) -> dict[str, Any]:
    """Return the report of a run as a dictionary for JSON."""
    failures = [
        {"key": outcome.cell.key, "reason": outcome.reason, "error": outcome.error}
        for outcome in report.failures
    ]
    return {
        "n_cells": report.n_cells,
        "n_done": report.n_done,
        "n_failed": report.n_failed,
        "n_known": report.n_done_before,
        "n_failed_before": report.n_failed_before,
        "seconds": report.seconds,
        "failures": failures,
    }


def _estimate(plan: Plan, options: RunOptions) -> RuntimeEstimate:
    """Return what a plan will cost; a store that is absent is not created."""
    from scumble._core.parallel import thread_count
    from scumble.experiment import Store, estimate_runtime, plan_cells

    n_jobs = thread_count(options.jobs or 1)
    store_exists = options.store.exists()
    with Store(options.store, create=False) if store_exists else nullcontext() as store:
        return estimate_runtime(plan_cells(plan, store), store, n_jobs=n_jobs)


def status(store: StoreFileArgument, *, json: JsonOption = False) -> None:
    """Show the progress of a store, and which cells failed."""
    from scumble.experiment import Store
    from scumble.experiment.result_tables import summarize_costs
    from scumble.report import terminal

    with Store(store, create=False) as open_store:
        counts = open_store.counts()
        cells = open_store.cells()
    failed_cells = [cell for cell in cells if cell["state"] == "failed"]
    cost_rows = summarize_costs(cells)
    if json:
        failures = [{key: cell[key] for key in FAILURE_KEYS} for cell in failed_cells]
        console.print_json({**counts, "costs": cost_rows, "failures": failures})
        return
    specs = {
        "done": ".0f",
        "failed": ".0f",
        "open": ".0f",
        "seconds": ",.1f",
        "cpu_seconds": ",.1f",
    }
    console.show_table(
        console.Table(
            head=("cells", "done", "failed", "open", "seconds", "CPU seconds"),
            rows=[
                (f"{row['dataset']} / {row['classifier']}", *terminal.format_cells(row, specs))
                for row in cost_rows
            ],
            title=", ".join(f"{number} {state}" for state, number in counts.items()),
        )
    )
    for cell in failed_cells:
        keys = ("dataset", "resampler", "classifier", "fold")
        name = " / ".join(str(cell[key]) for key in keys)
        reason = f"{cell['reason']}: {_first_line(cell['error'])}"
        console.show([[terminal.Segment(f"{name}: ", "rare"), terminal.Segment(reason)]])


def print_table(
    store: StoreArgument,
    *,
    metric: MetricsOption = None,
    cell_filter: CellFilter,
    method: MethodsOption = None,
    deviations: DeviationsOption = False,
    ranks: RanksOption = False,
    json: JsonOption = False,
) -> None:
    """Print means over folds, data sets down and methods across."""
    from scumble.experiment.result_tables import table_rows

    tables = cell_filter.read_results(store, metric).score_tables(method)
    console.show_tables(
        [table.to_dict() for table in tables],
        (
            console.Table(
                head=("data set", *table.columns),
                rows=table_rows(table, deviations=deviations, ranks=ranks),
                title=table.metric,
            )
            for table in tables
        ),
        as_json=json,
    )


def compare_methods(
    store: StoreArgument,
    *,
    against: Annotated[
        str, typer.Option("--against", help="The method the others are compared with.")
    ],
    metric: MetricsOption = None,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", help="A data set to leave out, several separated by commas."),
    ] = None,
    cell_filter: CellFilter,
    rope: Annotated[
        float,
        typer.Option("--rope", min=0, help="Differences up to this count as practically equal."),
    ] = 0.01,
    json: JsonOption = False,
) -> None:
    """Compare all methods with one: means, wins, Wilcoxon's and the Bayesian signed-rank test.

    p is the exact Wilcoxon test over data sets, Holm the same adjusted for the number of methods;
    worse, equal and better are the probabilities that the Bayesian signed-rank test gives.
    """
    from scumble.experiment.result_tables import compare_methods
    from scumble.measures.summary import to_json_value

    tables = cell_filter.read_results(store, metric).score_tables()
    excluded = parse_names(without)
    results = [
        compare_methods(table, against, excluded_datasets=excluded, rope=rope) for table in tables
    ]
    if json:
        all_rows = []
        for rows in results:
            all_rows += [row.to_dict() for row in rows]
        console.print_json(to_json_value(all_rows))
        return
    tests = ("p", "Holm", "worse", "equal", "better")
    head = ("method", "data sets", "mean", f"times {against}", "wins-ties-losses", *tests)
    for rows in results:
        texts = [_comparison_row(row, against) for row in rows]
        console.show_table(console.Table(head=head, rows=texts, title=rows[0].metric))


def _comparison_row(row: PairwiseComparison, against: str) -> list[str]:
    """Return the comparison of a method as texts; the baseline has dashes in place of tests."""
    tests = [
        *_format_numbers(".1e", row.p_value, row.adjusted_p_value),
        *_format_numbers(".2f", row.p_worse, row.p_equal, row.p_better),
    ]
    if row.method == against:
        tests = ["-"] * len(tests)
    return [
        row.method,
        str(row.n_datasets),
        *_format_numbers(".4f", row.mean),
        *_format_numbers(".3f", row.ratio),
        f"{row.wins}-{row.ties}-{row.losses}",
        *tests,
    ]


class RankTests(NamedTuple):
    """The tests of mean ranks for a metric."""

    table: ScoreTable
    friedman: FriedmanResult
    nemenyi: NemenyiResult


def ranks(
    store: StoreArgument,
    *,
    metric: MetricsOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Output: the critical-difference diagram, as .svg, .pdf or .png.",
        ),
        FileRole.WRITES,
    ] = None,
    alpha: Annotated[
        float, typer.Option("--alpha", help="Level of the test, between 0 and 1.")
    ] = 0.05,
    cell_filter: CellFilter,
    method: MethodsOption = None,
    json: JsonOption = False,
) -> None:
    """Rank the methods over data sets: Friedman's and Nemenyi's tests, and a diagram.

    The tests find no difference between methods whose mean ranks differ by less than the critical
    difference.
    """
    from scumble.evaluate.statistics import friedman, nemenyi
    from scumble.report.terminal import Segment

    results = cell_filter.read_results(store, metric)
    if output is not None and len(results.metrics) > 1:
        raise ParameterError(
            "A diagram shows one metric: choose one with --metric. "
            f"Got {', '.join(results.metrics)}."
        )
    rank_tests = []
    for score_table in results.score_tables(method):
        table = score_table.drop_incomplete_datasets()
        rank_tests.append(
            RankTests(table=table, friedman=friedman(table), nemenyi=nemenyi(table, alpha=alpha))
        )
    if output is not None:
        from scumble.plots import save_plot
        from scumble.plots.statistics import plot_critical_difference

        save_plot(plot_critical_difference(rank_tests[0].nemenyi), output)
    if json:
        console.print_json([_rank_tests_to_dict(tests) for tests in rank_tests])
        return
    for tests in rank_tests:
        lines = [repr(tests.friedman)[1:-1], *str(tests.nemenyi).splitlines()]
        console.show([[Segment(tests.table.metric, "title")]])
        console.show([[Segment(line)] for line in lines])
    if output is not None:
        console.print_unless_quiet(f"{output} is written.")


def _rank_tests_to_dict(tests: RankTests) -> dict[str, Any]:
    """Return the tests of ranks as a dictionary for JSON."""
    from scumble.measures.summary import to_json_value

    friedman = tests.friedman
    nemenyi = tests.nemenyi
    methods = nemenyi.methods
    groups = [[methods[index] for index in group] for group in nemenyi.groups]
    p_values = {}
    for method, row in zip(methods, nemenyi.p_values.tolist(), strict=True):
        p_values[method] = dict(zip(methods, row, strict=True))
    keys = ("n_cases", "statistic", "p_value", "iman_davenport", "iman_davenport_p")
    return {
        "metric": tests.table.metric,
        "datasets": list(tests.table.rows),
        "mean_ranks": dict(zip(methods, friedman.mean_ranks, strict=True)),
        **{key: to_json_value(getattr(friedman, key)) for key in keys},
        "alpha": nemenyi.alpha,
        "critical_difference": nemenyi.critical_difference,
        "groups": groups,
        "p_values": p_values,
    }


def export_results(
    store: StoreArgument,
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="A .csv, .parquet, .tex, .md or .html file."),
        FileRole.WRITES,
    ],
    *,
    metric: MetricsOption = None,
    cell_filter: CellFilter,
    method: MethodsOption = None,
    deviations: DeviationsOption = False,
    ranks: RanksOption = False,
    json: JsonOption = False,
) -> None:
    """Write all cells (.csv, .parquet) or tables of means (.tex, .md, .html)."""
    from scumble.experiment.result_tables import export

    results = cell_filter.read_results(store, metric)
    export(
        results.cells,
        out,
        metrics=results.metrics,
        methods=parse_names(method) or None,
        deviations=deviations,
        ranks=ranks,
    )
    console.report_written_file(str(out), as_json=json)


def _announcement(name: str, estimate: RuntimeEstimate) -> str:
    """Return a sentence on the cells of a plan and the remaining time."""
    is_measured = estimate.n_measured or estimate.n_done == estimate.n_cells
    caveat = "" if is_measured else " (a rough estimate: nothing similar was measured yet)"
    return (
        f"{name}: {estimate.n_cells} cells, {estimate.n_done} done; "
        f"about {_format_duration(estimate.seconds)} to go{caveat}."
    )


def _print_report(report: RunReport) -> None:
    """Print how many cells a run has computed, and the first failures."""
    console.print_unless_quiet(
        f"{report.n_done} cells computed, {report.n_failed} failed, "
        f"{report.n_done_before} were done before, in {_format_duration(report.seconds)}."
    )
    n_settled = report.n_done + report.n_failed + report.n_done_before + report.n_failed_before
    if report.n_cells > n_settled:
        console.print_unless_quiet(
            f"{report.n_cells - n_settled} cells were left to other runners."
        )
    if report.n_failed_before:
        console.print_unless_quiet(
            f"{report.n_failed_before} cells had failed before and were not tried again: "
            "see 'scumble experiment status', or give --retry-failed."
        )
    for outcome in report.failures[:N_LISTED_FAILURES]:
        cell = outcome.cell
        name = f"{cell.dataset.label} / {cell.resampler.label} / {cell.classifier.label}"
        error = _first_line(outcome.error)
        console.print_unless_quiet(f"  {name} / fold {cell.fold}: {outcome.reason}: {error}")


def _first_line(text: str | None) -> str:
    """Return the first line of a text, or an empty string."""
    return text.splitlines()[0] if text else ""


def _format_duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours."""
    minutes = seconds / 60
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 90:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h"


def _format_numbers(spec: str, *values: float | None) -> list[str]:
    """Return numbers as texts, with a dash for None and NaN."""
    texts = []
    for value in values:
        is_missing = value is None or value != value  # NaN differs from itself
        texts.append("-" if is_missing else format(value, spec))
    return texts


class _RunningCell(NamedTuple):
    """A cell that is being computed, and when that began."""

    cell: Any
    start_time: float


class _RunMonitor(AbstractContextManager["_RunMonitor"]):
    """Announces a run, and shows a live table of its cells on a terminal."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._estimate: Any = None  # set by the first event, like the start time
        self._start_time = 0.0
        self._running: dict[str, _RunningCell] = {}
        self._n_computed = 0
        self._n_failed = 0
        self._live: Any = None

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def on_event(self, event: str, subject: Any) -> None:
        """Record an event of a run: its estimate, a cell that begins, the outcome of a cell."""
        if event == "plan":
            console.print_unless_quiet(_announcement(self._name, subject))
            self._estimate = subject
            self._start_time = time.monotonic()
            self._start_table()
        elif event == "begin":
            self._running[subject.key] = _RunningCell(subject, time.monotonic())
        else:
            self._running.pop(subject.cell.key, None)
            self._n_computed += 1
            self._n_failed += subject.result is None

    def _start_table(self) -> None:
        """Show the live table if standard error is a terminal."""
        if console.is_quiet() or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.live import Live

        self._live = Live(
            get_renderable=self._live_table,
            console=Console(stderr=True),
            refresh_per_second=2,
            transient=True,
        )
        self._live.start()

    def _live_table(self) -> Any:
        """Return the table of the cells that are being computed."""
        from rich.table import Table
        from rich.text import Text

        now = time.monotonic()
        n_cells = self._estimate.n_cells
        n_done = self._estimate.n_done + self._n_computed
        seconds_to_go = self._estimate.seconds
        if self._n_computed:
            seconds_per_cell = (now - self._start_time) / self._n_computed
            seconds_to_go = seconds_per_cell * (n_cells - n_done)
        table = Table(
            "data set",
            "resampler",
            "classifier",
            "fold",
            "seconds",
            title=f"{n_done} of {n_cells} cells, {self._n_failed} failed, "
            f"about {_format_duration(seconds_to_go)} to go",
        )
        for cell, start_time in list(self._running.values()):  # other threads change the dictionary
            table.add_row(
                Text(cell.dataset.label),
                Text(cell.resampler.label),
                Text(cell.classifier.label),
                str(cell.fold),
                f"{now - start_time:.0f}",
            )
        return table


experiment = CommandGroup(
    help="Data sets x resamplers x classifiers, computed once and stored.",
    commands={
        "run": run,
        "status": status,
        "table": print_table,
        "compare": compare_methods,
        "ranks": ranks,
        "export": export_results,
    },
)
