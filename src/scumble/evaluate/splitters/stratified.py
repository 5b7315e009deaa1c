"""Folds that share the labels, or the labelsets, as evenly as they can."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from scumble.evaluate.splitters.base import Array, BaseSplitter
from scumble.measures import labelset_of_rows
from scumble.measures.stratification import deal_rows


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
