"""The plain threshold of the literature: where F is largest on the training scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.parallel import run
from scumble.learn.binary_relevance import LabelTargets

Array = np.ndarray[Any, Any]


def best_f_thresholds(scores: Array, Y: sparse.csr_array, *, n_jobs: int | None = None) -> Array:
    """Find for each label the threshold from which on predicting it gives the largest F.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        How sure it is that each row has each label.
    Y : csr_array of bool, shape (n_samples, n_labels)
        Which rows have it.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    ndarray of shape (n_labels,)
        A label is predicted where its score is at least this. Thresholds lie in the middle
        between two scores; the lowest is the smallest score itself. Of cuts with equal F the one
        with the fewest predictions is taken. A label that no row has gets infinity.

    Examples
    --------
    Predicting the first three rows finds both rows with the label, and one without: F = 0.8.

    >>> import numpy as np
    >>> from scipy import sparse
    >>> from scumble.learn.best_f import best_f_thresholds
    >>> Y = sparse.csr_array(np.array([[True], [False], [True], [False]]))
    >>> best_f_thresholds(np.array([[0.9], [0.7], [0.6], [0.2]]), Y)
    array([0.4])
    """
    labels = LabelTargets(Y)
    found = run(lambda j: _best(scores[:, j], labels.codes(j)), range(len(labels)), n_jobs=n_jobs)
    return np.array(found, np.float64)


def _best(scores: Array, truth: Array) -> float:
    n_positive = int(truth.sum())
    if n_positive == 0:
        return np.inf
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))  # rows with equal scores stay
    right = np.cumsum(truth[order])[ends]
    best = int(np.argmax(2 * right / (ends + 1 + n_positive)))
    lowest = float(ranked[ends[best]])
    if best + 1 == len(ends):
        return lowest
    middle = (lowest + float(ranked[ends[best] + 1])) / 2
    return middle if middle > ranked[ends[best] + 1] else lowest
