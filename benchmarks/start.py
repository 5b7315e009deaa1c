"""Waiting: from the shell to the answer, with the core alone, in CPU seconds of the process.

What an answer needs from other packages is the peer: nobody can be quicker than their imports.
"""

from __future__ import annotations

import statistics
import tempfile
from functools import cache
from pathlib import Path

from benchmarks._environments import FOLDER, core_python, fresh_install, installed_bytes, wheel
from benchmarks._tools import (
    alternate_runs,
    at_least,
    bound,
    earlier_python,
    no_python_variables,
    run,
    unpacked,
)

MB = 1e6
FIRST_RUNS = 5


@cache
def ready() -> str | None:
    """Prepare the environment and the data; return the reason where it cannot be done."""
    try:
        core_python()
    except RuntimeError as error:  # no package index, no compiler
        return f"no environment with the core alone: {error}"
    if unpacked("flags", FOLDER) is None or unpacked("yeast", FOLDER) is None:
        return "the reference data is absent; set SCUMBLE_SHARED"
    return None


def command(*words: str) -> list[str]:
    """Write a command of scumble as the shell runs it."""
    return [str(Path(core_python()).with_name("scumble")), *words]


def evaluating() -> list[str]:
    return command("evaluate", str(FOLDER / "flags.arff"), "-c", "br", "--folds", "5")


def summing_up() -> list[str]:
    return command("summary", str(FOLDER / "yeast.arff"))


def against_imports():
    """Compare commands with the imports they cannot do without."""
    if ready():
        yield {"name": "start", "skipped": ready()}
        return
    python = core_python()
    learner = [python, "-c", "from scumble.learn import BinaryRelevance"]
    estimators = [python, "-c", "import sklearn.base"]
    tables = [python, "-c", "import scipy.sparse, typer, rich"]
    base, learning, evaluation, floor, summary = alternate_runs(
        [estimators, learner, evaluating(), tables, summing_up()], env=no_python_variables()
    )
    for name, scumble_time, peer, limit in (
        (
            "from scumble.learn import BinaryRelevance over import sklearn.base",
            learning,
            base,
            1.25,
        ),
        (
            "scumble evaluate flags.arff -c br --folds 5 over import sklearn.base",
            evaluation,
            base,
            1.6,
        ),
        ("scumble summary yeast.arff over import scipy.sparse, typer, rich", summary, floor, 1.6),
    ):
        yield bound(
            name,
            scumble_time / peer,
            at_most=limit,
            ours_s=scumble_time,
            peer_s=peer,
            note="CPU seconds",
        )


def first_command_ever():
    """Compare the first command after installation with the same one run again."""
    for words, name in ((evaluating, "evaluate flags.arff"), (summing_up, "summary yeast.arff")):
        title = f"scumble {name}: first run after installation over the second"
        if ready():
            yield {"name": title, "skipped": ready()}
            continue
        pairs = []
        for _ in range(FIRST_RUNS):
            with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
                env = fresh_install(Path(folder))
                pairs.append([run(words(), env=env).cpu for _ in range(2)])
        first, second = map(statistics.median, zip(*pairs, strict=True))
        note = "CPU seconds; empty home, files as pip leaves them"
        yield bound(title, first / second, at_most=1.2, ours_s=first, peer_s=second, note=note)


def weight():
    """Measure the wheel, its build, and the installed core."""
    if ready():
        yield {"name": "weight", "skipped": ready()}
        return
    size = wheel().path.stat().st_size / MB
    yield bound("MB of the wheel", size, at_most=20)
    yield bound("CPU seconds to build it from source", wheel().cpu, at_most=240)
    now = installed_bytes(core_python()) / MB
    python, why = earlier_python()
    title = "MB the installed core is lighter than the earlier one"
    if python is None:
        yield {"name": title, "skipped": f"{why}; it is {now:.0f} MB now"}
        return
    earlier = installed_bytes(python) / MB
    note = f"{now:.0f} MB with all it needs, {earlier:.0f} MB before"
    yield at_least(title, earlier - now, 150, note=note)


ALL = [against_imports, first_command_ever, weight]
