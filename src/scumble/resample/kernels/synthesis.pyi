from typing import Any

from scumble._core.arrays import Array

def count_draws_dense(values: Array, plan: Any, start: int, stop: int, n_draws: Array) -> None: ...
def fill_dense(values: Array, plan: Any, start: int, stop: int, synthetic: Array) -> None: ...
def count_draws_sparse(
    indptr: Array, indices: Array, data: Array, plan: Any, start: int, stop: int, n_draws: Array
) -> None: ...
def fill_sparse(
    indptr: Array, indices: Array, data: Array, plan: Any, start: int, stop: int, buffers: Any
) -> None: ...
def combine_labels(
    indptr: Array,
    indices: Array,
    members: Array,
    n_members: Array,
    n_needed: Array,
    start: int,
    stop: int,
    buffers: Any,
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
