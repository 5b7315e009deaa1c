"""Sums over the label assignments in several threads, shared by the measures.

Rows are divided into blocks by the data alone. Every block has sums of its own, which are added in
the order of the blocks, so the number of threads does not change any result.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import SERIAL_BELOW, row_blocks, run_in_threads, thread_count
from scumble.measures import kernels

#: Blocks of rows: enough for many threads, few enough that adding their sums takes no time.
MAX_BLOCKS = 64
#: Rows whose numbers of labels fit in the cache.
ROWS_AT_ONCE = 2**18


class Scores(NamedTuple):
    """The SCUMBLE scores of the instances, and their sums."""

    by_instance: Array
    total: float  # the sum of all scores
    by_label_sum: Array  # for each label, the sum of the scores of its instances


def split_into_blocks(Y: sparse.csr_array) -> list[tuple[int, int]]:
    """Return ranges of rows, few enough that their label sums take little memory beside ``Y``."""
    if Y.nnz < SERIAL_BELOW:
        return row_blocks(Y.indptr, 1)
    max_blocks = max(Y.nnz // (8 * max(Y.shape[1], 1)), 1)
    # A power of two, so that two or four threads get equally many blocks.
    return row_blocks(Y.indptr, min(MAX_BLOCKS, 1 << (max_blocks.bit_length() - 1)))


def count_labels(Y: sparse.csr_array) -> Array:
    """Return the number of instances of each label."""
    if Y.nnz < SERIAL_BELOW:
        return np.bincount(Y.indices, minlength=Y.shape[1])
    # Sums of integers do not depend on the order, so the number of blocks may be that of threads.
    blocks = row_blocks(Y.indptr, thread_count())
    count_dtype = np.uint32 if Y.nnz < 2**32 else np.uint64
    block_counts = np.zeros((len(blocks), Y.shape[1]), count_dtype)

    def count_block(block: int) -> None:
        start, stop = blocks[block]
        kernels.count_labels(Y.indices, Y.indptr[start], Y.indptr[stop], block_counts[block])

    run_in_threads(count_block, range(len(blocks)))
    return block_counts.sum(axis=0, dtype=np.int64)


def count_short_rows(Y: sparse.csr_array) -> tuple[int, int]:
    """Return the number of rows without labels, and of rows with one label."""
    n_unlabelled = 0
    n_one_label = 0
    for start in range(0, Y.shape[0], ROWS_AT_ONCE):
        sizes = np.diff(Y.indptr[start : start + ROWS_AT_ONCE + 1])
        n_unlabelled += int(np.count_nonzero(sizes == 0))
        n_one_label += int(np.count_nonzero(sizes == 1))
    return n_unlabelled, n_one_label


def score_instances(Y: sparse.csr_array, ratios: Array) -> Scores:
    """Return the SCUMBLE scores of the instances from the imbalance ratios of their labels."""
    blocks = split_into_blocks(Y)
    scores = np.empty(Y.shape[0])
    # The kernel reads the ratios and adds the sums in one table, which blocks pass on to each other
    # because it is large if there are many labels.
    free_tables: list[Array] = []

    def score_block(block: tuple[int, int]) -> tuple[float, Array]:
        start, stop = block
        if free_tables:
            table = free_tables.pop()
        else:
            table = np.column_stack((ratios, np.empty(len(ratios))))
        table[:, 1] = 0.0
        block_total = kernels.score_rows(Y.indptr, Y.indices, table, start, stop, scores)
        block_sums = table[:, 1].copy()
        free_tables.append(table)
        return block_total, block_sums

    results = run_in_threads(score_block, blocks)
    total = sum((block_total for block_total, _ in results), 0.0)
    label_sums = np.zeros(len(ratios))
    for _, block_sums in results:
        label_sums += block_sums
    return Scores(by_instance=scores, total=total, by_label_sum=label_sums)


def sum_squared_deviations(
    Y: sparse.csr_array, scores: Array, mean: float, label_means: Array
) -> tuple[float, Array]:
    """Return the sum of squared deviations from the mean, and the sums from the means of labels."""
    blocks = split_into_blocks(Y)
    block_squares = np.zeros((len(blocks), Y.shape[1]))

    def sum_block(block: int) -> float:
        start, stop = blocks[block]
        return kernels.sum_deviations(
            Y.indptr, Y.indices, scores, mean, label_means, start, stop, block_squares[block]
        )

    total = sum(run_in_threads(sum_block, range(len(blocks))), 0.0)
    return total, block_squares.sum(axis=0)
