"""Feature scaling of the rankers: unit-length rows for counts, normal scores for measurements.

Tables of words, tags or other counts are mostly zeros and never negative. There a long text would
have larger scores than a short one; every row is divided by its length, so that inner products of
rows are cosines. All other tables are measurements. There each value is replaced by the normal
score of its rank among the training rows, so that neither outliers nor skewed units dominate
distances, and columns are standardized to mean zero and variance one. The cells decide, not the
container. A table holds counts if no cell is negative, no nominal column has more than two values,
and more than half of the cells are zero in nine of ten columns. Measurements of which most cells
are zero are not centred: zero stays zero, so that a sparse table stays sparse. In tables of more
than 20,000 columns values are not replaced by ranks.
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

#: Number of quantiles that represent the ranks of a column.
N_QUANTILES = 256
#: Cells that one thread ranks at a time.
_AT_ONCE = 2**16
#: The largest number of columns whose values are replaced by ranks: quantiles take 2 kB each.
MOST_RANKED = 20_000


@dataclass(frozen=True, eq=False)
class Scaling:
    """The scaling of features, fitted to training rows."""

    columns: RegressionColumns
    centres: Array | None  # None if zero stays zero
    divisors: Array | None  # None if rows are divided by their lengths
    knots: Array | None = None  # quantiles of each column, see _find_knots; None without ranks

    @classmethod
    def fit_transform(
        cls, X: Any, n_values: Array, weights: Array | None = None, *, n_jobs: int | None = None
    ) -> tuple[Scaling, Any]:
        """Return a scaling fitted to training rows, and the scaled rows."""
        columns = RegressionColumns.of(X, n_values)
        table = columns.transform(X)
        if (n_values <= 2).all() and _holds_counts(table, weights):
            return cls(columns, centres=None, divisors=None), normalize_rows(table)
        n_nonzero = table.nnz if sparse.issparse(table) else np.count_nonzero(table)
        is_mostly_zero = 2 * n_nonzero < table.shape[0] * table.shape[1]
        if not is_mostly_zero:
            table = to_dense(table)
        knots = None
        if table.shape[1] <= MOST_RANKED:
            knots = _find_knots(table, weights)
            table = _normal_scores(table, knots, keep_zero=is_mostly_zero, n_jobs=n_jobs)
        means, deviations = _means_and_deviations(table, weights)
        # Constant columns have no information: a divisor of infinity makes them 0.
        varies = deviations > 1e-12 * np.maximum(np.abs(means), 1e-300)
        scaling = cls(
            columns,
            centres=None if is_mostly_zero else means,
            divisors=np.where(varies, deviations, np.inf),
            knots=knots,
        )
        return scaling, scaling._standardize(table)

    def transform(self, X: Any, *, n_jobs: int | None = None) -> Any:
        """Return scaled rows."""
        table = self.columns.transform(X)
        if self.divisors is None:
            return normalize_rows(table)
        if self.centres is not None:
            table = to_dense(table)
        if self.knots is not None:
            table = _normal_scores(table, self.knots, keep_zero=self.centres is None, n_jobs=n_jobs)
        return self._standardize(table)

    def _standardize(self, table: Any) -> Any:
        """Return the table with columns centred, unless zero stays zero, and divided."""
        assert self.divisors is not None
        if sparse.issparse(table):
            data = table.data / self.divisors[table.indices]
            return sparse.csr_array((data, table.indices, table.indptr), shape=table.shape)
        if self.centres is None:
            return table / self.divisors
        return (table - self.centres) / self.divisors


def _holds_counts(table: Any, weights: Array | None) -> bool:
    """Return whether no cell is negative and nine of ten columns are mostly zero."""
    cells = table.data if sparse.issparse(table) else table
    if not (cells >= 0).all():
        return False
    rows, columns = table.nonzero()
    cell_weights = None if weights is None else weights[rows]
    total = table.shape[0] if weights is None else weights.sum()
    n_nonzero = np.bincount(columns, cell_weights, minlength=table.shape[1])
    return bool((2 * n_nonzero < total).mean() >= 0.9)


def _find_knots(table: Any, weights: Array | None) -> Array:
    """Return quantiles of each column: the middles of 256 equal shares of the rows."""
    # The first and the last knot are the smallest and the largest value.
    middles = (2 * np.arange(N_QUANTILES) + 1) / (2 * N_QUANTILES)
    knots = np.empty((N_QUANTILES, table.shape[1]))
    if weights is None and not sparse.issparse(table):  # same result, three times as fast
        positions = (middles * len(table)).astype(np.int64)
        positions[0] = 0
        positions[-1] = len(table) - 1
        for column, values in enumerate(table.T):
            knots[:, column] = np.sort(values)[positions]
        return knots
    row_weights = np.ones(table.shape[0]) if weights is None else weights
    for column, (values, value_weights) in enumerate(_weighted_columns(table, row_weights)):
        order = np.argsort(values)
        cumulative = np.cumsum(value_weights[order])
        positions = np.searchsorted(cumulative, middles * cumulative[-1], side="right")
        positions[0] = 0
        positions[-1] = len(values) - 1
        knots[:, column] = values[order[positions]]
    return knots


def _weighted_columns(table: Any, weights: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the values of each column and their weights.

    Zeros that a sparse matrix does not store are one value with the sum of their weights.
    """
    if not sparse.issparse(table):
        for values in table.T:
            yield values, weights
        return
    table = sparse.csc_array(table)
    for start, stop in pairwise(table.indptr):
        values = table.data[start:stop]
        value_weights = weights[table.indices[start:stop]]
        if stop - start < table.shape[0]:
            zero_weight = weights.sum() - value_weights.sum()
            values = np.append(values, 0.0)
            value_weights = np.append(value_weights, zero_weight)
        yield values, value_weights


def _normal_scores(table: Any, knots: Array, *, keep_zero: bool, n_jobs: int | None) -> Any:
    """Return the normal scores of values, less the score of zero if zero has to stay zero."""
    is_sparse = sparse.issparse(table)
    table = sparse.csc_array(table) if is_sparse else table
    scores = np.empty(table.data.shape if is_sparse else table.shape)
    n_columns = knots.shape[1]

    def score(block: slice) -> None:
        for column in range(n_columns)[block]:
            quantiles = knots[:, column]
            # A value that equals several quantiles has the rank of their middle.
            first = np.searchsorted(quantiles, quantiles)
            last = np.searchsorted(quantiles, quantiles, side="right")
            knot_scores = ndtri((first + last) / (2 * N_QUANTILES))
            if is_sparse:
                cells: Any = slice(table.indptr[column], table.indptr[column + 1])
                values = table.data[cells]
            else:
                cells = np.s_[:, column]
                values = table[cells]
            # Between knots that are nearly equal, the slope of the interpolation may overflow.
            column_scores = np.interp(values, quantiles, knot_scores)
            column_scores = column_scores.clip(knot_scores[0], knot_scores[-1])
            if keep_zero:
                column_scores = column_scores - np.interp(0.0, quantiles, knot_scores)
            scores[cells] = column_scores

    blocks = row_slices(n_columns, scores.size // max(1, n_columns), _AT_ONCE)
    run_in_threads(score, blocks, n_jobs=n_jobs)
    if not is_sparse:
        return scores
    return sparse.csr_array(sparse.csc_array((scores, table.indices, table.indptr), table.shape))


def _means_and_deviations(table: Any, weights: Array | None) -> tuple[Array, Array]:
    """Return weighted means and standard deviations of the columns."""
    if not sparse.issparse(table):
        means = np.average(table, axis=0, weights=weights)
        return means, np.sqrt(np.average((table - means) ** 2, axis=0, weights=weights))
    row_weights = np.ones(table.shape[0]) if weights is None else weights
    total = row_weights.sum()
    means = np.asarray(row_weights @ table) / total
    cell_weights = np.repeat(row_weights, np.diff(table.indptr))
    squares = (table.data - means[table.indices]) ** 2 * cell_weights
    nonzero_weight = np.asarray(row_weights @ (table != 0))
    sums = np.bincount(table.indices, squares, minlength=table.shape[1])
    sums += np.maximum(total - nonzero_weight, 0) * means**2
    return means, np.sqrt(sums / total)


def normalize_rows(table: Any) -> Any:
    """Return the rows divided by their lengths; rows of zeros stay."""
    if not sparse.issparse(table):
        lengths = np.sqrt((table * table).sum(axis=1))
        return table / np.where(lengths > 0, lengths, 1.0)[:, None]
    n_stored = np.diff(table.indptr)
    rows = np.repeat(np.arange(len(n_stored)), n_stored)
    lengths = np.sqrt(np.bincount(rows, table.data**2, minlength=len(n_stored)))
    data = table.data / np.where(lengths > 0, lengths, 1.0)[rows]
    return sparse.csr_array((data, table.indices, table.indptr), shape=table.shape)
