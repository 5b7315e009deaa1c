"""Compile the kernels: every ``.pyx`` file below ``src`` becomes an extension module beside it.

Variables of the environment change how:

- ``SCUMBLE_CHECKED=1`` checks every index of a memoryview.
- ``SCUMBLE_SANITIZE=address,undefined`` hands these sanitizers to the compiler (`make sanitize`).
- ``SCUMBLE_CFLAGS="-O0 -g3"`` comes after all other flags of the compiler, for debuggers.

``SCUMBLE_COMPILED=1``, which the build backend sets, says that all is compiled in place already.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

SOURCE = Path("src")
#: What all kernels have in common, above all how they take arrays. A copy in each of them would be
#: two thirds of the time to compile it and four fifths of its size.
SHARED = "scumble._core._memoryviews"
CHECKED = os.environ.get("SCUMBLE_CHECKED", "") not in ("", "0")
SANITIZE = os.environ.get("SCUMBLE_SANITIZE", "")
COMPILED = os.environ.get("SCUMBLE_COMPILED", "") == "1"
JOBS = os.cpu_count() or 1
BUILT = Path("build", "cython-checked" if CHECKED or SANITIZE else "cython")

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "initializedcheck": CHECKED,
    "wraparound": False,
    "cdivision": True,
    "freethreading_compatible": True,
    "show_performance_hints": not CHECKED,  # else it advises against the checks
}


def compile_args() -> list[str]:
    """Choose flags under which every machine computes the same bits."""
    if sys.platform == "win32" and "GCC" not in platform.python_compiler():
        return ["/O2", "/fp:precise"]
    # A fused multiply-add rounds once instead of twice: arm64 would differ from x86-64.
    flags = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-Wno-unused-function"]
    if SANITIZE:
        flags += [f"-fsanitize={SANITIZE}", "-fno-omit-frame-pointer", "-g", "-O1"]
    return flags + os.environ.get("SCUMBLE_CFLAGS", "").split()


def extensions() -> list[Extension]:
    """Name one extension for each file, and the one Cython writes for all of them."""
    files = {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
        for path in sorted(SOURCE.rglob("*.pyx"))
    }
    files[SHARED] = SOURCE.joinpath(*SHARED.split(".")).with_suffix(".c")
    return [
        Extension(
            name,
            [str(path)],
            extra_compile_args=compile_args(),
            extra_link_args=[f"-fsanitize={SANITIZE}"] if SANITIZE else [],
            include_dirs=[str(SOURCE)],
            depends=["setup.py", *map(str, sorted(SOURCE.rglob("*.h")))],
        )
        for name, path in files.items()
    ]


def modules(*, anew: bool) -> list[Extension]:
    """Translate the kernels that have changed into C, or all of them."""
    return cythonize(
        extensions(),
        shared_utility_qualified_name=SHARED,
        include_path=[str(SOURCE)],
        compiler_directives=DIRECTIVES,
        nthreads=JOBS if sys.platform == "linux" else 0,
        build_dir=str(BUILT),
        force=anew,
    )


def build() -> None:
    """Compile what has changed; everything where directives or flags are not those of last time."""
    made = Path("build", "settings.txt")
    text = repr([SHARED, *sorted(DIRECTIVES.items()), *compile_args()])
    anew = not made.is_file() or made.read_text(encoding="utf-8") != text
    options = {"build_ext": {"parallel": JOBS, "force": anew}}
    setup(ext_modules=modules(anew=anew), options=options)
    made.parent.mkdir(exist_ok=True)
    made.write_text(text, encoding="utf-8")


if __name__ == "__main__":  # the processes that translate may import this file again
    if COMPILED:
        setup()
    else:
        build()
