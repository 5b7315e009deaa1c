"""Arrow IPC, also called Feather: everything a data set holds, as it lies in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from scumble.data.formats.base import PARTS, Columns, Format, LabelChoice, Source, Target

if TYPE_CHECKING:
    from scumble.data.dataset import MultilabelDataset

MAGIC = b"ARROW1"
STREAM = b"\xff\xff\xff\xff"  # how a stream begins, which has no magic bytes
FEATHER_1 = b"FEA1"


def sniff(source: Source, head: bytes) -> float:
    """Tell whether a file is Arrow IPC."""
    if head.startswith(MAGIC):
        return 1.0
    return 0.9 if head.startswith((STREAM, FEATHER_1)) else 0.0


def read_arrow(
    source: Source,
    *,
    labels: LabelChoice = None,
    label_column: str | int | None = None,
    label_separator: str | None = None,
    weight_column: str | int | None = None,
    ignore: Columns = None,
    text: Columns = None,
    category: Columns = None,
    keep: Columns | Literal[True] = None,
) -> MultilabelDataset:
    """Read an Arrow IPC file or stream, or a Feather file of version 2.

    Parameters
    ----------
    label_column : str or int, optional
        The column that holds all labels of a row.
    label_separator : str, optional
        What stands between the labels there, where they are texts and not lists.
    weight_column : str or int, optional
        A column with the weights of the instances.
    ignore : str, int or a sequence of them, optional
        Columns to leave out, by name or number.
    text : str, int or a sequence of them, optional
        Columns of texts whose words are learnt.
    category : str, int or a sequence of them, optional
        Columns whose values are categories, though they look like numbers, dates or names of rows.
    keep : str, int, a sequence of them, or True, optional
        Columns to take as they are, whatever they look like; True takes all of them so.

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
    try:
        opened = pa.ipc.open_file if content.startswith(MAGIC) else pa.ipc.open_stream
        with opened(pa.BufferReader(content)) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise source.error(f"the Arrow file is damaged ({error}). Fetch it again.") from error
    return dataset_from_table(
        table,
        source,
        labels=labels,
        label_column=label_column,
        label_separator=label_separator,
        weight_column=weight_column,
        ignore=ignore,
        text=text,
        category=category,
        keep=keep,
    )


def write_arrow(dataset: MultilabelDataset, target: Target, *, label_layout: str = "names") -> None:
    """Write an Arrow IPC file, which is also a Feather file."""
    import pyarrow as pa

    from scumble.data.formats.arrow_table import table_from_dataset

    table = table_from_dataset(dataset, label_layout)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with target.open() as stream, pa.ipc.new_file(stream, table.schema, options=options) as writer:
        writer.write_table(table)


FORMAT = Format(
    name="arrow",
    title="Arrow IPC (Feather)",
    family="Columns",
    suffixes=(".arrow", ".feather"),
    sniff=sniff,
    read=read_arrow,
    write=write_arrow,
    carries=frozenset(PARTS),
)
