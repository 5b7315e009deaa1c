"""Tables of labelsets, labels and scores, which an engine computes when they are first needed."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from string import Formatter
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ReadError
from scumble._core.text import join_names
from scumble.measures.imbalance import mean_of_ratios, ratios_from_counts
from scumble.out_of_core import statements
from scumble.out_of_core.engines.base import Column, Dialect, Engine
from scumble.out_of_core.files import Files


@dataclass(frozen=True)
class ColumnLayout:
    """The columns of the input by their roles, and SQL expressions for them.

    *Instance columns* identify an instance. ``prefix`` is the alias of a table with a dot ("s.").
    """

    columns: tuple[Column, ...]  # all columns
    label: Column  # the column with labels
    # Columns that identify an instance; there may be none if each row is an instance.
    instance_columns: tuple[str, ...]
    separator: str | None  # between the labels of a text
    dialect: Dialect  # of the engine

    @property
    def has_lists(self) -> bool:
        """Whether a row holds all labels of an instance."""
        return self.label.is_list or self.separator is not None

    @property
    def passthrough_columns(self) -> tuple[str, ...]:
        """Names of the columns that are copied unchanged: neither labels nor identifiers."""
        used = {self.label.name, *self.instance_columns}
        return tuple(column.name for column in self.columns if column.name not in used)

    def ids(self, prefix: str = "") -> str:
        """Return the names of the instance columns as SQL, separated by commas."""
        return ", ".join(
            prefix + self.dialect.quote_identifier(name) for name in self.instance_columns
        )

    def ids_with_trailing_comma(self, prefix: str = "") -> str:
        """Return the names of the instance columns as SQL, each followed by a comma.

        The text is empty if there are none.
        """
        return f"{self.ids(prefix)}, " if self.instance_columns else ""

    def same_ids(self, left: str, right: str) -> str:
        """Return the SQL condition that rows of two tables belong to the same instance.

        ``left`` and ``right`` are the names of the tables, or aliases.
        """
        names = map(self.dialect.quote_identifier, self.instance_columns)
        return " AND ".join(f"{left}.{name} = {right}.{name}" for name in names)

    def label_expression(self, prefix: str = "") -> str:
        """Return the SQL expression for the label, or the list of labels, of an input row."""
        name = prefix + self.dialect.quote_identifier(self.label.name)
        if self.separator is not None:
            separator = self.dialect.text(self.separator)
            return self.dialect.split.replace("$1", name).replace("$2", separator)
        if self.label.kind == "other":
            sql_type = self.dialect.string_list_type if self.has_lists else "STRING"
            return f"CAST({name} AS {sql_type})"
        return name

    def instance_key_expression(self) -> str:
        """Return SQL arguments of ``concat`` that join the instance columns with slashes."""
        names = [
            f"CAST({self.dialect.quote_identifier(name)} AS STRING)"
            for name in self.instance_columns
        ]
        return ", '/', ".join(names)


def find_column_layout(
    columns: Sequence[Column],
    dialect: Dialect,
    *,
    path: str,
    label_column: str | None = None,
    instance_column: str | Sequence[str] | None = None,
    separator: str | None = None,
) -> ColumnLayout:
    """Return which columns hold the labels and identify the instances.

    ``label_column``, ``instance_column`` and ``separator`` are the parameters of `scan`. Without a
    label column it is the only column of lists, else the column ``label``; without an instance
    column, every row is an instance if labels are in lists, else it is the column ``instance``.
    ``path`` is the path that `ReadError` names.
    """
    by_name = {column.name: column for column in columns}

    def check(name: str, parameter: str) -> str:
        """Return the name of an existing column; raise ReadError if there is none."""
        return check_column_name(name, by_name, parameter=parameter, path=path)

    label_name = check(label_column or _guess_label_column(columns, path), "label_column")
    if isinstance(instance_column, str):
        instance_column = (instance_column,)
    instance_names = tuple(check(name, "instance_column") for name in instance_column or ())
    if label_name in instance_names:
        raise ReadError(
            f"the column {label_name!r} cannot name both labels and instances.", path=path
        )
    layout = ColumnLayout(
        columns=tuple(columns),
        label=by_name[label_name],
        instance_columns=instance_names,
        separator=separator,
        dialect=dialect,
    )
    if instance_names or layout.has_lists:
        return layout
    return replace(layout, instance_columns=(check("instance", "instance_column"),))


def _guess_label_column(columns: Sequence[Column], path: str) -> str:
    """Return the name of the only column of lists; if there is none or several, ``label``.

    Raise ReadError if there is no column ``label`` either.
    """
    lists = [column for column in columns if column.is_list and column.kind != "other"]
    if len(lists) == 1:
        return lists[0].name
    names = [column.name for column in columns]
    if names.count("label") == 1:
        return "label"
    raise ReadError(
        "which column holds the labels? Expected exactly one column of lists, or one called "
        f"'label'. Found {join_names(names, 12)}. Say label_column=...",
        path=path,
    )


def check_column_name(name: str, columns: dict[str, Column], *, parameter: str, path: str) -> str:
    """Return a column name unchanged; raise ReadError if there is no such column.

    ``parameter`` is the parameter that named it, and ``path`` that of the file, for the message.
    """
    if name in columns:
        return name
    raise ReadError(
        f"there is no column {name!r}. Expected one of {join_names(columns, 12)}. Check "
        f"{parameter}.",
        path=path,
    )


class Workspace:
    """Tables and views of one computation, on an engine that others may use as well.

    Statements name tables in braces. A prefix separates the tables from those of other workspaces.
    A table with an improved definition gets a new name, because replacing a view of Spark would
    discard what was computed from it.
    """

    def __init__(self, engine: Engine) -> None:
        """Make an empty workspace with a random prefix for the names of its tables."""
        self.engine = engine
        self._values: dict[str, Any] = {}
        self._prefix = f"scumble_{uuid.uuid4().hex[:8]}_"
        self._created: set[str] = set()
        self._renamed: dict[str, str] = {}

    def name(self, table: str) -> str:
        """Return the name that a table of this workspace has in the engine."""
        return self._prefix + self._renamed.get(table, table)

    def load(self, table: str, content: Any) -> None:
        """Make an Arrow table available as the table ``table``."""
        self.engine.load(self._prefix + table, content)

    def create(self, table: str, sql: str, *, title: str | None = None, **values: Any) -> None:
        """Create a table, or a view if ``title`` is None, from a statement of `format_sql`.

        ``title`` names the work in progress bars.
        """
        name = self._prefix + table
        query = self.format_sql(sql, **values)
        if title is None:
            self.engine.create_view(name, query)
        else:
            self.engine.create_table(name, query, title=title)

    def create_if_missing(
        self, table: str, sql: str, *, title: str | None = None, **values: Any
    ) -> None:
        """Create a table or a view like `create`, unless this method has created it before."""
        if table not in self._created:
            self.create(table, sql, title=title, **values)
            self._created.add(table)

    def format_sql(self, sql: str, **values: Any) -> str:
        """Return a statement in which values and names of tables replace the names in braces.

        A name stands for its entry in ``values``, else in ``self._values``, else for a table.
        """
        names = [name for _, name, _, _ in Formatter().parse(sql) if name]
        return sql.format_map({name: self.name(name) for name in names} | self._values | values)

    def fetch(self, sql: str, *, title: str, **values: Any) -> Any:
        """Run a statement of `format_sql`; return its result as an Arrow table.

        ``title`` names the work in the progress bar. ``values`` replace names in braces as text, so
        they must be SQL already.
        """
        return self.engine.query(self.format_sql(sql, **values), title=title)

    def fetch_row(self, sql: str, *, title: str, **values: Any) -> dict[str, Any]:
        """Run a statement whose result is a single row; return its values by column name.

        The arguments are those of `fetch`.
        """
        [row] = self.fetch(sql, title=title, **values).to_pylist()
        return dict(row)

    def fetch_value(self, sql: str, *, title: str, **values: Any) -> Any:
        """Run a statement whose result is a single value; return it.

        The arguments are those of `fetch`.
        """
        [value] = self.fetch_row(sql, title=title, **values).values()
        return value


def arrow_column(table: Any, name: str) -> Array:
    """Return the column ``name`` of an Arrow table, which holds numbers, as a NumPy array."""
    values: Array = table.column(name).combine_chunks().to_numpy(zero_copy_only=False)
    return values


class LabelsetTables(Workspace):
    """The SQL tables of one input, which are computed when they are first needed.

    A labelset is the set of labels of an instance. The data may spell it in several ways, because
    of the order of labels, duplicates, nulls or missing lists; its *canonical* spelling is sorted.
    """

    def __init__(
        self,
        engine: Engine,
        files: Files,
        labels: Any,
        *,
        label_column: str | None = None,
        instance_column: str | Sequence[str] | None = None,
        separator: str | None = None,
    ) -> None:
        """Register the files as the table ``source`` and find its columns; see `scan`."""
        super().__init__(engine)
        self.declared_labels = None if labels is None else list(labels)
        self.path_text = files.paths[0] if len(files.paths) == 1 else f"{files.paths[0]}, ..."
        self.layout = find_column_layout(
            engine.open(self.name("source"), files),
            engine.dialect,
            path=self.path_text,
            label_column=label_column,
            instance_column=instance_column,
            separator=separator,
        )
        self.is_canonical = True  # whether each labelset has a single spelling in the data
        self._has_checked_names = False

    def create_rows(self, *, store_as_table: bool = False) -> None:
        """Create the view ``rows``: the instances with their lists of labels.

        If they have to be collected from several input rows, ``store_as_table`` makes ``rows`` a
        table, which is computed once.
        """
        layout = self.layout
        if layout.has_lists:
            self.create_if_missing(
                "rows",
                statements.ROWS_FROM_LISTS,
                ids_with_trailing_comma=layout.ids_with_trailing_comma(),
                label=layout.label_expression(),
            )
            return
        self._check_instance_names()
        if store_as_table:
            self._renamed["rows"] = "rows_stored"
        self.create_if_missing(
            "rows_stored" if store_as_table else "rows",
            statements.ROWS_FROM_PAIRS,
            title="Gathering instances" if store_as_table else None,
            ids=layout.ids(),
            label=layout.label_expression(),
        )

    def create_sets(self) -> None:
        """Create the table ``sets``: the distinct labelsets and their counts.

        Also set `is_canonical`: whether the data spells each labelset in a single way.
        """
        if "sets" in self._created:
            return
        self.create_rows()
        self.create_if_missing("raw_sets", statements.RAW_LABELSETS, title="Counting labelsets")
        self.is_canonical = not self.fetch_value(
            statements.COUNT_NONCANONICAL, title="Checking labelsets"
        )
        if self.is_canonical:
            self.create_if_missing("sets", statements.LABELSETS_IF_CANONICAL)
        else:
            self.create_if_missing(
                "sets", statements.CANONICAL_LABELSETS, title="Comparing labelsets"
            )

    @cached_property
    def labels(self) -> tuple[list[Any], Array]:
        """The labels that occur, sorted, and their counts.

        The first use also creates the table ``ratios``, with the IRLbl of each label.
        """
        self.create_sets()
        self.create_if_missing("label_counts", statements.LABEL_COUNTS, title="Counting labels")
        sql = "SELECT label, n FROM {label_counts} ORDER BY label"
        table = self.fetch(sql, title="Counting labels")
        counts = arrow_column(table, "n").astype(np.int64)
        # The mean is computed here: engines add in any order, and rounding could then make a label
        # whose IRLbl equals MeanIR a minority label, other than in memory.
        mean_ir = repr(mean_of_ratios(ratios_from_counts(counts)))
        self.create_if_missing(
            "ratios", statements.RATIOS, title="Comparing labels", mean_ir=mean_ir
        )
        return table.column("label").to_pylist(), counts

    def create_scored(self) -> None:
        """Create the table ``scored``: the SCUMBLE of every labelset, and of its two halves.

        The halves are its rare and its frequent labels.
        """
        if "scored" in self._created:
            return
        _ = self.labels  # creates ``ratios``
        queries = [
            self.format_sql(statements.LABELSET_SCORES, sets=part) for part in self.slices("sets")
        ]
        self.engine.create_table(self.name("scored"), *queries, title="Scoring labelsets")
        self._created.add("scored")
        if self.is_canonical:  # one table of labelsets suffices and saves space
            self.create_if_missing("sets_scored", statements.LABELSETS_FROM_SCORES)
            self._renamed["sets"] = "sets_scored"
            self.engine.drop(self.name("raw_sets"))

    def slices(self, table: str) -> list[str]:
        """Return subqueries that divide a table of labelsets into slices.

        Each slice fits into memory; a single slice is the name of the table.
        """
        n_sets = self.totals["n_labelsets"]
        name = self.name(table)
        n_slices = self.engine.n_slices(n_sets)
        if n_slices == 1:
            return [name]
        size = -(-n_sets // n_slices)  # rounded up
        return [
            f"(SELECT * FROM {name} WHERE set_id > {start} AND set_id <= {start + size})"
            for start in range(0, n_sets, size)
        ]

    def create_scored_raw(self) -> None:
        """Create the view ``scored_raw``: SCUMBLE of each spelling of a labelset in the data."""
        self.create_scored()
        if self.is_canonical:
            self.create_if_missing("scored_raw", statements.RAW_SCORES_IF_CANONICAL)
        else:
            self.create_if_missing("scored_raw", statements.RAW_SCORES)

    @cached_property
    def totals(self) -> dict[str, int]:
        """Counts of instances, labelsets and label assignments by name, computed once."""
        self.create_sets()
        return self.fetch_row(statements.LABELSET_TOTALS, title="Adding up")

    def _check_instance_names(self) -> None:
        """Raise ReadError if an instance column is null in some rows; check only once."""
        if self._has_checked_names:
            return
        names = self.layout.instance_columns
        quoted_names = map(self.layout.dialect.quote_identifier, names)
        is_missing = " OR ".join(f"{name} IS NULL" for name in quoted_names)
        sql = f"SELECT count(*) AS n FROM {{source}} WHERE {is_missing}"
        n_missing = self.fetch_value(sql, title="Checking instances")
        if n_missing:
            raise ReadError(
                f"{n_missing} rows do not name their instance: {', '.join(names)} is null. "
                "Expected a name in every row; leave these rows out.",
                path=self.path_text,
            )
        self._has_checked_names = True
