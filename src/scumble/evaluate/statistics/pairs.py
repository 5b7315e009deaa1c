"""Two lists of paired numbers: how far apart, how often and how probably better, how related."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from scumble._core.errors import ParameterError
from scumble._core.parameters import Real
from scumble._core.random import as_generator
from scumble._core.shown import Shown
from scumble._core.validation import check_count
from scumble.evaluate.statistics.inputs import check_pairs
from scumble.evaluate.statistics.score_table import score_table
from scumble.evaluate.statistics.signed_ranks import paired_differences, wilcoxon

#: Weights are drawn in blocks of this many, so that memory stays small.
BLOCK = 1000


@dataclass(frozen=True)
class EffectSizes(Shown):
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

    Examples
    --------
    >>> from scumble.evaluate.statistics import effect_sizes
    >>> effect_sizes([1, 2, 3], [2, 4, 4]).mean_difference
    1.3333333333333333
    """

    rank_biserial: float
    cohen_d: float
    cliff_delta: float
    mean_difference: float
    median_difference: float


def effect_sizes(x: Any, y: Any, *, results: Any = None, metric: str | None = None) -> EffectSizes:
    """Measure how far ``y`` is from ``x``.

    Parameters
    ----------
    x, y : array-like of shape (n_pairs,)
        Values before and after, or of two methods.
    results : Store, DataFrame, path or mapping, optional
        Where results are, see `score_table`; ``x`` and ``y`` are then names of two methods.
    metric : str, optional
        Which metric of the results.

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
    first, second = check_pairs(x, y, caller="effect_sizes", results=results, metric=metric)
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


@dataclass(frozen=True)
class WinTieLoss(Shown):
    """How often ``y`` was better than ``x``, equal, worse.

    Attributes
    ----------
    wins, ties, losses : int
        Pairs.

    Examples
    --------
    >>> from scumble.evaluate.statistics import win_tie_loss
    >>> win_tie_loss([1, 2, 3, 3], [2, 4, 4, 3]).p_value
    0.25
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
    x: Any,
    y: Any,
    *,
    results: Any = None,
    metric: str | None = None,
    higher_is_better: bool | None = None,
    tolerance: float = 0.0,
) -> WinTieLoss:
    """Count the pairs in which the second value is better, equal or worse.

    Parameters
    ----------
    x, y : array-like of shape (n_pairs,)
        Values before and after, or of two methods.
    results : Store, DataFrame, path or mapping, optional
        Where results are, see `score_table`; ``x`` and ``y`` are then names of two methods.
    metric : str, optional
        Which metric of the results.
    higher_is_better : bool, optional
        False for losses; by default as the metric says, else True.
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
    if results is not None:
        results = score_table(results, metric, higher_is_better=higher_is_better)
        higher_is_better = results.higher_is_better
    first, second = check_pairs(x, y, caller="win_tie_loss", results=results)
    Real(0).check(tolerance, name="tolerance", caller="win_tie_loss")
    gains = paired_differences(first, second) * (-1 if higher_is_better is False else 1)
    wins, losses = int(np.sum(gains > tolerance)), int(np.sum(gains < -tolerance))
    return WinTieLoss(wins, len(gains) - wins - losses, losses)


@dataclass(frozen=True)
class PearsonResult(Shown):
    """What `pearson` found.

    Attributes
    ----------
    coefficient : float
        Between -1 and 1; NaN where one side does not vary.
    p_value : float
        Two-sided, against a coefficient of 0.
    n_pairs : int
        How many pairs there were.

    Examples
    --------
    >>> from scumble.evaluate.statistics import pearson
    >>> round(pearson([1, 2, 3], [2, 4, 6]).coefficient, 3)
    1.0
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


@dataclass(frozen=True)
class BayesianResult(Shown):
    """Posterior probabilities, which sum to 1.

    Attributes
    ----------
    lower, equal, higher : float
        That ``y`` is in truth lower than ``x``, practically equal, higher.
    rope : float
        What counted as practically equal.

    Examples
    --------
    >>> from scumble.evaluate.statistics import bayesian_signed_rank
    >>> found = bayesian_signed_rank([0.1, 0.2, 0.3], [0.4, 0.6, 0.5], random_state=0)
    >>> found.higher > 0.9
    True
    """

    lower: float
    equal: float
    higher: float
    rope: float


def bayesian_signed_rank(
    x: Any,
    y: Any,
    *,
    results: Any = None,
    metric: str | None = None,
    rope: float = 0.01,
    prior: float = 0.5,
    n_draws: int = 20_000,
    random_state: Any = 0,
) -> BayesianResult:
    """Tell how probable it is that ``y`` is lower, practically equal or higher than ``x``.

    Parameters
    ----------
    x, y : array-like of shape (n_pairs,)
        Scores of two methods, one pair per data set.
    results : Store, DataFrame, path or mapping, optional
        Where results are, see `score_table`; ``x`` and ``y`` are then names of two methods.
    metric : str, optional
        Which metric of the results.
    rope : float
        Region of practical equivalence: differences up to this do not matter.
    prior : float
        Weight of one imagined pair without a difference.
    n_draws : int
        How many weightings of the pairs are drawn.
    random_state : int, Generator or None
        Where they come from.

    Returns
    -------
    BayesianResult
        Three probabilities.

    Notes
    -----
    Pairs get random weights from a Dirichlet distribution. In every draw the mean of two pairs,
    drawn by these weights, falls below, inside or above the region of practical equivalence with
    some chance; the largest of the three chances wins the draw (ties share it) [1]_.

    References
    ----------
    .. [1] Benavoli, A., Corani, G., Demšar, J., & Zaffalon, M. (2017). Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis. *Journal of Machine
       Learning Research* 18.

    Examples
    --------
    >>> from scumble.evaluate.statistics import bayesian_signed_rank
    >>> found = bayesian_signed_rank([0.5, 0.6, 0.7, 0.4, 0.5], [0.6, 0.7, 0.8, 0.5, 0.7])
    >>> found.higher > 0.95
    True
    >>> results = {"br": [0.5, 0.6, 0.7, 0.4, 0.5], "rare": [0.6, 0.7, 0.8, 0.5, 0.7]}
    >>> bayesian_signed_rank("br", "rare", results=results) == found
    True
    """
    first, second = check_pairs(x, y, caller="bayesian_signed_rank", results=results, metric=metric)
    n_draws = check_count(n_draws, name="n_draws", caller="bayesian_signed_rank")
    Real(0).check(rope, name="rope", caller="bayesian_signed_rank")
    Real(0).check(prior, name="prior", caller="bayesian_signed_rank")
    differences = np.append(paired_differences(first, second), 0.0)
    doubled_mean = differences[:, None] + differences[None, :]
    # A hair's breadth above the region is inside it: 0.51 - 0.5 is more than 0.01 in binary.
    edge = 2 * rope * (1 + 1e-9)
    below, above = (doubled_mean < -edge).astype(float), (doubled_mean > edge).astype(float)
    shape = np.append(np.ones(len(first)), max(prior, 1e-12))
    generator = as_generator(random_state, caller="bayesian_signed_rank")

    won = np.zeros(3)
    for start in range(0, n_draws, BLOCK):
        weights = generator.dirichlet(shape, size=min(BLOCK, n_draws - start))
        lower = ((weights @ below) * weights).sum(axis=1)
        higher = ((weights @ above) * weights).sum(axis=1)
        chances = np.stack([lower, 1 - lower - higher, higher])
        best = np.isclose(chances, chances.max(axis=0), rtol=0, atol=1e-12)
        won += (best / best.sum(axis=0)).sum(axis=1)
    lower_share, equal_share, higher_share = (won / n_draws).tolist()
    return BayesianResult(lower_share, equal_share, higher_share, rope)
