from typing import Any

from scumble._core.arrays import Array

def predict_rows(
    rows: Any, forest: Any, start: int, stop: int, n_columns: int, out: Array
) -> None: ...
def predict_chain_rows(
    rows: Any,
    forest: Any,
    start: int,
    stop: int,
    chains: tuple[Array, Array],
    hard: bool,
    labels: Array,
    sums: Array,
) -> None: ...
def count_pair_votes(
    rows: Any, forest: Any, start: int, stop: int, pairs: Array, votes: Array
) -> None: ...
def find_exclusive_rows(
    indptr: Array, row_of: Array, pairs: Array, starts: Array, rows: Array, y: Array
) -> int: ...
