"""DuckDB: the statements on one machine, within a memory limit."""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scumble._core.errors import ParameterError, ReadError, ScumbleError, WriteError
from scumble._core.optional import import_optional_dependency
from scumble._core.parallel import thread_count
from scumble._core.progress import progress_bar
from scumble.scale.engines.base import Column, Dialect, column_from_type, open_arrow_dataset
from scumble.scale.files import Files

_POLL_SECONDS = 0.2
#: What scoring a labelset holds in memory: its sums in one hash table, itself in another.
BYTES_PER_LABELSET = 130
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


DUCKDB = Dialect(
    "duckdb",
    '"',
    "VARCHAR[]",
    "list_filter(string_split(CAST($1 AS STRING), $2), lambda x: x <> '')",
    {
        "UNNEST": "unnest($1)",
        # Sorted, without duplicates and nulls; a missing list is an empty one.
        "CANONICAL": "coalesce(list_sort(list_distinct($1)), [])",
        "SIZE": "len($1)",
        "EMPTY_LIKE": "$1[:0]",
        "NULL_LIKE": "[NULL]",
        "EXCEPT": "list_filter($1, lambda x: NOT list_contains($2, x))",
        # A table of DuckDB's is stored once, so the place of a row in it can serve as its key.
        "SET_KEY": "row_number() OVER ()",
        "SET_GROUP": "$1",
        "HEX": "CAST('0x' || $1 AS BIGINT)",
        "UP_TO": "unnest(range($1))",
    },
)


class DuckDBEngine:
    """DuckDB in this process.

    Parameters
    ----------
    memory : str or None
        How much it may hold in memory, such as ``"2GB"``; what is more goes to disk. By default
        80 % of the machine's memory.
    spill_directory : str or None
        The folder for what goes to disk; by default one of its own among the system's temporary
        files, which is removed at the end.
    threads : int or None
        Number of threads; by default all cores.
    max_spill : str or None
        How much disk what is spilled may take, such as ``"100GB"``; by default 90 % of what is
        free. The tables of the work lie in a file beside it, up to 100 bytes per labelset.

    Examples
    --------
    >>> from scumble.scale import DuckDBEngine
    >>> engine = DuckDBEngine(memory="500MB", threads=1)
    >>> engine.query("SELECT 6 * 7 AS answer", title="Thinking").to_pylist()
    [{'answer': 42}]
    >>> engine.close()
    """

    dialect = DUCKDB

    def __init__(
        self,
        *,
        memory: str | None = None,
        spill_directory: str | None = None,
        threads: int | None = None,
        max_spill: str | None = None,
    ) -> None:
        self._duckdb = import_optional_dependency(
            "duckdb", purpose="scan(engine='duckdb')", extra="scale"
        )
        self._spill = tempfile.mkdtemp(prefix="scumble-", dir=spill_directory)
        settings: dict[str, Any] = {
            "temp_directory": self._spill,
            "threads": thread_count(threads),
            # Order costs memory; our results are sets of rows.
            "preserve_insertion_order": False,
        }
        sizes = {"memory_limit": memory, "max_temp_directory_size": max_spill}
        settings |= {name: str(size) for name, size in sizes.items() if size is not None}
        try:
            # Tables in a file are compressed and can be let go of; those in memory fill it.
            self._connection = self._duckdb.connect(f"{self._spill}/work.duckdb", config=settings)
        except self._duckdb.Error as error:
            shutil.rmtree(self._spill, ignore_errors=True)
            given = {"memory": memory, "max_spill": max_spill, "threads": threads}
            told = [f"{name}={value!r}" for name, value in given.items() if value is not None]
            raise ParameterError(
                f"DuckDB refuses {', '.join(told)}. "
                f"Expected sizes such as '2GB'. It says: {_first_line(error)}"
            ) from error

    def open(self, table: str, files: Files) -> list[Column]:
        """Make files known."""
        if files.format == "arrow":
            with open_arrow_dataset(files) as content:
                self.load(table, content)
        else:
            reader = "read_parquet" if files.format == "parquet" else "read_csv"
            listed = ", ".join(self.dialect.text(path) for path in files.paths)
            self.create_view(table, f"SELECT * FROM {reader}([{listed}])")
        described = self._run(f"DESCRIBE {table}", "Opening the files").fetchall()
        return [column_from_type(row[0], row[1]) for row in described]

    def table(self, table: str, *queries: str, title: str) -> None:
        """Compute a table and keep it."""
        start = f"CREATE OR REPLACE TABLE {table} AS"
        for sql in queries:
            self._run(f"{start} {self.dialect.expand_macros(sql)}", title)
            start = f"INSERT INTO {table}"

    def slices(self, n_labelsets: int) -> int:
        """Tell into how many slices labelsets are cut so that work on one fits into memory."""
        # DuckDB puts aside what a single join or grouping holds, not what several hold at once.
        [[size]] = self._run("SELECT current_setting('memory_limit')", "Planning").fetchall()
        number, unit = size.split()  # such as 143.0 MiB
        needed, limit = n_labelsets * BYTES_PER_LABELSET, int(float(number) * _UNITS[unit])
        return 1 if needed <= limit else -(-4 * needed // limit)

    def create_view(self, table: str, sql: str) -> None:
        """Give a query a name."""
        self._run(
            f"CREATE OR REPLACE TEMP VIEW {table} AS {self.dialect.expand_macros(sql)}", "Opening"
        )

    def load(self, table: str, content: Any) -> None:
        """Make an Arrow table of ours known."""
        self._connection.register(table, content)

    def query(self, sql: str, *, title: str) -> Any:
        """Run a query."""
        spelled = self.dialect.expand_macros(sql)
        return self._guarded(lambda: self._connection.sql(spelled).to_arrow_table(), title)

    def write(self, sql: str, folder: str, *, partition_by: Sequence[str], title: str) -> None:
        """Write the rows of a query as Parquet files into a folder, or to an object store."""
        options = ["FORMAT parquet", "COMPRESSION zstd"]
        if partition_by:
            columns = ", ".join(self.dialect.quote_identifier(column) for column in partition_by)
            options.append(f"PARTITION_BY ({columns}), OVERWRITE_OR_IGNORE")
        elif "://" not in folder:
            options.append("PER_THREAD_OUTPUT true, OVERWRITE_OR_IGNORE")
        target = self.dialect.text(folder)
        statement = f"COPY ({self.dialect.expand_macros(sql)}) TO {target} ({', '.join(options)})"
        self._run(statement, title)

    def drop(self, table: str) -> None:
        """Forget a table."""
        self._run(f"DROP TABLE IF EXISTS {table}", "Clearing up")

    def close(self) -> None:
        """Close the database and remove what it spilled."""
        self._connection.close()
        shutil.rmtree(self._spill, ignore_errors=True)

    def _run(self, sql: str, title: str) -> Any:
        return self._guarded(lambda: self._connection.execute(sql), title)

    def _guarded(self, work: Callable[[], Any], title: str) -> Any:
        try:
            with progress_bar(title, 100) as advance, self._reporting(advance):
                return work()
        except self._duckdb.Error as error:
            raise _translated(self._duckdb, error) from error

    @contextmanager
    def _reporting(self, advance: Any) -> Iterator[None]:
        """Ask DuckDB from another thread how far it is."""
        if advance.__name__ == "_ignore":
            yield
            return
        done = threading.Event()

        def poll() -> None:
            told = 0
            while not done.wait(_POLL_SECONDS):
                percent = int(self._connection.query_progress())
                if percent > told:
                    advance(percent - told)
                    told = percent

        thread = threading.Thread(target=poll, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _translated(duckdb: Any, error: Exception) -> ScumbleError:
    """Say in our words what DuckDB met."""
    text = str(error).strip()
    plain = text.lower()
    if isinstance(error, duckdb.OutOfMemoryException) or "max_temp_directory_size" in plain:
        if "temp_directory" in plain or "offload" in plain or "swap" in plain:
            return WriteError(
                "The disk is full, or the limit for spilling is reached, while DuckDB was putting "
                "aside what does not fit into memory. Give it a larger memory, max_spill or "
                f"another spill_directory. No output was written. DuckDB says: {text}"
            )
        return ScumbleError(
            "DuckDB needs more memory than it may use. Give it a larger memory, or fewer threads. "
            f"No output was written. DuckDB says: {text}"
        )
    if "no space left" in plain or "could not write" in plain:
        return WriteError(
            "The disk is full. Free some space, or write and spill elsewhere. No output was "
            f"written. DuckDB says: {text}"
        )
    if not isinstance(error, duckdb.BinderException | duckdb.CatalogException):
        return ReadError(
            f"DuckDB cannot read the data: {text}. Fetch the file again, or leave it out. "
            "No output was written."
        )
    return ScumbleError(f"DuckDB cannot run a statement: {text}")
