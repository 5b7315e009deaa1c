"""What the benchmarks share: fair timing, and memory of a fresh process."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("SCUMBLE_SHARED", ROOT.parent / "shared"))


def dataset_path(name: str) -> Path | None:
    """Find a reference data set, or None where the folder is absent."""
    return next(iter(sorted((SHARED / "datasets" / name).glob(f"{name}.arff*"))), None)


def unpacked(name: str, folder: str | Path) -> Path | None:
    """Lay a reference data set decompressed into a folder, with its XML file."""
    from scumble._core.files import InputFile

    path = dataset_path(name)
    if path is None:
        return None
    target = Path(folder, f"{name}.arff")
    with InputFile(path).open() as stream:
        target.write_bytes(stream.read())
    for xml in path.parent.glob("*.xml"):
        Path(folder, xml.name).write_bytes(xml.read_bytes())
    return target


def earlier_python() -> tuple[str | None, str]:
    """Find a Python with an earlier scumble to compare with, or say why there is none."""
    python = os.environ.get("SCUMBLE_EARLIER_PYTHON")
    if python is None:
        return None, "set SCUMBLE_EARLIER_PYTHON to a Python with an earlier scumble"
    probe = [python, "-I", "-c", "import scumble"]
    if subprocess.run(probe, capture_output=True).returncode:
        return None, f"SCUMBLE_EARLIER_PYTHON, {python}, cannot import scumble"
    return python, ""


def no_python_variables() -> dict[str, str]:
    """Give the variables of this process without those that would lead Python to these sources."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def alternate(candidate, peer, *, repeats: int = 5) -> tuple[float, float]:
    """Time two functions in turns after one warm-up each; return the medians in seconds.

    In turns, so that both run under the same load.
    """
    candidate()
    peer()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for function, spent in zip((candidate, peer), times, strict=True):
            start = time.perf_counter()
            function()
            spent.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


#: A process starts as a copy of its parent, and its peak memory with the parent's. This small one
#: stands between the benchmarks, which may be large, and what is measured.
_LAUNCHER = """
import json, os, sys, time
began = time.monotonic()
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
result = {"wall": time.monotonic() - began, "cpu": usage.ru_utime + usage.ru_stime,
         "peak": usage.ru_maxrss * 1024}
with open(sys.argv[1], "w") as stream:
    json.dump(result, stream)
sys.exit(os.waitstatus_to_exitcode(status) and 1)
"""


class Run(NamedTuple):
    """What a process printed and took: seconds of the clock and of CPU, and its peak in bytes.

    CPU counts the processes it started, too.
    """

    printed: str
    wall: float
    cpu: float
    peak: int


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path = ROOT) -> Run:
    """Run a command to its end; one that fails raises RuntimeError with its last words."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(answer)]
        words = [str(word) for word in command]
        done = subprocess.run([*launcher, *words], capture_output=True, text=True, env=env, cwd=cwd)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words[:4])}: {done.stderr.strip()[-500:]}")
        return Run(done.stdout, **json.loads(answer.read_text()))


def alternate_runs(
    commands: Sequence[Sequence[str]], *, repeats: int = 7, **options
) -> list[float]:
    """Run commands in turns after one warm-up each; return the medians of their CPU seconds."""
    for command in commands:
        run(command, **options)
    rounds = [[run(command, **options).cpu for command in commands] for _ in range(repeats)]
    return [statistics.median(seconds) for seconds in zip(*rounds, strict=True)]


def record(name: str, scumble_time: float, peer: float, *, at_least: float, note: str = "") -> dict:
    """Return the record of a speed ratio: the time of the peer over that of scumble."""
    ratio = peer / scumble_time
    return {
        "name": name,
        "ours_s": scumble_time,
        "peer_s": peer,
        "ratio": ratio,
        "target": f">= {at_least:g}",
        "ok": ratio >= at_least,
        "note": note,
    }


def bound(name: str, value: float, *, at_most: float, note: str = "", **extra) -> dict:
    """Return the record of a number that must not exceed a limit."""
    return {
        "name": name,
        "ratio": value,
        "target": f"<= {at_most:g}",
        "ok": value <= at_most,
        "note": note,
        **extra,
    }


def at_least(name: str, value: float, minimum: float, *, note: str = "") -> dict:
    """Return the record of a number that must reach a limit."""
    ok = value >= minimum
    return {"name": name, "ratio": value, "target": f">= {minimum:g}", "ok": ok, "note": note}


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
