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
def decouple(indptr, indices, is_minority, rows, is_split, new_indptr, new_indices):
    """Write the labels of the decoupled data: originals first, then a clone per split row.

    A row in ``rows``, marked in ``is_split``, keeps its minority labels in place; its majority
    labels go to the clone. Every label is written and the end moves on only if it is kept: a
    branch on the data would be mispredicted at every second row. So ``new_indices`` needs room
    for one label more than there are.
    """
    n_rows = len(indptr) - 1
    end = np.uint64(0)
    new_indptr[0] = 0
    for row in range(n_rows):
        whole = not is_split[row]
        for place in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            label = indices[place]
            new_indices[end] = label
            end += np.uint64(whole | is_minority[np.uint64(label)])
        new_indptr[row + 1] = end
    for at in range(len(rows)):
        row = rows[at]
        for place in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            label = indices[place]
            new_indices[end] = label
            end += np.uint64(not is_minority[np.uint64(label)])
        new_indptr[n_rows + at + 1] = end
