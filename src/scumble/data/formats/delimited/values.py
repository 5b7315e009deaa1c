"""The values of a CSV file's columns, gathered block by block."""

import re
from collections.abc import Container
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, take_by_code
from scumble._core.errors import ReadError
from scumble._core.frames import rank_strings
from scumble._core.text import excerpt
from scumble.data.column_roles import ColumnPreview
from scumble.data.feature import Feature
from scumble.data.feature_kinds import ROW_NUMBER_NAMES, are_row_numbers
from scumble.data.formats.delimited.cells import SWAP_DECIMAL_MARKS, Cells
from scumble.data.formats.kernels import lists
from scumble.data.formats.kernels.csv import copy_cells, parse_flags, parse_numbers
from scumble.data.formats.kernels.numbers import exact_floats, slices_to_arrow
from scumble.data.label_lists import (
    indicator_matrix,
    indptr_from_counts,
    label_matrix,
    split_labels,
    warn_about_empty_names,
)

_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[\s\S]|$)")
#: What a letter after a backslash means; a sign means itself.
_SHORT = dict(zip("ntrbfav0", "\n\t\r\b\f\a\v\0", strict=True)) | {sign: sign for sign in "\\'\"/"}


class Texts:
    """Numbers for texts, in the order of their appearance."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}  # of the texts so far

    def number(self, texts: Any) -> Array:
        """Give the numbers of the texts in an Arrow array; -1 where it is null."""
        coded = texts.dictionary_encode()
        known = [self.of(text) for text in coded.dictionary.to_pylist()]
        codes = coded.indices.fill_null(len(known)).to_numpy()
        return np.array([*known, -1], np.int64)[codes]

    def of(self, text: str) -> int:
        """Give the number of one text."""
        return self.numbers.setdefault(text, len(self.numbers))


class FeatureColumns:
    """Columns of numbers, or of text where a cell is no number."""

    def __init__(self, columns: list[int], texts: set[int], decimal: str) -> None:
        self.columns, self.decimal = np.array(columns, np.int64), decimal
        # Holds no text; holds whole numbers only; holds any number.
        self.column_flags = np.tile(np.array([True, True, False]), (len(columns), 1))
        self.texts = {k: Texts() for k, column in enumerate(columns) if column in texts}
        self.column_flags[list(self.texts), 0] = False
        self.late_text_columns: set[int] = set()
        self.blocks: list[Array] = []

    def add(self, cells: Cells) -> Array:
        """Read a block; a column that turns out to hold text too late is noted in ``late``."""
        state = self.column_flags.view(np.uint8)
        values, long_at = parse_numbers(cells, self.columns, state, ord(self.decimal))
        if len(long_at):
            row, k, start, end = long_at.T
            text = cells.text
            if self.decimal != ".":
                text = np.frombuffer(text.tobytes().translate(SWAP_DECIMAL_MARKS), np.uint8)
            values[row, k] = exact_floats(text, start, end)
        for k in np.flatnonzero(~self.column_flags[:, 0]).tolist():
            if k not in self.texts and self.blocks:
                self.late_text_columns.add(k)
            else:
                texts = strings(*copy_cells(cells, self.columns[k]))
                codes = self.texts.setdefault(k, Texts()).number(texts)
                values[:, k] = np.where(codes < 0, np.nan, codes)
        self.blocks.append(values)
        return values

    def matrix(self) -> tuple[Array, dict[int, tuple[str, ...]]]:
        """Join all blocks."""
        blocks = self.blocks or [np.empty((0, len(self.columns)))]
        X = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        categories = {}
        for k, texts in self.texts.items():
            rank, categories[k] = rank_strings(list(texts.numbers))
            X[:, k] = take_by_code(rank, X[:, k])
        return X, categories

    def describe(self, k: int, name: str, categories: dict[int, tuple[str, ...]]) -> Feature:
        """Say what the k-th column holds by its cells alone."""
        if k in categories:
            return Feature(name, "nominal", categories[k])
        _, is_whole, has_values = self.column_flags[k]
        return Feature(name, integer=bool(is_whole and has_values))


def preview_text_columns(
    rows: Cells, names: list[str] | None, decimal: str, lists: Container[int]
) -> list[ColumnPreview]:
    """Read the first rows of all columns, of which some hold lists."""
    columns = FeatureColumns(list(range(rows.n_columns)), set(), decimal)
    if len(rows):
        columns.add(rows)
    X, categories = columns.matrix()
    heads = []
    for at, name in enumerate(names or [""] * rows.n_columns):
        feature = columns.describe(at, name, categories)
        may_number = at == 0 and (not name or name.strip().lower() in ROW_NUMBER_NAMES)
        numbers = may_number and feature.integer and are_row_numbers(X[:, at])
        heads.append(
            ColumnPreview(name, feature, X[:, at], is_list=at in lists, is_row_number=numbers)
        )
    return heads


class Labels:
    """Labels of the rows of a file, which messages call ``where``."""

    def __init__(self, where: str) -> None:
        self.where = where
        none = np.empty(0, np.int32)
        self.parts: list[tuple[Array, Array]] = [(none, none)]  # each row's count, and the labels

    def joined(self) -> tuple[Array, Array]:
        """Join all blocks: where the labels of each row begin, and the labels."""
        counts, labels = map(np.concatenate, zip(*self.parts, strict=True))
        return indptr_from_counts(counts), labels


class BinaryLabelColumns(Labels):
    """Columns of 0 and 1."""

    def __init__(self, where: str, columns: list[int], names: list[str] | None) -> None:
        super().__init__(where)
        self.columns, self.names = np.array(columns, np.int64), names

    def add(self, cells: Cells) -> None:
        """Read a block."""
        row, k, present, counts = parse_flags(cells, self.columns)
        if row >= 0:
            raise self._fault(cells, row, k)
        self.parts.append((counts, present.copy()))

    def matrix(self) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
        """Join all blocks into a label matrix with its names."""
        Y = indicator_matrix(*self.joined(), len(self.columns), self.where)
        return Y, None if self.names is None else tuple(self.names)

    def _fault(self, cells: Cells, row: int, k: int) -> ReadError:
        column = int(self.columns[k])
        found = cells.cell(row, column)
        name = f"label {self.names[k]!r}" if self.names else "label"
        what = f"holds {excerpt(found)}" if found.strip() else "is missing"
        message = f"the {name} {what}. Expected 0/1 or true/false."
        return cells.error(message, row, column)


class LabelListColumn(Labels):
    """One column of label lists."""

    def __init__(self, where: str, column: int, separator: str | None) -> None:
        super().__init__(where)
        self.column, self.separator = column, separator
        self.texts, self.n_empty = Texts(), 0

    def add(self, cells: Cells) -> None:
        """Read a block."""
        data, offsets, missing = copy_cells(cells, self.column)
        self._refuse_missing(cells, offsets, missing)
        if self.separator is not None:
            names, counts, n_empty = split_labels(strings(data, offsets), self.separator)
            codes = self.texts.number(names)
            self.n_empty += n_empty
        else:
            codes, counts = self._bracketed(cells, data, offsets)
        self.parts.append((counts, codes))

    def matrix(self) -> tuple[sparse.csr_array, tuple[str, ...]]:
        """Join all blocks into a label matrix with its names."""
        warn_about_empty_names(self.n_empty, self.where)
        return label_matrix(*self.joined(), list(self.texts.numbers), self.where)

    def _bracketed(self, cells: Cells, data: Array, offsets: Array) -> tuple[Array, Array]:
        """Read lists as Python and JSON write them."""
        fault, row, counts, tokens, escaped = lists.parse_lists(data, offsets)
        if fault != lists.NO_FAULT:
            raise self._fault(cells, row, fault)
        plain, codes = ~escaped, np.empty(len(tokens), np.int64)
        codes[plain] = self.texts.number(slices_to_arrow(data, tokens[plain, 0], tokens[plain, 1]))
        for at in np.flatnonzero(~plain).tolist():
            text = data[tokens[at, 0] : tokens[at, 1]].tobytes().decode()
            try:
                codes[at] = self.texts.of(unescape(text))
            except ValueError as error:
                row = int(np.searchsorted(np.cumsum(counts), at, side="right"))
                message = f"{error} in the label {excerpt(text)}."
                raise cells.error(message, row, self.column) from None
        return codes, counts

    def _refuse_missing(self, cells: Cells, offsets: Any, missing: Any) -> None:
        """Refuse NA and ?: unlike an empty cell they do not say that there are no labels."""
        unknown = missing & (np.diff(offsets) > 0)
        if unknown.any():
            message = (
                "the labels are missing. Expected a list; leave the value empty for no labels."
            )
            raise cells.error(message, int(unknown.argmax()), self.column)

    def _fault(self, cells: Cells, row: int, fault: int) -> ReadError:
        reasons = {
            lists.NO_LIST: "expected a list of labels in brackets. If they are separated "
            f"otherwise, say what by: label_separator={self._likely_separator(cells)!r}.",
            lists.UNCLOSED: "the list of labels is not closed.",
            lists.NO_COMMA: "expected a comma between labels.",
            lists.NO_LABEL: "a label in the list is missing, or holds brackets without quotes.",
            lists.AFTER_LIST: "text follows the list of labels.",
        }
        found = excerpt(cells.cell(row, self.column))
        return cells.error(f"{reasons[fault]} Found {found}.", row, self.column)

    def _likely_separator(self, cells: Cells) -> str:
        text = copy_cells(cells, self.column)[0].tobytes()
        return max(";|,/", key=lambda sign: text.count(sign.encode()))


def strings(data: Array, offsets: Array, missing: Array | None = None) -> Any:
    """Make an Arrow array of texts that lie behind each other, null where missing."""
    import pyarrow as pa

    present = None
    if missing is not None and missing.any():
        present = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers = [present, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def unescape(text: str) -> str:
    r"""Replace what a backslash introduces by what it means.

    Examples
    --------
    >>> from scumble.data.formats.delimited.values import unescape
    >>> unescape(r"it\'s \u00e9t\xe9")
    "it's été"
    """
    text = _ESCAPE.sub(_meaning, text)
    try:
        # JSON writes characters beyond U+FFFF as two halves.
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError("half a character") from None


def _meaning(found: re.Match[str]) -> str:
    code = found[0][1:]
    if len(code) > 1:
        number = int(code[1:], 16)
        if number > 0x10FFFF:
            raise ValueError(f"no character has the number {code[1:]}")
        return chr(number)
    if code not in _SHORT:
        raise ValueError(f"unknown escape \\{code}")
    return _SHORT[code]
