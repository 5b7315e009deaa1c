"""Exact nearest neighbours among numeric, nominal and mixed columns, dense or sparse.

`Space` holds rows in the form in which distances are computed; `nearest_neighbours` searches them
with the algorithm that fits the data. All algorithms find the same neighbours, bit for bit.
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
