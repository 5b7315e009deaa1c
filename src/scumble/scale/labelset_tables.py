"""The tables all measures come from: distinct labelsets, labels, and their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble._core.errors import ReadError
from scumble.measures.imbalance import mean_of_ratios, ratios_from_counts
from scumble.scale import statements
from scumble.scale.engines.base import Workspace
from scumble.scale.layout import Layout

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """The labels that occur, in their order, and how often."""

    names: list[Any]
    counts: Array
    mean_ir: float


class LabelsetTables:
    """Tables of one input, computed when they are first needed.

    Parameters
    ----------
    engine : Workspace
        Where.
    layout : Layout
        Its columns.
    where : str
        The files, for messages.
    """

    def __init__(self, engine: Workspace, layout: Layout, where: str) -> None:
        self.engine, self.layout, self.where = engine, layout, where
        self._done: set[str] = set()
        # Where a table gets a better definition it also gets a new name: to replace a view of
        # Spark's makes it forget what was computed from the view.
        self._renamed: dict[str, str] = {}
        self._labels: LabelCounts | None = None
        self._totals: dict[str, int] | None = None
        self.is_regular = True

    def fill(self, sql: str, **values: Any) -> str:
        """Put names and values into a statement.

        Parameters
        ----------
        sql : str
            One of `scumble.scale.statements`.
        **values : object
            What its braces stand for, besides the names of tables.

        Returns
        -------
        str
            The statement.
        """
        return sql.format_map(_Names(self.name, values))

    def name(self, table: str) -> str:
        """Return the name a table has in statements.

        Parameters
        ----------
        table : str
            Our name.

        Returns
        -------
        str
            The engine's.
        """
        return self.engine.name(self._renamed.get(table, table))

    def rows(self, *, keep: bool = False) -> None:
        """Make ``rows``: the instances, each with a list of labels.

        Parameters
        ----------
        keep : bool
            Whether they are stored where they have to be put together first.
        """
        layout = self.layout
        values = {"ids": layout.ids(), "ids_first": layout.ids_first(), "label": layout.label_in()}
        if layout.has_lists:
            self._make("rows", self.fill(statements.ROWS_FROM_LISTS, **values))
            return
        self._refuse_nameless()
        sql = self.fill(statements.ROWS_FROM_PAIRS, **values)
        if keep:
            self._make("rows_stored", sql, title="Gathering instances")
            self._renamed["rows"] = "rows_stored"
        else:
            self._make("rows", sql)

    def sets(self) -> None:
        """Make ``sets``: the distinct labelsets and how often each occurs."""
        if "sets" in self._done:
            return
        self.rows()
        self._make("raw_sets", statements.RAW_SETS, title="Counting labelsets")
        found = self.number(statements.COUNT_IRREGULAR, title="Checking labelsets")
        self.is_regular = found == 0
        if self.is_regular:
            self._make("sets", statements.SETS_AS_SPELLED)
        else:
            self._make("sets", statements.SETS_IN_ONE_SPELLING, title="Comparing labelsets")

    def labels(self) -> LabelCounts:
        """Count the labels, and make ``ratios`` from the counts.

        Returns
        -------
        LabelCounts
            The labels that occur.
        """
        if self._labels is None:
            self.sets()
            self._make("label_counts", statements.LABEL_COUNTS, title="Counting labels")
            sql = self.fill("SELECT label, n FROM {label_counts} ORDER BY label")
            found = self.engine.query(sql, title="Counting labels")
            counts = column(found, "n").astype(np.int64)
            # The mean is taken here, so that a label on the border falls on the same side as in
            # memory, whatever the order in which an engine adds.
            mean_ir = mean_of_ratios(ratios_from_counts(counts))
            sql = self.fill(statements.RATIOS, mean_ir=repr(mean_ir))
            self._make("ratios", sql, title="Comparing labels")
            self._labels = LabelCounts(found.column("label").to_pylist(), counts, mean_ir)
        return self._labels

    def scored(self) -> None:
        """Make ``scored``: SCUMBLE of every labelset with labels."""
        self.labels()
        if "scored" in self._done:
            return
        queries = [self.fill(statements.SCORED, sets=part) for part in self.slices("sets")]
        self.engine.table("scored", *queries, title="Scoring labelsets")
        self._done.add("scored")
        if self.is_regular:  # the same labelsets twice would take twice the room
            self._make("sets_scored", statements.SETS_AS_SCORED)
            self._renamed["sets"] = "sets_scored"
            self.engine.drop("raw_sets")

    def slices(self, table: str) -> list[str]:
        """Cut a table with a row for each labelset into pieces, work on which fits into memory.

        Parameters
        ----------
        table : str
            Its name.

        Returns
        -------
        list of str
            What stands after FROM for each of them.
        """
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
        as_spelled, several = (
            statements.SCORED_RAW_AS_SPELLED,
            statements.SCORED_RAW_IN_SEVERAL_SPELLINGS,
        )
        self._make("scored_raw", as_spelled if self.is_regular else several)

    def totals(self) -> dict[str, int]:
        """Add up the labelsets.

        Returns
        -------
        dict of str to int
            Numbers of instances, labelsets, assignments, ...
        """
        if self._totals is None:
            self.sets()
            self._totals = self.record(statements.SET_TOTALS, title="Adding up")
        return self._totals

    def record(self, sql: str, *, title: str, **values: Any) -> dict[str, Any]:
        """Run a statement that gives one row."""
        [found] = self.engine.query(self.fill(sql, **values), title=title).to_pylist()
        return dict(found)

    def number(self, sql: str, *, title: str, **values: Any) -> Any:
        """Run a statement that gives one value."""
        [value] = self.record(sql, title=title, **values).values()
        return value

    def _make(self, table: str, sql: str, *, title: str | None = None) -> None:
        """Make a table, or a view where there is no title, unless it is there already."""
        if table in self._done:
            return
        if title is None:
            self.engine.view(table, self.fill(sql))
        else:
            self.engine.table(table, self.fill(sql), title=title)
        self._done.add(table)

    def _refuse_nameless(self) -> None:
        if "named" in self._done:
            return
        names = [self.layout.dialect.quote(name) for name in self.layout.instances]
        missing = " OR ".join(f"{name} IS NULL" for name in names)
        sql = f"SELECT count(*) AS n FROM {{source}} WHERE {missing}"
        n_missing = self.number(sql, title="Checking instances")
        if n_missing:
            raise ReadError(
                f"{n_missing} rows do not name their instance: {', '.join(self.layout.instances)} "
                "is null. Expected a name in every row; leave these rows out.",
                path=self.where,
            )
        self._done.add("named")


class _Names(dict[str, Any]):
    """What braces stand for: given values, and for all else the engine's name of a table."""

    def __init__(self, name: Callable[[str], str], values: dict[str, Any]) -> None:
        super().__init__(values)
        self._name = name

    def __missing__(self, key: str) -> str:
        return self._name(key)


def column(table: Any, name: str) -> Array:
    """Take a column of numbers out of an Arrow table.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    name : str
        The column.

    Returns
    -------
    ndarray
        Its values.
    """
    values: Array = table.column(name).combine_chunks().to_numpy(zero_copy_only=False)
    return values
