"""Scores of training rows by models that have not seen them, where nothing cheaper is at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.errors import DataError
from scumble.measures.stratification import deal_rows

Array = np.ndarray[Any, Any]


def out_of_fold(
    ask: Callable[[Array, Array], Array],
    Y: sparse.csr_array,
    n_folds: int,
    generator: np.random.Generator,
    *,
    caller: str,
) -> Array:
    """Learn on all folds but one and score that one, for every fold."""
    n_rows = Y.shape[0]
    if n_rows < 2:
        raise DataError(
            f"{caller}: found 1 sample (training row). Expected at least 2: a threshold needs "
            "scores by a model that has not seen the row."
        )
    folds = deal_rows(Y, min(n_folds, n_rows), generator)
    scores = np.empty(Y.shape, order="F")
    for fold in range(min(n_folds, n_rows)):
        held_out = folds == fold
        if held_out.any():
            train, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
            scores[test] = ask(train, test)
    return scores
