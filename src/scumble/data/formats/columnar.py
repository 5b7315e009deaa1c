"""The Parquet and Arrow IPC (Feather) formats, which store all parts of a data set in columns."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from scumble._core.errors import ReadError
from scumble._core.files import UNCHECKED_EXPANSION_BYTES, InputFile, OutputFile
from scumble.data.dataset import MultilabelDataset
from scumble.data.feature import ColumnSelection
from scumble.data.formats.base import Format, LabelChoice, TableOptions

# The first bytes of a file in each format.
PARQUET_MAGIC = b"PAR1"
ARROW_FILE_MAGIC = b"ARROW1"
ARROW_STREAM_START = b"\xff\xff\xff\xff"  # of a message; a stream has no magic bytes of its own
FEATHER_1_MAGIC = b"FEA1"


@contextmanager
def translate_arrow_errors(source: InputFile, format_name: str) -> Iterator[None]:
    """Turn errors of Arrow within the ``with`` block into a ReadError: the file is damaged."""
    import pyarrow as pa

    try:
        yield
    except ReadError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise source.error(
            f"the {format_name} file is damaged ({error}). Fetch it again."
        ) from error


def sniff_parquet(source: InputFile, head: bytes) -> float:
    """Return 1 if a file is Parquet, else 0; ``head`` are its first bytes."""
    return 1.0 if head.startswith(PARQUET_MAGIC) else 0.0


def read_parquet(
    source: InputFile,
    *,
    labels: LabelChoice = None,
    label_column: str | int | None = None,
    label_separator: str | None = None,
    weight_column: str | int | None = None,
    ignore: ColumnSelection = None,
    text: ColumnSelection = None,
    category: ColumnSelection = None,
    keep: ColumnSelection | Literal[True] = None,
) -> MultilabelDataset:
    """Read a Parquet file.

    Parameters
    ----------
    source : InputFile
        The file.
    labels : sequence, int, str or Path, optional
        Columns that are labels, see `scumble.read`.
    label_column : str or int, optional
        The column that holds all labels of a row.
    label_separator : str, optional
        The text between the labels of ``label_column``, if its cells are texts and not lists.
    weight_column : str or int, optional
        A column with the weights of the instances.
    ignore : str, int or a sequence of them, optional
        Columns to leave out, by name or number.
    text : str, int or a sequence of them, optional
        Columns of free text, which a classifier gets as one number per word.
    category : str, int or a sequence of them, optional
        Columns whose values are categories, although they look like numbers, dates or identifiers.
    keep : str, int, a sequence of them, or True, optional
        Columns that are read as they are, without inference; True stands for all columns.

    Returns
    -------
    MultilabelDataset
        The data.

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

    options = TableOptions(
        labels=labels,
        label_column=label_column,
        label_separator=label_separator,
        weight_column=weight_column,
        ignore=ignore,
        text=text,
        category=category,
        keep=keep,
    )
    with source.open() as stream:
        content = pa.py_buffer(stream.read())
    with translate_arrow_errors(source, "Parquet"):
        file = pq.ParquetFile(pa.BufferReader(content))
        _check_expansion(source, file.metadata, content.size)
        table = file.read()
    return dataset_from_table(table, source, options)


def write_parquet(
    dataset: MultilabelDataset, target: OutputFile, *, label_layout: str = "names"
) -> None:
    """Write a Parquet file.

    Labels are a column of lists of their names or numbers, or a boolean column each:
    ``label_layout`` is "names", "numbers" or "columns".
    """
    import pyarrow.parquet as pq

    from scumble.data.formats.arrow_table import table_from_dataset

    table = table_from_dataset(dataset, label_layout)
    with target.open() as stream:
        pq.write_table(table, stream, compression="zstd")


def _check_expansion(source: InputFile, metadata: Any, n_bytes: int) -> None:
    """Raise ReadError if a Parquet file would be suspiciously large without its compression.

    ``metadata`` declares the expanded size, ``n_bytes`` is the size of the file.
    """
    n_expanded_bytes = sum(
        metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)
    )
    if n_expanded_bytes > max(UNCHECKED_EXPANSION_BYTES, source.max_expansion * n_bytes):
        raise source.error(
            f"{n_bytes} bytes would grow to {n_expanded_bytes}, over {source.max_expansion} times. "
            "Expected data, this looks like a decompression bomb."
        )


def sniff_arrow(source: InputFile, head: bytes) -> float:
    """Return how likely a file is Arrow IPC, from 0 to 1; ``head`` are its first bytes."""
    if head.startswith(ARROW_FILE_MAGIC):
        return 1.0
    return 0.9 if head.startswith((ARROW_STREAM_START, FEATHER_1_MAGIC)) else 0.0


def read_arrow(
    source: InputFile,
    *,
    labels: LabelChoice = None,
    label_column: str | int | None = None,
    label_separator: str | None = None,
    weight_column: str | int | None = None,
    ignore: ColumnSelection = None,
    text: ColumnSelection = None,
    category: ColumnSelection = None,
    keep: ColumnSelection | Literal[True] = None,
) -> MultilabelDataset:
    """Read an Arrow IPC file or stream, or a Feather file of version 2.

    Parameters
    ----------
    source : InputFile
        The file.
    labels : sequence, int, str or Path, optional
        Columns that are labels, see `scumble.read`.
    label_column : str or int, optional
        The column that holds all labels of a row.
    label_separator : str, optional
        The text between the labels of ``label_column``, if its cells are texts and not lists.
    weight_column : str or int, optional
        A column with the weights of the instances.
    ignore : str, int or a sequence of them, optional
        Columns to leave out, by name or number.
    text : str, int or a sequence of them, optional
        Columns of free text, which a classifier gets as one number per word.
    category : str, int or a sequence of them, optional
        Columns whose values are categories, although they look like numbers, dates or identifiers.
    keep : str, int, a sequence of them, or True, optional
        Columns that are read as they are, without inference; True stands for all columns.

    Returns
    -------
    MultilabelDataset
        The data.

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

    options = TableOptions(
        labels=labels,
        label_column=label_column,
        label_separator=label_separator,
        weight_column=weight_column,
        ignore=ignore,
        text=text,
        category=category,
        keep=keep,
    )
    with source.open() as stream:
        content = stream.read()
    if content.startswith(FEATHER_1_MAGIC):
        raise source.error("this is Feather version 1. Expected version 2: convert the file.")
    with translate_arrow_errors(source, "Arrow"):
        open_table = (
            pa.ipc.open_file if content.startswith(ARROW_FILE_MAGIC) else pa.ipc.open_stream
        )
        with open_table(pa.BufferReader(content)) as reader:
            table = reader.read_all()
        table.validate(full=True)
    return dataset_from_table(table, source, options)


def write_arrow(
    dataset: MultilabelDataset, target: OutputFile, *, label_layout: str = "names"
) -> None:
    """Write an Arrow IPC file, which is a Feather file as well.

    Labels are a column of lists of their names or numbers, or a boolean column each:
    ``label_layout`` is "names", "numbers" or "columns".
    """
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
