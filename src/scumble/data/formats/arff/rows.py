"""Where the compiled loops put the rows they read, and what becomes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scumble.data.formats.kernels import arff as k

Array = np.ndarray[Any, Any]

#: About how many values are read before they are put aside.
_ROOM = 1 << 16
_EVENTS = 1 << 12


class Rows:
    """What dense and sparse rows have in common: labels, weights, events."""

    def __init__(self, n_features: int, n_labels: int, height: int) -> None:
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

    def parse(self, text: Array, state: Array, attributes: k.Attributes) -> int:
        """Read on in a text until it ends or the arrays are full."""
        raise NotImplementedError  # dense and sparse rows differ here

    def put(self, places: Array, columns: Array, values: Array) -> None:
        """Enter what Python had to read."""
        raise NotImplementedError  # dense and sparse rows differ here

    def features(self) -> Array | sparse.csr_array:
        """Join all features."""
        raise NotImplementedError  # dense and sparse rows differ here

    def keep(self, state: Array) -> None:
        """Put the rows aside that were read last."""
        n_rows, n_present = int(state[k.N_ROWS]), int(state[k.N_PRESENT])
        self._label_parts.append(self._present[:n_present].copy())
        self._label_counts.append(np.diff(self._ends[:n_rows, 0], prepend=0))
        if self.any_weight:
            self._pad_weights()
            self._weight_parts.append(self.row_weights[:n_rows].copy())
            self.row_weights[:n_rows] = 1.0

    def _pad_weights(self) -> None:
        """Rows read before the first weight have weight 1."""
        for counts in self._label_counts[len(self._weight_parts) : -1]:
            self._weight_parts.append(np.ones(len(counts)))

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

    def __init__(self, n_features: int, n_labels: int, *, as_sparse: bool) -> None:
        super().__init__(n_features, n_labels, max(1, _ROOM // max(n_features + n_labels, 1)))
        self._X = np.empty((len(self.row_weights), n_features))
        self._as_sparse = as_sparse
        self._parts: list[Any] = []

    def parse(self, text: Array, state: Array, attributes: k.Attributes) -> int:
        """Read on, see `Rows.parse`."""
        return k.parse_dense(
            text, state, attributes, self._X, self._present, self._ends, self.events
        )

    def put(self, places: Array, columns: Array, values: Array) -> None:
        """Enter values by row and column."""
        self._X[places, columns] = values

    def keep(self, state: Array) -> None:
        """Put rows aside, see `Rows.keep`."""
        super().keep(state)
        part = self._X[: state[k.N_ROWS]]
        self._parts.append(sparse.csr_array(part) if self._as_sparse else part.copy())

    def features(self) -> Array | sparse.csr_array:
        """Join all features, see `Rows.features`."""
        if self._as_sparse:
            empty = sparse.csr_array((0, self.n_features))
            return sparse.vstack([empty, *self._parts], format="csr")
        if len(self._parts) == 1:
            part: Array = self._parts[0]
            return part
        return np.concatenate([np.empty((0, self.n_features)), *self._parts])


class SparseRows(Rows):
    """Rows that name their nonzero values."""

    def __init__(self, roles: Array, n_features: int, n_labels: int) -> None:
        super().__init__(n_features, n_labels, _ROOM // 8)
        size = _ROOM + n_features + n_labels
        self._indices = np.empty(size, np.int32)
        self._values = np.empty(size)
        self._n_implied = int(np.count_nonzero(roles[:, k.DEFAULT]))  # by each row
        self._index_parts: list[Array] = []
        self._value_parts: list[Array] = []
        self._value_counts: list[Array] = []

    def parse(self, text: Array, state: Array, attributes: k.Attributes) -> int:
        """Read on, see `Rows.parse`."""
        return k.parse_sparse(
            text,
            state,
            attributes,
            self._indices,
            self._values,
            self._present,
            self._ends,
            self.events,
        )

    def put(self, places: Array, columns: Array, values: Array) -> None:
        """Enter values by place; their columns stand there already."""
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
        """Join all features, see `Rows.features`."""
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
