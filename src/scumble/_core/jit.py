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
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # No folder to keep it in: neither the package's nor the user's can be written to, as in
        # a container without a home. Then every process compiles for itself.
        return numba.njit(**options)(function)
