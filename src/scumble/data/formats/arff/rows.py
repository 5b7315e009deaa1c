"""Where the compiled loops put the rows they read, and what they refuse, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import suggest
from scumble._core.text import excerpt
from scumble.data.formats.arff.header import Attribute
from scumble.data.formats.kernels import arff as k
from scumble.data.label_lists import row_pointers

#: About how many values are read before they are put aside.
_ROOM = 1 << 16
_EVENTS = 1 << 12
_LABEL_HELP = (
    "Expected 0 or 1 (or false or true): a label is present or absent. If the column is no label, "
    "name the labels with labels=..."
)
#: What the compiled loops refuse, in words: rows, then values.
_FAULTS = {
    k.LONG_ROW: "the row has more than the {n} values the header declares: {found} is left over. "
    "Does a text with a comma or a blank lack its quotes?",
    k.AFTER_ROW: "{found} follows the closing brace. Expected the end of the line or a weight such "
    "as {{2.5}}.",
    k.NOT_CLOSED: "the sparse row is not closed after {before} values. Expected a '}}' before the "
    "end of the line: is the file cut short?",
    k.BAD_INDEX: "found {found} instead of an attribute's number. Expected a sparse row such as "
    "{{0 1, 5 red}}: numbers from 0, each followed by a value.",
    k.OTHER_FORM: "the row begins with {found}, other than the rows before it. Expected all rows "
    "dense (1,0,2), or all sparse ({{0 1, 2 2}}).",
    k.INDEX_RANGE: "the sparse row names the attribute {found}, but there are only {n}, numbered "
    "from 0.",
    k.INDEX_ORDER: "the sparse row names the attribute {found} out of order or twice. Expected "
    "each one once, in increasing order.",
    k.SHORT_ROW: "the row has {before} values, but the header declares {n} attributes. Expected a "
    "value for {name} and those after it.",
    k.EMPTY_VALUE: "the value of {name} is empty. Expected one; a missing value is written ?.",
    k.OPEN_QUOTE: "the quote before {found} is not closed. Close it on its line; a quote inside of "
    "a text is written \\'.",
    k.NO_SEPARATOR: "no comma follows {found}, the value of {name}.",
    k.BAD_NUMBER: "{name} is numeric, but its value is {found}. Expected a number or ?.",
    k.UNDECLARED: "{found} is not among the values declared for {name} in line {line}. Expected "
    "one of {listed}.{near}",
    k.BAD_LABEL: "the label {name} has the value {found}. " + _LABEL_HELP,
    k.MISSING_LABEL: "the label {name} is missing. " + _LABEL_HELP,
    k.OMITTED_LABEL: "the label {name} is omitted from this sparse row, which stands for its first "
    "value, {first}. " + _LABEL_HELP,
}


class Entries:
    """Entries of a sparse matrix, whose rows come in parts."""

    def __init__(self) -> None:
        self._columns: list[Array] = []
        self._values: list[Array] = []
        self.counts: list[Array] = []  # of each row's entries

    def add(self, columns: Array, ends: Array, values: Array | None = None) -> None:
        """Put rows aside; without values, entries are only there or not."""
        self._columns.append(columns.copy())
        self._values.append(np.ones(len(columns), bool) if values is None else values.copy())
        self.counts.append(np.diff(ends, prepend=0))

    def matrix(self, n_columns: int, kind: type) -> sparse.csr_array:
        """Join all parts."""
        values, columns = _joined(self._values, kind), _joined(self._columns, np.int32)
        pointers = row_pointers(_joined(self.counts, np.int64))
        if len(columns) <= np.iinfo(np.int32).max:
            pointers = pointers.astype(np.int32)
        return sparse.csr_array((values, columns, pointers), shape=(len(pointers) - 1, n_columns))


def _joined(parts: list[Array], kind: type) -> Array:
    """Join arrays, of which there may be none, and forget the parts."""
    joined = np.concatenate([np.empty(0, kind), *parts])
    parts.clear()
    return joined


class Rows:
    """Rows, all dense or all sparse: where the compiled loops put them, and those put aside."""

    def __init__(self, shape: tuple[int, int], *, is_sparse: bool, as_sparse: bool) -> None:
        self.n_features, self.n_labels = shape
        width = sum(shape)
        height = _ROOM // 8 if is_sparse else max(1, _ROOM // max(width, 1))
        size = _ROOM + width if is_sparse else height * self.n_features
        self.values = np.empty(size)
        self.indices = np.empty(size, np.int32) if is_sparse else None
        self.present = np.empty(_ROOM // 4 + width, np.int32)
        self.ends = np.empty(height, k.ENDS)
        self.events = np.empty(_EVENTS + width + 1, k.EVENT)
        self.n_rows = 0  # put aside
        self.weighted: list[tuple[Array, Any]] = []  # numbers of rows, and their weights
        self._labels = Entries()
        self._entries = Entries() if is_sparse or as_sparse else None
        self._dense: list[Array] = []

    def keep(self, n_rows: int, n_present: int, n_values: int) -> None:
        """Put the rows aside that were read last."""
        self.n_rows += n_rows
        ends = self.ends[:n_rows]
        self._labels.add(self.present[:n_present], ends["labels"])
        if self.indices is not None and self._entries is not None:
            values, columns = self.values[:n_values], self.indices[:n_values]
            self._entries.add(columns, ends["values"], values)
            return
        part = self.values[: n_rows * self.n_features].reshape(n_rows, self.n_features)
        if self._entries is None:
            self._dense.append(part.copy())
        else:
            entries = sparse.csr_array(part)
            self._entries.add(entries.indices, entries.indptr[1:], entries.data)

    def features(self) -> Any:
        """Join all features."""
        if self._entries is not None:
            return self._entries.matrix(self.n_features, float)
        return np.concatenate([np.empty((0, self.n_features)), *self._dense])

    def labels(self) -> sparse.csr_array:
        """Join all labels."""
        return self._labels.matrix(self.n_labels, bool)

    def weights(self) -> Array | None:
        """Join all weights; None if no row has one."""
        weights = np.ones(self.n_rows)
        for rows, given in self.weighted:
            weights[rows] = given
        return weights if self.weighted else None


# What the compiled loops refuse, in words ---------------------------------------------------------


def explain(fault: int, attribute: Attribute | None, value: int, token: str, n: int) -> str:
    """Say what is wrong with a row, or with the value of an attribute in it."""
    categories: Sequence[str] = () if attribute is None else attribute.type.categories
    said = {
        "name": "" if attribute is None else excerpt(attribute.name),
        "found": excerpt(token),
        "n": n,
        "before": value - 1,
        "first": excerpt(categories[0]) if categories else "which it does not have",
    }
    if attribute is not None and fault == k.UNDECLARED:
        listed = ", ".join(excerpt(value) for value in categories[:8])
        said["line"] = attribute.line
        said["listed"] = listed + (
            f" and {len(categories) - 8} more" if len(categories) > 8 else ""
        )
        said["near"] = suggest(token, categories)
    return _FAULTS[fault].format(**said)
