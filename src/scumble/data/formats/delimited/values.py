"""Collects the values of the columns of a CSV file, block by block."""

import re
from collections.abc import Container
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, take_by_code
from scumble._core.errors import ReadError
from scumble._core.text import excerpt
from scumble._validation.frames import rank_strings
from scumble.data.feature import Feature
from scumble.data.formats.delimited.cells import SWAP_DECIMAL_MARKS, Cells
from scumble.data.formats.kernels import lists
from scumble.data.formats.kernels.csv import copy_cells, parse_flags, parse_numbers
from scumble.data.formats.kernels.numbers import exact_floats, slices_to_arrow
from scumble.data.infer.column_roles import ColumnPreview
from scumble.data.infer.feature_kinds import ROW_NUMBER_NAMES, are_row_numbers
from scumble.data.label_lists import (
    indicator_matrix,
    indptr_from_counts,
    label_matrix,
    split_labels,
    warn_about_empty_names,
)

#: A backslash with what it escapes.
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[\s\S]|$)")
#: The meaning of a character after a backslash; quotes, slash and backslash mean themselves.
_SIMPLE_ESCAPES = {
    **dict(zip("ntrbfav0", "\n\t\r\b\f\a\v\0", strict=True)),
    **{character: character for character in "\\'\"/"},
}


class TextCodes:
    """Assigns codes 0, 1, ... to texts in the order of their appearance.

    Attributes
    ----------
    codes : dict of str to int
        The codes of the texts so far.
    """

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def encode(self, texts: Any) -> Array:
        """Return the codes of the texts in an Arrow array; -1 where it is null."""
        coded = texts.dictionary_encode()
        codes = [self.encode_text(text) for text in coded.dictionary.to_pylist()]
        positions = coded.indices.fill_null(len(codes)).to_numpy()
        return np.array([*codes, -1], np.int64)[positions]

    def encode_text(self, text: str) -> int:
        """Return the code of one text."""
        return self.codes.setdefault(text, len(self.codes))


class FeatureColumns:
    """Columns that hold numbers, or text if a cell is not a number.

    Parameters
    ----------
    columns : list of int
        Numbers of the columns in the file. Positions below are indices into this list.
    text_columns : set of int
        Numbers of columns that hold text even where cells look like numbers.
    decimal : str
        The decimal mark.

    Attributes
    ----------
    column_flags : array of bool, shape (n_columns, 3)
        For each column whether it holds no text, only whole numbers, at least one number.
    texts : dict of int to TextCodes
        The codes of the texts of each text column, by position.
    late_text_columns : set of int
        Positions of columns whose first text stands in a later block: the file has to be read
        again with these as text columns.
    """

    def __init__(self, columns: list[int], text_columns: set[int], decimal: str) -> None:
        self.columns = np.array(columns, np.int64)
        self.decimal = decimal
        self.column_flags = np.tile(np.array([True, True, False]), (len(columns), 1))
        self.texts = {
            position: TextCodes()
            for position, column in enumerate(columns)
            if column in text_columns
        }
        self.column_flags[list(self.texts), 0] = False
        self.late_text_columns: set[int] = set()
        self.blocks: list[Array] = []

    def add(self, cells: Cells) -> Array:
        """Parse the columns of a block and return their values; texts become codes."""
        flags = self.column_flags.view(np.uint8)
        values, long_numbers = parse_numbers(cells, self.columns, flags, ord(self.decimal))
        if len(long_numbers):
            row, position, start, end = long_numbers.T
            text = cells.text
            if self.decimal != ".":
                text = np.frombuffer(text.tobytes().translate(SWAP_DECIMAL_MARKS), np.uint8)
            values[row, position] = exact_floats(text, start, end)
        for position in np.flatnonzero(~self.column_flags[:, 0]).tolist():
            if position not in self.texts and self.blocks:
                self.late_text_columns.add(position)
                continue
            data, offsets, is_missing = copy_cells(cells, self.columns[position])
            texts = arrow_strings(data, offsets, is_missing)
            codes = self.texts.setdefault(position, TextCodes()).encode(texts)
            values[:, position] = np.where(codes < 0, np.nan, codes)
        self.blocks.append(values)
        return values

    def matrix(self) -> tuple[Array, dict[int, tuple[str, ...]]]:
        """Return the values of all blocks, and the sorted categories of text columns."""
        blocks = self.blocks or [np.empty((0, len(self.columns)))]
        X = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        categories = {}
        for position, texts in self.texts.items():
            ranks, categories[position] = rank_strings(list(texts.codes))
            X[:, position] = take_by_code(ranks, X[:, position])
        return X, categories

    def describe(self, position: int, name: str, categories: dict[int, tuple[str, ...]]) -> Feature:
        """Return the feature that the cells of a column show, without any inference."""
        if position in categories:
            return Feature(name, "nominal", categories[position])
        _, is_integer, has_values = self.column_flags[position]
        return Feature(name, integer=bool(is_integer and has_values))


def preview_text_columns(
    rows: Cells, names: list[str] | None, decimal: str, list_columns: Container[int]
) -> list[ColumnPreview]:
    """Return a preview of every column from the first rows."""
    columns = FeatureColumns(list(range(rows.n_columns)), set(), decimal)
    if len(rows):
        columns.add(rows)
    X, categories = columns.matrix()
    previews = []
    for column, name in enumerate(names or [""] * rows.n_columns):
        feature = columns.describe(column, name, categories)
        may_number_rows = column == 0 and (not name or name.strip().lower() in ROW_NUMBER_NAMES)
        is_row_number = may_number_rows and feature.integer and are_row_numbers(X[:, column])
        previews.append(
            ColumnPreview(
                name,
                feature,
                X[:, column],
                is_list=column in list_columns,
                is_row_number=is_row_number,
            )
        )
    return previews


class LabelBlocks:
    """Labels of the rows of a file, collected block by block; messages call the file ``where``."""

    def __init__(self, where: str) -> None:
        self.where = where
        no_labels = np.empty(0, np.int32)
        self.counts: list[Array] = [no_labels]  # number of labels of each row
        self.labels: list[Array] = [no_labels]  # labels of all rows, one row after the other

    def joined(self) -> tuple[Array, Array]:
        """Return where the labels of each row begin, and the labels, of all blocks."""
        return indptr_from_counts(np.concatenate(self.counts)), np.concatenate(self.labels)


class BinaryLabelColumns(LabelBlocks):
    """Label columns of 0 and 1."""

    def __init__(self, where: str, columns: list[int], names: list[str] | None) -> None:
        super().__init__(where)
        self.columns = np.array(columns, np.int64)
        self.names = names

    def add(self, cells: Cells) -> None:
        """Parse the labels of a block."""
        row, position, present, counts = parse_flags(cells, self.columns)
        if row >= 0:
            raise self._cell_error(cells, row, position)
        self.counts.append(counts)
        self.labels.append(present.copy())

    def matrix(self) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
        """Return the label matrix of all blocks, and the names of its columns if there are any."""
        indptr, labels = self.joined()
        Y = indicator_matrix(indptr, labels, len(self.columns), self.where)
        return Y, None if self.names is None else tuple(self.names)

    def _cell_error(self, cells: Cells, row: int, position: int) -> ReadError:
        """Build the error for a cell that is neither 0 nor 1."""
        column = int(self.columns[position])
        text = cells.cell(row, column)
        name = f"label {self.names[position]!r}" if self.names else "label"
        problem = f"holds {excerpt(text)}" if text.strip() else "is missing"
        message = f"the {name} {problem}. Expected 0/1 or true/false."
        return cells.error(message, row, column)


class LabelListColumn(LabelBlocks):
    """One column of label lists."""

    def __init__(self, where: str, column: int, separator: str | None) -> None:
        super().__init__(where)
        self.column = column
        self.separator = separator
        self.names = TextCodes()
        self.n_empty_names = 0

    def add(self, cells: Cells) -> None:
        """Parse the labels of a block."""
        data, offsets, is_missing = copy_cells(cells, self.column)
        self._check_missing(cells, offsets, is_missing)
        if self.separator is not None:
            names, counts, n_empty = split_labels(arrow_strings(data, offsets), self.separator)
            codes = self.names.encode(names)
            self.n_empty_names += n_empty
        else:
            codes, counts = self._parse_lists(cells, data, offsets)
        self.counts.append(counts)
        self.labels.append(codes)

    def matrix(self) -> tuple[sparse.csr_array, tuple[str, ...]]:
        """Return the label matrix of all blocks, and the names of its columns."""
        warn_about_empty_names(self.n_empty_names, self.where)
        indptr, labels = self.joined()
        return label_matrix(indptr, labels, list(self.names.codes), self.where)

    def _parse_lists(self, cells: Cells, data: Array, offsets: Array) -> tuple[Array, Array]:
        """Parse lists as Python and JSON write them; return label codes and counts per row."""
        result = lists.parse_lists(data, offsets)
        if result.fault != lists.NO_FAULT:
            raise self._list_error(cells, result.cell, result.fault)
        starts, ends = result.bounds.T
        is_plain = ~result.has_escape
        codes = np.empty(len(starts), np.int64)
        codes[is_plain] = self.names.encode(slices_to_arrow(data, starts[is_plain], ends[is_plain]))
        for index in np.flatnonzero(~is_plain).tolist():
            text = data[starts[index] : ends[index]].tobytes().decode()
            try:
                codes[index] = self.names.encode_text(unescape(text))
            except ValueError as error:
                row = int(np.searchsorted(np.cumsum(result.counts), index, side="right"))
                message = f"{error} in the label {excerpt(text)}."
                raise cells.error(message, row, self.column) from None
        return codes, result.counts

    def _check_missing(self, cells: Cells, offsets: Any, is_missing: Any) -> None:
        """Raise an error for NA or ?, which does not mean that a row has no labels."""
        is_unknown = is_missing & (np.diff(offsets) > 0)
        if is_unknown.any():
            message = (
                "the labels are missing. Expected a list; leave the value empty for no labels."
            )
            raise cells.error(message, int(is_unknown.argmax()), self.column)

    def _list_error(self, cells: Cells, row: int, fault: int) -> ReadError:
        """Build the error for a cell that is not a label list."""
        reasons = {
            lists.NO_LIST: "expected a list of labels in brackets. If they are separated "
            f"otherwise, say what by: label_separator={self._likely_separator(cells)!r}.",
            lists.UNCLOSED: "the list of labels is not closed.",
            lists.NO_COMMA: "expected a comma between labels.",
            lists.NO_LABEL: "a label in the list is missing, or holds brackets without quotes.",
            lists.AFTER_LIST: "text follows the list of labels.",
        }
        text = excerpt(cells.cell(row, self.column))
        return cells.error(f"{reasons[fault]} Found {text}.", row, self.column)

    def _likely_separator(self, cells: Cells) -> str:
        """Return the most frequent of the usual separators in the label column."""
        text = copy_cells(cells, self.column)[0].tobytes()
        return max(";|,/", key=lambda character: text.count(character.encode()))


def arrow_strings(data: Array, offsets: Array, is_missing: Array | None = None) -> Any:
    """Return an Arrow array of the texts between ``offsets`` of ``data``, null where missing."""
    import pyarrow as pa

    validity = None
    if is_missing is not None and is_missing.any():
        validity = pa.py_buffer(np.packbits(~is_missing, bitorder="little"))
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def unescape(text: str) -> str:
    r"""Return a text with its backslash escapes replaced by the characters they stand for.

    Examples
    --------
    >>> from scumble.data.formats.delimited.values import unescape
    >>> unescape(r"it\'s \u00e9t\xe9")
    "it's été"
    """
    text = _ESCAPE.sub(_unescape_match, text)
    try:
        # JSON writes characters beyond U+FFFF as surrogate pairs.
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError("half a character") from None


def _unescape_match(match: re.Match[str]) -> str:
    """Return the character that an escape stands for."""
    code = match[0][1:]
    if len(code) > 1:
        number = int(code[1:], 16)
        if number > 0x10FFFF:
            raise ValueError(f"no character has the number {code[1:]}")
        return chr(number)
    if code not in _SIMPLE_ESCAPES:
        raise ValueError(f"unknown escape \\{code}")
    return _SIMPLE_ESCAPES[code]
