"""How loud each ranker of a blend is: by how well the blend ranks rows it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.parallel import run

#: What is tried for one ranker at a time: silent, half, twice and four times as loud.
_FACTORS = (0.0, 0.5, 2.0, 4.0)
_ROUNDS = 2
#: A label with fewer rows is not asked.
_FEWEST_ROWS = 3
#: No more labels are asked.
_MOST_LABELS = 100
#: A smaller gain is none.
_SMALLEST_GAIN = 1e-6


# All labels share the weights: few numbers, chosen by many rows and labels, hardly follow chance.
def measure_loudness(
    heights: Sequence[Array], Y: Any, first: Array, *, n_jobs: int | None = None
) -> Array:
    """Go from first weights to better ones, one ranker after the other; they sum to one."""
    columns = Y.tocsc()
    labels = asked_labels(columns)
    if len(heights) == 1 or len(labels) == 0:
        return first

    def rate(tried: Sequence[Array]) -> Array:
        ask = partial(_precisions, heights, columns, tried)
        return np.mean(run(ask, labels.tolist(), n_jobs=n_jobs), axis=0)

    best, found = first, rate([first])[0]
    for ranker in list(range(len(first))) * _ROUNDS:
        if best[ranker] == 0:
            continue
        others = np.arange(len(first)) != ranker
        tried = [np.where(others, best, best * factor) for factor in _FACTORS]
        tried = [weights for weights in tried if weights.any()]
        reached = rate(tried)
        if reached.max() > found + _SMALLEST_GAIN:
            best, found = tried[int(reached.argmax())], reached.max()
    return best / best.sum()


def _precisions(
    heights: Sequence[Array], columns: Any, tried: Sequence[Array], label: int
) -> list[float]:
    """Return the average precision of one label under different weights."""
    rows = columns.indices[slice(*columns.indptr[label : label + 2])]
    own = np.array([part[:, label] for part in heights])
    return [average_precision((w[:, None] * own).sum(axis=0), rows) for w in tried]


def average_precision(heights: Array, rows: Array) -> float:
    """Return the mean, over rows with a label, of the label's share of the rows as high as each."""
    ordered, own = np.sort(heights), np.sort(heights[rows])
    places = len(ordered) - np.searchsorted(ordered, own)
    return float(((len(own) - np.searchsorted(own, own)) / places).mean())


def asked_labels(columns: Any) -> Array:
    """Return labels that some rows have and some have not, from the rarest on at even steps."""
    counts = np.diff(columns.indptr)
    some = np.flatnonzero((counts >= _FEWEST_ROWS) & (counts < columns.shape[0]))
    if len(some) <= _MOST_LABELS:
        return some
    ordered = some[np.argsort(counts[some], kind="stable")]
    return ordered[np.linspace(0, len(some) - 1, _MOST_LABELS).astype(np.intp)]
