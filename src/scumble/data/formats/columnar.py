"""Parquet and Arrow IPC (Feather): everything a data set holds, for all who read columns."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scumble._core.errors import ReadError
from scumble._core.files import UNCHECKED_EXPANSION_BYTES, InputFile, OutputFile
from scumble.data.dataset import MultilabelDataset
from scumble.data.formats.base import Format, TableOptions, options_from

PARQUET = b"PAR1"
ARROW = b"ARROW1"
STREAM = b"\xff\xff\xff\xff"  # how a stream of Arrow begins, which has no magic bytes
FEATHER_1 = b"FEA1"


@contextmanager
def translate_arrow_errors(source: InputFile, what: str) -> Iterator[None]:
    """Say of a file that Arrow cannot read that it is damaged."""
    import pyarrow as pa

    try:
        yield
    except ReadError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise source.error(f"the {what} file is damaged ({error}). Fetch it again.") from error


def sniff_parquet(source: InputFile, head: bytes) -> float:
    """Tell whether a file is Parquet."""
    return 1.0 if head.startswith(PARQUET) else 0.0


@options_from(TableOptions)
def read_parquet(source: InputFile, options: TableOptions) -> MultilabelDataset:
    """Read a Parquet file.

    Examples
    --------
    >>> import pathlib, tempfile, scumble
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.parquet"
    >>> pq.write_table(pa.table({"minutes": [150, 90], "tags": [["war"], ["love"]]}), path)
    >>> scumble.read(path)
    <MultilabelDataset 'films': 2 instances, 1 feature, 2 labels>
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from scumble.data.formats.arrow_table import dataset_from_table

    with source.open() as stream:
        content = pa.py_buffer(stream.read())
    with translate_arrow_errors(source, "Parquet"):
        file = pq.ParquetFile(pa.BufferReader(content))
        _refuse_bomb(source, file.metadata, content.size)
        table = file.read()
    return dataset_from_table(table, source, options)


def write_parquet(
    dataset: MultilabelDataset, target: OutputFile, *, label_layout: str = "names"
) -> None:
    """Write a Parquet file."""
    import pyarrow.parquet as pq

    from scumble.data.formats.arrow_table import table_from_dataset

    table = table_from_dataset(dataset, label_layout)
    with target.open() as stream:
        pq.write_table(table, stream, compression="zstd")


def _refuse_bomb(source: InputFile, metadata: Any, size: int) -> None:
    """Refuse a file that says itself that its pages grow beyond all measure."""
    groups = range(metadata.num_row_groups)
    expanded = sum(metadata.row_group(at).total_byte_size for at in groups)
    if expanded > max(UNCHECKED_EXPANSION_BYTES, source.max_expansion * size):
        raise source.error(
            f"{size} bytes would grow to {expanded}, over {source.max_expansion} times. Expected "
            "data, this looks like a decompression bomb."
        )


def sniff_arrow(source: InputFile, head: bytes) -> float:
    """Tell whether a file is Arrow IPC."""
    if head.startswith(ARROW):
        return 1.0
    return 0.9 if head.startswith((STREAM, FEATHER_1)) else 0.0


@options_from(TableOptions)
def read_arrow(source: InputFile, options: TableOptions) -> MultilabelDataset:
    """Read an Arrow IPC file or stream, or a Feather file of version 2.

    Examples
    --------
    >>> import pathlib, tempfile, scumble
    >>> films = scumble.MultilabelDataset([[150.0], [90.0]], [["war"], ["love"]], name="films")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.arrow"
    >>> scumble.write(films, path)
    >>> scumble.read(path) == films
    True
    """
    import pyarrow as pa

    from scumble.data.formats.arrow_table import dataset_from_table

    with source.open() as stream:
        content = stream.read()
    if content.startswith(FEATHER_1):
        raise source.error("this is Feather version 1. Expected version 2: convert the file.")
    with translate_arrow_errors(source, "Arrow"):
        opened = pa.ipc.open_file if content.startswith(ARROW) else pa.ipc.open_stream
        with opened(pa.BufferReader(content)) as reader:
            table = reader.read_all()
        table.validate(full=True)
    return dataset_from_table(table, source, options)


def write_arrow(
    dataset: MultilabelDataset, target: OutputFile, *, label_layout: str = "names"
) -> None:
    """Write an Arrow IPC file, which is also a Feather file."""
    import pyarrow as pa

    from scumble.data.formats.arrow_table import table_from_dataset

    table = table_from_dataset(dataset, label_layout)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with target.open() as stream, pa.ipc.new_file(stream, table.schema, options=options) as writer:
        writer.write_table(table)


ARROW_FORMAT = Format(
    name="arrow",
    title="Arrow IPC (Feather)",
    display_group="Columns",
    suffixes=(".arrow", ".feather"),
    sniff=sniff_arrow,
    read=read_arrow,
    write=write_arrow,
)
PARQUET_FORMAT = Format(
    name="parquet",
    title="Parquet",
    display_group="Columns",
    suffixes=(".parquet",),
    sniff=sniff_parquet,
    read=read_parquet,
    write=write_parquet,
)
