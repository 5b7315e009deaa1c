"""Tables of the features of a data set: range, quartiles, frequent values and distribution."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, column_min_max
from scumble._core.parallel import row_slices
from scumble.data.dataset import Feature, MultilabelDataset

#: Dense columns are processed in blocks of this many values (32 MB), so that copies stay small.
BLOCK = 4 << 20
#: Number of most frequent values listed for a nominal feature.
N_LISTED_VALUES = 6
#: Number of bins, or of values of a nominal feature, in the distribution of one feature.
N_BINS = 30


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """The range of every feature, in data order."""

    name: tuple[str, ...]
    kind: tuple[str, ...]
    n_missing: Array
    n_nonzero: Array
    minimum: Array  # of values that are not missing; NaN without any and for features with codes
    mean: Array
    maximum: Array

    def __len__(self) -> int:
        return len(self.name)


def feature_table(data: MultilabelDataset) -> FeatureTable:
    """Return the range of every feature."""
    X: Any = data.X
    blocks = [X[:, columns] for columns in row_slices(data.n_features, len(data), BLOCK)]
    if data.is_sparse or not blocks:
        blocks = [X]
    counts = [_count_values(block) for block in blocks]
    n_missing = np.concatenate([block.n_missing for block in counts])
    n_nonzero = np.concatenate([block.n_nonzero for block in counts])
    total = np.concatenate([block.total for block in counts])
    minimum, maximum = column_min_max(X)
    n_present = len(data) - n_missing
    mean = np.divide(total, n_present, out=np.full(len(total), np.nan), where=n_present > 0)
    holds_codes = np.array([feature.holds_codes for feature in data.features], bool)
    for statistic in (minimum, mean, maximum):
        statistic[holds_codes] = np.nan
    return FeatureTable(
        name=data.feature_names,
        kind=tuple(feature.kind for feature in data.features),
        n_missing=n_missing,
        n_nonzero=n_nonzero,
        minimum=minimum,
        mean=mean,
        maximum=maximum,
    )


class _ValueCounts(NamedTuple):
    """Counts of missing and nonzero values, and the sum of values, per column."""

    n_missing: Array
    n_nonzero: Array
    total: Array


def _count_values(X: Any) -> _ValueCounts:
    """Count the missing and the nonzero values of each column, and sum up its values."""
    if not sparse.issparse(X):
        is_missing = np.isnan(X)
        filled = np.where(is_missing, 0.0, X)
        return _ValueCounts(
            n_missing=is_missing.sum(axis=0),
            n_nonzero=np.count_nonzero(filled, axis=0),
            total=filled.sum(axis=0),
        )
    n_columns = X.shape[1]
    is_missing = np.isnan(X.data)
    n_missing = np.bincount(X.indices[is_missing], minlength=n_columns)
    filled = np.where(is_missing, 0.0, X.data)
    return _ValueCounts(
        n_missing=n_missing,
        n_nonzero=np.bincount(X.indices, minlength=n_columns) - n_missing,
        total=np.bincount(X.indices, weights=filled, minlength=n_columns),
    )


def describe_features(data: MultilabelDataset, columns: Sequence[int]) -> list[dict[str, Any]]:
    """Return quartiles, or the most frequent values, of some features."""
    return [
        _describe_values(data.features[column], values, n_zeros, N_LISTED_VALUES)
        for column, (values, n_zeros) in zip(columns, _sorted_values(data, columns), strict=True)
    ]


def feature_distribution(data: MultilabelDataset, column: int) -> dict[str, Any]:
    """Return a histogram of a feature, or the counts of its values if it is nominal."""
    values, n_zeros = next(_sorted_values(data, [column]))
    if data.features[column].is_categorical:
        description = _describe_values(data.features[column], values, n_zeros, N_BINS)
        return {"edges": [], "counts": [], "values": description["values"]}
    if n_zeros:
        values = np.append(values, 0.0)  # represents all zeros; the others are added below
    finite = values[np.isfinite(values)]
    if not len(finite):
        return {"edges": [], "counts": [], "values": []}
    low, high = float(finite.min()), float(finite.max())
    if high - low < N_BINS and np.all(finite == np.round(finite)):
        edges = np.arange(low, high + 2) - 0.5
    else:
        edges = np.linspace(low, high if high > low else low + 1, N_BINS + 1)
    counts, _ = np.histogram(finite, edges)
    if n_zeros:
        bin_of_zero = min(int(np.searchsorted(edges, 0.0, "right")) - 1, len(counts) - 1)
        counts[bin_of_zero] += n_zeros - 1
    return {"edges": edges.tolist(), "counts": counts.tolist(), "values": []}


def _sorted_values(data: MultilabelDataset, columns: Sequence[int]) -> Iterator[tuple[Array, int]]:
    """Yield the sorted values of each column and the number of zeros that are not stored."""
    X: Any = data.X[:, list(columns)]
    if data.is_sparse:
        X = sparse.csc_array(X)
    for index in range(len(columns)):
        if data.is_sparse:
            stored_values = X.data[X.indptr[index] : X.indptr[index + 1]]
        else:
            stored_values = X[:, index]
        is_present = ~np.isnan(stored_values)
        yield np.sort(stored_values[is_present]), len(data) - len(stored_values)


def _describe_values(
    feature: Feature, values: Array, n_zeros: int, n_listed: int
) -> dict[str, Any]:
    """Return quartiles or the most frequent values, and the number of distinct values."""
    distinct, counts = np.unique(values, return_counts=True)
    if n_zeros and 0.0 in distinct:
        counts[np.searchsorted(distinct, 0.0)] += n_zeros
    elif n_zeros:
        distinct = np.append(distinct, 0.0)
        counts = np.append(counts, n_zeros)
    if not feature.holds_codes:
        return {"quartiles": _quartiles(values, n_zeros), "values": [], "n_values": len(distinct)}
    order = np.lexsort((distinct, -counts))[:n_listed]
    most_frequent = [(_category_name(feature, distinct[k]), int(counts[k])) for k in order]
    return {"quartiles": None, "values": most_frequent, "n_values": len(distinct)}


def _quartiles(values: Array, n_zeros: int) -> list[float] | None:
    """Return the quartiles, as by `numpy.quantile`, of sorted values and further zeros."""
    n = len(values) + n_zeros
    if not n:
        return None
    n_negative = int(np.searchsorted(values, 0.0))

    def value_of_rank(rank: int) -> float:
        if rank < n_negative:
            return float(values[rank])
        if rank < n_negative + n_zeros:
            return 0.0
        return float(values[rank - n_zeros])

    quartiles = []
    for share in (0.25, 0.5, 0.75):
        position = (n - 1) * share
        rank = int(position)
        below = value_of_rank(rank)
        above = value_of_rank(min(rank + 1, n - 1))
        quartiles.append(below + (above - below) * (position - rank))
    return quartiles


def _category_name(feature: Feature, code: float) -> str:
    """Return the category of a code; the code itself if it is not declared."""
    index = int(code)
    if 0 <= index < len(feature.categories):
        return feature.categories[index]
    return str(index)
