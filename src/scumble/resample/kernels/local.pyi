from typing import Any

from scumble._core.arrays import Array

def flip(
    indptr: Array,
    indices: Array,
    is_flipped: Array,
    flipped: Array,
    new_indptr: Array,
    new_indices: Array,
) -> None: ...
def count_opposed(
    indptr: Array,
    indices: Array,
    neighbours: Array,
    n_labels: int,
    start: int,
    stop: int,
    n_opposed: Array,
) -> None: ...
def soften_rare(indptr: Array, indices: Array, neighbours: Array, types: Array) -> None: ...
def sum_support(
    indptr: Array,
    indices: Array,
    neighbours: Array,
    shares: Array,
    types: Array,
    support: Array,
    n_askers: Array,
) -> None: ...
def inherit_cells(
    indptr: Array,
    indices: Array,
    types: Array,
    parents: tuple[Array, Array],
    distances: tuple[Array, Array],
    out: Any,
) -> None: ...
