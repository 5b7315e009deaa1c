"""How often one side of a pair is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from scumble._core.errors import ParameterError
from scumble.evaluate.statistics.inputs import check_pairs
from scumble.evaluate.statistics.signed_ranks import paired_differences


@dataclass(frozen=True)
class WinTieLoss:
    """How often ``y`` was better than ``x``, equal, worse.

    Attributes
    ----------
    wins, ties, losses : int
        Pairs.
    """

    wins: int
    ties: int
    losses: int

    @property
    def p_value(self) -> float:
        """Two-sided sign test over the pairs that differ; 1 where none does."""
        decided = self.wins + self.losses
        return float(stats.binomtest(self.wins, decided).pvalue) if decided else 1.0


def win_tie_loss(
    x: Any, y: Any, *, higher_is_better: bool = True, tolerance: float = 0.0
) -> WinTieLoss:
    """Count the pairs in which the second value is better, equal or worse.

    Parameters
    ----------
    x, y : array-like of shape (n_pairs,)
        Values before and after, or of two methods.
    higher_is_better : bool
        False for losses.
    tolerance : float
        Differences up to this count as ties.

    Returns
    -------
    WinTieLoss
        From the point of view of ``y``.

    Examples
    --------
    >>> from scumble.evaluate.statistics import win_tie_loss
    >>> win_tie_loss([0.2, 0.5, 0.5], [0.1, 0.5, 0.4], higher_is_better=False)
    WinTieLoss(wins=2, ties=1, losses=0)
    """
    first, second = check_pairs(x, y, caller="win_tie_loss")
    if not tolerance >= 0:
        raise ParameterError(
            "The 'tolerance' parameter of win_tie_loss must be a float in [0, inf). "
            f"Got {tolerance!r} instead."
        )
    gains = paired_differences(first, second) * (1 if higher_is_better else -1)
    wins, losses = int(np.sum(gains > tolerance)), int(np.sum(gains < -tolerance))
    return WinTieLoss(wins, len(gains) - wins - losses, losses)
