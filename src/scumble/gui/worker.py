"""A process for heavy work: it tells how far it is, and can be killed at any time."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable
from typing import Any

from scumble._core.children import Child

#: What somebody is told who cannot do anything about it.
WRONG_INSIDE = "Something went wrong inside; the terminal shows where."

#: What the system answers where not a byte more may be written.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def no_room(error: Exception) -> str | None:
    """Say that the disk has no room and what to do, where an error means that."""
    if not isinstance(error, OSError) or error.errno not in FULL:
        return None
    return (
        f"There is no room left for this on the disk of {tempfile.gettempdir()}. Nothing was kept "
        "of it. Free some space, or start the server with TMPDIR naming a folder on a larger disk."
    )


class TaskError(Exception):
    """A task failed for a reason its caller should read."""


class TaskStoppedError(Exception):
    """A task was stopped before it had found anything."""


class Worker(Child):
    """One process that does one task after another."""

    def __init__(self) -> None:
        super().__init__("scumble.gui.tasks.answer")

    def run(self, task: str, arguments: dict[str, Any], tell: Callable[..., None]) -> Any:
        """Do a task and wait for it; `ChildGoneError` where the process ends before."""
        self.send((task, arguments))
        while True:
            kind, *content = self.receive()
            if kind == "progress":
                tell(*content)
            elif kind == "done":
                return content[0]
            elif kind == "stopped":
                raise TaskStoppedError
            else:
                raise TaskError(content[0])
