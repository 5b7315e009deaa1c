"""Features column by column: what values they hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, column_min_max
from scumble._core.parallel import row_slices
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
    X: Any = data.X
    parts = [X[:, part] for part in row_slices(data.n_features, len(data), BLOCK)]
    counted = [_count(part) for part in ([X] if data.is_sparse or not parts else parts)]
    missing, nonzero, total = map(np.concatenate, zip(*counted, strict=True))
    low, high = column_min_max(X)
    n_present = len(data) - missing
    mean = np.divide(total, n_present, out=np.full(len(total), np.nan), where=n_present > 0)
    codes = np.array([feature.holds_codes for feature in data.features], bool)
    for column in (low, mean, high):
        column[codes] = np.nan
    kinds = tuple(feature.kind for feature in data.features)
    return FeatureTable(data.feature_names, kinds, missing, nonzero, low, mean, high)


def _count(X: Any) -> tuple[Array, Array, Array]:
    """Count the missing and the other values of each column that are not 0, and add these up."""
    if not sparse.issparse(X):
        gaps = np.isnan(X)
        filled = np.where(gaps, 0.0, X)
        return gaps.sum(axis=0), np.count_nonzero(filled, axis=0), filled.sum(axis=0)
    n, columns, gaps = X.shape[1], X.indices, np.isnan(X.data)
    missing = np.bincount(columns[gaps], minlength=n)
    total = np.bincount(columns, weights=np.where(gaps, 0.0, X.data), minlength=n)
    return missing, np.bincount(columns, minlength=n) - missing, total


def describe_features(data: MultilabelDataset, columns: Sequence[int]) -> list[dict[str, Any]]:
    """Look closer at some features: quartiles, or the most frequent values."""
    values = _values(data, columns)
    return [_describe(data.features[at], *found) for at, found in zip(columns, values, strict=True)]


def feature_distribution(data: MultilabelDataset, column: int) -> dict[str, Any]:
    """Count the values of a feature: in classes of equal width, or one by one if it is nominal."""
    values, n_zeros = next(_values(data, [column]))
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


def _values(data: MultilabelDataset, columns: Sequence[int]) -> Iterator[tuple[Array, int]]:
    """Sort the values of some columns; zeros that are not stored are only counted."""
    X: Any = data.X[:, list(columns)]
    X = sparse.csc_array(X) if data.is_sparse else X
    for at in range(len(columns)):
        stored = X.data[X.indptr[at] : X.indptr[at + 1]] if data.is_sparse else X[:, at]
        yield np.sort(stored[~np.isnan(stored)]), len(data) - len(stored)


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
