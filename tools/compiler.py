"""Which C compiler the kernels are built with: the machine's own, or one from the package index.

``python tools/compiler.py`` prints the requirement to install where the machine has none, and
nothing where it has one. It needs no package, so that it runs before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

ZIG = "ziglang>=0.13"
NOTICE = "scumble: no C compiler found: taking one (ziglang) from the package index"


def has_compiler() -> bool:
    """Tell whether the C compiler setuptools would take is there."""
    if sys.platform == "win32":
        return True  # setuptools finds Visual Studio by itself, and says so if it is not there
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return shutil.which(command.split()[0]) is not None


def requirement() -> list[str]:
    """Name what has to be installed to compile here; say so."""
    if has_compiler():
        return []
    print(NOTICE, file=sys.stderr)
    return [ZIG]


def take_zig_where_needed() -> None:
    """Compile with ``zig cc`` where there is nothing else.

    Left alone, it would compile for the processor it runs on.
    """
    if has_compiler():
        return
    zig = f"{sys.executable} -m ziglang cc -mcpu=baseline"
    # A module of Python finds Python's own functions when it is loaded.
    undefined = " -undefined dynamic_lookup" if sys.platform == "darwin" else ""
    os.environ["CC"] = zig
    os.environ["LDSHARED"] = f"{zig} -shared{undefined}"


if __name__ == "__main__":
    print(*requirement())
