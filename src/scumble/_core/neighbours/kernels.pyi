from typing import Any

from scumble._core.arrays import Array

SQUARE: int
MISMATCH: int
ABSOLUTE: int
GAPPED_SQUARE: int
GAPPED_MISMATCH: int
PARTIAL_SQUARE: int
PARTIAL_MISMATCH: int
PARTIAL_ABSOLUTE: int

class Points:
    def __init__(
        self, values: Any, norms: Array | None = None, gaps: Array | None = None
    ) -> None: ...

class DistanceMetric:
    def __init__(
        self, kinds: Array, zeros: Array, error: float = 0.0, n_total: int = 0
    ) -> None: ...

class SearchBuffers:
    def __init__(
        self, metric: DistanceMetric, own: Array, by_heap: bool, rows: Array, distances: Array
    ) -> None: ...

def search_directly(
    queries: Points, columns: Array, answers: SearchBuffers, start: int, stop: int
) -> None: ...
def search_products(
    products: Array, first: int, queries: Points, base: Points, answers: SearchBuffers
) -> None: ...
def search_sparse(
    queries: Points, base: Points, by_column: Points, answers: SearchBuffers, start: int, stop: int
) -> None: ...
def rank_candidates(
    starts: Array, candidates: Array, queries: Points, base: Points, answers: SearchBuffers
) -> None: ...
def paired_squared_distances(
    a: Points, b: Points | None, rows: Array, metric: DistanceMetric, squared: Array
) -> None: ...
