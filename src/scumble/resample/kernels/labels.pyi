from typing import Any, Final

from scumble._core.arrays import Array

RANKING: Final[int]
RANKING_TIES: Final[int]
UNION: Final[int]
INTERSECTION: Final[int]

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
