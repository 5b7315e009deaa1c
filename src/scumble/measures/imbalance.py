"""Measures of imbalance: how unequal the frequencies of labels are."""

from typing import Any, Literal

import numpy as np

from scumble._core.arrays import Array
from scumble._core.parameters import check_choice
from scumble._validation.labels import check_labels
from scumble.measures import threaded_kernels
from scumble.measures.base import measure

#: Values of the parameter ``unseen``: how labels without instances count, see `irlbl`.
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
    """Compute the share of the instances that have each label.

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
    r"""Compute IRLbl, the imbalance ratio of each label.

    It is the count of the most frequent label over the count of the label. The most frequent label
    has ratio 1; a label with a tenth of its instances has ratio 10.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    unseen : {"nan", "zero"}
        The ratio of an unseen label. By default it is NaN and left out of all means; ``"zero"``
        gives the results of the R package mldr, which counts it as 0.

    Returns
    -------
    ndarray of shape (n_labels,)
        Values of at least 1; NaN or 0 for unseen labels.

    See Also
    --------
    mean_ir : The mean of the ratios.

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
    r"""Compute MeanIR, the mean imbalance ratio of the labels.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    unseen : {"nan", "zero"}
        Whether unseen labels are left out, or counted as 0 as in mldr.

    Returns
    -------
    float
        At least 1 if a label occurs (with ``unseen="nan"``); NaN if none does.

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
    """Compute MaxIR, the imbalance ratio of the rarest label that occurs.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    float
        At least 1; NaN if no label occurs.

    Examples
    --------
    >>> from scumble.measures import max_ir
    >>> max_ir([[1, 0, 0], [1, 1, 0]])
    2.0
    """
    return max_of_ratios(irlbl(Y))


@measure(level="dataset")
def cvir(Y: Any, *, unseen: Unseen = "nan") -> float:
    r"""Compute CVIR, the coefficient of variation of the imbalance ratios.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    unseen : {"nan", "zero"}
        Whether unseen labels are left out, or counted as 0 as in mldr.

    Returns
    -------
    float
        0 if all labels are equally frequent; NaN with fewer than two labels.

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
    """Find the minority labels, which are rarer than average.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    unseen : {"nan", "zero"}
        Whether unseen labels are left out of MeanIR, or counted as 0 as in mldr: then more labels
        may be above it.

    Returns
    -------
    ndarray of bool, shape (n_labels,)
        True where IRLbl > MeanIR (strictly). An unseen label is not a minority label.

    Examples
    --------
    >>> from scumble.measures import is_minority
    >>> is_minority([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
    array([False, False,  True])

    The ratios are 1 and 2. Counted as 0, the two unseen labels lower their mean from 1.5 to 0.75.

    >>> Y = [[1, 0, 0, 0], [1, 1, 0, 0]]
    >>> is_minority(Y), is_minority(Y, unseen="zero")
    (array([False,  True, False, False]), array([ True,  True, False, False]))
    """
    return minority_from_ratios(irlbl(Y, unseen=unseen))


def frequencies_from_counts(counts: Array, n_rows: int) -> Array:
    """Return the counts of labels divided by the number of instances; NaN without instances."""
    return counts / n_rows if n_rows else np.full(len(counts), np.nan)


def ratios_from_counts(counts: Array, *, unseen: Unseen = "nan") -> Array:
    """Return IRLbl of labels from their counts; ``unseen`` is that of `irlbl`."""
    largest = counts.max(initial=0)
    ratio_of_unseen = 0.0 if unseen == "zero" and largest > 0 else np.nan
    ratios = np.full(len(counts), ratio_of_unseen)
    return np.divide(largest, counts, out=ratios, where=counts > 0)


def mean_of_ratios(ratios: Array) -> float:
    """Return the mean of the ratios that are not NaN (MeanIR); NaN if all are."""
    defined = ratios[~np.isnan(ratios)]
    return float(defined.mean()) if len(defined) else float("nan")


def max_of_ratios(ratios: Array) -> float:
    """Return the largest of the ratios that are not NaN (MaxIR); NaN if all are."""
    return float(np.fmax.reduce(ratios, initial=np.nan))


def cv_of_ratios(ratios: Array) -> float:
    """Return CVIR, the coefficient of variation of the ratios that are not NaN.

    NaN if there are fewer than two of them.
    """
    defined = ratios[~np.isnan(ratios)]
    if len(defined) < 2:
        return float("nan")
    return float(defined.std(ddof=1) / defined.mean())


def minority_from_ratios(ratios: Array) -> Array:
    """Return a mask of the minority labels: those whose ratio is above the mean; False for NaN."""
    return ratios > mean_of_ratios(ratios)
