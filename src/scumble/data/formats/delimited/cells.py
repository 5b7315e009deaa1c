"""Text cut into rows and cells, block by block."""

from __future__ import annotations

import codecs
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ReadError
from scumble._core.files import BLOCK_BYTES, InputFile
from scumble.data.formats.kernels import csv as k

DELIMITERS = ",;\t|"
# The writer marks columns in the header, so that a file tells its labels itself.
LABEL_MARK, LABEL_LISTS_MARK, FEATURE_MARK, WEIGHT_MARK = "label:", "labels:", "feature:", "weight:"
HEADER_MARKS = (LABEL_MARK, LABEL_LISTS_MARK, FEATURE_MARK, WEIGHT_MARK)
#: A row within quotes may be this long; beyond it a quote is surely missing.
MOST_QUOTED = 64 << 20
#: Exchanges points and commas, where commas stand before decimals.
SWAP_DECIMAL_MARKS = bytes.maketrans(b".,", b",.")
#: So many cells are looked at for commas before decimals.
_SAMPLE = 10_000
_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
_OTHER_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass
class Cells:
    """Rows of one block."""

    source: InputFile
    text: Array
    bounds: Array
    marks: Array
    lines: Array
    n_columns: int

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, rows: slice) -> Cells:
        """Select neighbouring rows."""
        start, stop, _ = rows.indices(len(self))
        cells = slice(start * self.n_columns, stop * self.n_columns)
        parts = (self.bounds[cells], self.marks[cells], self.lines[rows])
        return Cells(self.source, self.text, *parts, self.n_columns)

    def cell(self, row: int, column: int) -> str:
        """Return the text of one cell, whose bytes are text unless a file was only sniffed at."""
        at = row * self.n_columns + column
        text = self.text[self.bounds[at, 0] : self.bounds[at, 1]].tobytes().decode(errors="replace")
        return text.replace('""', '"') if self.marks[at] == k.DOUBLED else text

    def error(self, message: str, row: int, column: int) -> ReadError:
        """Make an error that names a cell's place in the file."""
        return self.source.error(message, line=int(self.lines[row]), column=column + 1)


def detect_encoding(head: bytes) -> str:
    """Tell the encoding a file shows by its first bytes: Excel's UTF-16, or else UTF-8."""
    return "utf-16" if head.startswith(_OTHER_BOMS) else "utf-8"


def head_as_utf8(head: bytes) -> bytes:
    """Return the first bytes of a file as UTF-8."""
    if detect_encoding(head) == "utf-8":
        return head.removeprefix(codecs.BOM_UTF8)
    return head.decode("utf-16", errors="ignore").encode(errors="ignore")


def text_blocks(source: InputFile, encoding: str | None) -> Iterator[bytes]:
    """Iterate over the content in blocks of whole lines, as UTF-8."""
    if encoding is None:
        encoding = detect_encoding(source.head(4))
    try:
        "".encode(encoding)
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise ParameterError(
            f"The 'encoding' parameter of read_csv must be the name of an encoding. "
            f"Got {encoding!r} instead."
        ) from error
    n_lines = 0
    blocks = source.blocks() if name == "utf-8" else _recoded(source, encoding)
    for at, block in enumerate(blocks):
        if at == 0:
            block = block.removeprefix(codecs.BOM_UTF8)
        if not block.isascii():
            _check_utf8(source, block, n_lines)
        n_lines += block.count(b"\n")
        yield block


def iter_cells(source: InputFile, blocks: Iterator[bytes], delimiter: str) -> Iterator[Cells]:
    """Cut blocks of lines into cells."""
    n_columns = n_lines = 0
    rest = b""
    block = next(blocks, b"")
    while block:
        following = next(blocks, b"")
        cells, size, lines = split_block(
            source, rest + block, delimiter, n_columns, n_lines, at_end=not following
        )
        rest = (rest + block)[size:]
        if len(rest) > MOST_QUOTED:
            raise source.error(
                f"a quote opened here is not closed within {MOST_QUOTED >> 20} MB. Is one missing?",
                line=n_lines + lines + 1,
            )
        n_lines += lines
        n_columns = cells.n_columns
        if len(cells):
            yield cells
        block = following


def split_block(
    source: InputFile, block: bytes, delimiter: str, n_columns: int, n_lines: int, *, at_end: bool
) -> tuple[Cells, int, int]:
    """Cut one block into cells."""
    text = np.frombuffer(block, np.uint8)
    fault, line, column, found, size, places, marks, lines = k.split_rows(
        text, ord(delimiter), n_columns, at_end
    )
    if fault:
        raise _fault(source, fault, n_lines + line + 1, column, found)
    return Cells(source, text, places, marks, lines + n_lines + 1, found), size, line


def has_label_marks(names: Iterable[str]) -> bool:
    """Tell whether a header says itself which columns are labels."""
    return any(name.startswith(LABEL_MARK) or name == LABEL_LISTS_MARK for name in names)


def sniff_delimiter(source: InputFile, head: bytes) -> tuple[str, int]:
    """Find the character between cells: the one that cuts the first rows into equally many."""
    # One that shows the writer's own marks in the header is preferred, then the one that makes
    # most; but a comma is none if it stands before decimals only.
    sample = head[: head.rfind(b"\n") + 1] or head
    best, most, marked = ",", 0, False
    fallback, widest = ",", 1
    for delimiter in DELIMITERS:
        try:
            cells, _, _ = split_block(source, sample, delimiter, 0, 0, at_end=sample == head)
        except ReadError:
            first = sample.partition(b"\n")[0].count(delimiter.encode()) + 1
            if first > widest:
                fallback, widest = delimiter, first
            continue
        marks = len(cells) > 0 and has_label_marks(
            cells.cell(0, at) for at in range(cells.n_columns)
        )
        only_decimals = best == "," and cells.n_columns > 1 and _has_decimal_commas(cells)
        if (marks, cells.n_columns) > (marked, most) or only_decimals:
            best, most, marked = delimiter, cells.n_columns, marks
    return (best, most) if most > 1 or widest == 1 else (fallback, 0)


def sniff_decimal(cells: Cells, delimiter: str, lists: str | int | None = None) -> str:
    """Find what stands before decimals: a comma if numbers have commas and none has a point."""
    # The column `lists`, by name or number, is not looked at: commas may stand between its labels.
    if delimiter == ",":
        return "."
    others = {at for at in range(cells.n_columns) if lists not in (at, cells.cell(0, at))}
    has_commas = any(map(_WITH_COMMA.fullmatch, _sample(cells, ",", others)))
    has_points = any(map(_WITH_POINT.fullmatch, _sample(cells, ".", others)))
    return "," if has_commas and not has_points else "."


def _has_decimal_commas(cells: Cells) -> bool:
    """Tell whether there are commas, all of them before decimals."""
    texts = _sample(cells, ",", range(cells.n_columns))
    first = next(texts, "")
    return all(map(_WITH_COMMA.fullmatch, chain([first], texts)))


def _sample(cells: Cells, sign: str, columns: Container[int]) -> Iterator[str]:
    """Give those of the first cells, in some columns, that hold a sign."""
    n_rows = min(len(cells), 2 + _SAMPLE // cells.n_columns)
    starts, ends = cells.bounds[: n_rows * cells.n_columns].T
    n_before = np.concatenate([[0], np.cumsum(cells.text[: ends[-1]] == ord(sign), dtype=np.int32)])
    for at in np.flatnonzero(n_before[starts] < n_before[ends]).tolist():
        row, column = divmod(at, cells.n_columns)
        if column in columns:
            yield cells.cell(row, column)


def _fault(source: InputFile, fault: int, line: int, column: int, n_columns: int) -> ReadError:
    reasons = {
        k.RAGGED: f"expected {n_columns} values as in the first row, found {column}. Quote a value "
        "that holds the delimiter, or name another with delimiter=...",
        k.UNCLOSED: "a quote opened in this row is never closed. Close it, or double it if it is "
        "text.",
        k.AFTER_QUOTE: "text follows a closing quote. A quote inside a quoted value is written "
        "twice.",
    }
    place = None if fault == k.RAGGED else column + 1
    return source.error(reasons[fault], line=line, column=place)


def _check_utf8(source: InputFile, block: bytes, n_lines: int) -> None:
    try:
        block.decode()
    except UnicodeDecodeError as error:
        is_utf_16 = n_lines == 0 and detect_encoding(block) == "utf-16"
        raise source.error(
            f"byte 0x{block[error.start]:02x} is not UTF-8. Name the file's encoding, for instance "
            f"encoding={'utf-16' if is_utf_16 else 'latin-1'!r}, or convert it.",
            line=n_lines + block.count(b"\n", 0, error.start) + 1,
        ) from None


def _recoded(source: InputFile, encoding: str) -> Iterator[bytes]:
    """Decode a file and cut it into whole lines of UTF-8."""
    rest, n_lines = "", 0
    with source.open() as stream:
        try:
            for part in codecs.iterdecode(iter(partial(stream.read, BLOCK_BYTES), b""), encoding):
                *lines, rest = (rest + part).rpartition("\n")
                if block := "".join(lines).encode():
                    yield block
                n_lines += block.count(b"\n")
            if rest:
                yield rest.encode()
        except UnicodeError as error:
            raise source.error(
                f"this is not {encoding} ({error}). Name another encoding.", line=n_lines + 1
            ) from None
