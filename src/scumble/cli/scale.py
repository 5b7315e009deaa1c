"""Files too large for memory, on the command line."""

from __future__ import annotations

import os
import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from scumble._core.errors import ScumbleWarning
from scumble.cli.inputs import Reading, parse_options

if TYPE_CHECKING:
    from scumble.scale import Scan

LabelColumnOption = Annotated[
    str | None, typer.Option(help="Table: the column that holds the labels of a row.")
]
InstanceColumnOption = Annotated[
    str | None, typer.Option(help="With --engine: the column that names the instance.")
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        help="For files larger than memory: 'duckdb' on this machine or 'spark' on a cluster."
    ),
]
MemoryOption = Annotated[
    str | None, typer.Option(help="How much DuckDB may hold in memory, such as 2GB.")
]
SparkOption = Annotated[
    str | None,
    typer.Option(help="With --engine spark: the address of a master or a Spark Connect server."),
]


@dataclass(frozen=True)
class Choice:
    """What the user said about large files."""

    label_column: LabelColumnOption = None
    instance_column: InstanceColumnOption = None
    engine: EngineOption = None
    memory: MemoryOption = None
    spark: SparkOption = None

    def asked(self, name: str) -> str | None:
        """Tell which engine the user asks for, by name or by an option that only engines have."""
        if self.engine is not None:
            return self.engine
        if self.spark is not None:
            return "spark"
        is_folder = self.label_column is not None and os.path.isdir(name)
        # Globs and object-store paths are no file; a folder is meant only where one says how.
        is_many = "://" in name or "*" in name
        return "duckdb" if is_folder or self.memory or self.instance_column or is_many else None

    def open(self, name: str, reading: Reading) -> Scan | None:
        """Open files with an engine if that is asked for, or if they do not fit into memory."""
        engine = self.asked(name) or _engine_for_size(name)
        if engine is None:
            return None
        from scumble.scale import scan

        separator = parse_options(reading.options).get("label_separator")
        how = asdict(self) | {"engine": engine, "format": reading.format}
        return scan(name, separator=separator, **how)


UNASKED = Choice()


def _engine_for_size(name: str) -> str | None:
    """Choose an engine for a file that does not fit into memory."""
    known = (".parquet", ".pq", ".arrow", ".feather", ".csv", ".tsv")
    if not name.lower().endswith(known) or not os.path.isfile(name):
        return None
    from scumble.scale.sources import bytes_available, bytes_needed, find_files

    needed, available = bytes_needed(find_files(name)), bytes_available()
    if needed <= available:
        return None
    warnings.warn(
        f"{name} needs about {needed / 2**30:.1f} GiB of memory and {available / 2**30:.1f} GiB "
        "are free: DuckDB reads it from disk instead (--engine duckdb).",
        ScumbleWarning,
        stacklevel=2,
    )
    return "duckdb"
