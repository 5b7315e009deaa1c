"""The real data set that is included in the package: Debian packages and their tags."""

import json
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.data.dataset import Feature, MultilabelDataset

#: The file in this package with the arrays of the data set.
FILE = "debtags.npz"


def load_debtags() -> MultilabelDataset:
    """Load a sample of the tags of Debian packages.

    A row is a Debian package. Its labels are the tags that Debian's developers and users assigned
    (role::program, uitoolkit::gtk, culture::icelandic), its features count the words of its
    one-line description. A few tags are very frequent, hundreds are rare, and most rare tags
    co-occur with frequent ones, so that the data show both imbalance and concurrence.
    """
    # The file holds tag names, words and counts, which are facts about the archive; it contains no
    # text and no file of Debian. tools/build_debtags.py created it and documents the sampling.
    arrays = _load_arrays()
    tags = _split_lines(arrays["tags"])
    words = _split_lines(arrays["words"])
    Y = _csr_from_row_sizes(
        arrays["tag_sizes"], columns=arrays["tag_columns"], values=None, n_columns=len(tags)
    )
    X = _csr_from_row_sizes(
        arrays["word_sizes"],
        columns=arrays["word_columns"],
        values=arrays["word_counts"],
        n_columns=len(words),
    )
    features = tuple(Feature(word, integer=True) for word in words)
    return MultilabelDataset(X, Y, features=features, labels=tags, name="debtags")


def debtags_source() -> dict[str, Any]:
    """Return the origin of the embedded data set: the ``meta`` entry of its file."""
    return dict(json.loads(_load_arrays()["meta"].tobytes()))


def _load_arrays() -> dict[str, Array]:
    """Return all arrays of the embedded file, by name."""
    with as_file(files(__package__) / FILE) as path, np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def _split_lines(joined: Array) -> tuple[str, ...]:
    """Return the lines of a UTF-8 text that is stored as an array of bytes."""
    return tuple(joined.tobytes().decode().split("\n"))


def _csr_from_row_sizes(
    sizes: Array, *, columns: Array, values: Array | None, n_columns: int
) -> sparse.csr_array:
    """Return a CSR matrix from the number of entries per row, their columns and their values.

    If ``values`` is None, all entries are True.
    """
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int32)]).astype(np.int32)
    data = np.ones(len(columns), bool) if values is None else values.astype(np.float64)
    shape = (len(sizes), n_columns)
    return sparse.csr_array((data, columns.astype(np.int32), indptr), shape=shape)
