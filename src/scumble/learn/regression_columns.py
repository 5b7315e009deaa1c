"""Numeric columns for a regression: missing values filled in, nominal features one-hot encoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array


# A nominal feature of two values keeps its codes 0 and 1. One of more values becomes an indicator
# column for every value but the first, so that columns are not linearly dependent.
@dataclass(frozen=True, eq=False)
class RegressionColumns:
    """The encoding of features as numeric columns, fitted to training rows."""

    n_values: Array  # int64, by feature: number of values of a nominal one; 0 for a numeric one
    fillings: Array  # by feature: replaces missing values; the mean, or the most frequent code

    @classmethod
    def of(cls, X: Any, n_values: Array) -> RegressionColumns:
        """Return the encoding fitted to training rows."""
        fillings = np.zeros(X.shape[1])
        table = X.tocsc() if sparse.issparse(X) else X
        for column in _columns_with_missing_values(X):
            values, n_zeros = _present_values(table, column)
            if n_values[column]:
                counts = np.bincount(values.astype(np.int64), minlength=int(n_values[column]))
                counts[0] += n_zeros
                fillings[column] = counts.argmax()
            else:
                fillings[column] = values.sum() / max(len(values) + n_zeros, 1)
        return cls(n_values, fillings)

    def transform(self, X: Any) -> Any:
        """Return rows as numeric columns."""
        if not sparse.issparse(X):
            filled = np.where(np.isnan(X), self.fillings, X)
            if (self.n_values <= 2).all():
                return filled
            return self._encode_nominal(sparse.csr_array(filled)).toarray()
        filled = X.copy()
        is_missing = np.isnan(filled.data)
        filled.data[is_missing] = self.fillings[filled.indices[is_missing]]
        return self._encode_nominal(filled)

    def _encode_nominal(self, X: sparse.csr_array) -> sparse.csr_array:
        """Return rows with indicator columns for nominal features of more than two values."""
        # Value v of such a feature is stored in the (v - 1)th column after its first column.
        widths = np.where(self.n_values > 2, self.n_values - 1, 1)
        first_columns = np.cumsum(widths) - widths
        X.eliminate_zeros()
        is_indicator = self.n_values[X.indices] > 2
        offsets = np.where(is_indicator, X.data - 1, 0).astype(np.int64)
        columns = first_columns[X.indices] + offsets
        columns = columns.astype(X.indptr.dtype, copy=False)
        data = np.where(is_indicator, 1.0, X.data)
        shape = (X.shape[0], int(widths.sum()))
        return sparse.csr_array((data, columns, X.indptr), shape=shape)


def _columns_with_missing_values(X: Any) -> Array:
    """Return the indices of the columns with missing values."""
    if sparse.issparse(X):
        return np.unique(X.indices[np.isnan(X.data)])
    return np.flatnonzero(np.isnan(X).any(axis=0))


def _present_values(table: Any, column: int) -> tuple[Array, int]:
    """Return the stored cells of a column that are not missing, and the number of zeros besides."""
    if sparse.issparse(table):
        cells = table.data[table.indptr[column] : table.indptr[column + 1]]
        n_zeros = table.shape[0] - len(cells)
    else:
        cells = table[:, column]
        n_zeros = 0
    return cells[~np.isnan(cells)], n_zeros
