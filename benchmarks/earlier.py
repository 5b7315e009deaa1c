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
ABSENT = "the reference data is absent; set SCUMBLE_SHARED"
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

    def request(self, do: str, name: str = "") -> dict:
        """Put one question to `_workloads.Worker`."""
        self.process.stdin.write(json.dumps({"do": do, "name": name}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else {"error": "the process has ended"}

    def close(self) -> None:
        """Let the process end."""
        self.process.stdin.close()
        self.process.wait()


def peak(side: Side, name: str) -> tuple[float, float]:
    """Give the MiB of a process that does this work and nothing else, and those of the work.

    The process is what a user pays for. What the work adds depends on what importing left free.
    """
    side.request("warm", name)
    peaks = [side.request("peak", name) for _ in range(3)]
    side.close()
    return tuple(min(result[key] for result in peaks) / 2**20 for key in ("value", "more"))


def kernels():
    """Compare every piece of work in turns: none below 0.8, the geometric mean at least 1."""
    python, why = earlier_python()
    if python is None or not (SHARED / "datasets").is_dir():
        yield {"name": "kernels against an earlier version", "skipped": why or ABSENT}
        return
    scumble_side, peer_side = (
        Side(sys.executable, dict(os.environ)),
        Side(python, no_python_variables()),
    )
    ratios, differing = [], []
    for name in scumble_side.request("names")["names"]:
        answers = [side.request("warm", name) for side in (scumble_side, peer_side)]
        title = f"{name}, earlier over now"
        if "error" in answers[0]:
            yield at_least(title, 0.0, 0.8, note=answers[0]["error"])
            continue
        if "error" in answers[1]:
            yield {"name": title, "skipped": answers[1]["error"]}
            continue
        if answers[0] != answers[1]:
            differing.append(name)
        turns = [
            [side.request("time", name)["value"] for side in (scumble_side, peer_side)]
            for _ in range(REPEATS)
        ]
        now, then = map(min, zip(*turns, strict=True))
        ratios.append(then / now)
        yield record(title, now, then, at_least=0.8, note="CPU seconds")
    for side in (scumble_side, peer_side):
        side.close()
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    yield at_least("geometric mean of earlier over now", mean, 1.0, note=f"{len(ratios)} pieces")
    note = ", ".join(differing)
    yield bound(
        "pieces of work with another answer than before", len(differing), at_most=0, note=note
    )


def memory():
    """Compare peaks: no higher than before."""
    python, why = earlier_python()
    for name in REMEMBERED:
        title = f"{name}, peak memory now over earlier"
        if python is None or not (SHARED / "datasets").is_dir():
            yield {"name": title, "skipped": why or ABSENT}
            continue
        now, more_now = peak(Side(sys.executable, dict(os.environ)), name)
        then, more_then = peak(Side(python, no_python_variables()), name)
        note = (
            f"{now:.0f} and {then:.0f} MiB, {more_now:.1f} and {more_then:.1f} of them the work's"
        )
        yield bound(title, now / then, at_most=1, note=note)


ALL = [kernels, memory]
