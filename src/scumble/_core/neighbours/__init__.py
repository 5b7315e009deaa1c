"""Exact nearest neighbours among numeric, nominal and mixed columns, dense or sparse.

One place for all rooms: `Space` holds rows ready for distances, `nearest_neighbours` searches them in the
way that fits. Every way gives the same neighbours, bit for bit.
"""

from scumble._core.neighbours.search import (
    Neighbours,
    distances,
    nearest_neighbours,
)
from scumble._core.neighbours.space import Space

__all__ = [
    "Neighbours",
    "Space",
    "distances",
    "nearest_neighbours",
]
