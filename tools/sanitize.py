"""Run the tests of the kernels on builds that notice what a fast build does not.

Two passes, each on a copy of the tree below ``build/sanitize``:

- ``checked``: every index of a memoryview is compared with its bounds;
- ``sanitized``: the compiler's address and undefined-behaviour sanitizers watch every access, also
  those through pointers, and stop at the first fault. Needs gcc or clang with their libraries.

``python tools/sanitize.py [--only checked|sanitized] [pytest arguments]``; without arguments, the
tests of every room that has kernels.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIES = ROOT / "build" / "sanitize"
ROOMS = ("_core", "measures", "data", "resample", "learn", "evaluate")
SANITIZERS = "address,undefined"
COPIED = (
    "src",
    "tests",
    "tools",
    "benchmarks",
    "pyproject.toml",
    "setup.py",
    "README.md",
    "LICENSE",
)
FINDING = "finding"
LIBRARIES = ("libasan.so", "libubsan.so")
UNWANTED = shutil.ignore_patterns("*.so", "*.pyd", "*.egg-info", "__pycache__", "results")


def main(arguments: list[str] | None = None) -> int:
    """Run both passes; the first one that fails ends it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=("checked", "sanitized"))
    options, more = parser.parse_known_args(arguments)
    passes = {"checked": checked, "sanitized": sanitized}
    for name, prepare in passes.items():
        if options.only in (None, name):
            print(f"sanitize: pass {name!r}", flush=True)
            building, running = prepare()
            status = run_pass(COPIES / name, building, running, more)
            if status:
                print(f"sanitize: pass {name!r} has findings")
                return status
    print("sanitize: no findings")
    return 0


def checked() -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables to build and to run with for the pass of bounds checks."""
    return {"SCUMBLE_CHECKED": "1"}, {}


def sanitized() -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables for the pass of sanitizers.

    Python itself is built without them, so that their libraries must be loaded before all others.
    Python's own pools would hide where a block ends (PYTHONMALLOC); what it leaves behind at its
    end is no leak of ours (detect_leaks).
    """
    # Into files, because pytest keeps what a test prints, and loses it where the process ends.
    log = f"halt_on_error=1:log_path={COPIES / 'sanitized' / FINDING}"
    libraries = [path for name in LIBRARIES if (path := _library(name))]
    if len(libraries) < len(LIBRARIES):
        raise SystemExit("sanitize: the C compiler has no libasan or libubsan; install them")
    return {"SCUMBLE_SANITIZE": SANITIZERS}, {
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:{log}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:{log}",
    }


def _library(name: str) -> str | None:
    """Find a library of the compiler; without one it echoes the name."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    command = [*compiler, f"-print-file-name={name}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return os.path.realpath(found) if os.path.isabs(found) else None


def run_pass(copy: Path, building: dict[str, str], running: dict[str, str], more: list[str]) -> int:
    """Compile a copy of the tree and test it; return 0 if there is nothing to tell."""
    copy_tree(copy)
    here = {**os.environ, "PYTHONPATH": str(copy / "src")}
    # Told here, because the copy has another root than the tree.
    here.setdefault("SCUMBLE_SHARED", str(ROOT.parent / "shared"))
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(build, cwd=copy, env=here | building, check=True)
    _refuse_another(copy, here | running)
    tests = more or [f"tests/{room}" for room in ROOMS]
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    for old in copy.glob(f"{FINDING}.*"):
        old.unlink()
    status = subprocess.run(test, cwd=copy, env=here | running, check=False).returncode
    # A process that a test has started may have one too, without its test minding.
    findings = sorted(copy.glob(f"{FINDING}.*"))
    for finding in findings:
        print(finding.read_text(encoding="utf-8", errors="replace"))
    return status or int(bool(findings))


def copy_tree(copy: Path) -> None:
    """Bring the copy up to date; what is unchanged keeps its time, so that it is not rebuilt."""
    for name in COPIED:
        source, target = ROOT / name, copy / name
        if source.is_dir():
            for stale in [path for path in target.rglob("*") if _is_stale(path, source, target)]:
                stale.unlink()
            shutil.copytree(source, target, ignore=UNWANTED, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def _is_stale(path: Path, source: Path, target: Path) -> bool:
    """Tell whether a file of the copy, or the source of a module there, is gone from the tree."""
    if not path.is_file():
        return False
    if path.suffix in (".so", ".pyd"):
        path = path.with_name(f"{path.name.partition('.')[0]}.pyx")
    return not (source / path.relative_to(target)).is_file()


def _refuse_another(copy: Path, environment: dict[str, str]) -> None:
    """Make sure that the copy is what will be tested."""
    code = "import scumble._core.kernels as found; print(found.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    if str(copy) not in found.stdout:
        raise SystemExit(f"sanitize: the copy was not imported: {found.stdout}{found.stderr}")


if __name__ == "__main__":
    sys.exit(main())
