"""How long it takes to see something: a report from a cold start, a chord diagram."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks._tools import ROOT, bound, dataset_path

ABSENT = "the reference data is absent"


def report_from_cold_start():
    name = "report of corel5k as HTML, cold start, s"
    path = dataset_path("corel5k")
    if path is None:
        return {"name": name, "skipped": ABSENT}
    with TemporaryDirectory() as folder:
        words = ["report", str(path), "--html", str(Path(folder) / "r.html")]
        spent = [_run(words) for _ in range(4)][1:]  # the first one may compile
    return bound(name, min(spent), at_most=3, ours_s=min(spent), note="best of 3")


def chord_of_cal500():
    name = "chord of cal500 as PNG, in a new process, s"
    path = dataset_path("cal500")
    if path is None:
        return {"name": name, "skipped": ABSENT}
    code = (
        "import sys, time, scumble\n"
        "from scumble.plots import plot_chord, save_plot\n"
        "data = scumble.read(sys.argv[1])\n"
        "start = time.perf_counter()\n"
        "save_plot(plot_chord(data), sys.argv[2])\n"
        "print(time.perf_counter() - start)"
    )
    with TemporaryDirectory() as folder:
        words = [sys.executable, "-c", code, str(path), str(Path(folder) / "c.png")]
        spent = [
            float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
            for _ in range(3)
        ]
    note = "mldr 0.4.2: about 3 minutes for all 174 labels"
    return bound(name, min(spent), at_most=2, ours_s=min(spent), note=note)


def _run(words: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "scumble", *words], capture_output=True, check=True, cwd=ROOT
    )
    return time.perf_counter() - start


ALL = [report_from_cold_start, chord_of_cal500]
