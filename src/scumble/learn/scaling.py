"""Features on one scale: rows of counts to length one, columns of measurements to normal scores.

Tables of words, tags or other counts are mostly zeros and never negative: there a long text would
speak louder than a short one, and every row is divided by its length, so that products of rows
are cosines. All other tables are measurements. There each value is replaced by where its rank
among the training rows would lie under the bell curve, so that neither outliers nor a crooked unit
rule what is near, and columns are brought to mean zero and variance one. The cells decide and not
the container. A table holds counts if none is below zero, no column is nominal with more than two
values, and zero is the most frequent value by far, more than half of the cells, in nine of ten
columns. Measurements of which most cells are zero are not centred: zero stays zero, so that a
sparse table stays sparse. Beyond 20,000 columns values keep their own distances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from scumble._core.arrays import Array, to_dense
from scumble._core.parallel import row_slices, run_in_threads
from scumble.learn.regression_columns import RegressionColumns

#: Ranks are told apart to one in so many.
N_QUANTILES = 256
#: So many cells are ranked at a time.
_AT_ONCE = 2**16
#: Values of so many columns become ranks.
MOST_RANKED = 20_000


@dataclass(frozen=True, eq=False)
class Scaling:
    """How features become columns of one scale, learnt from training rows."""

    columns: RegressionColumns
    centres: Array | None  # None where zero stays zero
    divisors: Array | None  # None where rows are brought to length one
    knots: Array | None = None  # 256 values of each column, see _find_knots; None where no ranks

    @classmethod
    def of(
        cls, X: Any, n_values: Array, weights: Array | None = None, *, n_jobs: int | None = None
    ) -> tuple[Scaling, Any]:
        """Learn the scale of training rows, and bring them to it."""
        columns = RegressionColumns.of(X, n_values)
        table = columns.transform(X)
        if (n_values <= 2).all() and _holds_counts(table, weights):
            return cls(columns, None, None), normalize_rows(table)
        stored = table.nnz if sparse.issparse(table) else np.count_nonzero(table)
        mostly_zero = 2 * stored < table.shape[0] * table.shape[1]
        if not mostly_zero:
            table = to_dense(table)
        knots = None
        if table.shape[1] <= MOST_RANKED:
            knots = _find_knots(table, weights)
            table = _scores(table, knots, mostly_zero, n_jobs)
        means, spreads = _moments(table, weights)
        # A constant column tells nothing: dividing by infinity makes it 0 everywhere.
        divisors = np.where(spreads > 1e-12 * np.maximum(np.abs(means), 1e-300), spreads, np.inf)
        scaling = cls(columns, None if mostly_zero else means, divisors, knots)
        return scaling, scaling._divide(table)

    def transform(self, X: Any, *, n_jobs: int | None = None) -> Any:
        """Bring rows to this scale."""
        table = self.columns.transform(X)
        if self.divisors is None:
            return normalize_rows(table)
        if self.centres is not None:
            table = to_dense(table)
        if self.knots is not None:
            table = _scores(table, self.knots, self.centres is None, n_jobs)
        return self._divide(table)

    def _divide(self, table: Any) -> Any:
        if not sparse.issparse(table):
            return (table if self.centres is None else table - self.centres) / self.divisors
        divided = table.data / self.divisors[table.indices]  # type: ignore[index]  # None for counts alone
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


def _find_knots(table: Any, weights: Array | None) -> Array:
    """Return for each column the values at the middles of 256 equal shares of the rows."""
    middles = (2 * np.arange(N_QUANTILES) + 1) / (2 * N_QUANTILES)
    knots = np.empty((N_QUANTILES, table.shape[1]))
    if weights is None and not sparse.issparse(table):  # the same, three times as fast
        at = (middles * len(table)).astype(np.int64)
        at[0], at[-1] = 0, len(table) - 1  # what is beyond all training rows is no further away
        for column, values in enumerate(table.T):
            knots[:, column] = np.sort(values)[at]
        return knots
    counted = np.ones(table.shape[0]) if weights is None else weights
    for column, (values, shares) in enumerate(_columns(table, counted)):
        order = np.argsort(values)
        reached = np.cumsum(shares[order])
        at = np.searchsorted(reached, middles * reached[-1], side="right")
        at[0], at[-1] = 0, len(values) - 1
        knots[:, column] = values[order[at]]
    return knots


def _columns(table: Any, weights: Array) -> Iterator[tuple[Array, Array]]:
    """Give the values of each column and their weights; zeros that are not stored as one."""
    if not sparse.issparse(table):
        yield from ((values, weights) for values in table.T)
        return
    table = sparse.csc_array(table)
    for start, stop in pairwise(table.indptr):
        stored = weights[table.indices[start:stop]]
        absent = [weights.sum() - stored.sum()] if stop - start < table.shape[0] else []
        yield np.append(table.data[start:stop], np.zeros(len(absent))), np.append(stored, absent)


def _scores(table: Any, knots: Array, from_zero: bool, n_jobs: int | None) -> Any:
    """Turn values into normal scores, or into how far these are from the score of zero."""
    is_sparse = sparse.issparse(table)
    table = sparse.csc_array(table) if is_sparse else table
    out = np.empty(table.data.shape if is_sparse else table.shape)

    n_columns = knots.shape[1]

    def score(block: slice) -> None:
        for column in range(n_columns)[block]:
            steps = knots[:, column]
            # A value that fills several steps has the rank of their middle.
            first, last = np.searchsorted(steps, steps), np.searchsorted(steps, steps, side="right")
            heights = ndtri((first + last) / (2 * N_QUANTILES))
            own = slice(*table.indptr[column : column + 2]) if is_sparse else np.s_[:, column]
            values = table.data[own] if is_sparse else table[own]
            # Between steps that are nearly equal a slope may overflow.
            scores = np.interp(values, steps, heights).clip(heights[0], heights[-1])
            out[own] = scores - np.interp(0.0, steps, heights) if from_zero else scores

    run_in_threads(
        score, row_slices(n_columns, out.size // max(1, n_columns), _AT_ONCE), n_jobs=n_jobs
    )
    if not is_sparse:
        return out
    return sparse.csr_array(sparse.csc_array((out, table.indices, table.indptr), table.shape))


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


def normalize_rows(table: Any) -> Any:
    """Divide every row by its length; rows of zeros stay."""
    if not sparse.issparse(table):
        lengths = np.sqrt((table * table).sum(axis=1))
        return table / np.where(lengths > 0, lengths, 1.0)[:, None]
    sizes = np.diff(table.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    lengths = np.sqrt(np.bincount(rows, table.data**2, minlength=len(sizes)))
    data = table.data / np.where(lengths > 0, lengths, 1.0)[rows]
    return sparse.csr_array((data, table.indices, table.indptr), shape=table.shape)
