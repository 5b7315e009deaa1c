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
        """Begin a task and return the function that advances it by a number of steps."""

    def finish(self) -> None:
        """End the task that was begun last."""


_reporter: ContextVar[ProgressReporter | None] = ContextVar("scumble_progress", default=None)


@contextmanager
def show_progress(reporter: ProgressReporter) -> Iterator[None]:
    """Send the progress of all work inside the ``with`` block to ``reporter``."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def progress_bar(title: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Announce a task; yield the function to call with the number of steps done."""
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
    """Do nothing: no user interface shows progress."""
