"""Rows in the form in which distances are computed: scaled numbers, and codes of nominal columns.

The distance of two rows is the square root of a sum over the columns in their order. A numeric
column adds :math:`(a - b)^2`. A nominal column adds 0 if the values are equal and 1 if they differ,
or the difference of two numbers from a table, see `nearest_neighbours`. Scaling divides a numeric
column by its range. This gives the same distances as scaling to [0, 1], and sparse columns stay
sparse.

``shift=True`` follows WEKA, which subtracts the minimum before it divides and so may round
differently. A missing value differs by 1 from another one and from every category, and from a
number by the largest difference that a value in [0, 1] can have. An absent element of a sparse row
stands for the scaled value of 0.

Otherwise, missing values (NaN; in a sparse row a stored NaN, because an absent element is 0) give
partial distances (Dixon, 1979, Pattern recognition with partly missing data), as in Gower's
coefficient. The sum over the columns that are known in both rows is scaled up to all columns in
which any row of the space has a value, so a column without values changes nothing. The distance of
rows without a common known column is infinite: they are the last neighbours, in row order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, column_min_max


@dataclass(frozen=True, eq=False)
class Space:
    """Rows of a table, scaled so that distances between them can be computed."""

    values: Any  # scaled numbers (dense or CSR), and codes 0, 1, ... in nominal columns
    n_values: Array  # number of categories of a nominal column; 0 for a numeric one
    divisors: Array  # of numeric columns; infinite for constant columns
    # By column: the minimum that was subtracted before the division, if missing values are treated
    # as in WEKA; otherwise None, and nothing is subtracted.
    lows: Array | None = None

    @classmethod
    def from_matrix(
        cls, X: Any, n_values: Any = None, *, scale: bool = True, shift: bool = False
    ) -> Space:
        """Return the space of the rows of ``X``, dense or sparse, with NaN for missing values.

        ``n_values`` holds the number of categories of each nominal column, 0 for numeric columns;
        None means that all columns are numeric. ``scale`` divides numeric columns by their range;
        ``shift`` subtracts their minimum, and treats missing values as in WEKA.
        """
        n_columns = X.shape[1]
        n_values = np.zeros(n_columns, np.int64) if n_values is None else np.asarray(n_values)
        divisors = np.ones(n_columns)
        lows = np.zeros(n_columns) if shift else None
        is_nominal = n_values > 0
        if (scale or shift) and X.shape[0] and not is_nominal.all():
            minimum, maximum = column_min_max(X)
            if lows is not None:
                lows = np.where(is_nominal | np.isnan(minimum), 0.0, minimum)
            if scale:
                # Division by infinity makes a constant column 0, also in rows with other values.
                value_range = maximum - minimum
                divisors = np.where(value_range > 0, value_range, np.inf)
                divisors[is_nominal] = 1.0
        return cls(_scale(X, lows, divisors), n_values.astype(np.int64), divisors, lows)

    def transform(self, X: Any) -> Space:
        """Return other rows with the same columns, scaled like the rows of this space.

        They become dense or sparse as this space is.
        """
        if sparse.issparse(X) != sparse.issparse(self.values):
            X = sparse.csr_array(X) if sparse.issparse(self.values) else X.toarray()
        return Space(_scale(X, self.lows, self.divisors), self.n_values, self.divisors, self.lows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.values.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are a sparse matrix."""
        return sparse.issparse(self.values)

    @property
    def is_like_weka(self) -> bool:
        """Whether missing values are treated as in WEKA; otherwise distances are partial."""
        return self.lows is not None

    @cached_property
    def n_known_columns(self) -> int:
        """Number of columns in which at least one row has a value."""
        if not self.is_sparse:
            return int((~np.isnan(self.values)).any(axis=0).sum())
        missing = self.values.indices[np.isnan(self.values.data)]
        n_missing = np.bincount(missing, minlength=len(self.n_values))
        return int((n_missing < len(self)).sum())

    @property
    def scaled_zeros(self) -> Array:
        """The scaled value of 0 by column, for which an absent element of a sparse row stands."""
        if self.lows is None:
            return np.zeros(len(self.n_values))
        return (0.0 - self.lows) / self.divisors

    @property
    def is_numeric(self) -> bool:
        """Whether no column is nominal."""
        return not self.n_values.any()


def _scale(X: Any, lows: Array | None, divisors: Array) -> Any:
    """Return ``(X - lows) / divisors`` as a new float64 matrix, in C order or CSR.

    ``lows`` is None if nothing is subtracted. Of a sparse matrix only stored elements change.
    """
    if not sparse.issparse(X):
        shifted = X if lows is None else X - lows
        return np.ascontiguousarray(shifted / divisors, dtype=np.float64)
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    # Copies, so that later changes of X do not matter, with one integer type as kernels need it.
    index_dtype = np.int32 if X.nnz < 2**31 else np.int64
    indices = X.indices.astype(index_dtype)
    indptr = X.indptr.astype(index_dtype)
    data = X.data if lows is None else X.data - lows[indices]
    return sparse.csr_array((data / divisors[indices], indices, indptr), shape=X.shape)
