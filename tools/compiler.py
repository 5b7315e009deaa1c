"""Choose the C compiler for the kernels: that of the machine, or one from the package index.

``python tools/compiler.py`` prints the requirement to install on a machine without compiler, and
nothing on others. It needs no package, so it can run before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

ZIG = "ziglang>=0.13"
NOTICE = "scumble: no C compiler found: taking one (ziglang) from the package index"


def has_compiler() -> bool:
    """Return whether the C compiler that setuptools uses is installed."""
    if sys.platform == "win32":
        return True  # setuptools finds Visual Studio, or reports that it is missing
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return shutil.which(command.split()[0]) is not None


def compiler_requirements() -> list[str]:
    """Return the requirements that have to be installed to compile; print a notice if any."""
    if has_compiler():
        return []
    print(NOTICE, file=sys.stderr)
    return [ZIG]


def use_zig_if_needed() -> None:
    """Set the environment such that setuptools compiles with ``zig cc`` if there is no compiler."""
    if has_compiler():
        return
    # By default, zig compiles for the processor of this machine.
    zig = f"{sys.executable} -m ziglang cc -mcpu=baseline"
    # The functions of Python are found when a module is loaded.
    undefined = " -undefined dynamic_lookup" if sys.platform == "darwin" else ""
    os.environ["CC"] = zig
    os.environ["LDSHARED"] = f"{zig} -shared{undefined}"


if __name__ == "__main__":
    print(*compiler_requirements())
