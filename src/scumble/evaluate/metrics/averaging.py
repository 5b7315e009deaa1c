"""Averages, which make a metric of a formula with one value per unit.

A *unit* is an instance, a label, or the whole label matrix. A *unit formula* takes the `Counts`, or
the rankings, of units and returns `UnitValues`: one value per unit. An *average* selects the units,
calls the formula and returns one number. If all units are labels, the metric can also be computed
for a group of labels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import parameter_error
from scumble.evaluate.metrics.counts import UndefinedPolicy


class UnitValues(NamedTuple):
    """One value per unit, and the value that MULAN takes where it is undefined."""

    values: Array  # of shape (n_units,); NaN where undefined
    #: What replaces NaN in MULAN: a number, or one per unit. NaN if the value stays undefined
    #: there, None if MULAN leaves undefined units out of means.
    mulan_value: Array | float | None

    def fill(self, undefined: UndefinedPolicy) -> Array:
        """Return the values, with NaN replaced as the policy says."""
        return undefined.fill(self.values, self.mulan_value)

    def mean(self, undefined: UndefinedPolicy) -> float:
        """Return the mean of the values, with undefined ones replaced or left out by the policy."""
        return undefined.mean(self.values, self.mulan_value)


#: A unit formula: a function of `Counts`, `InstanceRankings` or `LabelRankings`.
UnitFormula = Callable[[Any], UnitValues]


@dataclass(frozen=True)
class Samples:
    """Mean over the instances of a formula."""

    formula: UnitFormula

    def __call__(self, counts: Any, undefined: UndefinedPolicy) -> float:
        """Return the mean of ``formula(counts.by_instance)``."""
        return self.formula(counts.by_instance).mean(undefined)


@dataclass(frozen=True)
class Macro:
    """Mean over the labels of a formula."""

    formula: UnitFormula

    def __call__(self, counts: Any, undefined: UndefinedPolicy) -> float:
        """Return the mean of ``formula(counts.by_label)``."""
        return self.formula(counts.by_label).mean(undefined)


@dataclass(frozen=True)
class Micro:
    """Value of a formula for the whole label matrix."""

    formula: UnitFormula

    def __call__(self, counts: Any, undefined: UndefinedPolicy) -> float:
        """Return ``formula(counts.overall)``."""
        return self.formula(counts.overall).mean(undefined)


@dataclass(frozen=True)
class Weighted:
    """Mean over the labels of a formula, weighted by the number of instances with the label."""

    formula: UnitFormula

    def __call__(self, counts: Any, undefined: UndefinedPolicy) -> float:
        """Return the weighted mean of ``formula(counts.by_label)``; NaN if no label occurs."""
        values = self.formula(counts.by_label).fill(undefined)
        weights = counts.by_label.true
        if undefined.policy == "ignore":
            is_defined = ~np.isnan(values)
            values, weights = values[is_defined], weights[is_defined]
        if weights.sum() == 0:
            return float("nan")
        return float(np.average(values, weights=weights))


#: The averages by scikit-learn's names.
AVERAGES: dict[str, Callable[[UnitFormula], Callable[[Any, UndefinedPolicy], float]]] = {
    "samples": Samples,
    "macro": Macro,
    "micro": Micro,
    "weighted": Weighted,
}


def make_average(
    average: str, formula: UnitFormula, *, caller: str
) -> Callable[[Any, UndefinedPolicy], float]:
    """Return the metric that averages a unit formula: a function of counts and of the policy.

    ``average`` is a key of `AVERAGES`; another name raises an error that names the ``caller``.
    """
    if average not in AVERAGES:
        requirement = f"be one of {', '.join(map(repr, AVERAGES))}"
        raise parameter_error("average", caller, requirement, average)
    return AVERAGES[average](formula)
