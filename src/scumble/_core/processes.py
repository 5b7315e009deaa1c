"""What the system tells about processes: whether they live, since when, and their memory."""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

_PAUSE = 0.01  # seconds between two looks at the memory


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
    with suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text()
        fields = text.rpartition(")")[2].split()  # the name before may hold anything
        return fields[0], float(fields[19])
    return None


# The peak is exact where it was the most ever, else as seen every hundredth of a second. Other
# threads' work counts too.
class PeakMemory:
    """Watches the memory of this process while a ``with`` block runs."""

    def __enter__(self) -> Self:
        self._most_before = _most_ever()
        self.peak = resident()
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()
        most = _most_ever()
        self.peak = most if most > self._most_before else max(self.peak, resident())

    def _watch(self) -> None:
        while not self._done.wait(_PAUSE):
            self.peak = max(self.peak, resident())


def resident() -> int:
    """Return the bytes this process holds in memory now, or its most ever where unknown."""
    return resident_of("self") or _most_ever()


def resident_of(pid: int | str) -> int:
    """Return the bytes a process holds in memory now, or 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def reset_peak() -> None:
    """Begin to measure the largest size of this process anew, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Return the most bytes this process held since `reset_peak`; 0 where it is not told."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def _most_ever() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
