"""Pearson's correlation with its p-value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from scumble._core.errors import ParameterError
from scumble.evaluate.statistics.inputs import check_pairs


@dataclass(frozen=True)
class PearsonResult:
    """What `pearson` found.

    Attributes
    ----------
    coefficient : float
        Between -1 and 1; NaN where one side does not vary.
    p_value : float
        Two-sided, against a coefficient of 0.
    n_pairs : int
        How many pairs there were.
    """

    coefficient: float
    p_value: float
    n_pairs: int


def pearson(x: Any, y: Any) -> PearsonResult:
    """Correlate two lists of numbers.

    Parameters
    ----------
    x, y : array-like of shape (n_pairs,)
        At least three pairs.

    Returns
    -------
    PearsonResult
        Coefficient and p-value.

    Examples
    --------
    >>> from scumble.evaluate.statistics import pearson
    >>> found = pearson([1, 2, 3, 4], [1, 3, 2, 4])
    >>> round(found.coefficient, 3), round(found.p_value, 3)
    (0.8, 0.2)
    """
    first, second = check_pairs(x, y, caller="pearson")
    if len(first) < 3:
        raise ParameterError(f"pearson needs at least three pairs. Got {len(first)}.")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return PearsonResult(float("nan"), float("nan"), len(first))
    found = stats.pearsonr(first, second)
    return PearsonResult(float(found.statistic), float(found.pvalue), len(first))
