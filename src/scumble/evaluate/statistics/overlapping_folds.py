"""Differences between two methods on the same folds, whose training parts overlap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scumble._core.parameters import Real
from scumble._core.shown import Shown
from scumble.evaluate.statistics.inputs import check_pairs


@dataclass(frozen=True)
class FoldDifference(Shown):
    """How far one method is from another, and how sure that is.

    Attributes
    ----------
    difference : float
        Mean of ``y - x`` over the folds.
    low, high : float
        Interval for it; infinite with a single fold, which tells nothing of chance.
    p_value : float
        Two-sided; NaN with a single fold.
    n_folds : int
        Number of folds.

    Examples
    --------
    >>> from scumble.evaluate.statistics import corrected_t_test
    >>> found = corrected_t_test([0.5, 0.6, 0.4], [0.7, 0.7, 0.6], test_over_train=0.5)
    >>> round(found.difference, 3), found.n_folds
    (0.167, 3)
    """

    difference: float
    low: float
    high: float
    p_value: float
    n_folds: int


def corrected_t_test(
    x: Any, y: Any, *, test_over_train: float, confidence: float = 0.95
) -> FoldDifference:
    r"""Compare two methods by their values on the same folds.

    The folds of a cross-validation share most of their training rows, so their values are more
    alike than independent ones, and a plain paired t-test finds differences that are none. The
    correction by Nadeau and Bengio widens its variance.

    Parameters
    ----------
    x, y : array-like of shape (n_folds,)
        Values of the two methods, fold by fold.
    test_over_train : float
        Test rows over training rows of a fold: 1/9 for ten folds, 1/4 for five.
    confidence : float, default=0.95
        Share of intervals that hold the true difference.

    Returns
    -------
    FoldDifference
        From ``x`` to ``y``.

    Notes
    -----
    With :math:`J` folds, mean difference :math:`\bar d` and sample variance :math:`s^2`, the
    statistic is

    .. math:: t = \frac{\bar d}{\sqrt{(1/J + n_{test}/n_{train})\, s^2}}

    with :math:`J - 1` degrees of freedom. Repetitions of a cross-validation count as further folds.

    References
    ----------
    Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003).

    Examples
    --------
    Differences 1, 2, 3: mean 2, variance 1; with folds of equal halves the standard error is
    the root of 1/3 + 1.

    >>> from scumble.evaluate.statistics import corrected_t_test
    >>> found = corrected_t_test([0, 0, 0], [1, 2, 3], test_over_train=1.0)
    >>> found.difference, round((found.high - found.difference) / (4 / 3) ** 0.5, 3)
    (2.0, 4.303)
    """
    first, second = check_pairs(x, y, caller="corrected_t_test")
    Real(0).check(test_over_train, name="test_over_train", caller="corrected_t_test")
    Real(0, 1, open="both").check(confidence, name="confidence", caller="corrected_t_test")
    differences = second - first
    n_folds, mean = len(differences), float(differences.mean())
    if n_folds == 1:
        return FoldDifference(mean, -math.inf, math.inf, math.nan, 1)
    variance = float(differences.var(ddof=1)) * (1 / n_folds + test_over_train)
    if variance == 0:
        return FoldDifference(mean, mean, mean, 1.0 if mean == 0 else 0.0, n_folds)
    from scipy.special import stdtr, stdtrit  # a tenth of the time that scipy.stats takes to load

    error, freedom = math.sqrt(variance), n_folds - 1
    p_value = 2 * float(stdtr(freedom, -abs(mean) / error))
    reach = error * float(stdtrit(freedom, (1 + confidence) / 2))
    return FoldDifference(mean, mean - reach, mean + reach, p_value, n_folds)
