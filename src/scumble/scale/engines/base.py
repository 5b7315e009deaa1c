"""What the work needs from an engine."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from scumble._core.errors import ReadError
from scumble.scale.files import Files

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
def open_arrow_dataset(files: Files) -> Iterator[Any]:
    """Open Arrow files as one data set of Arrow's."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        yield ds.dataset(list(files.paths), format="ipc")
    except (pa.ArrowException, OSError) as error:
        message = f"the Arrow files cannot be read: {error}"
        raise ReadError(message, path=files.paths[0]) from error


# In a statement, NAME!(arguments) stands for what an engine calls NAME.
_MACRO = re.compile(r"([A-Z_]+)!\(")
# What parentheses and commas do not count in: texts and quoted names.
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|`[^`]*`")


@dataclass(frozen=True)
class Dialect:
    """How one engine spells what plain SQL has no common word for."""

    name: str  # the engine
    quote_mark: str  # what stands around a column name
    string_list_type: str  # the type of a list of texts
    split: str  # takes the text $1 apart at every $2, without empty parts
    # For each name, the engine's expression with $1, $2 for the arguments.
    macros: Mapping[str, str]

    def quote_identifier(self, column: str) -> str:
        """Write a column's name so that it is taken as it is."""
        mark = self.quote_mark
        return f"{mark}{column.replace(mark, mark * 2)}{mark}"

    def text(self, value: str) -> str:
        """Write a text as a literal."""
        escaped = value.replace("\\", "\\\\") if self.name == "spark" else value
        quote = "\\'" if self.name == "spark" else "''"
        return "'" + escaped.replace("'", quote) + "'"

    def expand_macros(self, sql: str) -> str:
        """Replace every ``NAME!(arguments)`` by the engine's own words."""
        while (found := _MACRO.search(sql)) is not None:
            arguments, end = _arguments(sql, found.end())
            words = self.macros[found[1]]
            for place, argument in enumerate(arguments, start=1):
                words = words.replace(f"${place}", argument)
            sql = sql[: found.start()] + words + sql[end:]
        return sql


def _arguments(sql: str, start: int) -> tuple[list[str], int]:
    """Read arguments up to the closing parenthesis; return them and the place after it."""
    depth, at, begun = 0, start, start
    arguments = []
    while depth >= 0:
        quoted = _QUOTED.match(sql, at)
        if quoted is not None:
            at = quoted.end()
            continue
        char = sql[at]
        depth += (char in "([") - (char in ")]")
        if (char == "," and depth == 0) or depth < 0:
            arguments.append(sql[begun:at].strip())
            begun = at + 1
        at += 1
    return arguments, at


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
    >>> engine.create_view("numbers", "SELECT UNNEST!([1, 2, 3]) AS n")
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

    def create_view(self, table: str, sql: str) -> None:
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
