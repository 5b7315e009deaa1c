"""Labelsets, the distinct sets of labels that instances have, and measures of them."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble._core.parallel import SERIAL_BELOW, row_blocks, run_in_threads
from scumble._core.table_repr import MAX_ROWS_SHOWN, TableReprMixin, TableView
from scumble._validation.labels import check_labels, is_dataset
from scumble.measures import kernels
from scumble.measures.base import measure, safe_divide

#: Rows per partition, so that the hash table of a partition fits in the cache.
PARTITION_ROWS = 65_536
#: Blocks of partitions, the units of work of the threads.
MAX_TASKS = 64


@dataclass(frozen=True, eq=False, repr=False)
class Labelsets(TableReprMixin):
    """The distinct labelsets of a data set, including the empty one.

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
        """Return the number of labelsets."""
        return f"Labelsets: {len(self):,}, {self.n_single:,} of them occur once"

    def _repr_table(self) -> TableView:
        """Return a row for each of the most frequent labelsets."""
        shown_sets = self.order[:MAX_ROWS_SHOWN]
        rows = zip(
            self.counts[shown_sets],
            self.imbalance[shown_sets],
            self.first_row[shown_sets],
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
        """Count of the most frequent labelset over the count of each."""
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
    """Find the distinct labelsets of labels in canonical form, as `labelsets` does."""
    starts, keys, rows = _partition_rows(Y)
    sizes = np.zeros(len(starts) - 1, np.int64)

    def group_block(block: tuple[int, int]) -> None:
        first, last = block
        kernels.group_rows(Y.indptr, Y.indices, keys, rows, starts, first, last, sizes)

    run_in_threads(group_block, row_blocks(starts, MAX_TASKS))
    # The kernel has replaced the keys by the counts of the labelsets.
    return Labelsets(
        first_row=_concatenate_heads(rows, starts, sizes),
        counts=_concatenate_heads(keys, starts, sizes),
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
    """Return what `labelset_of_rows` returns, for labels in canonical form."""
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
    """Return TCS from its three factors."""
    volume = n_features * n_labels * n_labelsets
    return math.log(volume) if volume > 0 else float("nan")


def _partition_rows(Y: sparse.csr_array) -> tuple[Array, Array, Array]:
    """Divide the rows into partitions by a hash of their labels.

    Return the start of each partition, and in the order of the partitions the key and the index of
    every row.
    """
    n_rows, n_labels = Y.shape
    partition_bits = max(1, (n_rows // PARTITION_ROWS).bit_length())
    blocks = row_blocks(Y.indptr, 1 if Y.nnz + n_rows < SERIAL_BELOW else 32)
    keys = np.empty(n_rows, np.uint64)
    rows = np.empty(n_rows, np.uint32 if n_rows < 2**32 else np.uint64)

    def partition_all(positions: Array, keys: Array, rows: Array) -> None:
        def partition_block(block: int) -> None:
            start, stop = blocks[block]
            kernels.partition_rows(
                Y.indptr, Y.indices, n_labels, start, stop, positions[block], keys, rows
            )

        run_in_threads(partition_block, range(len(blocks)))

    # Without arrays for keys and rows, the kernel counts the rows of each block and partition.
    sizes = np.zeros((len(blocks), 1 << partition_bits), np.int64)
    partition_all(sizes, keys[:0], rows[:0])
    starts = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    partition_all(starts[:-1] + np.cumsum(sizes, axis=0) - sizes, keys, rows)
    return starts, keys, rows


def _concatenate_heads(values: Array, starts: Array, sizes: Array) -> Array:
    """Return the first values of every partition, as many as ``sizes`` says."""
    parts = [values[start : start + size] for start, size in zip(starts, sizes, strict=False)]
    return np.concatenate(parts, dtype=np.int64, casting="unsafe")
