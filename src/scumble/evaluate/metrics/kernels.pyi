from scumble._core.arrays import Array

def count_hits(
    indptr: Array,
    indices: Array,
    other_indptr: Array,
    other_indices: Array,
    start: int,
    stop: int,
    by_row: Array,
    by_label: Array,
) -> None: ...
def count_topmost_errors(
    indptr: Array,
    indices: Array,
    other_indptr: Array,
    other_indices: Array,
    parents: Array,
    start: int,
    stop: int,
) -> int: ...
def rank_rows(
    indptr: Array, indices: Array, scores: Array, ties: int, results: Array, start: int, stop: int
) -> None: ...
def rank_labels(
    indptr: Array,
    rows: Array,
    scores: Array,
    start: int,
    stop: int,
    is_grouped: bool,
    results: Array,
) -> None: ...
def count_positives_above(
    scores: Array, distinct: Array, n_below: Array, start: int, stop: int
) -> int: ...
def add_probability_losses(
    indptr: Array, indices: Array, scores: Array, totals: Array, start: int, stop: int
) -> None: ...
