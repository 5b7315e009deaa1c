"""Preview of a plain table: how the file is written, its first rows, the roles of its columns.

A *plain table* is a CSV, Parquet or Arrow file that scumble did not write: nothing in it says which
columns are labels, so each column needs a *role* (see `scumble.data.infer.column_roles`).
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from io import BytesIO
from itertools import islice
from typing import Any, NamedTuple

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
N_INSPECTED_BYTES = BLOCK_BYTES
#: Options of a reader that `preview` takes.
PREVIEW_OPTIONS = ("format", "member", "delimiter", "encoding", "decimal", "header")
#: Number of rows in a preview.
N_ROWS = 8
#: Number of columns in a preview, from the beginning and from the end of a wide table.
N_FIRST_COLUMNS = 40
N_LAST_COLUMNS = 20
#: Labels between these columns are added if there are no more than this, else none of them.
MAX_LABELS_BETWEEN = 40
#: Longest text of a cell in a preview, in characters.
MAX_CELL_LENGTH = 60
#: A text is taken for UTF-16 if more than this share of its bytes at even, or at odd, positions is
#: zero: Latin letters have one zero byte each.
MIN_ZERO_SHARE_OF_UTF16 = 0.4
#: The keys in JSON of fields of `Preview` that have another name there.
_JSON_KEYS = {"needs_column_roles": "asks", "is_complete": "is_whole"}
#: Control characters that do not occur in texts.
_NON_TEXT_BYTES = bytes(set(range(32)) - set(b"\t\n\f\r\x1a"))


@dataclass(frozen=True)
class Preview:
    """Format, columns and first rows of a file, inferred from its beginning."""

    #: Name of the file format in the catalogue.
    format: str
    #: Whether the file is a plain table, whose columns need roles (``asks`` in JSON); if not, only
    #: ``format`` is set.
    needs_column_roles: bool = False
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
    rows: list[list[str]] = field(default_factory=list)  # the first rows, cells of these columns
    #: Numbers of all columns that are guessed to be labels, including those not in ``columns``.
    labels: list[int] = field(default_factory=list)
    #: Whether all rows were inspected, so that the reader draws the same conclusions (``is_whole``
    #: in JSON).
    is_complete: bool = False
    #: The separator in the column that is guessed to hold lists of labels; "" for brackets.
    separator: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values for JSON."""
        return {_JSON_KEYS.get(name, name): value for name, value in asdict(self).items()}


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
    r"""Preview a file from its beginning.

    The options are those of `scumble.read`; those that are None are guessed.

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
            return _preview_text(_FileBeginning(source), encoding, options)
        if name in ("parquet", "arrow") and _is_uncompressed_file(source):
            return _preview_arrow(source, name)
        return Preview(name)


class _FileBeginning(InputFile):
    """The first `N_INSPECTED_BYTES` of a file, with the interface of a complete file.

    ``content`` holds these bytes; ``is_cut`` says whether the file has more.
    """

    def __init__(self, source: InputFile) -> None:
        """Read the first bytes of ``source``, which may be compressed or a member of an archive."""
        self.__dict__.update(source.__dict__)
        with source.open(progress=False) as stream:
            self.content = stream.read(N_INSPECTED_BYTES)
            self.is_cut = bool(stream.read(1))

    @contextmanager
    def open(self, *, progress: bool = True) -> Iterator[Any]:
        """Yield the bytes as a binary stream; there is never a progress bar."""
        yield BytesIO(self.content)


def _preview_text(
    source: _FileBeginning, encoding: str | None, options: layout.CsvOptions
) -> Preview:
    """Return the preview of a table in a text file; raise ReadError if it is not a table.

    Encoding, delimiter, decimal mark and header are guessed unless they are passed. If the header
    has the marks of scumble's own CSV files, only the format is set in the preview.
    """
    encoding = encoding or _likely_encoding(source)
    text = _first_lines(source, encoding)
    delimiter = options.delimiter
    if not delimiter:
        sample = text[: text_cells.DELIMITER_SAMPLE_BYTES]
        delimiter = text_cells.sniff_delimiter(source, sample).delimiter
    cells = text_cells.split_block(source, text, delimiter, at_end=not source.is_cut).cells
    if not len(cells):
        raise source.error("the file holds no rows. Expected a table.")
    decimal = options.decimal or text_cells.sniff_decimal(cells, delimiter)
    names = layout.find_header(cells, options, decimal)
    if names is not None and text_cells.has_label_marks(names):
        return Preview("csv")
    layout.check_unique_names(source, names or [], int(cells.lines[0]))
    body = cells[1:] if names is not None else cells
    rows = body[:MAX_INSPECTED_ROWS]
    list_columns = layout.find_list_columns(rows) if len(rows) else []
    previews = preview_text_columns(rows, names, decimal, list_columns)
    column_fields = _column_fields(previews, len(rows), get_cell_text=rows.cell)
    return Preview(
        format="csv",
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        header=names is not None,
        is_complete=not source.is_cut and len(rows) == len(body),
        **column_fields,
    )


def _likely_encoding(source: _FileBeginning) -> str:
    """Return the likely encoding of a text: the one of its byte order mark, or one that decodes it.

    Raise ReadError for bytes that do not occur in texts.
    """
    content = source.content
    if text_cells.detect_encoding(content) == "utf-16":
        return "utf-16"
    for encoding, high_bytes in (("utf-16-le", content[1::2]), ("utf-16-be", content[::2])):
        if high_bytes.count(0) > MIN_ZERO_SHARE_OF_UTF16 * len(high_bytes):
            return encoding
    control_byte = next((byte for byte in _NON_TEXT_BYTES if byte in content), None)
    if control_byte is not None:
        raise source.error(
            f"this is not text: there is a byte 0x{control_byte:02x} in it. Expected a table with "
            "a line for each row; name the format if it is another one, or the encoding."
        )
    end = len(content) if not source.is_cut else content.rfind(b"\n") + 1
    for encoding in ("utf-8", "cp1252"):
        try:
            content[:end].decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _first_lines(source: _FileBeginning, encoding: str) -> bytes:
    """Return the complete lines at the beginning of a file, recoded as UTF-8.

    Raise ReadError if there is no complete line.
    """
    blocks = text_cells.text_blocks(source, encoding)
    text = next(blocks, b"") if source.is_cut else b"".join(blocks)
    if not text.strip():
        raise source.error("the file is empty. Expected a table.")
    if source.is_cut and not text.endswith(b"\n"):
        raise source.error(
            f"the first line is longer than {N_INSPECTED_BYTES:,} bytes. Is this a table?"
        )
    return text


def _is_uncompressed_file(source: InputFile) -> bool:
    """Return whether the file is neither compressed nor a member of an archive.

    Only then can Arrow read some columns without reading all of the file.
    """
    with open(source.path, "rb") as raw:
        first_bytes = raw.read(8)
    is_compressed = any(map(first_bytes.startswith, COMPRESSIONS.values()))
    return type(source) is InputFile and not is_compressed


def _preview_arrow(source: InputFile, format: str) -> Preview:
    """Return the preview of a Parquet or Arrow file; ``format`` is "parquet" or "arrow".

    A file that scumble wrote has a description of its columns in the metadata: then only the
    format is set in the preview, because its columns need no roles.
    """
    with translate_arrow_errors(source, format.capitalize()):
        if format == "parquet":
            first_rows = _first_rows_of_parquet(source)
        else:
            first_rows = _first_rows_of_arrow(source)
    table = first_rows.table
    if METADATA_KEY in (table.schema.metadata or {}):
        return Preview(format)

    def get_cell_text(row: int, column: int) -> str:
        """Return the text of a cell of the table."""
        return _cell_text(table.column(column)[row])

    column_fields = _column_fields(
        preview_arrow_columns(table), len(table), get_cell_text=get_cell_text
    )
    return Preview(format=format, is_complete=first_rows.is_complete, **column_fields)


class _FirstRows(NamedTuple):
    """The first rows of a file, at most `MAX_INSPECTED_ROWS`."""

    table: Any  # an Arrow table
    is_complete: bool  # whether these are all rows of the file


def _first_rows_of_parquet(source: InputFile) -> _FirstRows:
    """Read the first rows of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.path) as file:
        batches = list(islice(file.iter_batches(MAX_INSPECTED_ROWS), 1))
        table = pa.Table.from_batches(batches, file.schema_arrow)
        return _FirstRows(table, is_complete=len(table) == file.metadata.num_rows)


def _first_rows_of_arrow(source: InputFile) -> _FirstRows:
    """Read the first rows of an Arrow IPC file or stream; only its first batch is read.

    The result is complete if this batch is the only one and is not cut off. A stream does not say
    how many rows it has, so it never counts as complete.
    """
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
            return _FirstRows(table.slice(0, MAX_INSPECTED_ROWS), is_complete)


def _cell_text(cell: Any) -> str:
    """Return the text of an Arrow scalar: "" if missing, of a list only the first values."""
    import pyarrow as pa

    values = getattr(cell, "values", None)
    if isinstance(values, pa.Array):
        return ", ".join(str(value) for value in values.slice(0, MIN_VALUES_TO_INFER).to_pylist())
    value = cell.as_py()
    return "" if value is None else str(value)


def _column_fields(
    previews: Sequence[ColumnPreview], n_rows: int, get_cell_text: Callable[[int, int], str]
) -> dict[str, Any]:
    """Return the fields of `Preview` that describe columns, as keyword arguments.

    The preview shows the first `N_FIRST_COLUMNS` and last `N_LAST_COLUMNS` columns, and label
    columns between them if they are at most `MAX_LABELS_BETWEEN`.

    ``n_rows`` is the number of rows that were inspected; ``get_cell_text`` takes the numbers of a
    row and a column.
    """
    inferred_roles = infer_column_roles(previews)
    n_columns = len(previews)
    last_columns_start = n_columns - N_LAST_COLUMNS
    label_columns = [i for i, inferred in enumerate(inferred_roles) if inferred.role == LABEL]
    list_columns = [i for i, inferred in enumerate(inferred_roles) if inferred.role == LIST]
    labels_between = [
        i for i in (*label_columns, *list_columns) if N_FIRST_COLUMNS <= i < last_columns_start
    ]
    columns = [i for i in range(n_columns) if i < N_FIRST_COLUMNS or i >= last_columns_start]
    if len(labels_between) <= MAX_LABELS_BETWEEN:
        columns = sorted({*columns, *labels_between})

    def cells_of_row(row: int) -> list[str]:
        """Return the shortened texts of a row's cells in the columns of the preview."""
        return [_shorten(get_cell_text(row, column), MAX_CELL_LENGTH) for column in columns]

    separators = [inferred.separator for inferred in inferred_roles if inferred.separator]
    return {
        "needs_column_roles": True,
        "n_columns": n_columns,
        "columns": [_column_entry(i, previews[i].name, inferred_roles[i]) for i in columns],
        "rows": [cells_of_row(row) for row in range(min(N_ROWS, n_rows))],
        "labels": label_columns,
        "separator": separators[0] if separators else "",
    }


def _column_entry(index: int, name: str, inferred: InferredRole) -> dict[str, Any]:
    """Return the entry of `Preview.columns` for a column; see there for the keys."""
    return {
        "at": index,
        "key": column_key(name, index),
        "name": _shorten(name, MAX_KEY_LENGTH),
        "role": inferred.role,
        "roles": list(inferred.roles),
        "why": inferred.reason,
    }


def _shorten(text: str, length: int) -> str:
    """Return a text of at most ``length`` characters, with an ellipsis if it was cut."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
