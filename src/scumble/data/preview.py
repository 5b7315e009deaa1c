"""Preview of a plain table: how the file is written, its first rows, the roles of its columns."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from io import BytesIO
from itertools import islice
from typing import Any

from scumble._core.files import BLOCK_BYTES, COMPRESSIONS, InputFile
from scumble.data.formats.arrow_table import METADATA_KEY, preview_arrow_columns
from scumble.data.formats.columnar import translate_arrow_errors
from scumble.data.formats.delimited import cells as text_cells, layout
from scumble.data.formats.delimited.values import preview_text_columns
from scumble.data.infer.column_roles import (
    LABEL,
    LIST,
    MAX_INSPECTED_ROWS,
    MAX_KEY_LENGTH,
    ColumnPreview,
    InferredRole,
    column_key,
    infer_column_roles,
)
from scumble.data.infer.feature_kinds import MIN_VALUES_TO_INFER
from scumble.data.io import find_format, open_dataset_file

#: Bytes of a text file that are inspected: the first block of its reader, so that both agree.
HEAD = BLOCK_BYTES
#: Options of a reader that `preview` takes.
PREVIEW_OPTIONS = ("format", "member", "delimiter", "encoding", "decimal", "header")
#: Number of rows in a preview.
N_ROWS = 8
#: Number of columns in a preview, from the beginning and from the end of a row.
N_FIRST_COLUMNS = 40
N_LAST_COLUMNS = 20
#: Labels between these columns are shown if there are no more than this, else none of them.
MAX_LABELS_BETWEEN = 40
#: Longest text of a cell in a preview, in characters.
MAX_CELL_LENGTH = 60
#: The delimiter is guessed from this many bytes.
DELIMITER_SAMPLE_BYTES = 65536
#: A text is taken for UTF-16 if more than this share of every other byte is zero.
MIN_ZERO_SHARE_OF_UTF16 = 0.4
#: Control characters that do not occur in texts.
_NON_TEXT_BYTES = bytes(set(range(32)) - set(b"\t\n\f\r\x1a"))


@dataclass(frozen=True)
class Preview:
    """Format, columns and first rows of a file, inferred from its beginning."""

    format: str
    #: Whether it is a plain table, whose columns need roles; if not, only ``format`` is set.
    asks: bool = False
    # How a text file is written; None for other formats.
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    header: bool | None = None
    n_columns: int = 0
    #: The first and last columns, a list of labels, and labels if they are few, as mappings:
    #: ``at``, the number of the column from 0; ``key``, its name or number in reader options;
    #: ``name``; ``role``; ``roles``, all that it may have; and ``why``, the reason.
    columns: list[dict[str, Any]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)  # the first cells of these columns
    #: Numbers of all columns that are guessed to be labels, including those not in ``columns``.
    labels: list[int] = field(default_factory=list)
    #: Whether all rows were inspected, so that the reader draws the same conclusions.
    is_whole: bool = False
    #: The separator in the column that is guessed to hold lists of labels; "" for brackets.
    separator: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values for JSON."""
        return asdict(self)


def preview(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    member: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
) -> Preview:
    r"""Preview a file from its beginning; options that are passed are not guessed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.data.preview import preview
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = path.write_text("minutes;tags\n1,5;war|love\n2,0;love|sea\n1,0;love\n")
    >>> films = preview(path)
    >>> films.delimiter, films.decimal, films.separator
    (';', ',', '|')
    >>> [(column["name"], column["role"]) for column in films.columns]
    [('minutes', 'number'), ('tags', 'list')]
    """
    with open_dataset_file(path, member) as source:
        name = find_format(source, format).name
        if name == "csv":
            options = layout.CsvOptions(delimiter=delimiter, header=header, decimal=decimal)
            return _preview_text(_FileHead(source), encoding, options)
        if name in ("parquet", "arrow") and _is_uncompressed_file(source):
            return _preview_arrow(source, name)
        return Preview(name)


class _FileHead(InputFile):
    """The first bytes of a file, with the interface of a complete file."""

    def __init__(self, source: InputFile) -> None:
        self.__dict__.update(source.__dict__)
        with source.open(progress=False) as stream:
            self.content = stream.read(HEAD)
            self.is_cut = bool(stream.read(1))

    @contextmanager
    def open(self, *, progress: bool = True) -> Iterator[Any]:
        """Open the bytes as a binary stream."""
        yield BytesIO(self.content)


def _preview_text(source: _FileHead, encoding: str | None, options: layout.CsvOptions) -> Preview:
    """Preview a table in a text file."""
    encoding = encoding or _likely_encoding(source)
    text = _first_lines(source, encoding)
    delimiter = options.delimiter
    if not delimiter:
        delimiter = text_cells.sniff_delimiter(source, text[:DELIMITER_SAMPLE_BYTES])[0]
    cells, _, _ = text_cells.split_block(source, text, delimiter, 0, 0, at_end=not source.is_cut)
    if not len(cells):
        raise source.error("the file holds no rows. Expected a table.")
    decimal = options.decimal or text_cells.sniff_decimal(cells, delimiter)
    names = layout.find_header(cells, options, decimal)
    if names is not None and text_cells.has_label_marks(names):
        return Preview("csv")
    layout.check_unique_names(source, names or [], int(cells.lines[0]))
    body = cells[1:] if names is not None else cells
    rows = body[:MAX_INSPECTED_ROWS]
    lists = layout.find_list_columns(rows) if len(rows) else []
    heads = preview_text_columns(rows, names, decimal, lists)
    contents = _preview_columns(heads, len(rows), lambda column, row: rows.cell(row, column))
    return Preview(
        format="csv",
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        header=names is not None,
        is_whole=not source.is_cut and len(rows) == len(body),
        **contents,
    )


def _likely_encoding(source: _FileHead) -> str:
    """Guess the encoding of a text: as its reader does, or else one that decodes it."""
    head = source.content
    if text_cells.detect_encoding(head) == "utf-16":
        return "utf-16"
    for encoding, high_bytes in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        if high_bytes.count(0) > MIN_ZERO_SHARE_OF_UTF16 * len(high_bytes):
            return encoding
    control = next((byte for byte in _NON_TEXT_BYTES if byte in head), None)
    if control is not None:
        raise source.error(
            f"this is not text: there is a byte 0x{control:02x} in it. Expected a table with a "
            "line for each row; name the format if it is another one, or the encoding."
        )
    end = len(head) if not source.is_cut else head.rfind(b"\n") + 1
    for encoding in ("utf-8", "cp1252"):
        try:
            head[:end].decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _first_lines(source: _FileHead, encoding: str) -> bytes:
    """Return the complete lines as UTF-8."""
    blocks = text_cells.text_blocks(source, encoding)
    text = next(blocks, b"") if source.is_cut else b"".join(blocks)
    if not text.strip():
        raise source.error("the file is empty. Expected a table.")
    if source.is_cut and not text.endswith(b"\n"):
        raise source.error(f"the first line is longer than {HEAD:,} bytes. Is this a table?")
    return text


def _is_uncompressed_file(source: InputFile) -> bool:
    """Return whether Arrow can read columns directly from the file."""
    with open(source.path, "rb") as raw:
        head = raw.read(8)
    return type(source) is InputFile and not any(map(head.startswith, COMPRESSIONS.values()))


def _preview_arrow(source: InputFile, format: str) -> Preview:
    """Preview a table in a Parquet or Arrow file."""
    with translate_arrow_errors(source, format.capitalize()):
        if format == "parquet":
            table, is_complete = _first_rows_of_parquet(source)
        else:
            table, is_complete = _first_rows_of_arrow(source)
    if METADATA_KEY in (table.schema.metadata or {}):
        return Preview(format)
    heads = preview_arrow_columns(table)
    contents = _preview_columns(
        heads, len(table), lambda column, row: _cell_text(table.column(column)[row])
    )
    return Preview(format=format, is_whole=is_complete, **contents)


def _first_rows_of_parquet(source: InputFile) -> tuple[Any, bool]:
    """Return a table with the first rows, and whether these are all rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.path) as file:
        batches = list(islice(file.iter_batches(MAX_INSPECTED_ROWS), 1))
        table = pa.Table.from_batches(batches, file.schema_arrow)
        return table, len(table) == file.metadata.num_rows


def _first_rows_of_arrow(source: InputFile) -> tuple[Any, bool]:
    """Return a table with the first rows, and whether these are all rows."""
    import pyarrow as pa

    with pa.memory_map(str(source.path)) as raw:
        is_file = source.head(6) == b"ARROW1"
        open_reader = pa.ipc.open_file if is_file else pa.ipc.open_stream
        with open_reader(raw) as reader:
            if is_file:
                batches = [reader.get_batch(0)] if reader.num_record_batches else []
            else:
                batches = list(islice(reader, 1))
            table = pa.Table.from_batches(batches, reader.schema)
            is_complete = (
                is_file and reader.num_record_batches < 2 and len(table) <= MAX_INSPECTED_ROWS
            )
            return table.slice(0, MAX_INSPECTED_ROWS), is_complete


def _cell_text(cell: Any) -> str:
    """Return a cell as text; of a list only the first values."""
    import pyarrow as pa

    values = getattr(cell, "values", None)
    if isinstance(values, pa.Array):
        return ", ".join(str(value) for value in values.slice(0, MIN_VALUES_TO_INFER).to_pylist())
    value = cell.as_py()
    return "" if value is None else str(value)


def _preview_columns(
    heads: Sequence[ColumnPreview], n_rows: int, cell_text: Callable[[int, int], str]
) -> dict[str, Any]:
    """Return the fields of `Preview` that describe columns; `cell_text` takes column and row."""
    guesses = infer_column_roles(heads)
    n_columns = len(heads)
    first_of_last = n_columns - N_LAST_COLUMNS
    labels = [index for index, guess in enumerate(guesses) if guess.role == LABEL]
    lists = [index for index, guess in enumerate(guesses) if guess.role == LIST]
    between = [index for index in (*labels, *lists) if N_FIRST_COLUMNS <= index < first_of_last]
    columns = [i for i in range(n_columns) if i < N_FIRST_COLUMNS or i >= first_of_last]
    if len(between) <= MAX_LABELS_BETWEEN:
        columns = sorted({*columns, *between})

    def cells_of_row(row: int) -> list[str]:
        return [_shorten(cell_text(column, row), MAX_CELL_LENGTH) for column in columns]

    return {
        "asks": True,
        "n_columns": n_columns,
        "columns": [_describe_column(i, heads[i].name, guesses[i]) for i in columns],
        "rows": [cells_of_row(row) for row in range(min(N_ROWS, n_rows))],
        "labels": labels,
        "separator": next((guess.separator for guess in guesses if guess.separator), ""),
    }


def _describe_column(index: int, name: str, guess: InferredRole) -> dict[str, Any]:
    """Return the entry of `Preview.columns` for a column."""
    return {
        "at": index,
        "key": column_key(name, index),
        "name": _shorten(name, MAX_KEY_LENGTH),
        "role": guess.role,
        "roles": list(guess.roles),
        "why": guess.reason,
    }


def _shorten(text: str, length: int) -> str:
    """Cut a text to a number of characters, with an ellipsis at its end."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
