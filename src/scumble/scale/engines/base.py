"""What the work needs from an engine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from scumble._core.errors import ReadError
from scumble.scale.dialect import Dialect
from scumble.scale.sources import Files

Kind = Literal["integer", "string", "other"]
#: What engines call the types of each kind.
_NAMES: dict[Kind, str] = {
    "integer": r"u?(tiny|small|big|huge)?int(eger)?|byte|short|long",
    "string": r"varchar|string|text|enum\(.*|char\(.*",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the input.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"integer", "string", "other"}
        What it holds, or what its lists hold.
    is_list : bool
        Whether every cell is a list.

    Examples
    --------
    >>> from scumble.scale.engines import Column
    >>> Column("tags", "string", is_list=True)
    Column(name='tags', kind='string', is_list=True)
    """

    name: str
    kind: Kind
    is_list: bool


def column_from_type(name: str, type_name: str) -> Column:
    """Understand an engine's name for a type."""
    plain = type_name.lower()
    is_list = plain.endswith("[]") or plain.startswith("array<")
    if is_list:
        plain = plain.removesuffix("[]").removeprefix("array<").removesuffix(">")
    kinds = (kind for kind, pattern in _NAMES.items() if re.fullmatch(pattern, plain))
    return Column(name, next(kinds, "other"), is_list)


@contextmanager
def reading_arrow(files: Files) -> Iterator[Any]:
    """Open Arrow files as one data set of Arrow's."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        yield ds.dataset(list(files.paths), format="ipc")
    except (pa.ArrowException, OSError) as error:
        message = f"the Arrow files cannot be read: {error}"
        raise ReadError(message, path=files.paths[0]) from error


class Engine(Protocol):
    """A database that runs the statements.

    Attributes
    ----------
    dialect : Dialect
        How it spells what engines spell differently.

    Examples
    --------
    >>> from scumble.scale import DuckDBEngine, Engine
    >>> engine: Engine = DuckDBEngine(threads=1)
    >>> engine.view("numbers", "SELECT UNNEST!([1, 2, 3]) AS n")
    >>> engine.query("SELECT max(n) AS most FROM numbers", title="Looking").to_pylist()
    [{'most': 3}]
    >>> engine.close()
    """

    dialect: Dialect

    def open(self, table: str, files: Files) -> list[Column]:
        """Make files known under a name; return their columns."""

    def table(self, table: str, *queries: str, title: str) -> None:
        """Compute a table from the rows of one query after the other, and keep it."""

    def slices(self, n_labelsets: int) -> int:
        """Tell into how many slices labelsets are cut so that work on one fits into memory."""

    def view(self, table: str, sql: str) -> None:
        """Give a query a name."""

    def load(self, table: str, content: Any) -> None:
        """Make an Arrow table of ours known."""

    def query(self, sql: str, *, title: str) -> Any:
        """Run a query; return an Arrow table."""

    def write(self, sql: str, folder: str, *, partition_by: Sequence[str], title: str) -> None:
        """Write the rows of a query as Parquet files into a folder."""

    def drop(self, table: str) -> None:
        """Forget a table."""

    def close(self) -> None:
        """Give back what the work has taken."""
