"""How far rare and frequent labels share the same instances."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.table_repr import TableReprMixin, TableView
from scumble._core.validation import check_choice, check_labels
from scumble.measures import threaded_kernels
from scumble.measures.base import measure, safe_divide
from scumble.measures.imbalance import Unseen, ratios_from_counts

#: "Above the mean" means above it by this much: with equal scores, rounding in the mean would
#: otherwise put every row above its own average. The SQL engines use the same number.
ABOVE_MEAN_TOLERANCE = 1e-12


class _Numbers(NamedTuple):
    irlbl: Array
    by_instance: Array
    by_label: Array
    scumble: float


class Concurrence(TableReprMixin, _Numbers):
    """All measures of concurrence, from one pass over the data.

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
    >>> found = concurrence([[1, 0], [1, 0], [1, 1]])
    >>> found.irlbl, found.by_instance.round(3)
    (array([1., 3.]), array([0.   , 0.   , 0.134]))
    """

    __slots__ = ()

    def _repr_title(self) -> str:
        return (
            f"Concurrence: SCUMBLE {self.scumble:.4f} of {len(self.by_instance):,} instances and "
            f"{len(self.by_label):,} labels"
        )

    def _repr_table(self) -> TableView:
        rows = zip(range(len(self.irlbl)), self.irlbl, self.by_label, strict=True)
        return TableView(("label", "irlbl", "scumble"), rows, len(self.irlbl))


def concurrence(Y: Any) -> Concurrence:
    """Compute IRLbl and SCUMBLE per instance, per label and of the data set at once.

    Use it instead of the single functions where several of the numbers are needed.

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
    """Count the instances of each label, and do what `concurrence` does for checked labels."""
    counts = threaded_kernels.count_labels(Y)
    ratios, unknown = ratios_from_counts(counts), np.full(len(counts), np.nan)
    scores, total, sums = threaded_kernels.score_instances(Y, ratios)
    by_label = np.divide(sums, counts, out=unknown, where=counts > 0)
    return counts, Concurrence(ratios, scores, by_label, safe_divide(total, Y.shape[0]))


def sum_squared_deviations(Y: sparse.csr_array, found: Concurrence) -> tuple[float, Array]:
    """Sum the squared deviations of scores from SCUMBLE, and from SCUMBLELbl of their labels."""
    return threaded_kernels.sum_squared_deviations(
        Y, found.by_instance, found.scumble, found.by_label
    )


@measure(level="instance", upper=1.0)
def scumble_by_instance(Y: Any) -> Array:
    r"""Concurrence of rare and frequent labels, for every instance.

    An instance whose labels are equally rare scores 0; the score grows towards 1 as its rarest
    label travels with ever more frequent ones.

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
    which would make every product 0. Its published numbers, like ours, take the labels an
    instance has. We work in log space: the plain product overflows with many rare labels.

    References
    ----------
    .. [1] Charte, F., Rivera, A., del Jesus, M. J., & Herrera, F. (2014). Concurrence among
       imbalanced labels and its influence on multilabel resampling algorithms. *HAIS 2014*,
       LNCS 8480.

    Examples
    --------
    Label 0 is everywhere and label 2 appears once, so the third instance is the hard one.

    >>> from scumble.measures import scumble_by_instance
    >>> scumble_by_instance([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]]).round(3)
    array([0.   , 0.057, 0.2  , 0.057])
    """
    return concurrence(Y).by_instance


@measure(level="dataset", upper=1.0)
def scumble(Y: Any) -> float:
    r"""Concurrence of rare and frequent labels in the whole data set.

    Above about 0.1 resampling alone helps little, the paper found: clones of instances with
    rare labels bring frequent ones along.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    float
        The mean of `scumble_by_instance` over all instances, those without labels included.
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
    """Coefficient of variation of SCUMBLE over the instances.

    A large value says that few instances hold most of the concurrence.

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
    found = concurrence(Y)
    return cv_of_scores(sum_squared_deviations(Y, found)[0], Y.shape[0], found.scumble)


@measure(level="label", upper=1.0)
def scumble_by_label(Y: Any, *, unseen: Unseen = "nan") -> Array:
    r"""SCUMBLELbl: how much each label suffers from concurrence.

    A rare label with a high value is a *difficult* one: its instances are ruled by frequent
    labels.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.
    unseen : {"nan", "zero"}
        The value of a label that never occurs; ``"zero"`` as in mldr.

    Returns
    -------
    ndarray of shape (n_labels,)
        Values in [0, 1).

    See Also
    --------
    difficult_labels : Which labels are difficult, and what masks them.

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
    """Coefficient of variation of SCUMBLE over the instances of each label.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        Labels, 0/1 or True/False.

    Returns
    -------
    ndarray of shape (n_labels,)
        Sample standard deviation over mean; NaN below two instances, 0 where the mean is 0.

    Examples
    --------
    >>> from scumble.measures import scumble_cv_by_label
    >>> scumble_cv_by_label([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]]).round(3)
    array([1.085, 0.   ,   nan])
    """
    Y = check_labels(Y, caller="scumble_cv_by_label")
    counts, found = counts_and_concurrence(Y)
    return cv_by_label(sum_squared_deviations(Y, found)[1], counts, found.by_label)


def cv_of_scores(squares: float, n_rows: int, mean: float) -> float:
    """Coefficient of variation over all rows; NaN where it has no meaning."""
    if n_rows < 2 or not mean > 0:
        return float("nan")
    return float(np.sqrt(squares / (n_rows - 1)) / mean)


def cv_by_label(squares: Array, counts: Array, means: Array) -> Array:
    """Coefficient of variation over the rows of each label."""
    spread = np.sqrt(np.divide(squares, counts - 1, out=np.zeros(len(counts)), where=counts > 1))
    cv = np.divide(spread, means, out=np.zeros(len(counts)), where=means > 0)
    return np.where(counts > 1, cv, np.nan)


def is_above_mean(scores: Array, mean: float) -> Array:
    """Tell which scores lie above the mean, beyond the reach of rounding."""
    return scores > mean + ABOVE_MEAN_TOLERANCE
