"""How many rows a percentage is."""

from __future__ import annotations

import math
from fractions import Fraction

from scumble._core.errors import ParameterError

MOST = 2**40  # rows


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
    exact = Fraction(percent) if isinstance(percent, int) else Fraction(str(percent))
    wanted = math.floor(n_rows * exact / 100)
    if wanted > MOST:
        raise ParameterError(
            f"{percent:g} percent of {n_rows} rows are more rows than any machine holds. Choose a "
            "smaller 'percent'."
        )
    return wanted
