"""Tests of several methods over several data sets: Friedman, Nemenyi, Holm."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from scumble._core.errors import ParameterError, parameter_error
from scumble._core.parameters import Real
from scumble._core.table_repr import TableReprMixin, TableView, format_cell
from scumble.evaluate.statistics.score_table import (
    check_numbers,
    is_results,
    rank_methods,
    score_table,
)


@dataclass(frozen=True, repr=False)
class FriedmanResult(TableReprMixin):
    """Result of `friedman`.

    Attributes
    ----------
    mean_ranks : tuple of float
        Mean rank of each method; 1 is best.
    n_cases : int
        Number of data sets.
    statistic, p_value : float
        Friedman's chi-square, corrected for ties, and its p-value; NaN and 1 if all methods are
        equal.
    iman_davenport, iman_davenport_p : float
        The less conservative F statistic of Iman and Davenport, and its p-value.
    methods : tuple of str
        Names of the methods, or numbers if they have none.

    Examples
    --------
    >>> from scumble.evaluate.statistics import friedman
    >>> friedman([[0.9, 0.5], [0.8, 0.4], [0.7, 0.6]]).mean_ranks
    (1.0, 2.0)
    """

    mean_ranks: tuple[float, ...]
    n_cases: int
    statistic: float
    p_value: float
    iman_davenport: float
    iman_davenport_p: float
    methods: tuple[str, ...] = ()

    def _repr_title(self) -> str:
        """Return the first line of the repr: numbers of methods and data sets, and statistics."""
        return (
            f"Friedman: {len(self.mean_ranks)} methods on {self.n_cases} data sets, chi-square "
            f"{format_cell(self.statistic)}, p {format_cell(self.p_value)}; Iman-Davenport's F "
            f"{format_cell(self.iman_davenport)}, p {format_cell(self.iman_davenport_p)}"
        )

    def _repr_table(self) -> TableView:
        """Return the table of the repr: the mean rank of each method."""
        return _rank_table(self.methods, self.mean_ranks)


@dataclass(frozen=True, repr=False)
class NemenyiResult(TableReprMixin):
    """Result of `nemenyi`.

    Attributes
    ----------
    mean_ranks : tuple of float
        Mean rank of each method; 1 is best.
    n_cases : int
        Number of data sets.
    alpha : float
        Level of the test.
    critical_difference : float
        Mean ranks that differ by less are not significantly different.
    p_values : ndarray of shape (n_methods, n_methods)
        P-value of every pair, adjusted for all pairs.
    groups : tuple of tuple of int
        Maximal sets of methods without a significant difference, best first: the bars of a
        critical-difference diagram.
    methods : tuple of str
        Names of the methods, or numbers if they have none.

    Examples
    --------
    >>> from scumble.evaluate.statistics import nemenyi
    >>> result = nemenyi([[0.9, 0.5], [0.8, 0.4], [0.7, 0.6]])
    >>> result.groups, result.p_values.shape
    (((0, 1),), (2, 2))
    """

    mean_ranks: tuple[float, ...]
    n_cases: int
    alpha: float
    critical_difference: float
    p_values: npt.NDArray[np.float64]
    groups: tuple[tuple[int, ...], ...]
    methods: tuple[str, ...] = ()

    def _repr_title(self) -> str:
        """Return the first line of the repr: the sizes and the critical difference."""
        return (
            f"Nemenyi: {len(self.mean_ranks)} methods on {self.n_cases} data sets, critical "
            f"difference {format_cell(self.critical_difference)} at level {format_cell(self.alpha)}"
        )

    def _repr_table(self) -> TableView:
        """Return the table of the repr: the mean rank of each method, with a note per group."""
        notes = []
        for group in self.groups:
            names = ", ".join(self.methods[method] for method in group)
            notes.append(f"not significantly different: {names}")
        return _rank_table(self.methods, self.mean_ranks, notes)


def friedman(
    scores: Any, *, metric: str | None = None, higher_is_better: bool | None = None
) -> FriedmanResult:
    """Test whether several methods differ over several data sets.

    Parameters
    ----------
    scores : array-like of shape (n_cases, n_methods), or results
        One row per data set; or a store, a DataFrame or a file, see `score_table`, of which data
        sets without a value of every method are left out, with a warning.
    metric : str, optional
        The metric to read from the results.
    higher_is_better : bool, optional
        False for losses; by default as the metric is registered, else True.

    Returns
    -------
    FriedmanResult
        Mean ranks, chi-square and F.

    See Also
    --------
    nemenyi : Finds the pairs that differ.

    Examples
    --------
    >>> from scumble.evaluate.statistics import friedman
    >>> result = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.5, 0.6], [0.9, 0.8, 0.4]])
    >>> result.mean_ranks, result.statistic, round(result.p_value, 3)
    ((1.0, 2.25, 2.75), 6.5, 0.039)
    >>> results = {"br": [0.4, 0.3, 0.5, 0.2], "rare": [0.6, 0.4, 0.7, 0.3]}
    >>> print(friedman(results, metric="macro_f1"))
    Friedman: 2 methods on 4 data sets, chi-square 4, p 0.0455; Iman-Davenport's F inf, p 0
    method  mean rank
    rare            1
    br              2
    """
    ranks, methods = _rank_scores(scores, metric, higher_is_better, caller="friedman")
    n_cases, n_methods = ranks.shape
    mean_ranks = ranks.mean(axis=0)
    mean_of_all_ranks = (n_methods + 1) / 2
    total_sum_of_squares = float(((ranks - mean_of_all_ranks) ** 2).sum())
    if total_sum_of_squares == 0:
        return FriedmanResult(
            mean_ranks=tuple(mean_ranks.tolist()),
            n_cases=n_cases,
            statistic=math.nan,
            p_value=1.0,
            iman_davenport=math.nan,
            iman_davenport_p=1.0,
            methods=methods,
        )
    between_methods = n_cases**2 * float(((mean_ranks - mean_of_all_ranks) ** 2).sum())
    chi_square = (n_methods - 1) * between_methods / total_sum_of_squares
    denominator = n_cases * (n_methods - 1) - chi_square
    if denominator <= 1e-12 * chi_square:  # 0, but for rounding
        f_value = math.inf
    else:
        f_value = (n_cases - 1) * chi_square / denominator
    f_p_value = stats.f.sf(f_value, n_methods - 1, (n_methods - 1) * (n_cases - 1))
    return FriedmanResult(
        mean_ranks=tuple(mean_ranks.tolist()),
        n_cases=n_cases,
        statistic=chi_square,
        p_value=float(stats.chi2.sf(chi_square, n_methods - 1)),
        iman_davenport=f_value,
        iman_davenport_p=float(f_p_value),
        methods=methods,
    )


def nemenyi(
    scores: Any,
    *,
    metric: str | None = None,
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
) -> NemenyiResult:
    r"""Compare all pairs of methods by their mean ranks.

    Parameters
    ----------
    scores : array-like of shape (n_cases, n_methods), or results
        One row per data set; or a store, a DataFrame or a file, see `score_table`, of which data
        sets without a value of every method are left out, with a warning.
    metric : str, optional
        The metric to read from the results.
    higher_is_better : bool, optional
        False for losses; by default as the metric is registered, else True.
    alpha : float
        Level of the test, in (0, 1).

    Returns
    -------
    NemenyiResult
        Critical difference, p-values, and groups of methods without a significant difference.

    Notes
    -----
    The critical difference of :math:`k` methods on :math:`N` data sets is
    :math:`q_\alpha \sqrt{k (k + 1) / 6 N}`, with :math:`q_\alpha` the quantile of the studentized
    range over the square root of two [1]_.

    References
    ----------
    .. [1] Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets.
       *Journal of Machine Learning Research* 7.

    Examples
    --------
    >>> from scumble.evaluate.statistics import nemenyi
    >>> result = nemenyi([[0.9, 0.8, 0.1], [0.8, 0.7, 0.2], [0.7, 0.8, 0.3]] * 4)
    >>> round(result.critical_difference, 3), result.groups
    (0.957, ((0, 1),))
    """
    if not Real(0, 1, closed="neither").is_satisfied_by(alpha):
        raise parameter_error("alpha", "nemenyi", "be a number between 0 and 1", alpha)
    ranks, methods = _rank_scores(scores, metric, higher_is_better, caller="nemenyi")
    n_cases, n_methods = ranks.shape
    mean_ranks = ranks.mean(axis=0)
    standard_error = math.sqrt(n_methods * (n_methods + 1) / (6 * n_cases))
    quantile = float(stats.studentized_range.ppf(1 - alpha, n_methods, np.inf)) / math.sqrt(2)
    critical_difference = quantile * standard_error
    differences = np.abs(mean_ranks[:, None] - mean_ranks[None, :])
    studentized = differences / standard_error * math.sqrt(2)
    p_values = np.clip(stats.studentized_range.sf(studentized, n_methods, np.inf), 0.0, 1.0)
    return NemenyiResult(
        mean_ranks=tuple(mean_ranks.tolist()),
        n_cases=n_cases,
        alpha=alpha,
        critical_difference=critical_difference,
        p_values=p_values,
        groups=_find_groups(mean_ranks, critical_difference),
        methods=methods,
    )


def holm(p_values: Any) -> npt.NDArray[np.float64]:
    """Adjust p-values for the number of tests by Holm's step-down method.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        P-values, in [0, 1].

    Returns
    -------
    ndarray of shape (n_tests,)
        Adjusted p-values in the same order, to compare with the level of all tests together.

    Examples
    --------
    >>> from scumble.evaluate.statistics import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p_values = check_numbers(p_values, name="p_values", caller="holm")
    if ((p_values < 0) | (p_values > 1)).any():
        raise ParameterError("The 'p_values' parameter of holm must lie in [0, 1].")
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def _rank_scores(
    scores: Any, metric: str | None, higher_is_better: bool | None, *, caller: str
) -> tuple[npt.NDArray[np.float64], tuple[str, ...]]:
    """Return the ranks, of shape (n_cases, n_methods), and the names of the methods.

    The arguments are those of `friedman`. Raises a ParameterError for fewer than two data sets or
    methods, and if it is not known which direction is better.
    """
    if is_results(scores):
        table = score_table(
            scores, metric, higher_is_better=higher_is_better
        ).drop_incomplete_datasets()
        values = table.values
        methods = table.columns
        higher_is_better = table.higher_is_better
        if higher_is_better is None:
            raise ParameterError(
                f"{caller}: neither more nor less of {table.metric!r} is better. Say which with "
                "higher_is_better."
            )
    else:
        values = check_numbers(scores, name="scores", caller=caller, dimensions=2)
        methods = tuple(map(str, range(values.shape[1])))
    if min(values.shape) < 2:
        raise ParameterError(
            f"{caller} needs at least two cases and two methods. Got {values.shape[0]} and "
            f"{values.shape[1]}."
        )
    return rank_methods(values, higher_is_better is not False), methods


def _rank_table(
    methods: Sequence[str], ranks: Sequence[float], notes: Sequence[str] = ()
) -> TableView:
    """Return a table with a row per method and its mean rank, the best first, and notes below."""
    rows = sorted(zip(methods, ranks, strict=True), key=lambda row: row[1])
    return TableView(("method", "mean rank"), rows, len(rows), notes)


def _find_groups(
    mean_ranks: npt.NDArray[np.float64], critical_difference: float
) -> tuple[tuple[int, ...], ...]:
    """Return the maximal sets of methods whose mean ranks lie within the critical difference.

    A set is a tuple of indices of methods, best first. Methods that differ from all others are left
    out.
    """
    order = np.argsort(mean_ranks, kind="stable")
    groups = []
    previous_stop = 0
    for start, method in enumerate(order):
        is_within = mean_ranks[order] - mean_ranks[method] <= critical_difference
        stop = int(np.flatnonzero(is_within).max()) + 1
        # A set that does not reach beyond the one before it is a part of that set.
        if stop > max(previous_stop, start + 1):
            groups.append(tuple(order[start:stop].tolist()))
        previous_stop = stop
    return tuple(groups)
