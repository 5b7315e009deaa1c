"""Folds by chance, ours and MULAN's; and folds that share the labels as evenly as they can."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.java import JavaRandom
from scumble._core.parameters import Int, declare
from scumble.evaluate.splitters.base import Array, BaseSplitter, deal_blocks
from scumble.measures import labelset_of_rows
from scumble.measures.stratification import deal_rows


class RepeatedKFold(BaseSplitter, name="kfold", family="By chance"):
    """Deal the rows into folds of equal size by chance.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        How often the rows are dealt anew. The default, two times five, is how the paper
        measures: ``RepeatedKFold(3)`` makes six splits.
    random_state : None, int, Generator or RandomState
        One seed, one answer.

    Examples
    --------
    >>> from scumble.evaluate import RepeatedKFold
    >>> splitter = RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)
    >>> Y = [[1, 0], [0, 1], [1, 1], [0, 0]]
    >>> splitter.folds(None, Y).sum(axis=0)
    array([2, 2])
    >>> splitter.get_n_splits()
    4
    """

    def __init__(self, n_splits: int = 5, n_repeats: int = 2, *, random_state: Any = None) -> None:
        super().__init__(n_splits, n_repeats, random_state=random_state)

    def _deal(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
        return deal_blocks(generator.permutation(Y.shape[0]), self.n_splits)


class MulanKFold(BaseSplitter, name="mulan", family="By chance"):
    """Shuffle as MULAN does, then cut into consecutive blocks.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        Number of repetitions; each takes the next seed.
    random_state : int
        The seed of Java's generator; MULAN's is 1.

    Notes
    -----
    WEKA shuffles with ``java.util.Random`` from the last row down; the first folds are larger by
    one where the rows do not divide. Training and test rows keep the shuffled order, as they do
    there: it decides between equal neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.evaluate import MulanKFold
    >>> [test.tolist() for _, test in MulanKFold(3).split(None, np.ones((7, 2)))]
    [[3, 0, 5], [1, 2], [6, 4]]
    """

    domains = declare(random_state=Int(0))

    def __init__(self, n_splits: int = 10, n_repeats: int = 1, *, random_state: int = 1) -> None:
        super().__init__(n_splits, n_repeats, random_state=random_state)

    def _parts(self, Y: sparse.csr_array) -> Iterator[tuple[Array, Array]]:
        for order in self._orders(Y):
            blocks = np.array_split(order, self.n_splits)
            for fold, test in enumerate(blocks):
                yield np.concatenate(blocks[:fold] + blocks[fold + 1 :]), test

    def _repetitions(self, Y: sparse.csr_array) -> Iterator[Array]:
        return (deal_blocks(order, self.n_splits) for order in self._orders(Y))

    def _orders(self, Y: sparse.csr_array) -> Iterator[Array]:
        self._check_rows(Y)
        seed = self.random_state
        return (_shuffled(Y.shape[0], seed + at) for at in range(self.n_repeats))


def _shuffled(n_rows: int, seed: int) -> Array:
    random = JavaRandom(seed)
    order = np.arange(n_rows)
    for last in range(n_rows - 1, 0, -1):
        other = random.next_int(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


class IterativeStratification(BaseSplitter, name="iterative", family="By labels"):
    """Deal the rows so that every fold gets its share of every label, rare labels first.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        How often the rows are dealt anew; once by default, so that ``n_splits`` is the number
        of splits.
    random_state : None, int, Generator or RandomState
        One seed, one answer: it orders the rows and breaks ties.

    See Also
    --------
    LabelsetStratification : Shares labelsets, which are many, instead of labels.

    Notes
    -----
    The method of Sechidis et al. [1]_: take the label with the fewest rows left (ties: the first
    label), and give each of its rows to the fold that wants most of this label, then to the one
    that wants most rows at all, then by chance. Rows without labels come last. Folds may differ
    in size by a few rows.

    Each assignment of a label is touched a few times, so that it takes about a second for ten
    million of them.

    References
    ----------
    .. [1] Sechidis, K., Tsoumakas, G., & Vlahavas, I. (2011). On the stratification of
       multi-label data. *ECML PKDD 2011*, LNCS 6913.

    Examples
    --------
    Two rows have the rare label 1; each fold gets one.

    >>> from scumble.evaluate import IterativeStratification
    >>> Y = [[1, 0], [1, 1], [1, 0], [1, 0], [1, 1], [1, 0]]
    >>> folds = IterativeStratification(2, random_state=0).folds(None, Y).ravel()
    >>> sorted(folds[[1, 4]].tolist()), sorted(folds.tolist())
    ([0, 1], [0, 0, 0, 1, 1, 1])
    """

    def _deal(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
        return deal_rows(Y, self.n_splits, generator)


class LabelsetStratification(BaseSplitter, name="labelset", family="By labels"):
    """Deal the rows of each labelset in turns, so that every fold gets its share of each.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        How often the rows are dealt anew; once by default, so that ``n_splits`` is the number
        of splits.
    random_state : None, int, Generator or RandomState
        One seed, one answer: it orders the rows of each labelset.

    See Also
    --------
    IterativeStratification : Better where most labelsets occur but once.

    Notes
    -----
    Dealing goes on from one labelset to the next, so that folds differ in size by one row at the
    most, and the rows of labelsets that occur once are spread over all folds.

    Examples
    --------
    >>> from scumble.evaluate import LabelsetStratification
    >>> Y = [[1, 0], [1, 1], [1, 0], [1, 0], [1, 1], [1, 0]]
    >>> folds = LabelsetStratification(2, random_state=0).folds(None, Y).ravel()
    >>> sorted(folds[[1, 4]].tolist()), sorted(folds.tolist())
    ([0, 1], [0, 0, 0, 1, 1, 1])
    """

    def _deal(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
        numbers, _ = labelset_of_rows(Y)
        order = generator.permutation(len(numbers))
        order = order[np.argsort(numbers[order], kind="stable")]
        folds = np.empty(len(order), np.int64)
        folds[order] = np.arange(len(order)) % self.n_splits
        return folds
