from typing import Any

from scumble._core.arrays import Array

def predict_rows(
    rows: Any, forest: Any, start: int, stop: int, n_columns: int, out: Array
) -> None: ...
def chain_rows(
    rows: Any,
    forest: Any,
    start: int,
    stop: int,
    chains: tuple[Array, Array],
    hard: bool,
    labels: Array,
    sums: Array,
) -> None: ...
def vote_rows(
    rows: Any, forest: Any, start: int, stop: int, duels: Array, votes: Array
) -> None: ...
def exclusive_rows(
    indptr: Array, row_of: Array, pairs: Array, starts: Array, rows: Array, y: Array
) -> int: ...
