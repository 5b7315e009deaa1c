"""Features column by column: what values they hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.data.dataset import Feature, MultilabelDataset

#: Values of dense columns looked at in one go.
BLOCK = 4 << 20
#: Values of a nominal feature that are listed.
N_LISTED = 6
#: Classes, or values of a nominal feature, in a picture of one feature.
N_DRAWN = 30


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """The range of every feature, in data order."""

    name: tuple[str, ...]
    kind: tuple[str, ...]
    n_missing: Array
    n_nonzero: Array
    minimum: Array  # of the values present; NaN for features that hold codes, and without values
    mean: Array
    maximum: Array

    def __len__(self) -> int:
        return len(self.name)


def feature_table(data: MultilabelDataset) -> FeatureTable:
    """Describe the range of every feature."""
    missing, nonzero, low, mean, high = (
        _of_sparse(data.X) if sparse.issparse(data.X) else _of_dense(data.X)
    )
    codes = np.array([feature.holds_codes for feature in data.features], bool)
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
    """Look closer at some features: quartiles, or the most frequent values."""
    chosen: Any = data.X[:, list(columns)]
    if sparse.issparse(chosen):
        chosen = sparse.csc_array(chosen)
    return [
        _describe(data.features[column], *_values(chosen, at)) for at, column in enumerate(columns)
    ]


def feature_distribution(data: MultilabelDataset, column: int) -> dict[str, Any]:
    """Count the values of a feature: in classes of equal width, or one by one if it is nominal."""
    chosen: Any = data.X[:, [column]]
    values, n_zeros = _values(sparse.csc_array(chosen) if sparse.issparse(chosen) else chosen, 0)
    if data.features[column].is_categorical:
        listed = _describe(data.features[column], values, n_zeros, N_DRAWN)["values"]
        return {"edges": [], "counts": [], "values": listed}
    if n_zeros:
        values = np.append(values, 0.0)  # stands for all zeros; counted below
    finite = values[np.isfinite(values)]
    if not len(finite):
        return {"edges": [], "counts": [], "values": []}
    low, high = float(finite.min()), float(finite.max())
    if high - low < N_DRAWN and np.all(finite == np.round(finite)):
        edges = np.arange(low, high + 2) - 0.5
    else:
        edges = np.linspace(low, high if high > low else low + 1, N_DRAWN + 1)
    counts, _ = np.histogram(finite, edges)
    if n_zeros:
        counts[min(int(np.searchsorted(edges, 0.0, "right")) - 1, len(counts) - 1)] += n_zeros - 1
    return {"edges": edges.tolist(), "counts": counts.tolist(), "values": []}


def _values(X: Any, at: int) -> tuple[Array, int]:
    """Sort the values of a column; zeros that are not stored are only counted."""
    stored = X.data[X.indptr[at] : X.indptr[at + 1]] if sparse.issparse(X) else X[:, at]
    return np.sort(stored[~np.isnan(stored)]), X.shape[0] - len(stored)


def _describe(
    feature: Feature, values: Array, n_zeros: int, n_listed: int = N_LISTED
) -> dict[str, Any]:
    distinct, times = np.unique(values, return_counts=True)
    if n_zeros and 0.0 in distinct:
        times[np.searchsorted(distinct, 0.0)] += n_zeros
    elif n_zeros:
        distinct, times = np.append(distinct, 0.0), np.append(times, n_zeros)
    if not feature.holds_codes:
        return {"quartiles": _quartiles(values, n_zeros), "values": [], "n_values": len(distinct)}
    order = np.lexsort((distinct, -times))[:n_listed]
    listed = [(_value(feature, distinct[k]), int(times[k])) for k in order]
    return {"quartiles": None, "values": listed, "n_values": len(distinct)}


def _quartiles(values: Array, n_zeros: int) -> list[float] | None:
    """Quartiles of sorted values among which so many zeros stand, as `numpy.quantile` has them."""
    n = len(values) + n_zeros
    if not n:
        return None
    n_negative = int(np.searchsorted(values, 0.0))

    def ranked(at: int) -> float:
        if at < n_negative:
            return float(values[at])
        return 0.0 if at < n_negative + n_zeros else float(values[at - n_zeros])

    found = []
    for share in (0.25, 0.5, 0.75):
        place = (n - 1) * share
        low = int(place)
        below, above = ranked(low), ranked(min(low + 1, n - 1))
        found.append(below + (above - below) * (place - low))
    return found


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
