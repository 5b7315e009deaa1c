"""LP-ROS and LP-RUS: clone the rows of rare labelsets, delete rows of frequent ones."""

from __future__ import annotations

import hashlib
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import parameter_error
from scumble._core.parameters import Choice, Real
from scumble.measures.labelsets import number_labelsets
from scumble.resample.base import BaseResampler, ResampleResult, n_rows_from_percent
from scumble.resample.containers import take_labels
from scumble.resample.kernels import bags as kernels

#: The generator of random numbers: numpy's, or hashes, which SQL can reproduce. Not in forms,
#: because only data that does not fit in memory needs ``"hash"``.
SEEDING = Choice("generator", "hash").hide_in_forms()


class _LabelsetResampler(BaseResampler):
    """Base class of `LPROS` and `LPRUS`, which resample bags: the rows with the same labelset.

    A bag is *open* if it gains or loses rows, because its size is below (or above) the mean size.
    """

    _parameter_constraints = {
        **BaseResampler._parameter_constraints,
        "percent": Real(minimum=0),
        "seeding": SEEDING,
    }

    def __init__(
        self,
        *,
        percent: float = 25,
        random_state: Any = None,
        seeding: Literal["generator", "hash"] = "generator",
    ) -> None:
        self.percent = percent
        self.random_state = random_state
        self.seeding = seeding

    def _check_parameter_combinations(self) -> None:
        """Raise ParameterError if ``seeding`` is "hash" and ``random_state`` is no int."""
        if self.seeding == "hash" and not isinstance(self.random_state, int | np.integer):
            requirement = "be an int with seeding='hash'"
            raise parameter_error(
                "random_state", type(self).__name__, requirement, self.random_state
            )

    def _group_rows(self, Y: sparse.csr_array) -> LabelsetBags:
        """Group the rows by labelset, in the order that the ``seeding`` parameter requires."""
        if self.seeding == "hash":
            return _bags_by_hash(Y, self.random_state)
        return _bags_in_data_order(Y)

    def _distribute(self, bags: LabelsetBags, open_bag_indices: Array, capacity: Array) -> OpenBags:
        """Return the open bags and the number of rows that each of them gains or loses.

        The budget, ``percent`` percent of all rows, is distributed in the order of
        ``open_bag_indices``; ``capacity`` is the largest number of rows for each of them.
        """
        total = n_rows_from_percent(self.percent, len(bags.rows))
        return OpenBags(
            starts=bags.starts[open_bag_indices],
            sizes=bags.sizes[open_bag_indices],
            budgets=distribute_budget(total, capacity),
        )


class LPROS(_LabelsetResampler, display_group="Add rows"):
    r"""Clone random rows of rare labelsets until the data has grown by a percentage.

    The rows with the same labelset form a bag. Bags smaller than the mean bag get clones of their
    rows, until they have the mean size at most.

    Parameters
    ----------
    percent : float
        Number of rows to add, as a percentage of the rows of the input. Fewer are added if all
        rare labelsets reach the mean before.
    random_state : int, Generator, RandomState or None
        Source of the random numbers; the same int gives the same rows.
    seeding : {"generator", "hash"}
        ``"hash"`` draws by the MD5 hash of `random_state` (which must be an int) and the row
        number, as for data that does not fit in memory: the result is the same on every engine
        and for every number of partitions.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        For every row of the result, the input row that it comes from: all rows in order, then
        the sources of the clones.
    n_added_, n_removed_ : int
        Number of clones; 0.

    See Also
    --------
    LPRUS : Delete rows of frequent labelsets instead.
    MLROS : Clone rows of rare labels instead of rare labelsets.

    Notes
    -----
    With :math:`m` the mean bag size, a bag strictly smaller than :math:`m` is open and can take
    :math:`\lceil m \rceil - \mathrm{size}` clones. :math:`T = \lfloor n P / 100 \rfloor` clones
    are divided equally among the open bags, in the order of decreasing size; of bags of the same
    size, the one that occurs first in the data comes first. Clones that a bag cannot take are
    divided equally among the bags after it, and remainders go to the first bags. In total
    :math:`\min(T, \mathrm{capacity})` rows are cloned, drawn with replacement from the original
    rows of the bag.

    The paper [1]_ divides by the number of bags without a rule for the remainder, and does not
    state whether the mean is rounded; the rules above are additions. The rows keep their order
    (the R package mldr.resampling sorts them by labelset).

    References
    ----------
    .. [1] Charte, F., Rivera, A., del Jesus, M. J., & Herrera, F. (2013). A first approach to
       deal with imbalance in multi-label datasets. *HAIS 2013*, LNCS 8073.

    Examples
    --------
    The labelsets occur 4, 2 and 1 times, 7/3 times on average. The bag of two rows can take one
    clone, the bag of one row two; of T = floor(7 * 0.3) = 2 clones each gets one.

    >>> import numpy as np
    >>> from scumble.resample import LPROS
    >>> X = np.arange(7).reshape(-1, 1)
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [1, 1]])
    >>> X_new, Y_new = LPROS(percent=30, random_state=0).fit_resample(X, Y)
    >>> X_new.ravel()
    array([0, 1, 2, 3, 4, 5, 6, 5, 6])
    """

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        """Return all rows, and then random clones of rows of the bags below the mean size."""
        n_rows = Y.shape[0]
        bags = self._group_rows(Y)
        n_bags = len(bags.sizes)
        small_bags = np.flatnonzero(bags.sizes * n_bags < n_rows)
        # The largest first; bags of the same size in the order of the data.
        order = small_bags[np.lexsort((small_bags, -bags.sizes[small_bags]))]
        capacity = -(-n_rows // max(n_bags, 1)) - bags.sizes[order]  # the mean is rounded up
        open_bags = self._distribute(bags, order, capacity)

        sizes = np.repeat(open_bags.sizes, open_bags.budgets)
        if self.seeding == "hash":
            offsets = _hashes_of_clones(self.random_state, bags, open_bags) % sizes
        else:
            offsets = (self._generator().random(len(sizes)) * sizes).astype(np.int64)
        clones = bags.rows[np.repeat(open_bags.starts, open_bags.budgets) + offsets]
        rows = np.concatenate([np.arange(n_rows), clones])
        return ResampleResult(rows, take_labels(Y, rows))


class LPRUS(_LabelsetResampler, display_group="Remove rows"):
    r"""Delete random rows of frequent labelsets until the data has shrunk by a percentage.

    The rows with the same labelset form a bag. Bags larger than the mean bag lose random rows,
    until they have the mean size at least.

    Parameters
    ----------
    percent : float
        Number of rows to remove, as a percentage of the rows of the input. Fewer are removed if
        all frequent labelsets reach the mean before.
    random_state : int, Generator, RandomState or None
        Source of the random numbers; the same int gives the same rows.
    seeding : {"generator", "hash"}
        ``"hash"`` draws by the MD5 hash of `random_state` (which must be an int) and the row
        number, as for data that does not fit in memory: the result is the same on every engine
        and for every number of partitions.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input rows that remain, in order.
    n_added_, n_removed_ : int
        0; number of rows deleted.

    See Also
    --------
    LPROS : Clone rows of rare labelsets instead.
    MLRUS : Delete rows of frequent labels instead of frequent labelsets.

    Notes
    -----
    With :math:`m` the mean bag size, a bag strictly larger than :math:`m` is open and can lose
    :math:`\mathrm{size} - \lfloor m \rfloor` rows. :math:`T = \lfloor n P / 100 \rfloor`
    deletions are divided equally among the open bags, in the order of increasing size; of bags
    of the same size, the one that occurs first in the data comes first. Deletions that a bag
    cannot take are divided equally among the bags after it, and remainders go to the first bags.
    In total :math:`\min(T, \mathrm{capacity})` rows are deleted, without replacement.

    As with `LPROS`, the paper [1]_ has no rules for rounding and remainders. (The R package
    mldr.resampling empties every frequent labelset if the share of a bag rounds to zero.)

    References
    ----------
    .. [1] Charte, F., Rivera, A., del Jesus, M. J., & Herrera, F. (2013). A first approach to
       deal with imbalance in multi-label datasets. *HAIS 2013*, LNCS 8073.

    Examples
    --------
    The labelsets occur 4, 2 and 1 times, 7/3 times on average. Only the bag of four rows is open
    and can lose two rows; it gets both of the T = floor(7 * 0.3) = 2 deletions.

    >>> import numpy as np
    >>> from scumble.resample import LPRUS
    >>> X = np.arange(7).reshape(-1, 1)
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [1, 1]])
    >>> X_new, Y_new = LPRUS(percent=30, random_state=0).fit_resample(X, Y)
    >>> X_new.ravel()
    array([1, 3, 4, 5, 6])
    """

    _parameter_constraints = {
        **_LabelsetResampler._parameter_constraints,
        "percent": Real(minimum=0, maximum=100),
    }

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        """Return the rows that remain after random rows of bags above the mean size are deleted."""
        n_rows = Y.shape[0]
        bags = self._group_rows(Y)
        n_bags = len(bags.sizes)
        large_bags = np.flatnonzero(bags.sizes * n_bags > n_rows)
        # The smallest first; bags of the same size in the order of the data.
        order = large_bags[np.lexsort((large_bags, bags.sizes[large_bags]))]
        capacity = bags.sizes[order] - n_rows // max(n_bags, 1)  # the mean is rounded down
        open_bags = self._distribute(bags, order, capacity)

        is_kept = np.ones(n_rows, bool)
        if self.seeding == "hash":
            for start, budget in zip(open_bags.starts, open_bags.budgets, strict=True):
                is_kept[bags.rows[start : start + budget]] = False
        else:
            uniforms = self._generator().random(int(open_bags.budgets.sum()))
            kernels.drop_from_bags(
                bags.rows, open_bags.starts, open_bags.sizes, open_bags.budgets, uniforms, is_kept
            )
        rows = np.flatnonzero(is_kept)
        return ResampleResult(rows, take_labels(Y, rows))


class LabelsetBags(NamedTuple):
    """All rows, grouped by labelset; a bag is the group of rows with the same labelset."""

    rows: Array  # row indices; those of bag i are ``rows[starts[i] : starts[i] + sizes[i]]``
    starts: Array  # by bag: position of its first row in ``rows``
    sizes: Array  # by bag: number of rows


class OpenBags(NamedTuple):
    """The bags that gain or lose rows."""

    starts: Array  # by bag: position of its first row in `LabelsetBags.rows`
    sizes: Array  # by bag: number of rows
    budgets: Array  # by bag: number of rows that it gains or loses


def _bags_in_data_order(Y: sparse.csr_array) -> LabelsetBags:
    """Group the rows by labelset; bags, and the rows of a bag, are in the order of the data."""
    labelset_of_row, labelsets = number_labelsets(Y)
    starts = np.cumsum(labelsets.counts) - labelsets.counts
    rows = np.empty(Y.shape[0], np.int64)
    kernels.group_by_number(labelset_of_row, starts.copy(), rows)
    return LabelsetBags(rows, starts, labelsets.counts)


def _bags_by_hash(Y: sparse.csr_array, seed: int) -> LabelsetBags:
    """Group the rows by labelset; the rows of a bag are in the order of their hashes.

    The hash of a row is that of the seed and its index. Bags are in the order of the hashes of
    their first rows.
    """
    bags = _bags_in_data_order(Y)
    hashes = np.array([_md5(f"{seed}:{row}") for row in range(Y.shape[0])], dtype="S32")
    bag_numbers = np.repeat(np.arange(len(bags.sizes)), bags.sizes)
    rows = bags.rows[np.lexsort((hashes[bags.rows], bag_numbers))]
    order = np.argsort(hashes[rows[bags.starts]])
    return LabelsetBags(rows, bags.starts[order], bags.sizes[order])


def _hashes_of_clones(seed: int, bags: LabelsetBags, open_bags: OpenBags) -> Array:
    """Return a pseudo-random number below 2**60 for each clone, bag by bag.

    ``bags`` holds all bags; ``open_bags`` those that gain clones, and how many.
    """
    numbers: list[int] = []
    for first_row, budget in zip(bags.rows[open_bags.starts], open_bags.budgets, strict=True):
        bag_hash = _md5(f"{seed}:{first_row}")
        hashes = (_md5(f"{seed}:{bag_hash}:{clone}") for clone in range(budget))
        # 15 hexadecimal digits are 60 bits, which fit in an int64.
        numbers.extend(int(clone_hash[:15], 16) for clone_hash in hashes)
    return np.array(numbers, np.int64)


def _md5(text: str) -> str:
    """Return the MD5 hash of a text as hexadecimal digits."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def distribute_budget(total: int, capacity: Array) -> Array:
    """Divide ``total`` rows equally among bags; return the number of rows for each bag.

    ``capacity`` is the largest number of rows for each bag. Rows that a bag has no capacity for are
    divided equally among the bags after it, so the sum is less than ``total`` if the last bags
    cannot hold their rows.
    """
    # No bag can take more than the total capacity, which keeps the shares within int64.
    return kernels.distribute_budget(min(total, int(capacity.sum())), capacity)
