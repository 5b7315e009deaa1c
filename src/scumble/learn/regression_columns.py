"""Features as columns of numbers for a regression: no gaps, no codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array


# A nominal feature of two values keeps its codes 0 and 1; one of more values becomes a column of 0
# and 1 for every value but the first, for which all of them are 0.
@dataclass(frozen=True, eq=False)
class RegressionColumns:
    """How features become columns of numbers."""

    n_values: Array  # int64, by feature: how many values a nominal one has; 0 for a numeric one
    fillings: Array  # what a missing value is replaced by: the mean, or the most frequent code

    @classmethod
    def of(cls, X: Any, n_values: Array) -> RegressionColumns:
        """Learn from training rows what missing values are replaced by."""
        fillings = np.zeros(X.shape[1])
        table = X.tocsc() if sparse.issparse(X) else X
        for column in _gapped(X):
            known, n_zeros = _known_cells(table, column)
            if n_values[column]:
                tally = np.bincount(known.astype(np.int64), minlength=int(n_values[column]))
                tally[0] += n_zeros
                fillings[column] = tally.argmax()
            else:
                fillings[column] = known.sum() / max(len(known) + n_zeros, 1)
        return cls(n_values, fillings)

    def transform(self, X: Any) -> Any:
        """Turn rows into columns of numbers."""
        if not sparse.issparse(X):
            filled = np.where(np.isnan(X), self.fillings, X)
            if (self.n_values <= 2).all():
                return filled
            return self._spread(sparse.csr_array(filled)).toarray()
        filled = X.copy()
        gaps = np.isnan(filled.data)
        filled.data[gaps] = self.fillings[filled.indices[gaps]]
        return self._spread(filled)

    def _spread(self, X: sparse.csr_array) -> sparse.csr_array:
        # The place of each feature's first column; value v of many goes to place + v - 1.
        widths = np.where(self.n_values > 2, self.n_values - 1, 1)
        places = np.cumsum(widths) - widths
        X.eliminate_zeros()
        many = self.n_values[X.indices] > 2
        offset = np.where(many, X.data - 1, 0).astype(np.int64)
        shape = (X.shape[0], int(widths.sum()))
        data = np.where(many, 1.0, X.data)
        columns = (places[X.indices] + offset).astype(X.indptr.dtype, copy=False)
        return sparse.csr_array((data, columns, X.indptr), shape=shape)


def _gapped(X: Any) -> Array:
    """Find the columns with missing values."""
    if sparse.issparse(X):
        return np.unique(X.indices[np.isnan(X.data)])
    return np.flatnonzero(np.isnan(X).any(axis=0))


def _known_cells(table: Any, column: int) -> tuple[Array, int]:
    """Return the stored cells of a column that are not missing, and the number of others."""
    if sparse.issparse(table):
        cells = table.data[table.indptr[column] : table.indptr[column + 1]]
        n_absent = table.shape[0] - len(cells)
    else:
        cells, n_absent = table[:, column], 0
    return cells[~np.isnan(cells)], n_absent
