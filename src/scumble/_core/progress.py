"""Long work tells how far it is; who shows it is decided at the front door.

Rooms call `progress_bar`. Nothing is printed unless a front door (the command line, the web page) has
put a sink in place with `show_progress`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class ProgressReporter(Protocol):
    """What a front door provides."""

    def start(self, title: str, total: int | None) -> Callable[[int], None]:
        """Begin a task and return the function that advances it."""

    def finish(self) -> None:
        """End the task begun last."""


_sink: ContextVar[ProgressReporter | None] = ContextVar("scumble_progress", default=None)


@contextmanager
def show_progress(sink: ProgressReporter) -> Iterator[None]:
    """Send the progress of all work inside the ``with`` block to ``sink``."""
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)


@contextmanager
def progress_bar(title: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Announce a piece of work; call the yielded function with each step done."""
    sink = _sink.get()
    if sink is None:
        yield _ignore
        return
    advance = sink.start(title, total)
    try:
        yield advance
    finally:
        sink.finish()


def _ignore(_steps: int) -> None:
    """Show nothing."""
