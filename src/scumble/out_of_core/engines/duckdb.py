"""The engine DuckDB, which runs the statements on one machine within a memory limit."""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scumble._core.errors import ParameterError, ReadError, ScumbleError, WriteError
from scumble._core.optional import import_optional_dependency
from scumble._core.parallel import thread_count
from scumble._core.progress import is_progress_shown, progress_bar
from scumble.out_of_core.engines.base import Column, Dialect, column_from_type, open_arrow_dataset
from scumble.out_of_core.files import Files

#: Seconds between two readings of the progress of a query: often enough for a smooth bar.
_POLL_SECONDS = 0.2
#: Bytes of memory for scoring a labelset: one hash table holds its sums, another one the labelset.
BYTES_PER_LABELSET = 130
_BYTES_PER_UNIT = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


DUCKDB = Dialect(
    name="duckdb",
    quote_mark='"',
    string_list_type="VARCHAR[]",
    split="list_filter(string_split(CAST($1 AS STRING), $2), lambda x: x <> '')",
    macros={
        "UNNEST": "unnest($1)",
        # Sorted, without duplicates and nulls; a missing list becomes an empty one.
        "CANONICAL": "coalesce(list_sort(list_distinct($1)), [])",
        "SIZE": "len($1)",
        "EMPTY_LIKE": "$1[:0]",
        "NULL_LIKE": "[NULL]",
        "EXCEPT": "list_filter($1, lambda x: NOT list_contains($2, x))",
        # DuckDB stores a table once, so the number of a row can serve as its key.
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
        The memory limit, such as ``"2GB"``; larger intermediate results are spilled to disk. By
        default 80 % of the machine's memory.
    spill_directory : str or None
        The folder for spilled data; by default the system's folder for temporary files. A new
        subfolder is used and removed at the end.
    threads : int or None
        Number of threads; by default all cores.
    max_spill : str or None
        The disk space for spilled data, such as ``"100GB"``; by default 90 % of the free space. The
        tables are in a separate file, with up to 100 bytes per labelset.

    Examples
    --------
    >>> from scumble.out_of_core import DuckDBEngine
    >>> engine = DuckDBEngine(memory="500MB", threads=1)
    >>> engine.query("SELECT 6 * 7 AS answer", title="Computing").to_pylist()
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
        self._spill_folder = tempfile.mkdtemp(prefix="scumble-", dir=spill_directory)
        settings: dict[str, Any] = {
            "temp_directory": self._spill_folder,
            "threads": thread_count(threads),
            # Keeping the order costs memory, and the order of our tables does not matter.
            "preserve_insertion_order": False,
        }
        if memory is not None:
            settings["memory_limit"] = str(memory)
        if max_spill is not None:
            settings["max_temp_directory_size"] = str(max_spill)
        try:
            # Tables in a file are compressed and can be evicted from memory.
            self._connection = self._duckdb.connect(
                f"{self._spill_folder}/work.duckdb", config=settings
            )
        except self._duckdb.Error as error:
            shutil.rmtree(self._spill_folder, ignore_errors=True)
            limits = {"memory": memory, "max_spill": max_spill, "threads": threads}
            texts = [f"{name}={value!r}" for name, value in limits.items() if value is not None]
            raise ParameterError(
                f"DuckDB refuses {', '.join(texts)}. "
                f"Expected sizes such as '2GB'. It says: {_first_line(error)}"
            ) from error

    def open(self, table: str, files: Files) -> list[Column]:
        """Make files available as a view; return its columns."""
        if files.format == "arrow":
            with open_arrow_dataset(files) as content:
                self.load(table, content)
        else:
            reader = "read_parquet" if files.format == "parquet" else "read_csv"
            paths = ", ".join(self.dialect.text(path) for path in files.paths)
            self.create_view(table, f"SELECT * FROM {reader}([{paths}])")
        rows = self._run(f"DESCRIBE {table}", "Opening the files").fetchall()
        return [column_from_type(row[0], row[1]) for row in rows]

    def create_table(self, table: str, *queries: str, title: str) -> None:
        """Create a table with the rows of all queries, and show progress under a title."""
        prefix = f"CREATE OR REPLACE TABLE {table} AS"
        for sql in queries:
            self._run(f"{prefix} {self.dialect.expand_macros(sql)}", title)
            prefix = f"INSERT INTO {table}"

    def n_slices(self, n_labelsets: int) -> int:
        """Return into how many slices to divide ``n_labelsets`` labelsets for the memory limit."""
        # DuckDB spills the state of a single join or grouping, but not of several at once.
        [[size]] = self._run("SELECT current_setting('memory_limit')", "Planning").fetchall()
        number, unit = size.split()  # such as 143.0 MiB
        limit = int(float(number) * _BYTES_PER_UNIT[unit])
        needed = n_labelsets * BYTES_PER_LABELSET
        if needed <= limit:
            return 1
        return -(-4 * needed // limit)  # rounded up, so that a slice takes a quarter of the limit

    def create_view(self, table: str, sql: str) -> None:
        """Create a view of a query."""
        self._run(
            f"CREATE OR REPLACE TEMP VIEW {table} AS {self.dialect.expand_macros(sql)}", "Opening"
        )

    def load(self, table: str, content: Any) -> None:
        """Make an Arrow table available as a view."""
        self._connection.register(table, content)

    def query(self, sql: str, *, title: str) -> Any:
        """Run a query; return its result as an Arrow table."""
        duckdb_sql = self.dialect.expand_macros(sql)
        return self._run_work(lambda: self._connection.sql(duckdb_sql).to_arrow_table(), title)

    def write(self, sql: str, folder: str, *, partition_by: Sequence[str], title: str) -> None:
        """Write the rows of a query to Parquet files in a folder or an object store."""
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
        """Delete a table, if it exists."""
        self._run(f"DROP TABLE IF EXISTS {table}", "Clearing up")

    def close(self) -> None:
        """Close the database and remove its files."""
        self._connection.close()
        shutil.rmtree(self._spill_folder, ignore_errors=True)

    def _run(self, sql: str, title: str) -> Any:
        """Run a statement with a progress bar; return the connection, which holds the result."""
        return self._run_work(lambda: self._connection.execute(sql), title)

    def _run_work(self, work: Callable[[], Any], title: str) -> Any:
        """Return the result of a function that uses DuckDB.

        Show a progress bar, and raise exceptions of scumble for those of DuckDB.
        """
        try:
            with progress_bar(title, 100) as advance, self._report_progress(advance):
                return work()
        except self._duckdb.Error as error:
            raise _translate_error(self._duckdb, error) from error

    @contextmanager
    def _report_progress(self, advance: Any) -> Iterator[None]:
        """Advance a progress bar of 100 steps while the ``with`` block runs a query.

        A thread reads the progress; if no progress is shown, nothing happens.
        """
        if not is_progress_shown():
            yield
            return
        done = threading.Event()

        def poll() -> None:
            """Report the progress of the query until it is done."""
            reported = 0
            while not done.wait(_POLL_SECONDS):
                percent = int(self._connection.query_progress())
                if percent > reported:
                    advance(percent - reported)
                    reported = percent

        thread = threading.Thread(target=poll, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _first_line(error: Exception) -> str:
    """Return the first line of an error message."""
    return str(error).strip().partition("\n")[0]


def _translate_error(duckdb: Any, error: Exception) -> ScumbleError:
    """Return the exception of scumble for an exception of the module ``duckdb``."""
    text = str(error).strip()
    lower_text = text.lower()
    if isinstance(error, duckdb.OutOfMemoryException) or "max_temp_directory_size" in lower_text:
        if any(word in lower_text for word in ("temp_directory", "offload", "swap")):
            return WriteError(
                "The disk is full, or the limit for spilling is reached, while DuckDB was putting "
                "aside what does not fit into memory. Give it a larger memory, max_spill or "
                f"another spill_directory. No output was written. DuckDB says: {text}"
            )
        return ScumbleError(
            "DuckDB needs more memory than it may use. Give it a larger memory, or fewer threads. "
            f"No output was written. DuckDB says: {text}"
        )
    if "no space left" in lower_text or "could not write" in lower_text:
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
