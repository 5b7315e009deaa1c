"""Tables of one piece of work: made once, named in statements, fetched."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from scumble._core.arrays import Array
from scumble.scale.engines.base import Column, Engine
from scumble.scale.sources import Files


class Workspace:
    """Tables and views of one piece of work, on an engine that others may use as well."""

    # Statements name them in braces.

    def __init__(self, engine: Engine, **values: Any) -> None:
        self.engine, self._values = engine, values
        self._prefix = f"scumble_{uuid.uuid4().hex[:8]}_"
        self._done: set[str] = set()
        # Where a table gets a better definition it also gets a new name: to replace a view of
        # Spark's makes it forget what was computed from the view.
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
