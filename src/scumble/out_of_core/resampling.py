"""REMEDIAL, LP-ROS and LP-RUS out of core.

In all functions, ``tables`` are the SQL tables of the input data, ``resampler`` holds the
parameters, and ``output`` the options for the result.
"""

from scumble._core.errors import ParameterError, parameter_error
from scumble.measures.base import safe_divide
from scumble.measures.concurrence import ABOVE_MEAN_TOLERANCE
from scumble.out_of_core import statements
from scumble.out_of_core.files import Output
from scumble.out_of_core.tables import ColumnLayout, LabelsetTables, arrow_column
from scumble.resample.base import n_rows_from_percent
from scumble.resample.lp_random import LPROS, LPRUS, distribute_budget
from scumble.resample.remedial import REMEDIAL, RemedialPass

#: A threshold that no score exceeds, because SCUMBLE is below 1: nothing is split before pass 1.
ABOVE_ALL_SCORES = 2.0


def write_remedial(
    tables: LabelsetTables, resampler: REMEDIAL, output: Output, folder: str
) -> None:
    """Write the result of REMEDIAL to a folder, and set the fitted attributes of ``resampler``.

    Raise ParameterError for ``unseen="zero"``, which works in memory only.
    """
    if resampler.unseen != "nan":
        raise ParameterError(
            "REMEDIAL(unseen='zero') is for data in memory only. Leave it out, or use scumble.read."
        )
    passes = compute_passes(tables, resampler)
    sql = _remedial_sql(tables, output)
    tables.engine.write(sql, folder, partition_by=output.partition_by, title="Writing the result")
    resampler.passes_ = passes
    resampler.n_one_sided_ = sum(remedial_pass.n_one_sided for remedial_pass in passes)
    resampler.n_added_ = sum(remedial_pass.n_added for remedial_pass in passes)
    resampler.n_removed_ = 0


def compute_passes(tables: LabelsetTables, resampler: REMEDIAL) -> tuple[RemedialPass, ...]:
    """Return the counts of each pass of REMEDIAL, computed from the table of labelsets.

    Create the SQL tables ``splits`` and ``copies``, see `_create_splits`.
    """
    n_rows = tables.totals["n_instances"]
    tables.create_scored()
    makes_copies = resampler.one_sided == "clone"  # copies without labels, of one-sided rows
    lowest_threshold = ABOVE_ALL_SCORES
    passes = []
    counts_of_empty_copies = []
    for number in range(1, resampler.passes + 1):
        title = f"REMEDIAL, pass {number}"
        total = tables.fetch_value(
            statements.PASS_TOTAL, title=title, lowest_threshold=lowest_threshold
        )
        mean = safe_divide(float(total), n_rows)
        threshold = mean + ABOVE_MEAN_TOLERANCE
        thresholds = {"lowest_threshold": repr(lowest_threshold), "threshold": repr(threshold)}
        counts = tables.fetch_row(statements.PASS_COUNTS, title=title, **thresholds)
        n_added = counts["n_above_mean"]
        if makes_copies:
            counts_of_empty_copies.append(statements.ONE_SIDED_ABOVE.format_map(thresholds))
        else:
            n_added -= counts["n_one_sided"]
        passes.append(
            RemedialPass(
                scumble=mean,
                n_above_mean=counts["n_above_mean"],
                n_one_sided=counts["n_one_sided"],
                n_added=n_added,
            )
        )
        lowest_threshold = min(lowest_threshold, threshold)
        n_rows += n_added
    _create_splits(
        tables,
        lowest_threshold=repr(lowest_threshold),
        n_empty=" + ".join(counts_of_empty_copies) or "0",
        n_passes=resampler.passes,
    )
    return tuple(passes)


def _create_splits(
    tables: LabelsetTables, *, lowest_threshold: str, n_empty: str, n_passes: int
) -> None:
    """Create the SQL tables ``splits`` and ``copies``, with which the result is written.

    ``splits`` holds, for each labelset that changes, its rare labels and the number of rows that an
    instance becomes. ``copies`` lists the copies 0, 1, ... for each possible number of rows.
    ``lowest_threshold`` is the lowest threshold of all passes and ``n_empty`` the number of copies
    without labels, both as SQL.
    """
    import pyarrow as pa

    if tables.is_canonical:
        raw = "c.labels"
        spellings = ""
    else:
        raw = "w.raw"
        spellings = tables.format_sql(statements.JOIN_RAW_LABELSETS)
    queries = []
    for scored in tables.slices("scored"):
        changed = tables.format_sql(
            statements.CHANGED_LABELSETS,
            scored=scored,
            lowest_threshold=lowest_threshold,
            n_empty=n_empty,
        )
        rare_halves = tables.format_sql(statements.RARE_HALVES, changed=f"({changed})")
        queries.append(
            tables.format_sql(
                statements.LABELSET_SPLITS,
                raw=raw,
                spellings=spellings,
                changed=f"({changed})",
                rare_halves=f"({rare_halves})",
            )
        )
    tables.engine.create_table(tables.name("splits"), *queries, title="Splitting labelsets")
    columns: dict[str, list[int]] = {"n_copies": [], "copy": []}
    for n_copies in range(1, 2 * n_passes + 3):
        columns["n_copies"] += [n_copies] * n_copies
        columns["copy"] += range(n_copies)
    tables.load("copies", pa.table(columns))


def _remedial_sql(tables: LabelsetTables, output: Output) -> str:
    """Return the SQL query for the rows of the result of REMEDIAL."""
    layout = tables.layout
    canonical_labels = "scumble_labels" if tables.is_canonical else "CANONICAL!(scumble_labels)"
    labels = statements.COPY_LABELS.format(canonical_labels=canonical_labels)
    if not layout.has_lists:
        return _pairs_sql(tables, labels, output.clone_column or "clone")
    row_columns = [
        f"s.{layout.dialect.quote_identifier(name)}, "
        for name in (*layout.instance_columns, *layout.passthrough_columns)
    ]
    return tables.format_sql(
        statements.REMEDIAL_LISTS,
        columns=_list_columns(layout, labels, output.clone_column),
        row_columns="".join(row_columns),
        row_labels=layout.label_expression("s."),
    )


def _pairs_sql(tables: LabelsetTables, labels: str, clone_column: str) -> str:
    """Return the SQL query for the result of REMEDIAL with one row per instance and label.

    ``labels`` is the SQL expression for the labels of a copy.
    """
    layout = tables.layout
    tables.create_rows(store_as_table=True)
    quote = layout.dialect.quote_identifier
    clone = quote(clone_column)
    label = quote(layout.label.name)
    lists = tables.format_sql(
        statements.REMEDIAL_LISTS,
        columns=f"{layout.ids()}, CAST(scumble_copy AS BIGINT) AS {clone}, {labels} AS labels",
        row_columns=layout.ids_with_trailing_comma("s."),
        row_labels="s.labels",
        source=tables.name("rows"),
    )
    pairs = tables.format_sql(
        statements.PAIRS_FROM_LISTS, ids=layout.ids(), clone=clone, label=label, lists=lists
    )
    if not layout.passthrough_columns:
        return pairs
    columns = [layout.ids("d."), f"d.{clone}", f"d.{label}"]
    columns += [f"s.{quote(name)}" for name in layout.passthrough_columns]
    return tables.format_sql(
        statements.PAIRS_WITH_OTHER_COLUMNS,
        columns=", ".join(columns),
        pairs=pairs,
        same_ids=layout.same_ids("d", "s"),
        label=label,
    )


def _list_columns(layout: ColumnLayout, labels: str, clone_column: str | None) -> str:
    """Return the SQL columns of a result with lists of labels, in the order of the input.

    ``labels`` is the SQL expression for the labels of a copy.
    """
    quote = layout.dialect.quote_identifier
    columns = []
    for column in layout.columns:
        name = quote(column.name)
        columns.append(f"{labels} AS {name}" if column.name == layout.label.name else name)
    if clone_column is not None:
        columns.append(f"CAST(scumble_copy AS BIGINT) AS {quote(clone_column)}")
    return ", ".join(columns)


# LP-ROS and LP-RUS: random numbers are hashes of the seed and a name ------------------------------


def write_lp_random(
    tables: LabelsetTables, resampler: LPROS | LPRUS, output: Output, folder: str
) -> None:
    """Write the result of LP-ROS or LP-RUS to a folder, and set ``n_added_`` and ``n_removed_``."""
    n_selected = select_rows_to_resample(tables, resampler)
    sql = _lp_sql(tables, resampler, output)
    tables.engine.write(sql, folder, partition_by=output.partition_by, title="Writing the result")
    resampler.n_added_ = n_selected if isinstance(resampler, LPROS) else 0
    resampler.n_removed_ = n_selected if isinstance(resampler, LPRUS) else 0


def select_rows_to_resample(tables: LabelsetTables, resampler: LPROS | LPRUS) -> int:
    """Select the rows to clone or to delete, and return their number.

    Create the SQL table ``clones`` for LP-ROS, or ``dropped`` for LP-RUS, with these rows. A bag is
    the set of rows with the same labelset, an open bag one that gains or loses rows.
    """
    import pyarrow as pa

    layout = tables.layout
    seed = _check_seed(tables, resampler)
    tables.create_rows(store_as_table=True)
    tables.create(
        "hashed",
        statements.HASHED_INSTANCES,
        title="Hashing instances",
        ids=layout.ids(),
        name=f"concat('{seed}:', {layout.instance_key_expression()})",
    )
    tables.create("bags", statements.BAGS, title="Counting labelsets")
    totals = tables.fetch_row(statements.BAG_TOTALS, title="Counting labelsets")
    n_rows = totals["n_rows"]
    n_bags = totals["n_bags"]
    is_rus = isinstance(resampler, LPRUS)
    # Rows of bags above the mean size are dropped, rows of bags below it are cloned.
    if is_rus:
        sign = 1
        comparison = ">"
        order = "ASC"
    else:
        sign = -1
        comparison = "<"
        order = "DESC"
    bags = tables.fetch(
        statements.OPEN_BAGS,
        title="Distributing rows",
        is_open=f"size * {n_bags} {comparison} {n_rows}",
        order=order,
    )
    sizes = arrow_column(bags, "size")
    capacity = sign * sizes - sign * n_rows // max(n_bags, 1)
    budgets = distribute_budget(n_rows_from_percent(resampler.percent, n_rows), capacity)
    tables.load("shares", pa.table({"bag": bags["bag"], "size": sizes, "share": budgets}))
    tables.create(
        "ranked", statements.RANKED_INSTANCES, title="Drawing rows", ids_h=layout.ids("h.")
    )
    if is_rus:
        tables.create("dropped", statements.DROPPED_INSTANCES, ids=layout.ids())
    else:
        tables.create("drawn", statements.DRAWN_POSITIONS, seed=seed)
        tables.create("clones", statements.CLONES, title="Drawing rows", ids_k=layout.ids("k."))
    return int(budgets.sum())


def _lp_sql(tables: LabelsetTables, resampler: LPROS | LPRUS, output: Output) -> str:
    """Return the SQL query for the rows of the result of LP-ROS or LP-RUS."""
    layout = tables.layout
    quote = layout.dialect.quote_identifier
    columns = ", ".join(f"s.{quote(column.name)}" for column in layout.columns)
    same_ids = layout.same_ids("s", "d")
    clone_column = output.clone_column or (None if layout.has_lists else "clone")
    clone_of_original = ""
    clone_of_copy = ""
    if clone_column:
        clone_of_original = f", CAST(0 AS BIGINT) AS {quote(clone_column)}"
        clone_of_copy = f", CAST(d.clone AS BIGINT) AS {quote(clone_column)}"
    if isinstance(resampler, LPRUS):
        return tables.format_sql(
            statements.WITHOUT_DROPPED, columns=columns + clone_of_original, same_ids=same_ids
        )
    return tables.format_sql(
        statements.WITH_CLONES,
        columns=columns,
        clone_0=clone_of_original,
        clone_d=clone_of_copy,
        same_ids=same_ids,
    )


def _check_seed(tables: LabelsetTables, resampler: LPROS | LPRUS) -> int:
    """Return ``resampler.random_state`` as the seed of the hashes that replace random numbers.

    Raise ParameterError if it is no int, or if no columns identify the instances.
    """
    caller = type(resampler).__name__
    if not tables.layout.instance_columns:
        raise ParameterError(
            f"{caller} on a scan draws rows by their names. Say scan(..., instance_column=...)."
        )
    seed = resampler.random_state
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise parameter_error("random_state", f"{caller} on a scan", "be an int", seed)
    return seed
