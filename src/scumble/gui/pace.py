"""How long work will still take, by how it went so far."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """Watches steps being done, and tells how many seconds the others will take.

    Examples
    --------
    >>> from scumble.gui.pace import Pace
    >>> seconds = iter([0.0, 1.0, 5.0])
    >>> pace = Pace(clock=lambda: next(seconds))
    >>> pace.left("Folds", 0, 10), pace.left("Folds", 6, 10), pace.left("Folds", 8, 10)
    (None, None, 4.0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._title: str | None = None
        self._first: tuple[float, int] | None = None

    def left(self, title: str, done: int, total: int | None) -> float | None:
        """Tell about how many seconds are left, None where that cannot be known yet.

        The first report of something done is where the clock starts: it may be about steps that
        were done another day.
        """
        now = self._clock()
        if title != self._title:
            self._title, self._first = title, None
        if self._first is None:
            self._first = (now, done) if done else None
            return None
        began, known = self._first
        if total is None or done <= known:
            return None
        return (now - began) / (done - known) * max(0, total - done)
