"""The checksum that identifies the content of a data set."""

import hashlib

import numpy as np
from scipy import sparse

from scumble.data.dataset import MultilabelDataset


def dataset_checksum(data: MultilabelDataset) -> str:
    """Return a checksum of features, labels, values and weights of a data set, not of its name.

    It is 32 hexadecimal digits long.
    """
    checksum = hashlib.sha256()
    features = [(f.name, f.kind, f.categories, f.integer) for f in data.features]
    checksum.update(repr((data.X.shape, data.Y.shape, features, data.labels)).encode())
    X = sparse.csr_array(data.X)
    X.sort_indices()
    for matrix in (X, data.Y):
        checksum.update(np.asarray(matrix.indptr, dtype=np.int64).tobytes())
        checksum.update(np.asarray(matrix.indices, dtype=np.int64).tobytes())
    checksum.update(np.asarray(X.data, dtype=np.float64).tobytes())
    if data.weights is not None:
        checksum.update(np.asarray(data.weights, dtype=np.float64).tobytes())
    return checksum.hexdigest()[:32]
