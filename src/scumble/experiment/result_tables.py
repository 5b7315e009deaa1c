"""Tables of results: a row per cell, means, comparisons with a baseline; written and read back."""

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
from scumble.experiment.store import IDENTIFYING_COLUMNS, Store, StoreError, score_table_from_cells

if TYPE_CHECKING:
    from scumble.evaluate.statistics import ScoreTable

#: Columns of a table that can hold the names of methods.
METHOD_COLUMNS = {"classifier", "method"}
COST_KEYS = ("seconds", "cpu_seconds", "megabytes")


def select_cells(
    cells: list[dict[str, Any]], **names_by_kind: Sequence[str] | None
) -> list[dict[str, Any]]:
    """Return the cells of the named data sets or classifiers, in the order of the names."""
    for kind, names in names_by_kind.items():
        _check_names(kind, names or (), sorted({cell[kind] for cell in cells}))
        if names:
            position = {name: index for index, name in enumerate(dict.fromkeys(names))}
            selected = [cell for cell in cells if cell[kind] in position]
            cells = sorted(selected, key=lambda cell: position[cell[kind]])
    return cells


def _check_names(kind: str, names: Sequence[str], existing: Sequence[str]) -> None:
    """Raise an error for a name that does not exist."""
    for name in names:
        if name not in existing:
            raise ParameterError(
                f"The store has no {kind} {name!r}.{did_you_mean(name, existing)} "
                f"There are: {', '.join(existing) or 'none'}."
            )


def costs(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return states and times by data set and classifier, the longest time first."""
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
        row[cell["state"] if cell["state"] in ("done", "failed") else "open"] += 1
        row["seconds"] += cell["seconds"] or 0.0
        row["cpu_seconds"] += cell["details"].get("cpu_seconds", 0.0)
    return sorted(rows.values(), key=lambda row: -row["seconds"])


def long_table(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per finished cell, with its costs and scores."""
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
    n_datasets: int = 0  # on which both have a value; the other fields are computed from these
    mean: float = math.nan
    ratio: float = math.nan  # of the mean to that of the baseline
    wins: int = 0
    ties: int = 0
    losses: int = 0
    # Wilcoxon's signed-rank test, exact and two-sided, with a pair per data set; and its p-value
    # adjusted by Holm's method for the number of methods.
    p_value: float = math.nan
    holm: float = math.nan
    # Probabilities that the method is worse, practically equal or better, by the Bayesian
    # signed-rank test.
    worse: float = math.nan
    equal: float = math.nan
    better: float = math.nan


def compare_methods(
    table: ScoreTable, against: str, *, without: Sequence[str] = (), rope: float = 0.01
) -> RecordList[PairwiseComparison]:
    """Compare all methods with the baseline ``against``, which is the first row.

    Data sets in ``without`` are left out. Methods that differ by at most ``rope`` are practically
    equal (region of practical equivalence).
    """
    _check_names("method", [against], table.columns)
    _check_names("data set", without, table.rows)
    rows = [row for row in table.rows if row not in without]
    methods = [against, *(column for column in table.columns if column != against)]
    comparisons = [
        _compare_pair(table, method, against, rows=rows, rope=rope) for method in methods
    ]
    return RecordList(_add_holm(comparisons), f"methods beside {against}, by {table.metric}")


def _add_holm(comparisons: list[PairwiseComparison]) -> list[PairwiseComparison]:
    """Adjust the p-values of all methods but the first, which is the baseline itself."""
    from scumble.evaluate.statistics import holm

    tested = [
        index
        for index, comparison in enumerate(comparisons)
        if index > 0 and not math.isnan(comparison.p_value)
    ]
    adjusted = holm([comparisons[index].p_value for index in tested])
    adjusted_of = dict(zip(tested, adjusted.tolist(), strict=True))
    return [
        replace(comparison, holm=adjusted_of.get(index, math.nan))
        for index, comparison in enumerate(comparisons)
    ]


def _compare_pair(
    table: ScoreTable, method: str, baseline: str, *, rows: Sequence[str], rope: float
) -> PairwiseComparison:
    """Compare a method with the baseline on the data sets on which both have a value."""
    from scumble.evaluate.statistics import bayesian_signed_rank, wilcoxon, win_tie_loss

    values = []
    baseline_values = []
    for row in rows:
        value = table.means.get((row, method), math.nan)
        baseline_value = table.means.get((row, baseline), math.nan)
        if not math.isnan(value) and not math.isnan(baseline_value):
            values.append(value)
            baseline_values.append(baseline_value)
    if not values:
        return PairwiseComparison(table.metric, method)
    tally = win_tie_loss(baseline_values, values, higher_is_better=table.higher_is_better)
    probabilities = bayesian_signed_rank(baseline_values, values, rope=rope)
    worse, better = probabilities.lower, probabilities.higher
    if table.higher_is_better is False:
        worse, better = better, worse
    mean = sum(values) / len(values)
    baseline_mean = sum(baseline_values) / len(baseline_values)
    return PairwiseComparison(
        metric=table.metric,
        method=method,
        n_datasets=len(values),
        mean=mean,
        ratio=mean / baseline_mean if baseline_mean else math.nan,
        wins=tally.wins,
        ties=tally.ties,
        losses=tally.losses,
        p_value=wilcoxon(baseline_values, values).p_value,
        worse=worse,
        equal=probabilities.equal,
        better=better,
    )


# Writing files ------------------------------------------------------------------------------------


class _TableFormat(NamedTuple):
    """How score tables are written to a file."""

    write: Callable[..., Iterator[str]]  # yields the lines of one table
    start: Sequence[str] = ()  # lines before all tables
    end: Sequence[str] = ()  # lines after all tables


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

    Tables of means have the given methods, in this order, and if requested the standard deviations
    over folds and seeds, and a last row with mean ranks.
    """
    suffix = Path(path).suffix.lower()
    cells = list(cells)
    if suffix in _CELL_FORMATS:
        content = _CELL_FORMATS[suffix](long_table(cells))
    elif suffix in _TABLE_FORMATS:
        table_format = _TABLE_FORMATS[suffix]
        lines = [*table_format.start]
        for metric in metrics:
            table = score_table_from_cells(cells, metric).select(methods=methods)
            lines += table_format.write(table, deviations=deviations, ranks=ranks)
        lines += table_format.end
        content = "\n".join(lines).encode()
    else:
        raise ParameterError(
            f"Results cannot be written as {suffix or 'a file without a suffix'!r}. "
            f"Expected one of {', '.join((*_CELL_FORMATS, *_TABLE_FORMATS))}."
        )
    with atomic_write(path) as target, target.open() as stream:
        stream.write(content)


def table_rows(
    table: ScoreTable, *, deviations: bool, ranks: bool, best: str = "{}", spread: str = " ± {}"
) -> list[list[str]]:
    """Return the cells of a table of means as texts.

    ``best`` formats the best mean of a row, ``spread`` the standard deviations that follow the
    means with ``deviations``. With ``ranks``, the last row has the mean ranks.
    """
    rows = [
        [row, *_row_texts(table, row, best=best, spread=spread if deviations else None)]
        for row in table.rows
    ]
    if ranks:
        rows.append(["mean rank", *(_format_number(rank, 2) for rank in table.ranks().values())])
    return rows


def _row_texts(table: ScoreTable, row: str, *, best: str, spread: str | None) -> Iterator[str]:
    """Yield the means of a row as texts, with standard deviations unless ``spread`` is None."""
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
    """Return a number with a fixed number of digits, or "-"."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _markdown_lines(table: ScoreTable, *, deviations: bool, ranks: bool) -> Iterator[str]:
    """Yield the lines of a Markdown table."""

    def escape(text: str) -> str:
        return text.replace("|", "\\|").replace("\n", " ")

    yield f"### {table.metric}"
    yield ""
    yield "| " + " | ".join(["data set", *map(escape, table.columns)]) + " |"
    yield "|" + "---|" + "---:|" * len(table.columns)
    for row, *values in table_rows(table, deviations=deviations, ranks=ranks, best="**{}**"):
        yield "| " + " | ".join([escape(row), *values]) + " |"
    yield ""


def _latex_lines(table: ScoreTable, *, deviations: bool, ranks: bool) -> Iterator[str]:
    """Yield the lines of a LaTeX table."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    rows = table_rows(
        table,
        deviations=deviations,
        ranks=ranks,
        best=r"\textbf{{{}}}",
        spread=r" $\pm$ {}",
    )
    body = [line([_escape_tex(row), *values]) for row, *values in rows]
    if ranks:
        body.insert(-1, r"\hline")
    yield r"\begin{table}"
    yield r"\centering"
    yield r"\begin{tabular}{l" + "r" * len(table.columns) + "}"
    yield r"\hline"
    yield line(["Data set", *map(_escape_tex, table.columns)])
    yield r"\hline"
    yield from body
    yield r"\hline"
    yield r"\end{tabular}"
    yield rf"\caption{{{_escape_tex(table.metric)}}}"
    yield r"\end{table}"
    yield ""


def _html_lines(table: ScoreTable, *, deviations: bool, ranks: bool) -> Iterator[str]:
    """Yield the lines of an HTML table."""
    columns = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
    yield f"<h2>{html.escape(table.metric)}</h2>"
    yield f"<table><thead><tr><th>data set</th>{columns}</tr></thead><tbody>"
    for row, *values in table_rows(table, deviations=deviations, ranks=ranks, best="<b>{}</b>"):
        cells = "".join(f"<td>{text}</td>" for text in values)
        yield f"<tr><th>{html.escape(row)}</th>{cells}</tr>"
    yield "</tbody></table>"


_TABLE_FORMATS = {
    ".tex": _TableFormat(_latex_lines),
    ".md": _TableFormat(_markdown_lines),
    ".html": _TableFormat(
        _html_lines,
        start=[
            "<!doctype html>",
            '<html lang="en"><meta charset="utf-8">',
            "<title>Results</title>",
        ],
        end=["</html>", ""],
    ),
}


def _escape_tex(text: str) -> str:
    """Escape the special characters of LaTeX."""
    special = {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
        "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    }  # fmt: skip
    return "".join(special.get(char, char) for char in text)


def _csv_bytes(rows: list[dict[str, Any]]) -> bytes:
    """Return rows as a CSV file."""
    stream = io.StringIO(newline="")
    if rows:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _csv_cell(value) for key, value in row.items()} for row in rows)
    return stream.getvalue().encode()


def _csv_cell(value: Any) -> Any:
    """Return a value of a CSV file: missing and undefined ones are empty."""
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if is_missing else value


def _parquet_bytes(rows: list[dict[str, Any]]) -> bytes:
    """Return rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


_CELL_FORMATS = {".csv": _csv_bytes, ".parquet": _parquet_bytes}


# Reading files ------------------------------------------------------------------------------------


def read_cells(path: str | os.PathLike[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Read results from a store, or from a CSV or Parquet table that `score_table` can read.

    Returns the cells, as `Store.cells` does, and the metrics that the plan names.
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
        wide = score_table(table)  # a column per method
        if len(wide.columns) < 2:
            raise StoreError(
                f"{path} has no column 'classifier' or 'method', and no columns of two methods. "
                "Expected a store, or a table of results."
            )
        rows = [
            {"dataset": dataset, "classifier": method, "value": value}
            for (dataset, method), value in wide.means.items()
        ]
        return [_cell_of_row(row) for row in rows], ["value"]
    metrics = []
    if "classifier" not in table.column_names:
        table = table.rename_columns({"method": "classifier"})
        metrics = [
            name for name in table.column_names if name not in {*IDENTIFYING_COLUMNS, *COST_KEYS}
        ]
    return [_cell_of_row(row) for row in table.to_pylist()], metrics


def _is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a SQLite file, or cannot be read, which the store will report."""
    try:
        with open(path, "rb") as stream:
            return stream.read(6) == b"SQLite"
    except OSError:
        return True


def _cell_of_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return the cell of a row of `long_table`, as far as the row has it."""
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
