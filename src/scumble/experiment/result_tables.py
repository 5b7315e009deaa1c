"""Results as tables: a row per cell, means, methods against one; written to files and read back."""

from __future__ import annotations

import csv
import html
import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError, did_you_mean
from scumble._core.files import atomic_write
from scumble._core.table_repr import RecordList
from scumble.experiment.store import IDENTIFYING_COLUMNS, Store, StoreError, score_table_from_cells

if TYPE_CHECKING:
    from scumble.evaluate.statistics import ScoreTable

COST_KEYS = ("seconds", "cpu_seconds", "megabytes")
_METHODS = {"classifier", "method"}


def only(cells: list[dict[str, Any]], **wanted: Sequence[str] | None) -> list[dict[str, Any]]:
    """Keep the cells of some data sets or classifiers, in the order of their names."""
    for kind, names in wanted.items():
        _refuse_unknown(kind, names or (), sorted({cell[kind] for cell in cells}))
        if names:
            cells = [cell for name in dict.fromkeys(names) for cell in cells if cell[kind] == name]
    return cells


def _refuse_unknown(kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ParameterError(
                f"The store has no {kind} {name!r}.{did_you_mean(name, known)} "
                f"There are: {', '.join(known) or 'none'}."
            )


def costs(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sum up cells by data set and classifier, the costliest first."""
    counted: dict[tuple[str, str], dict[str, Any]] = {}
    for cell in cells:
        place = {"dataset": cell["dataset"], "classifier": cell["classifier"]}
        start = {"done": 0, "failed": 0, "open": 0, "seconds": 0.0, "cpu_seconds": 0.0}
        row = counted.setdefault((*place.values(),), {**place, **start})
        row[cell["state"] if cell["state"] in ("done", "failed") else "open"] += 1
        row["seconds"] += cell["seconds"] or 0.0
        row["cpu_seconds"] += cell["details"].get("cpu_seconds", 0.0)
    return sorted(counted.values(), key=lambda row: -row["seconds"])


def long_table(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per finished cell with everything that was measured."""
    done = [cell for cell in cells if cell["state"] == "done"]
    names = sorted({name for cell in done for name in cell["scores"]})
    return [
        {
            **{key: cell[key] for key in IDENTIFYING_COLUMNS},
            **{key: cell[key] if key in cell else cell["details"].get(key) for key in COST_KEYS},
            **{name: cell["scores"].get(name, math.nan) for name in names},
        }
        for cell in done
    ]


# Methods against one of them ---------------------------------------------------------------------


@dataclass(frozen=True)
class PairwiseComparison:
    """One method beside another, by one metric."""

    metric: str
    method: str
    n_datasets: int = 0  # data sets on which both have a value; all that follows is over these
    mean: float = math.nan
    ratio: float = math.nan
    wins: int = 0
    ties: int = 0
    losses: int = 0
    # Wilcoxon's signed ranks, exact and two-sided, one pair per data set; and the same adjusted for
    # the number of methods.
    p_value: float = math.nan
    holm: float = math.nan
    # How probable it is that the method is in truth worse, practically equal and better: the
    # Bayesian signed-rank test.
    worse: float = math.nan
    equal: float = math.nan
    better: float = math.nan


def compare_methods(
    one: ScoreTable, against: str, *, without: Sequence[str] = (), rope: float = 0.01
) -> RecordList[PairwiseComparison]:
    """Compare all methods with one; up to a difference of ``rope`` two are practically equal."""
    _refuse_unknown("method", [against], one.columns)
    _refuse_unknown("data set", without, one.rows)
    rows = [row for row in one.rows if row not in without]
    others = [column for column in one.columns if column != against]
    found = [_against(one, column, against, rows, rope) for column in (against, *others)]
    return RecordList(_with_holm(found), f"methods beside {against}, by {one.metric}")


def _with_holm(found: list[PairwiseComparison]) -> list[PairwiseComparison]:
    """Adjust the p-values of all methods but the first, which is compared with itself."""
    from scumble.evaluate.statistics import holm

    tested = [at for at, row in enumerate(found) if at and not math.isnan(row.p_value)]
    adjusted = holm([found[at].p_value for at in tested])
    by_place = dict(zip(tested, adjusted.tolist(), strict=True))
    return [replace(row, holm=by_place.get(at, math.nan)) for at, row in enumerate(found)]


def _against(
    one: ScoreTable, method: str, other: str, rows: Sequence[str], rope: float
) -> PairwiseComparison:
    from scumble.evaluate.statistics import bayesian_signed_rank, wilcoxon, win_tie_loss

    pairs = [[one.means.get((row, m), math.nan) for m in (other, method)] for row in rows]
    known = [pair for pair in pairs if not any(map(math.isnan, pair))]
    if not known:
        return PairwiseComparison(one.metric, method)
    theirs, ours = zip(*known, strict=True)
    tally = win_tie_loss(theirs, ours, higher_is_better=one.higher_is_better)
    mean, base = sum(ours) / len(ours), sum(theirs) / len(theirs)
    means = (mean, mean / base if base else math.nan)
    chances = bayesian_signed_rank(theirs, ours, rope=rope)
    sides = (chances.lower, chances.equal, chances.higher)
    sides = sides if one.higher_is_better is not False else sides[::-1]
    rest = (*vars(tally).values(), wilcoxon(theirs, ours).p_value, math.nan, *sides)
    return PairwiseComparison(one.metric, method, len(known), *means, *rest)


# In files -----------------------------------------------------------------------------------------


def export(
    cells: Iterable[dict[str, Any]],
    path: str | os.PathLike[str],
    *,
    metrics: Sequence[str],
    methods: Sequence[str] | None = None,
    deviations: bool = False,
    ranks: bool = False,
) -> None:
    """Write results to a file whose suffix says how."""
    # Tables of means have the methods asked for, in that order, and on demand the standard
    # deviations over folds and seeds, and a last row of mean ranks.
    suffix = Path(path).suffix.lower()
    cells = list(cells)
    if suffix in _OF_CELLS:
        content = _OF_CELLS[suffix](long_table(cells))
    elif suffix in _FORMS:
        write, start, end = _FORMS[suffix]
        tables = [
            score_table_from_cells(cells, metric).select(methods=methods) for metric in metrics
        ]
        lines = [line for one in tables for line in write(one, deviations=deviations, ranks=ranks)]
        content = "\n".join([*start, *lines, *end]).encode()
    else:
        raise ParameterError(
            f"Results cannot be written as {suffix or 'a file without a suffix'!r}. "
            f"Expected one of {', '.join((*_OF_CELLS, *_FORMS))}."
        )
    with atomic_write(path) as target, target.open() as stream:
        stream.write(content)


def table_rows(
    table: ScoreTable, *, deviations: bool, ranks: bool, best: str = "{}", spread: str = " ± {}"
) -> list[list[str]]:
    """Write the means of a table as texts, the best of a row as ``best`` says."""
    # With deviations and ranks where they are asked for: the last row then has the ranks.
    lines = [[row, *_texts(table, row, best, spread if deviations else None)] for row in table.rows]
    if ranks:
        lines.append(["mean rank", *(_number(rank, 2) for rank in table.ranks().values())])
    return lines


def _texts(table: ScoreTable, row: str, best: str, spread: str | None) -> Iterator[str]:
    winners = table.best(row)
    for column in table.columns:
        text = _number(table.means.get((row, column), math.nan))
        text = best.format(text) if column in winners else text
        deviation = table.deviations.get((row, column), math.nan)
        if spread is not None and not math.isnan(deviation):
            text += spread.format(_number(deviation))
        yield text


def _number(value: float, digits: int = 4) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _markdown(table: ScoreTable, **asked: Any) -> Iterator[str]:
    def cell(text: str) -> str:
        return text.replace("|", "\\|").replace("\n", " ")

    yield from (f"### {table.metric}", "")
    yield "| " + " | ".join(["data set", *map(cell, table.columns)]) + " |"
    yield "|" + "---|" + "---:|" * len(table.columns)
    for row, *values in table_rows(table, best="**{}**", **asked):
        yield "| " + " | ".join([cell(row), *values]) + " |"
    yield ""


def _latex(table: ScoreTable, **asked: Any) -> Iterator[str]:
    def line(first: str, *others: str) -> str:
        return " & ".join([_tex(first), *others]) + r" \\"

    head = line("Data set", *map(_tex, table.columns))
    rows = table_rows(table, best=r"\textbf{{{}}}", spread=r" $\pm$ {}", **asked)
    body = [line(*row) for row in rows]
    if asked["ranks"]:
        body.insert(-1, r"\hline")
    yield from (r"\begin{table}", r"\centering")
    yield r"\begin{tabular}{l" + "r" * len(table.columns) + "}"
    yield from (r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}")
    yield from (rf"\caption{{{_tex(table.metric)}}}", r"\end{table}", "")


def _html(table: ScoreTable, **asked: Any) -> Iterator[str]:
    columns = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
    yield f"<h2>{html.escape(table.metric)}</h2>"
    yield f"<table><thead><tr><th>data set</th>{columns}</tr></thead><tbody>"
    for row, *values in table_rows(table, best="<b>{}</b>", **asked):
        cells = "".join(f"<td>{text}</td>" for text in values)
        yield f"<tr><th>{html.escape(row)}</th>{cells}</tr>"
    yield "</tbody></table>"


_HTML = ("<!doctype html>", '<html lang="en"><meta charset="utf-8">', "<title>Results</title>")
#: How the lines of a table are written, and what stands before and after all tables.
_FORMS: dict[str, tuple[Callable[..., Iterator[str]], Sequence[str], Sequence[str]]] = {
    ".tex": (_latex, (), ()),
    ".md": (_markdown, (), ()),
    ".html": (_html, _HTML, ("</html>", "")),
}


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
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return stream.getvalue().encode()


def _cell(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


_OF_CELLS = {".csv": _csv, ".parquet": _parquet}

# Read back ----------------------------------------------------------------------------------------


def read_cells(path: str | os.PathLike[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Read results from a store, or from a .csv or .parquet table that `score_table` knows."""
    # Returns the cells, as a store gives them, and the metrics that a plan named.
    if Path(path).suffix.lower() not in (".csv", ".parquet") or _is_store(path):
        with Store(path, create=False) as store:
            return store.cells(), store.get_metadata("metrics") or []
    from scumble.evaluate.statistics.score_table import read_table, score_table

    table = read_table(path)
    if not table.num_rows:
        raise StoreError(
            f"{path} is empty. Expected a store, or a table with a row per data set and method."
        )
    if "dataset" not in table.column_names or not _METHODS & set(table.column_names):
        wide = score_table(table)  # a column per method
        if len(wide.columns) < 2:
            raise StoreError(
                f"{path} has no column 'classifier' or 'method', and no columns of two methods. "
                "Expected a store, or a table of results."
            )
        names = ("dataset", "classifier", "value")
        rows = ((*place, value) for place, value in wide.means.items())
        return [_cell_of_row(dict(zip(names, row, strict=True))) for row in rows], ["value"]
    metrics = []
    if "classifier" not in table.column_names:
        table = table.rename_columns({"method": "classifier"})
        metrics = [
            name for name in table.column_names if name not in {*IDENTIFYING_COLUMNS, *COST_KEYS}
        ]
    return [_cell_of_row(row) for row in table.to_pylist()], metrics


def _is_store(path: str | os.PathLike[str]) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read(6) == b"SQLite"
    except OSError:
        return True  # the store knows what to say


def _cell_of_row(row: dict[str, Any]) -> dict[str, Any]:
    """Undo what `long_table` did, as far as that is possible."""
    usual = {"resampler": "none", "splitter": "", "seed": 0, "fold": 0}
    place = {
        key: usual.get(key) if row.get(key) is None else row[key] for key in IDENTIFYING_COLUMNS
    }
    names = row.keys() - {*IDENTIFYING_COLUMNS, *COST_KEYS}
    scores = {name: math.nan if row[name] is None else float(row[name]) for name in names}
    costs = {key: row.get(key) for key in COST_KEYS}
    return {**place, **costs, "state": "done", "scores": scores, "details": {}}
