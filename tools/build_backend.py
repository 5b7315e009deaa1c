"""Build with setuptools; where there is no C compiler, with one from the package index.

setuptools builds the kernels (``setup.py``). On a machine without a compiler this backend asks for
``ziglang`` as one more requirement of the build, which pip then installs into the build's own
environment, and compiles with its ``zig cc``.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

ZIG = "ziglang>=0.13"


def has_compiler() -> bool:
    """Tell whether the C compiler setuptools would take is there."""
    if sys.platform == "win32":
        return True  # setuptools finds Visual Studio by itself, and says so if it is not there
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return shutil.which(command.split()[0]) is not None


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Ask for a compiler where there is none."""
    return build_meta.get_requires_for_build_wheel(config_settings) + _compiler()


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Ask for a compiler where there is none."""
    return build_meta.get_requires_for_build_editable(config_settings) + _compiler()


def build_wheel(directory: str, config_settings: Any = None, metadata: Any = None) -> str:
    """Build a wheel."""
    _take_zig_where_needed()
    return build_meta.build_wheel(directory, config_settings, metadata)


def build_editable(directory: str, config_settings: Any = None, metadata: Any = None) -> str:
    """Compile in place and build a wheel that points here."""
    _take_zig_where_needed()
    return build_meta.build_editable(directory, config_settings, metadata)


def _compiler() -> list[str]:
    if has_compiler():
        return []
    print("scumble: no C compiler here, so the build takes one from the package index (ziglang)")
    return [ZIG]


def _take_zig_where_needed() -> None:
    if has_compiler():
        return
    zig = f"{sys.executable} -m ziglang cc"
    os.environ["CC"] = zig
    os.environ["LDSHARED"] = f"{zig} -shared"


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
