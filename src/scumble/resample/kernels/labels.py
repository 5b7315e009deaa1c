"""Compiled loops over the labels of a row and of its neighbours."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel

RANKING, RANKING_TIES, UNION, INTERSECTION = 0, 1, 2, 3


@kernel
def count_different(indices, a, a_end, b, b_end):
    """Count the labels that exactly one of two rows has."""
    different = 0
    while a < a_end and b < b_end:
        if indices[a] == indices[b]:
            a += 1
            b += 1
        elif indices[a] < indices[b]:
            different += 1
            a += 1
        else:
            different += 1
            b += 1
    return different + (a_end - a) + (b_end - b)


@kernel
def label_distance(indptr, indices, row, other, union):
    """Share of labels that differ, of both rows' labels or of those active in either."""
    a, a_end = indptr[row], indptr[row + 1]
    b, b_end = indptr[other], indptr[other + 1]
    n_both = (a_end - a) + (b_end - b)
    if n_both == 0:
        return 0.0
    different = count_different(indices, a, a_end, b, b_end)
    # Labels in both count twice: (|A| + |B| + different) / 2 labels are active in either.
    return different / ((n_both + different) / 2 if union else n_both)


@kernel
def count_far(indptr, indices, rows, neighbours, threshold, union, start, stop, n_far):
    """Count the neighbours of rows start..stop whose labels differ by more than a threshold."""
    for at in range(start, stop):
        count = 0
        for near in range(neighbours.shape[1]):
            other = neighbours[at, near]
            count += label_distance(indptr, indices, rows[at], other, union) > threshold
        n_far[at] = count


@kernel
def combine_labels(
    indptr,
    indices,
    n_labels,
    seeds,
    neighbours,
    n_found,
    strategy,
    starts,
    start,
    stop,
    out_indices,
    lengths,
):
    """Choose the labels of synthetic rows start..stop from their seeds and neighbours."""
    counts = np.zeros(n_labels, np.int64)
    touched = np.empty(n_labels, np.int64)
    for at in range(start, stop):
        n_touched = 0
        n_rows = n_found[at] + 1
        for member in range(n_rows):
            row = seeds[at] if member == 0 else neighbours[at, member - 1]
            for place in range(indptr[row], indptr[row + 1]):
                label = indices[place]
                if counts[label] == 0:
                    touched[n_touched] = label
                    n_touched += 1
                counts[label] += 1
        end = starts[at]
        for label in np.sort(touched[:n_touched]):
            count = counts[label]
            counts[label] = 0
            if strategy == 0:
                chosen = 2 * count > n_rows
            elif strategy == 1:
                chosen = 2 * count >= n_rows
            elif strategy == 2:
                chosen = True
            else:
                chosen = count == n_rows
            if chosen:
                out_indices[end] = label
                end += 1
        lengths[at] = end - starts[at]
