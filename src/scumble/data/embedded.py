"""The real data set that travels with the package."""

import json
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.data.dataset import Feature, MultilabelDataset

FILE = "debtags.npz"


def load_debtags() -> MultilabelDataset:
    """Load a slice of Debian's package tags."""
    # Every row is a package of Debian, its labels are the tags Debian's developers and users gave
    # it (role::program, uitoolkit::gtk, culture::icelandic), its features count the words of its
    # one-line description. A few tags are everywhere, hundreds are rare, and the rare ones mostly
    # travel with the frequent ones: imbalance and concurrence as they come.
    # The file holds tag names, words and counts: facts about the archive, gathered by
    # tools/build_debtags.py, which also tells how the slice was cut. It holds no text and no file
    # of Debian's.
    arrays = _arrays()
    tags, words = _names(arrays["tags"]), _names(arrays["words"])
    Y = _rows(arrays["tag_sizes"], arrays["tag_columns"], None, len(tags))
    X = _rows(arrays["word_sizes"], arrays["word_columns"], arrays["word_counts"], len(words))
    features = tuple(Feature(word, integer=True) for word in words)
    return MultilabelDataset(X, Y, features=features, labels=tags, name="debtags")


def debtags_source() -> dict[str, Any]:
    """Tell where the embedded data come from."""
    return dict(json.loads(_arrays()["meta"].tobytes()))


def _arrays() -> dict[str, Array]:
    with as_file(files(__package__) / FILE) as path, np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def _names(joined: Array) -> tuple[str, ...]:
    return tuple(joined.tobytes().decode().split("\n"))


def _rows(sizes: Array, columns: Array, values: Array | None, n_columns: int) -> sparse.csr_array:
    """Rebuild a matrix from the number of entries of each row and their columns."""
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int32)]).astype(np.int32)
    data = np.ones(len(columns), bool) if values is None else values.astype(np.float64)
    shape = (len(sizes), n_columns)
    return sparse.csr_array((data, columns.astype(np.int32), indptr), shape=shape)
