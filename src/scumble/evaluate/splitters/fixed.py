"""Folds somebody else has dealt, from a table or a file."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.errors import DataError
from scumble._core.files import Source, writing
from scumble._core.parameters import Free, declare
from scumble.evaluate.splitters.base import Array, BaseSplitter


class FixedFolds(BaseSplitter, name="fixed", family="Given"):
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

    domains = declare(fold_table=Free("fold numbers, one per row, or the path of a CSV file"))

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
    source = Source(path)
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
    n_repeats = len(lines[0]) - 1
    table = np.full((len(lines) - 1, n_repeats), -1, np.int64)
    for number, line in enumerate(lines[1:], 2):
        cells = [cell.strip() for cell in line]
        if len(cells) != n_repeats + 1 or not all(map(str.isdecimal, cells)):
            raise source.error(
                f"expected {n_repeats + 1} whole numbers, found {','.join(line)!r}.", line=number
            )
        row, *folds = map(int, cells)
        if max(folds) >= len(table):
            raise source.error(
                f"fold {max(folds)} of {len(table)} instances: expected numbers from 0 without "
                "gaps.",
                line=number,
            )
        if row >= len(table) or table[row, 0] >= 0:
            raise source.error(
                f"instance {row} is {'named twice' if row < len(table) else 'beyond the last'}: "
                f"expected the numbers 0 to {len(table) - 1}, each once.",
                line=number,
            )
        table[row] = folds
    return _as_table(table)


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
    with writing(path) as target, target.open() as stream:
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
