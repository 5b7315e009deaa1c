"""Compiled loops that know nothing of labels."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel


@kernel
def check_rows(indptr, indices, start, stop, n_columns):
    """Tell whether rows are strictly increasing: 1 yes, 0 no, -1 an index is out of range.

    Neighbours that do not increase are counted twice, over all elements and over row starts:
    rows increase exactly when the two numbers agree. Neither loop branches on the data, so both
    run at the speed of memory; short chunks let the second find its indices in the cache.
    """
    descents = 0
    for low in range(start, stop, 4096):
        high = min(low + 4096, stop)
        first = np.uint64(indptr[low])
        last = np.uint64(indptr[high])
        if first == last:
            continue
        least = indices[first]
        largest = indices[first]
        for at in range(first, last):
            least = min(least, indices[at])
            largest = max(largest, indices[at])
        if least < 0 or largest >= n_columns:
            return -1
        for at in range(first + np.uint64(1), last):
            descents += indices[at] <= indices[at - np.uint64(1)]
        for row in range(low, high):
            at = np.uint64(indptr[row])
            # The first row of a chunk has no neighbour in it; an empty row has no start.
            if at > first and at < np.uint64(indptr[row + 1]):
                descents -= indices[at] <= indices[at - np.uint64(1)]
    return 1 if descents == 0 else 0
