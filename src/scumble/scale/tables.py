"""Tables of a piece of work: made once, named in statements, fetched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scumble.scale.engines.base import Workspace

Array = np.ndarray[Any, Any]


class Tables:
    """Tables and views that statements name in braces."""

    def __init__(self, engine: Workspace, **values: Any) -> None:
        self.engine, self._values = engine, values
        self._done: set[str] = set()
        # Where a table gets a better definition it also gets a new name: to replace a view of
        # Spark's makes it forget what was computed from the view.
        self._renamed: dict[str, str] = {}

    def fill(self, sql: str, **values: Any) -> str:
        """Put names and values into a statement."""
        return sql.format_map(_Names(self.name, self._values | values))

    def name(self, table: str) -> str:
        """Return the name a table has in statements."""
        return self.engine.name(self._renamed.get(table, table))

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

    def make(self, table: str, sql: str, *, title: str | None = None, **values: Any) -> None:
        """Make a table, or a view where there is no title, unless it is there already."""
        if table in self._done:
            return
        if title is None:
            self.engine.view(table, self.fill(sql, **values))
        else:
            self.engine.table(table, self.fill(sql, **values), title=title)
        self._done.add(table)


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
