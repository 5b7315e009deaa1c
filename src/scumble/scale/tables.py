"""Tables of one piece of work: made once, named in statements, fetched.

All measures come from those of distinct labelsets, labels, and their scores.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ReadError
from scumble.measures.imbalance import mean_of_ratios, ratios_from_counts
from scumble.scale import statements
from scumble.scale.engines.base import Column, Engine
from scumble.scale.layout import find_layout
from scumble.scale.sources import Files


class Workspace:
    """Tables and views of one piece of work, on an engine that others may use as well."""

    # Statements name them in braces. Where a table gets a better definition it also gets a new
    # name: to replace a view of Spark's makes it forget what was computed from the view.

    def __init__(self, engine: Engine, **values: Any) -> None:
        self.engine, self._values = engine, values
        self._prefix = f"scumble_{uuid.uuid4().hex[:8]}_"
        self._done: set[str] = set()
        self._renamed: dict[str, str] = {}

    def name(self, table: str) -> str:
        """Return the name a table has for the engine."""
        return self._prefix + self._renamed.get(table, table)

    def open(self, table: str, files: Files) -> list[Column]:
        """Make files known under a name; return their columns."""
        return self.engine.open(self._prefix + table, files)

    def table(self, table: str, *queries: str, title: str) -> None:
        """Compute a table from the rows of one query after the other, and keep it."""
        self.engine.table(self._prefix + table, *queries, title=title)

    def view(self, table: str, sql: str) -> None:
        """Give a query a name."""
        self.engine.view(self._prefix + table, sql)

    def load(self, table: str, content: Any) -> None:
        """Make an Arrow table of ours known."""
        self.engine.load(self._prefix + table, content)

    def drop(self, table: str) -> None:
        """Forget a table."""
        self.engine.drop(self._prefix + table)

    def make(self, table: str, sql: str, *, title: str | None = None, **values: Any) -> None:
        """Make a table, or a view where there is no title, unless it is there already."""
        if table in self._done:
            return
        if title is None:
            self.view(table, self.fill(sql, **values))
        else:
            self.table(table, self.fill(sql, **values), title=title)
        self._done.add(table)

    def fill(self, sql: str, **values: Any) -> str:
        """Put names and values into a statement."""
        return sql.format_map(_Names(self.name, self._values | values))

    def fetch(self, sql: str, *, title: str, **values: Any) -> Any:
        """Run a statement; return an Arrow table."""
        return self.engine.query(self.fill(sql, **values), title=title)

    def record(self, sql: str, *, title: str, **values: Any) -> dict[str, Any]:
        """Run a statement that gives one row."""
        [found] = self.fetch(sql, title=title, **values).to_pylist()
        return dict(found)

    def number(self, sql: str, *, title: str, **values: Any) -> Any:
        """Run a statement that gives one value."""
        [value] = self.record(sql, title=title, **values).values()
        return value


class _Names(dict[str, Any]):
    """What braces stand for: given values, and for all else the engine's name of a table."""

    def __init__(self, name: Callable[[str], str], values: dict[str, Any]) -> None:
        super().__init__(values)
        self._name = name

    def __missing__(self, key: str) -> str:
        return self._name(key)


def column(table: Any, name: str) -> Array:
    """Take a column of numbers out of an Arrow table."""
    values: Array = table.column(name).combine_chunks().to_numpy(zero_copy_only=False)
    return values


class LabelsetTables(Workspace):
    """Tables of one input, computed when they are first needed."""

    def __init__(self, engine: Engine, files: Files, **columns: Any) -> None:
        super().__init__(engine)
        self.where = files.paths[0] if len(files.paths) == 1 else f"{files.paths[0]}, ..."
        found = self.open("source", files)
        self.layout = find_layout(found, engine.dialect, where=self.where, **columns)
        self._labels: tuple[list[Any], Array] | None = None
        self._totals: dict[str, int] | None = None
        self.is_regular = True

    def rows(self, *, keep: bool = False) -> None:
        """Make ``rows``: the instances, each with a list of labels."""
        layout = self.layout
        values = {"ids": layout.ids(), "ids_first": layout.ids_first(), "label": layout.label_in()}
        if layout.has_lists:
            self.make("rows", statements.ROWS_FROM_LISTS, **values)
            return
        self._refuse_nameless()
        if keep:
            sql = statements.ROWS_FROM_PAIRS
            self.make("rows_stored", sql, title="Gathering instances", **values)
            self._renamed["rows"] = "rows_stored"
        else:
            self.make("rows", statements.ROWS_FROM_PAIRS, **values)

    def sets(self) -> None:
        """Make ``sets``: the distinct labelsets and how often each occurs."""
        if "sets" in self._done:
            return
        self.rows()
        self.make("raw_sets", statements.RAW_SETS, title="Counting labelsets")
        self.is_regular = not self.number(statements.COUNT_IRREGULAR, title="Checking labelsets")
        if self.is_regular:
            self.make("sets", statements.SETS_AS_SPELLED)
        else:
            self.make("sets", statements.SETS_IN_ONE_SPELLING, title="Comparing labelsets")

    def labels(self) -> tuple[list[Any], Array]:
        """List the labels that occur and how often; make ``ratios`` from the counts."""
        if self._labels is None:
            self.sets()
            self.make("label_counts", statements.LABEL_COUNTS, title="Counting labels")
            sql = "SELECT label, n FROM {label_counts} ORDER BY label"
            found = self.fetch(sql, title="Counting labels")
            counts = column(found, "n").astype(np.int64)
            # The mean is taken here, so that a label on the border falls on the same side as in
            # memory, whatever the order in which an engine adds.
            mean_ir = repr(mean_of_ratios(ratios_from_counts(counts)))
            self.make("ratios", statements.RATIOS, title="Comparing labels", mean_ir=mean_ir)
            self._labels = found.column("label").to_pylist(), counts
        return self._labels

    def scored(self) -> None:
        """Make ``scored``: SCUMBLE of every labelset with labels."""
        self.labels()
        if "scored" in self._done:
            return
        queries = [self.fill(statements.SCORED, sets=part) for part in self.slices("sets")]
        self.table("scored", *queries, title="Scoring labelsets")
        self._done.add("scored")
        if self.is_regular:  # the same labelsets twice would take twice the room
            self.make("sets_scored", statements.SETS_AS_SCORED)
            self._renamed["sets"] = "sets_scored"
            self.drop("raw_sets")

    def slices(self, table: str) -> list[str]:
        """Cut a table with a row for each labelset into pieces, work on which fits into memory."""
        n_sets, name = self.totals()["n_labelsets"], self.name(table)
        n_slices = self.engine.slices(n_sets)
        if n_slices == 1:
            return [name]
        step = -(-n_sets // n_slices)
        within = "(SELECT * FROM {} WHERE set_id > {} AND set_id <= {})"
        return [within.format(name, start, start + step) for start in range(0, n_sets, step)]

    def scored_spellings(self) -> None:
        """Make ``scored_raw``: the scores under every spelling that the data has."""
        self.scored()
        one, several = statements.SCORED_RAW_AS_SPELLED, statements.SCORED_RAW_SPELLINGS
        self.make("scored_raw", one if self.is_regular else several)

    def totals(self) -> dict[str, int]:
        """Add up the labelsets."""
        if self._totals is None:
            self.sets()
            self._totals = self.record(statements.SET_TOTALS, title="Adding up")
        return self._totals

    def _refuse_nameless(self) -> None:
        if "named" in self._done:
            return
        names = [self.layout.dialect.quote(name) for name in self.layout.instances]
        missing = " OR ".join(f"{name} IS NULL" for name in names)
        sql = f"SELECT count(*) AS n FROM {{source}} WHERE {missing}"
        if n_missing := self.number(sql, title="Checking instances"):
            raise ReadError(
                f"{n_missing} rows do not name their instance: {', '.join(self.layout.instances)} "
                "is null. Expected a name in every row; leave these rows out.",
                path=self.where,
            )
        self._done.add("named")
