"""How large a difference is, which no p-value says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble.evaluate.statistics.inputs import check_pairs
from scumble.evaluate.statistics.signed_ranks import paired_differences, wilcoxon


@dataclass(frozen=True)
class EffectSizes:
    """Sizes of the change from ``x`` to ``y``; positive where ``y`` is larger.

    Attributes
    ----------
    rank_biserial : float
        Share of the rank sum in favour of ``y`` minus the share against it, in [-1, 1].
    cohen_d : float
        Mean difference over the sample standard deviation of the differences; NaN where the
        differences do not vary.
    cliff_delta : float
        Probability that a random value of ``y`` exceeds a random one of ``x``, minus the reverse.
    mean_difference, median_difference : float
        In the units of the data.
    """

    rank_biserial: float
    cohen_d: float
    cliff_delta: float
    mean_difference: float
    median_difference: float


def effect_sizes(x: Any, y: Any) -> EffectSizes:
    """Measure how far ``y`` is from ``x``.

    Parameters
    ----------
    x, y : array-like of shape (n_pairs,)
        Values before and after, or of two methods.

    Returns
    -------
    EffectSizes
        Three standardised sizes and two plain ones.

    Examples
    --------
    >>> from scumble.evaluate.statistics import effect_sizes
    >>> sizes = effect_sizes([1, 2, 3], [2, 4, 2.5])
    >>> round(sizes.rank_biserial, 3), sizes.cliff_delta
    (0.667, 0.444...)
    """
    first, second = check_pairs(x, y, caller="effect_sizes")
    differences = paired_differences(first, second)
    ranks = wilcoxon(first, second, method="normal")
    total = ranks.positive + ranks.negative
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return EffectSizes(
        rank_biserial=(ranks.positive - ranks.negative) / total if total else 0.0,
        cohen_d=float(differences.mean()) / spread if spread else float("nan"),
        cliff_delta=float(np.sign(second[:, None] - first[None, :]).mean()),
        mean_difference=float(differences.mean()),
        median_difference=float(np.median(differences)),
    )
