"""Build with setuptools; on a machine without C compiler, with one from the package index.

setuptools builds the kernels (``setup.py``). On a machine without a compiler this backend adds
``ziglang`` to the requirements of the build, which pip installs into the environment of the build,
and compiles with ``zig cc``.

``python tools/build_backend.py`` compiles in place what has changed (`make build`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from compiler import compiler_requirements, use_zig_if_needed
from setuptools import build_meta
from setuptools.build_meta import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

SOURCE = Path("src")
BUILD = Path("build")
SHARED = SOURCE / "scumble" / "_core" / "_memoryviews.pyx"  # written by Cython, see setup.py


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return the requirements of the build: those of setuptools, and a compiler if needed."""
    return build_meta.get_requires_for_build_wheel(config_settings) + compiler_requirements()


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return the requirements of the build: those of setuptools, and a compiler if needed."""
    return build_meta.get_requires_for_build_editable(config_settings) + compiler_requirements()


def build_wheel(directory: str, config_settings: Any = None, metadata: Any = None) -> str:
    """Build a wheel; compile only kernels that have changed since the last build."""
    use_zig_if_needed()
    _remove_stale_files()
    return build_meta.build_wheel(directory, config_settings, metadata)


def build_editable(directory: str, config_settings: Any = None, metadata: Any = None) -> str:
    """Compile changed kernels in place, and build a wheel that refers to this folder.

    setuptools alone would compile all kernels in a temporary folder each time.
    """
    compile_in_place()
    os.environ["SCUMBLE_COMPILED"] = "1"
    return build_meta.build_editable(directory, config_settings, metadata)


def compile_in_place() -> None:
    """Compile kernels that have changed; remove compiled modules without a source."""
    use_zig_if_needed()
    _remove_stale_files()
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], check=True)


def _remove_stale_files() -> None:
    """Remove files of earlier builds that this build would not create.

    setuptools packs all files in its folder, also modules that have been renamed, or replaced by
    kernels, since.
    """
    for lib in BUILD.glob("lib*"):
        for path in lib.rglob("*"):
            if path.is_file() and not _is_compiled(path, lib):
                path.unlink()
    for path in SOURCE.rglob("*"):
        if path.suffix in (".so", ".pyd") and not _is_compiled(path, SOURCE):
            path.unlink()


def _is_compiled(path: Path, root: Path) -> bool:
    """Return whether a file is a compiled module, of any Python version, with a source."""
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
