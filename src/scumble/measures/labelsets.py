"""Labelsets: the distinct combinations of labels that instances have."""

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
from scumble._core.validation import check_labels, is_dataset
from scumble.measures import kernels
from scumble.measures.base import measure, safe_divide

#: Rows a partition should hold, so that its hash table stays in the cache.
PARTITION_ROWS = 65_536
TASKS = 64  # into which the partitions are bundled for the threads


@dataclass(frozen=True, eq=False, repr=False)
class Labelsets(TableReprMixin):
    """The distinct labelsets of a data set. The empty one counts.

    Attributes
    ----------
    first_row : ndarray of int64, shape (n_labelsets,)
        The first instance that has each labelset.
    counts : ndarray of int64, shape (n_labelsets,)
        How many instances have it.

    Examples
    --------
    >>> from scumble.measures import labelsets
    >>> found = labelsets([[1, 0], [1, 1], [1, 0]])
    >>> found.first_row, found.counts
    (array([0, 1]), array([2, 1]))
    """

    first_row: Array
    counts: Array

    def __len__(self) -> int:
        return len(self.counts)

    def _repr_title(self) -> str:
        return f"Labelsets: {len(self):,}, {self.n_single:,} of them occur once"

    def _repr_table(self) -> TableView:
        chosen = self.order[:MAX_ROWS_SHOWN]
        columns = (self.counts, self.imbalance, self.first_row)
        rows = zip(*(column[chosen] for column in columns), strict=True)
        return TableView(("count", "imbalance", "first row"), rows, len(self))

    @property
    def n_single(self) -> int:
        """Number of labelsets that occur once."""
        return int((self.counts == 1).sum())

    @property
    def max_count(self) -> int:
        """Instances of the most frequent labelset; 0 without any."""
        return int(self.counts.max(initial=0))

    @cached_property
    def order(self) -> Array:
        """Positions of the labelsets, most frequent first, then by first appearance."""
        return np.lexsort((self.first_row, -self.counts))

    @property
    def imbalance(self) -> Array:
        """How many times rarer each labelset is than the most frequent one."""
        return self.max_count / self.counts


def labelsets(Y: Any) -> Labelsets:
    """Find the distinct labelsets, how often each occurs, and where first.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    Labelsets
        In no particular order; its ``order`` sorts by frequency.

    Notes
    -----
    Rows are dealt into partitions by a hash of their labels, and each partition is grouped by a
    table of its own. A row with few labels is its own exact key; longer rows with equal hashes
    are compared label by label, so the answer is exact.

    Examples
    --------
    >>> from scumble.measures import labelsets
    >>> found = labelsets([[1, 0], [1, 1], [1, 0], [0, 0]])
    >>> found.first_row[found.order], found.counts[found.order]
    (array([0, 1, 3]), array([2, 1, 1]))
    """
    return find_labelsets(check_labels(Y, caller="labelsets"))


def find_labelsets(Y: sparse.csr_array) -> Labelsets:
    """Do what `labelsets` does for labels that have come through the door already."""
    starts, keys, rows = _deal(Y)
    sizes = np.zeros(len(starts) - 1, np.int64)

    def group(block: tuple[int, int]) -> None:
        kernels.group_rows(Y.indptr, Y.indices, keys, rows, starts, *block, sizes)

    run_in_threads(group, row_blocks(starts, TASKS))
    return Labelsets(_gather(rows, starts, sizes), _gather(keys, starts, sizes))


def labelset_of_rows(Y: Any) -> tuple[Array, Labelsets]:
    """Give the labelsets numbers, and every instance the number of its own.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    numbers : ndarray of int64, shape (n_samples,)
        The number of each instance's labelset.
    found : Labelsets
        The labelsets by number, in the order of their first appearance.

    Examples
    --------
    >>> from scumble.measures import labelset_of_rows
    >>> numbers, found = labelset_of_rows([[1, 0], [1, 1], [1, 0], [0, 0]])
    >>> numbers
    array([0, 1, 0, 2])
    """
    return number_labelsets(check_labels(Y, caller="labelset_of_rows"))


def number_labelsets(Y: sparse.csr_array) -> tuple[Array, Labelsets]:
    """Do what `labelset_of_rows` does for labels that have come through the door already."""
    numbers, first_rows = kernels.number_labelsets(Y.indptr, Y.indices, Y.shape[1])
    return numbers, Labelsets(first_rows, np.bincount(numbers, minlength=len(first_rows)))


@measure(level="dataset", upper=1.0)
def diversity(Y: Any) -> float:
    """Share of distinct labelsets among the instances.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    float
        Labelsets over instances; NaN without instances.

    Examples
    --------
    >>> from scumble.measures import diversity
    >>> diversity([[1, 0], [1, 1], [1, 0], [0, 0]])
    0.75
    """
    Y = check_labels(Y, caller="diversity")
    return safe_divide(len(labelsets(Y)), Y.shape[0])


def tcs(Y: Any, *, n_features: int | None = None) -> float:
    r"""Theoretical complexity score: how large the space is that a learner must cover.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    n_features : int, optional
        Number of features; by default those of the data set. Labels alone do not tell.

    Returns
    -------
    float
        NaN where one of the factors is 0.

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
                "The 'n_features' parameter of tcs must be given where Y is labels alone: they do "
                "not tell how many features there are. Give it, or a data set."
            )
        n_features = int(Y.X.shape[1])
    return tcs_from_counts(n_features, labels.shape[1], len(find_labelsets(labels)))


def tcs_from_counts(n_features: int, n_labels: int, n_labelsets: int) -> float:
    """Compute TCS from its three factors."""
    volume = n_features * n_labels * n_labelsets
    return math.log(volume) if volume > 0 else float("nan")


def _deal(Y: sparse.csr_array) -> tuple[Array, Array, Array]:
    """Deal the rows into partitions: where each starts, and the rows' keys and numbers."""
    n_rows, n_labels = Y.shape
    partition_bits = max(1, (n_rows // PARTITION_ROWS).bit_length())
    blocks = row_blocks(Y.indptr, 1 if Y.nnz + n_rows < SERIAL_BELOW else 32)
    keys = np.empty(n_rows, np.uint64)
    rows = np.empty(n_rows, np.uint32 if n_rows < 2**32 else np.uint64)

    def deal(places: Array, keys: Array, rows: Array) -> None:
        def work(at: int) -> None:
            kernels.partition_rows(
                Y.indptr, Y.indices, n_labels, *blocks[at], places[at], keys, rows
            )

        run_in_threads(work, range(len(blocks)))

    sizes = np.zeros((len(blocks), 1 << partition_bits), np.int64)
    deal(sizes, keys[:0], rows[:0])
    starts = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    deal(starts[:-1] + np.cumsum(sizes, axis=0) - sizes, keys, rows)
    return starts, keys, rows


def _gather(values: Array, starts: Array, sizes: Array) -> Array:
    """Collect the first ``sizes`` values of every partition."""
    parts = [values[start : start + size] for start, size in zip(starts, sizes, strict=False)]
    return np.concatenate(parts, dtype=np.int64, casting="unsafe")
