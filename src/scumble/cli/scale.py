"""Files too large for memory, on the command line."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from scumble._core.errors import ScumbleWarning
from scumble.cli.inputs import parse_options

if TYPE_CHECKING:
    from scumble.scale import Scan

EngineOption = Annotated[
    str | None,
    typer.Option(
        help="For files larger than memory: 'duckdb' on this machine or 'spark' on a cluster."
    ),
]
MemoryOption = Annotated[
    str | None, typer.Option(help="How much DuckDB may hold in memory, such as 2GB.")
]
LabelColumnOption = Annotated[
    str | None, typer.Option(help="Table: the column that holds the labels of a row.")
]
InstanceColumnOption = Annotated[
    str | None, typer.Option(help="With --engine: the column that names the instance.")
]
SparkOption = Annotated[
    str | None,
    typer.Option(help="With --engine spark: the address of a master or a Spark Connect server."),
]


@dataclass(frozen=True)
class Choice:
    """What the user said about large files."""

    engine: str | None = None
    memory: str | None = None
    label_column: str | None = None
    instance_column: str | None = None
    spark: str | None = None


def open_scan(
    name: str, choice: Choice, *, format: str | None = None, options: list[str] | None = None
) -> Scan | None:
    """Open files with an engine if the user asks for it, or if they do not fit into memory."""
    engine = engine_asked(name, choice) or _engine_for_size(name)
    if engine is None:
        return None
    from scumble.scale import scan

    return scan(
        name,
        format=format,
        engine=engine,
        memory=choice.memory,
        label_column=choice.label_column,
        instance_column=choice.instance_column,
        separator=parse_options(options).get("label_separator"),
        spark=choice.spark,
    )


def engine_asked(name: str, choice: Choice) -> str | None:
    """Tell which engine the user asks for, by name or by an option that only engines have."""
    if choice.engine is not None:
        return choice.engine
    if choice.spark is not None:
        return "spark"
    is_folder = choice.label_column is not None and os.path.isdir(name)
    asked = is_folder or choice.memory or choice.instance_column
    return "duckdb" if asked or _is_many(name) else None


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


def _is_many(name: str) -> bool:
    """Tell globs and object-store paths from a file; a folder is meant only where one says how."""
    return "://" in name or "*" in name
