"""What the system tells about processes: whether they live, since when, how large they are."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

#: Bytes of a page of memory.
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


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


def resident_megabytes(pid: int) -> float | None:
    """Tell how much memory a process occupies."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * _PAGE / 2**20


def reset_peak() -> None:
    """Begin to measure the largest size of this process anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def peak_megabytes() -> float | None:
    """Tell the largest size of this process since `reset_peak`."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None


def _stat(pid: int) -> tuple[str, float] | None:
    """Read state and start of a process from Linux' table of processes."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before may hold anything
    return fields[0], float(fields[19])
