"""How many rows a percentage is."""

from __future__ import annotations

import math
from fractions import Fraction


def rows_in_percent(percent: float, n_rows: int) -> int:
    """Count the rows in a percentage of all, rounded down.

    The percentage is taken as it is written: 33.3 % of 1000 rows are 333 rows, although the
    nearest binary number lies below.

    Examples
    --------
    >>> from scumble.resample.percent import rows_in_percent
    >>> rows_in_percent(25, 593), rows_in_percent(33.3, 1000)
    (148, 333)
    """
    if isinstance(percent, int):
        return n_rows * percent // 100
    return math.floor(n_rows * Fraction(str(percent)) / 100)
