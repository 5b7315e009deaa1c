"""Rows ready for distances: numbers scaled, codes of nominal columns beside them.

The distance of two rows is the root of the sum, column by column in their order, of
:math:`(a - b)^2` for numeric columns and of 0 (equal) or 1 (different) for nominal ones, or
of what a table says (see `nearest`). Scaling divides a column by its range, which gives the
distances of scaling to [0, 1] and keeps sparse columns sparse. WEKA takes off the lowest
value first, which can round differently, and it has a rule for missing values: they differ
by 1 from each other and from every nominal value, and from a number as much as a value in
[0, 1] can. ``shift=True`` does as WEKA; an absent element of a sparse row then stands for
the place of zero.

Else missing values (NaN; in sparse rows a stored NaN, for an absent element is 0) give partial
distances (Dixon, 1979, Pattern recognition with partly missing data), as in Gower's coefficient:
the sum runs over the columns known in both rows and is scaled up to all p columns in which any row
of the space has a value: a column that is missing everywhere changes nothing. Rows with no known
column in common are infinitely far apart, so they are taken last, in row order.
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
    """Rows among which distances are taken."""

    values: Any  # scaled numbers (dense or CSR), and codes 0, 1, ... in nominal columns
    n_values: Array  # how many values a nominal column has; 0 for a numeric one
    divisors: Array  # of numeric columns; infinite for constant ones
    lows: Array | None = None  # what was taken off numeric columns before; None for nothing

    @classmethod
    def of(cls, X: Any, n_values: Any = None, *, scale: bool = True, shift: bool = False) -> Space:
        """Make the space of some rows."""
        n_columns = X.shape[1]
        n_values = np.zeros(n_columns, np.int64) if n_values is None else np.asarray(n_values)
        divisors = np.ones(n_columns)
        lows = np.zeros(n_columns) if shift else None
        nominal = n_values > 0
        if (scale or shift) and X.shape[0] and not nominal.all():
            low, high = column_min_max(X)
            if lows is not None:
                lows = np.where(nominal | np.isnan(low), 0.0, low)
            if scale:
                # A constant column tells nothing: dividing by infinity makes it 0 everywhere.
                divisors = np.where(high - low > 0, high - low, np.inf)
                divisors[nominal] = 1.0
        return cls(_scaled(X, lows, divisors), n_values.astype(np.int64), divisors, lows)

    def place(self, X: Any) -> Space:
        """Bring other rows with the same columns into this space."""
        if sparse.issparse(X) != sparse.issparse(self.values):
            X = sparse.csr_array(X) if sparse.issparse(self.values) else X.toarray()
        return Space(_scaled(X, self.lows, self.divisors), self.n_values, self.divisors, self.lows)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are stored sparse."""
        return sparse.issparse(self.values)

    @property
    def is_like_weka(self) -> bool:
        """Whether missing values differ as WEKA has it; else distances are partial."""
        return self.lows is not None

    @cached_property
    def n_known_columns(self) -> int:
        """The number of columns in which at least one row has a value."""
        if not self.is_sparse:
            return int((~np.isnan(self.values)).any(axis=0).sum())
        missing = self.values.indices[np.isnan(self.values.data)]
        n_missing = np.bincount(missing, minlength=len(self.n_values))
        return int((n_missing < len(self)).sum())

    @property
    def zeros(self) -> Array:
        """What an absent element of a sparse row stands for, column by column."""
        if self.lows is None:
            return np.zeros(len(self.n_values))
        return (0.0 - self.lows) / self.divisors

    @property
    def is_numeric(self) -> bool:
        """Whether no column is nominal."""
        return not self.n_values.any()


def _scaled(X: Any, lows: Array | None, divisors: Array) -> Any:
    if not sparse.issparse(X):
        shifted = X if lows is None else X - lows
        return np.ascontiguousarray(shifted / divisors, dtype=np.float64)
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    # One type of index, and arrays of our own.
    kind = np.int32 if X.nnz < 2**31 else np.int64
    indices, indptr = X.indices.astype(kind), X.indptr.astype(kind)
    data = X.data if lows is None else X.data - lows[indices]
    return sparse.csr_array((data / divisors[indices], indices, indptr), shape=X.shape)
