"""REMEDIAL outside of memory."""

from __future__ import annotations

from scumble._core.errors import ParameterError
from scumble.measures.concurrence import ABOVE_MEAN, mean_of_scores
from scumble.resample.remedial import REMEDIAL, Pass
from scumble.scale import statements
from scumble.scale.labelset_tables import LabelsetTables
from scumble.scale.layout import Layout
from scumble.scale.output import Output

#: A copy's number is a sum of one bit per pass.
MAX_PASSES = 62


def decouple(tables: LabelsetTables, method: REMEDIAL) -> tuple[Pass, ...]:
    """Take labelsets apart and make ``parts``: what becomes of each of them.

    Parameters
    ----------
    tables : LabelsetTables
        The tables of the input.
    method : REMEDIAL
        Its parameters.

    Returns
    -------
    tuple of Pass
        What each pass met.
    """
    if method.passes > MAX_PASSES:
        raise ParameterError(
            f"The 'passes' parameter of REMEDIAL on a scan must be at most {MAX_PASSES}. "
            f"Got {method.passes} instead."
        )
    n_rows = tables.totals()["n_instances"]
    tables.scored()
    tables.engine.view("pieces_0", tables.fill(statements.PIECES_AT_START))
    history = []
    for number in range(method.passes):
        met = _one_pass(tables, number, n_rows, method.one_sided)
        n_rows += met.n_added
        history.append(met)
    tables.spellings()
    sql = tables.fill(statements.PARTS, pieces=tables.engine.name(f"pieces_{method.passes}"))
    tables.engine.table("parts", sql, title="Taking labelsets apart")
    return tuple(history)


def _one_pass(tables: LabelsetTables, number: int, n_rows: int, one_sided: str) -> Pass:
    pieces = tables.engine.name(f"pieces_{number}")
    title = f"REMEDIAL, pass {number + 1}"
    total = tables.number(statements.SCORE_TOTAL, title=title, scored=pieces)
    mean = mean_of_scores(float(total), n_rows)
    threshold = repr(mean + ABOVE_MEAN)
    facts = tables.record(statements.PASS_FACTS, title=title, pieces=pieces, threshold=threshold)
    above, sided = facts["n_above_mean"], facts["n_one_sided"]
    rule = statements.IS_ABOVE if one_sided == "clone" else statements.IS_ABOVE_AND_MIXED
    is_split = f"({rule.format(threshold=threshold)})"
    sql = tables.fill(statements.PIECES_AFTER_PASS, pieces=pieces, is_split=is_split, bit=2**number)
    tables.engine.table(f"pieces_{number + 1}", sql, title=title)
    if number:
        tables.engine.drop(f"pieces_{number}")
    return Pass(mean, above, sided, above if one_sided == "clone" else above - sided)


def result_sql(tables: LabelsetTables, output: Output) -> str:
    """Write the query for the result.

    Parameters
    ----------
    tables : LabelsetTables
        The tables of the input, with ``parts``.
    output : Output
        What the result should have.

    Returns
    -------
    str
        A SELECT of all rows of the result.
    """
    layout = tables.layout
    if layout.has_lists:
        return tables.fill(
            statements.REMEDIAL_LISTS,
            columns=_list_columns(layout, output.clone_column),
            label=layout.label_in("s."),
        )
    tables.rows(keep=True)
    quote = layout.dialect.quote
    clone = quote(output.clone_column or "clone")
    placed = tables.fill(
        statements.REMEDIAL_PAIRS,
        ids=layout.ids(),
        ids_r=layout.ids("r."),
        clone=clone,
        label=quote(layout.label.name),
    )
    if not layout.others:
        return placed
    columns = [layout.ids("d."), f"d.{clone}", f"d.{quote(layout.label.name)}"]
    columns += [f"s.{quote(name)}" for name in layout.others]
    return tables.fill(
        statements.PAIRS_WITH_OTHERS,
        columns=", ".join(columns),
        placed=placed,
        same_ids=layout.same_ids("d", "s"),
        label=quote(layout.label.name),
    )


def _list_columns(layout: Layout, clone_column: str | None) -> str:
    """Name the columns in the order of the input, the labels replaced."""
    label = layout.label.name
    own = layout.label_in("s.")
    quote = layout.dialect.quote
    replaced = f"CASE WHEN p.raw IS NULL THEN {own} ELSE p.labels END AS {quote(label)}"
    columns = [
        replaced if column.name == label else f"s.{quote(column.name)}" for column in layout.columns
    ]
    if clone_column is not None:
        columns.append(f"coalesce(p.copy, CAST(0 AS BIGINT)) AS {quote(clone_column)}")
    return ", ".join(columns)
