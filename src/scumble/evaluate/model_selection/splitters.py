"""Splitters with scikit-learn's interface: random, MULAN's, stratified and fixed folds."""

import csv
import io
import os
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

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
    ParameterConstraint,
    RandomStateConstraint,
    ValidatedParametersMixin,
    as_generator,
)
from scumble._core.registry import find_object, register
from scumble._validation.labels import check_consistent_length, check_labels, is_dataset
from scumble._validation.provenance import warn_if_resampled
from scumble.measures import labelset_of_rows
from scumble.measures.stratification import assign_folds


class BaseSplitter(ValidatedParametersMixin, BaseEstimator):
    """Base class of splitters.

    A subclass implements `_assign_folds`, which returns the fold of every row. Training and test
    rows are in ascending order. A subclass registers itself in the catalogue by a keyword:
    ``class RepeatedKFold(BaseSplitter, name="kfold")``.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        Number of times that rows are assigned to folds; there are ``n_repeats * n_splits`` splits.
    random_state : None, int, Generator or RandomState
        The same seed gives the same folds.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.evaluate import BaseSplitter
    >>> class Alternating(BaseSplitter):
    ...     def _assign_folds(self, Y, generator):
    ...         return np.arange(Y.shape[0]) % self.n_splits
    >>> [test.tolist() for _, test in Alternating(2).split(None, np.ones((5, 1)))]
    [[0, 2, 4], [1, 3]]
    """

    _parameter_constraints: ClassVar[Mapping[str, ParameterConstraint]] = {
        "n_splits": Int(2),
        "n_repeats": Int(1),
        "random_state": RandomStateConstraint(),
    }

    def __init__(self, n_splits: int = 5, n_repeats: int = 1, *, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state

    def __init_subclass__(
        cls, name: str | None = None, display_group: str = "More", **options: Any
    ) -> None:
        """Register a subclass in the catalogue, if it has the keyword ``name``."""
        super().__init_subclass__(**options)
        if name is not None:
            register("splitter", name, cls, display_group=display_group)

    def _assign_folds(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
        """Return the fold of every row of ``Y``, from 0 to ``n_splits - 1``."""
        raise NotImplementedError  # every splitter implements it

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the training and the test rows of each fold.

        Parameters
        ----------
        X : MultilabelDataset, array, sparse matrix or DataFrame
            The data; features are not used.
        y : array, sparse matrix or DataFrame of shape (n_samples, n_labels), optional
            The labels; by default those of the data set ``X``.
        groups : None
            Not used; scikit-learn passes it.

        Yields
        ------
        train, test : ndarray of int64
            Row numbers. Within a repetition every row is in one test part.
        """
        labels = self._check_labels(X, y)
        warn_if_resampled(X, y, caller=f"{type(self).__name__}.split")
        yield from self._iterate_splits(labels)

    def folds(self, X: Any, y: Any = None) -> Array:
        """Return the fold of every row, in every repetition.

        Parameters
        ----------
        X : MultilabelDataset, array, sparse matrix or DataFrame
            The data; features are not used.
        y : array, sparse matrix or DataFrame of shape (n_samples, n_labels), optional
            The labels; by default those of the data set ``X``.

        Returns
        -------
        ndarray of int64, shape (n_samples, n_repeats)
            Fold numbers, from 0.
        """
        return np.stack(list(self._repetitions(self._check_labels(X, y))), axis=1)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object
            Not used.

        Returns
        -------
        int
            Number of folds of all repetitions.
        """
        return self._count_splits()

    def _count_splits(self) -> int:
        """Return the number of splits, after a check of the parameters."""
        self.check_parameters()
        return self.n_splits * self.n_repeats

    def _iterate_splits(self, Y: sparse.csr_array) -> Iterator[tuple[Array, Array]]:
        """Yield the indices of training and test rows of each fold of each repetition."""
        for folds in self._repetitions(Y):
            for fold in range(int(folds.max()) + 1):
                yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def _repetitions(self, Y: sparse.csr_array) -> Iterator[Array]:
        """Yield for each repetition the fold of every row, from `_assign_folds` with a new seed.

        Raises a DataError if a fold is empty, or if there are fewer rows than folds.
        """
        self._check_n_rows(Y)
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

    def _check_n_rows(self, Y: sparse.csr_array) -> None:
        """Check the parameters, and raise a DataError if ``Y`` has fewer rows than folds."""
        self.check_parameters()
        if Y.shape[0] < self.n_splits:
            raise DataError(
                f"{type(self).__name__}: {Y.shape[0]} rows cannot make {self.n_splits} folds. "
                "Choose fewer."
            )

    def _check_labels(self, X: Any, y: Any) -> sparse.csr_array:
        """Return the labels ``y`` as a CSR matrix, those of the data set ``X`` if ``y`` is None.

        Raises a DataError if there are none, or if their number differs from that of the rows of
        ``X``.
        """
        caller = type(self).__name__
        if y is None and is_dataset(X):
            y = X.Y
        if y is None:
            raise DataError(f"{caller}: to split rows by their labels, give split(X, Y) both.")
        labels = check_labels(y, caller=caller)
        if hasattr(X, "shape"):
            check_consistent_length(X, labels, caller=caller)
        return labels


def assign_blocks(order: Array, n_folds: int) -> Array:
    """Return the fold of every row; fold 0 has the first row indices of ``order``, and so on.

    ``order`` has every row index once. It is cut into ``n_folds`` blocks whose sizes differ by at
    most one.
    """
    folds = np.empty(len(order), np.int64)
    for fold, row_indices in enumerate(np.array_split(order, n_folds)):
        folds[row_indices] = fold
    return folds


class RepeatedKFold(BaseSplitter, name="kfold", display_group="By chance"):
    """Assign rows to folds at random; the sizes of folds differ by at most one.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        Number of repetitions. The default, two times five folds, is that of the paper;
        ``RepeatedKFold(3)`` makes six splits.
    random_state : None, int, Generator or RandomState
        The same seed gives the same folds.

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
        """Return random folds whose sizes differ by at most one."""
        return assign_blocks(generator.permutation(Y.shape[0]), self.n_splits)


class MulanKFold(BaseSplitter, name="mulan", display_group="By chance"):
    """Assign rows to the folds of MULAN: shuffle as WEKA does, then cut into blocks.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        Number of repetitions; each uses the next seed.
    random_state : int
        The seed of Java's generator; MULAN's default is 1.

    Notes
    -----
    WEKA shuffles with ``java.util.Random`` from the last row down; the first folds are larger by
    one if the rows cannot be divided equally. Training and test rows stay in the shuffled order, as
    in MULAN: it decides between equal neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.evaluate import MulanKFold
    >>> [test.tolist() for _, test in MulanKFold(3).split(None, np.ones((7, 2)))]
    [[3, 0, 5], [1, 2], [6, 4]]
    """

    _parameter_constraints: ClassVar[Mapping[str, ParameterConstraint]] = {
        **BaseSplitter._parameter_constraints,
        "random_state": Int(0),
    }

    def __init__(self, n_splits: int = 10, n_repeats: int = 1, *, random_state: int = 1) -> None:
        super().__init__(n_splits, n_repeats, random_state=random_state)

    def _iterate_splits(self, Y: sparse.csr_array) -> Iterator[tuple[Array, Array]]:
        """Yield the indices of training and test rows of each fold, in the shuffled order."""
        for order in self._shuffled_indices(Y):
            blocks = np.array_split(order, self.n_splits)
            for fold, test in enumerate(blocks):
                yield np.concatenate(blocks[:fold] + blocks[fold + 1 :]), test

    def _repetitions(self, Y: sparse.csr_array) -> Iterator[Array]:
        """Yield for each repetition the fold of every row."""
        return (assign_blocks(order, self.n_splits) for order in self._shuffled_indices(Y))

    def _shuffled_indices(self, Y: sparse.csr_array) -> Iterator[Array]:
        """Yield for each repetition the row indices as WEKA shuffles them; seeds count upwards."""
        self._check_n_rows(Y)
        first_seed = self.random_state
        seeds = range(first_seed, first_seed + self.n_repeats)
        return (_shuffle_like_weka(Y.shape[0], seed) for seed in seeds)


def _shuffle_like_weka(n_rows: int, seed: int) -> Array:
    """Return the row indices in the order of WEKA's ``Instances.randomize``."""
    random = JavaRandom(seed)
    order = np.arange(n_rows)
    for last in range(n_rows - 1, 0, -1):
        swapped = random.next_int(last + 1)
        order[last], order[swapped] = order[swapped], order[last]
    return order


class IterativeStratification(BaseSplitter, name="iterative", display_group="By labels"):
    """Assign rows so that every fold gets its share of every label, rare labels first.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        Number of repetitions; 1 by default, so that ``n_splits`` is the number of splits.
    random_state : None, int, Generator or RandomState
        Orders the rows and breaks ties; the same seed gives the same folds.

    See Also
    --------
    LabelsetStratification : Keeps labelsets, which are many, in proportion instead of labels.

    Notes
    -----
    The method of Sechidis et al. [1]_: take the label with the fewest remaining rows (ties: the
    first label), and assign each of its rows to the fold that needs most rows of this label; ties
    go to the fold that needs most rows in total, then to a random one. Rows without labels come
    last. Folds may differ in size by a few rows.

    Each label assignment is read a few times: ten million of them take about a second.

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
        """Return folds by iterative stratification."""
        return assign_folds(Y, self.n_splits, generator)


class LabelsetStratification(BaseSplitter, name="labelset", display_group="By labels"):
    """Assign the rows of each labelset in turn, so that every fold gets its share of each.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    n_repeats : int
        Number of repetitions; 1 by default, so that ``n_splits`` is the number of splits.
    random_state : None, int, Generator or RandomState
        Orders the rows of each labelset; the same seed gives the same folds.

    See Also
    --------
    IterativeStratification : Better if most labelsets occur only once.

    Notes
    -----
    The turn continues from one labelset to the next. So folds differ in size by at most one row,
    and the rows of labelsets that occur once are spread over all folds.

    Examples
    --------
    >>> from scumble.evaluate import LabelsetStratification
    >>> Y = [[1, 0], [1, 1], [1, 0], [1, 0], [1, 1], [1, 0]]
    >>> folds = LabelsetStratification(2, random_state=0).folds(None, Y).ravel()
    >>> sorted(folds[[1, 4]].tolist()), sorted(folds.tolist())
    ([0, 1], [0, 0, 0, 1, 1, 1])
    """

    def _assign_folds(self, Y: sparse.csr_array, generator: np.random.Generator) -> Array:
        """Return folds 0, 1, ... in turn for the rows, sorted by labelset and shuffled within."""
        labelset_numbers, _ = labelset_of_rows(Y)
        order = generator.permutation(len(labelset_numbers))
        order = order[np.argsort(labelset_numbers[order], kind="stable")]
        folds = np.empty(len(order), np.int64)
        folds[order] = np.arange(len(order)) % self.n_splits
        return folds


class FixedFolds(BaseSplitter, name="fixed", display_group="Given"):
    """Use fixed folds, from an array or a file.

    Parameters
    ----------
    fold_table : str, Path, or array of shape (n_samples,) or (n_samples, n_repeats)
        The fold of each row, from 0, in every repetition; or a CSV file with a column
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

    _parameter_constraints: ClassVar[Mapping[str, ParameterConstraint]] = {
        "fold_table": AnyValue("fold numbers, one per row, or the path of a CSV file"),
    }

    def __init__(self, fold_table: Any) -> None:
        self.fold_table = fold_table

    def _count_splits(self) -> int:
        """Return the number of splits: the sum of the numbers of folds of all repetitions."""
        return int((self._read_table().max(axis=0) + 1).sum())

    def _read_table(self) -> Array:
        """Return the fold numbers as an array of shape (n_samples, n_repeats)."""
        if isinstance(self.fold_table, str | os.PathLike):
            return read_folds(self.fold_table)
        return _check_fold_table(self.fold_table)

    def _repetitions(self, Y: sparse.csr_array) -> Iterator[Array]:
        """Yield the columns of the table; raise a DataError if it has another number of rows."""
        table = self._read_table()
        if len(table) != Y.shape[0]:
            raise DataError(
                f"FixedFolds: the folds are those of {len(table)} rows, the data has "
                f"{Y.shape[0]}. Were they made for another data set?"
            )
        return iter(table.T)


def read_folds(path: str | os.PathLike[str]) -> Array:
    """Read fold numbers from a CSV file of `write_folds` as array of shape (n_samples, n_repeats).

    Raises a ReadError for a wrong header or row, with its line number, and for a file that is not
    CSV, without one; and a DataError if a repetition has fewer than two folds, or gaps among their
    numbers.
    """
    source = InputFile(path)
    with source.open(progress=False) as stream:
        text = stream.read().decode("utf-8", "replace")
    try:
        lines = list(csv.reader(io.StringIO(text)))
    except csv.Error as error:  # for example a quoted cell that is never closed
        raise source.error(f"this is not a table of fold numbers: {error}.") from error
    if not lines or lines[0][:1] != ["instance"] or len(lines[0]) < 2:
        first_line = ",".join(lines[0]) if lines else "nothing"
        raise source.error(
            "expected a line 'instance,rep0_fold,...' with one column per repetition, found "
            f"{first_line!r}.",
            line=1,
        )
    table = np.full((len(lines) - 1, len(lines[0]) - 1), -1, np.int64)
    for line_number, line in enumerate(lines[1:], start=2):
        message = _fill_row(table, line)
        if message:
            raise source.error(message, line=line_number)
    return _check_fold_table(table)


def _fill_row(table: Array, line: list[str]) -> str:
    """Write the folds of an instance into its row of the table; return an error message or "".

    ``line`` holds the cells of a CSV line. Rows of the table that are not written yet hold -1.
    """
    cells = [cell.strip() for cell in line]
    n_cells = table.shape[1] + 1
    if len(cells) != n_cells or not all(map(str.isdecimal, cells)):
        return f"expected {n_cells} whole numbers, found {','.join(line)!r}."
    row, *folds = map(int, cells)
    if max(folds) >= len(table):
        return f"fold {max(folds)} of {len(table)} instances: expected numbers from 0 without gaps."
    if row >= len(table) or table[row, 0] >= 0:
        problem = "named twice" if row < len(table) else "beyond the last"
        return (
            f"instance {row} is {problem}: expected the numbers 0 to {len(table) - 1}, each once."
        )
    table[row] = folds
    return ""


def make_splitter(text: str | int, kind: str = "kfold") -> BaseSplitter:
    """Return a splitter for a text such as ``"2x5"``.

    Parameters
    ----------
    text : str or int
        ``"2x5"`` (repetitions times folds), ``"10"`` (folds), or the path of a fold file.
    kind : str
        Name of a splitter; see ``scumble.catalogue.names("splitter")``.

    Returns
    -------
    BaseSplitter
        The splitter, with ``random_state`` at its default.

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
    """Write the folds of a splitter to a file, so that others can use the same folds.

    Parameters
    ----------
    splitter : BaseSplitter
        Any splitter of this package.
    data : MultilabelDataset or labels
        The data to split.
    path : str or Path
        The CSV file to write; `FixedFolds` reads it.

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
    header = ["instance", *(f"rep{repetition}_fold" for repetition in range(folds.shape[1]))]
    lines = [",".join(header)]
    for row, numbers in enumerate(folds.tolist()):
        lines.append(",".join(map(str, [row, *numbers])))
    with atomic_write(path) as target, target.open() as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def _check_fold_table(folds: Any) -> Array:
    """Return fold numbers as an array of int64 of shape (n_samples, n_repeats).

    A one-dimensional argument is one repetition. Raises a DataError for anything but whole numbers
    from 0 without gaps, with at least two folds per repetition.
    """
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
        # A fold number above the number of rows is an error anyhow; counting up to it could take
        # all memory.
        n_rows_by_fold = np.bincount(np.minimum(numbers, len(numbers)))
        if len(n_rows_by_fold) < 2 or not n_rows_by_fold.all():
            raise DataError(
                "FixedFolds: a repetition needs two folds or more, numbered from 0 without gaps. "
                f"Found {np.unique(numbers).tolist()}."
            )
    return table.astype(np.int64)
