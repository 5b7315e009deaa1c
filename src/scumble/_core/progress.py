"""Progress of long work; the user interface decides how it is shown.

Library code calls `progress_bar`. Nothing is printed unless a user interface (the command line or
the web page) has set a reporter with `show_progress`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class ProgressReporter(Protocol):
    """The object with which a user interface shows progress."""

    def start(self, title: str, total: int | None) -> Callable[[int], None]:
        """Show a new task and return a function, to be called with the number of steps done.

        ``total`` is the number of steps of the task; None if it is unknown.
        """

    def finish(self) -> None:
        """Remove the task that was started last from the display."""


_reporter: ContextVar[ProgressReporter | None] = ContextVar("scumble_progress", default=None)


def is_progress_shown() -> bool:
    """Return whether a user interface shows progress, in the current thread and context."""
    return _reporter.get() is not None


@contextmanager
def show_progress(reporter: ProgressReporter) -> Iterator[None]:
    """Show the progress of all work inside the ``with`` block with ``reporter``."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def progress_bar(title: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show the progress of a task while the ``with`` block runs.

    The block receives a function that it calls with the number of steps done since the last call.
    ``total`` is the number of steps; None if it is unknown. Without a user interface nothing is
    shown.
    """
    reporter = _reporter.get()
    if reporter is None:
        yield _ignore_steps
        return
    advance = reporter.start(title, total)
    try:
        yield advance
    finally:
        reporter.finish()


def _ignore_steps(_n_steps: int) -> None:
    """Do nothing; used as the function to call with steps if no user interface shows progress."""
