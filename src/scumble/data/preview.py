"""A first look at a plain table: how it is written, its first rows, what its columns are for."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from io import BytesIO
from typing import Any

from scumble._core.files import BLOCK_BYTES, COMPRESSIONS, InputFile
from scumble.data.column_roles import (
    LABEL,
    LIST,
    MAX_INSPECTED_ROWS,
    MAX_KEY_LENGTH,
    ColumnPreview,
    InferredRole,
    column_key,
    infer_column_roles,
)
from scumble.data.feature_kinds import MIN_VALUES_TO_INFER
from scumble.data.formats.arrow_table import METADATA_KEY, preview_arrow_columns
from scumble.data.formats.columnar import translate_arrow_errors
from scumble.data.formats.delimited import cells as text_cells, layout
from scumble.data.formats.delimited.values import preview_text_columns
from scumble.data.io import find_format, open_dataset_file

#: Bytes of a text file that are looked at: the first block of its reader, who so finds the same.
HEAD = BLOCK_BYTES
#: What can be said of how a file is written.
PREVIEW_OPTIONS = ("format", "member", "delimiter", "encoding", "decimal", "header")
#: Rows that are shown.
SHOWN = 8
#: Columns that are shown: so many of the first, and of the last; labels between, if not more.
FIRST, LAST, MOST_BETWEEN = 40, 20, 40
#: Characters of a cell that are shown.
CELL = 60
#: Control characters that no text has.
_NO_TEXT = bytes(set(range(32)) - set(b"\t\n\f\r\x1a"))


@dataclass(frozen=True)
class Preview:
    """What can be told of a file by its beginning."""

    format: str
    #: Whether it is a plain table, whose columns have to be told apart; if not, that is all.
    asks: bool = False
    # How a text file is written; None of others.
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    header: bool | None = None
    n_columns: int = 0
    #: The first and last ones, a list of labels, and labels if few: ``at``, the number from 0;
    #: ``key``, what options of readers call it, its name or number; ``name``; ``role``; ``roles``,
    #: all that it may be; and ``why``.
    columns: list[dict[str, Any]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)  # the first cells of these columns
    #: All columns that are guessed to be labels, also those that are not shown.
    labels: list[int] = field(default_factory=list)
    #: Whether all rows were looked at, so that its reader finds the same.
    is_whole: bool = False
    #: What parts the labels of the column that is guessed to hold lists; "" for brackets.
    separator: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
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
    r"""Look at the beginning of a file; what is given is not guessed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.data.preview import preview
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = path.write_text("minutes;tags\n1,5;war|love\n2,0;love|sea\n1,0;love\n")
    >>> found = preview(path)
    >>> found.delimiter, found.decimal, found.separator
    (';', ',', '|')
    >>> [(column["name"], column["role"]) for column in found.columns]
    [('minutes', 'number'), ('tags', 'list')]
    """
    with open_dataset_file(path, member) as source:
        chosen = find_format(source, format).name
        if chosen == "csv":
            how = layout.CsvOptions(delimiter=delimiter, header=header, decimal=decimal)
            return _of_text(_Beginning(source), encoding, how)
        if chosen in ("parquet", "arrow") and _is_plain(source):
            return _of_columns(source, chosen)
        return Preview(chosen)


class _Beginning(InputFile):
    """The first bytes of a file, read like a whole one."""

    def __init__(self, source: InputFile) -> None:
        self.__dict__.update(source.__dict__)
        with source.open(progress=False) as stream:
            self.content = stream.read(HEAD)
            self.is_cut = bool(stream.read(1))

    @contextmanager
    def open(self, *, progress: bool = True) -> Iterator[Any]:
        """Open what was read."""
        yield BytesIO(self.content)


def _of_text(source: _Beginning, encoding: str | None, options: layout.CsvOptions) -> Preview:
    encoding = encoding or _likely_encoding(source)
    text = _first_lines(source, encoding)
    delimiter = options.delimiter or text_cells.sniff_delimiter(source, text[:65536])[0]
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
    found = _described(heads, len(rows), lambda at, row: rows.cell(row, at))
    return Preview(
        format="csv",
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        header=names is not None,
        is_whole=not source.is_cut and len(rows) == len(body),
        **found,
    )


def _likely_encoding(source: _Beginning) -> str:
    """Tell the encoding of a text: what its reader finds, or else what makes a text of it."""
    head = source.content
    if text_cells.detect_encoding(head) == "utf-16":
        return "utf-16"
    for encoding, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        if zeros.count(0) > 0.4 * len(zeros):
            return encoding
    control = next((byte for byte in _NO_TEXT if byte in head), None)
    if control is not None:
        raise source.error(
            f"this is no text: there is a byte 0x{control:02x} in it. Expected a table with a line "
            "for each row; name the format if it is another one, or the encoding."
        )
    end = len(head) if not source.is_cut else head.rfind(b"\n") + 1
    for encoding in ("utf-8", "cp1252"):
        try:
            head[:end].decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _first_lines(source: _Beginning, encoding: str) -> bytes:
    """Give the lines that are whole, as UTF-8."""
    blocks = text_cells.text_blocks(source, encoding)
    text = next(blocks, b"") if source.is_cut else b"".join(blocks)
    if not text.strip():
        raise source.error("the file is empty. Expected a table.")
    if source.is_cut and not text.endswith(b"\n"):
        raise source.error(f"the first line is longer than {HEAD:,} bytes. Is this a table?")
    return text


def _is_plain(source: InputFile) -> bool:
    """Tell whether columns can be read from the file as it lies there."""
    with open(source.path, "rb") as raw:
        head = raw.read(8)
    return type(source) is InputFile and not any(map(head.startswith, COMPRESSIONS.values()))


def _of_columns(source: InputFile, form: str) -> Preview:
    with translate_arrow_errors(source, form.capitalize()):
        first = _first_of_parquet if form == "parquet" else _first_of_arrow
        table, is_whole = first(source)
    if METADATA_KEY in (table.schema.metadata or {}):
        return Preview(form)
    heads = preview_arrow_columns(table)
    found = _described(heads, len(table), lambda at, row: _shown(table.column(at)[row]))
    return Preview(format=form, is_whole=is_whole, **found)


def _first_of_parquet(source: InputFile) -> tuple[Any, bool]:
    """Give the first rows, and whether these are all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.path) as file:
        batches = [
            batch for batch, _ in zip(file.iter_batches(MAX_INSPECTED_ROWS), range(1), strict=False)
        ]
        table = pa.Table.from_batches(batches, file.schema_arrow)
        return table, len(table) == file.metadata.num_rows


def _first_of_arrow(source: InputFile) -> tuple[Any, bool]:
    """Give the first rows, and whether these are all."""
    import pyarrow as pa

    with pa.memory_map(str(source.path)) as raw:
        is_file = source.head(6) == b"ARROW1"
        with (pa.ipc.open_file if is_file else pa.ipc.open_stream)(raw) as reader:
            if is_file:
                batches = [reader.get_batch(0)] if reader.num_record_batches else []
            else:
                batches = [batch for batch, _ in zip(reader, range(1), strict=False)]
            table = pa.Table.from_batches(batches, reader.schema)
            is_whole = (
                is_file and reader.num_record_batches < 2 and len(table) <= MAX_INSPECTED_ROWS
            )
            return table.slice(0, MAX_INSPECTED_ROWS), is_whole


def _shown(cell: Any) -> str:
    """Write a cell; of a list no more than is looked at."""
    import pyarrow as pa

    values = getattr(cell, "values", None)
    if isinstance(values, pa.Array):
        return ", ".join(str(value) for value in values.slice(0, MIN_VALUES_TO_INFER).to_pylist())
    value = cell.as_py()
    return "" if value is None else str(value)


def _described(
    heads: Sequence[ColumnPreview], n_rows: int, cell: Callable[[int, int], str]
) -> dict[str, Any]:
    """Describe the columns that are shown, and tell which ones are labels."""
    guesses = infer_column_roles(heads)
    n = len(heads)
    labels = [at for at, guess in enumerate(guesses) if guess.role == LABEL]
    lists = [at for at, guess in enumerate(guesses) if guess.role == LIST]
    between = [at for at in (*labels, *lists) if FIRST <= at < n - LAST]
    shown = [at for at in range(n) if at < FIRST or at >= n - LAST]
    if len(between) <= MOST_BETWEEN:
        shown = sorted({*shown, *between})
    return {
        "asks": True,
        "n_columns": n,
        "columns": [_column(at, heads[at].name, guesses[at]) for at in shown],
        "rows": [[_cut(cell(at, row), CELL) for at in shown] for row in range(min(SHOWN, n_rows))],
        "labels": labels,
        "separator": next((guess.separator for guess in guesses if guess.separator), ""),
    }


def _column(at: int, name: str, guess: InferredRole) -> dict[str, Any]:
    named = {"at": at, "key": column_key(name, at), "name": _cut(name, MAX_KEY_LENGTH)}
    return {**named, "role": guess.role, "roles": list(guess.roles), "why": guess.reason}


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
