"""The engine Apache Spark, which runs the statements on many machines."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scumble._core.errors import ParameterError, ReadError, ScumbleError, WriteError
from scumble._core.optional import import_optional_dependency
from scumble._core.progress import progress_bar
from scumble.out_of_core.engines.base import Column, Dialect, column_from_type, open_arrow_dataset
from scumble.out_of_core.files import Files, is_remote

SPARK = Dialect(
    name="spark",
    quote_mark="`",
    string_list_type="ARRAY<STRING>",
    split=r"array_remove(split(CAST($1 AS STRING), concat('\\Q', $2, '\\E')), '')",
    macros={
        "UNNEST": "explode($1)",
        "CANONICAL": "coalesce(array_sort(array_distinct(array_compact($1))), array())",
        "SIZE": "size($1)",
        "EMPTY_LIKE": "slice($1, 1, 0)",
        "NULL_LIKE": "array(NULL)",
        "EXCEPT": "array_except($1, $2)",
        # Spark may recompute partitions in another order, so the content itself is the key.
        "SET_KEY": "$1",
        # Groups that do not fit into memory are sorted: by a hash first, as lists compare slowly.
        "SET_GROUP": "xxhash64($1), $1",
        "HEX": "CAST(conv($1, 16, 10) AS BIGINT)",
        "UP_TO": "explode(sequence(0, $1 - 1))",
    },
)


class SparkEngine:
    """A Spark session.

    Parameters
    ----------
    spark : SparkSession, str or None
        A session; or the address of a master (``spark://host:7077``, ``local[2]``) or of a Spark
        Connect server (``sc://host``), for which a session is created and stopped at the end. By
        default the active session, or else a new one on this machine.

    Notes
    -----
    Tables are cached (in memory, then on the disks of the executors). They are determined by the
    input, so a lost executor costs time but does not change results.

    Examples
    --------
    ``scumble.scan(paths, engine="spark", spark="local[2]")`` creates an engine. It runs the same
    statements as DuckDB, translated to its dialect:

    >>> from scumble.out_of_core import DuckDBEngine, SparkEngine
    >>> for engine in (DuckDBEngine, SparkEngine):
    ...     print(engine.dialect.expand_macros("SELECT UNNEST!(labels)"))
    SELECT unnest(labels)
    SELECT explode(labels)
    """

    dialect = SPARK

    def __init__(self, spark: Any = None) -> None:
        import_optional_dependency("pyspark", purpose="scan(engine='spark')", extra="spark")
        self._owns_session = isinstance(spark, str)
        self._session = _get_session(spark)
        self._cached_tables: dict[str, Any] = {}
        self._temporary_folders: list[tempfile.TemporaryDirectory[str]] = []

    def open(self, table: str, files: Files) -> list[Column]:
        """Make files available as a view; return its columns.

        Arrow files are converted to Parquet first.
        """
        with _run_with_progress("Opening the files"):
            for path in files.roots:  # Spark may have cached files that were replaced since
                self._session.catalog.refreshByPath(_uri(path))
            if files.format == "csv":
                reader = self._session.read.option("header", True).option("inferSchema", True)
                frame = reader.csv([_uri(path) for path in files.roots])
            else:
                roots = self._as_parquet(files) if files.format == "arrow" else files.roots
                frame = self._session.read.parquet(*[_uri(path) for path in roots])
            frame.createOrReplaceTempView(table)
            return [column_from_type(name, type_name) for name, type_name in frame.dtypes]

    def _as_parquet(self, files: Files) -> list[str]:
        """Convert Arrow files, which Spark cannot read, to Parquet; return a list with the folder.

        The folder is temporary; `close` deletes it.
        """
        import pyarrow.dataset as ds

        folder = tempfile.TemporaryDirectory(prefix="scumble-")
        self._temporary_folders.append(folder)
        with open_arrow_dataset(files) as content:
            ds.write_dataset(content, folder.name, format="parquet")
        return [folder.name]

    def create_table(self, table: str, *queries: str, title: str) -> None:
        """Create a view of the rows of all queries; Spark keeps them once they are computed."""
        with _run_with_progress(title):
            frame = self._sql(" UNION ALL ".join(queries)).persist()
            frame.createOrReplaceTempView(table)
            self._cached_tables[table] = frame

    def n_slices(self, n_labelsets: int) -> int:
        """Return 1: Spark itself divides tables into partitions."""
        return 1

    def create_view(self, table: str, sql: str) -> None:
        """Create a view of a query."""
        with _run_with_progress("Opening"):
            self._sql(sql).createOrReplaceTempView(table)

    def load(self, table: str, content: Any) -> None:
        """Make an Arrow table available as a view."""
        with _run_with_progress("Opening"):
            self._session.createDataFrame(content).createOrReplaceTempView(table)

    def query(self, sql: str, *, title: str) -> Any:
        """Run a query; return its result as an Arrow table."""
        with _run_with_progress(title):
            return self._sql(sql).toArrow()

    def write(self, sql: str, folder: str, *, partition_by: Sequence[str], title: str) -> None:
        """Write the rows of a query to Parquet files in a folder that all executors can access."""
        with _run_with_progress(title):
            writer = self._sql(sql).write.mode("append").option("compression", "zstd")
            if partition_by:
                writer = writer.partitionBy(*partition_by)
            writer.parquet(_uri(folder))

    def drop(self, table: str) -> None:
        """Keep the table: Spark is lazy and may still need it for other tables."""

    def close(self) -> None:
        """Remove all tables from the cache, and stop the session if this engine created it."""
        for frame in reversed(self._cached_tables.values()):  # tables before those they depend on
            with _run_with_progress("Clearing up"):
                frame.unpersist()
        self._cached_tables.clear()
        for folder in self._temporary_folders:
            folder.cleanup()
        if self._owns_session:
            self._session.stop()

    def _sql(self, sql: str) -> Any:
        """Return the lazy DataFrame of a statement."""
        return self._session.sql(self.dialect.expand_macros(sql))


@contextmanager
def _run_with_progress(title: str) -> Iterator[None]:
    """Show a progress bar while the ``with`` block runs.

    Raise exceptions of scumble for those of Spark in the block.
    """
    try:
        with progress_bar(title):
            yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "grpc", "pyspark"):
            raise
        raise _translate_error(error) from error


def _get_session(spark: Any) -> Any:
    """Return the Spark session for the ``spark`` parameter of `SparkEngine`.

    None gives the active session, or a new one; a text is the address that a new one connects to.
    """
    from pyspark.sql import SparkSession

    if spark is None:
        active_session = SparkSession.getActiveSession()
        if active_session is not None:
            return active_session
        return SparkSession.builder.getOrCreate()
    if not isinstance(spark, str):
        if not hasattr(spark, "sql"):
            raise ParameterError(
                "The 'spark' parameter of scan must be a SparkSession or an address. "
                f"Got {type(spark).__name__} instead."
            )
        return spark
    builder = SparkSession.builder.appName("scumble")
    if spark.startswith("sc://"):
        return builder.remote(spark).getOrCreate()
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    if spark.startswith("local"):
        # The default of 200 partitions is for clusters; a few suffice for the cores of one machine.
        builder = builder.config("spark.sql.shuffle.partitions", "16")
        builder = builder.config("spark.ui.enabled", "false")
    return builder.master(spark).getOrCreate()


def _uri(path: str) -> str:
    """Return the URI of a local path; a remote path is one already."""
    if is_remote(path):
        return path
    return Path(os.path.abspath(path)).as_uri()


def _translate_error(error: Exception) -> ScumbleError:
    """Return the exception of scumble for an exception of Spark."""
    text = str(error).strip()
    lower_text = text.lower()
    first_lines = "\n".join(text.splitlines()[:6])
    if "no space left" in lower_text:
        return WriteError(
            "A disk of the cluster is full. Free some space, or set spark.local.dir to another "
            f"one. No output was written. Spark says: {first_lines}"
        )
    damaged = ("is not a parquet file", "cannot_read_file", "failed_read_file", "corrupt")
    if any(sign in lower_text for sign in damaged) or "footer" in lower_text:
        return ReadError(
            f"Spark cannot read the data: {first_lines}. Fetch the file again, or leave it out. "
            "No output was written."
        )
    if "path_not_found" in lower_text:
        return ReadError(f"no such file. Check the path. Spark says: {first_lines}")
    return ScumbleError(f"Spark cannot run a statement: {first_lines}")
