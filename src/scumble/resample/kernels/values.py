"""Compiled loops that count the values of nominal columns."""

from __future__ import annotations

from scumble._core.jit import kernel


@kernel
def count_dense(values, n_values, starts, rows, counts):
    """Count each value of each nominal column over some rows."""
    for row in rows:
        for column in range(values.shape[1]):
            if n_values[column] > 0:
                counts[starts[column] + int(values[row, column])] += 1


@kernel
def count_sparse(indptr, indices, data, n_values, starts, rows, counts):
    """Count each value of each nominal column over some rows; what is absent counts as 0."""
    for column in range(len(n_values)):
        if n_values[column] > 0:
            counts[starts[column]] = len(rows)
    for row in rows:
        for place in range(indptr[row], indptr[row + 1]):
            column = indices[place]
            if n_values[column] > 0:
                counts[starts[column] + int(data[place])] += 1
                counts[starts[column]] -= 1
