"""Tables of one piece of work: which columns mean what, what is made of them, named and fetched.

All measures come from those of distinct labelsets, labels, and their scores.
"""

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
from scumble.scale import statements
from scumble.scale.engines.base import Column, Dialect, Engine
from scumble.scale.files import Files


@dataclass(frozen=True)
class ColumnLayout:
    """The columns of the input, and how statements name them."""

    columns: tuple[Column, ...]  # all of them
    label: Column  # the one with labels
    # Those that name the instance; there may be none where each row is an instance.
    instance_columns: tuple[str, ...]
    separator: str | None  # what stands between the labels of a text
    dialect: Dialect  # how the engine spells names and texts

    @property
    def has_lists(self) -> bool:
        """Whether a row holds all labels of an instance."""
        return self.label.is_list or self.separator is not None

    @property
    def passthrough_columns(self) -> tuple[str, ...]:
        """Columns that pass through."""
        known = {self.label.name, *self.instance_columns}
        return tuple(column.name for column in self.columns if column.name not in known)

    def ids(self, prefix: str = "") -> str:
        """Name the instance columns."""
        return ", ".join(
            prefix + self.dialect.quote_identifier(name) for name in self.instance_columns
        )

    def ids_first(self, prefix: str = "") -> str:
        """Name the instance columns with a comma behind them, where there are any."""
        return f"{self.ids(prefix)}, " if self.instance_columns else ""

    def same_ids(self, left: str, right: str) -> str:
        """Compare the instances of two tables."""
        names = map(self.dialect.quote_identifier, self.instance_columns)
        return " AND ".join(f"{left}.{name} = {right}.{name}" for name in names)

    def label_expression(self, prefix: str = "") -> str:
        """Write the labels of a row of the input."""
        name = prefix + self.dialect.quote_identifier(self.label.name)
        if self.separator is not None:
            mark = self.dialect.text(self.separator)
            return self.dialect.split.replace("$1", name).replace("$2", mark)
        if self.label.kind == "other":
            return (
                f"CAST({name} AS {self.dialect.string_list_type if self.has_lists else 'STRING'})"
            )
        return name

    def instance_key_expression(self) -> str:
        """Write an instance's name as one text."""
        names = (
            f"CAST({self.dialect.quote_identifier(name)} AS STRING)"
            for name in self.instance_columns
        )
        return ", '/', ".join(names)


def find_column_layout(
    columns: Sequence[Column],
    dialect: Dialect,
    *,
    where: str,
    label_column: str | None = None,
    instance_column: str | Sequence[str] | None = None,
    separator: str | None = None,
) -> ColumnLayout:
    """Match what the user says with the columns there are."""
    known = {column.name: column for column in columns}
    named = label_column or _guess_label(columns, where)
    label = known[_check_column_name(named, known, "label_column", where)]
    given = (instance_column,) if isinstance(instance_column, str) else instance_column or ()
    instances = tuple(_check_column_name(name, known, "instance_column", where) for name in given)
    if label.name in instances:
        raise ReadError(
            f"the column {label.name!r} cannot name both labels and instances.", path=where
        )
    layout = ColumnLayout(tuple(columns), label, instances, separator, dialect)
    if instances or layout.has_lists:
        return layout
    return replace(
        layout, instance_columns=(_check_column_name("instance", known, "instance_column", where),)
    )


def _guess_label(columns: Sequence[Column], where: str) -> str:
    lists = [column for column in columns if column.is_list and column.kind != "other"]
    named = [column for column in columns if column.name == "label"]
    found = lists if len(lists) == 1 else named
    if len(found) == 1:
        return found[0].name
    raise ReadError(
        "which column holds the labels? Expected exactly one column of lists, or one called "
        f"'label'. Found {join_names((column.name for column in columns), 12)}. Say label_column=...",
        path=where,
    )


def _check_column_name(name: str, known: dict[str, Column], parameter: str, where: str) -> str:
    if name in known:
        return name
    raise ReadError(
        f"there is no column {name!r}. Expected one of {join_names(known, 12)}. Check {parameter}.",
        path=where,
    )


class Workspace:
    """Tables and views of one piece of work, on an engine that others may use as well."""

    # Statements name them in braces. Where a table gets a better definition it also gets a new
    # name: to replace a view of Spark's makes it forget what was computed from the view.

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._values: dict[str, Any] = {}
        self._prefix = f"scumble_{uuid.uuid4().hex[:8]}_"
        self._done: set[str] = set()
        self._renamed: dict[str, str] = {}

    def name(self, table: str) -> str:
        """Return the name a table has for the engine."""
        return self._prefix + self._renamed.get(table, table)

    def load(self, table: str, content: Any) -> None:
        """Make an Arrow table of ours known."""
        self.engine.load(self._prefix + table, content)

    def create(self, table: str, sql: str, *, title: str | None = None, **values: Any) -> None:
        """Make a table, or a view where there is no title."""
        name, filled = self._prefix + table, self.format_sql(sql, **values)
        if title is None:
            self.engine.create_view(name, filled)
        else:
            self.engine.table(name, filled, title=title)

    def create_if_missing(self, table: str, sql: str, **how: Any) -> None:
        """Make a table or a view, unless it is there already."""
        if table not in self._done:
            self.create(table, sql, **how)
            self._done.add(table)

    def format_sql(self, sql: str, **values: Any) -> str:
        """Put into a statement what its braces name: a value, or else a table."""
        braced = (name for _, name, _, _ in Formatter().parse(sql) if name)
        return sql.format_map({name: self.name(name) for name in braced} | self._values | values)

    def fetch(self, sql: str, *, title: str, **values: Any) -> Any:
        """Run a statement; return an Arrow table."""
        return self.engine.query(self.format_sql(sql, **values), title=title)

    def fetch_row(self, sql: str, *, title: str, **values: Any) -> dict[str, Any]:
        """Run a statement that gives one row."""
        [found] = self.fetch(sql, title=title, **values).to_pylist()
        return dict(found)

    def fetch_value(self, sql: str, *, title: str, **values: Any) -> Any:
        """Run a statement that gives one value."""
        [value] = self.fetch_row(sql, title=title, **values).values()
        return value


def column(table: Any, name: str) -> Array:
    """Take a column of numbers out of an Arrow table."""
    values: Array = table.column(name).combine_chunks().to_numpy(zero_copy_only=False)
    return values


class LabelsetTables(Workspace):
    """Tables of one input, computed when they are first needed."""

    def __init__(self, engine: Engine, files: Files, labels: Any, **columns: Any) -> None:
        super().__init__(engine)
        self.declared_labels = None if labels is None else list(labels)
        self.where = files.paths[0] if len(files.paths) == 1 else f"{files.paths[0]}, ..."
        found = engine.open(self.name("source"), files)
        self.layout = find_column_layout(found, engine.dialect, where=self.where, **columns)
        self.is_canonical = True

    def rows(self, *, keep: bool = False) -> None:
        """Make ``rows``: the instances, each with a list of labels."""
        layout = self.layout
        values = {
            "ids": layout.ids(),
            "ids_first": layout.ids_first(),
            "label": layout.label_expression(),
        }
        if layout.has_lists:
            self.create_if_missing("rows", statements.ROWS_FROM_LISTS, **values)
            return
        self._refuse_nameless()
        if keep:
            self._renamed["rows"] = "rows_stored"
            values["title"] = "Gathering instances"
        self.create_if_missing(
            "rows_stored" if keep else "rows", statements.ROWS_FROM_PAIRS, **values
        )

    def sets(self) -> None:
        """Make ``sets``: the distinct labelsets and how often each occurs."""
        if "sets" in self._done:
            return
        self.rows()
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
        """The labels that occur and how often; makes ``ratios`` from the counts."""
        self.sets()
        self.create_if_missing("label_counts", statements.LABEL_COUNTS, title="Counting labels")
        sql = "SELECT label, n FROM {label_counts} ORDER BY label"
        found = self.fetch(sql, title="Counting labels")
        counts = column(found, "n").astype(np.int64)
        # The mean is taken here, so that a label on the border falls on the same side as in
        # memory, whatever the order in which an engine adds.
        mean_ir = repr(mean_of_ratios(ratios_from_counts(counts)))
        self.create_if_missing(
            "ratios", statements.RATIOS, title="Comparing labels", mean_ir=mean_ir
        )
        return found.column("label").to_pylist(), counts

    def scored(self) -> None:
        """Make ``scored``: SCUMBLE of every labelset with labels."""
        if "scored" in self._done:
            return
        _ = self.labels  # makes the ratios
        queries = [
            self.format_sql(statements.LABELSET_SCORES, sets=part) for part in self.slices("sets")
        ]
        self.engine.table(self.name("scored"), *queries, title="Scoring labelsets")
        self._done.add("scored")
        if self.is_canonical:  # the same labelsets twice would take twice the room
            self.create_if_missing("sets_scored", statements.LABELSETS_FROM_SCORES)
            self._renamed["sets"] = "sets_scored"
            self.engine.drop(self.name("raw_sets"))

    def slices(self, table: str) -> list[str]:
        """Cut a table with a row for each labelset into pieces, work on which fits into memory."""
        n_sets, name = self.totals["n_labelsets"], self.name(table)
        n_slices = self.engine.slices(n_sets)
        if n_slices == 1:
            return [name]
        step = -(-n_sets // n_slices)
        within = "(SELECT * FROM {} WHERE set_id > {} AND set_id <= {})"
        return [within.format(name, start, start + step) for start in range(0, n_sets, step)]

    def scored_spellings(self) -> None:
        """Make ``scored_raw``: the scores under every spelling that the data has."""
        self.scored()
        one, several = statements.RAW_SCORES_IF_CANONICAL, statements.RAW_SCORES
        self.create_if_missing("scored_raw", one if self.is_canonical else several)

    @cached_property
    def totals(self) -> dict[str, int]:
        """Sums over the labelsets."""
        self.sets()
        return self.fetch_row(statements.LABELSET_TOTALS, title="Adding up")

    def _refuse_nameless(self) -> None:
        if "named" in self._done:
            return
        names = [
            self.layout.dialect.quote_identifier(name) for name in self.layout.instance_columns
        ]
        missing = " OR ".join(f"{name} IS NULL" for name in names)
        sql = f"SELECT count(*) AS n FROM {{source}} WHERE {missing}"
        if n_missing := self.fetch_value(sql, title="Checking instances"):
            raise ReadError(
                f"{n_missing} rows do not name their instance: {', '.join(self.layout.instance_columns)} "
                "is null. Expected a name in every row; leave these rows out.",
                path=self.where,
            )
        self._done.add("named")
