"""Build with setuptools; where there is no C compiler, with one from the package index.

setuptools builds the kernels (``setup.py``). On a machine without a compiler this backend asks for
``ziglang`` as one more requirement of the build, which pip then installs into the build's own
environment, and compiles with its ``zig cc``.

``python tools/build_backend.py`` compiles in place what has changed (`make build`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from compiler import requirement, take_zig_where_needed
from setuptools import build_meta
from setuptools.build_meta import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

SOURCE = Path("src")
BUILD = Path("build")
SHARED = SOURCE / "scumble" / "_core" / "_memoryviews.pyx"  # Cython writes it, see setup.py


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Ask for a compiler where there is none."""
    return build_meta.get_requires_for_build_wheel(config_settings) + requirement()


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Ask for a compiler where there is none."""
    return build_meta.get_requires_for_build_editable(config_settings) + requirement()


def build_wheel(directory: str, config_settings: Any = None, metadata: Any = None) -> str:
    """Build a wheel; compile only what has changed since the last time."""
    take_zig_where_needed()
    _sweep()
    return build_meta.build_wheel(directory, config_settings, metadata)


def build_editable(directory: str, config_settings: Any = None, metadata: Any = None) -> str:
    """Compile in place what has changed, and build a wheel that points here.

    setuptools alone would compile everything in a temporary folder, every time.
    """
    compile_in_place()
    os.environ["SCUMBLE_COMPILED"] = "1"
    return build_meta.build_editable(directory, config_settings, metadata)


def compile_in_place() -> None:
    """Compile every kernel that has changed; remove modules whose source is gone."""
    take_zig_where_needed()
    _sweep()
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], check=True)


def _sweep() -> None:
    """Remove what earlier builds left and this one would not make.

    setuptools packs all it finds in its folder, also modules that were renamed or have become
    kernels since.
    """
    for lib in BUILD.glob("lib*"):
        for path in lib.rglob("*"):
            if path.is_file() and not _is_compiled(path, lib):
                path.unlink()
    for path in SOURCE.rglob("*"):
        if path.suffix in (".so", ".pyd") and not _is_compiled(path, SOURCE):
            path.unlink()


def _is_compiled(path: Path, root: Path) -> bool:
    """Tell whether a file is a module of whichever Python whose source is still there."""
    source = SOURCE / path.relative_to(root).parent / f"{path.name.partition('.')[0]}.pyx"
    return path.suffix in (".so", ".pyd") and (source.is_file() or source == SHARED)


if __name__ == "__main__":
    compile_in_place()

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]
