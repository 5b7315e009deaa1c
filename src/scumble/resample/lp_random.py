"""LP-ROS and LP-RUS: clone the rows of rare labelsets, delete rows of frequent ones."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import parameter_error
from scumble._core.parameters import Choice, Real, default, parameter_constraints
from scumble.measures.labelsets import number_labelsets
from scumble.resample.base import BaseResampler, ResampleResult, n_rows_from_percent
from scumble.resample.containers import take_labels
from scumble.resample.kernels import bags as kernels

#: Whose draws: numpy's, or those that SQL can repeat; only `scumble.scale` needs to choose.
SEEDING = Choice("generator", "hash").hide_in_forms()


@dataclass(kw_only=True, eq=False, repr=False)
class _LabelsetResampler(BaseResampler):
    """Base of the two that take rows by their labelsets."""

    percent: float = default(25, Real(0))
    random_state: Any = None
    seeding: Literal["generator", "hash"] = default("generator", SEEDING)

    def _check_parameter_combinations(self) -> None:
        if self.seeding == "hash" and not isinstance(self.random_state, int | np.integer):
            must = "be an int with seeding='hash'"
            raise parameter_error("random_state", type(self).__name__, must, self.random_state)

    def _open_bags(self, Y: sparse.csr_array, *, sign: int) -> tuple[Bags, Array]:
        """Find the bags above the mean size, or with sign -1 below, and how many rows each gets."""
        hashed = self.seeding == "hash"
        bags = _bags_by_hash(Y, self.random_state) if hashed else _bags(Y)
        sizes, n_rows, n_bags = sign * bags.sizes, sign * Y.shape[0], len(bags.sizes)
        is_open = np.flatnonzero(sizes * n_bags > n_rows)
        # Those nearest to the mean first; labelsets are numbered in the order of their first rows.
        is_open = is_open[np.lexsort((is_open, sizes[is_open]))]
        capacity = sizes[is_open] - n_rows // max(n_bags, 1)
        shares = distribute_budget(n_rows_from_percent(self.percent, Y.shape[0]), capacity)
        return Bags(bags.rows, bags.starts[is_open], bags.sizes[is_open]), shares


class LPROS(_LabelsetResampler, display_group="Add rows"):
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
    seeding : {"generator", "hash"}
        ``"hash"`` draws by the MD5 hash of `random_state` (then an int) and the row's number, as
        is done for data outside of memory: the same rows wherever and in how many parts it runs.

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

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        bags, shares = self._open_bags(Y, sign=-1)
        sizes = np.repeat(bags.sizes, shares)
        if self.seeding == "hash":
            places = _places_by_hash(self.random_state, bags, shares) % sizes
        else:
            places = (self._generator().random(len(sizes)) * sizes).astype(np.int64)
        clones = bags.rows[np.repeat(bags.starts, shares) + places]
        rows = np.concatenate([np.arange(Y.shape[0]), clones])
        return ResampleResult(rows, take_labels(Y, rows))


class LPRUS(_LabelsetResampler, display_group="Remove rows"):
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
    seeding : {"generator", "hash"}
        ``"hash"`` draws by the MD5 hash of `random_state` (then an int) and the row's number, as
        is done for data outside of memory: the same rows wherever and in how many parts it runs.

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

    _parameter_constraints = parameter_constraints(percent=Real(0, 100))

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        bags, shares = self._open_bags(Y, sign=1)
        keep = np.ones(Y.shape[0], bool)
        if self.seeding == "hash":
            for start, share in zip(bags.starts, shares, strict=True):
                keep[bags.rows[start : start + share]] = False
        else:
            drawn = self._generator().random(int(shares.sum()))
            kernels.drop_from_bags(*bags, shares, drawn, keep)
        rows = np.flatnonzero(keep)
        return ResampleResult(rows, take_labels(Y, rows))


class Bags(NamedTuple):
    """Rows by labelset, in order: those of bag b are ``rows[starts[b] : starts[b] + sizes[b]]``."""

    rows: Array
    starts: Array
    sizes: Array


def _bags(Y: sparse.csr_array) -> Bags:
    numbers, found = number_labelsets(Y)
    starts = np.cumsum(found.counts) - found.counts
    rows = np.empty(Y.shape[0], np.int64)
    kernels.group_by_number(numbers, starts.copy(), rows)
    return Bags(rows, starts, found.counts)


def _bags_by_hash(Y: sparse.csr_array, seed: int) -> Bags:
    """Sort the rows of each bag by their hashes, and the bags by those of their first rows."""
    bags = _bags(Y)
    hashes = np.array([_md5(f"{seed}:{row}") for row in range(Y.shape[0])], dtype="S32")
    numbers = np.repeat(np.arange(len(bags.sizes)), bags.sizes)
    rows = bags.rows[np.lexsort((hashes[bags.rows], numbers))]
    order = np.argsort(hashes[rows[bags.starts]])
    return Bags(rows, bags.starts[order], bags.sizes[order])


def _places_by_hash(seed: int, bags: Bags, shares: Array) -> Array:
    """Draw a large number for every clone of every bag, whose name is that of its first row."""
    names = (_md5(f"{seed}:{row}") for row in bags.rows[bags.starts])
    turns = ((bag, turn) for bag, share in zip(names, shares, strict=True) for turn in range(share))
    return np.array([int(_md5(f"{seed}:{bag}:{turn}")[:15], 16) for bag, turn in turns], np.int64)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def distribute_budget(total: int, capacity: Array) -> Array:
    """Share rows equally among bags in order; what one cannot use goes to those after it."""
    # No bag can use more than the largest capacity, which keeps the shares within integers.
    return kernels.distribute_budget(min(total, int(capacity.sum())), capacity)
