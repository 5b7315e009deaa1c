"""Collects the values of the columns of a CSV file, block by block.

Each class has ``add``, which parses the cells of a block, and ``matrix``, which returns the values
of all blocks.
"""

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
    indptr_from_counts,
    label_indicator_matrix,
    sorted_label_matrix,
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
        """Begin without any text."""
        self.codes: dict[str, int] = {}

    def encode(self, texts: Any) -> Array:
        """Return the codes of the texts in an Arrow array, -1 for null; new texts get new codes."""
        encoded = texts.dictionary_encode()
        codes = [self.encode_text(text) for text in encoded.dictionary.to_pylist()]
        indices = encoded.indices.fill_null(len(codes)).to_numpy()
        return np.array([*codes, -1], np.int64)[indices]

    def encode_text(self, text: str) -> int:
        """Return the code of a text; a new text gets a new code."""
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
    is_numeric, is_integer, has_values : ndarray of bool, shape (n_columns,)
        Whether each column holds no text so far, only whole numbers, at least one number. They are
        views of one array, which the compiled parser updates.
    texts : dict of int to TextCodes
        The codes of the texts of each text column, by position.
    late_text_columns : set of int
        Positions of columns whose first text is in a later block: the file has to be read
        again with these as text columns.
    """

    def __init__(self, columns: list[int], text_columns: set[int], decimal: str) -> None:
        """Begin without any rows."""
        self.columns = np.array(columns, np.int64)
        self.decimal = decimal
        self._column_flags = np.tile(np.array([True, True, False]), (len(columns), 1))
        self.is_numeric, self.is_integer, self.has_values = self._column_flags.T
        self.texts = {
            position: TextCodes()
            for position, column in enumerate(columns)
            if column in text_columns
        }
        self.is_numeric[list(self.texts)] = False
        self.late_text_columns: set[int] = set()
        self.blocks: list[Array] = []

    def add(self, cells: Cells) -> Array:
        """Parse the columns of a block, store their values and return them.

        The values have shape (n_rows, n_columns). Texts become codes, missing values NaN. Columns
        that turn out to hold text after the first block are added to ``late_text_columns``.
        """
        flags = self._column_flags.view(np.uint8)
        values, long_numbers = parse_numbers(cells, self.columns, flags, ord(self.decimal))
        if len(long_numbers):
            row, position, start, end = long_numbers.T
            text = cells.text
            if self.decimal != ".":
                text = np.frombuffer(text.tobytes().translate(SWAP_DECIMAL_MARKS), np.uint8)
            values[row, position] = exact_floats(text, start, end)
        for position in np.flatnonzero(~self.is_numeric).tolist():
            if position not in self.texts and self.blocks:
                self.late_text_columns.add(position)
                continue
            copied = copy_cells(cells, self.columns[position])
            texts = arrow_strings(copied.data, copied.offsets, copied.is_missing)
            codes = self.texts.setdefault(position, TextCodes()).encode(texts)
            values[:, position] = np.where(codes < 0, np.nan, codes)
        self.blocks.append(values)
        return values

    def matrix(self) -> tuple[Array, dict[int, tuple[str, ...]]]:
        """Return the values of all blocks, and the sorted texts of each text column, by position.

        The values have shape (n_rows, n_columns); codes are indices into the sorted texts.
        """
        blocks = self.blocks or [np.empty((0, len(self.columns)))]
        X = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        categories = {}
        for position, texts in self.texts.items():
            ranks, categories[position] = rank_strings(list(texts.codes))
            X[:, position] = take_by_code(ranks, X[:, position])
        return X, categories

    def make_feature(
        self, position: int, name: str, categories: dict[int, tuple[str, ...]]
    ) -> Feature:
        """Return the `Feature` of a column: nominal if it holds text, otherwise numeric.

        ``categories`` is the second result of `matrix`.
        """
        if position in categories:
            return Feature(name, "nominal", categories[position])
        holds_integers = self.is_integer[position] and self.has_values[position]
        return Feature(name, integer=bool(holds_integers))


def preview_text_columns(
    rows: Cells, names: list[str] | None, decimal: str, list_columns: Container[int]
) -> list[ColumnPreview]:
    """Return a `ColumnPreview` of every column, from the cells of the first rows.

    ``names`` are the names of all columns, None without a header; ``decimal`` is the decimal mark;
    ``list_columns`` are the columns whose cells are lists in brackets. Only the first column can
    hold row numbers: if it has no name, or one of `ROW_NUMBER_NAMES`.
    """
    columns = FeatureColumns(list(range(rows.n_columns)), set(), decimal)
    if len(rows):
        columns.add(rows)
    X, categories = columns.matrix()
    previews = []
    for column, name in enumerate(names or [""] * rows.n_columns):
        feature = columns.make_feature(column, name, categories)
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
    """Labels of the rows of a file, collected block by block.

    Attributes
    ----------
    input_name : str
        The text by which messages call the file.
    counts : list of arrays of int
        For each block, the number of labels of each row.
    labels : list of arrays of int
        For each block, the labels of its rows, one row after the other.
    """

    def __init__(self, input_name: str) -> None:
        """Begin without any rows."""
        self.input_name = input_name
        no_labels = np.empty(0, np.int32)
        self.counts: list[Array] = [no_labels]
        self.labels: list[Array] = [no_labels]

    def concatenate(self) -> tuple[Array, Array]:
        """Return ``indptr`` and ``labels`` of all rows.

        ``labels[indptr[i]:indptr[i + 1]]`` are the labels of row i.
        """
        return indptr_from_counts(np.concatenate(self.counts)), np.concatenate(self.labels)


class BinaryLabelColumns(LabelBlocks):
    """Label columns of 0 and 1.

    ``columns`` are their numbers in the file and ``names`` their names, None without a header.
    """

    def __init__(self, columns: list[int], names: list[str] | None, *, input_name: str) -> None:
        """Begin without any rows."""
        super().__init__(input_name)
        self.columns = np.array(columns, np.int64)
        self.names = names

    def add(self, cells: Cells) -> None:
        """Parse and store the labels of a block; raise ReadError for a cell that is not 0 or 1."""
        flags = parse_flags(cells, self.columns)
        if flags.invalid_row >= 0:
            raise self._cell_error(cells, flags.invalid_row, flags.invalid_position)
        self.counts.append(flags.counts)
        self.labels.append(flags.present.copy())

    def matrix(self) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
        """Return the label matrix of all blocks, and the names of its columns or None."""
        indptr, labels = self.concatenate()
        Y = label_indicator_matrix(indptr, labels, len(self.columns), input_name=self.input_name)
        return Y, None if self.names is None else tuple(self.names)

    def _cell_error(self, cells: Cells, row: int, position: int) -> ReadError:
        """Return the error for a cell that is neither 0 nor 1, in the column at a position."""
        column = int(self.columns[position])
        text = cells.cell(row, column)
        name = f"label {self.names[position]!r}" if self.names else "label"
        problem = f"holds {excerpt(text)}" if text.strip() else "is missing"
        message = f"the {name} {problem}. Expected 0/1 or true/false."
        return cells.error(message, row, column)


class LabelListColumn(LabelBlocks):
    """One column of label lists.

    ``column`` is its number in the file. ``separator`` stands between the labels of a cell; None:
    cells are lists in brackets.
    """

    def __init__(self, column: int, separator: str | None, *, input_name: str) -> None:
        """Begin without any rows."""
        super().__init__(input_name)
        self.column = column
        self.separator = separator
        self.names = TextCodes()
        self.n_empty_names = 0

    def add(self, cells: Cells) -> None:
        """Parse and store the labels of a block; raise ReadError for a cell that is not a list."""
        copied = copy_cells(cells, self.column)
        self._check_missing(cells, copied.offsets, copied.is_missing)
        if self.separator is not None:
            split = split_labels(arrow_strings(copied.data, copied.offsets), self.separator)
            codes = self.names.encode(split.names)
            counts = split.counts
            self.n_empty_names += split.n_empty
        else:
            codes, counts = self._parse_lists(cells, copied.data, copied.offsets)
        self.counts.append(counts)
        self.labels.append(codes)

    def matrix(self) -> tuple[sparse.csr_array, tuple[str, ...]]:
        """Return the label matrix of all blocks, and the names of its columns, in `label_order`."""
        warn_about_empty_names(self.n_empty_names, input_name=self.input_name)
        indptr, labels = self.concatenate()
        return sorted_label_matrix(
            indptr, labels, list(self.names.codes), input_name=self.input_name
        )

    def _parse_lists(self, cells: Cells, data: Array, offsets: Array) -> tuple[Array, Array]:
        """Parse lists as Python and JSON write them; return all label codes, and counts per row.

        The text of row i is ``data[offsets[i]:offsets[i + 1]]``.
        """
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
        """Raise ReadError for a cell NA or ?, which does not mean that a row has no labels.

        An empty cell does. ``offsets`` and ``is_missing`` are those of `copy_cells`.
        """
        is_unknown = is_missing & (np.diff(offsets) > 0)
        if is_unknown.any():
            message = (
                "the labels are missing. Expected a list; leave the value empty for no labels."
            )
            raise cells.error(message, int(is_unknown.argmax()), self.column)

    def _list_error(self, cells: Cells, row: int, fault: int) -> ReadError:
        """Return the error for a cell that is not a label list; ``fault`` is the kernel's."""
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
        """Return the most frequent of the characters ``;|,/`` in the label column."""
        text = copy_cells(cells, self.column).data.tobytes()
        return max(";|,/", key=lambda character: text.count(character.encode()))


def arrow_strings(data: Array, offsets: Array, is_missing: Array | None = None) -> Any:
    """Return an Arrow array of texts: item i is ``data[offsets[i]:offsets[i + 1]]``, or null.

    ``is_missing`` says which items are null; None: none of them.
    """
    import pyarrow as pa

    validity = None
    if is_missing is not None and is_missing.any():
        validity = pa.py_buffer(np.packbits(~is_missing, bitorder="little"))
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def unescape(text: str) -> str:
    r"""Return a text with its backslash escapes replaced by the characters they stand for.

    Raise ValueError for an unknown escape.

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
    """Return the character that a match of `_ESCAPE` stands for; raise ValueError if unknown."""
    code = match[0][1:]
    if len(code) > 1:
        number = int(code[1:], 16)
        if number > 0x10FFFF:
            raise ValueError(f"no character has the number {code[1:]}")
        return chr(number)
    if code not in _SIMPLE_ESCAPES:
        raise ValueError(f"unknown escape \\{code}")
    return _SIMPLE_ESCAPES[code]
