"""Several methods over several data sets: Friedman, Nemenyi, Holm."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
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
    """What `friedman` found.

    Attributes
    ----------
    mean_ranks : tuple of float
        One per method; 1 is best.
    n_cases : int
        Data sets.
    statistic, p_value : float
        Friedman's chi-square, corrected for ties. NaN and 1 where all methods are equal.
    iman_davenport, iman_davenport_p : float
        The less conservative F statistic made from it.
    methods : tuple of str
        Their names, or numbers where they had none.

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
        return (
            f"Friedman: {len(self.mean_ranks)} methods on {self.n_cases} data sets, chi-square "
            f"{format_cell(self.statistic)}, p {format_cell(self.p_value)}; Iman-Davenport's F "
            f"{format_cell(self.iman_davenport)}, p {format_cell(self.iman_davenport_p)}"
        )

    def _repr_table(self) -> TableView:
        return _list_ranks(self.methods, self.mean_ranks)


@dataclass(frozen=True, repr=False)
class NemenyiResult(TableReprMixin):
    """What `nemenyi` found.

    Attributes
    ----------
    mean_ranks : tuple of float
        One per method; 1 is best.
    n_cases : int
        Data sets.
    alpha : float
        Level of the test.
    critical_difference : float
        Mean ranks that differ by less cannot be told apart.
    p_values : ndarray of shape (n_methods, n_methods)
        Of every pair, adjusted for all pairs.
    groups : tuple of tuple of int
        Maximal sets of methods that cannot be told apart, best first: the bars of a
        critical-difference diagram.
    methods : tuple of str
        Their names, or numbers where they had none.

    Examples
    --------
    >>> from scumble.evaluate.statistics import nemenyi
    >>> found = nemenyi([[0.9, 0.5], [0.8, 0.4], [0.7, 0.6]])
    >>> found.groups, found.p_values.shape
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
        return (
            f"Nemenyi: {len(self.mean_ranks)} methods on {self.n_cases} data sets, critical "
            f"difference {format_cell(self.critical_difference)} at level {format_cell(self.alpha)}"
        )

    def _repr_table(self) -> TableView:
        alike = [", ".join(self.methods[at] for at in group) for group in self.groups]
        notes = [f"cannot be told apart: {names}" for names in alike]
        return _list_ranks(self.methods, self.mean_ranks, notes)


def friedman(
    scores: Any, *, metric: str | None = None, higher_is_better: bool | None = None
) -> FriedmanResult:
    """Test whether any of several methods stands out over several data sets.

    Parameters
    ----------
    scores : array-like of shape (n_cases, n_methods), or results
        One row per data set; or a store, a DataFrame or a file, see `score_table`. Data sets on
        which a method has no value are then left out, with a warning.
    metric : str, optional
        Which metric of the results.
    higher_is_better : bool, optional
        False for losses; by default as the metric says, else True.

    Returns
    -------
    FriedmanResult
        Mean ranks, chi-square and F.

    See Also
    --------
    nemenyi : Which pairs differ.

    Examples
    --------
    >>> from scumble.evaluate.statistics import friedman
    >>> found = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.5, 0.6], [0.9, 0.8, 0.4]])
    >>> found.mean_ranks, found.statistic, round(found.p_value, 3)
    ((1.0, 2.25, 2.75), 6.5, 0.039)
    >>> results = {"br": [0.4, 0.3, 0.5, 0.2], "rare": [0.6, 0.4, 0.7, 0.3]}
    >>> print(friedman(results, metric="macro_f1"))
    Friedman: 2 methods on 4 data sets, chi-square 4, p 0.0455; Iman-Davenport's F inf, p 0
    method  mean rank
    rare            1
    br              2
    """
    ranks, methods = _ranks(scores, metric, higher_is_better, caller="friedman")
    n_cases, n_methods = ranks.shape
    means = ranks.mean(axis=0)
    spread = float(((ranks - (n_methods + 1) / 2) ** 2).sum())
    if spread == 0:
        nan = math.nan
        return FriedmanResult(tuple(means.tolist()), n_cases, nan, 1.0, nan, 1.0, methods)
    between = n_cases**2 * float(((means - (n_methods + 1) / 2) ** 2).sum())
    statistic = (n_methods - 1) * between / spread
    rest = n_cases * (n_methods - 1) - statistic
    f_value = math.inf if rest <= 1e-12 * statistic else (n_cases - 1) * statistic / rest
    degrees = (n_methods - 1, (n_methods - 1) * (n_cases - 1))
    by_chi2 = (statistic, float(stats.chi2.sf(statistic, n_methods - 1)))
    by_f = (f_value, float(stats.f.sf(f_value, *degrees)))
    return FriedmanResult(tuple(means.tolist()), n_cases, *by_chi2, *by_f, methods)


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
        One row per data set; or a store, a DataFrame or a file, see `score_table`. Data sets on
        which a method has no value are then left out, with a warning.
    metric : str, optional
        Which metric of the results.
    higher_is_better : bool, optional
        False for losses; by default as the metric says, else True.
    alpha : float
        Level of the test, in (0, 1).

    Returns
    -------
    NemenyiResult
        Critical difference, p-values, and groups that cannot be told apart.

    Notes
    -----
    The critical difference is :math:`q_\alpha \sqrt{k (k + 1) / 6 N}` with the studentized
    range over the square root of two [1]_.

    References
    ----------
    .. [1] Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets.
       *Journal of Machine Learning Research* 7.

    Examples
    --------
    >>> from scumble.evaluate.statistics import nemenyi
    >>> found = nemenyi([[0.9, 0.8, 0.1], [0.8, 0.7, 0.2], [0.7, 0.8, 0.3]] * 4)
    >>> round(found.critical_difference, 3), found.groups
    (0.957, ((0, 1),))
    """
    if not Real(0, 1, closed="neither").is_satisfied_by(alpha):
        raise parameter_error("alpha", "nemenyi", "be a number between 0 and 1", alpha)
    ranks, methods = _ranks(scores, metric, higher_is_better, caller="nemenyi")
    n_cases, n_methods = ranks.shape
    means = ranks.mean(axis=0)
    unit = math.sqrt(n_methods * (n_methods + 1) / (6 * n_cases))
    critical = float(stats.studentized_range.ppf(1 - alpha, n_methods, np.inf)) / math.sqrt(2)
    gaps = np.abs(means[:, None] - means[None, :]) / unit * math.sqrt(2)
    p_values = np.clip(stats.studentized_range.sf(gaps, n_methods, np.inf), 0.0, 1.0)
    found = (critical * unit, p_values, _groups(means, critical * unit), methods)
    return NemenyiResult(tuple(means.tolist()), n_cases, alpha, *found)


def holm(p_values: Any) -> npt.NDArray[np.float64]:
    """Adjust p-values for the number of tests, step by step from the smallest.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        In [0, 1].

    Returns
    -------
    ndarray of shape (n_tests,)
        In the given order; compare them with the level of the whole family.

    Examples
    --------
    >>> from scumble.evaluate.statistics import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    given = check_numbers(p_values, name="p_values", caller="holm")
    if ((given < 0) | (given > 1)).any():
        raise ParameterError("The 'p_values' parameter of holm must lie in [0, 1].")
    order = np.argsort(given, kind="stable")
    steps = given[order] * np.arange(len(given), 0, -1)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def _ranks(
    scores: Any, metric: str | None, higher_is_better: bool | None, *, caller: str
) -> tuple[npt.NDArray[np.float64], tuple[str, ...]]:
    """Rank the methods of a table of results, or of numbers, on every data set; name them."""
    if is_results(scores):
        table = score_table(scores, metric, higher_is_better=higher_is_better).complete()
        values, methods, higher_is_better = table.values, table.columns, table.higher_is_better
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


def _list_ranks(
    methods: Sequence[str], ranks: Sequence[float], notes: Sequence[str] = ()
) -> TableView:
    """List methods, the best first."""
    rows = sorted(zip(methods, ranks, strict=True), key=lambda row: row[1])
    return TableView(("method", "mean rank"), rows, len(rows), notes)


def _groups(means: npt.NDArray[np.float64], critical: float) -> tuple[tuple[int, ...], ...]:
    """Find the maximal runs of methods, in order of rank, within the critical difference."""
    order = np.argsort(means, kind="stable")
    alike = (means[order] - means[start] <= critical for start in order)
    stops = [int(np.flatnonzero(inside).max()) + 1 for inside in alike]
    runs = enumerate(pairwise([0, *stops]))
    found = (order[at:stop] for at, (before, stop) in runs if stop > max(before, at + 1))
    return tuple(tuple(run.tolist()) for run in found)
