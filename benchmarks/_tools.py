"""What the benchmarks share: fair timing, and memory of a fresh process."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("SCUMBLE_SHARED", ROOT.parent / "shared"))


def dataset_path(name: str) -> Path | None:
    """Find a reference data set, or None where the folder is absent."""
    return next(iter(sorted((SHARED / "datasets" / name).glob(f"{name}.arff*"))), None)


def alternate(ours, peer, *, repeats: int = 5) -> tuple[float, float]:
    """Time two functions in turns after one warm-up each; return the medians in seconds.

    Turns, so that both see the same moods of the machine.
    """
    ours()
    peer()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for function, spent in zip((ours, peer), times, strict=True):
            start = time.perf_counter()
            function()
            spent.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def record(name: str, ours: float, peer: float, *, at_least: float, note: str = "") -> dict:
    """Make a record for "so many times faster than the peer"."""
    ratio = peer / ours
    return {
        "name": name,
        "ours_s": ours,
        "peer_s": peer,
        "ratio": ratio,
        "target": f">= {at_least:g}",
        "ok": ratio >= at_least,
        "note": note,
    }


def bound(name: str, value: float, *, at_most: float, note: str = "", **more) -> dict:
    """Make a record for a number that must not exceed a limit."""
    return {
        "name": name,
        "ratio": value,
        "target": f"<= {at_most:g}",
        "ok": value <= at_most,
        "note": note,
        **more,
    }


def peak_bytes(code: str) -> dict[str, int]:
    """Run code in a fresh process; it prints ``name=bytes`` lines, which come back as a dict.

    ``rss()`` (now) and ``peak()`` (high-water mark since `reset_peak()`) are defined for it.
    """
    prelude = (
        "import re\n"
        "def _status(key):\n"
        "    text = open('/proc/self/status').read()\n"
        "    return int(re.search(key + r':\\s+(\\d+)', text)[1]) * 1024\n"
        "def rss(): return _status('VmRSS')\n"
        "def peak(): return _status('VmHWM')\n"
        "def reset_peak(): open('/proc/self/clear_refs', 'w').write('5')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", prelude + code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    pairs = (line.split("=") for line in done.stdout.splitlines() if "=" in line)
    return {name: int(value) for name, value in pairs}
