"""SCUMBLE: how far rare and frequent labels share the same instances."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parameters import check_choice
from scumble._core.table_repr import TableReprMixin, TableView
from scumble._validation.labels import check_labels
from scumble.measures import threaded_kernels
from scumble.measures.base import measure, safe_divide
from scumble.measures.imbalance import Unseen, ratios_from_counts

#: Scores are above the mean if they exceed it by more than this: with equal scores, rounding errors
#: of the mean would otherwise put every row above it. The SQL engines use the same number.
ABOVE_MEAN_TOLERANCE = 1e-12


class _ConcurrenceFields(NamedTuple):
    """The fields of `Concurrence`, which cannot derive from NamedTuple and a mixin at once."""

    irlbl: Array
    by_instance: Array
    by_label: Array
    scumble: float


class Concurrence(TableReprMixin, _ConcurrenceFields):
    """All measures of concurrence of a data set.

    Attributes
    ----------
    irlbl : ndarray of shape (n_labels,)
        Imbalance ratios.
    by_instance : ndarray of shape (n_samples,)
        SCUMBLE of every instance.
    by_label : ndarray of shape (n_labels,)
        SCUMBLELbl.
    scumble : float
        SCUMBLE of the data set.

    Examples
    --------
    >>> from scumble.measures import concurrence
    >>> result = concurrence([[1, 0], [1, 0], [1, 1]])
    >>> result.irlbl, result.by_instance.round(3)
    (array([1., 3.]), array([0.   , 0.   , 0.134]))
    """

    __slots__ = ()

    def _repr_title(self) -> str:
        """Return SCUMBLE and the size of the data set."""
        return (
            f"Concurrence: SCUMBLE {self.scumble:.4f} of {len(self.by_instance):,} instances and "
            f"{len(self.by_label):,} labels"
        )

    def _repr_table(self) -> TableView:
        """Return a row for each label."""
        rows = zip(range(len(self.irlbl)), self.irlbl, self.by_label, strict=True)
        return TableView(("label", "irlbl", "scumble"), rows, len(self.irlbl))


def concurrence(Y: Any) -> Concurrence:
    """Compute IRLbl and SCUMBLE per instance, per label and of the data set at once.

    This takes less time than the single functions if several of the results are needed.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    Concurrence
        A named tuple ``(irlbl, by_instance, by_label, scumble)``.

    See Also
    --------
    characterize : These and all other measures.

    Examples
    --------
    >>> from scumble.measures import concurrence
    >>> result = concurrence([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
    >>> result.irlbl
    array([1., 2., 4.])
    >>> result.by_label.round(3)
    array([0.079, 0.057, 0.2  ])
    """
    return counts_and_concurrence(check_labels(Y, caller="concurrence"))[1]


def counts_and_concurrence(Y: sparse.csr_array) -> tuple[Array, Concurrence]:
    """Return the count of each label, and the concurrence, of labels in canonical form."""
    counts = threaded_kernels.count_labels(Y)
    ratios = ratios_from_counts(counts)
    scores = threaded_kernels.score_instances(Y, ratios)
    undefined = np.full(len(counts), np.nan)
    result = Concurrence(
        irlbl=ratios,
        by_instance=scores.by_instance,
        by_label=np.divide(scores.by_label_sum, counts, out=undefined, where=counts > 0),
        scumble=safe_divide(scores.total, Y.shape[0]),
    )
    return counts, result


def sum_squared_deviations(Y: sparse.csr_array, result: Concurrence) -> tuple[float, Array]:
    """Return the sums of squared deviations of the instance scores.

    The first sum is that of the deviations from SCUMBLE; the array holds, for each label, the sum
    of the deviations from its SCUMBLELbl.
    """
    return threaded_kernels.sum_squared_deviations(
        Y, result.by_instance, mean=result.scumble, label_means=result.by_label
    )


@measure(level="instance", upper=1.0)
def scumble_by_instance(Y: Any) -> Array:
    r"""Compute SCUMBLE of every instance: the concurrence of rare and frequent labels.

    An instance whose labels are equally rare scores 0. The score grows towards 1 with the
    difference between the frequencies of its labels.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    ndarray of shape (n_samples,)
        Values in [0, 1). An instance with one label or none scores exactly 0.

    See Also
    --------
    scumble : The mean of these scores.

    Notes
    -----
    With :math:`R_l` the imbalance ratio of label :math:`l` and :math:`L_i` the labels of
    instance :math:`i`, the score compares a geometric with an arithmetic mean [1]_:

    .. math:: s_i = 1 - \Big(\prod_{l \in L_i} R_l\Big)^{1/|L_i|}
              \Big/ \; \frac{1}{|L_i|}\sum_{l \in L_i} R_l

    The printed formula of the paper multiplies over *all* labels with 0 for the absent ones,
    which would make every product 0. Its published numbers, like scumble's, use only the labels
    that an instance has. Products of many ratios are computed as sums of logarithms, because they
    would overflow.

    References
    ----------
    .. [1] Charte, F., Rivera, A., del Jesus, M. J., & Herrera, F. (2014). Concurrence among
       imbalanced labels and its influence on multilabel resampling algorithms. *HAIS 2014*,
       LNCS 8480.

    Examples
    --------
    All instances have label 0 and only one has label 2, so the third instance scores highest.

    >>> from scumble.measures import scumble_by_instance
    >>> scumble_by_instance([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]]).round(3)
    array([0.   , 0.057, 0.2  , 0.057])
    """
    return concurrence(Y).by_instance


@measure(level="dataset", upper=1.0)
def scumble(Y: Any) -> float:
    r"""Compute SCUMBLE of a data set: the concurrence of rare and frequent labels.

    According to the paper, resampling alone helps little above about 0.1, because clones of
    instances with rare labels have frequent labels as well.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    float
        The mean of `scumble_by_instance` over all instances, including those without labels.
        NaN without instances.

    Notes
    -----
    .. math:: \mathrm{SCUMBLE} = \frac{1}{n} \sum_i s_i

    Examples
    --------
    >>> from scumble.measures import scumble
    >>> round(scumble([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]]), 4)
    0.0786
    """
    return concurrence(Y).scumble


@measure(level="dataset")
def scumble_cv(Y: Any) -> float:
    """Compute the coefficient of variation of SCUMBLE over the instances.

    A large value means that most of the concurrence is in few instances.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    float
        Sample standard deviation (divisor n - 1) over the mean; NaN where SCUMBLE is 0.

    Examples
    --------
    >>> from scumble.measures import scumble_cv
    >>> round(scumble_cv([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]]), 4)
    1.0854
    """
    Y = check_labels(Y, caller="scumble_cv")
    result = concurrence(Y)
    squares, _ = sum_squared_deviations(Y, result)
    return cv_of_scores(squares, n_rows=Y.shape[0], mean=result.scumble)


@measure(level="label", upper=1.0)
def scumble_by_label(Y: Any, *, unseen: Unseen = "nan") -> Array:
    r"""Compute SCUMBLELbl, the concurrence of each label.

    A rare label with a high value is *difficult*: its instances have frequent labels as well.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    unseen : {"nan", "zero"}
        The value of a label that no instance has; ``"zero"`` as in mldr.

    Returns
    -------
    ndarray of shape (n_labels,)
        Values in [0, 1).

    See Also
    --------
    difficult_labels : The difficult labels, and the frequent labels that mask them.

    Notes
    -----
    The mean of the instance scores :math:`s_i` over the :math:`n_l` instances that have the
    label:

    .. math:: \mathrm{SCUMBLELbl}(l) = \frac{1}{n_l} \sum_{i : l \in L_i} s_i

    Examples
    --------
    >>> from scumble.measures import scumble_by_label
    >>> scumble_by_label([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]]).round(3)
    array([0.079, 0.057, 0.2  ])
    """
    check_choice(unseen, ("nan", "zero"), name="unseen", caller="scumble_by_label")
    values = concurrence(Y).by_label
    return np.nan_to_num(values) if unseen == "zero" else values


@measure(level="label")
def scumble_cv_by_label(Y: Any) -> Array:
    """Compute the coefficient of variation of SCUMBLE over the instances of each label.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    ndarray of shape (n_labels,)
        Sample standard deviation over mean; NaN with fewer than two instances, 0 if the mean is 0.

    Examples
    --------
    >>> from scumble.measures import scumble_cv_by_label
    >>> scumble_cv_by_label([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]]).round(3)
    array([1.085, 0.   ,   nan])
    """
    Y = check_labels(Y, caller="scumble_cv_by_label")
    counts, result = counts_and_concurrence(Y)
    _, label_squares = sum_squared_deviations(Y, result)
    return cv_by_label(label_squares, counts=counts, means=result.by_label)


def cv_of_scores(squares: float, n_rows: int, mean: float) -> float:
    """Return the coefficient of variation of scores; NaN for fewer than two or a mean of 0."""
    if n_rows < 2 or not mean > 0:
        return float("nan")
    return float(np.sqrt(squares / (n_rows - 1)) / mean)


def cv_by_label(squares: Array, counts: Array, means: Array) -> Array:
    """Return the coefficient of variation over the rows of each label."""
    zeros = np.zeros(len(counts))
    variances = np.divide(squares, counts - 1, out=zeros.copy(), where=counts > 1)
    cv = np.divide(np.sqrt(variances), means, out=zeros, where=means > 0)
    return np.where(counts > 1, cv, np.nan)


def is_above_mean(scores: Array, mean: float) -> Array:
    """Return for each score whether it is above the mean by more than rounding errors."""
    return scores > mean + ABOVE_MEAN_TOLERANCE
