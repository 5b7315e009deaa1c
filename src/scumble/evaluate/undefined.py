"""What a metric says where it has nothing to divide by."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError


class Undefined:
    """A policy for values that are 0/0."""

    def __init__(self, policy: Any = "mulan", *, caller: str = "evaluate") -> None:
        is_number = isinstance(policy, numbers.Real) and not isinstance(policy, bool)
        if not is_number and not (isinstance(policy, str) and policy in ("mulan", "ignore")):
            raise ParameterError(
                f"The 'undefined' parameter of {caller} must be 'mulan', 'ignore' or a number. "
                f"Got {policy!r} instead."
            )
        self.policy = policy

    def fill(self, values: Array, mulan: Any = math.nan) -> Array:
        """Put what the policy says in the place of NaN."""
        if self.policy == "ignore":
            return values
        return np.where(np.isnan(values), mulan if self.policy == "mulan" else self.policy, values)

    def mean(self, values: Array, mulan: Any = math.nan, *, skipped: bool = False) -> float:
        """Average values under the policy."""
        filled = self.fill(values, mulan)
        if self.policy == "ignore" or (skipped and self.policy == "mulan"):
            filled = filled[~np.isnan(filled)]
        return float(filled.mean()) if filled.size else math.nan


def ratio(numerator: Array, denominator: Array) -> Array:
    """Divide; NaN where the denominator is 0."""
    out = np.full(np.shape(denominator), math.nan)
    return np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)
