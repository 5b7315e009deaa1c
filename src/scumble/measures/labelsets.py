"""Labelsets, the distinct sets of labels that instances have, and measures of them."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.parallel import SERIAL_BELOW, row_blocks, run_in_threads
from scumble._core.table_repr import MAX_ROWS_SHOWN, TableReprMixin, TableView
from scumble._validation.labels import check_labels, is_dataset
from scumble.measures import kernels
from scumble.measures.base import measure, safe_divide

#: Approximate number of rows per partition: few enough for its hash table to fit in the cache.
ROWS_PER_PARTITION = 65_536
#: Maximum number of blocks of partitions, each of which is processed by one thread.
MAX_PARTITION_BLOCKS = 64
#: Number of blocks of rows that threads divide into partitions. Each block has a count per
#: partition, so that more blocks would take more memory.
N_ROW_BLOCKS = 32


@dataclass(frozen=True, eq=False, repr=False)
class Labelsets(TableReprMixin):
    """The distinct labelsets of a data set, including the empty one if an instance has no label.

    A labelset is the set of labels that an instance has.

    Attributes
    ----------
    first_row : ndarray of int64, shape (n_labelsets,)
        Index of the first instance with each labelset.
    counts : ndarray of int64, shape (n_labelsets,)
        Number of instances with each labelset.

    Examples
    --------
    >>> from scumble.measures import labelsets
    >>> result = labelsets([[1, 0], [1, 1], [1, 0]])
    >>> result.first_row, result.counts
    (array([0, 1]), array([2, 1]))
    """

    first_row: Array
    counts: Array

    def __len__(self) -> int:
        return len(self.counts)

    def _repr_title(self) -> str:
        """Return the first line of the repr: the numbers of labelsets and of single ones."""
        return f"Labelsets: {len(self):,}, {self.n_single:,} of them occur once"

    def _repr_table(self) -> TableView:
        """Return the table of the repr: the most frequent labelsets."""
        most_frequent = self.order[:MAX_ROWS_SHOWN]
        rows = zip(
            self.counts[most_frequent],
            self.imbalance[most_frequent],
            self.first_row[most_frequent],
            strict=True,
        )
        return TableView(("count", "imbalance", "first row"), rows, len(self))

    @property
    def n_single(self) -> int:
        """Number of labelsets that occur once."""
        return int((self.counts == 1).sum())

    @property
    def max_count(self) -> int:
        """Number of instances with the most frequent labelset; 0 without instances."""
        return int(self.counts.max(initial=0))

    @cached_property
    def order(self) -> Array:
        """Indices of the labelsets, most frequent first; ties by first appearance."""
        return np.lexsort((self.first_row, -self.counts))

    @property
    def imbalance(self) -> Array:
        """Imbalance ratio of each labelset: count of the most frequent one over its count."""
        return self.max_count / self.counts


def labelsets(Y: Any) -> Labelsets:
    """Find the distinct labelsets, their counts, and their first instances.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    Labelsets
        In no particular order; its attribute ``order`` sorts by frequency.

    Notes
    -----
    Rows are divided into partitions by a hash of their labels, and each partition is grouped with
    a hash table. The key of a row with few labels holds all of them; longer rows with equal hashes
    are compared label by label, so the result is exact.

    Examples
    --------
    >>> from scumble.measures import labelsets
    >>> result = labelsets([[1, 0], [1, 1], [1, 0], [0, 0]])
    >>> result.first_row[result.order], result.counts[result.order]
    (array([0, 1, 3]), array([2, 1, 1]))
    """
    return find_labelsets(check_labels(Y, caller="labelsets"))


def find_labelsets(Y: sparse.csr_array) -> Labelsets:
    """Return the distinct labelsets of a label matrix that `check_labels` has returned."""
    partitions = _partition_rows(Y)
    starts = partitions.starts
    n_labelsets = np.zeros(len(starts) - 1, np.int64)  # in each partition

    def group_block(block: tuple[int, int]) -> None:
        """Find the labelsets of a range of partitions."""
        first, last = block
        kernels.group_rows(
            Y.indptr,
            Y.indices,
            partitions.keys,
            partitions.row_indices,
            starts,
            first,
            last,
            n_labelsets,
        )

    run_in_threads(group_block, row_blocks(starts, MAX_PARTITION_BLOCKS))
    # The kernel has replaced the first row indices of each partition by the first row of each
    # labelset, and the first keys by their numbers of rows.
    return Labelsets(
        first_row=_concatenate_first(partitions.row_indices, starts, n_labelsets),
        counts=_concatenate_first(partitions.keys, starts, n_labelsets),
    )


def labelset_of_rows(Y: Any) -> tuple[Array, Labelsets]:
    """Assign numbers to the labelsets, and return the number of the labelset of every instance.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    numbers : ndarray of int64, shape (n_samples,)
        The number of the labelset of each instance.
    sets : Labelsets
        The labelsets by number, in the order of their first appearance.

    Examples
    --------
    >>> from scumble.measures import labelset_of_rows
    >>> numbers, sets = labelset_of_rows([[1, 0], [1, 1], [1, 0], [0, 0]])
    >>> numbers
    array([0, 1, 0, 2])
    """
    return number_labelsets(check_labels(Y, caller="labelset_of_rows"))


def number_labelsets(Y: sparse.csr_array) -> tuple[Array, Labelsets]:
    """Return what `labelset_of_rows` returns, for a matrix that `check_labels` has returned."""
    numbers, first_rows = kernels.number_labelsets(Y.indptr, Y.indices, Y.shape[1])
    return numbers, Labelsets(first_rows, np.bincount(numbers, minlength=len(first_rows)))


@measure(level="dataset", upper=1.0)
def diversity(Y: Any) -> float:
    """Compute the number of labelsets per instance.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    float
        Number of labelsets over number of instances; NaN without instances.

    Examples
    --------
    >>> from scumble.measures import diversity
    >>> diversity([[1, 0], [1, 1], [1, 0], [0, 0]])
    0.75
    """
    Y = check_labels(Y, caller="diversity")
    return safe_divide(len(labelsets(Y)), Y.shape[0])


def tcs(Y: Any, *, n_features: int | None = None) -> float:
    r"""Compute TCS, the theoretical complexity score.

    It grows with the number of features, of labels and of labelsets, that is with the size of the
    space that a classifier has to cover.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    n_features : int, optional
        Number of features; by default that of the data set. Required if ``Y`` is labels alone.

    Returns
    -------
    float
        NaN if one of the factors is 0.

    Notes
    -----
    .. math:: \mathrm{TCS} = \ln(\mathrm{features} \times \mathrm{labels} \times
              \mathrm{labelsets})

    Examples
    --------
    >>> from scumble.measures import tcs
    >>> round(tcs([[1, 0], [1, 1], [1, 0], [0, 0]], n_features=5), 4)
    3.4012
    """
    labels = check_labels(Y, caller="tcs")
    if n_features is None:
        if not is_dataset(Y) or not hasattr(Y, "X"):
            raise ParameterError(
                "The 'n_features' parameter of tcs must be given if Y consists of labels alone. "
                "Give it, or a data set."
            )
        n_features = int(Y.X.shape[1])
    return tcs_from_counts(n_features, labels.shape[1], len(find_labelsets(labels)))


def tcs_from_counts(n_features: int, n_labels: int, n_labelsets: int) -> float:
    """Return TCS, the logarithm of the product of its three factors; NaN if one is 0."""
    product = n_features * n_labels * n_labelsets
    return math.log(product) if product > 0 else float("nan")


class _Partitions(NamedTuple):
    """The rows of a label matrix in partitions; rows with equal labels are in the same one."""

    starts: Array  # position of the first row of each partition, and the number of rows at the end
    keys: Array  # a key of the labels of each row, in the order of the partitions
    row_indices: Array  # index of each row, in the order of the partitions


def _partition_rows(Y: sparse.csr_array) -> _Partitions:
    """Divide the rows into partitions by a hash of their labels."""
    n_rows, n_labels = Y.shape
    partition_bits = max(1, (n_rows // ROWS_PER_PARTITION).bit_length())
    blocks = row_blocks(Y.indptr, 1 if Y.nnz + n_rows < SERIAL_BELOW else N_ROW_BLOCKS)
    keys = np.empty(n_rows, np.uint64)
    row_indices = np.empty(n_rows, np.uint32 if n_rows < 2**32 else np.uint64)

    def partition_all(positions: Array, keys: Array, row_indices: Array) -> None:
        """Write keys and indices of all rows, from the positions of each block and partition on.

        Without arrays for keys and indices, only count: the positions are increased.
        """

        def partition_block(block_index: int) -> None:
            """Write keys and indices of the rows of a block."""
            start, stop = blocks[block_index]
            kernels.partition_rows(
                Y.indptr,
                Y.indices,
                n_labels,
                start,
                stop,
                positions[block_index],
                keys,
                row_indices,
            )

        run_in_threads(partition_block, range(len(blocks)))

    n_rows_by_block = np.zeros((len(blocks), 1 << partition_bits), np.int64)
    partition_all(n_rows_by_block, keys[:0], row_indices[:0])
    starts = np.concatenate([[0], np.cumsum(n_rows_by_block.sum(axis=0))])
    first_positions = starts[:-1] + np.cumsum(n_rows_by_block, axis=0) - n_rows_by_block
    partition_all(first_positions, keys, row_indices)
    return _Partitions(starts=starts, keys=keys, row_indices=row_indices)


def _concatenate_first(values: Array, starts: Array, sizes: Array) -> Array:
    """Return the first values of every partition as one array of int64.

    The first ``sizes[i]`` values from position ``starts[i]`` on are taken for partition i.
    """
    parts = [values[start : start + size] for start, size in zip(starts, sizes, strict=False)]
    return np.concatenate(parts, dtype=np.int64, casting="unsafe")
