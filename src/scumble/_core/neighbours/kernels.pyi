from typing import Any

from scumble._core.arrays import Array

SQUARE: int
MISMATCH: int
ABSOLUTE: int
WEKA_SQUARE: int
WEKA_MISMATCH: int
PARTIAL_SQUARE: int
PARTIAL_MISMATCH: int
PARTIAL_ABSOLUTE: int

class Points:
    def __init__(
        self, values: Any, norms: Array | None = None, n_missing: Array | None = None
    ) -> None: ...

class DistanceMetric:
    def __init__(
        self, column_types: Array, zeros: Array, error: float = 0.0, n_total: int = 0
    ) -> None: ...

class SearchBuffers:
    def __init__(
        self,
        metric: DistanceMetric,
        query_rows: Array,
        uses_weka_heap: bool,
        rows: Array,
        distances: Array,
    ) -> None: ...

def search_directly(
    queries: Points, columns: Array, buffers: SearchBuffers, start: int, stop: int
) -> None: ...
def search_products(
    products: Array, first_query: int, queries: Points, base: Points, buffers: SearchBuffers
) -> None: ...
def search_sparse(
    queries: Points, base: Points, by_column: Points, buffers: SearchBuffers, start: int, stop: int
) -> None: ...
def rank_candidates(
    starts: Array, candidates: Array, queries: Points, base: Points, buffers: SearchBuffers
) -> None: ...
def paired_squared_distances(
    a: Points, b: Points | None, rows: Array, metric: DistanceMetric, squared: Array
) -> None: ...
