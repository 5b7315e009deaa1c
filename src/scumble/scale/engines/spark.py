"""Apache Spark: the statements on many machines."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scumble._core.errors import ParameterError, ReadError, ScumbleError, WriteError
from scumble._core.optional import import_optional_dependency
from scumble._core.progress import progress_bar
from scumble.scale.engines.base import Column, Dialect, column_from_type, open_arrow_dataset
from scumble.scale.files import Files, is_remote

SPARK = Dialect(
    "spark",
    "`",
    "ARRAY<STRING>",
    r"array_remove(split(CAST($1 AS STRING), concat('\\Q', $2, '\\E')), '')",
    {
        "UNNEST": "explode($1)",
        "CANONICAL": "coalesce(array_sort(array_distinct(array_compact($1))), array())",
        "SIZE": "size($1)",
        "EMPTY_LIKE": "slice($1, 1, 0)",
        "NULL_LIKE": "array(NULL)",
        "EXCEPT": "array_except($1, $2)",
        # Spark computes lost partitions again, in another order: the key is the content itself.
        "SET_KEY": "$1",
        # What does not fit into memory is sorted: by a number first, as lists compare slowly.
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
        Connect server (``sc://host``), for which a session is made and stopped again. By default
        the active session, or else one on this machine.

    Notes
    -----
    Tables of the work are cached (in memory, then on the executors' disks). They follow from the
    input alone, so a lost executor costs time and changes nothing.

    Examples
    --------
    ``scumble.scan(paths, engine="spark", spark="local[2]")`` makes one. It runs the statements that
    DuckDB runs, in its own words:

    >>> from scumble.scale import DuckDBEngine, SparkEngine
    >>> for engine in (DuckDBEngine, SparkEngine):
    ...     print(engine.dialect.expand_macros("SELECT UNNEST!(labels)"))
    SELECT unnest(labels)
    SELECT explode(labels)
    """

    dialect = SPARK

    def __init__(self, spark: Any = None) -> None:
        import_optional_dependency("pyspark", purpose="scan(engine='spark')", extra="spark")
        self._is_ours = isinstance(spark, str)
        self._session = _session(spark)
        self._kept: dict[str, Any] = {}
        self._staged: list[tempfile.TemporaryDirectory[str]] = []

    def open(self, table: str, files: Files) -> list[Column]:
        """Make files known; Arrow files become Parquet first, as Spark does not read them."""
        with _guarded("Opening the files"):
            for path in files.roots:  # what was cached of files since replaced is out of date
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
        import pyarrow.dataset as ds

        folder = tempfile.TemporaryDirectory(prefix="scumble-")
        self._staged.append(folder)
        with open_arrow_dataset(files) as content:
            ds.write_dataset(content, folder.name, format="parquet")
        return [folder.name]

    def table(self, table: str, *queries: str, title: str) -> None:
        """Give a query a name, and keep its rows when they are first computed."""
        with _guarded(title):
            frame = self._sql(" UNION ALL ".join(queries)).persist()
            frame.createOrReplaceTempView(table)
            self._kept[table] = frame

    def slices(self, n_labelsets: int) -> int:
        """Leave everything in one piece: Spark cuts it into partitions by itself."""
        return 1

    def create_view(self, table: str, sql: str) -> None:
        """Give a query a name."""
        with _guarded("Opening"):
            self._sql(sql).createOrReplaceTempView(table)

    def load(self, table: str, content: Any) -> None:
        """Make an Arrow table of ours known."""
        with _guarded("Opening"):
            self._session.createDataFrame(content).createOrReplaceTempView(table)

    def query(self, sql: str, *, title: str) -> Any:
        """Run a query."""
        with _guarded(title):
            return self._sql(sql).toArrow()

    def write(self, sql: str, folder: str, *, partition_by: Sequence[str], title: str) -> None:
        """Write the rows of a query as Parquet files into a folder that all executors see."""
        with _guarded(title):
            writer = self._sql(sql).write.mode("append").option("compression", "zstd")
            if partition_by:
                writer = writer.partitionBy(*partition_by)
            writer.parquet(_uri(folder))

    def drop(self, table: str) -> None:
        """Do nothing yet: tables not computed so far may still need this one."""

    def close(self) -> None:
        """Forget all tables, and stop the session if it was made here."""
        for frame in reversed(self._kept.values()):  # first those that others do not need
            with _guarded("Clearing up"):
                frame.unpersist()
        self._kept.clear()
        for folder in self._staged:
            folder.cleanup()
        if self._is_ours:
            self._session.stop()

    def _sql(self, sql: str) -> Any:
        return self._session.sql(self.dialect.expand_macros(sql))


@contextmanager
def _guarded(title: str) -> Iterator[None]:
    """Announce a piece of work, and say in our words what Spark meets there."""
    try:
        with progress_bar(title):
            yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "grpc", "pyspark"):
            raise
        raise _translated(error) from error


def _session(spark: Any) -> Any:
    from pyspark.sql import SparkSession

    if spark is None:
        found = SparkSession.getActiveSession()
        return found if found is not None else SparkSession.builder.getOrCreate()
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
        # Spark's 200 are meant for a cluster; a few dozen keep the cores of one machine busy.
        builder = builder.config("spark.sql.shuffle.partitions", "16")
        builder = builder.config("spark.ui.enabled", "false")
    return builder.master(spark).getOrCreate()


def _uri(path: str) -> str:
    return path if is_remote(path) else Path(os.path.abspath(path)).as_uri()


def _translated(error: Exception) -> ScumbleError:
    """Say in our words what Spark met."""
    text = str(error).strip()
    plain = text.lower()
    shown = "\n".join(text.splitlines()[:6])
    if "no space left" in plain:
        return WriteError(
            "A disk of the cluster is full. Free some space, or set spark.local.dir to another "
            f"one. No output was written. Spark says: {shown}"
        )
    damaged = ("is not a parquet file", "cannot_read_file", "failed_read_file", "corrupt")
    if any(sign in plain for sign in damaged) or "footer" in plain:
        return ReadError(
            f"Spark cannot read the data: {shown}. Fetch the file again, or leave it out. "
            "No output was written."
        )
    if "path_not_found" in plain:
        return ReadError(f"no such file. Check the path. Spark says: {shown}")
    return ScumbleError(f"Spark cannot run a statement: {shown}")
