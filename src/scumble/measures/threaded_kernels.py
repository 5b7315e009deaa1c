"""Sums over the label assignments in several threads, shared by the measures.

A *label assignment* is a pair of a row and a label that the row has. Rows are divided into blocks
of consecutive rows, in a way that depends on the data alone. Each block has separate sums, which
are added in the order of the blocks, so the number of threads does not change any result.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import SERIAL_BELOW, row_blocks, run_in_threads, thread_count
from scumble.measures import kernels

#: Maximum number of blocks of rows: enough for many threads, few enough that adding their sums
#: takes no noticeable time.
MAX_BLOCKS = 64
#: Number of rows whose numbers of labels (at most 2 MB) fit in the cache.
ROWS_PER_PASS = 2**18


class RowsWithFewLabels(NamedTuple):
    """Numbers of rows with no label and with one label."""

    n_unlabelled: int
    n_one_label: int


class Scores(NamedTuple):
    """The SCUMBLE scores of the instances, and their sums."""

    by_instance: Array
    total: float  # the sum of all scores
    by_label_sum: Array  # for each label, the sum of the scores of its instances


def split_into_blocks(Y: sparse.csr_array) -> list[tuple[int, int]]:
    """Return blocks of rows as pairs (start, stop), with about equally many label assignments.

    They are few enough that a sum per block and label takes little memory compared with ``Y``.
    """
    if Y.nnz < SERIAL_BELOW:
        return row_blocks(Y.indptr, 1)
    max_blocks = max(Y.nnz // (8 * max(Y.shape[1], 1)), 1)
    # A power of two, so that two or four threads get equally many blocks.
    return row_blocks(Y.indptr, min(MAX_BLOCKS, 1 << (max_blocks.bit_length() - 1)))


def count_labels(Y: sparse.csr_array) -> Array:
    """Return the number of instances of each label, as an array of int64."""
    if Y.nnz < SERIAL_BELOW:
        return np.bincount(Y.indices, minlength=Y.shape[1])
    # Sums of integers do not depend on the order, so the number of blocks may be that of threads.
    blocks = row_blocks(Y.indptr, thread_count())
    count_dtype = np.uint32 if Y.nnz < 2**32 else np.uint64
    block_counts = np.zeros((len(blocks), Y.shape[1]), count_dtype)

    def count_block(block_index: int) -> None:
        """Count the labels of a block of rows."""
        start, stop = blocks[block_index]
        counts = block_counts[block_index]
        kernels.count_labels(Y.indices, Y.indptr[start], Y.indptr[stop], counts)

    run_in_threads(count_block, range(len(blocks)))
    return block_counts.sum(axis=0, dtype=np.int64)


def count_rows_with_few_labels(Y: sparse.csr_array) -> RowsWithFewLabels:
    """Count the rows that have no label, and those that have one label."""
    n_unlabelled = 0
    n_one_label = 0
    for start in range(0, Y.shape[0], ROWS_PER_PASS):
        n_labels_of_row = np.diff(Y.indptr[start : start + ROWS_PER_PASS + 1])
        n_unlabelled += int(np.count_nonzero(n_labels_of_row == 0))
        n_one_label += int(np.count_nonzero(n_labels_of_row == 1))
    return RowsWithFewLabels(n_unlabelled=n_unlabelled, n_one_label=n_one_label)


def score_instances(Y: sparse.csr_array, ratios: Array) -> Scores:
    """Return the SCUMBLE scores of the instances from the imbalance ratios of their labels."""
    blocks = split_into_blocks(Y)
    scores = np.empty(Y.shape[0])
    # The kernel works on an array with a row per label: its ratio, and the sum of the scores of its
    # instances. Blocks reuse the arrays of finished blocks, which are large if there are many
    # labels.
    reusable_arrays: list[Array] = []

    def score_block(block: tuple[int, int]) -> tuple[float, Array]:
        """Write the scores of a block of rows; return their sum, and their sum for each label."""
        start, stop = block
        if reusable_arrays:
            ratios_and_sums = reusable_arrays.pop()
        else:
            ratios_and_sums = np.column_stack((ratios, np.empty(len(ratios))))
        ratios_and_sums[:, 1] = 0.0
        block_total = kernels.score_rows(Y.indptr, Y.indices, ratios_and_sums, start, stop, scores)
        block_sums = ratios_and_sums[:, 1].copy()
        reusable_arrays.append(ratios_and_sums)
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
    """Return the sums of squared deviations of the scores of instances from means.

    The first value is that of all scores from ``mean``. The array of shape (n_labels,) holds, for
    each label, that of the scores of its instances from ``label_means``.
    """
    blocks = split_into_blocks(Y)
    block_squares = np.zeros((len(blocks), Y.shape[1]))

    def sum_block(block_index: int) -> float:
        """Return the first sum over a block of rows, and add up those of the labels."""
        start, stop = blocks[block_index]
        label_sums = block_squares[block_index]
        return kernels.sum_deviations(
            Y.indptr, Y.indices, scores, mean, label_means, start, stop, label_sums
        )

    total = sum(run_in_threads(sum_block, range(len(blocks))), 0.0)
    return total, block_squares.sum(axis=0)
