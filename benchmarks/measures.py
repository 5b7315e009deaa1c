"""The measures against the numpy/scipy script a careful user would write."""

from __future__ import annotations

import gc
from functools import cache

import numpy as np
from scipy import sparse

from benchmarks._tools import alternate, bound, peak_bytes, record
from scumble import limit_threads
from scumble.measures import characterize, concurrence

N_ROWS, N_LABELS, PER_ROW = 20_000_000, 4_000, 2.5


@cache
def labels(n_labels: int = N_LABELS, n_rows: int = N_ROWS) -> sparse.csr_array:
    """Make rows with 1 + Poisson(1.5) Zipf-distributed labels: about 50 million assignments."""
    rng = np.random.default_rng(0)
    sizes = 1 + rng.poisson(PER_ROW - 1, n_rows)
    shares = np.cumsum(1 / np.arange(1, n_labels + 1))
    indices = np.searchsorted(shares, rng.random(sizes.sum()) * shares[-1]).astype(np.int32)
    indptr = np.zeros(n_rows + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    Y = sparse.csr_array(
        (np.ones(len(indices), bool), indices, indptr.astype(np.int32)), shape=(n_rows, n_labels)
    )
    Y.sum_duplicates()
    return Y


def script(Y: sparse.csr_array):
    """Compute IRLbl and SCUMBLE per instance, per label and in all, as numpy and scipy allow."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    ratios = counts.max() / np.maximum(counts, 1)
    sizes = np.diff(Y.indptr)
    arithmetic = (Y @ ratios) / sizes
    geometric = np.exp((Y @ np.log(ratios)) / sizes)
    scores = 1 - geometric / arithmetic
    return ratios, scores, (Y.T @ scores) / np.maximum(counts, 1), scores.mean()


def core_measures():
    Y = labels()
    floats = sparse.csr_array((np.ones(Y.nnz), Y.indices, Y.indptr), shape=Y.shape)
    scumble_scores, script_scores = concurrence(Y), script(floats)
    for a, b in zip(scumble_scores, script_scores, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    del scumble_scores, script_scores, a, b
    gc.collect()
    with limit_threads(2):
        fast, slow = alternate(lambda: concurrence(Y), lambda: script(floats), repeats=7)
        scumble_time, slow_again = alternate(
            lambda: characterize(Y), lambda: script(floats), repeats=5
        )
    size = f"{Y.shape[0]:,} rows, {Y.nnz:,} assignments, 2 threads"
    return [
        record("IRLbl and SCUMBLE against the script", fast, slow, at_least=5, note=size),
        record(
            "all of characterize against the script",
            scumble_time,
            slow_again,
            at_least=1,
            note=size,
        ),
    ]


def cost_with_a_million_labels():
    few, many = labels(), labels(n_labels=1_000_000)
    with limit_threads(2):
        fast, slow = alternate(lambda: concurrence(few), lambda: concurrence(many), repeats=5)
    ratio = (slow / many.nnz) / (fast / few.nnz)
    return bound(
        "cost per assignment, 1,000,000 labels over 4,000 labels",
        ratio,
        at_most=2,
        ours_s=slow,
        peer_s=fast,
        note=f"{many.nnz:,} and {few.nnz:,} assignments",
    )


MEMORY = """
from benchmarks.measures import labels
from scumble.measures import {function}
import gc
{function}([[1, 0], [1, 1]])
Y = labels(); gc.collect()
size = Y.data.nbytes + Y.indices.nbytes + Y.indptr.nbytes
before = rss(); reset_peak()
result = {function}(Y)
print(f"input={{size}}"); print(f"extra={{peak() - before}}")
"""


def memory():
    for function in ("concurrence", "characterize"):
        result = peak_bytes(MEMORY.format(function=function))
        yield bound(
            f"peak memory of {function}, input included, over the input's bytes",
            (result["input"] + result["extra"]) / result["input"],
            at_most=3,
            note=f"input {result['input'] / 1e6:.0f} MB, beyond it {result['extra'] / 1e6:.0f} MB",
        )


ALL = [core_measures, cost_with_a_million_labels, memory]
