"""Folds that share every label as evenly as they can."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble.measures.stratify import stratify


def deal_rows(
    Y: sparse.csr_array,
    n_folds: int,
    generator: np.random.Generator,
    wanted: Array | None = None,
    wanted_rows: Array | None = None,
) -> Array:
    """Deal rows to folds, the rarest label first, each row to the fold that wants it most."""
    # All folds want the same, unless ``wanted`` tells how many rows of each label each of them
    # wants, and ``wanted_rows`` how many in all.
    order = generator.permutation(Y.shape[0])
    shuffled = Y[order]
    columns = shuffled.tocsc()
    columns.sort_indices()
    first_choice = generator.integers(n_folds, size=len(order))
    arrays = (shuffled.indptr, shuffled.indices, columns.indptr, columns.indices)
    kind = np.result_type(*arrays)
    a, b, c, d = (part.astype(kind, copy=False) for part in arrays)
    own = () if wanted is None or wanted_rows is None else (wanted.copy(), wanted_rows.copy())
    dealt = stratify(a, b, c, d, n_folds, first_choice, *own)
    folds = np.empty(len(order), np.int64)
    folds[order] = dealt
    return folds
