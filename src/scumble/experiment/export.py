"""Tables in files: all cells as CSV or Parquet, one metric as LaTeX, Markdown or HTML."""

from __future__ import annotations

import csv
import html
import io
import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError
from scumble._core.files import writing
from scumble.experiment.result_tables import grid, long_table

if TYPE_CHECKING:
    from scumble.evaluate.statistics import ScoreTable

#: By suffix; the first two hold every cell, the others one table per metric.
SUFFIXES = (".csv", ".parquet", ".tex", ".md", ".html")


def export(
    cells: Iterable[dict[str, Any]], path: str | os.PathLike[str], *, metrics: Sequence[str]
) -> None:
    """Write results to a file whose suffix says how."""
    suffix = Path(path).suffix.lower()
    cells = list(cells)
    if suffix == ".csv":
        content = _csv(long_table(cells))
    elif suffix == ".parquet":
        content = _parquet(long_table(cells))
    elif suffix in SUFFIXES:
        grids = [grid(cells, metric) for metric in metrics]
        content = _RENDERERS[suffix](grids).encode()
    else:
        raise ParameterError(
            f"Results cannot be written as {suffix or 'a file without a suffix'!r}. "
            f"Expected one of {', '.join(SUFFIXES)}."
        )
    with writing(path) as target, target.open() as stream:
        stream.write(content)


def markdown(grids: Sequence[ScoreTable]) -> str:
    """Write tables of means in Markdown, the best of a row in bold."""
    return "\n".join(_markdown(one) for one in grids)


def _markdown(table: ScoreTable) -> str:
    def cell(text: str) -> str:
        return text.replace("|", "\\|").replace("\n", " ")

    lines = [f"### {table.metric}", ""]
    lines.append("| " + " | ".join(["data set", *map(cell, table.columns)]) + " |")
    lines.append("|" + "---|" + "---:|" * len(table.columns))
    for row in table.rows:
        values = _texts(table, row, "**{}**".format)
        lines.append("| " + " | ".join([cell(row), *values]) + " |")
    return "\n".join([*lines, ""])


def _latex(grids: Sequence[ScoreTable]) -> str:
    return "\n".join(_latex_table(one) for one in grids)


def _latex_table(table: ScoreTable) -> str:
    head = " & ".join(["Data set", *(_tex(column) for column in table.columns)])
    body = [
        " & ".join([_tex(row), *_texts(table, row, "\\textbf{{{}}}".format)]) + r" \\"
        for row in table.rows
    ]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            r"\begin{tabular}{l" + "r" * len(table.columns) + "}",
            r"\hline",
            head + r" \\",
            r"\hline",
            *body,
            r"\hline",
            r"\end{tabular}",
            rf"\caption{{{_tex(table.metric)}}}",
            r"\end{table}",
            "",
        ]
    )


def _html(grids: Sequence[ScoreTable]) -> str:
    parts = ["<!doctype html>", '<html lang="en"><meta charset="utf-8">', "<title>Results</title>"]
    for table in grids:
        columns = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
        parts.append(f"<h2>{html.escape(table.metric)}</h2>")
        parts.append(f"<table><thead><tr><th>data set</th>{columns}</tr></thead><tbody>")
        for row in table.rows:
            cells = "".join(f"<td>{text}</td>" for text in _texts(table, row, "<b>{}</b>".format))
            parts.append(f"<tr><th>{html.escape(row)}</th>{cells}</tr>")
        parts.append("</tbody></table>")
    return "\n".join([*parts, "</html>", ""])


_RENDERERS: dict[str, Callable[[Sequence[ScoreTable]], str]] = {
    ".tex": _latex,
    ".md": markdown,
    ".html": _html,
}


def _texts(table: ScoreTable, row: str, emphasise: Callable[[str], str]) -> list[str]:
    best = table.best(row)
    texts = []
    for column in table.columns:
        value = table.means.get((row, column), math.nan)
        text = "-" if math.isnan(value) else f"{value:.4f}"
        texts.append(emphasise(text) if column in best else text)
    return texts


def _tex(text: str) -> str:
    special = {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
        "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    }  # fmt: skip
    return "".join(special.get(char, char) for char in text)


def _csv(rows: list[dict[str, Any]]) -> bytes:
    stream = io.StringIO(newline="")
    if rows:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: _cell(value) for key, value in row.items()})
    return stream.getvalue().encode()


def _cell(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()
