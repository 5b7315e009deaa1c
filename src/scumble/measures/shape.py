"""Measures of the size of the label matrix, and co-occurrence of labels."""

from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._validation.labels import check_labels
from scumble.measures.base import measure, safe_divide


@measure(level="dataset")
def cardinality(Y: Any) -> float:
    """Compute the mean number of labels of an instance.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    float
        NaN without instances.

    Examples
    --------
    >>> from scumble.measures import cardinality
    >>> cardinality([[1, 0], [1, 1]])
    1.5
    """
    Y = check_labels(Y, caller="cardinality")
    return safe_divide(Y.nnz, Y.shape[0])


@measure(level="dataset", upper=1.0)
def density(Y: Any) -> float:
    """Compute the mean share of the labels that an instance has.

    It is the cardinality over the number of labels.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    float
        NaN without instances or labels.

    Examples
    --------
    >>> from scumble.measures import density
    >>> density([[1, 0], [1, 1]])
    0.75
    """
    Y = check_labels(Y, caller="density")
    return safe_divide(cardinality(Y), Y.shape[1])


@measure(level="dataset", upper=1.0)
def p_min(Y: Any) -> float:
    """Compute the share of the instances that have exactly one label.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    float
        NaN without instances.

    Examples
    --------
    >>> from scumble.measures import p_min
    >>> p_min([[1, 0], [1, 1]])
    0.5
    """
    Y = check_labels(Y, caller="p_min")
    return safe_divide(int((np.diff(Y.indptr) == 1).sum()), Y.shape[0])


def cooccurrence(Y: Any) -> sparse.csr_array:
    """Count the instances that have both labels, for every pair of labels.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    csr_array of int64, shape (n_labels, n_labels)
        Symmetric; the diagonal holds the counts of the labels. Counts of 0 are not stored.

    Examples
    --------
    >>> from scumble.measures import cooccurrence
    >>> cooccurrence([[1, 0, 1], [1, 1, 0], [1, 0, 1]]).toarray()
    array([[3, 1, 2],
           [1, 1, 0],
           [2, 0, 2]])
    """
    Y = check_labels(Y, caller="cooccurrence")
    return joint_counts(Y, np.arange(Y.shape[1]))


def joint_counts(Y: sparse.csr_array, labels: Array) -> sparse.csr_array:
    """Return how many instances have both labels, for pairs of one of ``labels`` and any label.

    The result has a row for each of ``labels``, which are indices, and a column for every label;
    counts of 0 are not stored.
    """
    Y = Y.astype(np.int64)
    counts = sparse.csr_array(Y[:, labels].T) @ Y
    counts.sort_indices()
    return counts
