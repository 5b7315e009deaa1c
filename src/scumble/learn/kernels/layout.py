"""How prepared columns and rows are handed to kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scumble._core.jit import inner_kernel
from scumble.learn.kernels.arithmetic import U


class Columns(NamedTuple):
    """Columns as sorted lists of entries, see `prepare`."""

    entries: np.ndarray
    values: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    defaults: np.ndarray
    n_values: np.ndarray
    n_codes: np.ndarray


class Items(NamedTuple):
    """Nominal columns by row: an item is a column with a value other than its default."""

    indptr: np.ndarray
    indices: np.ndarray
    first: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    codes: np.ndarray


class Rows(NamedTuple):
    """Rows as they came: a dense table or CSR, then extra 0/1 columns as CSR."""

    is_dense: bool
    dense: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    n_features: int
    extra_indptr: np.ndarray
    extra_indices: np.ndarray


@inner_kernel
def value_at(rows, row, column):
    """Look up one cell."""
    if column >= rows.n_features:
        wanted = column - rows.n_features
        low, high = rows.extra_indptr[U(row)], rows.extra_indptr[U(row) + U(1)]
        at = _find(rows.extra_indices, low, high, wanted)
        return 1.0 if at < high and rows.extra_indices[U(at)] == wanted else 0.0
    if rows.is_dense:
        return rows.dense[U(row), U(column)]
    low, high = rows.indptr[U(row)], rows.indptr[U(row) + U(1)]
    at = _find(rows.indices, low, high, column)
    return rows.data[U(at)] if at < high and rows.indices[U(at)] == column else 0.0


@inner_kernel
def _find(indices, low, high, wanted):
    while low < high:
        half = (low + high) // 2
        if indices[U(half)] < wanted:
            low = half + 1
        else:
            high = half
    return low


@inner_kernel
def spread_stored(rows, row, buffer, on):
    """Write the stored cells of a row (or zeros again) into a buffer: CSR and extra columns."""
    if not rows.is_dense:
        for at in range(rows.indptr[U(row)], rows.indptr[U(row) + U(1)]):
            buffer[U(rows.indices[U(at)])] = rows.data[U(at)] if on else 0.0
    if len(rows.extra_indptr) > 1:
        for at in range(rows.extra_indptr[U(row)], rows.extra_indptr[U(row) + U(1)]):
            buffer[U(rows.n_features + rows.extra_indices[U(at)])] = 1.0 if on else 0.0
