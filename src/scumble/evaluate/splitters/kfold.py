"""Folds by chance: ours, several times over, and those MULAN itself makes, row for row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.java import JavaRandom
from scumble._core.parameters import Int, declare
from scumble.evaluate.splitters.base import Array, BaseSplitter, deal_blocks


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
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state

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
