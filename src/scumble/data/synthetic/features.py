"""Features that say something about the labels, so that classifiers have something to learn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.data.dataset import Feature

#: Rows made at a time, so that temporary arrays stay small.
BLOCK_ROWS = 65536
#: Words that belong to a label, in sparse features.
WORDS_PER_LABEL = 8
#: Share of a row's words that come from its labels; the others are chatter.
TOLD_BY_LABELS = 0.7


@dataclass(frozen=True)
class FeaturePlan:
    """What features to make."""

    n_features: int
    n_informative: int
    n_nominal: int
    n_categories: int
    separation: float
    density: float

    @property
    def nominal(self) -> Array:
        """Numbers of the nominal columns."""
        if self.n_nominal == 0:
            return np.empty(0, np.int64)
        return np.linspace(0, self.n_features - 1, self.n_nominal).round().astype(np.int64)


def dense_features(
    Y: sparse.csr_array, plan: FeaturePlan, rng: np.random.Generator
) -> tuple[Array, tuple[Feature, ...]]:
    """Make a sum of the labels' directions plus noise; cut nominal columns at their quantiles."""
    n_rows, n_labels = Y.shape
    X = np.empty((n_rows, plan.n_features))
    directions = plan.separation * rng.standard_normal((n_labels, plan.n_informative))
    for start in range(0, n_rows, BLOCK_ROWS):
        rows = slice(start, min(start + BLOCK_ROWS, n_rows))
        X[rows] = rng.standard_normal((rows.stop - start, plan.n_features))
        if plan.n_informative:
            X[rows, : plan.n_informative] += Y[rows].astype(np.float64) @ directions
    for column in plan.nominal:
        X[:, column] = _cut(X[:, column], plan.n_categories)
    return X, _describe(plan, [f"v{code}" for code in range(plan.n_categories)])


def sparse_features(
    Y: sparse.csr_array, plan: FeaturePlan, rng: np.random.Generator
) -> tuple[sparse.csr_array, tuple[Feature, ...]]:
    """Make counts of words: each label has words of its own, and all rows share some chatter."""
    n_rows, n_labels = Y.shape
    vocabulary = rng.integers(0, max(plan.n_informative, 1), size=(n_labels, WORDS_PER_LABEL))
    parts = [
        _count_words(Y[start : start + BLOCK_ROWS], vocabulary, plan, rng)
        for start in range(0, n_rows, BLOCK_ROWS)
    ]
    X = sparse.vstack(parts, format="csr") if parts else sparse.csr_array((0, plan.n_features))
    is_nominal = np.zeros(plan.n_features, bool)
    is_nominal[plan.nominal] = True
    X.data[is_nominal[X.indices]] = 1.0
    return X, _describe(plan, ["0", "1"], integer=True)


def _count_words(
    Y: sparse.csr_array, vocabulary: Array, plan: FeaturePlan, rng: np.random.Generator
) -> sparse.csr_array:
    n_rows = Y.shape[0]
    lengths = rng.poisson(plan.density * plan.n_features, size=n_rows)
    rows = np.repeat(np.arange(n_rows), lengths)
    sizes = np.diff(Y.indptr)[rows]
    words = rng.integers(0, plan.n_features, size=len(rows))
    told = (rng.random(len(rows)) < TOLD_BY_LABELS) & (sizes > 0)
    told &= plan.n_informative > 0
    turn = (rng.random(len(rows)) * sizes).astype(np.int64)  # which of the row's labels speaks
    speaking = Y.indices[Y.indptr[rows[told]] + turn[told]]
    words[told] = vocabulary[speaking, rng.integers(0, WORDS_PER_LABEL, size=int(told.sum()))]
    counts = sparse.coo_array((np.ones(len(rows)), (rows, words)), shape=(n_rows, plan.n_features))
    return counts.tocsr()


def _cut(values: Array, n_categories: int) -> Array:
    """Replace numbers by the number of the quantile they fall into."""
    if len(values) == 0:
        return values
    edges = np.quantile(values[:BLOCK_ROWS], np.arange(1, n_categories) / n_categories)
    return np.searchsorted(edges, values, side="right").astype(np.float64)


def _describe(
    plan: FeaturePlan, categories: list[str], *, integer: bool = False
) -> tuple[Feature, ...]:
    nominal = set(plan.nominal.tolist())
    return tuple(
        Feature(f"x{at}", "nominal", tuple(categories))
        if at in nominal
        else Feature(f"x{at}", integer=integer)
        for at in range(plan.n_features)
    )
