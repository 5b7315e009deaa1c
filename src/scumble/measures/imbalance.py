"""How unequally often labels occur."""

from typing import Any, Literal

import numpy as np

from scumble._core.arrays import Array
from scumble._core.validation import check_choice, check_labels
from scumble.measures import threaded_kernels
from scumble.measures.base import measure

Unseen = Literal["nan", "zero"]


@measure(level="label")
def label_counts(Y: Any) -> Array:
    """Count the instances that have each label.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    ndarray of int64, shape (n_labels,)
        The counts.

    Examples
    --------
    >>> from scumble.measures import label_counts
    >>> label_counts([[1, 0, 0], [1, 1, 0]])
    array([2, 1, 0])
    """
    return threaded_kernels.count_labels(check_labels(Y, caller="label_counts"))


@measure(level="label", upper=1.0)
def label_frequencies(Y: Any) -> Array:
    """Tell which share of the instances has each label.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    ndarray of shape (n_labels,)
        Values in [0, 1]; NaN without instances.

    Examples
    --------
    >>> from scumble.measures import label_frequencies
    >>> label_frequencies([[1, 0, 0], [1, 1, 0]])
    array([1. , 0.5, 0. ])
    """
    Y = check_labels(Y, caller="label_frequencies")
    return frequencies_from_counts(threaded_kernels.count_labels(Y), Y.shape[0])


@measure(level="label")
def irlbl(Y: Any, *, unseen: Unseen = "nan") -> Array:
    r"""Imbalance ratio of each label: how many times rarer it is than the most frequent one.

    The most frequent label has ratio 1; a label with a tenth of its instances has ratio 10.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    unseen : {"nan", "zero"}
        The ratio of a label that never occurs. It has none, so it is NaN and left out of all
        means; ``"zero"`` gives the numbers of the R package mldr, which counts it as 0.

    Returns
    -------
    ndarray of shape (n_labels,)
        Values of at least 1, or as `unseen` says.

    See Also
    --------
    mean_ir : Their mean.

    Notes
    -----
    With :math:`n_l` the number of instances of label :math:`l` [1]_:

    .. math:: \mathrm{IRLbl}(l) = \max_k n_k \, / \, n_l

    References
    ----------
    .. [1] Charte, F., Rivera, A., del Jesus, M. J., & Herrera, F. (2013). A first approach to
       deal with imbalance in multi-label datasets. *HAIS 2013*, LNCS 8073.

    Examples
    --------
    >>> from scumble.measures import irlbl
    >>> Y = [[1, 0, 0], [1, 1, 0], [1, 0, 0], [1, 1, 0]]
    >>> irlbl(Y)
    array([ 1.,  2., nan])
    >>> irlbl(Y, unseen="zero")
    array([1., 2., 0.])
    """
    check_choice(unseen, ("nan", "zero"), name="unseen", caller="irlbl")
    return ratios_from_counts(label_counts(Y), unseen=unseen)


@measure(level="dataset")
def mean_ir(Y: Any, *, unseen: Unseen = "nan") -> float:
    r"""Mean imbalance ratio of the labels.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    unseen : {"nan", "zero"}
        Whether labels that never occur are left out, or counted as 0 as in mldr.

    Returns
    -------
    float
        At least 1 when a label occurs (with ``unseen="nan"``); NaN when none does.

    See Also
    --------
    irlbl : The ratios.

    Notes
    -----
    .. math:: \mathrm{MeanIR} = \frac{1}{|L|} \sum_{l \in L} \mathrm{IRLbl}(l)

    Examples
    --------
    >>> from scumble.measures import mean_ir
    >>> mean_ir([[1, 0, 0], [1, 1, 0]])
    1.5
    >>> mean_ir([[1, 0, 0], [1, 1, 0]], unseen="zero")
    1.0
    """
    return mean_of_ratios(irlbl(Y, unseen=unseen))


@measure(level="dataset", lower=1.0)
def max_ir(Y: Any) -> float:
    """Ratio of the rarest label that occurs.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    float
        At least 1; NaN when no label occurs.

    Examples
    --------
    >>> from scumble.measures import max_ir
    >>> max_ir([[1, 0, 0], [1, 1, 0]])
    2.0
    """
    return max_of_ratios(irlbl(Y))


@measure(level="dataset")
def cvir(Y: Any, *, unseen: Unseen = "nan") -> float:
    r"""Coefficient of variation of the imbalance ratios: whether all labels suffer alike.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    unseen : {"nan", "zero"}
        Whether labels that never occur are left out, or counted as 0 as in mldr.

    Returns
    -------
    float
        0 when all labels are equally frequent; NaN with fewer than two labels.

    Notes
    -----
    The sample standard deviation (divisor :math:`n - 1`) over the mean.

    Examples
    --------
    >>> from scumble.measures import cvir
    >>> round(cvir([[1, 0, 0], [1, 1, 0]]), 4)
    0.4714
    """
    return cv_of_ratios(irlbl(Y, unseen=unseen))


@measure(level="label", upper=1.0)
def is_minority(Y: Any, *, unseen: Unseen = "nan") -> Array:
    """Tell which labels are rarer than average.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    unseen : {"nan", "zero"}
        Whether labels that never occur are left out of MeanIR, or counted as 0 as in mldr: then
        more labels may be above it.

    Returns
    -------
    ndarray of bool, shape (n_labels,)
        True where IRLbl > MeanIR (strictly). A label that never occurs is not a minority label.

    Examples
    --------
    >>> from scumble.measures import is_minority
    >>> is_minority([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
    array([False, False,  True])

    The ratios are 1 and 2; a label never seen takes their mean from 1.5 to 1, or with another
    one to 0.75.

    >>> Y = [[1, 0, 0, 0], [1, 1, 0, 0]]
    >>> is_minority(Y), is_minority(Y, unseen="zero")
    (array([False,  True, False, False]), array([ True,  True, False, False]))
    """
    return minority_from_ratios(irlbl(Y, unseen=unseen))


def frequencies_from_counts(counts: Array, n_rows: int) -> Array:
    """Divide counts by the number of instances."""
    return counts / n_rows if n_rows else np.full(len(counts), np.nan)


def ratios_from_counts(counts: Array, *, unseen: Unseen = "nan") -> Array:
    """Compute IRLbl from the labels' counts."""
    most = counts.max(initial=0)
    fill = 0.0 if unseen == "zero" and most > 0 else np.nan
    return np.divide(most, counts, out=np.full(len(counts), fill), where=counts > 0)


def mean_of_ratios(ratios: Array) -> float:
    """Mean of the ratios that are not NaN."""
    known = ratios[~np.isnan(ratios)]
    return float(known.mean()) if len(known) else float("nan")


def max_of_ratios(ratios: Array) -> float:
    """Largest of the ratios that are not NaN."""
    return float(np.fmax.reduce(ratios, initial=np.nan))


def cv_of_ratios(ratios: Array) -> float:
    """Sample standard deviation over mean of the ratios that are not NaN."""
    known = ratios[~np.isnan(ratios)]
    return float(known.std(ddof=1) / known.mean()) if len(known) > 1 else float("nan")


def minority_from_ratios(ratios: Array) -> Array:
    """Tell which ratios lie above their mean."""
    return ratios > mean_of_ratios(ratios)  # a comparison with NaN is False
