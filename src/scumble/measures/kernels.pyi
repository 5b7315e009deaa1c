from scumble._core.arrays import Array

CHUNK: int
CACHED_LABELS: int

def count_labels(indices: Array, start: int, stop: int, counts: Array) -> None: ...
def score_rows(
    indptr: Array, indices: Array, table: Array, start: int, stop: int, scores: Array
) -> float: ...
def take_cube_roots(values: Array) -> None: ...
def sum_deviations(
    indptr: Array,
    indices: Array,
    scores: Array,
    mean: float,
    means: Array,
    start: int,
    stop: int,
    squares: Array,
) -> float: ...
def partition_rows(
    indptr: Array,
    indices: Array,
    n_labels: int,
    start: int,
    stop: int,
    positions: Array,
    keys: Array,
    rows: Array,
) -> None: ...
def group_rows(
    indptr: Array,
    indices: Array,
    keys: Array,
    rows: Array,
    starts: Array,
    first: int,
    last: int,
    sizes: Array,
) -> None: ...
def number_labelsets(indptr: Array, indices: Array, n_labels: int) -> tuple[Array, Array]: ...
