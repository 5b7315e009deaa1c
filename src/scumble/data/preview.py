"""A first look at a plain table: how it is written, its first rows, what its columns are for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from io import BytesIO
from typing import Any

import numpy as np

from scumble._core.errors import ReadError, ScumbleError
from scumble._core.files import BLOCK, COMPRESSIONS, Source
from scumble.data.columns import feature_from_column
from scumble.data.feature import Feature
from scumble.data.guesses import FEWEST_VALUES, numbers_all_rows
from scumble.data.io import find_format, opened
from scumble.data.roles import LABEL, Guess, Head, guess_roles

#: Bytes of a text file that are looked at: the first block of its reader, who so finds the same.
HEAD = BLOCK
#: What can be said of how a file is written.
SETTINGS = ("format", "delimiter", "encoding", "decimal", "header")
#: Rows that are looked at, and rows that are shown.
LOOKED_AT, SHOWN = 1000, 8
#: Columns that are shown: so many of the first, and of the last.
FIRST, LAST = 40, 20
#: Characters of a cell that are shown, and of a name by which a column is spoken of.
CELL, NAME = 60, 100
#: Control characters that no text has.
_NO_TEXT = bytes(set(range(32)) - set(b"\t\n\f\r\x1a"))


@dataclass(frozen=True)
class Preview:
    """What can be told of a file by its beginning.

    Attributes
    ----------
    format : str
        Its form.
    asks : bool
        Whether it is a plain table, whose columns have to be told apart. All below is empty, or
        None, if it is not.
    delimiter, encoding, decimal, header
        How a text file is written; None of others.
    n_columns : int
        Of the table; the first and last ones are described.
    columns : list of dict
        ``at``, the number from 0; ``key``, what options of readers call it, its name or number;
        ``name``; ``role``; ``roles``, all that it may be; and ``why``.
    rows : list of list of str
        The first cells of these columns.
    labels : list of int
        All columns that are guessed to be labels, also those that are not shown.
    separator : str
        What parts the labels of the column that is guessed to hold lists; "" where they stand in
        brackets.
    """

    format: str
    asks: bool = False
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    header: bool | None = None
    n_columns: int = 0
    columns: list[dict[str, Any]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    separator: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def preview(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
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
    with opened(path, None) as source:
        chosen = find_format(source, format).name
        if chosen == "csv":
            how = _Written(delimiter, encoding, decimal, header)
            return _of_text(_Beginning(source), how)
        if chosen in ("parquet", "arrow") and _is_plain(source):
            return _of_columns(source, chosen)
        return Preview(chosen)


@dataclass(frozen=True)
class _Written:
    """How a text file is written, as far as the user says."""

    delimiter: str | None
    encoding: str | None
    decimal: str | None
    header: bool | None


class _Beginning(Source):
    """The first bytes of a file, read like a whole one."""

    def __init__(self, source: Source) -> None:
        self.__dict__.update(source.__dict__)
        self._where = source.where
        with source.open(progress=False) as stream:
            self.content = stream.read(HEAD)
            self.is_cut = bool(stream.read(1))

    @property
    def where(self) -> str:
        """What messages call it."""
        return self._where

    @contextmanager
    def open(self, *, progress: bool = True) -> Iterator[Any]:
        """Open what was read."""
        yield BytesIO(self.content)


def _of_text(source: _Beginning, how: _Written) -> Preview:
    from scumble.data.formats.csv import check_delimiter
    from scumble.data.formats.delimited.cells import (
        has_label_marks,
        sniff_decimal,
        sniff_delimiter,
        split_block,
    )
    from scumble.data.formats.delimited.layout import Options, find_header, refuse_repeated

    check_delimiter(how.delimiter)
    encoding = how.encoding or _likely_encoding(source)
    text = _first_lines(source, encoding)
    delimiter = how.delimiter or sniff_delimiter(source, text[:65536])[0]
    cells, _, _ = split_block(source, text, delimiter, 0, 0, at_end=not source.is_cut)
    if not len(cells):
        raise source.error("the file holds no rows. Expected a table.")
    decimal = how.decimal or sniff_decimal(cells, delimiter)
    options = Options(header=how.header, decimal=how.decimal)
    names = find_header(cells, options, decimal)
    if names is not None and has_label_marks(names):
        return Preview("csv")
    refuse_repeated(source, names or [], int(cells.lines[0]))
    rows = cells[1:] if names is not None else cells
    rows = rows[:LOOKED_AT]
    heads = _heads_of_text(rows, names, decimal)
    found = _described(heads, len(rows), lambda at, row: rows.cell(row, at))
    return Preview(
        format="csv",
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        header=names is not None,
        **found,
    )


def _likely_encoding(source: _Beginning) -> str:
    """Tell the encoding of a text: what its reader finds, or else what makes a text of it."""
    from scumble.data.formats.delimited.cells import found_encoding

    head = source.content
    if found_encoding(head) == "utf-16":
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
    from scumble.data.formats.delimited.cells import text_blocks

    blocks = text_blocks(source, encoding)
    text = next(blocks, b"") if source.is_cut else b"".join(blocks)
    if not text.strip():
        raise source.error("the file is empty. Expected a table.")
    if source.is_cut and not text.endswith(b"\n"):
        raise source.error(f"the first line is longer than {HEAD:,} bytes. Is this a table?")
    return text


def _heads_of_text(rows: Any, names: list[str] | None, decimal: str) -> list[Head]:
    from scumble.data.formats.delimited.layout import ROW_NUMBERS, list_columns
    from scumble.data.formats.delimited.values import Features

    columns = Features(list(range(rows.n_columns)), set(), decimal)
    if len(rows):
        columns.add(rows)
    X, categories = columns.matrix()
    lists = set(list_columns(rows)) if len(rows) else set()
    heads = []
    for at in range(rows.n_columns):
        name = "" if names is None else names[at]
        _, is_whole, has_values = columns.state[at]
        feature = (
            Feature(name, "nominal", categories[at])
            if at in categories
            else Feature(name, integer=bool(is_whole and has_values))
        )
        may_number = at == 0 and (not name or name.strip().lower() in ROW_NUMBERS)
        numbers = may_number and feature.integer and numbers_all_rows(X[:, at])
        heads.append(Head(name, feature, X[:, at], is_list=at in lists, numbers_rows=bool(numbers)))
    return heads


def _is_plain(source: Source) -> bool:
    """Tell whether columns can be read from the file as it lies there."""
    with open(source.path, "rb") as raw:
        head = raw.read(8)
    return type(source) is Source and not any(map(head.startswith, COMPRESSIONS.values()))


def _of_columns(source: Source, form: str) -> Preview:
    import pyarrow as pa

    from scumble.data.formats.arrow_table import KEY

    try:
        table = _first_of_parquet(source) if form == "parquet" else _first_of_arrow(source)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, ReadError):
            raise
        raise source.error(f"the {form} file is damaged ({error}). Fetch it again.") from error
    if KEY in (table.schema.metadata or {}):
        return Preview(form)
    heads = [_head_of_column(table, at) for at in range(table.num_columns)]
    found = _described(heads, len(table), lambda at, row: _shown(table.column(at)[row]))
    return Preview(format=form, **found)


def _first_of_parquet(source: Source) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.path) as file:
        batches = [batch for batch, _ in zip(file.iter_batches(LOOKED_AT), range(1), strict=False)]
        return pa.Table.from_batches(batches, file.schema_arrow)


def _first_of_arrow(source: Source) -> Any:
    import pyarrow as pa

    with pa.memory_map(str(source.path)) as raw:
        is_file = source.head(6) == b"ARROW1"
        with (pa.ipc.open_file if is_file else pa.ipc.open_stream)(raw) as reader:
            if is_file:
                batches = [reader.get_batch(0)] if reader.num_record_batches else []
            else:
                batches = [batch for batch, _ in zip(reader, range(1), strict=False)]
            return pa.Table.from_batches(batches, reader.schema).slice(0, LOOKED_AT)


def _head_of_column(table: Any, at: int) -> Head:
    import pyarrow.types as kinds

    from scumble.data.label_lists import holds_label_lists, is_text

    name, column = table.column_names[at], table.column(at)
    is_list = holds_label_lists(column.type)
    try:
        feature, values = (None, np.empty(0)) if is_list else feature_from_column(name, column)
    except ScumbleError:  # such as columns inside of columns
        feature, values = None, np.empty(0)
    declared = kinds.is_dictionary(column.type)
    return Head(
        name, feature, values, is_list=is_list, parts=is_text(column.type), guessed=not declared
    )


def _shown(cell: Any) -> str:
    """Write a cell; of a list no more than is looked at."""
    import pyarrow as pa

    values = getattr(cell, "values", None)
    if isinstance(values, pa.Array):
        return ", ".join(str(value) for value in values.slice(0, FEWEST_VALUES).to_pylist())
    value = cell.as_py()
    return "" if value is None else str(value)


def _described(
    heads: Sequence[Head], n_rows: int, cell: Callable[[int, int], str]
) -> dict[str, Any]:
    """Describe the columns that are shown, and tell which ones are labels."""
    guesses = guess_roles(heads)
    n = len(heads)
    shown = [at for at in range(n) if at < FIRST or at >= n - LAST]
    return {
        "asks": True,
        "n_columns": n,
        "columns": [_column(at, heads[at].name, guesses[at]) for at in shown],
        "rows": [[_cut(cell(at, row), CELL) for at in shown] for row in range(min(SHOWN, n_rows))],
        "labels": [at for at, guess in enumerate(guesses) if guess.role == LABEL],
        "separator": next((guess.separator for guess in guesses if guess.separator), ""),
    }


def _column(at: int, name: str, guess: Guess) -> dict[str, Any]:
    """Describe a column; readers, and command lines, know it by ``key``."""
    role, roles, why, _ = guess
    is_key = 0 < len(name) <= NAME and "," not in name and not name.strip("+-").isdecimal()
    return {
        "at": at,
        "key": name if is_key else at,
        "name": _cut(name, NAME),
        "role": role,
        "roles": list(roles),
        "why": why,
    }


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
