"""Folds by chance, several times over: 2x5 and the like."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from scumble.evaluate.splitters.base import Array, BaseSplitter, deal_blocks


class RepeatedKFold(BaseSplitter, name="kfold", family="By chance"):
    """Deal the rows into folds of equal size by chance.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        How often the rows are dealt anew. The default, two times five, is how the paper
        measures.
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

    def _deal(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
        return deal_blocks(generator.permutation(Y.shape[0]), self.n_splits)
