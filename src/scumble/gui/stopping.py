"""Work that may be stopped before it is done, and gives what it has found by then.

Workers ignore SIGINT, so that it can be sent at any time: who is not ready for it goes on, and is
killed if it does so for too long.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class _Asked:
    """Whether a message is on its way, and whether somebody asked to stop meanwhile."""

    is_speaking = False
    to_stop = False


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt in here, though in the midst of no message."""
    _Asked.to_stop = False
    before = signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def whole(tell: Callable[[Any], None]) -> Callable[[Any], None]:
    """Make a function that sends a message to its end: half of one would make all unreadable."""

    def tell_whole(message: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            tell(message)
            return
        _Asked.is_speaking = True
        try:
            tell(message)
        finally:
            _Asked.is_speaking = False
        if _Asked.to_stop:
            _Asked.to_stop = False
            raise KeyboardInterrupt

    return tell_whole


def _stop(*_: Any) -> None:
    if not _Asked.is_speaking:
        raise KeyboardInterrupt
    _Asked.to_stop = True
