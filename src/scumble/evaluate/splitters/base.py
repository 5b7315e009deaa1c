"""What all splitters share: repetitions, seeds, and the way from folds to row numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from scumble._core.arrays import Array
from scumble._core.errors import DataError
from scumble._core.parameters import Declared, Int, Seed, declare
from scumble._core.provenance import warn_if_resampled
from scumble._core.random import as_generator
from scumble._core.registry import register
from scumble._core.validation import check_labels, check_same_length, is_dataset


class BaseSplitter(Declared, BaseEstimator):
    """Base of all splitters.

    A subclass implements `_deal`, which gives every row the number of its fold. Training and test
    rows come out in ascending order. The subclass names itself for the catalogue:
    ``class RepeatedKFold(..., name="kfold")``.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        How often the rows are dealt anew; ``n_splits`` times this many splits come out.
    random_state : None, int, Generator or RandomState
        One seed, one answer.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.evaluate import BaseSplitter
    >>> class InTurns(BaseSplitter):
    ...     def _deal(self, Y, generator):
    ...         return np.arange(Y.shape[0]) % self.n_splits
    >>> [test.tolist() for _, test in InTurns(2).split(None, np.ones((5, 1)))]
    [[0, 2, 4], [1, 3]]
    """

    domains = declare(n_splits=Int(2), n_repeats=Int(1), random_state=Seed())

    def __init__(self, n_splits: int = 5, n_repeats: int = 1, *, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state

    def __init_subclass__(
        cls, name: str | None = None, family: str = "More", **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        if name is not None:
            register("splitter", name, cls, family=family)

    def _deal(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
        """Give every row of ``Y`` the number of its fold, from 0 to n_splits - 1."""
        raise NotImplementedError  # the one thing every splitter does in its own way

    def split(self, X: Any, Y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the rows of the training and the test part, fold by fold.

        Parameters
        ----------
        X : MultilabelDataset, array, sparse matrix or DataFrame
            The data; only a data set is looked at.
        Y : array, sparse matrix or DataFrame of shape (n_samples, n_labels), optional
            Labels; a data set has its own.
        groups : None
            Not used, here because scikit-learn hands it over.

        Yields
        ------
        train, test : ndarray of int64
            Row numbers. Within a repetition every row is in one test part.
        """
        labels = self._labels(X, Y)
        warn_if_resampled(X, Y, caller=f"{type(self).__name__}.split")
        yield from self._parts(labels)

    def folds(self, X: Any, Y: Any = None) -> Array:
        """Give every row the number of its fold, in every repetition.

        Parameters
        ----------
        X : MultilabelDataset, array, sparse matrix or DataFrame
            The data; only a data set is looked at.
        Y : array, sparse matrix or DataFrame of shape (n_samples, n_labels), optional
            Labels; a data set has its own.

        Returns
        -------
        ndarray of int64, shape (n_samples, n_repeats)
            Numbers of folds, from 0.
        """
        return np.stack(list(self._repetitions(self._labels(X, Y))), axis=1)

    def get_n_splits(self, X: Any = None, Y: Any = None, groups: Any = None) -> int:
        """Tell how many pairs of training and test parts there will be.

        Parameters
        ----------
        X, Y, groups : object
            Not used.

        Returns
        -------
        int
            The folds of all repetitions.
        """
        return self._count_parts()

    def _count_parts(self) -> int:
        self.check_parameters()
        return self.n_splits * self.n_repeats

    def _parts(self, Y: sparse.csr_array) -> Iterator[tuple[Array, Array]]:
        """Make training and test rows of fold numbers."""
        for folds in self._repetitions(Y):
            for fold in range(int(folds.max()) + 1):
                yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def _repetitions(self, Y: sparse.csr_array) -> Iterator[Array]:
        """Deal the rows once per repetition; one seed for each, so that they do not interfere."""
        self._check_rows(Y)
        caller = type(self).__name__
        generator = as_generator(self.random_state, caller=caller)
        for seed in generator.integers(2**63, size=self.n_repeats):
            folds = self._deal(Y, np.random.default_rng(seed))
            if np.bincount(folds, minlength=self.n_splits).min() == 0:
                raise DataError(
                    f"{caller}: the labels of these {Y.shape[0]} rows leave one of "
                    f"{self.n_splits} folds empty. Choose fewer folds."
                )
            yield folds

    def _check_rows(self, Y: sparse.csr_array) -> None:
        self.check_parameters()
        if Y.shape[0] < self.n_splits:
            raise DataError(
                f"{type(self).__name__}: {Y.shape[0]} rows cannot make {self.n_splits} folds. "
                "Choose fewer."
            )

    def _labels(self, X: Any, Y: Any) -> sparse.csr_array:
        caller = type(self).__name__
        if Y is None and is_dataset(X):
            Y = X.Y
        if Y is None:
            raise DataError(f"{caller}: to split rows by their labels, give split(X, Y) both.")
        labels = check_labels(Y, caller=caller)
        if hasattr(X, "shape"):
            check_same_length(X, labels, caller=caller)
        return labels


def deal_blocks(order: Array, n_folds: int) -> Array:
    """Cut rows in a given order into consecutive blocks, the first ones larger by one."""
    folds = np.empty(len(order), np.int64)
    for fold, rows in enumerate(np.array_split(order, n_folds)):
        folds[rows] = fold
    return folds
