"""Statistics of two paired samples: tests, effect sizes, counts and correlation.

A *pair* is a value of ``x`` and the value of ``y`` at the same position, for example the scores of
two methods on one data set. Its *difference* is ``y - x``.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from scumble._core.errors import ParameterError, parameter_error
from scumble._core.parameters import Real, as_generator, check_count
from scumble._core.table_repr import TableReprMixin
from scumble.evaluate.statistics.score_table import FloatArray, check_numbers, score_table

#: Values of ``method`` and of ``zeros``, see `wilcoxon`.
METHODS = ("exact", "normal")
ZEROS = ("drop", "pratt")
#: Number of significant digits, of the largest value, to which differences are rounded: in binary,
#: 0.3 - 0.1 is not 0.2.
SIGNIFICANT_DIGITS = 12
#: Number of draws of weights that are held in memory at a time.
DRAWS_PER_BLOCK = 1000


@dataclass(frozen=True)
class WilcoxonResult(TableReprMixin):
    """Result of `wilcoxon`.

    Attributes
    ----------
    positive, negative : float
        Sums of the ranks of the differences ``y - x`` above and below zero.
    n_pairs, n_zeros : int
        Number of pairs, and of pairs without a difference.
    p_value : float
        Two-sided p-value; 1 if no pair differs.
    method : str
        ``"exact"`` or ``"normal"``.

    Examples
    --------
    >>> from scumble.evaluate.statistics import wilcoxon
    >>> result = wilcoxon([1, 2, 3], [2, 4, 3])
    >>> result.positive, result.negative, result.n_zeros
    (3.0, 0.0, 1)
    """

    positive: float
    negative: float
    n_pairs: int
    n_zeros: int
    p_value: float
    method: str

    @property
    def statistic(self) -> float:
        """The smaller of the two sums."""
        return min(self.positive, self.negative)


def wilcoxon(
    x: Any,
    y: Any,
    *,
    results: Any = None,
    metric: str | None = None,
    method: str = "exact",
    correction: bool = True,
    zeros: str = "drop",
) -> WilcoxonResult:
    r"""Test whether paired values differ, by the ranks of their differences.

    Parameters
    ----------
    x, y : array-like of shape (n_pairs,)
        For example scores before and after a treatment, one pair per data set.
    results : Store, DataFrame, path or mapping, optional
        Results to read the values from, see `score_table`; ``x`` and ``y`` are then names of two
        methods.
    metric : str, optional
        The metric to read from the results.
    method : {"exact", "normal"}
        ``"exact"`` counts all sign patterns, ties and zeros included. ``"normal"`` is the
        approximation that R's ``wilcox.test(exact = FALSE)`` and most papers report.
    correction : bool
        Whether the approximation moves the statistic half a rank towards its mean, as R does.
    zeros : {"drop", "pratt"}
        Leave out pairs without a difference (Wilcoxon, R), or rank them and then leave them out.

    Returns
    -------
    WilcoxonResult
        Rank sums and a two-sided p-value.

    See Also
    --------
    bayesian_signed_rank : The probability that one of the two is better.

    Notes
    -----
    With :math:`T` the sum of positive ranks, the approximation is

    .. math:: z = \frac{T - \mu - \tfrac12 \operatorname{sign}(T - \mu)}{\sigma}, \quad
        \mu = \tfrac12 \sum r_i, \quad \sigma^2 = \tfrac14 \sum r_i^2

    where the ranks :math:`r_i` of equal differences are averaged, which contains the usual
    correction for ties. Differences are compared after rounding to 12 significant digits, since
    decimal numbers that differ by the same amount rarely do so in binary.

    The distribution of the exact test is built rank by rank from twice the ranks, which are
    whole numbers even with ties. Unlike R and SciPy it is therefore exact with ties, too.

    Examples
    --------
    Eleven improvements out of eleven: the exact probability is 2 / 2048, the approximation, which
    some papers print under the same name, is four times as large.

    >>> from scumble.evaluate.statistics import wilcoxon
    >>> before, after = range(11), [value + step for step, value in enumerate(range(11), 1)]
    >>> round(wilcoxon(before, after).p_value, 6)
    0.000977
    >>> round(wilcoxon(before, after, method="normal").p_value, 6)
    0.003857
    """
    if method not in METHODS:
        raise parameter_error("method", "wilcoxon", f"be one of {', '.join(METHODS)}", method)
    if zeros not in ZEROS:
        raise parameter_error("zeros", "wilcoxon", f"be one of {', '.join(ZEROS)}", zeros)
    first, second = check_pairs(x, y, caller="wilcoxon", results=results, metric=metric)
    differences = paired_differences(first, second)
    ranks, signs = _signed_ranks(differences, zeros)
    positive = float(ranks[signs > 0].sum())
    negative = float(ranks[signs < 0].sum())
    if not len(ranks):
        p_value = 1.0
    elif method == "exact":
        p_value = _exact_p_value(ranks, min(positive, negative))
    else:
        p_value = _normal_p_value(ranks, positive, correction)
    return WilcoxonResult(
        positive=positive,
        negative=negative,
        n_pairs=len(first),
        n_zeros=int((differences == 0).sum()),
        p_value=p_value,
        method=method,
    )


def paired_differences(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return ``y - x``, rounded so that equal differences of decimal numbers are equal in binary.

    They are rounded to `SIGNIFICANT_DIGITS` of the largest absolute value of both samples.
    """
    largest = max(float(np.abs(x).max()), float(np.abs(y).max()))
    digits_before_point = 0
    if largest != 0:
        digits_before_point = math.floor(math.log10(largest)) + 1
    scale = 10.0 ** min(SIGNIFICANT_DIGITS - digits_before_point, 300)
    return np.round((y - x) * scale) / scale


def _signed_ranks(differences: FloatArray, zeros: str) -> tuple[FloatArray, FloatArray]:
    """Return the ranks and the signs of the differences that are not zero, as two arrays.

    Ranks are those of absolute values; with ``zeros="pratt"`` zeros are ranked, too, before they
    are left out.
    """
    if zeros == "drop":
        differences = differences[differences != 0]
    ranks = np.asarray(stats.rankdata(np.abs(differences)), dtype=np.float64)
    is_nonzero = differences != 0
    return ranks[is_nonzero], np.sign(differences[is_nonzero])


def _exact_p_value(ranks: FloatArray, smaller_sum: float) -> float:
    """Return the exact two-sided p-value of Wilcoxon's test for the smaller of the two rank sums.

    It is twice the probability that random signs give a rank sum at least as small, at most 1.
    """
    doubled_ranks = np.round(2 * ranks).astype(np.int64)  # tied ranks can be multiples of one half
    # The element at index s is the probability that twice the sum of the positive ranks is s.
    probabilities = np.zeros(int(doubled_ranks.sum()) + 1)
    probabilities[0] = 1.0
    for rank in doubled_ranks:
        probabilities *= 0.5
        probabilities[rank:] += probabilities[:-rank].copy()
    return min(1.0, 2.0 * float(probabilities[: round(2 * smaller_sum) + 1].sum()))


def _normal_p_value(ranks: FloatArray, positive_sum: float, correction: bool) -> float:
    """Return the two-sided p-value of the sum of the positive ranks by the normal approximation.

    ``correction`` moves the sum by up to one half towards its mean.
    """
    distance = abs(positive_sum - ranks.sum() / 2)
    if correction and distance > 0:
        distance = abs(distance - 0.5)
    return math.erfc(distance / math.sqrt((ranks**2).sum() / 2))


@dataclass(frozen=True)
class FoldDifference(TableReprMixin):
    """Mean difference of two methods over folds, with its confidence interval.

    Attributes
    ----------
    difference : float
        Mean of ``y - x`` over the folds.
    low, high : float
        Confidence interval of the difference; infinite with a single fold.
    p_value : float
        Two-sided p-value; NaN with a single fold.
    n_folds : int
        Number of folds.

    Examples
    --------
    >>> from scumble.evaluate.statistics import corrected_t_test
    >>> result = corrected_t_test([0.5, 0.6, 0.4], [0.7, 0.7, 0.6], test_over_train=0.5)
    >>> round(result.difference, 3), result.n_folds
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

    The folds of a cross-validation share most of their training rows. Their values are not
    independent, and a plain paired t-test reports differences that are due to chance. The
    correction by Nadeau and Bengio increases its variance.

    Parameters
    ----------
    x, y : array-like of shape (n_folds,)
        Values of the two methods, fold by fold.
    test_over_train : float
        Test rows over training rows of a fold: 1/9 for ten folds, 1/4 for five.
    confidence : float, default=0.95
        Probability that the interval contains the true difference.

    Returns
    -------
    FoldDifference
        The mean of ``y - x`` with its interval and p-value.

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
    Differences 1, 2, 3: mean 2, variance 1; with as many test rows as training rows the standard
    error is the root of 1/3 + 1.

    >>> from scumble.evaluate.statistics import corrected_t_test
    >>> result = corrected_t_test([0, 0, 0], [1, 2, 3], test_over_train=1.0)
    >>> result.difference, round((result.high - result.difference) / (4 / 3) ** 0.5, 3)
    (2.0, 4.303)
    """
    first, second = check_pairs(x, y, caller="corrected_t_test")
    Real(0).check(test_over_train, name="test_over_train", caller="corrected_t_test")
    Real(0, 1, closed="neither").check(confidence, name="confidence", caller="corrected_t_test")
    differences = second - first
    n_folds = len(differences)
    mean = float(differences.mean())
    if n_folds == 1:
        return FoldDifference(
            difference=mean, low=-math.inf, high=math.inf, p_value=math.nan, n_folds=1
        )
    variance = float(differences.var(ddof=1)) * (1 / n_folds + test_over_train)
    if variance == 0:
        p_value = 1.0 if mean == 0 else 0.0
        return FoldDifference(
            difference=mean, low=mean, high=mean, p_value=p_value, n_folds=n_folds
        )
    standard_error = math.sqrt(variance)
    degrees_of_freedom = n_folds - 1
    p_value = 2 * float(special.stdtr(degrees_of_freedom, -abs(mean) / standard_error))
    quantile = float(special.stdtrit(degrees_of_freedom, (1 + confidence) / 2))
    half_width = standard_error * quantile
    return FoldDifference(
        difference=mean,
        low=mean - half_width,
        high=mean + half_width,
        p_value=p_value,
        n_folds=n_folds,
    )


@dataclass(frozen=True)
class EffectSizes(TableReprMixin):
    """Effect sizes of the change from ``x`` to ``y``; positive if ``y`` is larger.

    Attributes
    ----------
    rank_biserial : float
        Share of the rank sum in favour of ``y`` minus the share against it, in [-1, 1].
    cohen_d : float
        Mean difference over the sample standard deviation of the differences; NaN if the
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
    """Compute effect sizes of the change from ``x`` to ``y``.

    Parameters
    ----------
    x, y : array-like of shape (n_pairs,)
        Values before and after, or of two methods.
    results : Store, DataFrame, path or mapping, optional
        Results to read the values from, see `score_table`; ``x`` and ``y`` are then names of two
        methods.
    metric : str, optional
        The metric to read from the results.

    Returns
    -------
    EffectSizes
        Three standardised effect sizes, and the mean and median difference.

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
    standard_deviation = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return EffectSizes(
        rank_biserial=(ranks.positive - ranks.negative) / total if total else 0.0,
        cohen_d=float(differences.mean()) / standard_deviation if standard_deviation else math.nan,
        cliff_delta=float(np.sign(second[:, None] - first[None, :]).mean()),
        mean_difference=float(differences.mean()),
        median_difference=float(np.median(differences)),
    )


@dataclass(frozen=True)
class WinTieLoss(TableReprMixin):
    """Numbers of pairs in which ``y`` is better than ``x``, equal or worse.

    Attributes
    ----------
    wins, ties, losses : int
        Numbers of pairs.

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
        """P-value of the two-sided sign test over the pairs that differ; 1 if none does."""
        n_different = self.wins + self.losses
        if n_different == 0:
            return 1.0
        return float(stats.binomtest(self.wins, n_different).pvalue)


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
        Results to read the values from, see `score_table`; ``x`` and ``y`` are then names of two
        methods.
    metric : str, optional
        The metric to read from the results.
    higher_is_better : bool, optional
        False for losses; by default as the metric is registered, else True.
    tolerance : float
        Differences up to this count as ties.

    Returns
    -------
    WinTieLoss
        The numbers of wins, ties and losses of ``y``.

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
    gains = paired_differences(first, second)
    if higher_is_better is False:
        gains = -gains
    wins = int(np.sum(gains > tolerance))
    losses = int(np.sum(gains < -tolerance))
    return WinTieLoss(wins=wins, ties=len(gains) - wins - losses, losses=losses)


@dataclass(frozen=True)
class PearsonResult(TableReprMixin):
    """Result of `pearson`.

    Attributes
    ----------
    coefficient : float
        Coefficient in [-1, 1]; NaN if ``x`` or ``y`` does not vary.
    p_value : float
        Two-sided p-value of the hypothesis that the coefficient is 0.
    n_pairs : int
        Number of pairs.

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
    """Compute the Pearson correlation of two samples.

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
    >>> result = pearson([1, 2, 3, 4], [1, 3, 2, 4])
    >>> round(result.coefficient, 3), round(result.p_value, 3)
    (0.8, 0.2)
    """
    first, second = check_pairs(x, y, caller="pearson")
    if len(first) < 3:
        raise ParameterError(f"pearson needs at least three pairs. Got {len(first)}.")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return PearsonResult(coefficient=math.nan, p_value=math.nan, n_pairs=len(first))
    result = stats.pearsonr(first, second)
    return PearsonResult(
        coefficient=float(result.statistic), p_value=float(result.pvalue), n_pairs=len(first)
    )


@dataclass(frozen=True)
class BayesianResult(TableReprMixin):
    """Result of `bayesian_signed_rank`: posterior probabilities, which sum to 1.

    Attributes
    ----------
    lower, equal, higher : float
        Probabilities that ``y`` is lower than ``x``, practically equal, or higher.
    rope : float
        Largest difference that counts as practically equal.

    Examples
    --------
    >>> from scumble.evaluate.statistics import bayesian_signed_rank
    >>> result = bayesian_signed_rank([0.1, 0.2, 0.3], [0.4, 0.6, 0.5], random_state=0)
    >>> result.higher > 0.9
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
    """Estimate the probabilities that ``y`` is lower than ``x``, practically equal, or higher.

    Parameters
    ----------
    x, y : array-like of shape (n_pairs,)
        Scores of two methods, one pair per data set.
    results : Store, DataFrame, path or mapping, optional
        Results to read the values from, see `score_table`; ``x`` and ``y`` are then names of two
        methods.
    metric : str, optional
        The metric to read from the results.
    rope : float
        Region of practical equivalence: larger differences matter.
    prior : float
        Weight of a prior pair without a difference.
    n_draws : int
        Number of draws of the weights of the pairs.
    random_state : int, Generator or None
        Seed of the draws.

    Returns
    -------
    BayesianResult
        Three probabilities.

    Notes
    -----
    Pairs get random weights from a Dirichlet distribution. In every draw the mean of two pairs,
    drawn by these weights, falls below, inside or above the region of practical equivalence with
    certain probabilities; the largest of the three wins the draw (ties share it) [1]_.

    References
    ----------
    .. [1] Benavoli, A., Corani, G., Demšar, J., & Zaffalon, M. (2017). Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis. *Journal of Machine
       Learning Research* 18.

    Examples
    --------
    >>> from scumble.evaluate.statistics import bayesian_signed_rank
    >>> result = bayesian_signed_rank([0.5, 0.6, 0.7, 0.4, 0.5], [0.6, 0.7, 0.8, 0.5, 0.7])
    >>> result.higher > 0.95
    True
    >>> results = {"br": [0.5, 0.6, 0.7, 0.4, 0.5], "rare": [0.6, 0.7, 0.8, 0.5, 0.7]}
    >>> bayesian_signed_rank("br", "rare", results=results) == result
    True
    """
    first, second = check_pairs(x, y, caller="bayesian_signed_rank", results=results, metric=metric)
    n_draws = check_count(n_draws, name="n_draws", caller="bayesian_signed_rank")
    Real(0).check(rope, name="rope", caller="bayesian_signed_rank")
    Real(0).check(prior, name="prior", caller="bayesian_signed_rank")
    differences = np.append(paired_differences(first, second), 0.0)
    doubled_means = differences[:, None] + differences[None, :]  # of all pairs of differences
    # The tolerance counts values on the border as inside: 0.51 - 0.5 is more than 0.01 in binary.
    limit = 2 * rope * (1 + 1e-9)
    is_below = (doubled_means < -limit).astype(float)
    is_above = (doubled_means > limit).astype(float)
    dirichlet_parameters = np.append(np.ones(len(first)), max(prior, 1e-12))
    generator = as_generator(random_state, caller="bayesian_signed_rank")

    n_won = np.zeros(3)  # draws in which lower, equal or higher is most probable
    for start in range(0, n_draws, DRAWS_PER_BLOCK):
        n_draws_in_block = min(DRAWS_PER_BLOCK, n_draws - start)
        weights = generator.dirichlet(dirichlet_parameters, size=n_draws_in_block)
        lower = ((weights @ is_below) * weights).sum(axis=1)
        higher = ((weights @ is_above) * weights).sum(axis=1)
        probabilities = np.stack([lower, 1 - lower - higher, higher])
        is_best = np.isclose(probabilities, probabilities.max(axis=0), rtol=0, atol=1e-12)
        n_won += (is_best / is_best.sum(axis=0)).sum(axis=1)
    lower_share, equal_share, higher_share = (n_won / n_draws).tolist()
    return BayesianResult(lower=lower_share, equal=equal_share, higher=higher_share, rope=rope)


def check_pairs(
    x: Any, y: Any, *, caller: str, results: Any = None, metric: str | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return two samples of equal length as arrays.

    With ``results``, ``x`` and ``y`` are names of methods, and their values on all data sets that
    have both are returned. Raises a ParameterError for values that are not finite, different
    lengths and empty samples.
    """
    if results is not None:
        pair = score_table(results, metric).select(methods=[x, y]).drop_incomplete_datasets()
        x, y = pair[x], pair[y]
    elif isinstance(x, str) or isinstance(y, str):
        raise ParameterError(
            f"{caller}: {x!r} and {y!r} name methods. Say where their results are: results=..."
        )
    first = check_numbers(x, name="x", caller=caller)
    second = check_numbers(y, name="y", caller=caller)
    if len(first) != len(second):
        raise ParameterError(
            f"{caller} compares pairs: 'x' and 'y' must be equally long. "
            f"Got {len(first)} and {len(second)} values."
        )
    if not len(first):
        raise ParameterError(f"{caller} needs at least one pair. Got none.")
    return first, second
