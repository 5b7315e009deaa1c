"""How long it may take: methods that would take longer are left out."""

from __future__ import annotations

import time


class OutOfTimeError(Exception):
    """A method would take longer than the budget allows."""

    def __init__(self, seconds: float) -> None:
        text = f"it would take about {seconds:,.0f} s" if seconds >= 1 else "the time was up"
        super().__init__(text)


class Budget:
    """Seconds to spend, counted from now on; None stands for any number."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self._began = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since it was made."""
        return time.perf_counter() - self._began

    def is_ample_after(self, seconds: float) -> bool:
        """Tell whether what took so long is next to nothing of it."""
        return self.seconds is None or seconds < 0.02 * self.seconds

    def ask(self, more: float, *, of: float | None = None) -> None:
        """Refuse work that would take so many more seconds, ``of`` so many in all."""
        if self.seconds is not None and self.spent + more > self.seconds:
            raise OutOfTimeError(more if of is None else of)
