"""How many rows a percentage is."""

from __future__ import annotations

import math
from fractions import Fraction

from scumble._core.errors import ParameterError

MOST = 2**40  # rows


def rows_in_percent(percent: float, n_rows: int) -> int:
    """Count the rows in a percentage of all, rounded down: 33.3 % of 1000 are 333."""
    # The percentage is taken as it is written, although the nearest binary number may lie below.
    exact = Fraction(percent) if isinstance(percent, int) else Fraction(str(percent))
    wanted = math.floor(n_rows * exact / 100)
    if wanted > MOST:
        raise ParameterError(
            f"{percent:g} percent of {n_rows} rows are more rows than any machine holds. Choose a "
            "smaller 'percent'."
        )
    return wanted
