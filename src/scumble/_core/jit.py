"""How kernels are compiled: once, without the GIL, kept on disk for the next process."""

from __future__ import annotations

from collections.abc import Callable
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
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # No folder to keep it in: neither the package's nor the user's can be written to, as in
        # a container without a home. Then every process compiles for itself.
        return numba.njit(**options)(function)
