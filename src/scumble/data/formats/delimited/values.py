"""The values of a CSV file's columns, gathered block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.errors import ReadError
from scumble._core.files import Source
from scumble.data.formats.delimited.cells import Cells
from scumble.data.formats.delimited.escapes import unescape
from scumble.data.formats.kernels import lists
from scumble.data.formats.kernels.csv import parse_flags, parse_numbers
from scumble.data.formats.kernels.numbers import exact_floats, pieces
from scumble.data.formats.messages import excerpt
from scumble.data.label_lists import indicator, label_matrix


class Texts:
    """Numbers for texts, in the order of their appearance.

    Attributes
    ----------
    numbers : dict of str to int
        The texts so far.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, texts: Any) -> np.ndarray[Any, Any]:
        """Give the numbers of the texts in an Arrow array; -1 where it is null."""
        coded = texts.dictionary_encode()
        known = [self.of(text) for text in coded.dictionary.to_pylist()]
        codes = coded.indices.fill_null(len(known)).to_numpy()
        return np.array([*known, -1], np.int64)[codes]

    def of(self, text: str) -> int:
        """Give the number of one text."""
        return self.numbers.setdefault(text, len(self.numbers))


class Features:
    """Columns of numbers, or of text where a cell is no number."""

    def __init__(self, columns: list[int], texts: set[int]) -> None:
        self.columns = np.array(columns, np.int64)
        # Holds no text; holds whole numbers only; holds any number.
        self.state = np.tile(np.array([True, True, False]), (len(columns), 1))
        self.texts: dict[int, Texts] = {}
        self.late: set[int] = set()
        self.blocks: list[np.ndarray[Any, Any]] = []
        for k, column in enumerate(columns):
            if column in texts:
                self.state[k, 0] = False
                self.texts[k] = Texts()

    def add(self, cells: Cells) -> np.ndarray[Any, Any]:
        """Read a block; a column that turns out to hold text too late is noted in ``late``."""
        values = np.empty((len(cells), len(self.columns)))
        long_at = np.empty((len(cells.text) // 5 + 1, 4), np.int64)  # 1e23, with a delimiter
        n_long = parse_numbers(
            cells.text,
            cells.places,
            cells.n_columns,
            self.columns,
            values,
            self.state.view(np.uint8),
            long_at,
        )
        if n_long:
            row, k, start, end = long_at[:n_long].T
            values[row, k] = exact_floats(cells.text, start, end)
        for k in np.flatnonzero(~self.state[:, 0]).tolist():
            if k not in self.texts and self.blocks:
                self.late.add(k)
            else:
                codes = self.texts.setdefault(k, Texts()).number(_strings(cells, self.columns[k]))
                values[:, k] = np.where(codes < 0, np.nan, codes)
        self.blocks.append(values)
        return values

    def matrix(self) -> tuple[np.ndarray[Any, Any], dict[int, tuple[str, ...]]]:
        """Join all blocks."""
        blocks = self.blocks or [np.empty((0, len(self.columns)))]
        X = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        categories = {}
        for k, texts in self.texts.items():
            known = list(texts.numbers)
            order = sorted(range(len(known)), key=known.__getitem__)
            rank = np.empty(len(known) + 1)
            rank[order] = np.arange(len(known))
            rank[-1] = np.nan
            X[:, k] = rank[np.nan_to_num(X[:, k], nan=len(known)).astype(np.int64)]
            categories[k] = tuple(known[at] for at in order)
        return X, categories


class Flags:
    """Columns of 0 and 1."""

    def __init__(self, source: Source, columns: list[int], names: list[str] | None) -> None:
        self.source, self.names = source, names
        self.columns = np.array(columns, np.int64)
        self.present: list[np.ndarray[Any, Any]] = []
        self.counts: list[np.ndarray[Any, Any]] = []

    def add(self, cells: Cells) -> None:
        """Read a block."""
        present = np.empty(len(cells) * len(self.columns), np.int32)
        counts = np.empty(len(cells), np.int64)
        n_present, row, k = parse_flags(
            cells.text, cells.places, cells.n_columns, self.columns, present, counts
        )
        if row >= 0:
            raise self._fault(cells, row, k)
        self.present.append(present[:n_present].copy())
        self.counts.append(counts)

    def matrix(self) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
        """Join all blocks into a label matrix with its names."""
        indptr = _pointers(self.counts)
        present = np.concatenate([np.empty(0, np.int32), *self.present])
        Y = indicator(indptr, present, len(self.columns), str(self.source.path))
        return Y, None if self.names is None else tuple(self.names)

    def _fault(self, cells: Cells, row: int, k: int) -> ReadError:
        column = int(self.columns[k])
        found = cells.cell(row, column)
        name = f"label {self.names[k]!r}" if self.names else "label"
        what = f"holds {excerpt(found)}" if found.strip() else "is missing"
        return self.source.error(
            f"the {name} {what}. Expected 0/1 or true/false.",
            line=int(cells.lines[row]),
            column=column + 1,
        )


class Lists:
    """One column of label lists."""

    def __init__(self, source: Source, column: int, separator: str | None) -> None:
        self.source, self.column, self.separator = source, column, separator
        self.texts = Texts()
        self.codes: list[np.ndarray[Any, Any]] = []
        self.counts: list[np.ndarray[Any, Any]] = []

    def add(self, cells: Cells) -> None:
        """Read a block."""
        data, offsets, missing = cells.column(self.column)
        self._refuse_missing(cells, offsets, missing)
        mark = b"," if self.separator is None else self.separator.encode()
        most = data.tobytes().count(mark) + len(cells)
        tokens, escaped = np.empty((most, 2), np.int64), np.zeros(most, bool)
        counts = np.empty(len(cells), np.int64)
        if self.separator is None:
            fault, row, n = lists.parse_lists(data, offsets, tokens, escaped.view(np.uint8), counts)
            if fault != lists.FINE:
                raise self._fault(cells, row, fault)
        else:
            n = lists.split_lists(data, offsets, np.frombuffer(mark, np.uint8), tokens, counts)
        self.counts.append(counts)
        self.codes.append(self._codes(cells, data, tokens[:n], escaped[:n], counts))

    def matrix(self) -> tuple[sparse.csr_array, tuple[str, ...]]:
        """Join all blocks into a label matrix with its names."""
        codes = np.concatenate([np.empty(0, np.int64), *self.codes])
        names = list(self.texts.numbers)
        return label_matrix(_pointers(self.counts), codes, names, str(self.source.path))

    def _codes(
        self, cells: Cells, data: Any, tokens: Any, escaped: Any, counts: Any
    ) -> np.ndarray[Any, Any]:
        plain = ~escaped
        codes = np.empty(len(tokens), np.int64)
        codes[plain] = self.texts.number(pieces(data, tokens[plain, 0], tokens[plain, 1]))
        for at in np.flatnonzero(escaped).tolist():
            text = data[tokens[at, 0] : tokens[at, 1]].tobytes().decode()
            try:
                codes[at] = self.texts.of(unescape(text))
            except ValueError as error:
                row = int(np.searchsorted(np.cumsum(counts), at, side="right"))
                raise self._error(cells, row, f"{error} in the label {excerpt(text)}.") from None
        return codes

    def _refuse_missing(self, cells: Cells, offsets: Any, missing: Any) -> None:
        """Refuse NA and ?: unlike an empty cell they do not say that there are no labels."""
        unknown = missing & (np.diff(offsets) > 0)
        if unknown.any():
            raise self._error(
                cells,
                int(unknown.argmax()),
                "the labels are missing. Expected a list; leave the value empty for no labels.",
            )

    def _fault(self, cells: Cells, row: int, fault: int) -> ReadError:
        reasons = {
            lists.NO_LIST: "expected a list of labels in brackets. If they are separated "
            "otherwise, say label_separator='|' or whatever it is.",
            lists.UNCLOSED: "the list of labels is not closed.",
            lists.NO_COMMA: "expected a comma between labels.",
            lists.NO_LABEL: "a label in the list is missing, or holds brackets without quotes.",
            lists.AFTER_LIST: "text follows the list of labels.",
        }
        found = excerpt(cells.cell(row, self.column))
        return self._error(cells, row, f"{reasons[fault]} Found {found}.")

    def _error(self, cells: Cells, row: int, message: str) -> ReadError:
        return self.source.error(message, line=int(cells.lines[row]), column=self.column + 1)


def _strings(cells: Cells, column: int) -> Any:
    """Return a column's texts as an Arrow array, null where missing."""
    import pyarrow as pa

    data, offsets, missing = cells.column(column)
    present = None
    if missing.any():
        present = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers = [present, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(cells), buffers)


def _pointers(counts: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    return np.concatenate([[0], np.cumsum(np.concatenate([np.empty(0, np.int64), *counts]))])
