"""Run the tests of the kernels on builds that detect memory errors.

Two passes, each on a copy of the tree below ``build/sanitize``:

- ``checked``: every index of a memoryview is compared with its bounds;
- ``sanitized``: the address and undefined-behaviour sanitizers of the compiler check every access,
  also those through pointers, and stop at the first error. Needs gcc or clang with their libraries.

``python tools/sanitize.py [--only checked|sanitized] [pytest arguments]``; without arguments, the
tests of every subpackage with kernels are run.
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
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COPIES = ROOT / "build" / "sanitize"
SUBPACKAGES = ("_core", "measures", "data", "resample", "learn", "evaluate")
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
FINDING = "finding"  # name of the files to which sanitizers write
LIBRARIES = ("libasan.so", "libubsan.so")
NOT_COPIED = shutil.ignore_patterns("*.so", "*.pyd", "*.egg-info", "__pycache__", "results")


def main(arguments: list[str] | None = None) -> int:
    """Run the passes, and stop after the first one with findings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=("checked", "sanitized"))
    options, pytest_arguments = parser.parse_known_args(arguments)
    environments = {"checked": checked_environment, "sanitized": sanitized_environment}
    for name, make_environment in environments.items():
        if options.only in (None, name):
            print(f"sanitize: pass {name!r}", flush=True)
            status = run_pass(COPIES / name, make_environment(), pytest_arguments)
            if status:
                print(f"sanitize: pass {name!r} has findings")
                return status
    print("sanitize: no findings")
    return 0


class PassEnvironment(NamedTuple):
    """Environment variables of a pass, in addition to the present ones."""

    build: dict[str, str]
    test: dict[str, str]


def checked_environment() -> PassEnvironment:
    """Return the environment of the pass that checks bounds."""
    return PassEnvironment(build={"SCUMBLE_CHECKED": "1"}, test={})


def sanitized_environment() -> PassEnvironment:
    """Return the environment of the pass with sanitizers.

    Python is built without sanitizers, so their libraries must be loaded before all others. The
    memory pools of Python would hide where a block ends (PYTHONMALLOC). Memory that Python does not
    free at its end is not a leak of scumble (detect_leaks).
    """
    # Findings go to files, because pytest captures output and loses it if the process ends.
    log = f"halt_on_error=1:log_path={COPIES / 'sanitized' / FINDING}"
    libraries = [_find_library(name) for name in LIBRARIES]
    paths = [path for path in libraries if path is not None]
    if len(paths) < len(LIBRARIES):
        raise SystemExit("sanitize: the C compiler has no libasan or libubsan; install them")
    return PassEnvironment(
        build={"SCUMBLE_SANITIZE": SANITIZERS},
        test={
            "LD_PRELOAD": " ".join(paths),
            "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:{log}",
            "UBSAN_OPTIONS": f"print_stacktrace=1:{log}",
        },
    )


def _find_library(name: str) -> str | None:
    """Return the path of a library of the compiler, or None."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    command = [*compiler, f"-print-file-name={name}"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    # For an unknown library, the compiler prints its name.
    return os.path.realpath(output) if os.path.isabs(output) else None


def run_pass(copy: Path, environment: PassEnvironment, pytest_arguments: list[str]) -> int:
    """Compile a copy of the tree and test it; return 0 if there are no findings."""
    copy_tree(copy)
    variables = {**os.environ, "PYTHONPATH": str(copy / "src")}
    # The tests would search for the shared folder from the root of the copy.
    variables.setdefault("SCUMBLE_SHARED", str(ROOT.parent / "shared"))
    build_variables = variables | environment.build
    test_variables = variables | environment.test
    build_command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(build_command, cwd=copy, env=build_variables, check=True)
    _check_import(copy, test_variables)
    tests = pytest_arguments or [f"tests/{subpackage}" for subpackage in SUBPACKAGES]
    test_command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    for old in copy.glob(f"{FINDING}.*"):
        old.unlink()
    status = subprocess.run(test_command, cwd=copy, env=test_variables, check=False).returncode
    # A process that a test has started may have findings, too, although the test passes.
    findings = sorted(copy.glob(f"{FINDING}.*"))
    for finding in findings:
        print(finding.read_text(encoding="utf-8", errors="replace"))
    return status or int(bool(findings))


def copy_tree(copy: Path) -> None:
    """Update the copy; unchanged files keep their times, so that they are not compiled again."""
    for name in COPIED:
        source, target = ROOT / name, copy / name
        if source.is_dir():
            for stale in [path for path in target.rglob("*") if _is_stale(path, source, target)]:
                stale.unlink()
            shutil.copytree(source, target, ignore=NOT_COPIED, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def _is_stale(path: Path, source: Path, target: Path) -> bool:
    """Return whether a file of the copy, or the source of a compiled module, no longer exists."""
    if not path.is_file():
        return False
    if path.suffix in (".so", ".pyd"):
        path = path.with_name(f"{path.name.partition('.')[0]}.pyx")
    return not (source / path.relative_to(target)).is_file()


def _check_import(copy: Path, variables: dict[str, str]) -> None:
    """Raise an error if another scumble than the copy is imported."""
    code = "import scumble._core.kernels as kernels; print(kernels.__file__)"
    process = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False
    )
    if str(copy) not in process.stdout:
        raise SystemExit(f"sanitize: the copy was not imported: {process.stdout}{process.stderr}")


if __name__ == "__main__":
    sys.exit(main())
