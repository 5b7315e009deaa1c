"""Tables of results: a row per cell, means, comparisons with a baseline; written and read back.

A *cell* of an experiment, see `Cell`, is here a dict as `Store.cells` returns it, or one with some
of these keys as `read_cells` returns it for a table. In tables of
means, a row is a data set and a column is a method: a classifier with the resampler before it.
"""

from __future__ import annotations

import csv
import html
import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scumble._core.errors import ParameterError, did_you_mean
from scumble._core.files import atomic_write
from scumble._core.table_repr import RecordList
from scumble.evaluate.statistics.score_table import score_table_from_cells
from scumble.results.store import IDENTIFYING_COLUMNS, Store, StoreError

if TYPE_CHECKING:
    from scumble.evaluate.statistics import ScoreTable

#: Columns of a table that can hold the names of methods.
METHOD_COLUMNS = {"classifier", "method"}
#: Costs of a cell: wall time, CPU time of all threads, and peak memory (2 ** 20 bytes).
COST_KEYS = ("seconds", "cpu_seconds", "megabytes")


def select_cells(
    cells: list[dict[str, Any]], **names_by_kind: Sequence[str] | None
) -> list[dict[str, Any]]:
    """Return the cells of the named data sets or classifiers, in the order of the names.

    The keywords of ``names_by_kind`` are keys of a cell, such as ``dataset=["yeast"]``; None or no
    names select all. Raises a ParameterError for a name that no cell has.
    """
    for kind, names in names_by_kind.items():
        _check_names(kind, names or (), sorted({cell[kind] for cell in cells}))
        if names:
            position_by_name = {name: index for index, name in enumerate(dict.fromkeys(names))}
            selected = [cell for cell in cells if cell[kind] in position_by_name]
            cells = sorted(selected, key=lambda cell: position_by_name[cell[kind]])
    return cells


def _check_names(kind: str, names: Sequence[str], existing: Sequence[str]) -> None:
    """Raise a ParameterError for a name that is not among the existing ones.

    ``kind`` is the word for such a name in the message.
    """
    for name in names:
        if name not in existing:
            raise ParameterError(
                f"The store has no {kind} {name!r}.{did_you_mean(name, existing)} "
                f"There are: {', '.join(existing) or 'none'}."
            )


def summarize_costs(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row per data set and classifier with numbers of cells and times, slowest first.

    A row counts cells as ``done``, ``failed`` or ``open`` (pending or running), and sums up their
    wall time in ``seconds`` and the CPU time of all threads in ``cpu_seconds``.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for cell in cells:
        key = (cell["dataset"], cell["classifier"])
        if key not in rows:
            rows[key] = {
                "dataset": cell["dataset"],
                "classifier": cell["classifier"],
                "done": 0,
                "failed": 0,
                "open": 0,
                "seconds": 0.0,
                "cpu_seconds": 0.0,
            }
        row = rows[key]
        state = cell["state"]
        if state not in ("done", "failed"):
            state = "open"
        row[state] += 1
        row["seconds"] += cell["seconds"] or 0.0
        row["cpu_seconds"] += cell["details"].get("cpu_seconds", 0.0)
    return sorted(rows.values(), key=lambda row: -row["seconds"])


def long_table(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per done cell, with its names, costs and scores.

    All rows have the scores of any cell; NaN where a cell does not have one.
    """
    done = [cell for cell in cells if cell["state"] == "done"]
    names = sorted(set[str]().union(*(cell["scores"] for cell in done)))
    return [
        {
            **{key: cell[key] for key in IDENTIFYING_COLUMNS},
            **{key: cell[key] if key in cell else cell["details"].get(key) for key in COST_KEYS},
            **{name: cell["scores"].get(name, math.nan) for name in names},
        }
        for cell in done
    ]


# Comparisons with a baseline ----------------------------------------------------------------------


@dataclass(frozen=True)
class PairwiseComparison:
    """Comparison of a method with the baseline, by one metric."""

    metric: str
    method: str
    n_datasets: int = 0  # data sets on which both have a value: all other fields use only these
    mean: float = math.nan  # mean of the metric of this method over the data sets
    ratio: float = math.nan  # this mean over that of the baseline
    wins: int = 0  # data sets on which this method is better than the baseline
    ties: int = 0
    losses: int = 0
    # Wilcoxon's signed-rank test, exact and two-sided, with a pair per data set; and its p-value
    # adjusted by Holm's method for the number of methods.
    p_value: float = math.nan
    adjusted_p_value: float = math.nan
    # Probabilities that the method is worse, practically equal or better, by the Bayesian
    # signed-rank test.
    p_worse: float = math.nan
    p_equal: float = math.nan
    p_better: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict, under the keys of the JSON output."""
        key_of_field = {
            "adjusted_p_value": "holm",
            "p_worse": "worse",
            "p_equal": "equal",
            "p_better": "better",
        }
        return {key_of_field.get(name, name): value for name, value in vars(self).items()}


def compare_methods(
    table: ScoreTable,
    baseline: str,
    *,
    excluded_datasets: Sequence[str] = (),
    rope: float = 0.01,
) -> RecordList[PairwiseComparison]:
    """Compare all methods of a score table with the method ``baseline``, which is the first row.

    The p-values are also adjusted by Holm's method. ``excluded_datasets`` are left out. Methods
    that differ by at most ``rope`` are practically equal (region of practical equivalence).
    """
    _check_names("method", [baseline], table.columns)
    _check_names("data set", excluded_datasets, table.rows)
    datasets = [row for row in table.rows if row not in excluded_datasets]
    methods = [baseline, *(column for column in table.columns if column != baseline)]
    comparisons = [
        _compare_pair(table, method, baseline, datasets=datasets, rope=rope) for method in methods
    ]
    return RecordList(
        _adjust_p_values(comparisons), f"methods beside {baseline}, by {table.metric}"
    )


def _adjust_p_values(comparisons: list[PairwiseComparison]) -> list[PairwiseComparison]:
    """Return the comparisons with ``adjusted_p_value`` set by Holm's method.

    The first one, of the baseline with itself, and those without a p-value are not counted as
    tests.
    """
    from scumble.evaluate.statistics import holm

    tested = [
        index
        for index, comparison in enumerate(comparisons)
        if index > 0 and not math.isnan(comparison.p_value)
    ]
    adjusted = holm([comparisons[index].p_value for index in tested])
    adjusted_by_index = dict(zip(tested, adjusted.tolist(), strict=True))
    return [
        replace(comparison, adjusted_p_value=adjusted_by_index.get(index, math.nan))
        for index, comparison in enumerate(comparisons)
    ]


def _compare_pair(
    table: ScoreTable, method: str, baseline: str, *, datasets: Sequence[str], rope: float
) -> PairwiseComparison:
    """Compare a method with the baseline on those of the data sets on which both have a value.

    If there is no such data set, the statistics are NaN.
    """
    from scumble.evaluate.statistics import bayesian_signed_rank, wilcoxon, win_tie_loss

    values = []
    baseline_values = []
    for dataset in datasets:
        value = table.means.get((dataset, method), math.nan)
        baseline_value = table.means.get((dataset, baseline), math.nan)
        if not math.isnan(value) and not math.isnan(baseline_value):
            values.append(value)
            baseline_values.append(baseline_value)
    if not values:
        return PairwiseComparison(table.metric, method)
    counts = win_tie_loss(baseline_values, values, higher_is_better=table.higher_is_better)
    probabilities = bayesian_signed_rank(baseline_values, values, rope=rope)
    p_worse, p_better = probabilities.lower, probabilities.higher
    if table.higher_is_better is False:
        p_worse, p_better = p_better, p_worse
    mean = sum(values) / len(values)
    baseline_mean = sum(baseline_values) / len(baseline_values)
    return PairwiseComparison(
        metric=table.metric,
        method=method,
        n_datasets=len(values),
        mean=mean,
        ratio=mean / baseline_mean if baseline_mean else math.nan,
        wins=counts.wins,
        ties=counts.ties,
        losses=counts.losses,
        p_value=wilcoxon(baseline_values, values).p_value,
        p_worse=p_worse,
        p_equal=probabilities.equal,
        p_better=p_better,
    )


# Writing files ------------------------------------------------------------------------------------


class _TableFormat(NamedTuple):
    """A file format of score tables."""

    format_table: Callable[..., Iterator[str]]  # yields the lines of one table
    first_lines: Sequence[str] = ()  # before all tables
    last_lines: Sequence[str] = ()  # after all tables


def export(
    cells: Iterable[dict[str, Any]],
    path: str | os.PathLike[str],
    *,
    metrics: Sequence[str],
    methods: Sequence[str] | None = None,
    deviations: bool = False,
    ranks: bool = False,
) -> None:
    """Write results to a file, in the format of its suffix.

    ``.csv`` and ``.parquet`` hold one row per done cell, see `long_table`; the other arguments have
    no effect. ``.tex``, ``.md`` and ``.html`` hold one table of means per metric, with the columns
    ``methods`` in this order (all by default); ``deviations`` adds the standard deviations over
    folds and seeds, ``ranks`` a last row with mean ranks. Another suffix raises a ParameterError.
    """
    suffix = Path(path).suffix.lower()
    cells = list(cells)
    if suffix in _CELL_FORMATS:
        content = _CELL_FORMATS[suffix](long_table(cells))
    elif suffix in _TABLE_FORMATS:
        table_format = _TABLE_FORMATS[suffix]
        lines = [*table_format.first_lines]
        for metric in metrics:
            table = score_table_from_cells(cells, metric).select(methods=methods)
            lines += table_format.format_table(table, deviations=deviations, ranks=ranks)
        lines += table_format.last_lines
        content = "\n".join(lines).encode()
    else:
        raise ParameterError(
            f"Results cannot be written as {suffix or 'a file without a suffix'!r}. "
            f"Expected one of {', '.join((*_CELL_FORMATS, *_TABLE_FORMATS))}."
        )
    with atomic_write(path) as output, output.open() as stream:
        stream.write(content)


def table_rows(
    table: ScoreTable, *, deviations: bool, ranks: bool, best: str = "{}", spread: str = " ± {}"
) -> list[list[str]]:
    """Return a table of means as lists of strings, one per data set: its name, then its means.

    ``best`` is the format of the best mean of a row, and ``spread`` that of the standard deviation,
    which follows a mean if ``deviations`` is set. With ``ranks``, the last row has the mean ranks.
    """
    rows = [
        [row, *_format_means(table, row, best=best, spread=spread if deviations else None)]
        for row in table.rows
    ]
    if ranks:
        rows.append(
            ["mean rank", *(_format_number(rank, 2) for rank in table.mean_ranks().values())]
        )
    return rows


def _format_means(table: ScoreTable, row: str, *, best: str, spread: str | None) -> Iterator[str]:
    """Yield the means of a row as strings, with standard deviations unless ``spread`` is None."""
    best_columns = table.best(row)
    for column in table.columns:
        text = _format_number(table.means.get((row, column), math.nan))
        if column in best_columns:
            text = best.format(text)
        deviation = table.deviations.get((row, column), math.nan)
        if spread is not None and not math.isnan(deviation):
            text += spread.format(_format_number(deviation))
        yield text


def _format_number(value: float, digits: int = 4) -> str:
    """Return a number with a fixed number of decimals; "-" for NaN."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _markdown_lines(table: ScoreTable, *, deviations: bool, ranks: bool) -> Iterator[str]:
    """Yield the lines of a score table in Markdown, with the best means of each row in bold."""

    def escape(text: str) -> str:
        """Return text that cannot end a cell of the table or its line."""
        return text.replace("|", "\\|").replace("\n", " ")

    yield f"### {table.metric}"
    yield ""
    yield "| " + " | ".join(["data set", *map(escape, table.columns)]) + " |"
    yield "|" + "---|" + "---:|" * len(table.columns)
    for row, *values in table_rows(table, deviations=deviations, ranks=ranks, best="**{}**"):
        yield "| " + " | ".join([escape(row), *values]) + " |"
    yield ""


def _latex_lines(table: ScoreTable, *, deviations: bool, ranks: bool) -> Iterator[str]:
    """Yield the lines of a score table in LaTeX, with the best means of each row in bold."""

    def format_row(values: Sequence[str]) -> str:
        """Return a line of the tabular environment."""
        return " & ".join(values) + r" \\"

    rows = table_rows(
        table,
        deviations=deviations,
        ranks=ranks,
        best=r"\textbf{{{}}}",
        spread=r" $\pm$ {}",
    )
    body = [format_row([_escape_tex(row), *values]) for row, *values in rows]
    if ranks:
        body.insert(-1, r"\hline")
    yield r"\begin{table}"
    yield r"\centering"
    yield r"\begin{tabular}{l" + "r" * len(table.columns) + "}"
    yield r"\hline"
    yield format_row(["Data set", *map(_escape_tex, table.columns)])
    yield r"\hline"
    yield from body
    yield r"\hline"
    yield r"\end{tabular}"
    yield rf"\caption{{{_escape_tex(table.metric)}}}"
    yield r"\end{table}"
    yield ""


def _html_lines(table: ScoreTable, *, deviations: bool, ranks: bool) -> Iterator[str]:
    """Yield the lines of a score table in HTML, with the best means of each row in bold."""
    header_cells = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
    yield f"<h2>{html.escape(table.metric)}</h2>"
    yield f"<table><thead><tr><th>data set</th>{header_cells}</tr></thead><tbody>"
    for row, *values in table_rows(table, deviations=deviations, ranks=ranks, best="<b>{}</b>"):
        value_cells = "".join(f"<td>{text}</td>" for text in values)
        yield f"<tr><th>{html.escape(row)}</th>{value_cells}</tr>"
    yield "</tbody></table>"


#: The formats of files that hold tables of means, by suffix.
_TABLE_FORMATS = {
    ".tex": _TableFormat(_latex_lines),
    ".md": _TableFormat(_markdown_lines),
    ".html": _TableFormat(
        _html_lines,
        first_lines=[
            "<!doctype html>",
            '<html lang="en"><meta charset="utf-8">',
            "<title>Results</title>",
        ],
        last_lines=["</html>", ""],
    ),
}


def _escape_tex(text: str) -> str:
    """Return text with the special characters of LaTeX escaped."""
    special = {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
        "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    }  # fmt: skip
    return "".join(special.get(char, char) for char in text)


def _csv_bytes(rows: list[dict[str, Any]]) -> bytes:
    """Return rows, dicts with the same keys, as the content of a CSV file with a header."""
    stream = io.StringIO(newline="")
    if rows:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _csv_value(value) for key, value in row.items()} for row in rows)
    return stream.getvalue().encode()


def _csv_value(value: Any) -> Any:
    """Return a value as it is written to a CSV file: an empty string for None and NaN."""
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if is_missing else value


def _parquet_bytes(rows: list[dict[str, Any]]) -> bytes:
    """Return rows, dicts with the same keys, as the content of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


#: Functions that return a table with a row per cell as the content of a file, by suffix.
_CELL_FORMATS = {".csv": _csv_bytes, ".parquet": _parquet_bytes}


# Reading files ------------------------------------------------------------------------------------


def read_cells(path: str | os.PathLike[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Read results from a store, or from a CSV or Parquet table that `score_table` can read.

    Returns the cells as dicts, and the names of the metrics to show. The cells of a store are those
    of `Store.cells`; the cells of a table have only the keys that `_row_to_cell` describes.
    For a store, these are the metrics that the plan names. A table with a row per cell and a column
    ``method`` has those of its other columns. A table with a column per method holds one metric,
    which is called "value". For a table with a column ``classifier`` the list is empty.
    """
    if Path(path).suffix.lower() not in (".csv", ".parquet") or _is_store(path):
        with Store(path, create=False) as store:
            return store.cells(), store.get_metadata("metrics") or []
    from scumble.evaluate.statistics.score_table import read_table, score_table

    table = read_table(path)
    if not table.num_rows:
        raise StoreError(
            f"{path} is empty. Expected a store, or a table with a row per data set and method."
        )
    if "dataset" not in table.column_names or not METHOD_COLUMNS & set(table.column_names):
        means_table = score_table(table)  # a column per method
        if len(means_table.columns) < 2:
            raise StoreError(
                f"{path} has no column 'classifier' or 'method', and no columns of two methods. "
                "Expected a store, or a table of results."
            )
        rows = [
            {"dataset": dataset, "classifier": method, "value": value}
            for (dataset, method), value in means_table.means.items()
        ]
        return [_row_to_cell(row) for row in rows], ["value"]
    metrics = []
    if "classifier" not in table.column_names:
        table = table.rename_columns({"method": "classifier"})
        metrics = [
            name for name in table.column_names if name not in {*IDENTIFYING_COLUMNS, *COST_KEYS}
        ]
    return [_row_to_cell(row) for row in table.to_pylist()], metrics


def _is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether to open a file as a store: it is a SQLite file, or it cannot be read.

    In the second case, opening the store raises an error that says why.
    """
    try:
        with open(path, "rb") as stream:
            return stream.read(6) == b"SQLite"
    except OSError:
        return True


def _row_to_cell(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a table as a done cell.

    The cell has the keys `IDENTIFYING_COLUMNS` and `COST_KEYS`, "state" ("done"), "scores" and
    "details" (empty): only some of the keys of `Store.cells`. A missing resampler is "none", a
    missing splitter "", a missing seed or fold 0; other missing names, and missing costs, are None.
    All other columns of the row are scores, NaN where they are None.
    """
    defaults = {"resampler": "none", "splitter": "", "seed": 0, "fold": 0}
    cell: dict[str, Any] = {}
    for key in IDENTIFYING_COLUMNS:
        value = row.get(key)
        cell[key] = defaults.get(key) if value is None else value
    for key in COST_KEYS:
        cell[key] = row.get(key)
    names = row.keys() - {*IDENTIFYING_COLUMNS, *COST_KEYS}
    scores = {name: math.nan if row[name] is None else float(row[name]) for name in names}
    return {**cell, "state": "done", "scores": scores, "details": {}}
