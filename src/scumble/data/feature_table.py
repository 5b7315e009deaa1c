"""Features column by column: what values they hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble.data.dataset import Feature, MultilabelDataset

Array = np.ndarray[Any, Any]
#: Values of dense columns looked at in one go.
BLOCK = 4 << 20
#: Values of a nominal feature that are listed.
N_LISTED = 6


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """The range of every feature, in data order.

    Attributes
    ----------
    name, kind : tuple of str
        As in `Feature`.
    n_missing, n_nonzero : ndarray of int64, shape (n_features,)
        Values that are missing; values other than 0 (and not missing).
    minimum, mean, maximum : ndarray of float, shape (n_features,)
        Of the values present; NaN for features that hold codes, and without values.
    """

    name: tuple[str, ...]
    kind: tuple[str, ...]
    n_missing: Array
    n_nonzero: Array
    minimum: Array
    mean: Array
    maximum: Array

    def __len__(self) -> int:
        return len(self.name)


def feature_table(data: MultilabelDataset) -> FeatureTable:
    """Describe the range of every feature.

    Parameters
    ----------
    data : MultilabelDataset
        The data.

    Returns
    -------
    FeatureTable
        One row per feature.

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> from scumble.data.feature_table import feature_table
    >>> table = feature_table(MultilabelDataset([[1.0, 0.0], [3.0, 2.0]], [["a"], ["b"]]))
    >>> table.mean, table.n_nonzero
    (array([2., 1.]), array([2, 1]))
    """
    missing, nonzero, low, mean, high = (
        _of_sparse(data.X) if sparse.issparse(data.X) else _of_dense(data.X)
    )
    codes = np.array([feature.is_categorical for feature in data.features], bool)
    for column in (low, mean, high):
        column[codes] = np.nan
    return FeatureTable(
        data.feature_names,
        tuple(feature.kind for feature in data.features),
        missing,
        nonzero,
        low,
        mean,
        high,
    )


def describe_features(data: MultilabelDataset, columns: Sequence[int]) -> list[dict[str, Any]]:
    """Look closer at some features: quartiles, or the most frequent values.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    columns : sequence of int
        Their numbers.

    Returns
    -------
    list of dict
        ``quartiles`` (three floats, or None) and ``values`` (pairs of value and count, the most
        frequent first), ``n_values`` (how many occur).

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> from scumble.data.feature_table import describe_features
    >>> data = MultilabelDataset([[1.0], [2.0], [9.0]], [["a"], ["b"], ["b"]])
    >>> describe_features(data, [0])
    [{'quartiles': [1.5, 2.0, 5.5], 'values': [], 'n_values': 3}]
    """
    chosen: Any = data.X[:, list(columns)]
    block = chosen.toarray() if sparse.issparse(chosen) else chosen
    found = []
    for at, column in enumerate(columns):
        present = block[~np.isnan(block[:, at]), at]
        found.append(_describe(data.features[column], present))
    return found


def _describe(feature: Feature, present: Array) -> dict[str, Any]:
    distinct, times = np.unique(present, return_counts=True)
    if not feature.is_categorical:
        quartiles = np.quantile(present, (0.25, 0.5, 0.75)).tolist() if len(present) else None
        return {"quartiles": quartiles, "values": [], "n_values": len(distinct)}
    order = np.lexsort((distinct, -times))[:N_LISTED]
    values = [(_value(feature, distinct[k]), int(times[k])) for k in order]
    return {"quartiles": None, "values": values, "n_values": len(distinct)}


def _value(feature: Feature, code: float) -> str:
    at = int(code)
    return feature.categories[at] if 0 <= at < len(feature.categories) else str(at)


def _of_dense(X: Array) -> tuple[Array, ...]:
    n_rows, n_columns = X.shape
    parts = _empty(n_columns)
    step = max(1, BLOCK // max(n_rows, 1))
    for start in range(0, n_columns, step):
        block = X[:, start : start + step]
        gaps = np.isnan(block)
        n_missing = gaps.sum(axis=0)
        n_present = n_rows - n_missing
        filled = np.where(gaps, 0.0, block)
        stop = start + block.shape[1]
        parts[0][start:stop] = n_missing
        parts[1][start:stop] = np.count_nonzero(filled, axis=0)
        if n_rows:
            low = np.where(gaps, np.inf, block).min(axis=0)
            high = np.where(gaps, -np.inf, block).max(axis=0)
            parts[2][start:stop] = np.where(n_present > 0, low, np.nan)
            parts[3][start:stop] = _ratio(filled.sum(axis=0), n_present)
            parts[4][start:stop] = np.where(n_present > 0, high, np.nan)
    return parts


def _of_sparse(X: sparse.csr_array) -> tuple[Array, ...]:
    n_rows, n_columns = X.shape
    parts = _empty(n_columns)
    gaps = np.isnan(X.data)
    columns = X.indices
    stored = np.bincount(columns, minlength=n_columns)
    parts[0][:] = np.bincount(columns[gaps], minlength=n_columns)
    parts[1][:] = stored - parts[0]
    n_present = n_rows - parts[0]
    kept, values = columns[~gaps], X.data[~gaps]
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    np.minimum.at(low, kept, values)
    np.maximum.at(high, kept, values)
    has_zero = stored < n_rows  # a value that is not stored is 0
    low[has_zero], high[has_zero] = np.minimum(low[has_zero], 0), np.maximum(high[has_zero], 0)
    parts[2][:] = np.where(n_present > 0, low, np.nan)
    parts[3][:] = _ratio(np.bincount(kept, weights=values, minlength=n_columns), n_present)
    parts[4][:] = np.where(n_present > 0, high, np.nan)
    return parts


def _empty(n_columns: int) -> tuple[Array, ...]:
    counts = [np.zeros(n_columns, np.int64) for _ in range(2)]
    numbers = [np.full(n_columns, math.nan) for _ in range(3)]
    return (*counts, *numbers)


def _ratio(total: Array, count: Array) -> Array:
    return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
