"""`scan`: data on disk, for the same functions as data in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError, ScumbleError
from scumble._core.parameters import check_choice
from scumble._core.table_repr import RecordList
from scumble.measures.difficult import DifficultLabel
from scumble.measures.summary import Summary
from scumble.out_of_core.engines import DuckDBEngine, Engine, SparkEngine
from scumble.out_of_core.files import (
    Files,
    Output,
    add_path_to_read_error,
    atomic_folder,
    find_files,
    validate_output,
)
from scumble.out_of_core.summary import difficult_labels, summarize_tables
from scumble.out_of_core.tables import LabelsetTables

if TYPE_CHECKING:  # measures need neither resamplers nor scikit-learn
    from scumble.resample import BaseResampler

ENGINES = ("duckdb", "spark")


def scan(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    label_column: str | None = None,
    instance_column: str | Sequence[str] | None = None,
    labels: Sequence[Any] | None = None,
    separator: str | None = None,
    format: str | None = None,
    engine: str | Engine = "duckdb",
    memory: str | None = None,
    spill_directory: str | None = None,
    threads: int | None = None,
    spark: Any = None,
) -> OutOfCoreDataset:
    """Open data that is too large for memory; nothing is read yet.

    The result can be passed to `scumble.characterize` and to ``resample(scan, out)`` of `REMEDIAL`,
    `LPROS` and `LPRUS`, which give the same numbers and rows as in memory.

    Parameters
    ----------
    paths : str, Path or sequence of them
        Parquet, Arrow or CSV files; directories, globs, and object-store paths that the engine
        supports.
    label_column : str, optional
        The column with labels, integers or strings: lists of them, or one per row. By default the
        only column of lists, or ``label``.
    instance_column : str or sequence of str, optional
        The columns that identify an instance. Required by `LPROS` and `LPRUS`, and if a row holds
        one label (by default ``instance``). A row with a null label declares an instance.
    labels : sequence, optional
        All labels in the order of the results, so that unseen labels are counted. By default the
        labels that occur, sorted.
    separator : str, optional
        The label separator, if labels are texts such as ``"war;love"``.
    format : {"parquet", "arrow", "csv"}, optional
        Format of the files; by default from their suffix.
    engine : {"duckdb", "spark"} or Engine
        The database that computes.
    memory : str, optional
        Memory limit of DuckDB, such as ``"2GB"``; by default 80 % of the machine's memory. (The
        limits of Spark are set in its session.)
    spill_directory : str, optional
        Folder for what DuckDB spills to disk; by default that for temporary files.
    threads : int, optional
        Number of threads of DuckDB; by default all cores.
    spark : SparkSession or str, optional
        For Spark: a session, the address of a master (``spark://...``, ``local[2]``) or of a Spark
        Connect server (``sc://...``). By default the active session.

    Returns
    -------
    OutOfCoreDataset
        The data set; as a context manager it releases the resources of the engine at the end.

    See Also
    --------
    scumble.read : Read data that fits into memory.

    Examples
    --------
    >>> import pathlib, tempfile, scumble
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> films = pa.table({"minutes": [150, 90, 95], "tags": [["war"], ["love", "war"], []]})
    >>> pq.write_table(films, folder / "films.parquet")
    >>> with scumble.scan(folder / "*.parquet", label_column="tags") as films:
    ...     scumble.characterize(films)
    <Summary 'films': 3 instances, 2 labels, MeanIR 1.500, SCUMBLE 0.0191>
    """
    return open_scan(
        find_files(paths, format),
        engine,
        {
            "memory": memory,
            "spill_directory": spill_directory,
            "threads": threads,
            "spark": spark,
        },
        caller="scan",
        labels=labels,
        label_column=label_column,
        instance_column=instance_column,
        separator=separator,
    )


def open_scan(
    files: Files,
    engine: str | Engine,
    engine_options: dict[str, Any],
    *,
    caller: str,
    **columns: Any,
) -> OutOfCoreDataset:
    """Return the data set of files, opened with an engine.

    ``engine`` is an engine or the name of one, which is created with ``engine_options`` and closed
    if the files cannot be opened. ``columns`` are the keyword parameters of `OutOfCoreDataset`.
    """
    running_engine = open_engine(engine, caller=caller, **engine_options)
    try:
        return OutOfCoreDataset(files, running_engine, **columns)
    except BaseException:
        if isinstance(engine, str):
            running_engine.close()
        raise


class OutOfCoreDataset(AbstractContextManager["OutOfCoreDataset"]):
    r"""Data on disk with the engine that reads it; created by `scan`.

    Parameters
    ----------
    files : Files
        The data.
    engine : Engine
        The database that reads the data.
    labels : sequence, optional
        All labels in the order of the results; by default those that occur, sorted.
    label_column : str, optional
        The column with labels; by default the only column of lists, or ``label``.
    instance_column : str or sequence of str, optional
        The columns that identify an instance.
    separator : str, optional
        The label separator, if labels are texts.

    Examples
    --------
    >>> import pathlib, scumble, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = path.write_text("instance,label\n1,war\n2,war\n2,love\n3,war\n")
    >>> with scumble.scan(path) as films:
    ...     print(films, [label.name for label in films.difficult_labels()])
    <Scan 'films': 1 file(s), duckdb> ['love']
    """

    def __init__(
        self,
        files: Files,
        engine: Engine,
        *,
        labels: Sequence[Any] | None = None,
        label_column: str | None = None,
        instance_column: str | Sequence[str] | None = None,
        separator: str | None = None,
    ) -> None:
        """Register the files with the engine and find the columns of labels and instances."""
        self.files = files
        self.engine = engine
        self.name = files.name
        self._tables = LabelsetTables(
            engine,
            files,
            labels,
            label_column=label_column,
            instance_column=instance_column,
            separator=separator,
        )
        self.layout = self._tables.layout

    def __repr__(self) -> str:
        """Return the name, the number of files and the engine in angle brackets."""
        n_files = len(self.files.paths)
        return f"<Scan {self.name!r}: {n_files} file(s), {self.engine.dialect.name}>"

    def __exit__(self, *_error: object) -> None:
        """Close the engine."""
        self.close()

    @property
    def source_table_name(self) -> str:
        """Name of the table of the files in SQL statements."""
        return self._tables.name("source")

    def close(self) -> None:
        """Close the engine, which releases its memory, spilled files and tables."""
        self.engine.close()

    def difficult_labels(self, *, n_labels: int | None = None) -> RecordList[DifficultLabel]:
        """Rank the minority labels by SCUMBLELbl, with the majority labels that co-occur.

        Parameters
        ----------
        n_labels : int, optional
            Maximum number of labels; see `scumble.measures.difficult_labels`.

        Returns
        -------
        list of DifficultLabel
            The same as in memory.
        """
        return difficult_labels(self._tables, n_labels)

    def __scumble_characterize__(self) -> Summary:
        """Return the measures of the data; `scumble.characterize` calls this method."""
        with add_path_to_read_error(self.files):
            return summarize_tables(self._tables, self.name)

    def __scumble_resample__(self, resampler: BaseResampler, out: Any) -> OutOfCoreDataset:
        """Resample the data with a resampler; return a scan of the written result.

        ``resampler.resample(scan, out)`` calls this method, which sets the fitted attributes of
        ``resampler``. ``out`` is the folder, or an `Output`. Raise ScumbleError for other
        resamplers than REMEDIAL, LPROS and LPRUS.
        """
        from scumble.out_of_core.resampling import write_lp_random, write_remedial
        from scumble.resample import LPROS, LPRUS, REMEDIAL

        output = validate_output(out, caller=type(resampler).__name__)
        if not isinstance(resampler, REMEDIAL | LPROS | LPRUS):
            raise ScumbleError(
                f"{type(resampler).__name__} works in memory only. On a scan there are REMEDIAL, "
                "LPROS and LPRUS; or read the data with scumble.read."
            )
        self._check_partitions(output)
        with add_path_to_read_error(self.files), atomic_folder(output) as folder:
            if isinstance(resampler, REMEDIAL):
                write_remedial(self._tables, resampler, output, folder)
            else:
                write_lp_random(self._tables, resampler, output, folder)
        return self._open_result(output)

    def _check_partitions(self, output: Output) -> None:
        """Raise ParameterError if ``partition_by`` names a column that the output does not have."""
        allowed = {
            *self.layout.passthrough_columns,
            *self.layout.instance_columns,
            output.clone_column,
        }
        for name in output.partition_by:
            if name not in allowed:
                raise ParameterError(
                    f"The 'partition_by' of Output names {name!r}. Expected columns of the data "
                    "other than the labels."
                )

    def _open_result(self, output: Output) -> OutOfCoreDataset:
        """Return a scan of the files that were written to ``output``, with the same engine."""
        instances: tuple[str, ...] = self.layout.instance_columns
        if not self.layout.has_lists:
            instances = (*instances, output.clone_column or "clone")
        return OutOfCoreDataset(
            find_files(output.path, "parquet"),
            self.engine,
            label_column=self.layout.label.name,
            instance_column=instances,
            labels=self._tables.declared_labels,
        )


def open_engine(engine: str | Engine, *, spark: Any, caller: str, **limits: Any) -> Engine:
    """Return an engine: ``engine`` itself, or a new one if it is a name.

    ``limits`` are the parameters of `DuckDBEngine`, ``spark`` that of `SparkEngine`; raise
    ParameterError if a limit is given for Spark.
    """
    if not isinstance(engine, str):
        return engine
    check_choice(engine, ENGINES, name="engine", caller=caller)
    if engine == "duckdb":
        return DuckDBEngine(**limits)
    for name, value in limits.items():
        if value is not None:
            raise ParameterError(
                f"The {name!r} parameter of {caller} is for DuckDB. Spark's limits are set in its "
                "session: spark.executor.memory, spark.local.dir, spark.executor.cores."
            )
    return SparkEngine(spark)
