"""Methods against one of them, over all data sets: means, wins and a paired test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scumble._core.errors import ParameterError
from scumble.evaluate.statistics import wilcoxon, win_tie_loss
from scumble.experiment.result_tables import Grid
from scumble.experiment.scores import direction


@dataclass(frozen=True)
class Against:
    """One method beside another, by one metric.

    Attributes
    ----------
    metric, method : str
        Which.
    n_datasets : int
        Data sets on which both have a value; all that follows is over these.
    mean, ratio : float
        The mean of the method, and in times of the other's mean.
    wins, ties, losses : int
        Data sets on which the method is better, equal and worse.
    p_value : float
        Wilcoxon's signed ranks, exact and two-sided, one pair per data set.
    """

    metric: str
    method: str
    n_datasets: int
    mean: float
    ratio: float
    wins: int
    ties: int
    losses: int
    p_value: float


def compare(one: Grid, against: str, *, without: Sequence[str] = ()) -> list[Against]:
    """Compare every method of a grid with one of them."""
    for kind, names, known in (("method", [against], one.columns), ("data set", without, one.rows)):
        for name in names:
            if name not in known:
                raise ParameterError(
                    f"The store has no {kind} {name!r}. There are: {', '.join(known)}."
                )
    rows = [row for row in one.rows if row not in without]
    others = [column for column in one.columns if column != against]
    return [_against(one, column, against, rows) for column in (against, *others)]


def _against(one: Grid, method: str, other: str, rows: Sequence[str]) -> Against:
    pairs = [
        (one.means.get((row, other), math.nan), one.means.get((row, method), math.nan))
        for row in rows
    ]
    known = [pair for pair in pairs if not any(map(math.isnan, pair))]
    if not known:
        return Against(one.metric, method, 0, math.nan, math.nan, 0, 0, 0, math.nan)
    theirs, ours = zip(*known, strict=True)
    tally = win_tie_loss(theirs, ours, higher_is_better=direction(one.metric) >= 0)
    mean, base = sum(ours) / len(ours), sum(theirs) / len(theirs)
    return Against(
        metric=one.metric,
        method=method,
        n_datasets=len(known),
        mean=mean,
        ratio=mean / base if base else math.nan,
        wins=tally.wins,
        ties=tally.ties,
        losses=tally.losses,
        p_value=wilcoxon(theirs, ours).p_value,
    )
