"""Where the compiled loops put the rows they read, and what they refuse, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import suggest
from scumble._core.text import excerpt
from scumble.data.formats.arff.header import Attribute
from scumble.data.formats.kernels import arff as k

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
    k.BAD_LABEL: "the label {name} has the value {found}. " + _LABEL_HELP,
    k.MISSING_LABEL: "the label {name} is missing. " + _LABEL_HELP,
    k.OMITTED_LABEL: "the label {name} is omitted from this sparse row, which stands for its first "
    "value, {first}. " + _LABEL_HELP,
}


class Rows:
    """What dense and sparse rows have in common: labels, weights, events."""

    _parser: ClassVar[Callable[..., int]]

    def __init__(self, n_features: int, n_labels: int, height: int, *outputs: Array) -> None:
        self.n_features, self.n_labels = n_features, n_labels
        n_attributes = n_features + n_labels
        self.events = np.empty((_EVENTS + n_attributes, k.EVENT_SIZE), np.int64)
        self.row_weights = np.ones(height)
        self.any_weight = False
        self._present = np.empty(_ROOM // 4 + n_attributes, np.int32)
        self._ends = np.empty((height, 2), np.int64)  # of a row's labels and values
        self.n_implied = 0  # labels that may be present without being named
        self._label_parts: list[Array] = []
        self._label_counts: list[Array] = []
        self._weight_parts: list[Array] = []
        self._outputs = (*outputs, self._present, self._ends, self.events)

    def parse(self, text: Array, state: Array, attributes: k.Attributes) -> int:
        """Read on in a text until it ends or the arrays are full."""
        return self._parser(text, state, attributes, *self._outputs)

    def keep(self, state: Array) -> None:
        """Put the rows aside that were read last."""
        n_rows, n_present = int(state[k.N_ROWS]), int(state[k.N_PRESENT])
        self._label_parts.append(self._present[:n_present].copy())
        self._label_counts.append(np.diff(self._ends[:n_rows, 0], prepend=0))
        if self.any_weight:
            before = self._label_counts[len(self._weight_parts) : -1]  # of rows without a weight
            self._weight_parts += [np.ones(len(counts)) for counts in before]
            self._weight_parts.append(self.row_weights[:n_rows].copy())
            self.row_weights[:n_rows] = 1.0

    def labels(self) -> sparse.csr_array:
        """Join all labels."""
        indices, indptr = join_rows(self._label_parts, self._label_counts)
        shape = (len(indptr) - 1, self.n_labels)
        return sparse.csr_array((np.ones(len(indices), bool), indices, indptr), shape=shape)

    def weights(self) -> Array | None:
        """Join all weights."""
        return np.concatenate(self._weight_parts) if self._weight_parts else None


class DenseRows(Rows):
    """Rows with a value for every attribute."""

    _parser = staticmethod(k.parse_dense)

    def __init__(self, n_features: int, n_labels: int, *, as_sparse: bool) -> None:
        height = max(1, _ROOM // max(n_features + n_labels, 1))
        self._X = np.empty((height, n_features))
        super().__init__(n_features, n_labels, height, self._X)
        self._as_sparse = as_sparse
        self._parts: list[Any] = []

    def put(self, places: Array, columns: Array, values: Array) -> None:
        """Enter values that Python had to read, by row and column."""
        self._X[places, columns] = values

    def keep(self, state: Array) -> None:
        """Put rows aside, see `Rows.keep`."""
        super().keep(state)
        part = self._X[: state[k.N_ROWS]]
        self._parts.append(sparse.csr_array(part) if self._as_sparse else part.copy())

    def features(self) -> Array | sparse.csr_array:
        """Join all features."""
        if self._as_sparse:
            empty = sparse.csr_array((0, self.n_features))
            return sparse.vstack([empty, *self._parts], format="csr")
        if len(self._parts) == 1:
            part: Array = self._parts[0]
            return part
        return np.concatenate([np.empty((0, self.n_features)), *self._parts])


class SparseRows(Rows):
    """Rows that name their nonzero values."""

    _parser = staticmethod(k.parse_sparse)

    def __init__(self, roles: Array, n_features: int, n_labels: int) -> None:
        size = _ROOM + n_features + n_labels
        self._indices, self._values = np.empty(size, np.int32), np.empty(size)
        super().__init__(n_features, n_labels, _ROOM // 8, self._indices, self._values)
        self._n_implied = int(np.count_nonzero(roles[:, k.DEFAULT]))  # by each row
        self._index_parts: list[Array] = []
        self._value_parts: list[Array] = []
        self._value_counts: list[Array] = []

    def put(self, places: Array, columns: Array, values: Array) -> None:
        """Enter values that Python had to read, by place; their columns stand there already."""
        self._values[places] = values

    def keep(self, state: Array) -> None:
        """Put rows aside, see `Rows.keep`."""
        super().keep(state)
        n_rows, n_values = int(state[k.N_ROWS]), int(state[k.N_VALUES])
        self._index_parts.append(self._indices[:n_values].copy())
        self._value_parts.append(self._values[:n_values].copy())
        self._value_counts.append(np.diff(self._ends[:n_rows, 1], prepend=0))
        self.n_implied += n_rows * self._n_implied

    def features(self) -> sparse.csr_array:
        """Join all features."""
        indices, indptr = join_rows(self._index_parts, self._value_counts)
        values = np.concatenate([np.empty(0), *self._value_parts])
        self._value_parts.clear()
        shape = (len(indptr) - 1, self.n_features)
        return sparse.csr_array((values, indices, indptr), shape=shape)


def join_rows(indices: list[Array], counts: list[Array]) -> tuple[Array, Array]:
    """Join the column numbers and row pointers of a sparse matrix."""
    joined = np.concatenate([np.empty(0, np.int32), *indices])
    indices.clear()
    small = len(joined) <= np.iinfo(np.int32).max
    indptr = np.zeros(1 + sum(map(len, counts)), np.int32 if small else np.int64)
    np.cumsum(np.concatenate([np.empty(0, np.int64), *counts]), out=indptr[1:])
    return (joined if small else joined.astype(np.int64)), indptr


# What the compiled loops refuse, in words ---------------------------------------------------------


def explain(fault: int, attribute: Attribute | None, value: int, token: str, n: int) -> str:
    """Say what is wrong with a row, or with the value of an attribute in it."""
    categories: Sequence[str] = () if attribute is None else attribute.type.categories
    return _FAULTS[fault].format(
        name="" if attribute is None else excerpt(attribute.name),
        found=excerpt(token),
        n=n,
        before=value - 1,
        first=excerpt(categories[0]) if categories else "which it does not have",
    )


def undeclared(attribute: Attribute, token: str) -> str:
    """Say that a nominal value was not declared."""
    categories = attribute.type.categories
    listed = ", ".join(excerpt(value) for value in categories[:8])
    more = f" and {len(categories) - 8} more" if len(categories) > 8 else ""
    return (
        f"{excerpt(token)} is not among the values declared for {excerpt(attribute.name)} in line "
        f"{attribute.line}. Expected one of {listed}{more}.{suggest(token, categories)}"
    )
