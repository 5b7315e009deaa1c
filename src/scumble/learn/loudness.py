"""How loud each ranker of a blend is: by how well the blend ranks rows it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.parallel import run

#: What is tried for one ranker at a time: silent, half, twice and four times as loud.
_FACTORS = (0.0, 0.5, 2.0, 4.0)
_ROUNDS = 2
#: Labels with so many rows are asked, and no more labels than these.
_FEWEST_ROWS, _MOST_LABELS = 3, 100
#: A smaller gain is none.
_SMALLEST_GAIN = 1e-6


# All labels share the weights: few numbers, chosen by many rows and labels, hardly follow chance.
def measure_loudness(
    heights: Sequence[Array], Y: Any, first: Array, *, n_jobs: int | None = None
) -> Array:
    """Go from first weights to better ones, one ranker after the other; they sum to one."""
    members = _asked_labels(Y)
    if len(heights) == 1 or not members:
        return first
    asked = [np.asfortranarray(part[:, list(members)]) for part in heights]
    rows = list(members.values())
    best, found = first, mean_precision(asked, first, rows)
    for ranker in list(range(len(first))) * _ROUNDS:
        tried = [_changed(best, ranker, factor) for factor in _FACTORS]
        tried = [weights for weights in tried if weights.any()]
        reached = run(lambda w: mean_precision(asked, w, rows), tried, n_jobs=n_jobs)
        at = int(np.argmax(reached))
        if reached[at] > found + _SMALLEST_GAIN:
            best, found = tried[at], reached[at]
    return best / best.sum()


def mean_precision(heights: Sequence[Array], weights: Array, rows: Sequence[Array]) -> float:
    """Return the mean over labels of the average precision; equal heights count as the lowest."""
    blend = np.sum([w * part for w, part in zip(weights, heights, strict=True) if w > 0], axis=0)
    ordered = np.sort(blend, axis=0)
    columns = zip(blend.T, ordered.T, rows, strict=True)
    return float(np.mean([_precision(*column) for column in columns]))


def _precision(heights: Array, ordered: Array, rows: Array) -> float:
    own = np.sort(heights[rows])
    places = len(ordered) - np.searchsorted(ordered, own)
    return float(((len(own) - np.searchsorted(own, own)) / places).mean())


def _asked_labels(Y: Any) -> dict[int, Array]:
    """Return the rows of each label that is asked: of rare and frequent ones in equal shares."""
    columns = Y.tocsc()
    counts = np.diff(columns.indptr)
    some = np.flatnonzero((counts >= _FEWEST_ROWS) & (counts < Y.shape[0]))
    if len(some) > _MOST_LABELS:
        ordered = some[np.argsort(counts[some], kind="stable")]
        some = ordered[np.linspace(0, len(some) - 1, _MOST_LABELS).astype(np.intp)]
    bounds = list(pairwise(columns.indptr))
    return {int(label): columns.indices[slice(*bounds[label])] for label in some}


def _changed(weights: Array, ranker: int, factor: float) -> Array:
    changed = weights.copy()
    changed[ranker] *= factor
    return changed
