from typing import Any

from scumble._core.arrays import Array

def count_draws_dense(values: Array, plan: Any, start: int, stop: int, n_draws: Array) -> None: ...
def fill_dense(values: Array, plan: Any, start: int, stop: int, out: Array) -> None: ...
def count_draws_sparse(
    indptr: Array, indices: Array, data: Array, plan: Any, start: int, stop: int, n_draws: Array
) -> None: ...
def fill_sparse(
    indptr: Array, indices: Array, data: Array, plan: Any, start: int, stop: int, out: Any
) -> None: ...
def combine_labels(
    indptr: Array, indices: Array, votes: tuple[Array, ...], start: int, stop: int, out: Any
) -> None: ...
def count_values_dense(
    values: Array, n_values: Array, starts: Array, rows: Array, counts: Array
) -> None: ...
def count_values_sparse(
    indptr: Array,
    indices: Array,
    data: Array,
    n_values: Array,
    starts: Array,
    rows: Array,
    counts: Array,
) -> None: ...
