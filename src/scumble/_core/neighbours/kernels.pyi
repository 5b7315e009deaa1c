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

class Metric:
    def __init__(
        self, kinds: Array, zeros: Array, error: float = 0.0, n_total: int = 0
    ) -> None: ...

class Answers:
    def __init__(
        self, metric: Metric, own: Array, by_heap: bool, rows: Array, distances: Array
    ) -> None: ...

def search_directly(
    queries: Points, columns: Array, answers: Answers, start: int, stop: int
) -> None: ...
def search_products(
    products: Array, first: int, queries: Points, base: Points, answers: Answers
) -> None: ...
def search_sparse(
    queries: Points, base: Points, by_column: Points, answers: Answers, start: int, stop: int
) -> None: ...
def rank_candidates(
    starts: Array, candidates: Array, queries: Points, base: Points, answers: Answers
) -> None: ...
def pairs(a: Points, b: Points | None, rows: Array, metric: Metric, squared: Array) -> None: ...
