"""How kernels are compiled: once, without the GIL, kept on disk for the next process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` on first use for the types it meets.

    Kernels take a range of rows, so that `scumble._core.parallel.run` can hand disjoint ranges
    to plain threads. Numba's own ``parallel=True`` is not used: it compiles several times
    slower, and its thread pools break under fork or under callers with threads of their own.

    Parameters
    ----------
    function : callable
        A function in numba's subset of Python.

    Returns
    -------
    callable
        The compiled function.
    """
    return _compiled(function, no_cfunc_wrapper=True)


def inner_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call.

    It spares the code that would unpack arguments from Python, which takes longer to compile
    than many a function itself.

    Parameters
    ----------
    function : callable
        A function in numba's subset of Python.

    Returns
    -------
    callable
        The compiled function; calling it from Python fails.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compiled(function: Callable[..., Any], **more: bool) -> Any:
    options = {"nogil": True, "error_model": "numpy", **more}
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # No folder to keep it in: neither the package's nor the user's can be written to, as in
        # a container without a home. Then every process compiles for itself.
        return numba.njit(**options)(function)
    folder = Path(function.__code__.co_filename).parent
    if folder.name == "kernels" and folder.is_dir():
        _keep_while_unchanged(compiled, folder)
    return compiled


def _keep_while_unchanged(compiled: Any, folder: Path) -> None:
    """Let kept code expire with any file of the folder, not only with its function's own.

    Compiled code holds that of the kernels it calls. Numba compares nothing but the one file, so
    that after an update a kernel would go on with the old code of another.
    """
    kept = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if kept is not None:  # nothing is kept where numba is told not to compile
        kept._source_stamp = _content(folder)


@cache
def _content(folder: Path) -> bytes:
    found = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.digest()
