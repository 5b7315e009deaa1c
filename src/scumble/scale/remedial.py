"""REMEDIAL outside of memory."""

from __future__ import annotations

from scumble._core.errors import ParameterError
from scumble.measures.concurrence import ABOVE_MEAN, mean_of_scores
from scumble.resample.remedial import REMEDIAL, Pass
from scumble.scale import statements
from scumble.scale.labelset_tables import LabelsetTables
from scumble.scale.layout import Layout
from scumble.scale.output import Output

#: No score is above this.
NEVER = 2.0


def resample(tables: LabelsetTables, method: REMEDIAL, output: Output, folder: str) -> None:
    """Write what REMEDIAL makes of the data into a folder, and note in ``method`` what it met."""
    if method.unseen != "nan":
        raise ParameterError(
            "REMEDIAL(unseen='zero') is for data in memory only. Leave it out, or use scumble.read."
        )
    history = decouple(tables, method)
    sql = result_sql(tables, output)
    tables.engine.write(sql, folder, partition_by=output.partition_by, title="Writing the result")
    method.passes_ = history
    method.n_one_sided_ = sum(met.n_one_sided for met in history)
    method.n_added_ = sum(met.n_added for met in history)
    method.n_removed_ = 0


def decouple(tables: LabelsetTables, method: REMEDIAL) -> tuple[Pass, ...]:
    """Take labelsets apart and make ``parts``: what becomes of each of them."""
    n_rows = tables.totals()["n_instances"]
    tables.scored()
    lowest = NEVER
    history, empties = [], []
    for number in range(1, method.passes + 1):
        title = f"REMEDIAL, pass {number}"
        total = tables.number(statements.PASS_TOTAL, title=title, lowest=lowest)
        mean = mean_of_scores(float(total), n_rows)
        limits = {"lowest": repr(lowest), "threshold": repr(mean + ABOVE_MEAN)}
        facts = tables.record(statements.PASS_FACTS, title=title, **limits)
        above, sided = facts["n_above_mean"], facts["n_one_sided"]
        clones = method.one_sided == "clone"
        met = Pass(mean, above, sided, above if clones else above - sided)
        if clones:
            empties.append(statements.ONE_SIDED_ABOVE.format_map(limits))
        lowest = min(lowest, mean + ABOVE_MEAN)
        n_rows += met.n_added
        history.append(met)
    _make_parts(tables, repr(lowest), " + ".join(empties) or "0", method.passes)
    return tuple(history)


def _make_parts(tables: LabelsetTables, lowest: str, n_empty: str, passes: int) -> None:
    import pyarrow as pa

    several = "" if tables.is_regular else tables.fill(statements.JOIN_SPELLINGS)
    raw = "c.labels" if tables.is_regular else "w.raw"
    queries = []
    for scored in tables.slices("scored"):
        sql = tables.fill(statements.CHANGED, scored=scored, lowest=lowest, n_empty=n_empty)
        inner = {"changed": f"({sql})"}
        inner["rare_halves"] = f"({tables.fill(statements.RARE_HALVES, **inner)})"
        queries.append(tables.fill(statements.PARTS, raw=raw, spellings=several, **inner))
    tables.table("parts", *queries, title="Taking labelsets apart")
    sizes = range(1, 2 * passes + 3)
    pairs = [(size, copy) for size in sizes for copy in range(size)]
    columns = {"n_copies": [size for size, _ in pairs], "copy": [copy for _, copy in pairs]}
    tables.load("copies", pa.table(columns))


def result_sql(tables: LabelsetTables, output: Output) -> str:
    """Write the query for the result."""
    layout = tables.layout
    clean = "scumble_own" if tables.is_regular else "CANONICAL!(scumble_own)"
    labels = statements.COPY_LABELS.format(clean=clean)
    if layout.has_lists:
        return tables.fill(
            statements.REMEDIAL_LISTS,
            columns=_list_columns(layout, labels, output.clone_column),
            kept="".join(
                f"s.{layout.dialect.quote(column.name)}, "
                for column in layout.columns
                if column.name != layout.label.name
            ),
            own=layout.label_in("s."),
        )
    return _pairs_sql(tables, labels, output.clone_column or "clone")


def _pairs_sql(tables: LabelsetTables, labels: str, clone_column: str) -> str:
    layout = tables.layout
    tables.rows(keep=True)
    quote = layout.dialect.quote
    clone, label = quote(clone_column), quote(layout.label.name)
    lists = tables.fill(
        statements.REMEDIAL_LISTS,
        columns=f"{layout.ids()}, CAST(scumble_copy AS BIGINT) AS {clone}, {labels} AS labels",
        kept=layout.ids_first("s."),
        own="s.labels",
        source=tables.name("rows"),
    )
    placed = tables.fill(
        statements.PAIRS_FROM_LISTS, ids=layout.ids(), clone=clone, label=label, lists=lists
    )
    if not layout.others:
        return placed
    columns = [layout.ids("d."), f"d.{clone}", f"d.{label}"]
    columns += [f"s.{quote(name)}" for name in layout.others]
    return tables.fill(
        statements.PAIRS_WITH_OTHERS,
        columns=", ".join(columns),
        placed=placed,
        same_ids=layout.same_ids("d", "s"),
        label=label,
    )


def _list_columns(layout: Layout, labels: str, clone_column: str | None) -> str:
    """Write the columns in the order of the input, the labels replaced."""
    quote = layout.dialect.quote
    columns = [
        f"{labels} AS {quote(column.name)}"
        if column.name == layout.label.name
        else quote(column.name)
        for column in layout.columns
    ]
    if clone_column is not None:
        columns.append(f"CAST(scumble_copy AS BIGINT) AS {quote(clone_column)}")
    return ", ".join(columns)
