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
    """What dense and sparse rows have in common: labels, weights, events."""

    n_implied = 0  # labels that may be present without being named

    def __init__(self, shape: tuple[int, int], height: int, *outputs: Array | None) -> None:
        self.n_features, self.n_labels = shape
        self.events = np.empty(_EVENTS + sum(shape), k.EVENT)
        self.row_weights = np.ones(height)
        self.any_weight = False
        self._present = np.empty(_ROOM // 4 + sum(shape), np.int32)
        self._ends = np.empty(height, k.ENDS)
        self._labels = Entries()
        self._weights: list[Array] = []
        self._outputs = (*outputs, self._present, self._ends, self.events)

    def parse(self, parser: k.Parser, text: Array, at: int) -> tuple[int, dict[str, Any]]:
        """Read on in a text until it ends or the arrays are full."""
        return parser.parse(text, at, *self._outputs)  # type: ignore[arg-type]  # all arrays

    def keep(self, n_rows: int, n_present: int, n_values: int) -> None:
        """Put the rows aside that were read last."""
        self._labels.add(self._present[:n_present], self._ends["labels"][:n_rows])
        if self.any_weight:
            before = self._labels.counts[len(self._weights) : -1]  # of rows without a weight
            self._weights += [np.ones(len(counts)) for counts in before]
            self._weights.append(self.row_weights[:n_rows].copy())
            self.row_weights[:n_rows] = 1.0

    def labels(self) -> sparse.csr_array:
        """Join all labels."""
        return self._labels.matrix(self.n_labels, bool)

    def weights(self) -> Array | None:
        """Join all weights."""
        return np.concatenate(self._weights) if self._weights else None


class DenseRows(Rows):
    """Rows with a value for every attribute."""

    def __init__(self, shape: tuple[int, int], *, as_sparse: bool) -> None:
        height = max(1, _ROOM // max(sum(shape), 1))
        self._X = np.empty((height, shape[0]))
        super().__init__(shape, height, self._X.reshape(-1), None)
        self._as_sparse = as_sparse
        self._parts: list[Any] = []

    def put(self, places: Array, columns: Array, values: Array) -> None:
        """Enter values that Python had to read, by row and column."""
        self._X[places, columns] = values

    def keep(self, n_rows: int, n_present: int, n_values: int) -> None:
        """Put rows aside, see `Rows.keep`."""
        super().keep(n_rows, n_present, n_values)
        part = self._X[:n_rows]
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

    def __init__(self, shape: tuple[int, int], roles: Array) -> None:
        size = _ROOM + sum(shape)
        self._values, self._columns = np.empty(size), np.empty(size, np.int32)
        super().__init__(shape, _ROOM // 8, self._values, self._columns)
        self._implied_by_row = int(np.count_nonzero(roles["omitted"]))
        self._features = Entries()

    def put(self, places: Array, columns: Array, values: Array) -> None:
        """Enter values that Python had to read, by place; their columns stand there already."""
        self._values[places] = values

    def keep(self, n_rows: int, n_present: int, n_values: int) -> None:
        """Put rows aside, see `Rows.keep`."""
        super().keep(n_rows, n_present, n_values)
        ends = self._ends["values"][:n_rows]
        self._features.add(self._columns[:n_values], ends, self._values[:n_values])
        self.n_implied += n_rows * self._implied_by_row

    def features(self) -> sparse.csr_array:
        """Join all features."""
        return self._features.matrix(self.n_features, float)


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
