"""Passes over the label assignments, shared by the measures.

Rows are cut into blocks by the data alone. Every block sums into a place of its own and the
places are added in block order, so the number of threads changes no bit of any result.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import SERIAL_BELOW, row_blocks, run_in_threads, thread_count
from scumble.measures import kernels

MAX_BLOCKS = 64
ROWS_AT_ONCE = 2**18  # whose sizes stay in the cache


class Scores(NamedTuple):
    """What one pass over the rows gives."""

    by_instance: Array
    total: float
    by_label_sum: Array


def split_into_blocks(Y: sparse.csr_array) -> list[tuple[int, int]]:
    """Cut the rows of ``Y`` into blocks, few enough that their label sums stay small beside Y."""
    if Y.nnz < SERIAL_BELOW:
        return row_blocks(Y.indptr, 1)
    affordable = max(Y.nnz // (8 * max(Y.shape[1], 1)), 1)
    # A power of two, which two or four threads share without a rest.
    return row_blocks(Y.indptr, min(MAX_BLOCKS, 1 << (affordable.bit_length() - 1)))


def count_labels(Y: sparse.csr_array) -> Array:
    """Count the instances of each label."""
    if Y.nnz < SERIAL_BELOW:
        return np.bincount(Y.indices, minlength=Y.shape[1])
    # Whole numbers add up to the same in any order, so there is one block a thread.
    blocks = row_blocks(Y.indptr, thread_count())
    partial = np.zeros((len(blocks), Y.shape[1]), np.uint32 if Y.nnz < 2**32 else np.uint64)

    def work(at: int) -> None:
        start, stop = blocks[at]
        kernels.count_labels(Y.indices, Y.indptr[start], Y.indptr[stop], partial[at])

    run_in_threads(work, range(len(blocks)))
    return partial.sum(axis=0, dtype=np.int64)


def count_short_rows(Y: sparse.csr_array) -> tuple[int, int]:
    """Count the rows without labels, and those with one."""
    n_unlabelled = n_one_label = 0
    for start in range(0, Y.shape[0], ROWS_AT_ONCE):
        sizes = np.diff(Y.indptr[start : start + ROWS_AT_ONCE + 1])
        n_unlabelled += int(np.count_nonzero(sizes == 0))
        n_one_label += int(np.count_nonzero(sizes == 1))
    return n_unlabelled, n_one_label


def score_instances(Y: sparse.csr_array, ratios: Array) -> Scores:
    """Score every instance by the ratios of its labels."""
    blocks = split_into_blocks(Y)
    scores = np.empty(Y.shape[0])
    spare: list[Array] = []  # a table is large where labels are many: the next block takes it over

    def work(block: tuple[int, int]) -> tuple[float, Array]:
        table = spare.pop() if spare else np.column_stack((ratios, np.empty(len(ratios))))
        table[:, 1] = 0.0
        total = kernels.score_rows(Y.indptr, Y.indices, table, *block, scores)
        sums = table[:, 1].copy()
        spare.append(table)
        return total, sums

    parts = run_in_threads(work, blocks)
    by_label = np.zeros(len(ratios))
    for _, sums in parts:
        by_label += sums
    return Scores(scores, sum((total for total, _ in parts), 0.0), by_label)


def sum_squared_deviations(
    Y: sparse.csr_array, scores: Array, mean: float, label_means: Array
) -> tuple[float, Array]:
    """Sum the squared deviations of the scores from their means."""
    blocks = split_into_blocks(Y)
    squares = np.zeros((len(blocks), Y.shape[1]))
    parts = (Y.indptr, Y.indices, scores, mean, label_means)

    def work(at: int) -> float:
        return kernels.sum_deviations(*parts, *blocks[at], squares[at])

    total = sum(run_in_threads(work, range(len(blocks))), 0.0)
    return total, squares.sum(axis=0)
