"""From the labels each row names to a label matrix."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.errors import ScumbleWarning
from scumble._core.files import Source

_INTEGER = re.compile(r"-?\d+", re.ASCII)


def label_order(names: Sequence[str]) -> np.ndarray[Any, Any]:
    """Find the order in which labels found in lists become columns.

    Parameters
    ----------
    names : sequence of str
        The labels, each once.

    Returns
    -------
    ndarray of int
        Positions in ``names``: by number where all are whole numbers, else by text.

    Examples
    --------
    >>> from scumble.data.formats.label_lists import label_order
    >>> label_order(["10", "9"]).tolist(), label_order(["10", "9", "b"]).tolist()
    ([1, 0], [0, 1, 2])
    """
    if all(_INTEGER.fullmatch(name) for name in names):
        order = sorted(range(len(names)), key=lambda at: (int(names[at]), names[at]))
    else:
        order = sorted(range(len(names)), key=lambda at: names[at])
    return np.array(order, dtype=np.int64)


def label_matrix(
    indptr: np.ndarray[Any, Any],
    codes: np.ndarray[Any, Any],
    names: Sequence[str],
    source: Source,
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """Make a label matrix with one column per name, in `label_order`.

    Parameters
    ----------
    indptr : ndarray of shape (n_rows + 1,)
        Where each row's labels begin.
    codes : ndarray of int
        The labels, as positions in ``names``.
    names : sequence of str
        The labels, each once.
    source : Source
        The file, for the warning.

    Returns
    -------
    Y : csr_array of bool
        Canonical.
    labels : tuple of str
        The names of its columns.

    Warns
    -----
    ScumbleWarning
        If rows name a label twice.
    """
    order = label_order(names)
    column = np.empty(len(order), np.int64)
    column[order] = np.arange(len(order))
    Y = indicator(indptr, column[codes], len(names), source)
    return Y, tuple(names[at] for at in order)


def indicator(
    indptr: np.ndarray[Any, Any], columns: np.ndarray[Any, Any], n_labels: int, source: Source
) -> sparse.csr_array:
    """Make a label matrix from column numbers; a label named twice in a row counts once.

    Parameters
    ----------
    indptr : ndarray of shape (n_rows + 1,)
        Where each row's labels begin.
    columns : ndarray of int
        The labels' columns.
    n_labels : int
        Number of columns.
    source : Source
        The file, for the warning.

    Returns
    -------
    csr_array of bool
        Canonical.
    """
    present = np.ones(len(columns), bool)
    Y = sparse.csr_array((present, columns, indptr), shape=(len(indptr) - 1, n_labels))
    Y.sum_duplicates()
    repeated = len(columns) - Y.nnz
    if repeated:
        warnings.warn(
            f"{source.path}: {repeated} labels repeat one that their row already has; each "
            "counts once.",
            ScumbleWarning,
            stacklevel=5,
        )
    return Y
