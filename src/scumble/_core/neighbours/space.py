"""Rows ready for distances: numbers scaled, codes of nominal columns beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Space:
    r"""Rows among which distances are taken.

    Attributes
    ----------
    values : ndarray or csr_array of float64, shape (n_rows, n_columns)
        Scaled numbers, and codes 0, 1, ... in nominal columns.
    n_values : ndarray of int64, shape (n_columns,)
        How many values a nominal column has; 0 for a numeric one.
    divisors : ndarray of float64, shape (n_columns,)
        What numeric columns were divided by; infinite for constant ones.

    Notes
    -----
    The distance of two rows is the root of the sum, column by column in their order, of
    :math:`(a - b)^2` for numeric columns and of 0 (equal) or 1 (different) for nominal ones, or
    of what a table says (see `nearest`). Scaling divides a column by its range, which gives the
    distances of scaling to [0, 1] and keeps sparse columns sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble._core.neighbours import Space, nearest
    >>> space = Space.of(np.array([[0.0, 1], [10.0, 0], [4.0, 1]]), n_values=[0, 2])
    >>> space.values[:, 0]
    array([0. , 1. , 0.4])
    >>> nearest(space, 1).distances.ravel().round(3)
    array([0.4  , 1.166, 0.4  ])
    """

    values: Any
    n_values: Array
    divisors: Array

    @classmethod
    def of(cls, X: Any, n_values: Any = None, *, scale: bool = True) -> Space:
        """Make the space of some rows.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_rows, n_columns)
            Finite numbers; nominal columns hold codes.
        n_values : array of int of shape (n_columns,), optional
            How many values nominal columns have, 0 for numeric ones; by default all are numeric.
        scale : bool
            Whether numeric columns are divided by their range.

        Returns
        -------
        Space
            The rows in it.
        """
        n_columns = X.shape[1]
        n_values = np.zeros(n_columns, np.int64) if n_values is None else np.asarray(n_values)
        divisors = np.ones(n_columns)
        if scale and X.shape[0]:
            ranges = _ranges(X)
            # A constant column tells nothing: dividing by infinity makes it 0 everywhere.
            divisors = np.where(ranges > 0, ranges, np.inf)
            divisors[n_values > 0] = 1.0
        return cls(_divided(X, divisors), n_values.astype(np.int64), divisors)

    def place(self, X: Any) -> Space:
        """Bring other rows with the same columns into this space.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_rows, n_columns)
            The other rows.

        Returns
        -------
        Space
            Divided by the ranges of this space's rows.
        """
        if sparse.issparse(X) != sparse.issparse(self.values):
            X = sparse.csr_array(X) if sparse.issparse(self.values) else X.toarray()
        return Space(_divided(X, self.divisors), self.n_values, self.divisors)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are stored sparse."""
        return sparse.issparse(self.values)

    @property
    def is_numeric(self) -> bool:
        """Whether no column is nominal."""
        return not self.n_values.any()


def _ranges(X: Any) -> Array:
    if sparse.issparse(X):
        low, high = (np.asarray(end.todense()).ravel() for end in (X.min(axis=0), X.max(axis=0)))
        return high - low
    return X.max(axis=0) - X.min(axis=0)


def _divided(X: Any, divisors: Array) -> Any:
    if not sparse.issparse(X):
        return np.ascontiguousarray(X / divisors, dtype=np.float64)
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    # One type of index, and arrays of our own: kernels are compiled once.
    kind = np.int32 if X.nnz < 2**31 else np.int64
    indices, indptr = X.indices.astype(kind), X.indptr.astype(kind)
    return sparse.csr_array((X.data / divisors[indices], indices, indptr), shape=X.shape)
