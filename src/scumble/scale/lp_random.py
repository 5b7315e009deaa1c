"""LP-ROS and LP-RUS outside of memory: every draw is a hash of the seed and a name."""

from __future__ import annotations

from scumble._core.errors import ParameterError
from scumble.resample.lp_random import LPROS, LPRUS, share_out
from scumble.resample.percent import rows_in_percent
from scumble.scale import statements
from scumble.scale.labelset_tables import LabelsetTables
from scumble.scale.output import Output
from scumble.scale.workspace import column


def resample(tables: LabelsetTables, method: LPROS | LPRUS, output: Output, folder: str) -> None:
    """Write what LP-ROS or LP-RUS makes of the data into a folder."""
    drawn = draw(tables, method)
    sql = result_sql(tables, method, output)
    tables.engine.write(sql, folder, partition_by=output.partition_by, title="Writing the result")
    method.n_added_ = drawn if isinstance(method, LPROS) else 0
    method.n_removed_ = drawn if isinstance(method, LPRUS) else 0


def draw(tables: LabelsetTables, method: LPROS | LPRUS) -> int:
    """Decide which rows are cloned or dropped, and make ``clones`` or ``dropped``."""
    import pyarrow as pa

    layout = tables.layout
    seed = _seed(tables, method)
    tables.rows(keep=True)
    name = f"concat('{seed}:', {layout.instance_text()})"
    sql = tables.fill(statements.HASHED, ids=layout.ids(), name=name)
    tables.table("hashed", sql, title="Naming instances")
    tables.table("bags", tables.fill(statements.BAGS), title="Counting labelsets")
    n_rows, n_bags = tables.record(
        "SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS n_rows, count(*) AS n_bags FROM {bags}",
        title="Counting labelsets",
    ).values()
    is_rus = isinstance(method, LPRUS)
    sql = tables.fill(
        statements.OPEN_BAGS,
        is_open=f"size * {n_bags} {'>' if is_rus else '<'} {n_rows}",
        order="ASC" if is_rus else "DESC",
    )
    found = tables.engine.query(sql, title="Sharing out")
    sizes = column(found, "size")
    floor = n_rows // max(n_bags, 1)
    capacity = sizes - floor if is_rus else -(-n_rows // max(n_bags, 1)) - sizes
    shares = share_out(rows_in_percent(method.percent, n_rows), capacity)
    tables.load("shares", pa.table({"bag": found["bag"], "size": sizes, "share": shares}))
    sql = tables.fill(statements.RANKED, ids_h=layout.ids("h."))
    tables.table("ranked", sql, title="Drawing rows")
    if is_rus:
        tables.view("dropped", tables.fill(statements.DROPPED, ids=layout.ids()))
    else:
        tables.view("drawn", tables.fill(statements.DRAWN, seed=seed))
        sql = tables.fill(statements.CLONES, ids_k=layout.ids("k."))
        tables.table("clones", sql, title="Drawing rows")
    return int(shares.sum())


def result_sql(tables: LabelsetTables, method: LPROS | LPRUS, output: Output) -> str:
    """Write the query for the result."""
    layout = tables.layout
    quote = layout.dialect.quote
    columns = ", ".join(f"s.{quote(one.name)}" for one in layout.columns)
    clone = output.clone_column or (None if layout.has_lists else "clone")
    zero = f", CAST(0 AS BIGINT) AS {quote(clone)}" if clone else ""
    same = layout.same_ids("s", "d")
    if isinstance(method, LPRUS):
        return tables.fill(statements.WITHOUT_DROPPED, columns=columns + zero, same_ids=same)
    drawn = f", CAST(d.clone AS BIGINT) AS {quote(clone)}" if clone else ""
    return tables.fill(
        statements.WITH_CLONES, columns=columns, clone_0=zero, clone_d=drawn, same_ids=same
    )


def _seed(tables: LabelsetTables, method: LPROS | LPRUS) -> int:
    caller = type(method).__name__
    if not tables.layout.instances:
        raise ParameterError(
            f"{caller} on a scan draws rows by their names. Say scan(..., instance_column=...)."
        )
    seed = method.random_state
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ParameterError(
            f"The 'random_state' parameter of {caller} on a scan must be an int. "
            f"Got {seed!r} instead."
        )
    return seed
