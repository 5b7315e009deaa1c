"""What the system tells about processes: whether they live, and since when."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path


def machine() -> str:
    """Name this machine, so that numbers of processes mean the same where the names are equal."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()} {namespace}".strip()


def is_alive(pid: int, started: float | None = None) -> bool:
    """Tell whether a process of this machine lives."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OSError):
        pass  # it belongs to somebody else, or the system cannot say: assume that it lives
    status = _stat(pid)
    if status is None:
        return not sys.platform.startswith("linux")
    state, ticks = status
    return state not in "ZX" and (started is None or started == ticks)


def started_at(pid: int) -> float | None:
    """Tell when a process was started."""
    status = _stat(pid)
    return None if status is None else status[1]


def _stat(pid: int) -> tuple[str, float] | None:
    """Read state and start of a process from Linux' table of processes."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before may hold anything
    return fields[0], float(fields[19])
