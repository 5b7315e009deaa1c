"""Features on one scale: rows of counts to length one, columns of measurements to normal scores.

Tables of words, tags or other counts are mostly zeros and never negative: there a long text would
speak louder than a short one, and every row is divided by its length, so that products of rows
are cosines. All other tables are measurements. There each value is replaced by where its rank
among the training rows would lie under the bell curve, so that neither outliers nor a crooked unit
rule what is near, and columns are brought to mean zero and variance one. The cells decide and not
the container: none is below zero, no column is nominal with more than two values, and zero is the
most frequent value by far, more than half of the cells, in nine of ten columns. A sparse table of
measurements becomes dense if at least half of its cells are there; else its columns are only
divided, and it stays sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from scumble._core.arrays import Array, dense
from scumble.learn.regression_columns import RegressionColumns

#: Ranks are told apart to one in so many.
N_STEPS = 255


@dataclass(frozen=True, eq=False)
class Scaling:
    """How features become columns of one scale, learnt from training rows."""

    columns: RegressionColumns
    centres: Array | None  # None where columns stay sparse
    divisors: Array | None  # None where rows are brought to length one
    #: Values of each column that so many 255ths of the training rows do not exceed, for 0 to 255.
    knots: Array | None = None  # None where values stay what they are

    @classmethod
    def of(cls, X: Any, n_values: Array, weights: Array | None = None) -> tuple[Scaling, Any]:
        """Learn the scale of training rows, and bring them to it."""
        columns = RegressionColumns.of(X, n_values)
        table = columns.take(X)
        if (n_values <= 2).all() and _holds_counts(table, weights):
            return cls(columns, None, None), rows_of_length_one(table)
        stays_sparse = sparse.issparse(table) and 2 * table.nnz < table.shape[0] * table.shape[1]
        knots = None
        if not stays_sparse:
            knots = _find_knots(dense(table), weights)
            table = _scores(dense(table), knots)
        means, spreads = _moments(table, weights)
        # A constant column tells nothing: dividing by infinity makes it 0 everywhere.
        divisors = np.where(spreads > 1e-12 * np.maximum(np.abs(means), 1e-300), spreads, np.inf)
        scaling = cls(columns, None if stays_sparse else means, divisors, knots)
        return scaling, scaling._divide(table)

    def take(self, X: Any) -> Any:
        """Bring rows to this scale."""
        table = self.columns.take(X)
        if self.divisors is None:
            return rows_of_length_one(table)
        return self._divide(table if self.knots is None else _scores(dense(table), self.knots))

    def _divide(self, table: Any) -> Any:
        if not sparse.issparse(table):
            return (table - self.centres) / self.divisors
        divided = table.data / self.divisors[table.indices]  # type: ignore[index]  # see above
        return sparse.csr_array((divided, table.indices, table.indptr), shape=table.shape)


def _holds_counts(table: Any, weights: Array | None) -> bool:
    """Tell whether no cell is negative and most columns are mostly zero."""
    if not ((table.data if sparse.issparse(table) else table) >= 0).all():
        return False
    rows, stored = table.nonzero()
    counts = None if weights is None else weights[rows]
    total = table.shape[0] if weights is None else weights.sum()
    n_filled = np.bincount(stored, counts, minlength=table.shape[1])
    return bool((2 * n_filled < total).mean() >= 0.9)


def _find_knots(table: Array, weights: Array | None) -> Array:
    """Return for each column the values at evenly spaced shares of the rows."""
    shares = np.arange(N_STEPS + 1) / N_STEPS
    knots = np.empty((N_STEPS + 1, table.shape[1]))
    for column, values in enumerate(np.ascontiguousarray(table.T)):
        if weights is None:
            values.sort()
            at = np.ceil(shares * len(values)).astype(np.int64) - 1
        else:
            order = np.argsort(values)
            reached, values = np.cumsum(weights[order]), values[order]
            at = np.searchsorted(reached, shares * reached[-1])
        knots[:, column] = values[np.clip(at, 0, len(values) - 1)]
    return knots


def _scores(table: Array, knots: Array) -> Array:
    """Turn values into normal scores: where their rank would lie under the bell curve."""
    scores = np.empty(table.shape)
    for column, steps in enumerate(knots.T):
        # A value that fills several steps has the rank of their middle.
        first, last = np.searchsorted(steps, steps), np.searchsorted(steps, steps, side="right")
        heights = ndtri((first + last) / 2 / (N_STEPS + 1))
        scores[:, column] = np.interp(table[:, column], steps, heights)
    return scores


def _moments(table: Any, weights: Array | None) -> tuple[Array, Array]:
    """Return means and standard deviations of the columns."""
    if not sparse.issparse(table):
        means = np.average(table, axis=0, weights=weights)
        return means, np.sqrt(np.average((table - means) ** 2, axis=0, weights=weights))
    shares = np.ones(table.shape[0]) if weights is None else weights
    means = np.asarray(shares @ table) / shares.sum()
    apart = (table.data - means[table.indices]) ** 2 * np.repeat(shares, np.diff(table.indptr))
    filled = np.asarray(shares @ (table != 0))
    squares = np.bincount(table.indices, apart, minlength=table.shape[1])
    squares += np.maximum(shares.sum() - filled, 0) * means**2
    return means, np.sqrt(squares / shares.sum())


def rows_of_length_one(table: Any) -> Any:
    """Divide every row by its length; rows of zeros stay."""
    if not sparse.issparse(table):
        lengths = np.sqrt((table * table).sum(axis=1))
        return table / np.where(lengths > 0, lengths, 1.0)[:, None]
    sizes = np.diff(table.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    lengths = np.sqrt(np.bincount(rows, table.data**2, minlength=len(sizes)))
    data = table.data / np.where(lengths > 0, lengths, 1.0)[rows]
    return sparse.csr_array((data, table.indices, table.indptr), shape=table.shape)
