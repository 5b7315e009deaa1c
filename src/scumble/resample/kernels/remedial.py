"""Compiled loops of REMEDIAL."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel


@kernel
def count_sides(indptr, indices, is_minority, rows, n_minority):
    """Count the minority labels of the given rows."""
    for at in range(len(rows)):
        found = 0
        for place in range(np.uint64(indptr[rows[at]]), np.uint64(indptr[rows[at] + 1])):
            found += is_minority[np.uint64(indices[place])]
        n_minority[at] = found


@kernel
def decouple(indptr, indices, is_minority, rows, new_indptr, new_indices):
    """Write the labels of the decoupled data: originals first, then a clone per split row.

    A row in ``rows`` (increasing) keeps its minority labels in place; its majority labels go to
    the clone. ``new_indptr`` and ``new_indices`` have room for all of them.
    """
    n_rows = len(indptr) - 1
    end = 0
    at = 0
    new_indptr[0] = 0
    for row in range(n_rows):
        splits = at < len(rows) and rows[at] == row
        at += splits
        for place in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            label = indices[place]
            if not splits or is_minority[np.uint64(label)]:
                new_indices[np.uint64(end)] = label
                end += 1
        new_indptr[row + 1] = end
    for at in range(len(rows)):
        row = rows[at]
        for place in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            label = indices[place]
            if not is_minority[np.uint64(label)]:
                new_indices[np.uint64(end)] = label
                end += 1
        new_indptr[n_rows + at + 1] = end
