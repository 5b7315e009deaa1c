"""The interface of an engine, and the SQL dialects of engines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from scumble._core.errors import ReadError
from scumble.out_of_core.files import Files

Kind = Literal["integer", "string", "other"]
#: Names that engines have for the types of each kind, as regular expressions.
_TYPE_NAMES: dict[Kind, str] = {
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
        Kind of the cells, or of the elements of lists.
    is_list : bool
        Whether every cell is a list.

    Examples
    --------
    >>> from scumble.out_of_core.engines import Column
    >>> Column("tags", "string", is_list=True)
    Column(name='tags', kind='string', is_list=True)
    """

    name: str
    kind: Kind
    is_list: bool


def column_from_type(name: str, type_name: str) -> Column:
    """Return a `Column`, given the name of its type in SQL, such as ``VARCHAR[]``.

    Its kind is "other" for a type that cannot hold labels.
    """
    lower_name = type_name.lower()
    is_list = lower_name.endswith("[]") or lower_name.startswith("array<")
    if is_list:
        lower_name = lower_name.removesuffix("[]").removeprefix("array<").removesuffix(">")
    for kind, pattern in _TYPE_NAMES.items():
        if re.fullmatch(pattern, lower_name):
            return Column(name, kind, is_list)
    return Column(name, "other", is_list)


@contextmanager
def open_arrow_dataset(files: Files) -> Iterator[Any]:
    """Yield the ``pyarrow.dataset.Dataset`` of Arrow files.

    Errors of Arrow or of the system in the ``with`` block become `ReadError`.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        yield ds.dataset(list(files.paths), format="ipc")
    except (pa.ArrowException, OSError) as error:
        message = f"the Arrow files cannot be read: {error}"
        raise ReadError(message, path=files.paths[0]) from error


# In a statement, NAME!(arguments) stands for the engine's expression for NAME.
_MACRO = re.compile(r"([A-Z_]+)!\(")
# Literals and quoted names, whose parentheses and commas do not separate arguments.
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|`[^`]*`")


@dataclass(frozen=True)
class Dialect:
    """The SQL expressions of an engine for which plain SQL has no common form."""

    name: str  # of the engine
    quote_mark: str  # around a column name
    string_list_type: str  # the type of a list of texts
    split: str  # splits the text $1 at every $2, and drops empty parts
    # For each name, the engine's expression with $1, $2 for the arguments.
    macros: Mapping[str, str]

    def quote_identifier(self, column: str) -> str:
        """Return the quoted name of a column."""
        mark = self.quote_mark
        return f"{mark}{column.replace(mark, mark * 2)}{mark}"

    def text(self, value: str) -> str:
        """Return a text as a SQL literal, quoted and escaped."""
        if self.name == "spark":
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        else:
            escaped = value.replace("'", "''")
        return f"'{escaped}'"

    def expand_macros(self, sql: str) -> str:
        """Return a statement with expressions of ``macros`` for every ``NAME!(arguments)``."""
        while True:
            match = _MACRO.search(sql)
            if match is None:
                return sql
            arguments, end = _parse_arguments(sql, match.end())
            expression = self.macros[match[1]]
            for number, argument in enumerate(arguments, start=1):
                expression = expression.replace(f"${number}", argument)
            sql = sql[: match.start()] + expression + sql[end:]


def _parse_arguments(sql: str, start: int) -> tuple[list[str], int]:
    """Return the arguments of a macro, and the position after its closing parenthesis.

    ``start`` is the position after the opening parenthesis in ``sql``.
    """
    depth = 0
    position = start
    argument_start = start
    arguments = []
    while depth >= 0:
        quoted = _QUOTED.match(sql, position)
        if quoted is not None:
            position = quoted.end()
            continue
        char = sql[position]
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        if (char == "," and depth == 0) or depth < 0:
            arguments.append(sql[argument_start:position].strip())
            argument_start = position + 1
        position += 1
    return arguments, position


class Engine(Protocol):
    """A database that runs the statements.

    Attributes
    ----------
    dialect : Dialect
        Its SQL expressions that differ from those of other engines.

    Examples
    --------
    >>> from scumble.out_of_core import DuckDBEngine, Engine
    >>> engine: Engine = DuckDBEngine(threads=1)
    >>> engine.create_view("numbers", "SELECT UNNEST!([1, 2, 3]) AS n")
    >>> engine.query("SELECT max(n) AS largest FROM numbers", title="Computing").to_pylist()
    [{'largest': 3}]
    >>> engine.close()
    """

    dialect: Dialect

    def open(self, table: str, files: Files) -> list[Column]:
        """Make files available as a table of SQL, without reading them; return its columns."""

    def create_table(self, table: str, *queries: str, title: str) -> None:
        """Create a table with the rows of all queries; show progress under ``title``."""

    def n_slices(self, n_labelsets: int) -> int:
        """Return into how many slices to divide ``n_labelsets`` labelsets.

        Each slice must fit into memory while its scores are computed.
        """

    def create_view(self, table: str, sql: str) -> None:
        """Create a view of a query: a table that is computed when it is used."""

    def load(self, table: str, content: Any) -> None:
        """Make an Arrow table available as a table of SQL."""

    def query(self, sql: str, *, title: str) -> Any:
        """Run a query; return its result as an Arrow table."""

    def write(self, sql: str, folder: str, *, partition_by: Sequence[str], title: str) -> None:
        """Write the rows of a query to Parquet files in a folder."""

    def drop(self, table: str) -> None:
        """Delete a table that is not needed any more."""

    def close(self) -> None:
        """Release memory, files and connections."""
