"""The kernels against those of an earlier scumble, in another environment: `_workloads` in turns.

``SCUMBLE_EARLIER_PYTHON`` names its Python. One thread, everything warm, the least CPU seconds of
several turns: other processes can only add to them. Answers must be the same to the last bit.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks._tools import (
    ROOT,
    SHARED,
    at_least,
    bound,
    earlier_python,
    no_python_variables,
    record,
)

REPEATS = 7
WORKER = Path(__file__).with_name("_workloads.py")
#: Whose memory is compared, too.
REMEMBERED = (
    "characterize, 1.2 million assignments",
    "read MULAN, sparse, bibtex",
    "read CSV, yeast",
    "REMEDIAL, 1.2 million assignments",
    "MLSMOTE, yeast",
    "BR, enron",
    "BR, bibtex",
    "BR, missing values, emotions",
    "CLR, medical",
    "MLkNN, enron",
    "all metrics, 5,000 x 200",
)


class Side:
    """One version of scumble, asked over a pipe."""

    def __init__(self, python: str, env: dict[str, str]) -> None:
        single = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
        self.process = subprocess.Popen(
            [python, "-P", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**env, **single, "SCUMBLE_SHARED": str(SHARED)},
            cwd=ROOT,
        )

    def ask(self, do: str, name: str = "") -> dict:
        """Put one question to `_workloads.Worker`."""
        self.process.stdin.write(json.dumps({"do": do, "name": name}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else {"error": "the process has ended"}

    def close(self) -> None:
        """Let the process end."""
        self.process.stdin.close()
        self.process.wait()


def kernels():
    """Compare every piece of work in turns: none below 0.8, the geometric mean at least 1."""
    python, why = earlier_python()
    if python is None or not (SHARED / "datasets").is_dir():
        yield {
            "name": "kernels against an earlier version",
            "skipped": why or "the reference data is absent; set SCUMBLE_SHARED",
        }
        return
    ours, peer = Side(sys.executable, dict(os.environ)), Side(python, no_python_variables())
    ratios, differing = [], []

    def least(do: str, name: str, repeats: int) -> list[float]:
        turns = [[side.ask(do, name)["value"] for side in (ours, peer)] for _ in range(repeats)]
        return [min(values) for values in zip(*turns, strict=True)]

    for name in ours.ask("names")["names"]:
        answers = [side.ask("warm", name) for side in (ours, peer)]
        title = f"{name}, earlier over now"
        if "error" in answers[0]:
            yield at_least(title, 0.0, 0.8, note=answers[0]["error"])
            continue
        if "error" in answers[1]:
            yield {"name": title, "skipped": answers[1]["error"]}
            continue
        if answers[0] != answers[1]:
            differing.append(name)
        now, then = least("time", name, REPEATS)
        ratios.append(then / now)
        yield record(title, now, then, at_least=0.8, note="CPU seconds")
        if name in REMEMBERED:
            now, then = (size / 2**20 for size in least("peak", name, 3))
            # Pages are 4 KiB and heaps have moods: a MiB more or less says nothing.
            title = f"{name}, peak memory now over earlier"
            note = f"{now:.1f} MiB now, {then:.1f} MiB before"
            yield bound(title, (now + 1) / (then + 1), at_most=1.05, note=note)
    for side in (ours, peer):
        side.close()
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    yield at_least("geometric mean of earlier over now", mean, 1.0, note=f"{len(ratios)} pieces")
    note = ", ".join(differing)
    yield bound(
        "pieces of work with another answer than before", len(differing), at_most=0, note=note
    )


ALL = [kernels]
