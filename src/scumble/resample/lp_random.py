"""LP-ROS and LP-RUS: clone the rows of rare labelsets, delete rows of frequent ones."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble.resample.base import BaseResampler, Resampled
from scumble.resample.containers import take_labels
from scumble.resample.kernels import bags as kernels
from scumble.resample.percent import check_percent, rows_in_percent

Array = np.ndarray[Any, Any]


class LPROS(BaseResampler):
    r"""Clone random rows of rare labelsets until the data has grown by a percentage.

    Every distinct combination of labels is a bag of rows. Bags smaller than the mean bag are
    filled up with clones of their own rows, never past the mean.

    Parameters
    ----------
    percent : float
        How many rows to add, in percent of the rows there are. Fewer are added where all rare
        labelsets have reached the mean before.
    random_state : int, Generator, RandomState or None
        Where the draws come from; the same number gives the same rows.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input row each output row comes from: all rows in order, then the clones.
    n_added_, n_removed_ : int
        Clones; 0.

    See Also
    --------
    LPRUS : Delete rows of frequent labelsets instead.
    MLROS : Clone rows of rare labels instead of rare labelsets.

    Notes
    -----
    With :math:`m` the mean bag size, a bag strictly smaller than :math:`m` is open and can take
    :math:`\lceil m \rceil - \mathrm{size}` clones. :math:`T = \lfloor n P / 100 \rfloor` clones
    are shared equally among the open bags, largest first and of equal bags the one met first in
    the data first. What a bag cannot use is shared equally among the bags after it. Where a
    share does not divide evenly the single rows go to the earliest bags. In all
    :math:`\min(T, \mathrm{capacity})` rows are cloned, drawn with replacement from the bag's
    original rows.

    The paper [1]_ divides by the number of bags without saying what becomes of the remainder,
    and leaves it open whether the mean is rounded; the rules above say it. The rows keep their
    order here (the R package mldr.resampling sorts them by labelset).

    References
    ----------
    .. [1] Charte, F., Rivera, A., del Jesus, M. J., & Herrera, F. (2013). A first approach to
       deal with imbalance in multi-label datasets. *HAIS 2013*, LNCS 8073.

    Examples
    --------
    The labelsets occur 4, 2 and 1 times, 7/3 times on average. The bag of two can take one
    clone, the bag of one two; of T = floor(7 * 0.3) = 2 clones each gets one.

    >>> import numpy as np
    >>> from scumble.resample import LPROS
    >>> X = np.arange(7).reshape(-1, 1)
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [1, 1]])
    >>> X_new, Y_new = LPROS(percent=30, random_state=0).fit_resample(X, Y)
    >>> X_new.ravel()
    array([0, 1, 2, 3, 4, 5, 6, 5, 6])
    """

    def __init__(self, *, percent: float = 25, random_state: Any = None) -> None:
        self.percent = percent
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_percent(self.percent, caller="LPROS")

    def _resample(self, X: Any, Y: sparse.csr_array) -> Resampled:
        n_rows = Y.shape[0]
        bags = _bags(Y)
        small = bags.sizes * len(bags.sizes) < n_rows
        is_open = np.flatnonzero(small)
        # Largest first; labelsets are numbered in the order of their first rows.
        is_open = is_open[np.lexsort((is_open, -bags.sizes[is_open]))]
        capacity = _ceil_mean(n_rows, bags) - bags.sizes[is_open]
        shares = share_out(rows_in_percent(self.percent, n_rows), capacity)
        drawn = self._generator().random(int(shares.sum()))
        sizes = np.repeat(bags.sizes[is_open], shares)
        places = np.repeat(bags.starts[is_open], shares) + (drawn * sizes).astype(np.int64)
        clones = bags.rows[places]
        rows = np.concatenate([np.arange(n_rows), clones])
        return Resampled(rows, take_labels(Y, rows))


class LPRUS(BaseResampler):
    r"""Delete random rows of frequent labelsets until the data has shrunk by a percentage.

    Every distinct combination of labels is a bag of rows. Bags larger than the mean bag lose
    random rows, never falling below the mean.

    Parameters
    ----------
    percent : float
        How many rows to remove, in percent of the rows there are. Fewer are removed where all
        frequent labelsets have reached the mean before.
    random_state : int, Generator, RandomState or None
        Where the draws come from; the same number gives the same rows.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input rows that stay, in order.
    n_added_, n_removed_ : int
        0; rows deleted.

    See Also
    --------
    LPROS : Clone rows of rare labelsets instead.
    MLRUS : Delete rows of frequent labels instead of frequent labelsets.

    Notes
    -----
    With :math:`m` the mean bag size, a bag strictly larger than :math:`m` is open and can lose
    :math:`\mathrm{size} - \lfloor m \rfloor` rows. :math:`T = \lfloor n P / 100 \rfloor`
    deletions are shared equally among the open bags, smallest first and of equal bags the one
    met first in the data first. What a bag cannot use is shared equally among the bags after
    it. Where a share does not divide evenly the single rows go to the earliest bags. In all
    :math:`\min(T, \mathrm{capacity})` rows are deleted, without replacement.

    As in `LPROS`, the paper [1]_ leaves rounding and remainders open. (The R package
    mldr.resampling empties every frequent labelset when a bag's share rounds to zero.)

    References
    ----------
    .. [1] Charte, F., Rivera, A., del Jesus, M. J., & Herrera, F. (2013). A first approach to
       deal with imbalance in multi-label datasets. *HAIS 2013*, LNCS 8073.

    Examples
    --------
    The labelsets occur 4, 2 and 1 times, 7/3 times on average. Only the bag of four is open and
    can lose two rows; of T = floor(7 * 0.3) = 2 deletions it gets both.

    >>> import numpy as np
    >>> from scumble.resample import LPRUS
    >>> X = np.arange(7).reshape(-1, 1)
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [1, 1]])
    >>> X_new, Y_new = LPRUS(percent=30, random_state=0).fit_resample(X, Y)
    >>> X_new.ravel()
    array([1, 3, 4, 5, 6])
    """

    def __init__(self, *, percent: float = 25, random_state: Any = None) -> None:
        self.percent = percent
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_percent(self.percent, caller="LPRUS", maximum=100)

    def _resample(self, X: Any, Y: sparse.csr_array) -> Resampled:
        n_rows = Y.shape[0]
        bags = _bags(Y)
        is_open = np.flatnonzero(bags.sizes * len(bags.sizes) > n_rows)
        is_open = is_open[np.lexsort((is_open, bags.sizes[is_open]))]
        capacity = bags.sizes[is_open] - _floor_mean(n_rows, bags)
        shares = share_out(rows_in_percent(self.percent, n_rows), capacity)
        drawn = self._generator().random(int(shares.sum()))
        keep = np.ones(n_rows, bool)
        starts, sizes = bags.starts[is_open], bags.sizes[is_open]
        kernels.drop_from_bags(bags.rows, starts, sizes, shares, drawn, keep)
        rows = np.flatnonzero(keep)
        return Resampled(rows, take_labels(Y, rows))


class Bags(NamedTuple):
    """Rows grouped by labelset: the rows of bag b are ``rows[starts[b] : starts[b] + sizes[b]]``.

    Bags are numbered in the order of their first rows, and their rows are in order.
    """

    rows: Array
    starts: Array
    sizes: Array


def _bags(Y: sparse.csr_array) -> Bags:
    n_rows, n_labels = Y.shape
    numbers, first_rows, rows = (np.empty(n_rows, np.int64) for _ in range(3))
    n_places = 1 << (2 * n_rows).bit_length()
    keys, table = np.empty(n_places, np.uint64), np.zeros(n_places, np.int64)
    bits = np.uint64(max(n_labels.bit_length(), 1))  # labels are packed as 1..n_labels
    n_bags = kernels.number_labelsets(Y.indptr, Y.indices, bits, keys, table, numbers, first_rows)
    sizes = np.bincount(numbers, minlength=n_bags)
    starts = np.cumsum(sizes) - sizes
    kernels.group_by_number(numbers, starts.copy(), rows)
    return Bags(rows, starts, sizes)


def _ceil_mean(n_rows: int, bags: Bags) -> int:
    return math.ceil(n_rows / max(len(bags.sizes), 1))


def _floor_mean(n_rows: int, bags: Bags) -> int:
    return n_rows // max(len(bags.sizes), 1)


def share_out(total: int, capacity: Array) -> Array:
    """Share rows equally among bags in order; what one cannot use goes to those after it.

    Parameters
    ----------
    total : int
        Rows to share.
    capacity : ndarray of int, shape (n_bags,)
        What each bag can use, never decreasing.

    Returns
    -------
    ndarray of int64, shape (n_bags,)
        What each bag uses; ``min(total, capacity.sum())`` in all.

    Examples
    --------
    Seven rows for four bags are 2 + 2 + 2 + 1. The first can use one only, so that the second
    gets a third row.

    >>> import numpy as np
    >>> from scumble.resample.lp_random import share_out
    >>> share_out(7, np.array([1, 3, 3, 3]))
    array([1, 3, 2, 1])
    """
    n_bags = len(capacity)
    # No bag can use more than the largest capacity, which keeps the shares within integers.
    total = min(total, int(capacity.sum()))
    used = np.zeros(n_bags, np.int64)
    kernels.share_out(total, capacity, np.zeros(n_bags + 1, np.int64), used)
    return used
