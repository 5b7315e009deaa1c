"""Environments as users have them: a wheel of this package with what it needs, and no more.

They are kept in ``build/bench``. Making one takes pip and the package index.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks._tools import ROOT, no_python_variables, run

FOLDER = ROOT / "build" / "bench"
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
NOT_SOURCE = {"build", "dist", "results", "__pycache__"}


class Wheel(NamedTuple):
    """A wheel, and the CPU seconds it took to build it."""

    path: Path
    cpu: float


@cache
def wheel() -> Wheel:
    """Build a wheel from a copy of the sources, so that nothing compiled before is used."""
    source, target = FOLDER / "source", FOLDER / "wheel"
    for folder in (source, target):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT, source, ignore=_no_source)
    build = ("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", target, source)
    cpu = run([sys.executable, *PIP, *build]).cpu
    shutil.rmtree(source)
    return Wheel(next(target.glob("*.whl")), cpu)


def _no_source(folder: str, names: list[str]) -> set[str]:
    is_compiled = (".so", ".pyd", ".pyc", ".egg-info")
    return {
        name
        for name in names
        if name.startswith(".") or name in NOT_SOURCE or name.endswith(is_compiled)
    }


@cache
def core_python() -> str:
    """Return the Python of an environment that holds the core alone, with today's wheel."""
    pins = ROOT / "constraints.txt"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    facts = [sys.version, *project["dependencies"], pins.read_text()]
    folder = FOLDER / f"core-{hashlib.sha256(repr(facts).encode()).hexdigest()[:12]}"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    complete = folder / "complete"
    if not complete.exists():
        shutil.rmtree(folder, ignore_errors=True)
        run([sys.executable, "-m", "venv", folder])
        _pip(python, "--constraint", pins, *project["dependencies"])
        complete.touch()
    _pip(python, "--no-deps", "--force-reinstall", wheel().path)
    return str(python)


def _pip(python: str | Path, *words: object) -> None:
    run([python, *PIP, "install", *words], env=no_python_variables())


def fresh_install(folder: Path) -> dict[str, str]:
    """Install the wheel into a new folder; return variables under which the core runs from there.

    Its files are as pip leaves them, and the home folder is empty.
    """
    packages, home = folder / "packages", folder / "home"
    home.mkdir(parents=True)
    _pip(core_python(), "--no-deps", "--target", packages, wheel().path)
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(packages)}


_SIZE = """
import importlib.metadata, re
def needs(name, seen):
    name = re.sub("[-_.]+", "-", name).lower()
    if name in seen:
        return seen
    try:
        result = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:  # for another system or an extra
        return seen
    seen[name] = sum(f.locate().stat().st_size for f in result.files or () if f.locate().exists())
    for line in result.requires or ():
        if "extra ==" not in line:
            needs(re.match("[A-Za-z0-9._-]+", line)[0], seen)
    return seen
print(sum(needs("scumble", {}).values()))
"""


def installed_bytes(python: str) -> int:
    """Add up the files of scumble and of all it needs, as a Python has them installed."""
    done = subprocess.run([python, "-I", "-c", _SIZE], capture_output=True, text=True, check=True)
    return int(done.stdout)
