"""Numeric columns for a regression: missing values filled in, nominal features one-hot encoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array


@dataclass(frozen=True, eq=False)
class RegressionColumns:
    """An encoder of validated features as numeric columns, fitted to training rows.

    Missing values are filled in. A nominal feature of two categories keeps its codes 0 and 1. One
    of more categories becomes an indicator column for every category but the first, so that columns
    are not linearly dependent.
    """

    n_categories: Array  # int64, by feature: categories of a nominal one; 0 for a numeric one
    fill_values: Array  # by feature: the mean, or the most frequent code; 0 if none is missing

    @classmethod
    def from_training_rows(cls, X: Any, n_categories: Array) -> RegressionColumns:
        """Return the encoder for these training rows, an ndarray or csr_array."""
        fill_values = np.zeros(X.shape[1])
        X_by_column = X.tocsc() if sparse.issparse(X) else X
        for column in _columns_with_missing_values(X):
            values, n_zeros = _present_values(X_by_column, column)
            if n_categories[column]:
                counts = np.bincount(values.astype(np.int64), minlength=int(n_categories[column]))
                counts[0] += n_zeros
                fill_values[column] = counts.argmax()
            else:
                fill_values[column] = values.sum() / max(len(values) + n_zeros, 1)
        return cls(n_categories, fill_values)

    def transform(self, X: Any) -> Any:
        """Return the numeric columns of rows, as a csr_array if X is one, else as an ndarray."""
        if not sparse.issparse(X):
            filled = np.where(np.isnan(X), self.fill_values, X)
            if (self.n_categories <= 2).all():
                return filled
            return self._encode_nominal(sparse.csr_array(filled)).toarray()
        filled = X.copy()
        is_missing = np.isnan(filled.data)
        filled.data[is_missing] = self.fill_values[filled.indices[is_missing]]
        return self._encode_nominal(filled)

    def _encode_nominal(self, X: sparse.csr_array) -> sparse.csr_array:
        """Return X with indicator columns in place of nominal features of more than two categories.

        Stored zeros are removed from X itself.
        """
        # Code c of such a feature is stored in column (first column of the feature) + c - 1.
        n_columns = np.where(self.n_categories > 2, self.n_categories - 1, 1)
        first_columns = np.cumsum(n_columns) - n_columns
        X.eliminate_zeros()
        is_indicator = self.n_categories[X.indices] > 2
        offsets = np.where(is_indicator, X.data - 1, 0).astype(np.int64)
        columns = first_columns[X.indices] + offsets
        columns = columns.astype(X.indptr.dtype, copy=False)
        data = np.where(is_indicator, 1.0, X.data)
        shape = (X.shape[0], int(n_columns.sum()))
        return sparse.csr_array((data, columns, X.indptr), shape=shape)


def _columns_with_missing_values(X: Any) -> Array:
    """Return the indices of the columns of X that hold NaN."""
    if sparse.issparse(X):
        return np.unique(X.indices[np.isnan(X.data)])
    return np.flatnonzero(np.isnan(X).any(axis=0))


def _present_values(X: Any, column: int) -> tuple[Array, int]:
    """Return the values of a column that are not NaN, and the number of zeros not among them.

    X is an ndarray, or a csc_array whose zeros are counted and not returned.
    """
    if sparse.issparse(X):
        values = X.data[X.indptr[column] : X.indptr[column + 1]]
        n_zeros = X.shape[0] - len(values)
    else:
        values = X[:, column]
        n_zeros = 0
    return values[~np.isnan(values)], n_zeros
