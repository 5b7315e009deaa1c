"""Splitters: which rows train and which test, in scikit-learn's manner.

Folds by chance, ours and MULAN's; folds that share the labels evenly; folds that are given.
"""

import csv
import io
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError
from scumble._core.files import InputFile, atomic_write
from scumble._core.java import JavaRandom
from scumble._core.parameters import (
    AnyValue,
    Int,
    RandomStateConstraint,
    ValidatedParametersMixin,
    as_generator,
    parameter_constraints,
)
from scumble._core.provenance import warn_if_resampled
from scumble._core.registry import find_object, register
from scumble._core.validation import check_consistent_length, check_labels, is_dataset
from scumble.measures import labelset_of_rows
from scumble.measures.stratification import assign_folds


class BaseSplitter(ValidatedParametersMixin, BaseEstimator):
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

    _parameter_constraints = parameter_constraints(
        n_splits=Int(2), n_repeats=Int(1), random_state=RandomStateConstraint()
    )

    def __init__(self, n_splits: int = 5, n_repeats: int = 1, *, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state

    def __init_subclass__(
        cls, name: str | None = None, display_group: str = "More", **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        if name is not None:
            register("splitter", name, cls, display_group=display_group)

    def _assign_folds(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
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
            folds = self._assign_folds(Y, np.random.default_rng(seed))
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
            check_consistent_length(X, labels, caller=caller)
        return labels


def deal_blocks(order: Array, n_folds: int) -> Array:
    """Cut rows in a given order into consecutive blocks, the first ones larger by one."""
    folds = np.empty(len(order), np.int64)
    for fold, rows in enumerate(np.array_split(order, n_folds)):
        folds[rows] = fold
    return folds


class RepeatedKFold(BaseSplitter, name="kfold", display_group="By chance"):
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

    def _assign_folds(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
        return deal_blocks(generator.permutation(Y.shape[0]), self.n_splits)


class MulanKFold(BaseSplitter, name="mulan", display_group="By chance"):
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

    _parameter_constraints = parameter_constraints(random_state=Int(0))

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


class IterativeStratification(BaseSplitter, name="iterative", display_group="By labels"):
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

    def _assign_folds(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
        return assign_folds(Y, self.n_splits, generator)


class LabelsetStratification(BaseSplitter, name="labelset", display_group="By labels"):
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

    def _assign_folds(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
        numbers, _ = labelset_of_rows(Y)
        order = generator.permutation(len(numbers))
        order = order[np.argsort(numbers[order], kind="stable")]
        folds = np.empty(len(order), np.int64)
        folds[order] = np.arange(len(order)) % self.n_splits
        return folds


class FixedFolds(BaseSplitter, name="fixed", display_group="Given"):
    """Take the folds as they are given.

    Parameters
    ----------
    fold_table : str, Path, or array of shape (n_samples,) or (n_samples, n_repeats)
        The number of each row's fold, from 0, in every repetition; or a CSV file with a column
        ``instance`` (row numbers from 0, each once, in any order) and one column of fold numbers
        per repetition, as `write_folds` writes it.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.evaluate import FixedFolds
    >>> splitter = FixedFolds([0, 1, 0])
    >>> [test.tolist() for _, test in splitter.split(None, np.ones((3, 2)))]
    [[0, 2], [1]]
    """

    _parameter_constraints = parameter_constraints(
        fold_table=AnyValue("fold numbers, one per row, or the path of a CSV file")
    )

    def __init__(self, fold_table: Any) -> None:
        self.fold_table = fold_table

    def _count_parts(self) -> int:
        return int((self._table().max(axis=0) + 1).sum())

    def _table(self) -> Array:
        given = self.fold_table
        return read_folds(given) if isinstance(given, str | os.PathLike) else _as_table(given)

    def _repetitions(self, Y: sparse.csr_array) -> Iterator[Array]:
        table = self._table()
        if len(table) != Y.shape[0]:
            raise DataError(
                f"FixedFolds: the folds are those of {len(table)} rows, the data has "
                f"{Y.shape[0]}. Were they made for another data set?"
            )
        return iter(table.T)


def read_folds(path: str | os.PathLike[str]) -> Array:
    """Read fold numbers from a CSV file."""
    source = InputFile(path)
    with source.open(progress=False) as stream:
        text = stream.read().decode("utf-8", "replace")
    try:
        lines = list(csv.reader(io.StringIO(text)))
    except csv.Error as error:  # a line that ends within a cell, or a cell without end
        raise source.error(f"this is no table of fold numbers: {error}.") from error
    if not lines or lines[0][:1] != ["instance"] or len(lines[0]) < 2:
        raise source.error(
            "expected a line 'instance,rep0_fold,...' with one column per repetition, found "
            f"{','.join(lines[0]) if lines else 'nothing'!r}.",
            line=1,
        )
    table = np.full((len(lines) - 1, len(lines[0]) - 1), -1, np.int64)
    for number, line in enumerate(lines[1:], 2):
        if fault := _enter(line, table):
            raise source.error(fault, line=number)
    return _as_table(table)


def _enter(line: list[str], table: Array) -> str:
    """Enter the folds of an instance, or say what is wrong with its line."""
    cells, n_cells = [cell.strip() for cell in line], table.shape[1] + 1
    if len(cells) != n_cells or not all(map(str.isdecimal, cells)):
        return f"expected {n_cells} whole numbers, found {','.join(line)!r}."
    row, *folds = map(int, cells)
    if max(folds) >= len(table):
        return f"fold {max(folds)} of {len(table)} instances: expected numbers from 0 without gaps."
    if row >= len(table) or table[row, 0] >= 0:
        what = "named twice" if row < len(table) else "beyond the last"
        return f"instance {row} is {what}: expected the numbers 0 to {len(table) - 1}, each once."
    table[row] = folds
    return ""


def make_splitter(text: str | int, kind: str = "kfold") -> BaseSplitter:
    """Make a splitter from what a user types.

    Parameters
    ----------
    text : str or int
        ``"2x5"`` (repetitions times folds), ``"10"`` (folds), or the path of a fold file.
    kind : str
        Name of a splitter; see ``scumble.catalogue.names("splitter")``.

    Returns
    -------
    BaseSplitter
        Not seeded yet.

    Examples
    --------
    >>> from scumble.evaluate import make_splitter
    >>> make_splitter("2x5", "iterative")
    IterativeStratification(n_repeats=2)
    >>> make_splitter(10)
    RepeatedKFold(n_repeats=1, n_splits=10)
    """
    splitter = find_object("splitter", kind)
    repeats, cross, folds = str(text).lower().rpartition("x")
    if folds.isdecimal() and (repeats.isdecimal() if cross else not repeats):
        if kind == "fixed":
            raise ParameterError(f"A fixed splitter needs a fold file. Got {text!r} instead.")
        return splitter(int(folds), int(repeats) if cross else 1)
    if str(text).lower().endswith((".csv", ".gz", ".xz", ".bz2", ".zst")):
        return FixedFolds(text)
    raise ParameterError(
        f"Folds must be such as '2x5' (repetitions x folds), '10', or a CSV file. Got {text!r}."
    )


def write_folds(splitter: BaseSplitter, data: Any, path: str | os.PathLike[str]) -> None:
    """Keep the folds of a splitter, so that others can use the same.

    Parameters
    ----------
    splitter : BaseSplitter
        Any splitter of this package.
    data : MultilabelDataset or labels
        What it splits.
    path : str or Path
        The CSV file; `FixedFolds` reads it.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import NamedTemporaryFile
    >>> from scumble.evaluate import FixedFolds, RepeatedKFold, write_folds
    >>> with NamedTemporaryFile(suffix=".csv") as file:
    ...     write_folds(RepeatedKFold(3, random_state=0), np.ones((9, 2)), file.name)
    ...     FixedFolds(file.name).get_n_splits()
    6
    """
    folds = splitter.folds(data) if hasattr(data, "Y") else splitter.folds(None, data)
    names = [f"rep{at}_fold" for at in range(folds.shape[1])]
    lines = [",".join(["instance", *names])]
    lines += [",".join(map(str, [row, *numbers])) for row, numbers in enumerate(folds.tolist())]
    with atomic_write(path) as target, target.open() as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def _as_table(folds: Any) -> Array:
    try:
        table = np.asarray(folds)
    except ValueError:  # rows of different lengths
        table = np.empty(0, object)
    table = table.reshape(-1, 1) if table.ndim == 1 else table
    if table.ndim != 2 or table.dtype.kind not in "iu" or 0 in table.shape or table.min() < 0:
        raise DataError(
            "FixedFolds: folds must be whole numbers from 0, one per row or one row of them per "
            f"instance. Got {folds!r} instead."
        )
    for numbers in table.T:
        # A number beyond the rows leaves a gap, and counting up to it may take all memory.
        present = np.bincount(np.minimum(numbers, len(numbers)))
        if len(present) < 2 or not present.all():
            raise DataError(
                "FixedFolds: a repetition needs two folds or more, numbered from 0 without gaps. "
                f"Found {np.unique(numbers).tolist()}."
            )
    return table.astype(np.int64)
