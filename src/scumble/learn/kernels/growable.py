"""Arrays that grow inside kernels: a full one is replaced by a larger copy."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import inner_kernel


@inner_kernel
def room_for(array, size):
    """Return the array itself if it holds ``size`` elements, or a copy twice as long."""
    if size <= array.shape[0]:
        return array
    larger = np.empty(max(size, 2 * array.shape[0]), array.dtype)
    for at in range(array.shape[0]):  # a slice assignment would take a second to compile
        larger[at] = array[at]
    return larger


@inner_kernel
def room_for_rows(table, size):
    """Do the same for the rows of a table."""
    if size <= table.shape[0]:
        return table
    larger = np.empty((max(size, 2 * table.shape[0]), table.shape[1]), table.dtype)
    for at in range(table.shape[0]):
        for column in range(table.shape[1]):
            larger[at, column] = table[at, column]
    return larger


@inner_kernel
def clear_row(table, row):
    """Set a row of a table to zero."""
    for column in range(table.shape[1]):
        table[row, column] = 0


@inner_kernel
def row_sum(table, row):
    """Sum a row of a table."""
    total = 0.0
    for column in range(table.shape[1]):
        total += table[row, column]
    return total
