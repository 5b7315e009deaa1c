"""REMEDIAL, LP-ROS and LP-RUS outside of memory."""

from scumble._core.errors import ParameterError, parameter_error
from scumble.measures.base import safe_divide
from scumble.measures.concurrence import ABOVE_MEAN_TOLERANCE
from scumble.resample.base import n_rows_from_percent
from scumble.resample.lp_random import LPROS, LPRUS, distribute_budget
from scumble.resample.remedial import REMEDIAL, RemedialPass
from scumble.scale import statements
from scumble.scale.files import Output
from scumble.scale.tables import ColumnLayout, LabelsetTables, column

#: No score is above this.
NEVER = 2.0


def write_remedial(tables: LabelsetTables, method: REMEDIAL, output: Output, folder: str) -> None:
    """Write what REMEDIAL makes of the data into a folder, and note in ``method`` what it met."""
    if method.unseen != "nan":
        raise ParameterError(
            "REMEDIAL(unseen='zero') is for data in memory only. Leave it out, or use scumble.read."
        )
    history = decouple(tables, method)
    sql = _remedial_sql(tables, output)
    tables.engine.write(sql, folder, partition_by=output.partition_by, title="Writing the result")
    method.passes_ = history
    method.n_one_sided_ = sum(met.n_one_sided for met in history)
    method.n_added_ = sum(met.n_added for met in history)
    method.n_removed_ = 0


def decouple(tables: LabelsetTables, method: REMEDIAL) -> tuple[RemedialPass, ...]:
    """Take labelsets apart and make ``parts``: what becomes of each of them."""
    n_rows = tables.totals["n_instances"]
    tables.scored()
    lowest = NEVER
    history, empties = [], []
    for number in range(1, method.passes + 1):
        title = f"REMEDIAL, pass {number}"
        total = tables.fetch_value(statements.PASS_TOTAL, title=title, lowest=lowest)
        mean = safe_divide(float(total), n_rows)
        limits = {"lowest": repr(lowest), "threshold": repr(mean + ABOVE_MEAN_TOLERANCE)}
        facts = tables.fetch_row(statements.PASS_COUNTS, title=title, **limits)
        above, sided = facts["n_above_mean"], facts["n_one_sided"]
        clones = method.one_sided == "clone"
        met = RemedialPass(mean, above, sided, above if clones else above - sided)
        if clones:
            empties.append(statements.ONE_SIDED_ABOVE.format_map(limits))
        lowest = min(lowest, mean + ABOVE_MEAN_TOLERANCE)
        n_rows += met.n_added
        history.append(met)
    _make_parts(tables, repr(lowest), " + ".join(empties) or "0", method.passes)
    return tuple(history)


def _make_parts(tables: LabelsetTables, lowest: str, n_empty: str, passes: int) -> None:
    import pyarrow as pa

    several = "" if tables.is_canonical else tables.format_sql(statements.JOIN_RAW_LABELSETS)
    raw = "c.labels" if tables.is_canonical else "w.raw"
    queries = []
    for scored in tables.slices("scored"):
        sql = tables.format_sql(
            statements.CHANGED_LABELSETS, scored=scored, lowest=lowest, n_empty=n_empty
        )
        inner = {"changed": f"({sql})"}
        inner["rare_halves"] = f"({tables.format_sql(statements.RARE_HALVES, **inner)})"
        queries.append(
            tables.format_sql(statements.LABELSET_SPLITS, raw=raw, spellings=several, **inner)
        )
    tables.engine.table(tables.name("parts"), *queries, title="Taking labelsets apart")
    sizes = range(1, 2 * passes + 3)
    pairs = [(size, copy) for size in sizes for copy in range(size)]
    columns = {"n_copies": [size for size, _ in pairs], "copy": [copy for _, copy in pairs]}
    tables.load("copies", pa.table(columns))


def _remedial_sql(tables: LabelsetTables, output: Output) -> str:
    """Write the query for the result."""
    layout = tables.layout
    clean = "scumble_own" if tables.is_canonical else "CANONICAL!(scumble_own)"
    labels = statements.COPY_LABELS.format(clean=clean)
    if not layout.has_lists:
        return _pairs_sql(tables, labels, output.clone_column or "clone")
    kept = (
        f"s.{layout.dialect.quote_identifier(name)}, "
        for name in (*layout.instance_columns, *layout.passthrough_columns)
    )
    columns = _list_columns(layout, labels, output.clone_column)
    values = {"columns": columns, "kept": "".join(kept), "own": layout.label_expression("s.")}
    return tables.format_sql(statements.REMEDIAL_LISTS, **values)


def _pairs_sql(tables: LabelsetTables, labels: str, clone_column: str) -> str:
    layout = tables.layout
    tables.rows(keep=True)
    quote = layout.dialect.quote_identifier
    clone, label = quote(clone_column), quote(layout.label.name)
    lists = tables.format_sql(
        statements.REMEDIAL_LISTS,
        columns=f"{layout.ids()}, CAST(scumble_copy AS BIGINT) AS {clone}, {labels} AS labels",
        kept=layout.ids_first("s."),
        own="s.labels",
        source=tables.name("rows"),
    )
    placed = tables.format_sql(
        statements.PAIRS_FROM_LISTS, ids=layout.ids(), clone=clone, label=label, lists=lists
    )
    if not layout.passthrough_columns:
        return placed
    columns = [layout.ids("d."), f"d.{clone}", f"d.{label}"]
    columns += [f"s.{quote(name)}" for name in layout.passthrough_columns]
    return tables.format_sql(
        statements.PAIRS_WITH_OTHERS,
        columns=", ".join(columns),
        placed=placed,
        same_ids=layout.same_ids("d", "s"),
        label=label,
    )


def _list_columns(layout: ColumnLayout, labels: str, clone_column: str | None) -> str:
    """Write the columns in the order of the input, the labels replaced."""
    quote = layout.dialect.quote_identifier
    columns = [
        (f"{labels} AS " if one.name == layout.label.name else "") + quote(one.name)
        for one in layout.columns
    ]
    if clone_column is not None:
        columns.append(f"CAST(scumble_copy AS BIGINT) AS {quote(clone_column)}")
    return ", ".join(columns)


# LP-ROS and LP-RUS: every draw is a hash of the seed and a name -----------------------------------


def write_lp_random(
    tables: LabelsetTables, method: LPROS | LPRUS, output: Output, folder: str
) -> None:
    """Write what LP-ROS or LP-RUS makes of the data into a folder."""
    drawn = select_rows_to_resample(tables, method)
    sql = _lp_sql(tables, method, output)
    tables.engine.write(sql, folder, partition_by=output.partition_by, title="Writing the result")
    method.n_added_ = drawn if isinstance(method, LPROS) else 0
    method.n_removed_ = drawn if isinstance(method, LPRUS) else 0


def select_rows_to_resample(tables: LabelsetTables, method: LPROS | LPRUS) -> int:
    """Decide which rows are cloned or dropped, and make ``clones`` or ``dropped``."""
    import pyarrow as pa

    layout = tables.layout
    seed = _seed(tables, method)
    tables.rows(keep=True)
    name = f"concat('{seed}:', {layout.instance_key_expression()})"
    named = {"ids": layout.ids(), "name": name}
    tables.create("hashed", statements.HASHED_INSTANCES, title="Naming instances", **named)
    tables.create("bags", statements.BAGS, title="Counting labelsets")
    n_rows, n_bags = tables.fetch_row(statements.BAG_TOTALS, title="Counting labelsets").values()
    is_rus = isinstance(method, LPRUS)
    # Rows of bags above the mean are dropped, those of bags below it cloned: the sign is turned.
    sign, is_apart, order = (1, ">", "ASC") if is_rus else (-1, "<", "DESC")
    is_open = f"size * {n_bags} {is_apart} {n_rows}"
    values = {"is_open": is_open, "order": order}
    found = tables.fetch(statements.OPEN_BAGS, title="Sharing out", **values)
    sizes = column(found, "size")
    capacity = sign * sizes - sign * n_rows // max(n_bags, 1)
    shares = distribute_budget(n_rows_from_percent(method.percent, n_rows), capacity)
    tables.load("shares", pa.table({"bag": found["bag"], "size": sizes, "share": shares}))
    tables.create(
        "ranked", statements.RANKED_INSTANCES, title="Drawing rows", ids_h=layout.ids("h.")
    )
    if is_rus:
        tables.create("dropped", statements.DROPPED_INSTANCES, ids=layout.ids())
    else:
        tables.create("drawn", statements.DRAWN_POSITIONS, seed=seed)
        tables.create("clones", statements.CLONES, title="Drawing rows", ids_k=layout.ids("k."))
    return int(shares.sum())


def _lp_sql(tables: LabelsetTables, method: LPROS | LPRUS, output: Output) -> str:
    """Write the query for the result."""
    layout = tables.layout
    quote = layout.dialect.quote_identifier
    columns = ", ".join(f"s.{quote(one.name)}" for one in layout.columns)
    clone = output.clone_column or (None if layout.has_lists else "clone")
    zero = f", CAST(0 AS BIGINT) AS {quote(clone)}" if clone else ""
    same = layout.same_ids("s", "d")
    if isinstance(method, LPRUS):
        return tables.format_sql(statements.WITHOUT_DROPPED, columns=columns + zero, same_ids=same)
    drawn = f", CAST(d.clone AS BIGINT) AS {quote(clone)}" if clone else ""
    return tables.format_sql(
        statements.WITH_CLONES, columns=columns, clone_0=zero, clone_d=drawn, same_ids=same
    )


def _seed(tables: LabelsetTables, method: LPROS | LPRUS) -> int:
    caller = type(method).__name__
    if not tables.layout.instance_columns:
        raise ParameterError(
            f"{caller} on a scan draws rows by their names. Say scan(..., instance_column=...)."
        )
    seed = method.random_state
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise parameter_error("random_state", f"{caller} on a scan", "be an int", seed)
    return seed
