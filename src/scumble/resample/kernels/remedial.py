"""Compiled loops of REMEDIAL."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel


@kernel
def count_sides(indptr, indices, is_minority, rows, start, stop, n_majority, mixed):
    """Count the majority labels of ``rows[start:stop]``, and tell which have minority ones too."""
    for at in range(start, stop):
        first = np.uint64(indptr[rows[at]])
        last = np.uint64(indptr[rows[at] + 1])
        found = 0
        for place in range(first, last):
            found += not is_minority[np.uint64(indices[place])]
        n_majority[at] = found
        mixed[at] = (found > 0) & (found < last - first)


@kernel
def write_originals(
    indptr, indices, is_minority, is_split, start, stop, end, last, new_indptr, new_indices
):
    """Write the rows start..stop to the places end..last; a split row keeps its minority labels.

    Every label is written and the end moves on only if it is kept: a branch on the data would be
    mispredicted at every second row. Only the very last place, after which others write, is
    watched.
    """
    for row in range(start, stop):
        whole = not is_split[row]
        for place in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            label = indices[place]
            if end < last:
                new_indices[end] = label
            end += np.uint64(whole | is_minority[np.uint64(label)])
        new_indptr[row + 1] = end


@kernel
def write_clones(
    indptr, indices, is_minority, rows, start, stop, end, last, new_indptr, new_indices
):
    """Write the majority labels of ``rows[start:stop]`` to the places end..last.

    They become the rows after the originals.
    """
    n_rows = len(indptr) - 1
    for at in range(start, stop):
        row = rows[at]
        for place in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            label = indices[place]
            if end < last:
                new_indices[end] = label
            end += np.uint64(not is_minority[np.uint64(label)])
        new_indptr[n_rows + at + 1] = end
