"""Parquet: everything a data set holds, compact, for any program that reads columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from scumble._core.files import EXPANSION_FREE
from scumble.data.formats.base import PARTS, Columns, Format, LabelChoice, Source, Target

if TYPE_CHECKING:
    from scumble.data.dataset import MultilabelDataset

MAGIC = b"PAR1"


def sniff(source: Source, head: bytes) -> float:
    """Tell whether a file is Parquet."""
    return 1.0 if head.startswith(MAGIC) else 0.0


def read_parquet(
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
    """Read a Parquet file.

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
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        _refuse_bomb(source, file.metadata, content.size)
        table = file.read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise source.error(f"the Parquet file is damaged ({error}). Fetch it again.") from error
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


def write_parquet(
    dataset: MultilabelDataset, target: Target, *, label_layout: str = "names"
) -> None:
    """Write a Parquet file."""
    import pyarrow.parquet as pq

    from scumble.data.formats.arrow_table import table_from_dataset

    table = table_from_dataset(dataset, label_layout)
    with target.open() as stream:
        pq.write_table(table, stream, compression="zstd")


def _refuse_bomb(source: Source, metadata: Any, size: int) -> None:
    """Refuse a file that says itself that its pages grow beyond all measure."""
    groups = range(metadata.num_row_groups)
    expanded = sum(metadata.row_group(at).total_byte_size for at in groups)
    if expanded > max(EXPANSION_FREE, source.max_expansion * size):
        raise source.error(
            f"{size} bytes would grow to {expanded}, over {source.max_expansion} times. Expected "
            "data, this looks like a decompression bomb."
        )


FORMAT = Format(
    name="parquet",
    title="Parquet",
    family="Columns",
    suffixes=(".parquet",),
    sniff=sniff,
    read=read_parquet,
    write=write_parquet,
    carries=frozenset(PARTS),
)
