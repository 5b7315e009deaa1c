"""Splits text into rows and cells, block by block.

A *cell* is the text between two delimiters; a *block* is a part of a file that consists of whole
lines. A file is read in blocks so that its text is never in memory completely.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ReadError
from scumble._core.files import BLOCK_BYTES, InputFile
from scumble.data.formats.kernels import csv as kernel

#: The characters that a reader takes for delimiters without being told so.
DELIMITERS = ",;\t|"
#: Bytes of a file from which the delimiter is found: enough rows to see how many columns it has.
DELIMITER_SAMPLE_BYTES = 65536
# The writer marks columns in the header, so that a reader recognises the labels.
LABEL_MARK = "label:"
LABEL_LISTS_MARK = "labels:"
FEATURE_MARK = "feature:"
WEIGHT_MARK = "weight:"
HEADER_MARKS = (LABEL_MARK, LABEL_LISTS_MARK, FEATURE_MARK, WEIGHT_MARK)
#: Largest row with a quoted cell that continues in the next block, in bytes; a longer one has
#: certainly lost its closing quote.
MAX_QUOTED_BYTES = 64 << 20
#: Swaps points and commas, for files with decimal commas.
SWAP_DECIMAL_MARKS = bytes.maketrans(b".,", b",.")
#: Number of cells that are inspected for decimal commas: enough to find one, few enough to take no
#: noticeable time.
_N_SAMPLED_CELLS = 10_000
_NUMBER_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
_NUMBER_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
_UTF_16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass
class Cells:
    """The cells of consecutive rows of a table; ``len()`` is the number of rows.

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
        """Return the number of rows."""
        return len(self.lines)

    def __getitem__(self, rows: slice) -> Cells:
        """Return the cells of a slice of rows with step 1; the arrays are views."""
        start, stop, _ = rows.indices(len(self))
        cell_slice = slice(start * self.n_columns, stop * self.n_columns)
        return Cells(
            source=self.source,
            text=self.text,
            bounds=self.bounds[cell_slice],
            quoting=self.quoting[cell_slice],
            lines=self.lines[rows],
            n_columns=self.n_columns,
        )

    def cell(self, row: int, column: int) -> str:
        """Return the text of a cell, without quotes around it and with "" replaced by "."""
        # Blocks of a reader are valid UTF-8; the beginning of a file need not be.
        index = row * self.n_columns + column
        start, end = self.bounds[index]
        text = self.text[start:end].tobytes().decode(errors="replace")
        if self.quoting[index] == kernel.DOUBLED:
            return text.replace('""', '"')
        return text

    def error(self, message: str, row: int, column: int) -> ReadError:
        """Return an error that names the line and the column of a cell in the file."""
        return self.source.error(message, line=int(self.lines[row]), column=column + 1)


def detect_encoding(head: bytes) -> str:
    """Return "utf-16" if a file begins with a UTF-16 byte order mark, as Excel writes it.

    Return "utf-8" for any other file; ``head`` are its first bytes.
    """
    return "utf-16" if head.startswith(_UTF_16_BOMS) else "utf-8"


def head_as_utf8(head: bytes) -> bytes:
    """Return the first bytes of a file, recoded as UTF-8 and without a byte order mark."""
    if detect_encoding(head) == "utf-8":
        return head.removeprefix(codecs.BOM_UTF8)
    return head.decode("utf-16", errors="ignore").encode(errors="ignore")


def text_blocks(source: InputFile, encoding: str | None) -> Iterator[bytes]:
    """Yield the content of a file in blocks of whole lines, recoded as UTF-8.

    ``encoding`` is the encoding of the file; None: that of its byte order mark, or UTF-8. Raise
    ParameterError for an unknown encoding, and ReadError for bytes that cannot be decoded.
    """
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
    """Split blocks of whole lines into cells; yield the `Cells` of each block that has rows.

    Raise ReadError for a row with another number of cells than the first one, or a wrong quote.
    """
    n_columns = 0
    n_lines = 0
    unread = b""  # the beginning of a row whose quote ends in a later block
    block = next(blocks, b"")
    while block:
        next_block = next(blocks, b"")
        content = unread + block
        split = split_block(
            source,
            content,
            delimiter,
            n_columns=n_columns,
            n_lines=n_lines,
            at_end=not next_block,
        )
        cells = split.cells
        unread = content[split.n_bytes :]
        n_lines += split.n_lines
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


class SplitBlock(NamedTuple):
    """The cells of a block, and how much of the block they take."""

    cells: Cells
    n_bytes: int  # fewer than the block has if its last row continues in the next block
    n_lines: int


def split_block(
    source: InputFile,
    block: bytes,
    delimiter: str,
    *,
    n_columns: int = 0,
    n_lines: int = 0,
    at_end: bool,
) -> SplitBlock:
    """Split a block into cells; raise ReadError for a row that cannot be split.

    ``n_columns`` is the number of cells of earlier rows, 0 if there are none; ``n_lines`` is the
    number of earlier lines of the file. ``at_end`` says that no block follows: otherwise a last row
    whose quote is still open is left to the next block.
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
    return SplitBlock(cells, n_bytes=result.n_bytes, n_lines=result.n_lines)


def has_label_marks(names: Iterable[str]) -> bool:
    """Return whether one of the names in a header has a mark of this package for labels."""
    return any(name.startswith(LABEL_MARK) or name == LABEL_LISTS_MARK for name in names)


class SniffedDelimiter(NamedTuple):
    """The likely delimiter of a table, and the number of its columns.

    The number is 0 if no character splits all rows into equally many cells.
    """

    delimiter: str
    n_columns: int


def sniff_delimiter(source: InputFile, head: bytes) -> SniffedDelimiter:
    """Return the delimiter of `DELIMITERS` that fits best to ``head``, the first bytes of a table.

    A delimiter with which the header has marks for labels is preferred, then the one with the
    largest number of columns. A comma is not a delimiter if all commas are decimal commas.
    """
    sample = head[: head.rfind(b"\n") + 1] or head
    best = ","
    best_n_columns = 0
    best_has_marks = False
    fallback = ","
    fallback_n_columns = 1
    for delimiter in DELIMITERS:
        try:
            cells = split_block(source, sample, delimiter, at_end=sample == head).cells
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
        return SniffedDelimiter(best, best_n_columns)
    return SniffedDelimiter(fallback, 0)


def sniff_decimal(cells: Cells, delimiter: str, list_column: str | int | None = None) -> str:
    """Return the decimal mark: "," if some numbers have a comma and none has a point, else ".".

    ``list_column``, by name or number, is the column of label lists. It is not inspected, because
    commas may separate its labels.
    """
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
    """Return whether some cells have commas, and all commas are decimal commas of numbers."""
    texts = _cells_with(cells, ",", range(cells.n_columns))
    first = next(texts, "")
    return all(map(_NUMBER_WITH_COMMA.fullmatch, chain([first], texts)))


def _cells_with(cells: Cells, character: str, columns: Container[int]) -> Iterator[str]:
    """Yield the texts of cells in ``columns`` that contain an ASCII character.

    Only the first rows are inspected, with about `_N_SAMPLED_CELLS` cells.
    """
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
    """Return the error for a row that cannot be split, after a fault of the kernel.

    ``n_cells`` is the number of its cells that were read, ``n_columns`` that of the other rows.
    """
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
    """Raise ReadError if a block is not UTF-8; ``n_lines`` lines of the file come before it."""
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
    """Yield the content of a file in blocks of whole lines, recoded from ``encoding`` as UTF-8."""
    last_line = ""  # its end is in a later block
    n_lines = 0
    with source.open() as stream:
        encoded_texts = iter(partial(stream.read, BLOCK_BYTES), b"")
        try:
            for text in codecs.iterdecode(encoded_texts, encoding):
                lines, line_end, last_line = (last_line + text).rpartition("\n")
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
