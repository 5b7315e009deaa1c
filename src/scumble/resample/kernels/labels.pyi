from typing import Any, Final

from scumble._core.arrays import Array

RANKING: Final[int]
RANKING_TIES: Final[int]
UNION: Final[int]
INTERSECTION: Final[int]

def count_far(
    indptr: Array,
    indices: Array,
    rows: Array,
    neighbours: Array,
    threshold: float,
    union: bool,
    n_far: Array,
) -> None: ...
def combine_labels(
    indptr: Array,
    indices: Array,
    n_labels: int,
    seeds: Any,
    strategy: int,
    start: int,
    stop: int,
    out: Any,
) -> None: ...
