"""Splits text into rows and cells, block by block."""

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
from scumble.data.formats.kernels import csv as kernel

DELIMITERS = ",;\t|"
# The writer marks columns in the header, so that a reader recognises the labels.
LABEL_MARK = "label:"
LABEL_LISTS_MARK = "labels:"
FEATURE_MARK = "feature:"
WEIGHT_MARK = "weight:"
HEADER_MARKS = (LABEL_MARK, LABEL_LISTS_MARK, FEATURE_MARK, WEIGHT_MARK)
#: Bytes of a row with an open quote; a longer row has lost its closing quote.
MAX_QUOTED_BYTES = 64 << 20
#: Swaps points and commas, for files with decimal commas.
SWAP_DECIMAL_MARKS = bytes.maketrans(b".,", b",.")
#: Cells that are inspected for decimal commas; enough to find one, few enough to cost nothing.
_N_SAMPLED_CELLS = 10_000
_NUMBER_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
_NUMBER_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
_UTF_16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass
class Cells:
    """The rows of one block.

    Attributes
    ----------
    source : InputFile
        The file, for error messages.
    text : array of uint8
        The bytes of the block, as UTF-8.
    bounds : array of shape (n_rows * n_columns, 2)
        Start and end of each cell in ``text``, row by row.
    quoting : array of uint8
        For each cell ``PLAIN``, ``QUOTED`` or ``DOUBLED``, see the kernel.
    lines : array of int
        The line number of each row.
    n_columns : int
        The number of cells in each row.
    """

    source: InputFile
    text: Array
    bounds: Array
    quoting: Array
    lines: Array
    n_columns: int

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, rows: slice) -> Cells:
        """Return consecutive rows."""
        start, stop, _ = rows.indices(len(self))
        cells = slice(start * self.n_columns, stop * self.n_columns)
        return Cells(
            source=self.source,
            text=self.text,
            bounds=self.bounds[cells],
            quoting=self.quoting[cells],
            lines=self.lines[rows],
            n_columns=self.n_columns,
        )

    def cell(self, row: int, column: int) -> str:
        """Return the text of one cell."""
        # Blocks of a reader are valid UTF-8; the head of a file that is sniffed need not be.
        index = row * self.n_columns + column
        start, end = self.bounds[index]
        text = self.text[start:end].tobytes().decode(errors="replace")
        if self.quoting[index] == kernel.DOUBLED:
            return text.replace('""', '"')
        return text

    def error(self, message: str, row: int, column: int) -> ReadError:
        """Build an error that names the position of a cell in the file."""
        return self.source.error(message, line=int(self.lines[row]), column=column + 1)


def detect_encoding(head: bytes) -> str:
    """Return the encoding of a file by its first bytes: UTF-16 as Excel writes it, or UTF-8."""
    return "utf-16" if head.startswith(_UTF_16_BOMS) else "utf-8"


def head_as_utf8(head: bytes) -> bytes:
    """Return the first bytes of a file as UTF-8."""
    if detect_encoding(head) == "utf-8":
        return head.removeprefix(codecs.BOM_UTF8)
    return head.decode("utf-16", errors="ignore").encode(errors="ignore")


def text_blocks(source: InputFile, encoding: str | None) -> Iterator[bytes]:
    """Yield the content in blocks of whole lines, as UTF-8."""
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
    blocks = source.blocks() if name == "utf-8" else _recoded_blocks(source, encoding)
    for number, block in enumerate(blocks):
        if number == 0:
            block = block.removeprefix(codecs.BOM_UTF8)
        if not block.isascii():
            _check_utf8(source, block, n_lines)
        n_lines += block.count(b"\n")
        yield block


def iter_cells(source: InputFile, blocks: Iterator[bytes], delimiter: str) -> Iterator[Cells]:
    """Split blocks of lines into cells."""
    n_columns = n_lines = 0
    unread = b""  # the beginning of a row whose quote ends in a later block
    block = next(blocks, b"")
    while block:
        next_block = next(blocks, b"")
        content = unread + block
        cells, n_bytes, n_block_lines = split_block(
            source, content, delimiter, n_columns, n_lines, at_end=not next_block
        )
        unread = content[n_bytes:]
        n_lines += n_block_lines
        if len(unread) > MAX_QUOTED_BYTES:
            raise source.error(
                f"a quote opened here is not closed within {MAX_QUOTED_BYTES >> 20} MB. Is one "
                "missing?",
                line=n_lines + 1,
            )
        n_columns = cells.n_columns
        if len(cells):
            yield cells
        block = next_block


def split_block(
    source: InputFile, block: bytes, delimiter: str, n_columns: int, n_lines: int, *, at_end: bool
) -> tuple[Cells, int, int]:
    """Split one block into cells; return them and the numbers of bytes and lines that were read.

    ``n_columns`` is that of earlier rows (0 if there are none), ``n_lines`` the number of earlier
    lines; ``at_end`` says that no block follows.
    """
    text = np.frombuffer(block, np.uint8)
    result = kernel.split_rows(text, ord(delimiter), n_columns, at_end)
    if result.fault:
        raise _row_error(
            source,
            result.fault,
            line=n_lines + result.n_lines + 1,
            n_cells=result.n_last_cells,
            n_columns=result.n_columns,
        )
    cells = Cells(
        source=source,
        text=text,
        bounds=result.bounds,
        quoting=result.quoting,
        lines=result.lines + n_lines + 1,
        n_columns=result.n_columns,
    )
    return cells, result.n_bytes, result.n_lines


def has_label_marks(names: Iterable[str]) -> bool:
    """Return whether a header marks its label columns."""
    return any(name.startswith(LABEL_MARK) or name == LABEL_LISTS_MARK for name in names)


def sniff_delimiter(source: InputFile, head: bytes) -> tuple[str, int]:
    """Find the character between cells; return it and the number of columns.

    It splits the first rows into equally many cells. The number of columns is 0 if no character
    does.
    """
    # A delimiter with which the header has label marks is preferred, then the one with the most
    # columns. A comma is not a delimiter if all commas are decimal commas.
    sample = head[: head.rfind(b"\n") + 1] or head
    best = ","
    best_n_columns = 0
    best_has_marks = False
    fallback = ","
    fallback_n_columns = 1
    for delimiter in DELIMITERS:
        try:
            cells, _, _ = split_block(source, sample, delimiter, 0, 0, at_end=sample == head)
        except ReadError:
            n_columns = sample.partition(b"\n")[0].count(delimiter.encode()) + 1
            if n_columns > fallback_n_columns:
                fallback = delimiter
                fallback_n_columns = n_columns
            continue
        n_columns = cells.n_columns
        has_marks = len(cells) > 0 and has_label_marks(
            cells.cell(0, column) for column in range(n_columns)
        )
        replaces_decimal_comma = best == "," and n_columns > 1 and _has_only_decimal_commas(cells)
        if (has_marks, n_columns) > (best_has_marks, best_n_columns) or replaces_decimal_comma:
            best = delimiter
            best_n_columns = n_columns
            best_has_marks = has_marks
    if best_n_columns > 1 or fallback_n_columns == 1:
        return best, best_n_columns
    return fallback, 0


def sniff_decimal(cells: Cells, delimiter: str, list_column: str | int | None = None) -> str:
    """Return the decimal mark: a comma if numbers have commas and none has a point."""
    # The label list column, by name or number, is left out: commas may separate its labels.
    if delimiter == ",":
        return "."
    columns = {
        column
        for column in range(cells.n_columns)
        if list_column not in (column, cells.cell(0, column))
    }
    has_commas = any(map(_NUMBER_WITH_COMMA.fullmatch, _cells_with(cells, ",", columns)))
    has_points = any(map(_NUMBER_WITH_POINT.fullmatch, _cells_with(cells, ".", columns)))
    return "," if has_commas and not has_points else "."


def _has_only_decimal_commas(cells: Cells) -> bool:
    """Return whether the cells have commas and all of them are decimal commas."""
    texts = _cells_with(cells, ",", range(cells.n_columns))
    first = next(texts, "")
    return all(map(_NUMBER_WITH_COMMA.fullmatch, chain([first], texts)))


def _cells_with(cells: Cells, character: str, columns: Container[int]) -> Iterator[str]:
    """Yield the texts of the first cells, in some columns, that contain a character."""
    n_rows = min(len(cells), 2 + _N_SAMPLED_CELLS // cells.n_columns)
    starts, ends = cells.bounds[: n_rows * cells.n_columns].T
    is_character = cells.text[: ends[-1]] == ord(character)
    n_before = np.concatenate([[0], np.cumsum(is_character, dtype=np.int32)])
    for index in np.flatnonzero(n_before[starts] < n_before[ends]).tolist():
        row, column = divmod(index, cells.n_columns)
        if column in columns:
            yield cells.cell(row, column)


def _row_error(
    source: InputFile, fault: int, *, line: int, n_cells: int, n_columns: int
) -> ReadError:
    """Build the error for a row that cannot be split; ``n_cells`` were read in it."""
    reasons = {
        kernel.RAGGED: (
            f"expected {n_columns} values as in the first row, found {n_cells}. Quote a value "
            "that holds the delimiter, or name another with delimiter=..."
        ),
        kernel.UNCLOSED: (
            "a quote opened in this row is never closed. Close it, or double it if it is text."
        ),
        kernel.AFTER_QUOTE: (
            "text follows a closing quote. A quote inside a quoted value is written twice."
        ),
    }
    column = None if fault == kernel.RAGGED else n_cells + 1
    return source.error(reasons[fault], line=line, column=column)


def _check_utf8(source: InputFile, block: bytes, n_lines: int) -> None:
    """Raise an error if a block is not UTF-8; ``n_lines`` lines come before it."""
    try:
        block.decode()
    except UnicodeDecodeError as error:
        is_utf_16 = n_lines == 0 and detect_encoding(block) == "utf-16"
        example = "utf-16" if is_utf_16 else "latin-1"
        raise source.error(
            f"byte 0x{block[error.start]:02x} is not UTF-8. Name the file's encoding, for instance "
            f"encoding={example!r}, or convert it.",
            line=n_lines + block.count(b"\n", 0, error.start) + 1,
        ) from None


def _recoded_blocks(source: InputFile, encoding: str) -> Iterator[bytes]:
    """Decode a file and yield blocks of whole lines as UTF-8."""
    last_line = ""
    n_lines = 0
    with source.open() as stream:
        parts = iter(partial(stream.read, BLOCK_BYTES), b"")
        try:
            for part in codecs.iterdecode(parts, encoding):
                lines, line_end, last_line = (last_line + part).rpartition("\n")
                block = (lines + line_end).encode()
                if block:
                    yield block
                n_lines += block.count(b"\n")
            if last_line:
                yield last_line.encode()
        except UnicodeError as error:
            raise source.error(
                f"this is not {encoding} ({error}). Name another encoding.", line=n_lines + 1
            ) from None
